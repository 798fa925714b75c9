"""A missing file is reported in one wording, however it is opened."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from attnlab.base.errors import AttnlabError
from attnlab.files.maps_file import read_maps
from attnlab.files.sessions.session_file import load_scene, load_session
from attnlab.files.source import check_source, parse_source
from attnlab.files.texts_in import read_text, read_texts
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.lessons.exercise import read_exercise
from attnlab.lessons.grading import read_answer_file
from attnlab.lessons.parse import read as read_lesson
from attnlab.training.store import load as load_run
from attnlab.training.tasks.texts import read as read_training_text

WAYS: dict[str, Callable[[Path], object]] = {
    "session": load_session,
    "scene": load_scene,
    "weights": read_arrays,
    "text": read_text,
    "texts": read_texts,
    "exercise": read_exercise,
    "answers": read_answer_file,
    "lesson": read_lesson,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_missing_file_has_one_wording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.chdir(tmp_path)
    gone = Path("gone.npz")
    with pytest.raises(AttnlabError) as raised:
        WAYS[way](gone)
    assert str(raised.value) == f"There is no file {gone}."


BEGINNINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "maps": (read_maps, "There is no file {}"),
    "source": (lambda path: check_source(parse_source(str(path))), "There is no file {}; for a preset, write "),
    "run": (load_run, f"There is no file {{}}{os.sep}run.json."),
    "training text": (lambda path: read_training_text(str(path)), "There is no file {}; choose another file"),
}


@pytest.mark.parametrize("way", BEGINNINGS)
def test_what_to_do_follows_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.chdir(tmp_path)
    gone = Path("gone.npz")
    read, beginning = BEGINNINGS[way]
    with pytest.raises(AttnlabError) as raised:
        read(gone)
    assert str(raised.value).startswith(beginning.format(gone))
