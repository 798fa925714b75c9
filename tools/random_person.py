"""A simulated user: does random events in a window, one at a time, and announces each in a line beforehand."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QApplication,
    QFileDialog,
    QLineEdit,
    QSplitterHandle,
    QWidget,
)
from shiboken6 import isValid

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow

Button, Mod = Qt.MouseButton, Qt.KeyboardModifier
TEXTS = (
    "the cat sat", "journey starts with one step", "a", "", " ", "x " * 40, "1\t2\n3\t4", "0.5", "-1", "1e9", "1/3",
    "½", "[[1, 2], [3, 4]]", "0,5;1\n2;3", "nan", "inf", "−0.25", "é", "日本 語", "\u202eabc", "a\x00b", "🙂 🙂", "5",
    "7", "2", "{{weights[0, 0]}}", "# Title\n\n## Step\n", '{"W_q": [[1, 2], [3, 4]]}', "9" * 30, "sum(",
    "weights[the, cat]",
)  # fmt: skip
KEYS = (
    "Left", "Right", "Up", "Down", "Tab", "Backtab", "Return", "Escape", "Space", "Delete", "Backspace", "Home", "End",
    "PageUp", "PageDown", "F2", "F5", "A", "D", "G", "M", "P", "S", "1", "2", "5", "0", "Minus", "Plus", "Period",
)  # fmt: skip
NEVER = frozenset({"quit", "full-screen"})
"""Actions that are never used, because they would end the run."""
STUCK = 12
"""After this many events a dialog is closed, so that the run reaches the window behind it again."""


class RandomPerson:
    """Chooses events by a seed and by what is visible."""

    def __init__(self, window: "MainWindow", r: random.Random, folder: Path, batches: bool) -> None:
        self.window, self.r, self.folder = window, r, folder
        self._batches = batches
        self._saved = self._stuck = 0
        self._note: Callable[[str], None] = lambda _: None
        self._ways: list[tuple[float, Callable[[], None]]] = [
            (24, self._press),
            (9, self._click),
            (11, self._drag),
            (4, self._turn_wheel),
            (12, self._press_key),
            (5, self._type),
            (4, self._paste),
            (12, self._act),
            (2, self._search),
            (7, self._walk),
            (1.5, self._resize),
            (2, self._open),
            (6, self._edit),
            (1.5, self._visit),
            (2.5, self._press_escape),
            (4, self._hover),
            (1, self._drop),
        ]
        _answer_dialogs(self)

    def act(self, note: Callable[[str], None]) -> None:
        """Do one event; ``note`` gets a description of it first."""
        self._note = note
        modal = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        self._stuck = self._stuck + 1 if modal is not None else 0
        if modal is not None and self._stuck > STUCK:
            self._stuck = 0
            note(f"close {name_widget(modal)}")
            modal.close()
            return
        weights, ways = zip(*self._ways, strict=True)
        self.r.choices(ways, weights)[0]()

    # Where

    def _find_window(self) -> QWidget:
        """Return the window that receives input now: the popup, else the dialog, else any."""
        top = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if top is not None:
            return top
        others = [w for w in QApplication.topLevelWidgets() if w.isVisible() and w is not self.window and w.isWindow()]
        others = [w for w in others if w.metaObject().className() != "QTipLabel"]
        return self.r.choice(others) if others and self.r.random() < 0.5 else self.window

    def _find_widgets(self, *kinds: type[QWidget]) -> list[QWidget]:
        room = self._find_window()
        found = [w for w in room.findChildren(QWidget) if w.isVisible() and w.isEnabled() and w.width() and w.height()]
        if self._batches and room is self.window and self.r.random() < 0.4:
            found = [w for w in found if self._is_of_batches(w)] or found
        return [w for w in found if not kinds or isinstance(w, kinds)]

    def _is_of_batches(self, widget: QWidget) -> bool:
        parent: QWidget | None = widget
        while parent is not None:
            if type(parent).__name__ in ("BatchBar", "SentenceBox", "FillBar", "InputsPanel"):
                return True
            parent = parent.parentWidget()
        return False

    def _choose(self, widgets: list[QWidget]) -> QWidget | None:
        """Return a random visible widget of those given; None if a few tries find none."""
        for _ in range(8 if widgets else 0):
            if not (widget := self.r.choice(widgets)).visibleRegion().isEmpty():
                return widget
        return None

    def _choose_point(self, widget: QWidget) -> QPoint:
        """Return a visible point of a widget."""
        seen = widget.visibleRegion().boundingRect()
        return seen.topLeft() + QPoint(self.r.randrange(max(1, seen.width())), self.r.randrange(max(1, seen.height())))

    def _choose_modifiers(self) -> Qt.KeyboardModifier:
        return self.r.choice([Mod.NoModifier] * 8 + [Mod.ShiftModifier, Mod.ControlModifier, Mod.AltModifier])

    # What

    def _press(self) -> None:
        if (button := self._choose(self._find_widgets(QAbstractButton))) is not None:
            self._note(f"press {name_widget(button)}")
            QTest.mouseClick(button, Button.LeftButton)

    def _click(self) -> None:
        if (widget := self._choose(self._find_widgets())) is not None:
            modifiers = self._choose_modifiers()
            at, button = self._choose_point(widget), self.r.choice([Button.LeftButton] * 5 + [Button.RightButton])
            twice = self.r.random() < 0.15
            self._note(
                f"{'double' if twice else ''}click {button.name} {name_widget(widget)} {at.toTuple()} {modifiers.name}"
            )
            (QTest.mouseDClick if twice else QTest.mouseClick)(widget, button, modifiers, at)

    def _drag(self) -> None:
        likely = self._find_widgets(QSplitterHandle, QAbstractSlider, QAbstractScrollArea, QAbstractItemView)
        found = likely if likely and self.r.random() < 0.6 else self._find_widgets()
        if (widget := self._choose(found)) is None:
            return
        if isinstance(widget, QAbstractScrollArea):
            widget = widget.viewport()
        at, modifiers = self._choose_point(widget), self._choose_modifiers()
        moves = [QPoint(self.r.randint(-300, 300), self.r.randint(-200, 200)) for _ in range(self.r.randint(1, 5))]
        self._note(
            f"drag {name_widget(widget)} {at.toTuple()} by {[move.toTuple() for move in moves]} {modifiers.name}"
        )
        QTest.mousePress(widget, Button.LeftButton, modifiers, at)
        for move in moves:
            if isValid(widget):
                _move(widget, at + move, Button.LeftButton, modifiers)
        if isValid(widget):
            QTest.mouseRelease(widget, Button.LeftButton, modifiers, at + moves[-1])

    def _hover(self) -> None:
        if (widget := self._choose(self._find_widgets())) is not None:
            at = self._choose_point(widget)
            self._note(f"hover {name_widget(widget)} {at.toTuple()}")
            _move(widget, at, Button.NoButton, Mod.NoModifier)

    def _turn_wheel(self) -> None:
        if (widget := self._choose(self._find_widgets())) is not None:
            at, notches, modifiers = self._choose_point(widget), self.r.choice((-3, -1, 1, 3)), self._choose_modifiers()
            self._note(f"wheel {name_widget(widget)} {at.toTuple()} {notches} {modifiers.name}")
            there, none = QPointF(widget.mapToGlobal(at)), Qt.ScrollPhase.NoScrollPhase
            turned = QPoint(0, 120 * notches)
            event = QWheelEvent(QPointF(at), there, QPoint(), turned, Button.NoButton, modifiers, none, False)
            QApplication.sendEvent(widget, event)

    def _press_key(self) -> None:
        name, modifiers = self.r.choice(KEYS), self._choose_modifiers()
        widget = self._find_keyboard()
        self._note(f"key {name} {modifiers.name} in {name_widget(widget)}")
        QTest.keyClick(widget, getattr(Qt.Key, f"Key_{name}"), modifiers)

    def _press_escape(self) -> None:
        widget = self._find_keyboard()
        self._note(f"key Escape in {name_widget(widget)}")
        QTest.keyClick(widget, Qt.Key.Key_Escape)

    def _type(self) -> None:
        found = self._find_widgets(QLineEdit)
        if found and self.r.random() < 0.6:
            self.r.choice(found).setFocus()
        text = self.r.choice(TEXTS)
        self._note(f"type {text[:30]!r} in {name_widget(self._find_keyboard())}")
        for letter in text[:40]:
            widget = self._find_keyboard()
            if letter.isascii() and letter.isprintable():
                QTest.keyClicks(widget, letter)
        if self.r.random() < 0.6:
            QTest.keyClick(self._find_keyboard(), Qt.Key.Key_Return)

    def _paste(self) -> None:
        text = self.r.choice(TEXTS)
        self._note(f"paste {text[:30]!r} in {name_widget(self._find_keyboard())}")
        QGuiApplication.clipboard().setText(text)
        QTest.keyClick(self._find_keyboard(), Qt.Key.Key_V, Mod.ControlModifier)

    def _act(self) -> None:
        if self._find_window() is not self.window:
            return self._press()
        actions = self.window.actions_list
        found = [action for action in actions if action.id not in NEVER and action.is_enabled()]
        action = self.r.choice(found)
        self._note(f"action {action.id}")
        actions[action.id].trigger()
        return None

    def _search(self) -> None:
        if self._find_window() is self.window:
            query = self.r.choice(
                ("undo", "pre", "mask", "train", "lens", "theme", "copy", "step", "zz", "head", "pin")
            )
            self._note(f"palette {query}")
            self.window.show_palette()
            for letter in query:
                QTest.keyClicks(self._find_keyboard(), letter)
            if self.window.command_palette.isVisible() and self.window.command_palette.current() not in NEVER:
                QTest.keyClick(
                    self._find_keyboard(), self.r.choice((Qt.Key.Key_Return, Qt.Key.Key_Return, Qt.Key.Key_Escape))
                )

    def _walk(self) -> None:
        times, key = self.r.randint(1, 6), self.r.choice((Qt.Key.Key_Z, Qt.Key.Key_Z, Qt.Key.Key_Y))
        self._note(f"{'undo' if key == Qt.Key.Key_Z else 'redo'} {times} times")
        for _ in range(times):
            QTest.keyClick(self._find_keyboard(), key, Mod.ControlModifier)

    def _resize(self) -> None:
        size = QSize(self.r.randint(600, 2000), self.r.randint(400, 1300))
        self._note(f"resize {size.toTuple()}")
        self.window.resize(size)

    def _open(self) -> None:
        path = self.r.choice(self._list_files())
        self._note(f"open {path.name}")
        self.window.open_path(path)

    def _drop(self) -> None:
        """Drop a file on the window, as from a file manager."""
        from PySide6.QtGui import QDropEvent

        paths = [self.r.choice(self._list_files()) for _ in range(self.r.randint(1, 2))]
        self._note(f"drop {[path.name for path in paths]}")
        (data := QMimeData()).setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        event = QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, data, Button.LeftButton, Mod.NoModifier)
        QApplication.sendEvent(self.window, event)

    def _edit(self) -> None:
        """Type a number into a cell of the playground's table."""
        playground = self.window.playground
        if playground is None or self._find_window() is not self.window or self.window.current != "playground":
            return self._press()
        table = playground.inputs.table
        at = self._choose_point(table.viewport())
        number = self.r.choice(("1", "-0.5", "0.25", "3", "1e3", "1/3", "x", ""))
        self._note(f"edit {at.toTuple()} {number!r}")
        table.setFocus()
        QTest.mouseClick(table.viewport(), Button.LeftButton, Mod.NoModifier, at)
        for letter in number:
            QTest.keyClicks(self._find_keyboard(), letter)
        QTest.keyClick(self._find_keyboard(), Qt.Key.Key_Return)
        return None

    def _visit(self) -> None:
        place = self.r.choice(("playground", "playground", "playground", "lessons", "train"))
        self._note(f"workspace {place}")
        self.window.show_workspace(place)

    # Files

    def _list_files(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if not path.name.startswith("."))

    def answer(self, dialog: QFileDialog) -> None:
        """Answer a file dialog without showing it: with a file of the folder, a new name, or by cancelling."""
        save = dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave
        if self.r.random() < 0.25:
            paths = []
        elif save:
            self._saved += 1
            ending = dialog.defaultSuffix() or self.r.choice(("png", "svg", "attnlab", "csv"))
            paths = [self.folder / f"out-{self._saved % 7}.{ending}"]
        elif dialog.fileMode() == QFileDialog.FileMode.Directory:
            self._saved += 1
            (place := self.folder / f"dir-{self._saved % 3}").mkdir(exist_ok=True)
            paths = [place]
        else:
            paths = [self.r.choice(self._list_files()) for _ in range(self.r.choice((1, 1, 2)))]
        self._note(f"  the dialog is answered with {[path.name for path in paths]}")
        QTimer.singleShot(0, dialog, lambda: _answer(dialog, [str(path) for path in paths]))

    def choose_file(self) -> tuple[str, str]:
        """Answer a file dialog that is waiting."""
        return (str(self.r.choice(self._list_files())) if self.r.random() < 0.7 else ""), ""

    def _find_keyboard(self) -> QWidget:
        top = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if top is not None:
            focused: QWidget | None = top.focusWidget()  # the stubs leave out None
            return top if focused is None else focused
        active = QApplication.activeWindow()
        if active is None or not active.isVisible():
            self.window.activateWindow()
        return QApplication.focusWidget() or active or self.window


