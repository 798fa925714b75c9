"""Everything by keyboard: in every view, Tab reaches each control, or the control's own tip names its key."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
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
from tests.ui.test_accessible_tree import VIEWS, leave, show
from tools import gallery_train
from tools.gallery_window import list_others

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
QUICK = ("multi-head-8", "lessons-page")
LEFT_OUT = ("preset", "present-contrast", "present-dark", "state-scripts", "state-512", "train-24-heads")
"""Views of the same controls as others; the keys of a presentation are on its help card (H)."""


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


@pytest.mark.parametrize(
    "name",
    [
        n if n in QUICK else pytest.param(n, marks=pytest.mark.slow)
        for n in VIEWS
        if not n.startswith(LEFT_OUT) and not n.startswith(("popup-", "commands"))
    ],
)
def test_tab_reaches_every_control(
    name: str, sit_down: Callable[..., "Person"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery_train, "STEPS", 20)
    view = VIEWS[name]
    person = sit_down(view.preset, remember=view.remember)
    show(view, person)
    top = next(reversed(list_others(person.window)), person.window)
    top.activateWindow()
    person.wait_for(top.isActiveWindow)
    (QApplication.focusWidget() or top).clearFocus()
    controls = list(list_controls(top))
    reached = tab_through(top, person)
    missed = [_describe(each) for each in controls if each.isVisible() and not is_reached(each, reached)]
    leave(person)
    assert not missed, "\n".join(missed)


def _describe(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    parent = widget.parentWidget()
    name = widget.accessibleName() or text
    return f"{type(widget).__name__} {name!r} in {type(parent).__name__}: {widget.toolTip()[:60]!r}"
