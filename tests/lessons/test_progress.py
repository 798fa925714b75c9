"""How far a person is in each lesson, and lessons found by their words."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.base.errors import AttnlabError
from attnlab.document.settings import Settings, load_settings, save_settings
from attnlab.lessons.lesson_progress import Progress, parse_progress, read_progress, write_progress
from attnlab.lessons.library import find, list_lessons
from attnlab.lessons.search import find_lessons

steps = st.integers(0, 499)


@given(st.dictionaries(st.text(min_size=1), st.builds(Progress, steps, st.frozensets(steps, max_size=30)), max_size=5))
def test_progress_is_read_as_it_was_written(known: dict[str, Progress]) -> None:
    assert read_progress(write_progress(known)) == known


@pytest.mark.parametrize("text", ["", "six-words", "six-words=", "=3:1", "a=1:x", "a=1:1-", "a=1:1-2-3", "a=1000:1"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(AttnlabError, match="is not the progress in a lesson"):
        parse_progress(text)
    assert read_progress([text, "b=1:0"]) == {"b": Progress(1, frozenset({0}))}


def test_progress_is_kept_in_the_settings(tmp_path: Path) -> None:
    written = write_progress({"six-words": Progress(9, frozenset(range(9)))})
    save_settings(Settings(lesson_progress=written), tmp_path / "settings.json")
    assert load_settings(tmp_path / "settings.json") == (Settings(lesson_progress=("six-words=9:0-8",)), ())
    (tmp_path / "settings.json").write_text('{"version": 1, "lesson_progress": [3]}', encoding="utf-8")
    settings, wrong = load_settings(tmp_path / "settings.json")
    assert settings == Settings()
    assert "texts such as six-words=9:0-8" in wrong[0]


def test_a_large_range_is_cut() -> None:
    assert len(parse_progress("a=1:0-999")[1].done) <= 501


def test_progress_in_words() -> None:
    lesson = find("six-words")
    count = len(lesson.steps)
    assert Progress().describe(lesson) == ""
    assert Progress(9, frozenset(range(9))).describe(lesson) == "at step 10"
    assert Progress(9, frozenset(range(9))).compute_share(lesson) == 9 / count
    finished = Progress(count - 1, frozenset({count - 1}))
    assert finished.describe(lesson) == "done"
    assert finished.compute_share(lesson) == 1
    assert Progress(499, frozenset({0})).describe(lesson) == f"at step {count}"  # the file has become shorter


@pytest.mark.parametrize(
    ("query", "title", "step"),
    [
        ("positions", "Positions", None),
        ("CAUSAL masks", "Causal masks", None),
        ("handshakes", "What attention costs", 1),
    ],
)
def test_lessons_are_found_by_title_and_text(query: str, title: str, step: int | None) -> None:
    found = find_lessons(list_lessons(), query)
    assert (title, step) in [(lesson.title, at) for lesson, at in found]
    assert len(found) < len(list_lessons())


def test_the_names_in_placeholders_are_not_words_of_a_lesson() -> None:
    assert not find_lessons(list_lessons(), "argmax(weights")
    assert len(find_lessons(list_lessons(), "  ")) == len(list_lessons())
