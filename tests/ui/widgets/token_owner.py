"""A person at a strip of tokens, whose owner obeys its requests."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.tokens.token_chips import eye_rect
from attnlab.ui.widgets.tokens.token_strip import TokenStrip

Button = Qt.MouseButton

WORDS = ("Your", "journey", "starts", "with", "one", "step")


class Owner:
    """A window that applies the strip's requests to its sentence."""

    def __init__(self, qtbot: QtBot, tokens: tuple[str, ...] = WORDS, width: int = 300) -> None:
        self.said: list[tuple[object, ...]] = []
        self.stolen = 0
        self.window = QWidget()
        self.window.resize(width + 20, 400)
        self.strip = TokenStrip(self.window)
        self.strip.setGeometry(10, 10, width, 100)
        self.after = QLineEdit(self.window)
        self.after.setGeometry(10, 350, 200, 30)
        for key in ("Left", "Right", "Delete", "Ctrl+D"):
            action = QAction(self.window)
            action.setShortcut(key)
            action.triggered.connect(self._on_stolen)
            self.window.addAction(action)
        self.strip.token_renamed.connect(self._on("renamed", lambda t, i, s: (*t[:i], s, *t[i + 1 :])))
        self.strip.token_removed.connect(self._on("removed", lambda t, i: (*t[:i], *t[i + 1 :])))
        self.strip.token_duplicated.connect(self._on("duplicated", lambda t, i: (*t[: i + 1], *t[i:])))
        self.strip.token_added.connect(self._on("added", lambda t: (*t, "")))
        self.strip.token_moved.connect(self._on("moved", _moved))
        self.strip.token_masked.connect(self._on_masked)
        self.strip.token_clicked.connect(lambda i: self.said.append(("clicked", i)))
        self.masked: frozenset[int] = frozenset()
        self.strip.set_tokens(tokens)
        qtbot.addWidget(self.window)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)
        self.strip.setFocus()
        qtbot.waitUntil(self.strip.hasFocus)

    def _on(self, name: str, change: Callable[..., tuple[str, ...]]) -> Callable[..., None]:
        def obey(*args: object) -> None:
            self.said.append((name, *args))
            self.strip.set_tokens(change(self.strip.tokens(), *args))

        return obey

    def _on_masked(self, index: int) -> None:
        self.said.append(("masked", index))
        self.masked ^= {index}
        self.strip.set_masked(self.masked)

    def eye(self, index: int) -> QPoint:
        return eye_rect(self.strip.chip_rect(index)).center()

    def click_eye(self, index: int) -> None:
        QTest.mouseClick(self.strip.viewport(), Button.LeftButton, pos=self.eye(index))

    def point(self, at: QPoint) -> None:
        place, none = QPointF(self.strip.viewport().mapToGlobal(at)), Button.NoButton
        move = QMouseEvent(QEvent.Type.MouseMove, QPointF(at), place, none, none, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(self.strip.viewport(), move)

    def ink(self, index: int) -> int:
        """Count the dark pixels of a chip in the light theme."""
        place, image = self.strip.chip_rect(index), self.image()
        return sum(
            image.pixelColor(x, y).lightnessF() < 0.4
            for x in range(place.left(), place.right() + 1)
            for y in range(place.top(), place.bottom() + 1)
        )

    def _on_stolen(self) -> None:
        self.stolen += 1

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.strip, key, modifiers)

    def click(self, index: int) -> None:
        QTest.mouseClick(self.strip.viewport(), Button.LeftButton, pos=self.strip.chip_rect(index).center())

    def double_click(self, index: int) -> None:
        self.click(index)
        QTest.mouseDClick(self.strip.viewport(), Button.LeftButton, pos=self.strip.chip_rect(index).center())

    def press(self, at: QPoint) -> None:
        QTest.mousePress(self.strip.viewport(), Button.LeftButton, pos=at)

    def drag_to(self, at: QPoint) -> None:
        place = self.strip.viewport().mapToGlobal(at)
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(at),
            QPointF(place),
            Button.NoButton,
            Button.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(self.strip.viewport(), event)

    def release(self, at: QPoint) -> None:
        QTest.mouseRelease(self.strip.viewport(), Button.LeftButton, pos=at)

    def drag(self, index: int, at: QPoint) -> None:
        self.press(self.strip.chip_rect(index).center())
        self.drag_to(self.strip.chip_rect(index).center() + QPoint(12, 0))
        self.drag_to(at)
        self.release(at)

    def editor(self) -> QLineEdit:
        return self.strip.findChildren(QLineEdit)[0]

    def image(self) -> QImage:
        return self.strip.viewport().grab().toImage()

    def colours_of(self, index: int) -> set[str]:
        place, image = self.strip.chip_rect(index), self.image()
        return {
            image.pixelColor(x, y).name().upper()
            for x in range(place.left(), place.right())
            for y in range(place.top(), place.bottom())
        }


def _moved(tokens: tuple[str, ...], start: int, to: int) -> tuple[str, ...]:
    rest = [*tokens[:start], *tokens[start + 1 :]]
    return (*rest[:to], tokens[start], *rest[to:])
