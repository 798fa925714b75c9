"""The bar above the maps of an array: what it is, which layer and head are visible, and what can be taken out."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QMenu, QPushButton, QSizePolicy, QWidget

from attnlab.ui.base.actions import ActionList
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.fields.pill import Pill

SPACING = 8


@guarded
class ArrayBar(FollowsTheme, QFrame):
    """In a narrow window the texts are left out, and the buttons become one menu."""

    def __init__(self, heading: str, remark: str, pills: tuple[Pill, ...], actions: ActionList) -> None:
        super().__init__()
        self.setProperty("ground", "top")
        self.heading, self.remark = QLabel(heading), QLabel(remark)
        self.heading.setProperty("role", "title")
        self.remark.setProperty("role", "muted")
        self.copy = _make_menu_button("Copy", "Copy the visible maps as a picture or as numbers", actions, "Copy")
        self.save, self.export = (_make_button(actions, name) for name in ("save", "export"))
        self.more = _make_menu_button("File", "Copy, save or export the maps", actions, "Copy", "File")
        self._pills, self._buttons = pills, (self.copy, self.save, self.export)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(SPACING)
        row.addWidget(self.heading)
        row.addWidget(self.remark)
        row.addStretch(1)
        for widget in (*pills, *self._buttons, self.more):
            row.addWidget(widget)
        self._fit()

    def restyle(self) -> None:
        """Set the height, and what fits."""
        self.setFixedHeight(px(48))
        self._fit()

    def _fit(self) -> None:
        """Leave out the remark, then the heading, then the separate buttons."""
        texts: tuple[QWidget, ...] = (self.heading, self.remark)
        tries = ((texts, self._buttons), ((self.heading,), self._buttons), ((), self._buttons), ((), (self.more,)))
        pills = [pill for pill in self._pills if not pill.isHidden()]
        shown: tuple[QWidget, ...] = ()
        for kept, buttons in tries:
            shown = (*kept, *buttons)
            widths = [widget.sizeHint().width() for widget in (*shown, *pills)]
            if sum(widths) + SPACING * len(widths) + 32 <= self.width():
                break
        for widget in (*texts, *self._buttons, self.more):
            widget.setVisible(widget in shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _make_button(actions: ActionList, name: str) -> QPushButton:
    action = actions[name]
    button = QPushButton(action.text())
    button.setToolTip(action.toolTip())
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus on the maps
    button.clicked.connect(action.trigger)
    return button


def _make_menu_button(text: str, about: str, actions: ActionList, *sections: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(about)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    menu = QMenu(button)
    menu.setToolTipsVisible(True)
    button.setMenu(actions.menu(menu, *sections))
    return button
