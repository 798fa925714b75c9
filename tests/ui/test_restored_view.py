"""A session restores its view: pin, cell, walk, lens, lesson."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

import attnlab
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.walk import Place
from attnlab.document.document import View
from attnlab.document.saved_view import KEY
from attnlab.files.sessions.session_file import Session, load_session, save_session
from attnlab.files.source import Source
from attnlab.ui.app.open_file import open_paths
from attnlab.ui.lessons.differences import is_same
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
LESSON = """---
attnlab: 1
title: Mine
---
## First

```state
preset: journey
stage: scores
depth: row
```

Look.

## Second

```state
edits:
  - causal: true
```

And now.
"""


def pictures(person: "Person") -> list["QImage"]:
    """Return pictures of canvas, inputs and explanation, without pointer, focus and the first steps."""
    person.settle()
    person.playground.first_steps.close()  # they belong to the person, not to the session
    for width in (1448, 1440):  # as wide as titles let the bar above be
        person.window.resize(width, 900)
        QApplication.processEvents()
    person.window.setFocus()
    playground = person.playground
    return [widget.grab().toImage() for widget in (playground.lenses, playground.explain, playground.inputs)]


def saved(person: "Person", path: Path) -> list["QImage"]:
    """Save, and close the window; return its last pictures."""
    assert person.playground.files.save_to(path)
    seen = pictures(person)
    person.window.close()
    return seen


def pin_and_change(person: "Person") -> None:
    person.press("Pin")
    person.choose("Device and number format", "CPU float64")
    person.settle()
    person.press("Causal")
    person.settle()


def walk_rows(person: "Person", steps: int) -> None:
    """Go to the start and walk a number of rows."""
    person.window.setFocus()
    person.key(Key.Key_D)
    person.key(Key.Key_Home)
    for _ in range(steps - 1):
        person.key(Key.Key_Right)


def test_selected_cell_walk_and_pin_are_restored(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down("multi-head-causal")
    pin_and_change(person)
    person.choose("Show", "head 3")
    person.click_cell("queries", 1, 0)
    walk_rows(person, 9)
    person.press("Figures on the cards")
    person.open_table("W_v")
    view = person.document.view
    assert view.at == Place("queries", 3)
    assert (view.head, view.cell, view.pinned, view.strips) == (3, Cell("queries", 1, 0, 3), True, True)
    before = saved(person, tmp_path / "all.attnlab")

    again = sit_down(Source(path=tmp_path / "all.attnlab"))
    again.wait_for(lambda: again.playground.comparison.pinned is not None)
    assert again.document.view == view
    assert again.playground.inputs.name == "W_v"
    assert not again.document.modified
    pinned = again.playground.comparison.pinned
    assert pinned is not None
    assert (pinned.experiment.config.causal, str(pinned.dtype)) == (True, "torch.float32")
    assert not again.experiment.config.causal
    assert pictures(again) == before
    again.window.close()


@pytest.mark.slow
@pytest.mark.parametrize("look", ["Present", "Pinned", "Difference"])
def test_a_comparison_is_restored(sit_down: Callable[..., "Person"], tmp_path: Path, look: str) -> None:
    person = sit_down()
    pin_and_change(person)
    person.press(look)
    before = saved(person, tmp_path / "pinned.attnlab")
    again = sit_down(Source(path=tmp_path / "pinned.attnlab"))
    again.wait_for(lambda: again.playground.comparison.pinned is not None)
    assert again.document.view.look == look.lower()
    assert pictures(again) == before
    again.window.close()


def test_an_enlarged_card_of_the_mean_is_restored(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down("multi-head-causal")
    person.choose("Show", "mean")
    person.document.show(alone="scores")
    person.click_cell("scores", 1, 1)
    before = saved(person, tmp_path / "alone.attnlab")
    again = sit_down(Source(path=tmp_path / "alone.attnlab"))
    assert pictures(again) == before


@pytest.mark.slow
def test_the_open_lens_and_its_page_are_restored(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down("rope")
    person.playground.lenses.open_lens("positions/order")
    saved(person, tmp_path / "lens.attnlab")
    again = sit_down(Source(path=tmp_path / "lens.attnlab"))
    assert again.playground.lenses.place == "positions/order"
    again.playground.lenses.open_lens("canvas")
    assert open_and_settle(again, tmp_path / "lens.attnlab")
    assert again.playground.lenses.place == "positions/order"


def open_and_settle(person: "Person", path: Path) -> bool:
    open_paths(person.window, [path])
    person.settle()
    return not person.message()


@pytest.mark.slow
def test_opening_during_a_walk_shows_the_saved_view_and_undo_returns(
    sit_down: Callable[..., "Person"], tmp_path: Path
) -> None:
    person = sit_down()
    person.click_cell("weights", 1, 1)
    saved(person, tmp_path / "held.attnlab")
    held = person.document.view
    other = sit_down("the-cat-sat")
    other.press("Pin")
    other.press("Causal")
    other.settle()
    tokens, causal = other.experiment.tokens, other.experiment.config.causal
    other.document.show(at=Place("scores", 1))
    assert open_and_settle(other, tmp_path / "held.attnlab")
    assert other.document.view == held
    assert other.playground.comparison.pinned is None  # the session says that nothing was
    other.undo()
    other.settle()
    assert (other.experiment.tokens, other.experiment.config.causal) == (tokens, causal)
    assert other.document.modified
    assert other.document.path is None
    other.redo()
    other.settle()
    assert other.document.path == tmp_path / "held.attnlab"


def test_a_session_without_a_view_keeps_pin_and_lens(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    attnlab.save(attnlab.preset("the-cat-sat"), tmp_path / "bare.attnlab")
    person = sit_down()
    person.press("Pin")
    person.playground.lenses.open_lens("statistics")
    assert open_and_settle(person, tmp_path / "bare.attnlab")
    assert person.playground.comparison.pinned is not None
    assert person.playground.lenses.current == "statistics"


@pytest.mark.slow
def test_a_pin_being_computed_is_saved(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down()
    pin_and_change(person)
    person.press("Difference")
    saved(person, tmp_path / "one.attnlab")
    other = sit_down("the-cat-sat")

    def save(opened: bool) -> None:
        assert opened
        assert other.playground.comparison.pinned is None  # it is being computed
        assert other.playground.files.save_to(tmp_path / "two.attnlab")

    other.playground.files.open(tmp_path / "one.attnlab", save)
    other.settle()
    first, second = (load_session(tmp_path / f"{name}.attnlab") for name in ("one", "two"))
    assert len(second.pins) == 1
    assert second.view[KEY] == first.view[KEY]
    other.window.close()


# Lessons


@pytest.mark.slow
def test_the_place_in_a_lesson_is_restored(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text(LESSON, encoding="utf-8")
    person = sit_down()
    open_paths(person.window, [tmp_path / "mine.md"])
    controller = person.window.lessons
    assert controller is not None
    controller.player.go_next()
    controller.player.go_next()
    person.settle()
    person.type_number(0, 0, "0.5")  # an edit in the middle of a lesson is what was seen, not the lesson's state
    person.click_number(0, 0)
    frame, view, experiment = controller.player.frame_index, person.document.view, person.experiment
    assert frame == 2
    before = saved(person, tmp_path / "place.attnlab")
    said = load_session(tmp_path / "place.attnlab").view[KEY]["lesson"]
    assert said == {"lesson": "mine.md", "step": 0, "frame": 2}  # beside it, so that both may move

    again = sit_down(Source(path=tmp_path / "place.attnlab"))
    controller = again.window.lessons
    assert controller is not None
    slide = controller.player.slide
    assert slide is not None
    assert (slide.step.title, controller.player.frame_index) == ("First", 2)
    assert again.document.view == view
    assert is_same(again.experiment, experiment)
    assert not again.document.modified
    assert pictures(again) == before
    controller.player.skip()
    again.settle()
    assert again.experiment.config.causal
    again.window.close()


def test_a_missing_lesson_is_reported_and_the_rest_opens(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text(LESSON, encoding="utf-8")
    person = sit_down()
    open_paths(person.window, [tmp_path / "mine.md"])
    person.settle()
    view = person.document.view
    saved(person, tmp_path / "place.attnlab")
    (tmp_path / "mine.md").unlink()
    again = sit_down(Source(path=tmp_path / "place.attnlab"))
    assert again.message() == "The lesson mine.md no longer exists; the rest was restored."
    assert again.document.view == view
    again.window.close()


@pytest.mark.parametrize("name", ["/etc/hostname", "//server/a.md", "\\\\server\\a.md", "../../etc/passwd"])
def test_a_session_cannot_open_files_other_than_lessons(
    sit_down: Callable[..., "Person"], tmp_path: Path, name: str
) -> None:
    person = sit_down(Source(path=_written(tmp_path, {"lesson": {"lesson": name}})))
    assert person.message().endswith("no longer exists; the rest was restored.")
    assert person.window.lessons is None or person.window.lessons.player.lesson is None


# What a file may say


def _written(folder: Path, said: Any, pins: tuple[Any, ...] = ()) -> Path:
    path = folder / "odd.attnlab"
    save_session(Session(attnlab.preset("journey"), {"title": "Odd\nname", KEY: said}, pins), path)
    return path


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"lens": "nowhere", "head": 99}, "The file has no valid value for the head and the lens"),
        ({"pinned": {"device": "cpu", "dtype": "float32"}}, "The file has no valid value for the pinned state"),
        ({"pinned": {"device": [], "dtype": "int4"}}, "The file has no valid value for the pinned state"),
        ([1, 2], "The file has no valid value for the view"),
        ({"table": "W_z", "future": {"of": "tomorrow"}}, ""),
    ],
)
def test_an_invalid_part_is_reported_in_one_sentence(
    sit_down: Callable[..., "Person"], tmp_path: Path, said: Any, sentence: str
) -> None:
    person = sit_down(Source(path=_written(tmp_path, said)))
    assert person.message().startswith(sentence)
    assert bool(person.message()) == bool(sentence)
    assert "\n" not in person.playground.document.scene.title


def test_a_pin_of_another_device_is_computed_here(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    said: Mapping[str, Any] = {"pinned": {"device": "cuda:77", "dtype": "float8"}}
    person = sit_down(Source(path=_written(tmp_path, said, (attnlab.preset("the-cat-sat"),))))
    person.wait_for(lambda: person.playground.comparison.pinned is not None)
    assert not person.message()
    assert person.document.view == View(head=person.document.view.head)


def walk(person: "Person", lesson: str, step: int = 0) -> None:
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.open(lesson, step)


@pytest.mark.slow
def test_a_shipped_lesson_is_found_by_its_name(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down()
    walk(person, "heads", 1)
    person.settle()
    saved(person, tmp_path / "heads.attnlab")
    assert load_session(tmp_path / "heads.attnlab").view[KEY]["lesson"]["lesson"] == "heads"
    again = sit_down()
    walk(again, "cost")
    again.settle()
    assert open_and_settle(again, tmp_path / "heads.attnlab")
    assert again.window.lessons is not None
    lesson, slide = again.window.lessons.player.lesson, again.window.lessons.player.slide
    assert lesson is not None
    assert slide is not None
    assert (lesson.name, slide.index) == ("heads", 1)
    again.window.close()
