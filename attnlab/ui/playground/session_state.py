"""The state of the playground that a session stores beside the experiment: read from the window, and restored."""

from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject

from attnlab.attention.experiment import Experiment
from attnlab.base.errors import AttnlabError
from attnlab.base.formats import LESSONS
from attnlab.compute.service import Reply, Request, answer
from attnlab.document.document import View
from attnlab.document.opened import Opened, choose_device_and_dtype
from attnlab.document.saved_model import SavedModel
from attnlab.document.saved_view import KEY, LessonPlace, SavedView, to_plain
from attnlab.files.sessions.session_file import Session
from attnlab.ui.base.jobs import Job, run

if TYPE_CHECKING:
    from attnlab.lessons.lesson import Lesson
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground

FOLLOWING = ("step", "example")
"""The fields of a view that follow from others: the place of the walk, and the open preset."""


class Player(Protocol):
    """Walks a lesson: the open lesson, its slide and frame."""

    @property
    def lesson(self) -> "Lesson | None":
        """The open lesson."""

    @property
    def slide(self) -> "Slide | None":
        """The visible slide; None without a lesson."""

    @property
    def frame_index(self) -> int:
        """How many parts of the slide are revealed."""

    def resume(self, lesson: "Lesson", step: int, frame: int) -> None:
        """Open a lesson where a session left it."""


class LessonWalk(Protocol):
    """Walks lessons beside the playground."""

    @property
    def player(self) -> Player:
        """The player of the open lesson."""

    def close(self) -> None:
        """Close the open lesson."""


class ModelKeeper(Protocol):
    """Keeps the real model that is open beside the playground."""

    def save_model(self, first: int) -> tuple[SavedModel | None, tuple[Experiment, ...]]:
        """Return the model and its edited layers, which are stored from the place ``first`` on; None without one."""

    def restore_model(self, saved: SavedModel, others: tuple[Experiment, ...]) -> None:
        """Open the model that a session names, or remember it until its workspace is shown."""


class WaitingModel:
    """Keeps the model of an opened session until its workspace is shown for the first time."""

    def __init__(self) -> None:
        self.waiting: tuple[SavedModel, tuple[Experiment, ...]] | None = None

    def save_model(self, first: int) -> tuple[SavedModel | None, tuple[Experiment, ...]]:
        """Return the model that waits, with its edited layers."""
        if self.waiting is None:
            return None, ()
        saved, others = self.waiting
        edited = tuple((part, layer, first + place) for place, (part, layer, _) in enumerate(saved.edited))
        return replace(saved, edited=edited), tuple(others[place] for _, _, place in saved.edited)

    def restore_model(self, saved: SavedModel, others: tuple[Experiment, ...]) -> None:
        """Remember a model."""
        self.waiting = saved, others


class SessionState(QObject):
    """Reads and restores the state; a pinned state is computed in the worker, and shown when it arrives."""

    def __init__(self, playground: "Playground") -> None:
        super().__init__(playground)
        self._playground = playground
        self._awaited: tuple[Experiment, SavedView] | None = None
        self._computing: Job | None = None

    def session(self, lessons: LessonWalk | None, folder: Path, models: "ModelKeeper | None" = None) -> Session:
        """Return the open session and its view, for a file in a folder."""
        scene, trace = self._playground.document.scene, self._playground.comparison.pinned
        saved = self._save_view(lessons, folder)
        pins: tuple[Experiment, ...] = ()
        if trace is not None:
            dtype = str(trace.dtype).removeprefix("torch.")
            saved, pins = replace(saved, pinned=(str(trace.device), dtype)), (trace.experiment,)
        elif self._awaited is not None:
            experiment, coming = self._awaited
            saved = replace(saved, pinned=coming.pinned, view=replace(saved.view, look=coming.view.look))
            pins = (experiment,)
        if models is not None:
            model, edited = models.save_model(len(pins))
            saved, pins = replace(saved, model=model), (*pins, *edited)
        said = {"title": scene.title, "preset": scene.preset, "device": scene.device, "dtype": scene.dtype}
        return Session(scene.experiment, {**said, KEY: to_plain(saved)}, pins)

    def _save_view(self, lessons: LessonWalk | None, folder: Path) -> SavedView:
        playground = self._playground
        lesson = _lesson_place(lessons, folder) if lessons is not None else None
        return SavedView(playground.document.view, playground.lenses.place, playground.inputs.name, lesson=lesson)

    def restore(self, opened: Opened) -> None:
        """Restore the view of the opened session, except for the lesson; its experiment is open already."""
        saved, playground = opened.saved, self._playground
        self._awaited = None
        if self._computing is not None:
            self._computing.cancel()
        if saved is None:
            return
        playground.comparison.pin(None)
        first = replace(saved.view, look="present")
        playground.document.show(**{f.name: getattr(first, f.name) for f in fields(View) if f.name not in FOLLOWING})
        playground.lenses.bar.strips.setChecked(first.strips)
        playground.lenses.open_lens(saved.lens)
        if saved.table in playground.inputs.tabs and not playground.inputs.tabs[saved.table].isHidden():
            playground.inputs.open_table(saved.table)
        if opened.pin is not None and saved.pinned is not None:
            self._awaited = opened.pin, saved
            request = Request(0, opened.pin, *choose_device_and_dtype(*saved.pinned))
            self._computing = run(
                answer,
                request,
                on_done=partial(self._on_pinned, saved),
                on_failed=self._on_failed,
                lane=playground.lane,
                doing="computing the pinned state",
            )

    def _on_failed(self, sentence: str) -> None:
        self._awaited = None
        self._playground.step_bar.show_message(f"The pinned state was dropped: {sentence}")

    def _on_pinned(self, saved: SavedView, reply: Reply) -> None:
        self._awaited = None
        if reply.trace is None:
            self._on_failed(reply.error)
        elif self._playground.comparison.pinned is None:  # else the user has pinned one meanwhile
            self._playground.comparison.pin(reply.trace)
            self._playground.comparison.look(saved.view.look)


def _lesson_place(lessons: LessonWalk, folder: Path) -> LessonPlace | None:
    from attnlab.lessons.library import find_user_folder, locate

    lesson, slide = lessons.player.lesson, lessons.player.slide
    if lesson is None or slide is None:
        return None
    name, path = lesson.name, lesson.path
    if path is not None and path.parent != find_user_folder():
        name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path.absolute())
    try:
        locate(name)  # a tour through the open experiment has no name
    except AttnlabError:
        return None
    return LessonPlace(name, slide.index, lessons.player.frame_index)


def find_lesson(name: str, folder: Path) -> "Lesson | None":
    """Return a lesson that a session in a folder names, None if it does not exist or has no steps.

    The name may be untrusted: it must be a lesson's, or that of a Markdown file on this machine.
    """
    from attnlab.lessons.library import find

    path = Path(name)
    if path.suffix.lower() in LESSONS:
        path = folder / path
        if str(path).startswith(("//", "\\\\")):  # a network share: reading it would contact its server
            return None
    elif path.name != name:
        return None
    try:
        lesson = find(path)
    except AttnlabError:
        return None
    return lesson if lesson.steps else None
