"""A lesson being written: its states as values, so that every change can be undone, and saving."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from attnlab.files.atomic import write_bytes, write_text
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions.session_archive import TOTAL_LIMIT
from attnlab.lessons.lesson import Lesson, Step
from attnlab.lessons.pictures import LIMIT, list_names
from attnlab.lessons.sessions import find_session


@dataclass(frozen=True, slots=True)
class _Entry:
    label: str
    lesson: Lesson
    chosen: int
    gesture: Hashable = None


class Draft(QObject):
    """Owns the lesson in the editor and the chosen step; edits of one gesture, such as typing a word, undo as one."""

    changed = Signal()
    """The lesson, the chosen step, or whether it is saved, has changed."""

    def __init__(self, lesson: Lesson, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries = [_Entry("Open", lesson, 0)]
        self._index = self._chosen = 0
        self._saved: Lesson | None = lesson
        there = lesson.path is not None and lesson.path.is_file()
        self._path = lesson.path if there and not lesson.problems else None

    @property
    def lesson(self) -> Lesson:
        """The current lesson."""
        return self._entries[self._index].lesson

    @property
    def chosen(self) -> int:
        """The chosen step, counted from 0."""
        return min(max(self._chosen, 0), max(len(self.lesson.steps) - 1, 0))

    @property
    def step(self) -> Step | None:
        """The chosen step; None if there is none."""
        return self.lesson.steps[self.chosen] if self.lesson.steps else None

    @property
    def modified(self) -> bool:
        """Whether the lesson differs from its file."""
        return self.lesson is not self._saved

    @property
    def path(self) -> Path | None:
        """The file to save to; None for a new lesson, and for one whose file was not read completely."""
        return self._path

    @property
    def undo_label(self) -> str:
        """The label of the next undo, "" at the beginning."""
        return self._entries[self._index].label if self._index else ""

    @property
    def redo_label(self) -> str:
        """The label of the next redo, "" at the end."""
        return self._entries[self._index + 1].label if self._index + 1 < len(self._entries) else ""

    def edit(self, label: str, lesson: Lesson, gesture: Hashable = None) -> None:
        """Set a changed lesson; an equal one is no edit."""
        if lesson == self.lesson:
            return
        del self._entries[self._index + 1 :]
        entry = _Entry(label, lesson, self._chosen, gesture)
        if gesture is not None and self._index and self._entries[-1].gesture == gesture and self.modified:
            self._entries[-1] = entry
        else:
            self._entries.append(entry)
            self._index += 1
        self.changed.emit()

    def edit_step(self, label: str, gesture: Hashable = None, **changes: object) -> None:
        """Change fields of the chosen step."""
        if self.step is not None:
            step = replace(self.step, **changes)  # type: ignore[arg-type]
            steps = list(self.lesson.steps)
            steps[self.chosen] = step
            self.edit(label, replace(self.lesson, steps=tuple(steps)), gesture)

    @Slot(int)
    def choose(self, step: int) -> None:
        """Choose another step."""
        if step != self._chosen:
            self._chosen = step
            self.changed.emit()

    def delete(self) -> None:
        """Delete the chosen step."""
        if self.lesson.steps:
            self._rearrange("Delete the step", [i for i in range(len(self.lesson.steps)) if i != self.chosen])

    def duplicate(self) -> None:
        """Insert a copy of the chosen step after it, and choose the copy."""
        if self.step is not None:
            steps = list(self.lesson.steps)
            steps.insert(self.chosen + 1, replace(self.step, preset=None, file=None, edits=(), line=0))
            self._chosen = self.chosen + 1
            self.edit("Duplicate the step", replace(self.lesson, steps=tuple(steps)))

    def move(self, source: int, target: int) -> None:
        """Move a step to another place; both are indices in the list before the move."""
        order = list(range(len(self.lesson.steps)))
        if source == target or source not in order or target not in order:
            return
        order.insert(target, order.pop(source))
        self._chosen = target
        self._rearrange("Move the step", order)

    def undo(self) -> None:
        """Undo the last change."""
        self._jump(self._index - 1)

    def redo(self) -> None:
        """Redo a change."""
        self._jump(self._index + 1)

    def save(self, path: Path) -> None:
        """Write the lesson to a file atomically; raises FileError."""
        from attnlab.lessons.write import write

        if path != self._path:
            carry_files(self.lesson, path)
        write_text(path, write(_move_to(self.lesson, path)))
        self._path = path
        self._entries = [replace(e, lesson=_move_to(e.lesson, path), gesture=None) for e in self._entries]
        self._saved = self.lesson
        self.changed.emit()

    def _rearrange(self, label: str, order: list[int]) -> None:
        from attnlab.ui.lessons.recording import reorder_steps

        self.edit(label, reorder_steps(self.lesson, order))

    def _jump(self, index: int) -> None:
        if 0 <= index < len(self._entries) and index != self._index:
            self._chosen = self._entries[max(index, self._index)].chosen
            self._index = index
            self.changed.emit()


def _move_to(lesson: Lesson, path: Path) -> Lesson:
    return replace(lesson, name=path.stem, path=path, problems=())


def get_session_folder(lesson: Lesson) -> Path:
    """Return the folder of a lesson's sessions, whether it exists or not."""
    from attnlab.lessons.library import find_user_folder

    return lesson.path.parent if lesson.path is not None else find_user_folder()


def carry_files(lesson: Lesson, path: Path) -> None:
    """Copy the sessions, runs and pictures of a lesson's steps to the folder of its new file; raises AttnlabError."""
    from attnlab.lessons.recordings import find_recording  # it loads torch
    from attnlab.training import store

    folder = get_session_folder(lesson)
    for name in {step.file for step in lesson.steps if step.file is not None}:
        source, target = find_session(lesson, name), path.parent / name
        if target == source or target.exists():
            continue
        write_bytes(target, read_bytes(source, TOTAL_LIMIT, "a session that a step begins with"))
    for name in {step.run for step in lesson.steps if step.run is not None}:
        source, target = find_recording(lesson, name), path.parent / name
        if target != source and not target.exists():
            store.save(store.load(source), target)
    for name in {name for step in lesson.steps for name in list_names(step.text)}:
        target = path.parent / name
        if target != folder / name and not target.exists() and (folder / name).is_file():
            write_bytes(target, read_bytes(folder / name, LIMIT, "a picture"))
