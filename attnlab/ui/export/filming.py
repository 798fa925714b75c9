"""Makes a film in slices: threads compute states and encode files; frames are drawn between user events."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtGui import QImage

from attnlab.base.errors import AttnlabError
from attnlab.figures.films.film_file import encode
from attnlab.figures.films.film_frame import Film, Survey, choose_film_colours, draw_frame, to_rgb
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.atomic import format_name, write_bytes
from attnlab.ui.base.jobs import Lane
from attnlab.ui.base.slices import Call

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.sweep import Sweep

_PATIENCE_S = 0.01
"""How long a slice waits for a thread before it returns to the event loop."""
_AHEAD = 4
"""The number of frames that may wait for the encoder."""


class _GivenUpError(Exception):
    """The film was cancelled."""


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """The content of a film: a figure of an experiment while one of its values is swept, and where to compute it."""

    experiment: "Experiment"
    sweep: "Sweep"
    spec: FigureSpec
    fps: int = 25
    device: str = "cpu"
    dtype: str = "float32"

    @property
    def count(self) -> int:
        """The number of frames."""
        return len(self.sweep.values)

    def compute_trace(self, frame: int) -> "Trace":
        """Return the computed state of a frame; callable from any thread.

        Raises:
            AttnlabError: the state is invalid or cannot be computed.
        """
        from attnlab.compute.engine import compute

        trace = compute(self.sweep.at(self.experiment, frame), self.device, self.dtype)
        for stage in trace.all_stages if self.spec.canvas else self.spec.stages:
            if stage in trace:
                trace.array(stage)
        return trace

    def draw_image(self, film: Film, trace: "Trace", frame: int) -> QImage:
        """Return a frame as it is in the film; in the window's thread only."""
        return draw_frame(film, trace, self.sweep.text(frame), frame / (self.count - 1))


class Filmed(Protocol):
    """The content of any film: it has frames."""

    @property
    def count(self) -> int:
        """The number of frames."""

    @property
    def fps(self) -> int:
        """The frames per second."""

    def compute_trace(self, frame: int) -> Any:
        """Return the data that a frame is drawn from; callable from any thread."""

    def draw_image(self, film: Film, trace: Any, frame: int) -> QImage:
        """Return a frame; in the window's thread only."""


class Filming:
    """Writes one film to a file. ``done`` of ``total`` steps are done; :meth:`steps` does the work in slices."""

    def __init__(
        self, scenario: Scenario | Filmed, path: Path, film: Film | None = None, lane: Lane | None = None
    ) -> None:
        """``film`` holds what all frames share, if the scenario was surveyed before; it may be None only for a sweep.

        States are computed one at a time in the ``lane``, or in a lane of the film's own.
        """
        self._scenario, self._path, self._film, self._lane = scenario, path, film, lane
        self._ending = path.suffix.lower()
        self._writing: Call[None] | None = None
        self.done, self.total = 0, scenario.count * (2 if film is None else 1) + 1

    def run_steps(self) -> Generator[Call[Any] | None, Any, None]:
        """Yield after each small step; if closed before the end, this leaves no file, process or thread.

        Raises:
            AttnlabError: a state, a figure or the file cannot be made; there is no new file then.
        """
        lane = self._lane or Lane("film")
        try:
            film = self._film
            if film is None:
                assert isinstance(self._scenario, Scenario)
                film = yield from survey_frames(self._scenario, lane, self._step)
            data = yield from self._draw_film(lane, film)
            self._writing = Call(write_bytes, self._path, data, lane=lane)
            yield self._writing
        finally:
            if self._lane is None:
                lane.close()
        self.done = self.total

    def describe_cancellation(self) -> str:
        """Return the message after a cancellation."""
        if self._writing is None or self._writing.dropped:
            return "Cancelled; nothing was written."
        return f"Cancelled too late: the film was already being written to {format_name(self._path)}."

    def _step(self) -> None:
        self.done += 1

    def _draw_film(self, lane: Lane, film: Film) -> Generator[Call[Any] | None, Any, bytes]:
        """Draw the frames, and return the content of the file, which a second thread encodes meanwhile."""
        scenario, frames = self._scenario, Queue[bytes | None](_AHEAD)
        given_up, colours = Event(), choose_film_colours(film)
        taken = _take_frames(frames, given_up)
        writing = Call(encode, taken, film.size, scenario.count, scenario.fps, self._ending, colours)
        try:
            for frame in range(scenario.count):
                trace = yield Call(scenario.compute_trace, frame, lane=lane)
                yield from _put(frames, to_rgb(scenario.draw_image(film, trace, frame)), writing)
                self._step()
                if writing.ended:  # it ended before the last frame, so it has failed
                    break
            yield from _put(frames, None, writing)
            data: bytes = yield writing
            return data
        finally:
            given_up.set()  # no more frames; has no effect on a complete file
            writing.cancel()


def survey_frames(
    scenario: Scenario, lane: Lane, step: Callable[[], None] = lambda: None
) -> Generator[Call[Any] | None, Any, Film]:
    """Return what all frames share, computed in slices; ``step`` is called after each frame.

    Raises:
        AttnlabError: a state is invalid or cannot be drawn; the sentence says at which value.
    """
    survey = Survey(scenario.spec)
    for frame in range(scenario.count):
        trace = yield Call(scenario.compute_trace, frame, lane=lane)
        try:
            survey.add(trace)
        except AttnlabError as error:
            raise AttnlabError(f"At {scenario.sweep.text(frame)}: {error}") from None
        step()
        yield None
    return survey.film()


def _take_frames(frames: "Queue[bytes | None]", given_up: Event) -> Iterator[bytes]:
    """Yield frames as they arrive, in the encoding thread."""
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
    """Queue a frame as soon as there is room, in slices; stop if writing has ended."""
    while not writing.ended:
        try:
            frames.put(frame, timeout=_PATIENCE_S)
        except Full:
            yield
            continue
        yield
        return
