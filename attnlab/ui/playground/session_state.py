"""What a session keeps of the playground beside the experiment: read from the window, and brought back to it."""

from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.attention.experiment import Experiment
from attnlab.attention.presets import PRESETS
from attnlab.compute.engine import DTYPES, devices
from attnlab.compute.service import Reply, Request, answer
from attnlab.document.document import View
from attnlab.document.saved_view import KEY, LessonPlace, SavedView, from_plain, to_plain
from attnlab.document.scene import Scene
from attnlab.errors import AttnlabError
from attnlab.files.atomic import shown
from attnlab.files.session import Session, load_session

if TYPE_CHECKING:
    from attnlab.lessons.lesson import Lesson
    from attnlab.ui.lessons.desk import LessonDesk
    from attnlab.ui.playground.workspace import Playground

FILE = "file"
"""Under which name work that was not saved says which file it is of."""
_LONGEST_TITLE = 200
_LESSON_ENDINGS = (".md", ".markdown")


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A session file as it was read, once: ``saved`` is None where it says nothing of how it was looked at."""

    scene: Scene
    saved: SavedView | None
    pin: Experiment | None
    folder: Path
    file: Path | None
    dropped: tuple[str, ...]


def read(path: Path) -> Opened:
    """Return what is in a session file; a device that is not here becomes the CPU.

    Raises:
        FileError: it cannot be read, or is not a session.
    """
    session = load_session(path)
    said, e = session.view, session.experiment
    title, name, file = said.get("title"), said.get("preset"), said.get(FILE)
    scene = Scene(
        e, shown(title)[:_LONGEST_TITLE] if isinstance(title, str) else path.stem,
        name if isinstance(name, str) and name in PRESETS else "",
        *_computed(said.get("device"), said.get("dtype")),
    )  # fmt: skip
    saved, dropped = from_plain(said[KEY], e) if KEY in said else (None, ())
    if saved is not None and saved.pinned is not None and not session.pins:
        saved, dropped = replace(saved, pinned=None), (*dropped, "the pinned state")
    pin = session.pins[0] if saved is not None and saved.pinned is not None else None
    return Opened(scene, saved, pin, path.parent, Path(file) if isinstance(file, str) and file else None, dropped)


def _computed(device: object, dtype: object) -> tuple[str, str]:
    device = device if device in devices() else str(device).partition(":")[0]  # the first of several may be the only
    return str(device) if device in devices() else "cpu", dtype if isinstance(
        dtype, str
    ) and dtype in DTYPES else "float32"


class SessionState(QObject):
    """Collects and brings back; a pinned state is computed in the worker, and shown when it comes."""

    def __init__(self, playground: "Playground") -> None:
        super().__init__(playground)
        self._playground = playground
        self._awaited: tuple[Experiment, SavedView] | None = None
        playground.service.job_done.connect(self._on_job_done)

    def session(self, desk: "LessonDesk | None", folder: Path) -> Session:
        """Return what is open and how it is looked at, for a file in a folder."""
        scene, trace = self._playground.document.scene, self._playground.pinned
        saved = self._saved(desk, folder)
        pins: tuple[Experiment, ...] = ()
        if trace is not None:
            dtype = str(trace.dtype).removeprefix("torch.")
            saved, pins = replace(saved, pinned=(str(trace.device), dtype)), (trace.experiment,)
        elif self._awaited is not None:
            experiment, coming = self._awaited
            saved = replace(saved, pinned=coming.pinned, view=replace(saved.view, look=coming.view.look))
            pins = (experiment,)
        said = {"title": scene.title, "preset": scene.preset, "device": scene.device, "dtype": scene.dtype}
        return Session(scene.experiment, {**said, KEY: to_plain(saved)}, pins)

    def _saved(self, desk: "LessonDesk | None", folder: Path) -> SavedView:
        playground = self._playground
        lesson = _lesson_place(desk, folder) if desk is not None else None
        return SavedView(playground.document.view, playground.lenses.place, playground.inputs.name, lesson=lesson)

    def bring_back(self, opened: Opened) -> None:
        """Show what is open now as it was looked at, but for the lesson; it is the experiment of what was opened."""
        saved, playground = opened.saved, self._playground
        self._awaited = None
        if saved is None:
            return
        playground.pin(None)
        first = replace(saved.view, look="present")
        playground.document.show(**{f.name: getattr(first, f.name) for f in fields(View) if f.name != "step"})
        playground.lenses.strips.setChecked(first.strips)
        playground.lenses.open_lens(saved.lens)
        if saved.table in playground.inputs.tabs and not playground.inputs.tabs[saved.table].isHidden():
            playground.inputs.open_table(saved.table)
        if opened.pin is not None and saved.pinned is not None:
            self._awaited = opened.pin, saved
            request = Request(0, opened.pin, *_computed(*saved.pinned))
            playground.service.run(("pinned", id(self._awaited)), partial(answer, request))

    @Slot(object, object)
    def _on_job_done(self, key: object, reply: object) -> None:
        if self._awaited is None or key != ("pinned", id(self._awaited)) or not isinstance(reply, Reply):
            return
        (_, saved), self._awaited = self._awaited, None
        if reply.trace is None:
            self._playground.step_bar.show_message(f"The pinned state is let go: {reply.error}")
        elif self._playground.pinned is None:  # else a person was faster
            self._playground.pin(reply.trace)
            self._playground.look(saved.view.look)


def _lesson_place(desk: "LessonDesk", folder: Path) -> LessonPlace | None:
    from attnlab.lessons.library import located, user_folder

    lesson, slide = desk.player.lesson, desk.player.slide
    if lesson is None or slide is None:
        return None
    name, path = lesson.name, lesson.path
    if path is not None and path.parent != user_folder():
        name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path.absolute())
    try:
        located(name)  # a tour through what is open has no name
    except AttnlabError:
        return None
    return LessonPlace(name, slide.index, desk.player.frame_index)


def find_lesson(name: str, folder: Path) -> "Lesson | None":
    """Return a lesson that a session in a folder names, None when it is not there or has no steps.

    A name may be a stranger's: it is that of a lesson, or of a file of Markdown on this machine.
    """
    from attnlab.lessons.library import find

    path = Path(name)
    if path.suffix.lower() in _LESSON_ENDINGS:
        path = folder / path
        if str(path).startswith(("//", "\\\\")):  # a share, whose server would be told who asks
            return None
    elif path.name != name:
        return None
    try:
        lesson = find(path)
    except AttnlabError:
        return None
    return lesson if lesson.steps else None
