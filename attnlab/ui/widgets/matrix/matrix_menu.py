"""The context menu of a matrix table."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

_Standard = QKeySequence.StandardKey
_ENTRIES: tuple[tuple[str, str, QKeySequence.StandardKey | str, bool], ...] = (
    ("edit", "Edit", "F2", True),
    ("", "", "", False),
    ("cut", "Cut", _Standard.Cut, True),
    ("copy", "Copy", _Standard.Copy, False),
    ("paste", "Paste", _Standard.Paste, True),
    ("clear", "Clear to 0", "Del", True),
    ("", "", "", False),
    ("select_all", "Select all", _Standard.SelectAll, False),
)


COPY_AS = "copy as "
"""The prefix of a format's name in a command."""


def context_menu(
    parent: QWidget, *, editable: bool, obey: Callable[[str], None], formats: Sequence[tuple[str, str]] = ()
) -> QMenu:
    """Return a menu that calls ``obey`` with the name of the chosen entry and deletes itself when closed.

    ``formats`` are the names and titles of other text formats for copying.

    Keys are shown as text: real shortcuts would take the keys from the window while the menu exists.
    """
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for name, title, keys, edits in _ENTRIES:
        if not name:
            menu.addSeparator()
            continue
        key = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
        action = menu.addAction(f"{title}\t{key}")
        action.setData(name)
        action.setEnabled(editable or not edits)
        if name == "copy" and formats:
            others = menu.addMenu("Copy as")
            for form, called in formats:
                others.addAction(called).setData(COPY_AS + form)
    menu.triggered.connect(lambda action: obey(action.data()))
    return menu
