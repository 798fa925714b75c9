"""The page keys of a clicker, which walk the open lesson although what has the focus would scroll with them."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from attnlab.ui.lessons.player import LessonPlayer

KEYS = (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class PageKeys(QObject):
    """Gives both keys to ``take`` while a lesson is open and the focus is in ``area``, but not in a table or field."""

    def __init__(self, player: LessonPlayer, area: QWidget, take: Callable[[Qt.Key], object]) -> None:
        super().__init__(player)
        self._shortcuts = tuple(QShortcut(QKeySequence(key), area) for key in KEYS)
        for key, shortcut in zip(KEYS, self._shortcuts, strict=True):
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(partial(take, key))
        self._enable(player.slide)
        player.slide_changed.connect(self._enable)

    @Slot(object)
    def _enable(self, slide: object) -> None:
        for shortcut in self._shortcuts:
            shortcut.setEnabled(slide is not None)
