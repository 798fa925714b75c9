"""The rail at the left: one button for each workspace, and the menu of all actions at the bottom."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QMenu, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of


@guarded
class Rail(FollowsTheme, QWidget):
    """Emits the index of the workspace that was chosen."""

    workspace_chosen = Signal(int)

    def __init__(self, workspaces: Sequence[tuple[str, str]], menu: QMenu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "surface")
        self.setObjectName("rail")
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 10, 6, 10)
        column.setSpacing(4)
        self._group = QButtonGroup(self)
        self._icons: list[tuple[QToolButton, str]] = []
        for place, (title, icon_name) in enumerate(workspaces):
            button = self._make(title, icon_name, f"{title} (Ctrl+{place + 1})")
            button.setCheckable(True)
            button.setChecked(place == 0)
            self._group.addButton(button, place)
            column.addWidget(button)
        self._group.idClicked.connect(self._on_id_clicked)
        column.addStretch(1)
        self.menu_button = self._make("", "settings", "Menu of all actions")
        self.menu_button.setMenu(menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        column.addWidget(self.menu_button)

    def _make(self, title: str, icon_name: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("rail", True)
        button.setText(title)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setAutoRaise(True)
        self._icons.append((button, icon_name))
        return button

    def restyle(self) -> None:
        """Set icons and sizes."""
        palette = palette_of(self)
        for button, name in self._icons:
            button.setIcon(icon(name, palette, px(20)))
            button.setIconSize(QSize(px(20), px(20)))
            button.setFixedSize(px(52), px(56) if button.text() else px(44))

    @property
    def place(self) -> int:
        """The index of the current workspace."""
        return self._group.checkedId()

    def show_place(self, place: int) -> None:
        """Mark the current workspace."""
        self._group.button(place).setChecked(True)

    @Slot(int)
    def _on_id_clicked(self, place: int) -> None:
        self.workspace_chosen.emit(place)
