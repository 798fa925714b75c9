"""Makes a film in slices: states are computed and files encoded in threads, frames drawn between what a person does."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtGui import QImage

from attnlab.errors import AttnlabError
from attnlab.figures.figure_spec import FigureSpec
from attnlab.figures.moving import encoded
from attnlab.figures.moving_frame import Film, Survey, film_colours, frame_image, rgb

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.trace import Trace
    from attnlab.lessons.sweep import Sweep

T = TypeVar("T")
_PATIENCE_S = 0.01
"""How long a slice waits for a thread before the window has its turn."""
_AHEAD = 4
"""Frames that are drawn before the file has taken them."""


class _GivenUpError(Exception):
    """The film is no longer wanted."""


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """What a film shows: a figure of an experiment while one thing of it is swept, and where it is computed."""

    experiment: "Experiment"
    sweep: "Sweep"
    spec: FigureSpec
    fps: int = 25
    device: str = "cpu"
    dtype: str = "float32"

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.sweep.values)

    def trace(self, frame: int) -> "Trace":
        """Return the computed state of a frame; any thread may ask.

        Raises:
            AttnlabError: there is no such state, or it cannot be computed.
        """
        from attnlab.compute.engine import compute

        trace = compute(self.sweep.at(self.experiment, frame), self.device, self.dtype)
        for stage in trace.all_stages if self.spec.canvas else self.spec.stages:
            if stage in trace:
                trace.array(stage)
        return trace

    def image(self, film: Film, trace: "Trace", frame: int) -> QImage:
        """Return a frame as it is in the film; in the thread of the window only."""
        return frame_image(film, trace, self.sweep.text(frame), frame / (self.count - 1))


class Filmed(Protocol):
    """Anything that has frames: what a film shows, where that is no sweep."""

    @property
    def count(self) -> int:
        """How many frames there are."""

    @property
    def fps(self) -> int:
        """How many of them are shown in a second."""

    def trace(self, frame: int) -> Any:
        """Return what a frame is drawn from; any thread may ask."""

    def image(self, film: Film, trace: Any, frame: int) -> QImage:
        """Return a frame; in the thread of the window only."""


class Filming:
    """One film on its way into a file. ``done`` of ``total`` steps are done; :meth:`steps` are its slices."""

    def __init__(self, scenario: Scenario | Filmed, path: Path, film: Film | None = None) -> None:
        """``film`` is what all frames share, where the scenario has been surveyed before; what is no sweep has it."""
        self._scenario, self._path, self._film = scenario, path, film
        self._ending = path.suffix.lower()
        self.done, self.total = 0, scenario.count * (2 if film is None else 1) + 1

    def steps(self) -> Iterator[None]:
        """Do a little at each step; closed before the end, it leaves no file, process or thread.

        Raises:
            AttnlabError: a state, a figure or a file that cannot be; there is no new file then.
        """
        from attnlab.files.atomic import write_bytes

        with ThreadPoolExecutor(1) as worker:
            film = self._film
            if film is None:
                assert isinstance(self._scenario, Scenario)
                film = yield from surveyed(self._scenario, worker, self._step)
            data = yield from self._filmed(worker, film)
            yield from waited(worker.submit(write_bytes, self._path, data))
        self.done = self.total

    def given_up(self) -> str:
        """Return what is said of it when it was given up."""
        return "Cancelled; nothing was written."

    def _step(self) -> None:
        self.done += 1

    def _filmed(self, worker: ThreadPoolExecutor, film: Film) -> Generator[None, None, bytes]:
        """Draw the frames, and return the file that a second thread makes of them meanwhile."""
        scenario, frames = self._scenario, Queue[bytes | None](_AHEAD)
        given_up = Event()
        with ThreadPoolExecutor(1) as writer:
            writing = writer.submit(
                encoded, _taken(frames, given_up), film.size, scenario.count, scenario.fps, self._ending,
                film_colours(film),
            )  # fmt: skip
            try:
                for frame in range(scenario.count):
                    trace = yield from waited(worker.submit(scenario.trace, frame))
                    yield from _put(frames, rgb(scenario.image(film, trace, frame)), writing)
                    self._step()
                    if writing.done():  # too early, which says that it failed
                        break
                yield from _put(frames, None, writing)
                return (yield from waited(writing))
            finally:
                given_up.set()  # nobody draws any more; a file that is complete has noticed before


def surveyed(
    scenario: Scenario, worker: ThreadPoolExecutor, step: Callable[[], None] = lambda: None
) -> Generator[None, None, Film]:
    """Return what all frames share, a slice at a time; ``step`` is called after each frame.

    Raises:
        AttnlabError: a state that cannot be, or cannot be drawn; the sentence says at which value.
    """
    survey = Survey(scenario.spec)
    for frame in range(scenario.count):
        trace = yield from waited(worker.submit(scenario.trace, frame))
        try:
            survey.add(trace)
        except AttnlabError as error:
            raise AttnlabError(f"At {scenario.sweep.text(frame)}: {error}") from None
        step()
        yield
    return survey.film()


def _taken(frames: "Queue[bytes | None]", given_up: Event) -> Iterator[bytes]:
    """Yield frames as they come; in the thread that writes."""
    while True:
        try:
            frame = frames.get(timeout=_PATIENCE_S)
        except Empty:
            if given_up.is_set():
                raise _GivenUpError from None
            continue
        if given_up.is_set():
            raise _GivenUpError
        if frame is None:
            return
        yield frame


def _put(frames: "Queue[bytes | None]", frame: bytes | None, writing: "Future[bytes]") -> Iterator[None]:
    """Hand a frame over as soon as there is room, a slice at a time; nothing where writing has ended."""
    while not writing.done():
        try:
            frames.put(frame, timeout=_PATIENCE_S)
        except Full:
            yield
            continue
        yield
        return


def waited(future: "Future[T]") -> Generator[None, None, T]:
    """Return what a thread comes to, a slice at a time; its error is raised here."""
    while True:
        try:
            return future.result(timeout=_PATIENCE_S)
        except TimeoutError:
            yield
