"""Fits the parts of a bar to its width: parts shrink or disappear in order, and hidden buttons move into a menu."""

from collections.abc import Mapping, Sequence
from typing import cast

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget


class Overflow(QToolButton):
    """A button that appears in a bar while buttons of it are hidden, and offers those in a menu."""

    def __init__(self, row: QHBoxLayout) -> None:
        super().__init__()
        self._row = row
        self.left_out: tuple[QPushButton, ...] = ()
        self.setText("⋯")
        self.setAccessibleName("More")
        self.setToolTip("More buttons")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(QMenu(self))
        self.menu().setToolTipsVisible(True)
        self.menu().aboutToShow.connect(self._on_menu_wanted)
        self.hide()

    def fit(
        self, width: int, rooms: Mapping[QWidget, int], folds: Sequence[tuple[QWidget, int]]
    ) -> Mapping[QWidget, int]:
        """Apply as few of the folds as the width requires, in order; return the width of each part.

        ``rooms`` holds the width that each part needs, and a fold the reduced width of a part, in pixels. A part of
        width 0 is hidden.
        """
        left = dict(rooms)
        for part, room in folds:
            if self._measure_needed(left) <= width:
                break
            left[part] = room
        self.left_out = tuple(part for part, room in left.items() if not room and isinstance(part, QPushButton))
        for part, room in left.items():
            part.setVisible(room > 0)
        self.setVisible(bool(self.left_out))
        return left

    def _measure_needed(self, rooms: Mapping[QWidget, int]) -> int:
        """Return the width of the bar; if a button is hidden, it includes this one."""
        widths = [room for room in rooms.values() if room]
        if any(not room and isinstance(part, QPushButton) for part, room in rooms.items()):
            widths.append(self.sizeHint().width())
        margins = self._row.contentsMargins()
        return margins.left() + margins.right() + sum(widths) + self._row.spacing() * len(widths)

    @Slot()
    def _on_menu_wanted(self) -> None:
        menu = self.menu()
        for former in menu.findChildren(QMenu):
            former.deleteLater()
        menu.clear()
        for button in self.left_out:
            if (choices := cast(QMenu | None, button.menu())) is not None:
                choices.aboutToShow.emit()  # so that they update their state
                within = menu.addMenu(button.text())
                within.addActions(choices.actions())
                action = within.menuAction()
            else:
                action = menu.addAction(button.text(), button.click)
            action.setEnabled(button.isEnabled())
            action.setToolTip(button.toolTip())
