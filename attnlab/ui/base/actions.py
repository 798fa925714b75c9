"""Actions as data: one list feeds the shortcuts, the menus, the tool tips and the command palette."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do. ``title`` may be a function, for "Undo drag W_q"; ``checked`` makes it a switch.

    An action whose title is "" just now is not shown, neither in a menu nor in the palette. ``parts`` names what stands
    in what it opens, so that the palette finds it by that too.

    ``shortcuts`` are written portably ("Ctrl+Shift+Z"; Ctrl is Command on a Mac), the one to show first.
    """

    id: str
    title: str | Callable[[], str]
    section: str
    callback: Callable[[], Any]
    shortcuts: tuple[str, ...] = ()
    enabled: Callable[[], bool] | None = None
    checked: Callable[[], bool] | None = None
    hint: str = ""
    in_palette: bool = True
    parts: Callable[[], Iterable[str]] | None = None

    def current_title(self) -> str:
        """Return the title as it reads just now."""
        return self.title() if callable(self.title) else self.title

    def is_enabled(self) -> bool:
        """Tell whether it can be done just now."""
        return self.enabled is None or self.enabled()


class ActionList(QObject):
    """The actions of one window. The owner calls ``refresh`` when what the predicates look at has changed."""

    def __init__(self, actions: Iterable[Action], window: QWidget) -> None:
        """Make the QActions and give their shortcuts to the window; raises ValueError if two share an id or a key."""
        super().__init__(window)
        self._window = window
        self._actions: dict[str, Action] = {}
        self._qt: dict[str, QAction] = {}
        self._keys: dict[str, str] = {}
        for action in actions:
            self.add(action)

    def add(self, action: Action) -> QAction:
        """Add one more action, to the window's shortcuts too."""
        if action.id in self._actions:
            raise ValueError(f"two actions have the id {action.id!r}")
        keys = [QKeySequence(text) for text in action.shortcuts]
        for text, key in zip(action.shortcuts, keys, strict=True):
            self._claim(action.id, text, key)
        made = QAction(self)
        made.setObjectName(action.id)
        made.setShortcuts(keys)
        made.setCheckable(action.checked is not None)
        made.triggered.connect(partial(self._on_triggered, action.id))
        self._actions[action.id], self._qt[action.id] = action, made
        self._window.addAction(made)
        self._refresh(action)
        return made

    def refresh(self) -> None:
        """Ask every action for its title, whether it can be done and whether it is on."""
        for action in self._actions.values():
            self._refresh(action)

    def run(self, action_id: str) -> bool:
        """Do an action if it can be done just now; False if it cannot. Raises KeyError for an unknown id."""
        action = self._actions[action_id]
        if not action.is_enabled():
            return False
        action.callback()
        self.refresh()
        return True

    def menu(self, menu: QMenu, *sections: str) -> QMenu:
        """Fill a menu with the actions of some sections, a line between them."""
        for section in sections:
            if not menu.isEmpty():
                menu.addSeparator()
            menu.addActions([self._qt[a.id] for a in self if a.section == section])
        return menu

    def shortcut_text(self, action_id: str) -> str:
        """Return the first shortcut as this platform writes it, "" without one."""
        return self._qt[action_id].shortcut().toString(QKeySequence.SequenceFormat.NativeText)

    def __getitem__(self, action_id: str) -> QAction:
        return self._qt[action_id]

    def __iter__(self) -> Iterator[Action]:
        return iter(self._actions.values())

    def __len__(self) -> int:
        return len(self._actions)

    def _claim(self, action_id: str, text: str, key: QKeySequence) -> None:
        """Refuse a key that is none or taken: Qt would do nothing when it is pressed, and say nothing."""
        name = key.toString(QKeySequence.SequenceFormat.PortableText)
        if not name:
            raise ValueError(f"{action_id}: {text!r} is no shortcut")
        if name in self._keys:
            raise ValueError(f"{action_id} and {self._keys[name]} share the shortcut {name}")
        self._keys[name] = action_id

    def _refresh(self, action: Action) -> None:
        made, title = self._qt[action.id], action.current_title()
        made.setVisible(bool(title))
        if made.text() != title.replace("&", "&&") or not made.toolTip():
            made.setText(title.replace("&", "&&"))
            key = self.shortcut_text(action.id)
            made.setToolTip(f"{action.hint or title}  ({key})" if key else action.hint or title)
        made.setEnabled(action.is_enabled())
        if action.checked is not None:
            made.setChecked(action.checked())

    def _on_triggered(self, action_id: str, _checked: bool = False) -> None:
        self.run(action_id)
        self._refresh(self._actions[action_id])  # Qt has flipped the check mark of a switch; the truth may differ
