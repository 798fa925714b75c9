"""When the state shrinks, a place, a cell or an edited field of the larger state does no harm."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.walk import Place, frames
from attnlab.document.document import Document
from attnlab.document.scene import Scene
from attnlab.lessons.parse import parse
from attnlab.ui.lessons.player import LessonPlayer
from attnlab.ui.train.time_bar import TimeBar
from attnlab.ui.widgets.fields.undo_fields import NumberBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person


def begin_typing(person: "Person", box: NumberBox, text: str) -> None:
    """Type into a field without pressing Enter or leaving it."""
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, text)


@pytest.mark.parametrize("name", ["T_k", "d_memory"])
def test_undo_of_the_second_sequence_discards_a_size_being_typed(person: "Person", name: str) -> None:
    before = person.experiment
    person.press("Second sequence")
    person.settle()
    begin_typing(person, person.playground.inputs.shape_bar.memory_sizes[name], "4")
    person.click(person.find(QToolButton, "Undo"))
    person.table.setFocus()
    person.settle()
    assert person.experiment is before
    assert person.document.history.redo_label == "Second sequence on"


def test_removing_the_second_sequence_discards_a_size_being_typed(person: "Person") -> None:
    person.press("Second sequence")
    begin_typing(person, person.playground.inputs.shape_bar.memory_sizes["T_k"], "4")
    person.playground.inputs.memory_switch.click()
    person.table.setFocus()
    person.settle()
    assert person.experiment.memory_tokens is None
    assert person.history()[1:] == ["Second sequence on", "Second sequence off"]


def test_removing_a_sequence_discards_a_rename_in_progress(person: "Person") -> None:
    person.press("Second sequence")
    strip = person.playground.inputs.memory_box.tokens
    strip.setFocus()
    strip.edit(5)
    QTest.keyClicks(person.keyboard(), "x")
    person.document.undo()
    person.table.setFocus()
    person.settle()
    assert person.experiment.memory_tokens is None
    assert person.document.history.redo_label == "Second sequence on"


def test_a_key_beyond_the_queries_is_explained_during_a_walk(sit_down: "Callable[..., Person]") -> None:
    e = Experiment(("a", "b"), np.eye(2), memory_tokens=tuple("wxyz"), memory_embeddings=np.arange(8.0).reshape(4, 2))
    person = sit_down(e)
    person.document.show(at=Place("weights", 0))
    person.document.select(Cell("keys", 3, 0, 0), pin=True)
    explain = person.playground.explain
    assert explain._where.text().startswith("z → ")
    assert explain.bars.isHidden()


def test_a_sentence_can_shrink_during_a_walk(person: "Person") -> None:
    for row in (4, 5):
        person.document.show(at=Place("scores", row, 3))
        person.settle()
        person.set_size("T", "2")
        person.settle()
        assert person.document.view.at == Place("scores")
        person.undo()
        person.settle()


def test_a_walk_continues_after_a_pinned_state_of_another_size(person: "Person") -> None:
    """A step of a lesson does this: it shows the current state again and begins a walk at once."""
    person.playground.comparison.toggle()
    person.set_size("T", "2")
    person.settle()
    person.document.show(at=Place("weights", 0))
    person.playground.comparison.look("pinned")
    assert person.painted("weights").shape == (1, 6, 6)
    person.document.show(look="present", at=Place("weights", 1))
    assert person.painted("weights").shape == (1, 2, 2)


@pytest.mark.parametrize("depth", ["cell", "term"])
def test_a_lesson_continues_when_its_cell_no_longer_exists(qtbot: QtBot, depth: str) -> None:
    from attnlab.attention.edits.token_edits import resize_tokens

    document = Document("Open", Scene(preset("journey"), "Journey", "journey"))
    player = LessonPlayer(document, document)
    text = f"# Cell\n\n## One\n\n```state\npreset: journey\nstage: scores\ncell: [5, 4]\ndepth: {depth}\n```\n\nText.\n"
    player.open(parse(text, "cell"))
    assert len(player.frames) > 2
    player.go_next()
    for size in (5, 4, 2, 6):
        assert document.edit("T", lambda e, size=size: resize_tokens(e, size))
        assert (len(player.frames) > 2) == (size == 6)
        player.go_next()
    assert document.view.at is None


def test_frames_of_a_missing_cell_show_the_whole_stage() -> None:
    for cell in ((6, 0), (0, 6), (9, 9)):
        for depth in ("cell", "term"):
            assert frames(preset("journey"), "scores", depth, cell) == (None,)


# The time line of a training


@pytest.fixture
def bar(qtbot: QtBot) -> TimeBar:
    made = TimeBar()
    qtbot.addWidget(made)
    made.show()
    made.show_moments([0, 10, 20], [3.0, 2.0, 1.0], "")
    return made


def test_removing_moments_stops_their_playback(bar: TimeBar, qtbot: QtBot) -> None:
    chosen: list[int] = []
    bar.moment_chosen.connect(chosen.append)
    bar.go_first()
    bar.toggle_playing()
    bar.show_moments([], [], "")
    qtbot.waitUntil(lambda: not bar.playing)
    bar.go_first()
    bar.go_last()
    assert chosen == [0, 0]


@pytest.mark.slow
def test_a_run_without_moments_has_no_first_one(person: "Person") -> None:
    person.window.show_workspace("train")
    trainer = person.window.trainer
    assert trainer is not None
    person.wait_for(lambda: not trainer.busy)
    assert len(trainer.footer.line.steps) == 0
    trainer.footer.go_last()
    trainer.footer.go_first()
    trainer.footer.moment_chosen.emit(0)
    trainer.footer.moment_chosen.emit(7)
    assert trainer.session.viewed_step is None
