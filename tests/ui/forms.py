"""Uses the fields of a form as a person does: types numbers, picks from lists, toggles switches."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from attnlab.ui.widgets.fields.option_controls import Chosen, Number, OnOff
from attnlab.ui.widgets.fields.option_fields import OptionFields


def type_into(form: OptionFields, name: str, text: str) -> None:
    """Replace the number in a field, and leave it with Tab."""
    control = form.control(name)
    assert isinstance(control, Number)
    line = control.edit.lineEdit()
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Tab)


def pick(form: OptionFields, name: str, title: str) -> None:
    """Pick a choice from the list of a field."""
    control = form.control(name)
    assert isinstance(control, Chosen)
    index = control.list.findText(title)
    assert index >= 0, f"{title!r} is not offered"
    control.list.setCurrentIndex(index)
    control.list.activated.emit(index)


def turn(form: OptionFields, name: str) -> None:
    """Click the switch of a field."""
    control = form.control(name)
    assert isinstance(control, OnOff)
    QTest.mouseClick(control.switch, Qt.MouseButton.LeftButton)


def titles(form: OptionFields, name: str) -> list[str]:
    """Return the choices of a field."""
    control = form.control(name)
    assert isinstance(control, Chosen)
    return [control.list.itemText(index) for index in range(control.list.count())]
