"""Opening and saving sessions, and exporting pictures and tables."""

import re
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QWidget

from attnlab.base.errors import AttnlabError
from attnlab.document.first import First
from attnlab.document.opened import Opened
from attnlab.document.saved_view import describe_dropped
from attnlab.files.atomic import format_name, write_bytes
from attnlab.files.sessions.session_file import Session
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.themed_window import ThemedWindow
from attnlab.ui.playground.reader import Opening, Reader
from attnlab.ui.playground.saver import Saver, Saving
from attnlab.ui.playground.session_state import LessonWalk, ModelKeeper, SessionState, WaitingModel, find_lesson

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_source import Sheets
    from attnlab.ui.playground.playground import Playground

FILTER = "attnlab sessions (*.attnlab)"


def _nothing(_: bool) -> None:
    """Ignore the result."""


class SessionFiles(QObject):
    """Opens, saves and exports for one playground; problems become one sentence in the window."""

    opened = Signal(object)
    """A session was opened from this file, or saved to it."""
    save_failed = Signal(str)
    """A session failed to be written, for this reason."""

    def __init__(self, playground: "Playground", window: QWidget) -> None:
        super().__init__(playground)
        self._playground = playground
        self._window = window
        self.lessons: Callable[[bool], LessonWalk | None] = lambda _make: None
        """Returns the object that walks lessons beside the playground; with True it is created if needed."""
        self.models: ModelKeeper = WaitingModel()
        """Keeps the real model beside the playground; the workspace of models takes its place."""
        self._state = SessionState(playground)
        self._unfinished: Opened | None = None
        self._unsaid = (0, "")
        self._failed = False
        self._saver = Saver(self)
        self._saver.ended.connect(self._on_save_ended)
        self._reader = Reader(self)
        self._reader.ended.connect(self._on_read)
        self._reader.delayed.connect(self._on_read_delayed)
        playground.computed.connect(self._on_computed)

    def begin(self, first: First, ready: SignalInstance) -> None:
        """Show the window's first session in its saved view, and show errors, once ``ready`` is emitted."""
        ready.connect(self._on_ready)
        if first.path is not None:
            self._playground.document.mark_saved(first.path)
            self.opened.emit(first.path)
        if first.opened is not None:
            self._restore(first.opened)
        if first.problem:
            self._say(first.problem)

    def open(self, path: Path, then: Callable[[bool], object] = _nothing) -> None:
        """Open a session as one undoable step, in its saved view.

        It is read in a thread; ``then`` is called with whether it was opened: False if refused or replaced by another.
        """
        self._reader.read(Opening(path, f"Open {path.name}", then))

    def open_unsaved(self, path: Path, label: str, then: Callable[[bool], object]) -> None:
        """Open work that was never saved; it belongs to the file that it names, if any, and is still unsaved."""
        self._reader.read(Opening(path, label, then, saved=False))

    @property
    def opening(self) -> bool:
        """Whether a session is being read."""
        return self._reader.busy

    @Slot(object)
    def _on_read_delayed(self, opening: Opening) -> None:
        what = format_name(opening.path.name) if opening.saved else "unsaved work"
        self._playground.step_bar.show_note(f"Opening {what}…")
        self._playground.step_bar.note_timer.stop()  # it remains until the next message

    @Slot(object, object, str)
    def _on_read(self, opening: Opening, opened: Opened | None, problem: str) -> None:
        if opened is not None:
            self._show(opening, opened)
        elif problem:
            self._say(problem)
        opening.then(opened is not None)

    def _show(self, opening: Opening, opened: Opened) -> None:
        if opened.saved is not None and (lessons := self.lessons(False)) is not None:
            lessons.close()
        path = opening.path if opening.saved else opened.file
        view = opened.saved.view if opened.saved is not None else None
        self._playground.open(opening.label, opened.scene, path, view, saved=opening.saved)
        self._restore(opened)
        if opening.saved:
            self.opened.emit(opening.path)

    def _restore(self, opened: Opened) -> None:
        """Restore the saved view; a lesson opens beside it once there is a window for it."""
        self._state.restore(opened)
        if opened.saved is not None and opened.saved.model is not None:
            self.models.restore_model(opened.saved.model, opened.others)
        if self._playground.reply is None:
            self._unfinished = opened
        else:
            self._unsaid = self._playground.document.history.current.opening, self._resume_lesson(opened)

    def _resume_lesson(self, opened: Opened) -> str:
        """Restore the place in the lesson; return a message about everything that could not be restored."""
        place, gone = opened.saved.lesson if opened.saved is not None else None, ""
        if place is not None:
            lesson, lessons = find_lesson(place.lesson, opened.folder), self.lessons(True)
            if lesson is None or lessons is None:
                gone = f"The lesson {format_name(Path(place.lesson).name)} no longer exists; the rest was restored."
            else:
                lessons.player.resume(lesson, place.step, place.frame)
        return f"{describe_dropped(opened.dropped)} {gone}".strip()

    @Slot()
    def _on_ready(self) -> None:
        opened, self._unfinished = self._unfinished, None
        if opened is not None and (said := self._resume_lesson(opened)):
            self._say(said)

    @Slot(object)
    def _on_computed(self, _: object) -> None:
        """Show the message that waited for the numbers: shown earlier, the step's own message would replace it."""
        (opening, said), self._unsaid = self._unsaid, (0, "")
        if said and opening == self._playground.document.history.current.opening:
            self._say(said)

    def say_last(self, text: str) -> None:
        """Show a message about the session just opened, once its numbers are shown."""
        playground = self._playground
        if playground.reply is not None and playground.reply.request.experiment is playground.document.experiment:
            self._say(text)
        else:
            self._unsaid = playground.document.history.current.opening, f"{self._unsaid[1]} {text}".strip()

    @Slot()
    def save(self) -> None:
        """Save to the session's file; ask for one if it has none."""
        path = self._playground.document.path
        if path is None:
            self.ask_save()
        else:
            self._save(path)

    def save_to(self, path: Path) -> bool:
        """Write the session to a file, and wait for it; return False on failure."""
        self._save(path)
        return self.finish() and not self._failed

    def finish(self) -> bool:
        """Wait, for a limited time, until all saves are written; return whether they are."""
        return self._saver.finish()

    def stop(self) -> None:
        """Finish the current saves and cancel reading; may be called twice."""
        self._reader.stop()
        self.finish()
        self._saver.stop()

    def _save(self, path: Path) -> None:
        saving = Saving(self.session(path.parent), path, self._playground.document.history.current)
        if not self._saver.save(saving):
            self._playground.step_bar.show_note(f"Saving {format_name(path)}…")

    @Slot(object, str)
    def _on_save_ended(self, saving: Saving, problem: str) -> None:
        self._failed = bool(problem)
        if problem:
            self._say(problem)
            self.save_failed.emit(problem)
            return
        self._playground.document.mark_saved(saving.path, saving.entry)
        self.opened.emit(saving.path)
        self._playground.step_bar.show_note(f"Saved {format_name(saving.path)}")

    def session(self, folder: Path) -> Session:
        """Return the open session and its view, for a file in a folder."""
        return self._state.session(self.lessons(False), folder.absolute(), self.models)

    @Slot()
    def ask_save(self) -> None:
        """Ask for a file and save to it."""
        ask_where(self._window, "Save the session", FILTER, self._propose_name(), self._save)

    @Slot()
    def ask_export(self) -> None:
        """Show the export dialog with its preview, for the held or visible stage."""
        head = self._playground.current_head
        self.export_stage(self._playground.current_stage, head, held=head != self._playground.document.view.head)

    def export_stage(self, stage: str, head: int | str, *, held: bool = False) -> None:
        """Show the export dialog for a stage and a head; ``held`` if the head is that of the held cell."""
        from attnlab.ui.export.export_dialog import ExportDialog
        from attnlab.ui.export.file_name import name_state

        reply, document, comparison = self._playground.reply, self._playground.document, self._playground.comparison
        if reply is None or reply.trace is None:
            return
        choices = self._window.settings.figure if isinstance(self._window, ThemedWindow) else ()
        try:
            source = comparison.choose_source(reply.trace, stage)
        except AttnlabError as error:
            self._say(str(error))
            return
        e = comparison.pinned.experiment if comparison.shown == "pinned" and comparison.pinned else document.experiment
        look = "" if comparison.shown == "present" else comparison.shown
        dialog = ExportDialog(
            source,
            stage,
            head,
            choices,
            self._window,
            held=held,
            colouring=document.view.colouring(stage),
            named_after=f"{name_state(document, e)} {look}",
        )
        dialog.remembered.connect(self._on_figure_remembered)
        dialog.exported.connect(self._on_exported)
        dialog.open()

    @Slot(object)
    def export_sheets(self, sheets: "Sheets") -> None:
        """Show the export dialog for the maps of a lens, all below one another."""
        from attnlab.ui.export.export_dialog import ExportDialog
        from attnlab.ui.export.file_name import name_state

        choices = self._window.settings.figure if isinstance(self._window, ThemedWindow) else ()
        document = self._playground.document
        name = f"{name_state(document, document.experiment)} {sheets.heading}"
        dialog = ExportDialog(sheets, sheets.all_stages[0], "all", choices, self._window, named_after=name)
        dialog.form.choose(sheets.all_stages)
        dialog.remembered.connect(self._on_figure_remembered)
        dialog.exported.connect(self._on_exported)
        dialog.open()

    @Slot(str, str)
    def ask_save_table(self, title: str, rows: str) -> None:
        """Ask where to save a table of a lens, given as CSV, and write it."""
        from attnlab.ui.export.file_name import make_slug, name_state

        def save(path: Path) -> None:
            try:
                write_bytes(path, rows.encode())
            except AttnlabError as error:
                self._say(str(error))
                return
            self._on_exported(path)

        document = self._playground.document
        name = make_slug(f"{name_state(document, document.experiment)} {title}")
        ask_where(self._window, "Save the table", "CSV (*.csv)", f"{name}.csv", save)

    def _propose_name(self) -> str:
        """Return an unused file name: in the session's folder, else after its title."""
        document = self._playground.document
        words = re.findall(r"\w+", document.scene.title.lower())
        first = document.path or Path(f"{'-'.join(words)[:60] or 'attention'}.attnlab")
        others = (first.with_stem(f"{first.stem}-{number}") for number in count(2))
        return str(next(path for path in chain((first,), others) if not path.exists()))

    @Slot(object)
    def _on_exported(self, path: object) -> None:
        self._playground.step_bar.show_note(f"Saved {path}")

    @Slot(object)
    def _on_figure_remembered(self, choices: object) -> None:
        if isinstance(self._window, ThemedWindow):
            self._window.change_settings(figure=choices)

    def _say(self, sentence: str) -> None:
        self._playground.step_bar.show_message(sentence)
