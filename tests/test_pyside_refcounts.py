"""The installed PySide6 releases every reference; 6.12.0 does not, and aborts CPython 3.11."""

import sys

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 12), reason="None and True are immortal there")

CALLS = 200
TOLERANCE = 20


class Sender(QObject):
    sent = Signal(int)


def test_void_methods_do_not_lose_references_to_none(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        widget.setEnabled(True)
    assert abs(sys.getrefcount(None) - before) < TOLERANCE


def test_asking_for_accessible_elements_does_not_lose_references_to_none(qtbot: QtBot) -> None:
    """PySide keeps a reference too many for each answer of a factory, which is harmless; too few would not be."""
    from attnlab.ui.base.cells import install_interfaces

    install_interfaces()
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        widget = QWidget()
        qtbot.addWidget(widget)
        QAccessible.queryAccessibleInterface(widget)
    assert sys.getrefcount(None) - before > -TOLERANCE


def test_signals_do_not_lose_references_to_true(qapp: object) -> None:
    sender = Sender()
    before = sys.getrefcount(True)
    for number in range(CALLS):
        sender.sent.emit(number)
    assert abs(sys.getrefcount(True) - before) < TOLERANCE