def name_widget(widget: QWidget) -> str:
    """Return the name of a widget, for the list of events."""
    text = (
        widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "") or widget.objectName()
    )
    return f"{type(widget).__name__} {text[:40]!r}"


def _move(widget: QWidget, at: QPoint, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier) -> None:
    there = QPointF(widget.mapToGlobal(at))
    event = QMouseEvent(QEvent.Type.MouseMove, QPointF(at), there, Button.NoButton, button, modifiers)
    QApplication.sendEvent(widget, event)


def _answer(dialog: QFileDialog, paths: list[str]) -> None:
    if paths:
        dialog.fileSelected.emit(paths[0])
        dialog.filesSelected.emit(paths)
    dialog.done(1 if paths else 0)
    dialog.close()


def _answer_dialogs(person: RandomPerson) -> None:
    """Let the simulated user answer file dialogs, and open nothing outside the program."""

    def open_dialog(dialog: QFileDialog, *_: Any) -> None:
        person.answer(dialog)

    QFileDialog.open = open_dialog  # type: ignore[method-assign]
    QFileDialog.show = open_dialog  # type: ignore[assignment,method-assign]
    QFileDialog.getOpenFileName = lambda *_, **__: person.choose_file()  # type: ignore[method-assign]
    QFileDialog.getSaveFileName = lambda *_, **__: ("", "")  # type: ignore[method-assign]
    QFileDialog.getExistingDirectory = lambda *_, **__: ""  # type: ignore[method-assign]
    QDesktopServices.openUrl = lambda *_: True  # type: ignore[method-assign]
