"""The keys of a clicker walk an open lesson wherever the focus is, but not in tables and fields, which use them."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QScrollArea, QWidget

from attnlab.ui.widgets.fields.number_edit import NumberEdit
from tests.ui.lessons.test_lecture import find_controller, step_of

if TYPE_CHECKING:
    from tests.ui.conftest import Person

DOWN, UP = Qt.Key.Key_PageDown, Qt.Key.Key_PageUp


def press(person: "Person", key: Qt.Key, at: QWidget) -> None:
    at.setFocus()
    assert QApplication.focusWidget() is at
    person.key(key)
    person.settle()


def test_keys_walk_the_lesson_wherever_the_focus_is_but_not_in_fields_nor_beyond_its_end(person: "Person") -> None:
    controller = find_controller(person)
    controller.open("backpropagation")
    person.settle()
    for _ in range(2):  # the second step hides the canvas, which has the focus, and shows a page that scrolls
        person.key(DOWN)
        person.settle()
    lens = person.playground.lenses.stack.currentWidget()
    assert step_of(person) == 1
    assert controller.player.frame is None
    for name in ("Explain", "The step’s text", "Inputs", "Backward: text and plots"):
        controller.player.go(1)
        press(person, UP, person.find(QScrollArea, name))
        assert step_of(person) == 0, name
    controller.player.go(1)
    person.settle()
    wanted = next(field for field in lens.findChildren(NumberEdit) if field.isVisible())
    for field in (wanted, person.find(QWidget, "d_model"), person.table):
        press(person, DOWN, field)
        assert (step_of(person), controller.player.frame_index) == (1, 0)
    controller.player.go(11)
    person.find(QPushButton, "Next").setFocus()
    for _ in range(5):
        person.key(Qt.Key.Key_Space)
        person.settle()
    assert controller.player.at_end
    assert controller.presentation is None, "one Space too many starts no presentation"
    controller.close()
    press(person, DOWN, person.find(QScrollArea, "Explain"))
    assert controller.player.slide is None
