"""What the Explain panel says of a cell: its steps, its sentences and its words, in order."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from attnlab.ui.playground.steps_view import StepsView

if TYPE_CHECKING:
    from tests.ui.conftest import Person


def read_explained(person: "Person") -> str:
    """Return all that Explain says, from top to bottom."""
    panel = person.playground.explain
    parts: list[QWidget] = [*panel.findChildren(StepsView), *panel.findChildren(QLabel)]
    shown = sorted((part for part in parts if part.isVisible()), key=lambda part: part.mapTo(panel, QPoint()).y())
    return "; ".join(line for part in shown for line in _read(part))


def _read(part: QWidget) -> list[str]:
    if isinstance(part, StepsView):
        return part.read_lines()
    assert isinstance(part, QLabel)
    return [part.accessibleName() or part.text()]


def ask_for_formula(person: "Person") -> None:
    """Have the arithmetic written as a formula too."""
    button = person.find(QPushButton, "Formula", person.playground.explain)
    if not button.isChecked():
        person.click(button)
