"""The ears of a test: a screen reader is active, and everything that Qt tells it is written down."""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import PySide6
import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import Shiboken

from attnlab.ui.base.cells import install_interfaces

NAME = QAccessible.Text.Name
_INSTALL = "_ZN11QAccessible20installUpdateHandlerEPFvP16QAccessibleEventE"
_Handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Ears:
    """What a screen reader was told: ``said`` are announcements, ``read`` the names of elements that got the focus, and
    ``renamed`` those of elements that got another name."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.read: list[str] = []
        self.renamed: list[str] = []

    def forget(self) -> None:
        self.said.clear()
        self.read.clear()
        self.renamed.clear()

    def hear(self, address: int) -> None:
        event: Any = Shiboken.wrapInstance(address, QAccessibleEvent)
        if event.type() == QAccessible.Event.Announcement:
            said: Any = Shiboken.wrapInstance(address, QAccessibleAnnouncementEvent)
            self.said.append(said.message())
        heard = {QAccessible.Event.Focus: self.read, QAccessible.Event.NameChanged: self.renamed}.get(event.type())
        if heard is not None and (element := event.accessibleInterface()) is not None:
            heard.append(element.text(NAME))


def element(widget: QWidget) -> QAccessibleInterface:
    """Return a widget as a screen reader sees it."""
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None, widget
    return found


def names(widget: QWidget) -> list[str]:
    """Return the names of the elements inside a widget."""
    of = element(widget)
    return [child.text(NAME) for i in range(of.childCount()) if (child := of.child(i)) is not None]


@pytest.fixture
def listening(qapp: QApplication) -> Iterator[None]:
    """Have a screen reader active."""
    install_interfaces()
    QAccessible.setActive(True)
    yield
    QCoreApplication.processEvents()
    QAccessible.setActive(False)


@pytest.fixture
def ears(listening: None) -> Iterator[Ears]:
    """Hear everything that Qt tells a screen reader. PySide does not wrap the function by which Qt lets one listen."""
    if sys.platform != "linux":
        pytest.skip("the library of Qt has another name")
    gui = ctypes.CDLL(str(Path(PySide6.__file__).parent / "Qt" / "lib" / "libQt6Gui.so.6"))
    heard = Ears()
    handler = _Handler(heard.hear)
    install = getattr(gui, _INSTALL)
    install.argtypes, install.restype = [_Handler], ctypes.c_void_p
    install(handler)
    yield heard
    install(ctypes.cast(None, _Handler))
