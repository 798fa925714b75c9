"""Lets jobs of the window fail, and collects a case for every place in the source that starts one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.base.fault_bar import FaultBar
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil

T = TypeVar("T")


class PlantedError(Exception):
    """An unexpected error."""


class FaultyProgram:
    """A person at the program in which jobs can be made to fail."""

    def __init__(
        self,
        sit_down: Callable[..., Person],
        open_window: Callable[..., MainWindow],
        qtbot: QtBot,
        folder: Path,
    ) -> None:
        self.sit_down, self.open_window, self.qtbot, self.folder = sit_down, open_window, qtbot, folder
        self._planted = pytest.MonkeyPatch()
        self._shared: dict[object, Any] = {}

    def person(self, source: str | Source = "journey", **options: bool) -> Person:
        return self.sit_down(source, **options)

    def pupil(self) -> Pupil:
        person = self.sit_down(remember=True)
        return Pupil(person.window, person.qtbot)

    def share(self, make: Callable[["FaultyProgram"], T]) -> T:
        """Return what a function makes; it is made once for the cases of a group."""
        if make not in self._shared:
            self._shared[make] = make(self)
        made: T = self._shared[make]
        return made

    def plant(self, target: str) -> None:
        """Let a function fail from now on."""

        def fail(*_: object, **__: object) -> None:
            raise PlantedError("planted")

        self._planted.setattr(target, fail)

    def mend(self) -> None:
        """Let everything work again."""
        self._planted.undo()

    def told(self) -> str:
        """Return the text of the front fault bar, "" without one."""
        bars = self._bars()
        return bars[0].sentence.text() if bars else ""

    def dismiss(self) -> None:
        """Press Dismiss in the fault bar, if there is one."""
        for bar in self._bars():
            bar.close_button.click()
        assert self.told() == ""

    def _bars(self) -> list[FaultBar]:
        return [each for each in QApplication.allWidgets() if isinstance(each, FaultBar) and each.isVisible()]


Case = Callable[[FaultyProgram], object]
CASES: dict[str, tuple[str, Case]] = {}
GROUPS: dict[str, list[str]] = {}
"""The places of cases that run in one program, one after the other; most are alone."""


def case(place: str, doing: str, group: str = "") -> Callable[[Case], Case]:
    """Register a function as the case of a place; ``doing`` is what the user is told went wrong."""

    def take(function: Case) -> Case:
        assert place not in CASES
        CASES[place] = doing, function
        GROUPS.setdefault(group or place, []).append(place)
        return function

    return take
