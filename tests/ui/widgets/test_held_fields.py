"""Forms in panels and dialogs: numbers apply while they are typed, and the form keeps its values."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.fields.held_fields import HeldFields
from attnlab.ui.widgets.fields.option_controls import Chosen, Number
from attnlab.ui.widgets.fields.option_field import Field, choice_field, whole_field
from tests.ui.forms import pick, titles, turn, type_into

FRAMES = whole_field("frames", "Frames", "The number of pictures", 10, 2, 50)
WIDTH = choice_field("width", "Width", "In pixels", [("480 pixels", 480), ("960 pixels", 960)])
BACK = Field("back", "There and back", "Returns to the start", "switch", False, False)


@pytest.fixture
def form(qtbot: QtBot) -> HeldFields:
    made = HeldFields((FRAMES, WIDTH, BACK))
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_a_form_keeps_its_values(form: HeldFields) -> None:
    changes = []
    form.changed.connect(lambda: changes.append(form.as_texts(("frames", "width", "back"))))
    pick(form, "width", "960 pixels")
    turn(form, "back")
    type_into(form, "frames", "7")
    assert [form.value(name) for name in ("frames", "width", "back")] == [7, 960, True]
    assert changes[0] == {"frames": "10", "width": "960", "back": "off"}
    assert changes[-1] == {"frames": "7", "width": "960", "back": "on"}


def test_a_number_applies_while_it_is_typed_and_escape_reverts_it(form: HeldFields) -> None:
    control = form.control("frames")
    assert isinstance(control, Number)
    line = control.edit.lineEdit()
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "4")
    assert form.value("frames") == 4
    QTest.keyClicks(line, "4")
    assert form.value("frames") == 44
    QTest.keyClicks(line, "4")
    assert "from 2 to 50" in form.complaint("frames")
    assert (line.text(), form.value("frames")) == ("444", 44)
    QTest.keyClick(line, Qt.Key.Key_Escape)
    assert (line.text(), form.value("frames"), form.complaint("frames")) == ("10", 10, "")


def test_an_invalid_remembered_value_is_ignored(form: HeldFields) -> None:
    for name, text in (("frames", "51"), ("frames", "many"), ("width", "640"), ("width", "")):
        form.take_text(name, text)
    assert (form.value("frames"), form.value("width")) == (10, 480)
    for name, text in (("frames", "50"), ("width", "960"), ("back", "on")):
        form.take_text(name, text)
    assert (form.value("frames"), form.value("width"), form.value("back")) == (50, 960, True)


def test_new_choices_keep_the_current_one_if_possible(form: HeldFields) -> None:
    pick(form, "width", "960 pixels")
    form.offer("width", [("960 pixels", 960), ("1280 pixels", 1280)], 1280)
    assert (form.value("width"), titles(form, "width")) == (960, ["960 pixels", "1280 pixels"])
    form.offer("width", [("640 pixels", 640), ("1280 pixels", 1280)], 1280)
    assert form.value("width") == 1280


def test_scrolling_past_a_list_keeps_its_choice(form: HeldFields) -> None:
    control = form.control("width")
    assert isinstance(control, Chosen)
    form.control("back").setFocus()
    middle = QPointF(control.list.rect().center())
    wheel = QWheelEvent(
        middle,
        QPointF(control.list.mapToGlobal(middle)),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(control.list, wheel)
    assert form.value("width") == 480
    control.list.setFocus()
    QApplication.sendEvent(control.list, wheel)
    assert form.value("width") == 960


def test_additional_widgets_are_above_the_fields(qtbot: QtBot) -> None:
    form = HeldFields()
    qtbot.addWidget(form)
    own = QLabel("own")
    title = form.add_widget("Own", own, "Not a field")
    form.hold((FRAMES,))
    form.show()
    assert own.accessibleName() == "Own"
    assert own.toolTip() == "Not a field"
    assert title.y() < form.control("frames").y()
