"""What a bar has no room for: parts get less or none one after the other, and the buttons among them go into a menu."""

from collections.abc import Mapping, Sequence
from typing import cast

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget


class Overflow(QToolButton):
    """Stands in a row while buttons of it are left out, and offers those."""

    def __init__(self, row: QHBoxLayout) -> None:
        super().__init__()
        self._row = row
        self.left_out: tuple[QPushButton, ...] = ()
        self.setText("⋯")
        self.setAccessibleName("More")
        self.setToolTip("What there is no room for")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(QMenu(self))
        self.menu().setToolTipsVisible(True)
        self.menu().aboutToShow.connect(self._on_menu_wanted)
        self.hide()

    def fit(
        self, width: int, rooms: Mapping[QWidget, int], folds: Sequence[tuple[QWidget, int]]
    ) -> Mapping[QWidget, int]:
        """Take as few of the folds as a width allows, the first ones first; return which part has how much room.

        ``rooms`` says how much each part of the row asks for, and a fold how much a part has after it, in pixels. What
        has none is hidden.
        """
        left = dict(rooms)
        for part, room in folds:
            if self._needed(left) <= width:
                break
            left[part] = room
        self.left_out = tuple(part for part, room in left.items() if not room and isinstance(part, QPushButton))
        for part, room in left.items():
            part.setVisible(room > 0)
        self.setVisible(bool(self.left_out))
        return left

    def _needed(self, rooms: Mapping[QWidget, int]) -> int:
        """Return how wide the row is; where a button is left out, this one is in it."""
        shown = [room for room in rooms.values() if room]
        if any(not room and isinstance(part, QPushButton) for part, room in rooms.items()):
            shown.append(self.sizeHint().width())
        margins = self._row.contentsMargins()
        return margins.left() + margins.right() + sum(shown) + self._row.spacing() * len(shown)

    @Slot()
    def _on_menu_wanted(self) -> None:
        menu = self.menu()
        for former in menu.findChildren(QMenu):
            former.deleteLater()
        menu.clear()
        for button in self.left_out:
            if (choices := cast(QMenu | None, button.menu())) is not None:
                choices.aboutToShow.emit()  # so that they say what can be done now
                within = menu.addMenu(button.text())
                within.addActions(choices.actions())
                action = within.menuAction()
            else:
                action = menu.addAction(button.text(), button.click)
            action.setEnabled(button.isEnabled())
            action.setToolTip(button.toolTip())
