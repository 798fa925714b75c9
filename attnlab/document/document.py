"""The open document: the current scene, its history and its view. All edits go through it."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from weakref import ref

from PySide6.QtCore import QObject, Signal

from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.registry import name_as_shown
from attnlab.attention.stages.explanation import Cell
from attnlab.base.errors import AttnlabError
from attnlab.document.history import Entry, History
from attnlab.document.scene import Scene
from attnlab.document.view import View, fit_view

__all__ = ["Document", "View", "fit_view"]


class Document(QObject):
    """Owns the current scene. Views listen to its signals and never write to each other."""

    scene_changed = Signal(object)
    view_changed = Signal(object)
    history_changed = Signal()
    message_raised = Signal(str)
    """One sentence about an edit that was refused; "" when the next one succeeds."""

    def __init__(self, label: str, scene: Scene, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._history = History(label, scene)
        self._view = _fit_view(View(), scene, first=True)
        self._saved: dict[int, tuple[Path | None, ref[Scene] | None]] = {0: (None, ref(scene))}
        # for each opening, its file and the scene saved there
        self._in_files = {0}  # the openings that are saved in a file, or unchanged
        self._good: Entry | None = None

    @property
    def scene(self) -> Scene:
        """The current scene."""
        return self._history.current.scene

    @property
    def experiment(self) -> Experiment:
        """The current experiment."""
        return self.scene.experiment

    @property
    def history(self) -> History:
        """The history of undo and redo."""
        return self._history

    @property
    def view(self) -> View:
        """The selection and display settings."""
        return self._view

    @property
    def modified(self) -> bool:
        """Whether the scene differs from the one last saved or opened."""
        saved = self._saved[self._history.current.opening][1]
        return saved is None or self.scene is not saved()

    @property
    def path(self) -> Path | None:
        """The file that the current scene was opened from or saved to; undo can return to another file's scene."""
        return self._saved[self._history.current.opening][0]

    def edit(self, label: str, change: Callable[[Experiment], Experiment], gesture: Hashable = None) -> bool:
        """Replace the experiment by ``change(experiment)``; if that fails, emit its error and return False."""
        return self.edit_scene(label, lambda scene: _with_experiment(scene, change), gesture)

    def edit_scene(self, label: str, change: Callable[[Scene], Scene], gesture: Hashable = None) -> bool:
        """Replace the scene by ``change(scene)``; if that fails, emit its error and return False."""
        try:
            scene = change(self.scene)
        except AttnlabError as error:
            self.message_raised.emit(name_as_shown(str(error)))
            return False
        self.message_raised.emit("")
        if scene is not self.scene:
            self._history.push(label, scene, gesture)
            self._announce()
        return True

    def open(
        self, label: str, scene: Scene, path: Path | None = None, view: View | None = None, *, saved: bool = True
    ) -> None:
        """Make a newly opened scene current; undo returns to the scene before it.

        ``view`` is its view, None for that of a new scene; ``saved`` is False for recovered, unsaved work.
        """
        opening = self._history.open(label, scene)
        self._saved[opening] = path, ref(scene) if saved else None
        if saved:
            self._in_files.add(opening)
        first = _fit_view(replace(self._view, cell=None, pinned=False), scene, first=True)
        self._view = first if view is None else _fit_view(view, scene)
        self._announce()

    def ever_saved(self, opening: int) -> bool:
        """Return whether the opening with that number was ever saved to a file or came from one."""
        return opening in self._in_files

    def mark_saved(self, path: Path, entry: Entry | None = None) -> None:
        """Record that the scene of an entry (by default the current one) is saved in a file."""
        entry = entry or self._history.current
        self._saved[entry.opening] = path, ref(entry.scene)
        self._in_files.add(entry.opening)
        self.history_changed.emit()

    @property
    def undo_label(self) -> str | None:
        """The label of the edit that would be undone; None if there is none."""
        return self.history.undo_label

    @property
    def redo_label(self) -> str | None:
        """The label of the edit that would be redone; None if there is none."""
        return self.history.redo_label

    def undo(self) -> None:
        """Go back one entry."""
        self.jump(self._history.index - 1)

    def redo(self) -> None:
        """Go forward one entry."""
        self.jump(self._history.index + 1)

    def jump(self, index: int) -> None:
        """Go to an entry of the history."""
        before = self.scene
        self._history.jump(index)
        if self.scene is not before:
            self.message_raised.emit("")
            self._announce()

    def note_computed(self) -> None:
        """Mark the current scene as computed."""
        self._good = self._history.note_computed()

    def refuse(self) -> None:
        """Leave the current scene, which cannot be computed, for the state before it.

        The scene is removed from the history, so that undo and redo skip it. A scene that was computed before stays:
        in that case the device has failed, and no work should be lost.
        """
        if self._history.refuse(self._good):
            self._announce()

    def set_history_budget(self, bytes_: int) -> None:
        """Set how many bytes the history may take; beyond that the oldest entries are dropped."""
        self._history.budget = bytes_
        self.history_changed.emit()

    def show(self, **changes: object) -> None:
        """Change fields of the :class:`View`; setting one of ``step`` and ``at`` also updates the other."""
        if "step" in changes or "at" in changes:
            changes = {"step": None, "at": None, **changes}
        view = fit_view(replace(self._view, **changes), self.experiment)  # type: ignore[arg-type]
        if view != self._view:
            self._view = view
            self.view_changed.emit(view)

    def select(self, cell: Cell | None, *, pin: bool = False) -> None:
        """Select a cell, pinned or only pointed at. Pointing never changes a pinned selection."""
        if pin or not self._view.pinned:
            self.show(cell=cell, pinned=pin and cell is not None)

    def _forget_gone(self) -> None:
        """Forget the files of openings that are no longer in the history."""
        for opening in [one for one in self._saved if one not in self._history.openings]:
            del self._saved[opening]

    def _announce(self) -> None:
        self._forget_gone()
        view = _fit_view(self._view, self.scene)
        changed, self._view = view != self._view, view
        self.scene_changed.emit(self.scene)
        if changed:
            self.view_changed.emit(view)
        self.history_changed.emit()


def _fit_view(view: View, scene: Scene, *, first: bool = False) -> View:
    """Return the view fitted to a scene, with the pair of its worked example."""
    example = PRESETS.get(scene.preset)
    return replace(
        fit_view(view, scene.experiment, first=first), example=example.place if example is not None else None
    )


def _with_experiment(scene: Scene, change: Callable[[Experiment], Experiment]) -> Scene:
    experiment = change(scene.experiment)
    return scene if experiment is scene.experiment else replace(scene, experiment=experiment)
