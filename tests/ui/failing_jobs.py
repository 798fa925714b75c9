"""Lets jobs of the window fail, and collects a case for every place in the source that starts one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.base.fault_bar import FaultBar
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil


class PlantedError(Exception):
    """Nobody expects it."""


class Desk:
    """One who sits at the program, and lets things fail in it."""

    def __init__(
        self,
        sit_down: Callable[..., Person],
        open_window: Callable[..., MainWindow],
        qtbot: QtBot,
        folder: Path,
    ) -> None:
        self.sit_down, self.open_window, self.qtbot, self.folder = sit_down, open_window, qtbot, folder
        self._planted = pytest.MonkeyPatch()

    def person(self, source: str | Source = "journey", **options: bool) -> Person:
        return self.sit_down(source, **options)

    def pupil(self) -> Pupil:
        person = self.sit_down(remember=True)
        return Pupil(person.window, person.qtbot)

    def plant(self, target: str) -> None:
        """Let a function fail from now on."""

        def fail(*_: object, **__: object) -> None:
            raise PlantedError("planted")

        self._planted.setattr(target, fail)

    def mend(self) -> None:
        """Let everything work again."""
        self._planted.undo()

    def told(self) -> str:
        """Return what the bar in front says, "" where there is none."""
        bars = [each for each in QApplication.allWidgets() if isinstance(each, FaultBar) and each.isVisible()]
        return bars[0].sentence.text() if bars else ""


Case = Callable[[Desk], object]
CASES: dict[str, tuple[str, Case]] = {}


def case(place: str, doing: str) -> Callable[[Case], Case]:
    """Make a function the case of a place; ``doing`` is what the user is told that went wrong."""

    def take(function: Case) -> Case:
        assert place not in CASES
        CASES[place] = doing, function
        return function

    return take
