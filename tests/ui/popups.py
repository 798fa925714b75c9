"""The popup of a pill, opened and closed as a person does."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from attnlab.ui.widgets.fields.pill import Pill

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def popup_of(person: "Person", pill: str) -> QWidget:
    """Return the popup of a pill, opened if it was not."""
    found = person.find(Pill, pill)
    if found.popup() is None:
        person.click(found)
    popup = found.popup()
    assert popup is not None
    return popup


def close(person: "Person", pill: str) -> None:
    popup = popup_of(person, pill)
    person.key(Key.Key_Escape, widget=popup.focusWidget() or popup)
    assert person.find(Pill, pill).popup() is None
