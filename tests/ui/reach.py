"""Which controls of a window Tab reaches, and which have a key of their own that their tip names."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QScrollBar,
    QTextEdit,
    QWidget,
)

from attnlab.ui.base.cells import HasCells
from attnlab.ui.widgets.matrix.matrix_table import MatrixTable

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
KINDS = (
    *(QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit),
    *(QPlainTextEdit, QTextEdit, HasCells),
)
NAMED_KEY = re.compile(
    r"\((?:(?:Ctrl|Shift|Alt)\+)*(?:[A-Z0-9←→↑↓?.]|F\d+|Esc|Enter|Space|Page(?:Up|Down)|Home|End|Insert|Delete)\)"
)
"""A key in parentheses at the end of a tool tip: "Step back (←)"."""
MOST = 220
LEFT_OUT = ("preset", "state-scripts", "state-512", "popup-", "commands")
"""Views of the same controls as others; popups and the palette have tests of their own."""


def list_controls(top: QWidget) -> Iterator[QWidget]:
    """Yield what a person can act on with the mouse."""
    for widget in top.findChildren(QWidget):
        if not isinstance(widget, KINDS) or isinstance(widget, QScrollBar) or not widget.isVisible():
            continue
        if widget.window() is not top or not widget.isEnabled() or widget.visibleRegion().isEmpty():
            continue
        if isinstance(widget, QLineEdit) and isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox):
            continue
        if isinstance(widget, QTextEdit | QPlainTextEdit) and widget.isReadOnly():
            continue
        if isinstance(widget, HasCells) and widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
            continue  # a folded card, or examples that are only read
        if widget.objectName().startswith("qt_") or isinstance(widget, QHeaderView):  # the table's menu sorts as well
            continue  # Qt's own arrows and corners inside fields and tables
        yield widget


def tab_through(top: QWidget, person: "Person") -> set[QWidget]:
    """Press Tab until it comes round; return every widget that had the focus."""
    reached: set[QWidget] = set()
    first: QWidget | None = None
    for _ in range(MOST):
        at = QApplication.focusWidget()
        if isinstance(at, MatrixTable):
            QTest.keyClick(at, Key.Key_End, CTRL)  # Tab goes from cell to cell, and on from the last one
        QTest.keyClick(at or top, Key.Key_Tab)
        at = QApplication.focusWidget()
        if at is None or at.window() is not top:
            break
        if first is None:
            first = at
        elif at is first and len(reached) > 1:
            break
        reached.add(at)
    return reached


def is_reached(control: QWidget, reached: set[QWidget]) -> bool:
    """Whether Tab comes to a control, to its group of radio buttons, or the control's tip names its key."""
    if control in reached or any(each.focusProxy() is control for each in reached):
        return True
    if isinstance(control, QRadioButton) or (isinstance(control, QAbstractButton) and control.autoExclusive()):
        return any(each.parentWidget() is control.parentWidget() for each in reached)
    proxy = control.focusProxy()
    return (proxy is not None and proxy in reached) or bool(NAMED_KEY.search(control.toolTip()))


def find_out_of_reach(top: QWidget, person: "Person") -> list[str]:
    """Press Tab through a window; return the controls that it does not come to and that have no key."""
    top.activateWindow()
    person.wait_for(top.isActiveWindow)
    (QApplication.focusWidget() or top).clearFocus()
    controls = list(list_controls(top))
    reached = tab_through(top, person)
    return [_describe(each) for each in controls if each.isVisible() and not is_reached(each, reached)]


def _describe(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    parent = widget.parentWidget()
    name = widget.accessibleName() or text
    return f"{type(widget).__name__} {name!r} in {type(parent).__name__}: {widget.toolTip()[:60]!r}"
