"""The bottom of a film dialog: Save, progress, Cancel and messages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.dialog_parts import button
from attnlab.ui.base.slices import Call, Slices
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import set_role


class Job(Protocol):
    """Writes a film step by step: ``done`` of ``total`` are done."""

    done: int
    total: int

    def run_steps(self) -> Iterator[Call[Any] | None]:
        """Yield after each small step."""

    def describe_cancellation(self) -> str:
        """Return the message after a cancellation."""


class FilmSaver(QWidget):
    """Writes one film at a time. ``ended`` is emitted in any case, ``saved`` with the file if it succeeded."""

    started = Signal()
    ended = Signal()
    saved = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job: Job | None = None
        self._path = Path()
        self.slices = Slices(self)
        self.message = QLabel()
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setWordWrap(True)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress")
        self.cancel_button = button("Cancel", "Stop without leaving a partial film")
        self.save_button = button("Save…", "Write the film (Ctrl+S)")
        self.save_button.setProperty("primary", True)
        self.save_button.setShortcut("Ctrl+S")
        self._lay_out()
        self._show_progress(0)
        self.message.hide()
        self.cancel_button.clicked.connect(self.slices.stop)
        self.slices.progressed.connect(self._on_progressed)
        self.slices.finished.connect(self._on_finished)
        self.slices.stopped.connect(self._on_stopped)

    def _lay_out(self) -> None:
        foot, column = QHBoxLayout(), QVBoxLayout(self)
        foot.setSpacing(px(8))
        foot.addWidget(self.progress, 1)
        foot.addWidget(self.cancel_button)
        foot.addStretch(0)
        foot.addWidget(self.save_button, 0, Qt.AlignmentFlag.AlignRight)
        column.setContentsMargins(0, 0, px(12), 0)
        column.setSpacing(px(12))
        column.addWidget(self.message)
        column.addLayout(foot)

    @property
    def working(self) -> bool:
        """Whether a film is being written."""
        return self.slices.running

    def write(self, job: Job, path: Path) -> None:
        """Write a film to a path."""
        self._job, self._path = job, path
        self.say("")
        self._show_progress(job.total)
        self.slices.start(job.run_steps(), doing="writing the film")
        self.started.emit()

    def say(self, sentence: str, role: str = "error") -> None:
        """Show an error message, or in the role "muted" a note; "" for none."""
        set_role(self.message, role)
        show_text(self.message, sentence)
        self.message.setVisible(bool(sentence))

    def _show_progress(self, steps: int) -> None:
        self.progress.setRange(0, max(steps, 1))
        self.progress.setValue(0)
        for widget in (self.progress, self.cancel_button):
            widget.setVisible(bool(steps))
        self.save_button.setVisible(not steps)

    @Slot()
    def _on_progressed(self) -> None:
        if self._job is not None:
            self.progress.setValue(self._job.done)

    @Slot(str)
    def _on_finished(self, error: str) -> None:
        self._show_progress(0)
        self.ended.emit()
        self.say(error or f"Saved {self._path}", "error" if error else "muted")
        if not error:
            self.saved.emit(self._path)

    @Slot()
    def _on_stopped(self) -> None:
        self._show_progress(0)
        self.ended.emit()
        if self._job is not None:
            self.say(self._job.describe_cancellation(), "muted")
