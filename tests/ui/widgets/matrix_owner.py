"""The owner of a matrix in a table: what a person sees and does there, and the resulting edits."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.matrix.matrix_table import BlockEdit, MatrixTable

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton
NONE, SHIFT, CTRL, ALT = Mod.NoModifier, Mod.ShiftModifier, Mod.ControlModifier, Mod.AltModifier


class Owner:
    """A window with a table whose owner accepts every edit, as a person uses it."""

    def __init__(self, values: NDArray[np.floating], qtbot: QtBot, group: int = 0, editable: bool = True) -> None:
        self.values = np.array(values, dtype=np.float64)
        self.group, self.editable = group, editable
        self.rows = [("Your", "journey", "starts", "with")[i] if i < 4 else f"t{i}" for i in range(len(values))]
        self.edits: list[BlockEdit] = []
        self.messages: list[str] = []
        self.selections: list[object] = []
        self.hovered: list[object] = []
        self.undone = 0
        self.window = QWidget()
        self.table = MatrixTable(self.window)
        self.table.setGeometry(10, 10, 400, 260)
        self.after = QLineEdit(self.window)
        self.after.setGeometry(10, 280, 400, 30)
        action = QAction("Undo", self.window)
        action.setShortcut("Ctrl+Z")
        action.triggered.connect(self._on_undo)
        self.window.addAction(action)
        self.table.edited.connect(self._on_edited)
        self.table.message_raised.connect(self.messages.append)
        self.table.selection_changed.connect(self.selections.append)
        self.table.cell_hovered.connect(self.hovered.append)
        self.show_values()
        qtbot.addWidget(self.window)
        self.window.resize(420, 320)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)
        self.table.setFocus()

    def show_values(self) -> None:
        columns = [str(i) for i in range(self.values.shape[1])]
        self.table.set_matrix(self.values, self.rows, columns, group=self.group, editable=self.editable)

    def _on_edited(self, edit: BlockEdit) -> None:
        self.edits.append(edit)
        rows, columns = edit.values.shape
        self.values = self.values.copy()
        self.values[edit.row : edit.row + rows, edit.column : edit.column + columns] = edit.values
        self.show_values()

    def _on_undo(self) -> None:
        self.undone += 1

    def at(self, row: int, column: int) -> QPoint:
        return self.table.grid().cell(row, column).center()

    def click(self, row: int, column: int, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mouseClick(self.table.viewport(), Button.LeftButton, modifiers, self.at(row, column))

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mousePress(self.table.viewport(), Button.LeftButton, modifiers, point)

    def move(
        self, point: QPoint, modifiers: Qt.KeyboardModifier = NONE, button: Qt.MouseButton = Button.LeftButton
    ) -> None:
        there = self.table.viewport().mapToGlobal(point)
        QApplication.sendEvent(
            self.table.viewport(),
            QMouseEvent(
                QEvent.Type.MouseMove,
                QPointF(point),
                QPointF(there),
                Button.NoButton,
                button,
                modifiers,
            ),
        )

    def release(self, point: QPoint) -> None:
        QTest.mouseRelease(self.table.viewport(), Button.LeftButton, NONE, point)

    def drag(self, start: QPoint, *offsets: tuple[int, int], modifiers: Qt.KeyboardModifier = NONE) -> None:
        self.press(start, modifiers)
        for x, y in offsets:
            self.move(start + QPoint(x, y), modifiers)
        self.release(start + QPoint(*offsets[-1]))

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(QApplication.focusWidget(), key, modifiers)

    def type(self, text: str) -> None:
        for character in text:
            QTest.keyClicks(QApplication.focusWidget(), character)

    def turn(
        self,
        point: QPoint,
        notches: float,
        modifiers: Qt.KeyboardModifier = NONE,
        at_ms: int = 0,
        sideways: bool = False,
    ) -> None:
        delta = QPoint(int(120 * notches), 0) if sideways else QPoint(0, int(120 * notches))
        there = self.table.viewport().mapToGlobal(point)
        event = QWheelEvent(
            QPointF(point),
            QPointF(there),
            QPoint(),
            delta,
            Button.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        event.setTimestamp(at_ms)
        QApplication.sendEvent(self.table.viewport(), event)

    def paste(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.key(Key.Key_V, CTRL)

    @property
    def editor(self) -> QLineEdit | None:
        found = [child for child in self.table.viewport().findChildren(QLineEdit) if child.isVisible()]
        return found[0] if found else None
