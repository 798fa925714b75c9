"""Converts the last choices in a film dialog to words for the settings, and back."""

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from attnlab.ui.base.themed_window import ThemedWindow
from attnlab.ui.export.figure_choices import others
from attnlab.ui.widgets.fields.undo_fields import NumberBox

Fields = Mapping[str, QWidget]
"""The fields to remember, by name; a field comes before those that depend on it."""


def keep(window: ThemedWindow, kind: str, fields: Fields) -> None:
    """Store the values of fields in the settings, under the prefix ``kind``."""
    mine = tuple(f"{kind}.{name}={_text(field)}" for name, field in fields.items())
    window.change_settings(figure=(*others(window.settings.figure, kind), *mine))


def recall(remembered: Sequence[str], kind: str, fields: Fields) -> None:
    """Show the remembered values in fields; values that a field no longer offers are ignored."""
    for word in remembered:
        name, _, text = word.removeprefix(f"{kind}.").partition("=")
        if word.startswith(f"{kind}.") and name in fields:
            _show(fields[name], text)


def _text(field: QWidget) -> str:
    if isinstance(field, QComboBox):
        return str(field.currentData())
    if isinstance(field, QCheckBox):
        return "on" if field.isChecked() else "off"
    assert isinstance(field, NumberBox)
    return str(field.value())


def _show(field: QWidget, text: str) -> None:
    if isinstance(field, QComboBox):
        found = [index for index in range(field.count()) if str(field.itemData(index)) == text]
        field.setCurrentIndex(found[0] if found else field.currentIndex())
    elif isinstance(field, QCheckBox):
        field.setChecked(text == "on")
    elif (
        isinstance(field, NumberBox)
        and text.isdecimal()
        and len(text) < 10
        and field.minimum() <= int(text) <= field.maximum()
    ):
        field.setValue(int(text))
