"""The list of steps of a draft: only applicable tools are enabled."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from pytestqt.qtbot import QtBot

from attnlab.lessons.lesson import Lesson, Step
from attnlab.lessons.library import find, list_shipped
from attnlab.ui.lessons.draft import Draft
from attnlab.ui.lessons.list_rows import RowPainter
from attnlab.ui.lessons.step_side import StepSide
from attnlab.ui.widgets.broken_text import break_text
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from tests.ui.conftest import Person


@pytest.mark.parametrize(
    ("steps", "chosen", "can"),
    [
        (3, 0, {"down", "duplicate", "delete"}),
        (3, 1, {"up", "down", "duplicate", "delete"}),
        (3, 2, {"up", "duplicate", "delete"}),
        (1, 0, {"duplicate", "delete"}),
        (0, 0, set()),
    ],
)
def test_tools_are_enabled_for_the_chosen_step(steps: int, chosen: int, can: set[str], qtbot: QtBot) -> None:
    side = StepSide()
    qtbot.addWidget(side)
    draft = Draft(Lesson("three", "Three", tuple(Step(f"step {i}") for i in range(steps))))
    draft.choose(chosen)
    side.show_draft(draft)
    assert {name for name, tool in side.tools.items() if tool.isEnabled()} == can


@pytest.mark.slow
@pytest.mark.parametrize("type_size", [100, 125, 150])
def test_a_row_is_as_high_as_its_title(person: "Person", type_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    person.window.change_settings(type_size=type_size)
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    titles = [step.title for name in list_shipped() for step in find(name).steps]
    controller.drafts.edit(Lesson("all", "All", tuple(map(Step, titles))))
    ends: dict[str, float] = {}

    def note(self: RowPainter, painter: QPainter, at: QRectF, text: str, face: QFont, colour: str, most: int) -> float:
        ends[text] = at.top() + len(break_text(text, face, at.width(), most)) * QFontMetricsF(face).height()
        return ends[text]

    monkeypatch.setattr(RowPainter, "paint_block", note)
    assert controller.workspace is not None
    steps, below = controller.workspace.editor.steps, set()
    for row, title in enumerate(titles):
        steps.scrollToItem(steps.item(row))
        steps.viewport().grab()
        below.add(round(steps.visualItemRect(steps.item(row)).bottom() - ends[title]))
    assert max(below) - min(below) <= 2, "the same room below every title"
    assert min(below) > 0
