"""Clears the bar's message when what it is about is over: its dialog is closed, or another dialog begins."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog

if TYPE_CHECKING:
    from attnlab.ui.playground.step_bar import StepBar


class MessageLife(QObject):
    """Watches which window is active. The result of a file dialog comes while it closes, and stays.

    So does the message that ``standing`` returns, which is about the numbers on screen.
    """

    def __init__(self, bar: "StepBar", standing: Callable[[], str]) -> None:
        super().__init__(bar)
        self._bar, self._standing = bar, standing
        self._said_in: QDialog | None = None
        bar.told.connect(self._on_told)
        app = cast(QGuiApplication, QGuiApplication.instance())
        app.focusWindowChanged.connect(self._on_focus_window_changed)

    @Slot(str)
    def _on_told(self, sentence: str) -> None:
        active = QApplication.activeWindow()
        kept = isinstance(active, QDialog) and not isinstance(active, QFileDialog)
        self._forget()
        if sentence and kept:
            self._said_in = cast(QDialog, active)
            self._said_in.finished.connect(self._on_finished)

    def _forget(self) -> None:
        if self._said_in is not None:
            self._said_in.finished.disconnect(self._on_finished)
            self._said_in = None

    @Slot(int)
    def _on_finished(self, _result: int) -> None:
        self._forget()
        if self._bar.is_refusal:
            self._bar.show_message("")

    @Slot(QWindow)
    def _on_focus_window_changed(self, window: QWindow | None) -> None:
        """Clear a message from before the dialog that is now active."""
        if window is None or self._said_in is not None or not self._bar.is_refusal:
            return
        if self._bar.message == self._standing():
            return
        dialogs = (each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog))
        if any(each.windowHandle() is window for each in dialogs):
            self._bar.show_message("")
