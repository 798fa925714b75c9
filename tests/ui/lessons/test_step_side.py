"""The list of steps of a draft: only applicable tools are enabled."""

import pytest
from pytestqt.qtbot import QtBot

from attnlab.lessons.lesson import Lesson, Step
from attnlab.ui.lessons.draft import Draft
from attnlab.ui.lessons.step_side import StepSide


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
