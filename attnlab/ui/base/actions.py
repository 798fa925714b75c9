"""Actions as data: one list feeds the shortcuts, the menus, the tool tips and the command palette."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

C = TypeVar("C")
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Context(Generic[C]):
    """What actions act on, such as the playground of a window, which may not exist yet.

    ``find`` returns it if it exists. ``enter`` makes it if need be, and shows it, before an action runs. ``ready``
    tells whether ``enter`` would return it, ``is_elsewhere`` whether it would show another workspace for that.
    """

    find: Callable[[], C | None]
    enter: Callable[[], C | None]
    ready: Callable[[], bool]
    is_elsewhere: Callable[[], bool] = lambda: False

    @classmethod
    def of(cls, thing: C) -> "Context[C]":
        """Return the context of something that always exists."""
        return cls(lambda: thing, lambda: thing, lambda: True)

    def part(self, get: "Callable[[C], P | None]") -> "Context[P]":
        """Return the context of a part of this one."""

        def of(whole: C | None) -> P | None:
            return get(whole) if whole is not None else None

        return Context(lambda: of(self.find()), lambda: of(self.enter()), self.ready, self.is_elsewhere)


@dataclass(frozen=True, slots=True)
class Action(Generic[C]):
    """One thing a person can do with ``on``, by calling ``run`` with it.

    It is enabled if its context is ready and, with ``enabled``, if that holds of what the context finds. ``title_now``
    replaces the title if the context finds something, for "Undo drag W_q"; an action whose title is "" is shown neither
    in a menu nor in the palette. ``checked`` makes it a switch. ``parts`` names what it opens; the palette finds it by
    these names too. With ``choose`` each part is a line of its own, which calls it with the part's name. In a menu
    there is a line above an action that ``begins_group``.

    ``shortcuts`` are written portably ("Ctrl+Shift+Z"; Ctrl is Command on a Mac), the one to show first. Those that
    are letters work only where they need not show another workspace.
    """

    id: str
    title: str
    section: str
    on: Context[C]
    run: Callable[[C], Any]
    shortcuts: tuple[str, ...] = ()
    enabled: Callable[[C], bool] | None = None
    checked: Callable[[C], bool] | None = None
    title_now: Callable[[C], str] | None = None
    hint: str = ""
    in_palette: bool = True
    parts: Callable[[C], Iterable[str]] | None = None
    choose: Callable[[C, str], Any] | None = None
    begins_group: bool = False

    def current_title(self) -> str:
        """Return the current title."""
        found = self.on.find() if self.title_now is not None else None
        return self.title_now(found) if self.title_now is not None and found is not None else self.title

    def is_enabled(self) -> bool:
        """Return whether it can be done now."""
        return self.on.ready() and (self.enabled is None or self._holds(self.enabled))

    def is_checked(self) -> bool:
        """Return whether a switch is on."""
        return self.checked is not None and self._holds(self.checked)

    def current_shortcuts(self) -> list[str]:
        """Return the shortcuts that work now."""
        away = self.on.is_elsewhere()
        return [text for text in self.shortcuts if not (away and len(text.removeprefix("Shift+")) == 1)]

    def current_parts(self) -> list[str]:
        """Return the names of what it opens."""
        found = self.on.find() if self.parts is not None else None
        return list(self.parts(found)) if self.parts is not None and found is not None else []

    def call(self, part: str = "") -> None:
        """Do it, or do it with one of its parts."""
        found = self.on.enter()
        if found is None:
            return
        if part and self.choose is not None:
            self.choose(found, part)
        else:
            self.run(found)

    def _holds(self, condition: Callable[[C], bool]) -> bool:
        found = self.on.find()
        return found is not None and condition(found)


class ActionList(QObject):
    """The actions of one window. The owner calls ``refresh`` when what the predicates look at has changed."""

    def __init__(self, actions: Iterable[Action[Any]], window: QWidget) -> None:
        """Make the QActions and give their shortcuts to the window; raises ValueError if two share an id or a key."""
        super().__init__(window)
        self._window = window
        self._actions: dict[str, Action[Any]] = {}
        self._qt: dict[str, QAction] = {}
        self._keys: dict[str, str] = {}
        self._shortcut_texts: dict[str, str] = {}
        self._working_keys: dict[str, list[str]] = {}
        for action in actions:
            self.add(action)

    def add(self, action: Action[Any]) -> QAction:
        """Add one more action, to the window's shortcuts too."""
        if action.id in self._actions:
            raise ValueError(f"two actions have the id {action.id!r}")
        keys = [QKeySequence(text) for text in action.shortcuts]
        for text, key in zip(action.shortcuts, keys, strict=True):
            self._claim(action.id, text, key)
        made = QAction(self)
        made.setObjectName(action.id)
        if keys:
            self._shortcut_texts[action.id] = keys[0].toString(QKeySequence.SequenceFormat.NativeText)
        made.setCheckable(action.checked is not None)
        made.triggered.connect(partial(self._on_triggered, action.id))
        self._actions[action.id], self._qt[action.id] = action, made
        self._window.addAction(made)
        self._refresh(action)
        return made

    def refresh(self) -> None:
        """Update the title, state and check mark of every action."""
        for action in self._actions.values():
            self._refresh(action)

    def run(self, action_id: str, part: str = "") -> bool:
        """Do an action, or with one of its parts, if it can be done now; return whether it could.

        Raises KeyError for an unknown id.
        """
        action = self._actions[action_id]
        if not action.is_enabled():
            return False
        action.call(part)
        self.refresh()
        return True

    def menu(self, menu: QMenu, *sections: str) -> QMenu:
        """Fill a menu with the actions of some sections, a line between them."""
        for section in sections:
            if not menu.isEmpty():
                menu.addSeparator()
            for action in self:
                if action.section == section:
                    if action.begins_group:
                        menu.addSeparator()
                    menu.addAction(self._qt[action.id])
        return menu

    def shortcut_text(self, action_id: str) -> str:
        """Return the first shortcut as this platform writes it, "" without one."""
        return self._shortcut_texts.get(action_id, "")

    def shortcut_texts(self, action_id: str) -> list[str]:
        """Return all shortcuts as this platform writes them."""
        keys = map(QKeySequence, self._actions[action_id].shortcuts)
        return [key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys]

    def __getitem__(self, action_id: str) -> QAction:
        return self._qt[action_id]

    def __iter__(self) -> Iterator[Action[Any]]:
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

    def _refresh(self, action: Action[Any]) -> None:
        made, title = self._qt[action.id], action.current_title()
        made.setVisible(bool(title))
        if made.text() != title.replace("&", "&&") or not made.toolTip():
            made.setText(title.replace("&", "&&"))
            key = self.shortcut_text(action.id)
            made.setToolTip(f"{action.hint or title}  ({key})" if key else action.hint or title)
        made.setEnabled(action.is_enabled())
        if action.shortcuts and (keys := action.current_shortcuts()) != self._working_keys.get(action.id):
            made.setShortcuts([QKeySequence(text) for text in keys])
            self._working_keys[action.id] = keys
        if action.checked is not None:
            made.setChecked(action.is_checked())

    def _on_triggered(self, action_id: str, _checked: bool = False) -> None:
        self.run(action_id)
        self._refresh(self._actions[action_id])  # Qt has flipped the check mark of a switch; the truth may differ
