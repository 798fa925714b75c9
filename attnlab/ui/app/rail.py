"""The rail at the left: the menu of all actions, a button for each workspace, and at the bottom Help and Settings."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QMenu, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of

GAP, MARGIN = 4, 8
_TEXT_HIGH, _ICON_HIGH = 56, 44
"""The height of a button with a text and of one without, in pixels at 100 %."""


class RailFrame(QFrame):
    """The ground of the rail, in front of a bar whose further lines begin beside it."""

    def __init__(self, rail: "Rail") -> None:
        super().__init__()
        self.setProperty("ground", "rail")
        inside = QVBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(rail)


@guarded
class Rail(FollowsTheme, QWidget):
    """Emits the index of the workspace that was chosen. A low window leaves out texts, those of the menus first."""

    workspace_chosen = Signal(int)

    def __init__(
        self,
        workspaces: Sequence[tuple[str, str]],
        menu: QMenu,
        help_menu: QMenu,
        settings_menu: QMenu,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("ground", "surface")
        self.setObjectName("rail")
        column = QVBoxLayout(self)
        column.setContentsMargins(6, MARGIN, 6, MARGIN)
        column.setSpacing(GAP)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        self._group = QButtonGroup(self)
        self._icons: list[tuple[QToolButton, str]] = []
        self._fitted: object = None
        self._menus: list[QMenu] = []
        for place, (title, icon_name) in enumerate(workspaces):
            button = self._make(title, icon_name, f"{title} (Ctrl+{place + 1})")
            button.setCheckable(True)
            button.setChecked(place == 0)
            self._group.addButton(button, place)
            column.addWidget(button)
        self._group.idClicked.connect(self._on_id_clicked)
        column.addStretch(1)
        self.menu_button = self._make_menu("Menu", "menu", "Menu of all actions", menu)
        column.insertWidget(0, self.menu_button)  # made last, as the workspaces get the focus first
        self.help_button = self._make_menu("Help", "help", "Help: guide, keys, lessons, about", help_menu)
        self.settings_button = self._make_menu("Settings", "settings", "Settings: theme, size of type", settings_menu)
        for button in (self.help_button, self.settings_button):
            column.addWidget(button)

    def _make(self, title: str, icon_name: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("rail", True)
        button.setText(title)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        self._icons.append((button, icon_name))
        return button

    def _make_menu(self, title: str, icon_name: str, tip: str, menu: QMenu) -> QToolButton:
        button = self._make(title, icon_name, tip)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menus.append(menu)
        menu.aboutToShow.connect(self._on_about_to_show)
        menu.aboutToHide.connect(self._on_about_to_hide)
        return button

    def restyle(self) -> None:
        """Set icons and sizes."""
        self._fit()

    def _fit(self) -> None:
        """Give the buttons the largest of four sizes that fits the height of the rail."""
        palette, count, fixed = palette_of(self), len(self._icons), len(self._group.buttons())
        room = self.height() - 2 * MARGIN - (count - 1) * GAP
        text, plain = px(_TEXT_HIGH), px(_ICON_HIGH)
        needed = (text * count, text * fixed + plain * (count - fixed), plain * count)
        level = next((level for level, height in enumerate(needed) if height <= room), len(needed))
        side = px(20) if level < len(needed) else max(min(px(20), room // count - 12), 12)
        fitted = palette, text, plain, level, side
        if fitted == self._fitted:
            return
        self._fitted = fitted
        for button, name in self._icons:
            has_text = level == 0 or (level == 1 and button.isCheckable())
            style = Qt.ToolButtonStyle
            button.setToolButtonStyle(style.ToolButtonTextUnderIcon if has_text else style.ToolButtonIconOnly)
            button.setIcon(icon(name, palette, side))
            button.setIconSize(QSize(side, side))
            high = text if has_text else plain if level < len(needed) else side + 12
            button.setFixedSize(px(52), high)

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

    @Slot()
    def _on_about_to_show(self) -> None:
        """Close the other menus: a press of a screen reader does not, and their buttons would stay grey."""
        for menu in self._menus:
            if menu is not self.sender() and menu.isVisible():
                menu.close()

    @Slot()
    def _on_about_to_hide(self) -> None:
        QTimer.singleShot(0, self, self._show_hover)

    def _show_hover(self) -> None:
        """Show buttons as the mouse is on them: if a menu's action restyles its button, Qt believes it still is."""
        for button in (self.help_button, self.settings_button):
            on_it = button.rect().contains(button.mapFromGlobal(QCursor.pos()))
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, on_it)
            button.update()

    def sizeHint(self) -> QSize:
        return QSize(px(52) + 12, px(_TEXT_HIGH) * len(self._icons))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(52) + 12, 100)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
