"""The popup of a pill: choices and settings that stay open, close, scroll and say why."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.option_controls import Number, OnOff
from attnlab.ui.widgets.fields.option_fields import Field
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.pill_popup import PillPopup
from tests.ui.widgets.test_option_fields import SEED, TEMPERATURE, TRAINING, WINDOW

Key, Button = Qt.Key, Qt.MouseButton


def focus() -> QWidget:
    """Return the focus widget."""
    found = QApplication.focusWidget()
    assert found is not None
    return found


# In the popup of a pill


class Bar:
    """A window with a pill of choices and settings that records requests."""

    def __init__(self, qtbot: QtBot, choices: bool = True) -> None:
        self.asked: list[tuple[str, object]] = []
        self.chosen: list[object] = []
        self.window = QWidget()
        self.window.resize(600, 500)
        self.pill = Pill("Weights", self.window)
        if choices:
            self.pill.set_choices(
                [
                    Choice("softmax", "softmax"),
                    Choice("sparsemax", "sparsemax", "sparse"),
                    Choice("entmax", "entmax", "between", reason="entmax needs float64."),
                ]
            )
            self.pill.set_value("softmax")
        self.fields: tuple[Field, ...] = (TEMPERATURE, TRAINING)
        self.pill.set_fields(self.fields)
        self.pill.field_changed.connect(self._on_field_changed)
        self.pill.chosen.connect(self.chosen.append)
        qtbot.addWidget(self.window)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)

    def _on_field_changed(self, name: str, value: object) -> None:
        self.asked.append((name, value))
        self.fields = tuple(replace(f, value=value) if f.name == name else f for f in self.fields)
        self.pill.set_fields(self.fields)

    def open(self) -> PillPopup:
        if self.pill.popup() is None:
            QTest.mouseClick(self.pill, Button.LeftButton)
        popup = self.pill.popup()
        assert popup is not None
        return popup

    def edit(self) -> QAbstractSpinBox:
        control = self.open().options.control("temperature")
        assert isinstance(control, Number)
        return control.edit

    def type(self, text: str) -> None:
        self.edit().setFocus()
        self.edit().selectAll()
        QTest.keyClicks(self.edit(), text)


@pytest.fixture
def bar(qtbot: QtBot) -> Bar:
    return Bar(qtbot)


@pytest.fixture
def make_bar(qtbot: QtBot) -> Callable[[bool], Bar]:
    return lambda choices: Bar(qtbot, choices)


def test_changing_a_setting_leaves_the_popup_open_and_choosing_closes_it(bar: Bar) -> None:
    popup = bar.open()
    bar.type("2")
    QTest.keyClick(bar.edit(), Key.Key_Return)
    assert bar.asked == [("temperature", 2.0)]
    assert popup.isVisible()
    QTest.mouseClick(popup.rows()[1], Button.LeftButton)
    assert bar.chosen == ["sparsemax"]
    assert bar.pill.popup() is None


def test_a_pill_describes_settings_that_differ_from_their_default(bar: Bar) -> None:
    assert bar.pill.accessibleDescription() == "Opens a list of choices"
    before, narrow = bar.pill.grab().toImage(), bar.pill.sizeHint().width()
    bar.pill.set_fields([replace(TEMPERATURE, value=2.0), replace(TRAINING, value=True), WINDOW])
    assert bar.pill.accessibleDescription() == "Opens a list of choices; temperature 2; training on"
    assert bar.pill.sizeHint().width() > narrow
    assert bar.pill.grab().toImage() != before


def test_an_open_popup_updates_in_place(bar: Bar) -> None:
    popup = bar.open()
    edit = bar.edit()
    edit.setFocus()
    top, low = popup.geometry().topLeft(), popup.height()
    bar.pill.set_fields([replace(TEMPERATURE, value=3.0), replace(TRAINING, reason="There is nothing to drop.")])
    assert edit.lineEdit().text() == "3"
    assert edit.hasFocus()
    control = popup.options.control("training")
    assert isinstance(control, OnOff)
    assert not control.switch.isEnabled()
    bar.pill.set_fields([TEMPERATURE, TRAINING, SEED, WINDOW])
    assert popup.height() > low + 40
    assert popup.geometry().topLeft() == top
    assert edit.hasFocus()
    bar.pill.set_fields([TEMPERATURE, TRAINING])
    assert popup.height() == low
    popup.close()


def test_a_message_makes_room_for_itself(bar: Bar) -> None:
    popup = bar.open()
    low = popup.height()
    bar.type("-1")
    QTest.keyClick(bar.edit(), Key.Key_Return)
    said = next(label for label in popup.findChildren(QLabel) if label.text().startswith("Temperature is −1"))
    assert popup.height() > low
    assert popup.rect().contains(said.geometry().translated(popup.options.mapTo(popup, QPoint())))
    assert said.height() >= said.heightForWidth(said.width())
    bar.pill.complain("temperature", "A sentence that is too long for one line of the popup goes on in the next. " * 2)
    assert said.height() >= said.heightForWidth(said.width())
    popup.close()


def test_tab_visits_one_choice_and_every_setting(bar: Bar) -> None:
    popup = bar.open()
    assert popup.rows()[0].hasFocus()
    seen = []
    for _ in range(4):
        QTest.keyClick(focus(), Key.Key_Tab)
        seen.append(focus().accessibleName())
    assert seen == ["Temperature", "Training", "softmax", "Temperature"]
    QTest.keyClick(focus(), Key.Key_Backtab)
    assert popup.rows()[0].hasFocus()
    QTest.keyClick(popup.rows()[0], Key.Key_Down)
    assert popup.rows()[1].hasFocus()
    popup.close()


@pytest.mark.parametrize("typed", ["", "2"])
def test_escape_closes_without_taking_a_value(bar: Bar, typed: str) -> None:
    bar.edit().setFocus()
    if typed:
        bar.type(typed)
    QTest.keyClick(bar.edit(), Key.Key_Escape)
    assert bar.pill.popup() is None
    assert bar.asked == []


def test_a_click_elsewhere_takes_the_typed_value_and_closes(bar: Bar) -> None:
    popup = bar.open()
    bar.type("2")
    QTest.mouseClick(popup, Button.LeftButton, pos=QPoint(popup.width() + 50, popup.height() + 50))
    assert bar.pill.popup() is None
    assert bar.asked == [("temperature", 2.0)]


def test_a_pill_with_settings_only_shows_a_text(make_bar: Callable[[bool], Bar]) -> None:
    bar = make_bar(False)
    bar.pill.set_text("τ 1")
    assert bar.pill.accessibleName() == "Weights: τ 1"
    assert bar.pill.accessibleDescription() == "Opens settings"
    popup = bar.open()
    assert bar.edit().hasFocus()
    QTest.keyClick(bar.edit(), Key.Key_Up)
    assert bar.asked == [("temperature", 1.1)]
    popup.close()


def test_a_disabled_choice_has_its_reason(bar: Bar) -> None:
    popup = bar.open()
    row = popup.rows()[2]
    QTest.mouseClick(row, Button.LeftButton)
    assert bar.chosen == []
    assert row.accessibleDescription() == "between. entmax needs float64."
    QApplication.sendEvent(row, QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), row.mapToGlobal(QPoint(5, 5))))
    assert QToolTip.text() == "entmax needs float64."
    QToolTip.hideText()
    popup.close()


def test_settings_that_exceed_the_screen_scroll(bar: Bar) -> None:
    bar.pill.set_fields([replace(SEED, name=f"seed{i}", title=f"Seed {i}") for i in range(80)])
    popup = bar.open()
    assert bar.pill.screen().availableGeometry().contains(popup.geometry())
    last = popup.options.stops()[-1]
    QTest.keyClick(focus(), Key.Key_Backtab)
    assert last.hasFocus()
    assert popup.rect().contains(last.mapTo(popup, last.rect().center()))
    popup.close()


def test_settings_end_as_far_from_the_right_edge_as_their_titles_begin_from_the_left(qtbot: QtBot) -> None:
    bar = Bar(qtbot, choices=False)
    bar.fields = (TEMPERATURE, TRAINING, WINDOW)
    bar.pill.set_fields(bar.fields)
    bar.pill.open()
    popup = bar.pill.popup()
    assert popup is not None
    popup.grab()  # which lays out what was asked for
    title = next(label for label in popup.findChildren(QLabel) if label.text() == TEMPERATURE.title)
    for field in bar.fields:
        control = popup.options.control(field.name)
        right = control.mapTo(popup, QPoint(control.width(), 0)).x()
        assert popup.width() - right == title.mapTo(popup, QPoint(0, 0)).x()
