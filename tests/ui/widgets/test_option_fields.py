"""Settings in fields: typed, stepped, toggled, chosen, reset, and refused."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLabel, QLineEdit, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attnlab.base.number_text import parse_number
from attnlab.figures.palette import DARK
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.option_controls import Chosen, Counted, Number, OnOff
from attnlab.ui.widgets.fields.option_field import write_number
from attnlab.ui.widgets.fields.option_fields import Field, OptionFields
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch

Key, Button, Shift = Qt.Key, Qt.MouseButton, Qt.KeyboardModifier.ShiftModifier


FILLS = (Choice("-inf", "−∞"), Choice("-1e9", "−1e9"), Choice("0", "0", reason="Only before the softmax."))


KINDS = tuple(Choice(i, f"a kind with a long name {i}") for i in range(3))


TEMPERATURE = Field("temperature", "Temperature", "Divides the scores", "number", 1.0, 1.0, least=0, open_least=True)


DROPOUT = Field("dropout", "Dropout", "Share of weights set to 0", "number", 0.1, 0.0, least=0, most=1)


SEED = Field("seed", "Dropout seed", "Draws the dropout", "whole", 123, 123, least=0)


TRAINING = Field("training", "Training", "Dropout is drawn", "switch", False, False)


WINDOW = Field("window", "Window", "Keys within reach", "counted", None, 2, least=1, most=64)


FILL = Field("fill", "Masked scores are", "Before the softmax", "choice", "-inf", "-inf", choices=FILLS)


KIND = Field("kind", "Kind of d_k", "Of many", "choice", 0, 0, choices=KINDS)


ALL = (TEMPERATURE, DROPOUT, SEED, TRAINING, WINDOW, FILL, KIND)


class Form:
    """A window with settings that records requests; ``obey`` applies them, like the owner of a form."""

    def __init__(self, qtbot: QtBot) -> None:
        self.asked: list[tuple[str, object]] = []
        self.fields: tuple[Field, ...] = ALL
        self.window = QWidget()
        column = QVBoxLayout(self.window)
        self.options, self.elsewhere = OptionFields(), QLineEdit()
        column.addWidget(self.options)
        column.addWidget(self.elsewhere)
        self.options.set_fields(ALL)
        self.options.field_changed.connect(self._on_field_changed)
        qtbot.addWidget(self.window)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)

    def _on_field_changed(self, name: str, value: object) -> None:
        self.asked.append((name, value))
        self.set(name, value=value)

    def set(self, name: str, **changes: object) -> None:
        self.fields = tuple(replace(f, **changes) if f.name == name else f for f in self.fields)  # type: ignore[arg-type]
        self.options.set_fields(self.fields)

    def edit(self, name: str) -> QAbstractSpinBox:
        control = self.options.control(name)
        assert isinstance(control, Number | Counted)
        return control.edit

    def text(self, name: str) -> str:
        return self.edit(name).lineEdit().text()

    def type(self, name: str, text: str, then: Qt.Key | None = Key.Key_Return) -> None:
        edit = self.edit(name)
        edit.setFocus()
        edit.selectAll()
        QTest.keyClicks(edit, text) if text else QTest.keyClick(edit, Key.Key_Delete)
        if then is not None:
            QTest.keyClick(edit, then)

    def switch(self, name: str) -> Switch:
        control = self.options.control(name)
        assert isinstance(control, OnOff | Counted)
        return control.switch

    def chosen(self, name: str) -> Chosen:
        control = self.options.control(name)
        assert isinstance(control, Chosen)
        return control


@pytest.fixture
def form(qtbot: QtBot) -> Form:
    return Form(qtbot)


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("temperature", "2", 2.0),
        ("temperature", "0,5", 0.5),
        ("temperature", "1e-3", 0.001),
        ("temperature", "½", 0.5),
        ("dropout", "1", 1.0),
        ("dropout", "0", 0.0),
        ("seed", "7", 7),
        ("seed", "9007199254740993", 9007199254740993),
        ("seed", "4.0", 4),
    ],
)
def test_enter_takes_a_number(form: Form, name: str, typed: str, value: float) -> None:
    form.type(name, typed)
    assert form.asked == [(name, value)]
    assert type(form.asked[0][1]) is type(value)
    assert form.options.complaint(name) == ""


def test_leaving_a_field_takes_its_number(form: Form) -> None:
    form.type("temperature", "3", then=None)
    assert form.asked == []
    form.elsewhere.setFocus()
    assert form.asked == [("temperature", 3.0)]


@pytest.mark.parametrize(
    ("name", "typed", "sentence"),
    [
        ("temperature", "-1", "Temperature is −1; it needs a number above 0."),
        ("temperature", "0", "Temperature is 0; it needs a number above 0."),
        ("temperature", "warm", "Temperature: 'warm' is not a number; type one such as 0.25."),
        ("temperature", "nan", "Temperature: 'nan' is not a finite number; type one such as 0.25."),
        ("temperature", "", "Temperature: this field is empty; type a number such as 0.25."),
        ("dropout", "1.5", "Dropout is 1.5; it needs a number from 0 to 1."),
        ("seed", "2.5", "Dropout seed is 2.5; it needs a whole number of at least 0."),
        ("seed", "-3", "Dropout seed is −3; it needs a whole number of at least 0."),
    ],
)
def test_an_invalid_value_is_reported_below_the_field(form: Form, name: str, typed: str, sentence: str) -> None:
    form.type(name, typed)
    assert form.asked == []
    said = next(label for label in form.options.findChildren(QLabel) if label.text() == sentence)
    assert said.isVisible()
    assert form.options.complaint(name) == sentence
    assert form.edit(name).accessibleDescription() == sentence
    assert form.text(name) == typed  # to be mended
    before = next(f for f in ALL if f.name == name)
    form.elsewhere.setFocus()
    assert form.text(name) == before.text(before.value)  # what is in force
    assert form.asked == []
    form.type(name, "0.5" if before.kind == "number" else "5")
    assert form.options.complaint(name) == ""
    assert len(form.asked) == 1


def test_arrows_step_a_temperature_by_about_a_tenth_and_back(form: Form) -> None:
    edit = form.edit("temperature")
    edit.setFocus()
    for key in (Key.Key_Up, Key.Key_Up, Key.Key_Down, Key.Key_Down, Key.Key_Down):
        QTest.keyClick(edit, key)
    assert [value for _, value in form.asked] == [1.1, 1.2, 1.1, 1.0, 0.9]
    form.asked.clear()
    form.set("temperature", value=2.0)
    QTest.keyClick(edit, Key.Key_Up, Shift)
    QTest.keyClick(edit, Key.Key_Down, Shift)
    assert [value for _, value in form.asked] == [2.02, 2.0]


def test_arrows_step_a_share_by_a_twentieth_up_to_its_bounds(form: Form) -> None:
    edit = form.edit("dropout")
    edit.setFocus()
    for _ in range(4):
        QTest.keyClick(edit, Key.Key_Down)
    assert [value for _, value in form.asked] == [0.05, 0.0]
    QTest.keyClick(edit, Key.Key_Up, Shift)
    assert form.asked[-1] == ("dropout", 0.005)


def test_arrows_step_from_the_typed_number(form: Form) -> None:
    form.type("seed", "7", then=Key.Key_Up)
    assert form.asked == [("seed", 8)]


def test_the_wheel_changes_only_the_focused_field(form: Form) -> None:
    edit = form.edit("seed")

    def turn() -> None:
        at = QPointF(edit.rect().center())
        none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
        QApplication.sendEvent(edit, QWheelEvent(at, edit.mapToGlobal(at), QPoint(), QPoint(0, 120), *none, False))

    form.elsewhere.setFocus()
    turn()
    assert form.asked == []
    edit.setFocus()
    turn()
    assert form.asked == [("seed", 124)]


@given(value=st.floats(1e-6, 1e6), steps=st.sampled_from([1, -1, 10, -10]), fine=st.booleans())
def test_a_step_changes_the_number_and_stays_above_zero(value: float, steps: int, fine: bool) -> None:
    moved = TEMPERATURE.step(value, steps, fine)
    assert (moved > value) if steps > 0 else (0 < moved < value)
    if abs(steps) == 1:
        assert 0.85 < moved / value < 1.2


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_written_number_reads_back(value: float) -> None:
    assert parse_number(write_number(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (-0.0, "0"), (10000.0, "10000"), (-1e9, "−1e9"), (1e-9, "1e-9"), (2.0, "2"), (-3, "−3")],
)
def test_numbers_are_written_in_their_shortest_form(value: float, text: str) -> None:
    assert write_number(value) == text.replace("-", "−")


def test_a_switch_can_be_toggled(form: Form) -> None:
    QTest.mouseClick(form.switch("training"), Button.LeftButton)
    assert form.asked == [("training", True)]
    form.switch("training").setFocus()
    QTest.keyClick(form.switch("training"), Key.Key_Space)
    assert form.asked[1:] == [("training", False)]


def test_a_counted_switch_takes_its_default_and_then_another_number(form: Form) -> None:
    assert not form.edit("window").isVisible()
    QTest.mouseClick(form.switch("window"), Button.LeftButton)
    assert form.asked == [("window", 2)]
    assert form.edit("window").isVisible()
    form.type("window", "5")
    form.type("window", "65")
    assert form.options.complaint("window") == "Window is 65; it needs a whole number from 1 to 64."
    QTest.mouseClick(form.switch("window"), Button.LeftButton)
    assert form.asked[1:] == [("window", 5), ("window", None)]
    assert form.options.complaint("window") == ""
    assert not form.edit("window").isVisible()


def test_a_few_short_choices_are_side_by_side(form: Form) -> None:
    fill = form.chosen("fill")
    assert [button.text() for button in fill.segments.buttons()] == ["−∞", "−1e9", "0"]
    QTest.mouseClick(fill.segments.buttons()[2], Button.LeftButton)
    assert form.asked == []
    QTest.mouseClick(fill.segments.buttons()[1], Button.LeftButton)
    assert form.asked == [("fill", "-1e9")]
    assert not fill.list.isVisible()


def test_long_choices_fold_into_a_list(form: Form) -> None:
    kind = form.chosen("kind")
    assert kind.list.isVisible()
    assert not kind.segments.isVisible()
    kind.list.setFocus()
    QTest.keyClick(kind.list, Key.Key_Down)
    assert form.asked == [("kind", 1)]
    assert kind.list.currentText() == KINDS[1].title


def test_reset_is_shown_when_a_setting_differs_from_its_default(form: Form) -> None:
    assert not form.options.reset_button("temperature").isVisible()
    reset = form.options.reset_button("dropout")
    assert reset.isVisible()
    assert reset.accessibleName() == "Reset Dropout to 0"
    QTest.mouseClick(reset, Button.LeftButton)
    assert form.asked == [("dropout", 0.0)]
    assert not reset.isVisible()
    assert form.text("dropout") == "0"


def test_reset_discards_unfinished_typing(form: Form) -> None:
    form.type("dropout", "0.7", then=None)
    QTest.mouseClick(form.options.reset_button("dropout"), Button.LeftButton)
    assert form.asked == [("dropout", 0.0)]
    assert form.text("dropout") == "0"
    form.elsewhere.setFocus()
    assert len(form.asked) == 1


def test_live_changes_keep_unfinished_typing(form: Form) -> None:
    form.type("temperature", "2.", then=None)
    form.set("dropout", value=0.3)
    form.set("temperature", value=4.0)
    assert form.text("temperature") == "2."
    assert form.edit("temperature").hasFocus()
    assert form.text("dropout") == "0.3"
    QTest.keyClick(form.edit("temperature"), Key.Key_Escape)
    assert form.text("temperature") == "4"
    assert form.asked == []


def test_new_settings_replace_old_ones_and_kept_ones_keep_the_focus(form: Form) -> None:
    form.edit("seed").setFocus()
    before = form.options.height_for(400)
    form.options.set_fields([FILL, SEED])
    assert form.edit("seed").hasFocus()
    assert form.options.height_for(400) < before / 2
    with pytest.raises(KeyError):
        form.options.control("temperature")
    titles = [label.text() for label in form.options.findChildren(QLabel) if label.isVisible()]
    assert sorted(titles) == ["Dropout seed", "Masked scores are"]


def test_a_disabled_setting_has_its_reason(form: Form) -> None:
    form.set("seed", reason="Nothing is drawn in evaluation.")
    edit = form.edit("seed")
    assert not edit.isEnabled()
    assert edit.accessibleDescription() == "Nothing is drawn in evaluation."
    QApplication.sendEvent(edit, QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), edit.mapToGlobal(QPoint(5, 5))))
    assert QToolTip.text() == "Nothing is drawn in evaluation."
    QToolTip.hideText()
    form.set("seed", reason="")
    form.type("seed", "4")
    assert form.asked == [("seed", 4)]


def test_a_refused_value_is_reported_and_reverted(form: Form) -> None:
    form.options.field_changed.disconnect()
    form.options.field_changed.connect(lambda name, _value: form.options.complain(name, "123 is the only seed."))
    form.type("seed", "7")
    assert form.options.complaint("seed") == "123 is the only seed."
    assert form.text("seed") == "123"
    form.options.set_fields(ALL)
    assert form.options.complaint("seed") == "123 is the only seed."
    form.type("seed", "8", then=None)
    assert form.options.complaint("seed") == ""


def test_every_control_has_a_name_and_a_tip(form: Form) -> None:
    form.set("window", value=3)
    stops = form.options.stops()
    assert len(stops) == 10  # seven settings, the number of the window, two that can be reset
    for stop in stops:
        assert stop.accessibleName()
        assert stop.toolTip()


def test_colours_follow_the_theme(form: Form) -> None:
    before = form.options.control("fill").grab().toImage()
    dress(form.options, DARK)
    segments = form.options.findChildren(Segments)
    assert segments
    assert form.options.control("fill").grab().toImage() != before
