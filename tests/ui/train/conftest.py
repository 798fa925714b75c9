"""The student who trains: an open training workspace and a model so small that steps take no time."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.train.train_workspace import TrainWorkspace
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.option_controls import Chosen, Control, Number
from attnlab.ui.widgets.fields.option_fields import OptionFields
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil

SMALL = {"layers": "1", "heads": "2", "d_model": "8", "d_ff": "8", "batch": "4", "steps": "60"}
"""Settings with which a step takes no time."""


class Student:
    """A person at the workspace: types into fields, presses buttons, and reads."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot

    @property
    def ws(self) -> TrainWorkspace:
        assert self.window.trainer is not None
        return self.window.trainer

    def wait_for(self, condition: object) -> None:
        self.qtbot.waitUntil(condition)  # type: ignore[arg-type]

    def type(self, name: str, text: str) -> None:
        """Type into the field of a setting."""
        edit = self.field(name)
        edit.setFocus()
        edit.lineEdit().selectAll()
        QTest.keyClicks(edit.lineEdit(), text)

    def field(self, name: str) -> NumberEdit:
        control = self.control(name)
        assert isinstance(control, Number)
        return control.edit

    def box(self, name: str) -> QComboBox:
        """Return the drop-down list of a setting."""
        control = self.control(name)
        assert isinstance(control, Chosen)
        return control.list

    def control(self, name: str) -> Control:
        return self._form(name).control(name)

    def complaint(self, name: str) -> str:
        """Return the message below a setting."""
        return self._form(name).complaint(name)

    def forms(self) -> tuple[OptionFields, ...]:
        panel = self.ws.settings
        return panel.options, panel.model, panel.train, panel.more

    def _form(self, name: str) -> OptionFields:
        return next(form for form in self.forms() if name in form.names())

    def choose(self, box: QComboBox, title: str) -> None:
        """Choose from a list by the keyboard."""
        index = box.findText(title)
        assert index >= 0, f"{title!r} is not offered"
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Home)
        box.setCurrentIndex(index)
        box.activated.emit(index)

    def press(self, button: QPushButton) -> None:
        assert button.isEnabled(), f"{button.text()} cannot be pressed"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def ready(self) -> None:
        """Wait until the settings are checked and the first maps are visible."""
        self.wait_for(lambda: self.ws.header.main.isEnabled() and bool(self.ws.maps.view.data))

    def small(self) -> None:
        """Type the settings of a very fast model."""
        for name, text in SMALL.items():
            self.type(name, text)
        self.ready()

    def train_to_the_end(self) -> None:
        with self.qtbot.waitSignal(self.ws.session.ended):
            self.press(self.ws.header.main)

    def curve(self) -> list[float]:
        assert self.ws.session.run is not None
        return [float(loss) for loss in self.ws.session.run.losses]

    def key(self, key: Qt.Key, at: QWidget | None = None) -> None:
        QTest.keyClick(at or self.window, key)


@pytest.fixture
def pupil(sit_down: Callable[..., Person]) -> Pupil:
    """A pupil at a window that keeps its runs."""
    person = sit_down(remember=True)
    person.window.resize(1440, 900)
    return Pupil(person.window, person.qtbot)


@pytest.fixture
def student(open_window: Callable[..., MainWindow], qtbot: QtBot) -> Iterator[Student]:
    window = open_window()
    window.resize(1440, 900)
    with qtbot.waitSignal(window.ready):
        window.load()
    QTest.keySequence(window, QKeySequence("Ctrl+3"))
    person = Student(window, qtbot)
    assert window.trainer is not None
    person.ready()
    yield person
    window.close()
    vars(person).clear()  # pytest keeps the student, who is not to keep the window
