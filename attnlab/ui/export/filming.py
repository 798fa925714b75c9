"""Makes a film in slices: states are computed and files encoded in threads, frames drawn between what a person does."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtGui import QImage

from attnlab.base.errors import AttnlabError
from attnlab.figures.films.film_file import encoded
from attnlab.figures.films.film_frame import Film, Survey, film_colours, frame_image, rgb
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.atomic import shown, write_bytes
from attnlab.ui.base.jobs import Lane
from attnlab.ui.base.slices import Call

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.sweep import Sweep

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

    def __init__(
        self, scenario: Scenario | Filmed, path: Path, film: Film | None = None, lane: Lane | None = None
    ) -> None:
        """``film`` holds what all frames share, if the scenario was surveyed before; needed unless it is a sweep.

        States are computed one at a time in the ``lane``, or in a lane of the film's own.
        """
        self._scenario, self._path, self._film, self._lane = scenario, path, film, lane
        self._ending = path.suffix.lower()
        self._writing: Call[None] | None = None
        self.done, self.total = 0, scenario.count * (2 if film is None else 1) + 1

    def steps(self) -> Generator[Call[Any] | None, Any, None]:
        """Do a little at each step; closed before the end, it leaves no file, process or thread.

        Raises:
            AttnlabError: a state, a figure or a file that cannot be; there is no new file then.
        """
        lane = self._lane or Lane("film")
        try:
            film = self._film
            if film is None:
                assert isinstance(self._scenario, Scenario)
                film = yield from surveyed(self._scenario, lane, self._step)
            data = yield from self._filmed(lane, film)
            self._writing = Call(write_bytes, self._path, data, lane=lane)
            yield self._writing
        finally:
            if self._lane is None:
                lane.close()
        self.done = self.total

    def given_up(self) -> str:
        """Return what is said of it when it was given up."""
        if self._writing is None or self._writing.dropped:
            return "Cancelled; nothing was written."
        return f"Cancelled too late: the film was already being written to {shown(self._path)}."

    def _step(self) -> None:
        self.done += 1

    def _filmed(self, lane: Lane, film: Film) -> Generator[Call[Any] | None, Any, bytes]:
        """Draw the frames, and return the file that a second thread makes of them meanwhile."""
        scenario, frames = self._scenario, Queue[bytes | None](_AHEAD)
        given_up, colours = Event(), film_colours(film)
        taken = _taken(frames, given_up)
        writing = Call(encoded, taken, film.size, scenario.count, scenario.fps, self._ending, colours)
        try:
            for frame in range(scenario.count):
                trace = yield Call(scenario.trace, frame, lane=lane)
                yield from _put(frames, rgb(scenario.image(film, trace, frame)), writing)
                self._step()
                if writing.ended:  # before the last frame, so it has failed
                    break
            yield from _put(frames, None, writing)
            data: bytes = yield writing
            return data
        finally:
            given_up.set()  # no more frames; has no effect on a complete file
            writing.cancel()


def surveyed(
    scenario: Scenario, lane: Lane, step: Callable[[], None] = lambda: None
) -> Generator[Call[Any] | None, Any, Film]:
    """Return what all frames share, a slice at a time; ``step`` is called after each frame.

    Raises:
        AttnlabError: a state that cannot be, or cannot be drawn; the sentence says at which value.
    """
    survey = Survey(scenario.spec)
    for frame in range(scenario.count):
        trace = yield Call(scenario.trace, frame, lane=lane)
        try:
            survey.add(trace)
        except AttnlabError as error:
            raise AttnlabError(f"At {scenario.sweep.text(frame)}: {error}") from None
        step()
        yield None
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


def _put(frames: "Queue[bytes | None]", frame: bytes | None, writing: "Call[bytes]") -> Iterator[None]:
    """Hand a frame over as soon as there is room, a slice at a time; nothing where writing has ended."""
    while not writing.ended:
        try:
            frames.put(frame, timeout=_PATIENCE_S)
        except Full:
            yield
            continue
        yield
        return
