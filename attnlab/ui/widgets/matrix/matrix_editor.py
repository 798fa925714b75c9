"""The line edit that opens in a cell of a matrix table."""

import numpy as np
from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QPalette, QRegion
from PySide6.QtWidgets import QLineEdit, QWidget

from attnlab.base.number_text import NumberError, parse_number
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import FollowsTheme, palette_of, set_style
from attnlab.ui.widgets.matrix.matrix_keys import STEP, pace, tab_direction
from attnlab.ui.widgets.numbers.number_format import format_exact, shift_values

_Key = Qt.Key
_Redo = QKeySequence.StandardKey.Redo
_Undo = QKeySequence.StandardKey.Undo
MARGIN_PX = 2
"""Margin inside the cell, so that its ring shows around the editor."""


@guarded
class CellEditor(FollowsTheme, QLineEdit):
    """Edits the text of one number; the table decides whether to accept it."""

    committed = Signal(int, int)  # rows, columns to move afterwards
    cancelled = Signal()
    left = Signal()  # the focus went elsewhere
    refused = Signal(object)  # the NumberError that prevented a step

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("cell editor")
        self.cell = (0, 0)
        self._original = ""
        self._bad = False
        self._space = QRect()
        self.setFrame(False)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setTextMargins(2, 0, 2, 0)
        self.textChanged.connect(self._on_text_changed)
        self.hide()

    def open(self, cell: tuple[int, int], exact: str, typed: str) -> None:
        """Show a cell's exact value, selected; ``typed`` replaces it, and undo restores it."""
        self.cell = cell
        self._original = exact
        self.setText(exact)
        self.selectAll()
        if typed:
            self.insert(typed)
        self.mark(bad=False)
        self.show()
        self.setFocus()

    def refresh(self, exact: str) -> None:
        """Show the cell's new value unless the user has begun to type another."""
        if not self.is_changed() and exact != self._original:
            self._original = exact
            self.setText(exact)
            self.selectAll()

    def is_changed(self) -> bool:
        """Return whether the text differs from the cell's value."""
        return self.text() != self._original

    def value(self) -> float:
        """Return the number typed; raises NumberError."""
        return parse_number(self.text())

    def mark(self, *, bad: bool) -> None:
        """Colour the text as refused or as normal."""
        self._bad = bad
        palette, colours = palette_of(self), self.palette()
        colours.setColor(QPalette.ColorRole.Base, palette.surface)
        colours.setColor(QPalette.ColorRole.Text, palette.bad if bad else palette.ink)
        self.setPalette(colours)
        set_style(self, "wrong", bad)  # the style sheet goes before the palette

    def restyle(self) -> None:
        """Repeat the mark in the present colours."""
        self.mark(bad=self._bad)

    def place(self, cell: QRect, body: QRect) -> None:
        """Cover the cell, as wide as the text needs and the table's body allows."""
        self._space = body
        wanted = self.fontMetrics().horizontalAdvance(self.text()) + 16
        inner = cell.adjusted(MARGIN_PX, MARGIN_PX, -MARGIN_PX, -MARGIN_PX)
        width = min(max(wanted, inner.width()), max(body.right() - inner.left() - 1, inner.width()))
        self.setGeometry(inner.left(), inner.top(), width, inner.height())
        self._show_within(body)

    def _show_within(self, body: QRect) -> None:
        """Show the editor only within the table's body, and keep focus and text when it is scrolled out."""
        shown = self.geometry().intersected(body)
        if shown.isEmpty():
            self.move(-self.width(), -self.height())
        elif shown == self.geometry():
            self.clearMask()
        else:
            self.setMask(QRegion(shown.translated(-self.pos())))

    def _on_text_changed(self) -> None:
        inner = self.geometry()
        wanted = self.fontMetrics().horizontalAdvance(self.text()) + 16
        if wanted > inner.width():
            self.resize(min(wanted, max(self._space.right() - inner.left() - 1, inner.width())), inner.height())
            self._show_within(self._space)

    def _step(self, event: QKeyEvent) -> None:
        """Add a step to the number in the text, without committing it."""
        amount = STEP * pace(event.modifiers()) * (1 if event.key() == _Key.Key_Up else -1)
        try:
            stepped = shift_values(np.array([self.value()]), amount)[0]
        except NumberError as error:
            self.refused.emit(error)
            return
        self.selectAll()
        self.insert(format_exact(stepped))

    def _belongs_to_document(self, event: QKeyEvent) -> bool:
        """Return whether an undo or redo key has nothing to do here and goes to the document."""
        if event.matches(_Undo):
            return not self.isUndoAvailable()
        return event.matches(_Redo) and not (self.isRedoAvailable() or self.is_changed())

    def event(self, event: QEvent) -> bool:
        """Keep the keys that commit, cancel and step from shortcuts; leave idle undo to them."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if self._belongs_to_document(event):
                event.ignore()
                return False
            if event.key() in (_Key.Key_Up, _Key.Key_Down, _Key.Key_Return, _Key.Key_Enter, _Key.Key_Escape):
                event.accept()
                return True
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and tab_direction(event):
            self.committed.emit(0, tab_direction(event))
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Commit on Enter, cancel on Esc, step on Up and Down."""
        if event.key() in (_Key.Key_Return, _Key.Key_Enter):
            self.committed.emit(1, 0)
        elif event.key() == _Key.Key_Escape:
            self.cancelled.emit()
        elif event.key() in (_Key.Key_Up, _Key.Key_Down):
            self._step(event)
        elif self._belongs_to_document(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Emit ``left``, unless the focus went to a menu or another window."""
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self.left.emit()
