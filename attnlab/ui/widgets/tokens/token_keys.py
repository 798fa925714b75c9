"""The keys and the context menu of a token strip, from one table."""

from collections.abc import Callable

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from attnlab.ui.base.theme import round_corners

_None, _Alt, _Ctrl = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
)
_KEYS: dict[tuple[Qt.Key, Qt.KeyboardModifier], str] = {
    (Qt.Key.Key_Left, _None): "left",
    (Qt.Key.Key_Right, _None): "right",
    (Qt.Key.Key_Up, _None): "up",
    (Qt.Key.Key_Down, _None): "down",
    (Qt.Key.Key_Home, _None): "home",
    (Qt.Key.Key_End, _None): "end",
    (Qt.Key.Key_Return, _None): "click",
    (Qt.Key.Key_Enter, _None): "click",
    (Qt.Key.Key_Space, _None): "click",
    (Qt.Key.Key_F2, _None): "edit",
    (Qt.Key.Key_Left, _Alt): "move_left",
    (Qt.Key.Key_Right, _Alt): "move_right",
    (Qt.Key.Key_D, _Ctrl): "duplicate",
    (Qt.Key.Key_Delete, _None): "remove",
    (Qt.Key.Key_Backspace, _None): "remove",
    (Qt.Key.Key_Insert, _None): "add",
    (Qt.Key.Key_H, _None): "mask",
}
MASK, UNMASK = "Mask: no query may attend to it", "Unmask: queries may attend to it"
_ENTRIES = (
    ("edit", "Rename"),
    ("duplicate", "Duplicate"),
    ("move_left", "Move left"),
    ("move_right", "Move right"),
    ("mask", MASK),
    ("remove", "Remove"),
    ("", ""),
    ("add", "Add a token"),
)


def command_for(event: QKeyEvent) -> str | None:
    """Return the command of a key, None if it has none."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return _KEYS.get((Qt.Key(event.key()), modifiers))


def context_menu(parent: QWidget, *, on_token: bool, masked: bool | None, obey: Callable[[str], None]) -> QMenu:
    """Return a menu that calls ``obey`` with the chosen command; ``masked`` is None if the token cannot be masked.

    Keys are shown as text: real shortcuts would take the keys from the window while the menu exists. The menu deletes
    itself when closed.
    """
    menu = QMenu(parent)
    round_corners(menu)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for command, title in _ENTRIES:
        if not command:
            menu.addSeparator()
            continue
        key, modifiers = next(keys for keys, meaning in _KEYS.items() if meaning == command)
        text = QKeySequence(QKeyCombination(modifiers, key)).toString(QKeySequence.SequenceFormat.NativeText)
        action = menu.addAction(f"{UNMASK if command == 'mask' and masked else title}\t{text}")
        action.setData(command)
        action.setEnabled((on_token or command == "add") and (command != "mask" or masked is not None))
    menu.triggered.connect(lambda action: obey(action.data()))
    return menu
