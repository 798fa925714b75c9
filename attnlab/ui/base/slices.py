"""Work that must happen in the window's thread, such as drawing: :func:`draw` does one slice between two events."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Generic, TypeVar, TypeVarTuple, cast

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from shiboken6 import isValid

from attnlab.base.errors import AttnlabError
from attnlab.base.fault_log import report
from attnlab.ui.base.jobs import Lane, run

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Call(Generic[T]):
    """A function call in the background, which starts at once. A generator that yields it resumes with the result.

    An error of the function is raised in the generator.
    """

    def __init__(self, function: Callable[[*Ts], T], *arguments: *Ts, lane: Lane | None = None) -> None:
        self._came: tuple[T | None, BaseException | None] | None = None
        self._then: Callable[[], None] | None = None
        self.dropped = False
        """Whether it was cancelled before it began."""
        self._job = run(
            _run_caught, function, arguments, on_done=self._take, on_failed=_unheard, doing="drawing", lane=lane
        )

    @property
    def ended(self) -> bool:
        """Whether the function has returned, or raised an error."""
        return self._job.over.is_set()

    def result(self) -> T:
        """Return the result of a call that has ended, or raise its error."""
        assert self._came is not None
        result, error = self._came
        if error is not None:
            raise error
        return cast(T, result)

    def wait(self) -> None:
        """Block until the end, where no window must stay responsive."""
        self._job.wait(None)

    def then(self, go_on: Callable[[], None]) -> None:
        """Call ``go_on`` when this call has ended."""
        self._then = go_on
        if self._came is not None:
            go_on()

    def cancel(self) -> None:
        """Cancel the call and ignore its result; if it has begun, it runs to its end all the same."""
        self._then = None
        self.dropped = self._job.withdraw()
        self._job.cancel()

    def _take(self, came: tuple[T | None, BaseException | None]) -> None:
        self._came = came
        if self._then is not None:
            self._then()


class Drawing(QObject):
    """The handle of work in slices."""

    def __init__(
        self,
        steps: Iterator[Call[Any] | None],
        owner: QObject,
        on_done: Callable[[Any], object],
        on_failed: Callable[[str], object],
        progress: Callable[[int], object],
        doing: str,
    ) -> None:
        super().__init__(owner)
        self._steps: Iterator[Call[Any] | None] | None = steps
        self._on_done, self._on_failed, self._on_progress = on_done, on_failed, progress
        self._doing, self._count = doing, 0
        self._call: Call[Any] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timeout)
        self._timer.start()

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self._steps is None

    def cancel(self) -> None:
        """Cancel the work and close the generator; no callback is called."""
        if not self.done:
            self._end()

    def _end(self) -> None:
        steps, call = self._steps, self._call
        self._steps = self._call = None
        self._timer.stop()
        if call is not None:
            call.cancel()
        close = getattr(steps, "close", None)
        if close is not None:
            close()
        self._on_progress = _unheard
        self.deleteLater()

    @Slot()
    def _on_timeout(self) -> None:
        if self._steps is None:
            return
        try:
            call = self._step(self._steps)
        except StopIteration as end:
            self._end()
            self._on_done(end.value)
        except AttnlabError as error:
            self._end()
            self._on_failed(str(error))
        except Exception as error:  # noqa: BLE001  # the caller waits for an answer
            sentence = report(error, self._doing).sentence
            self._end()
            self._on_failed(sentence)
        else:
            self._count += 1
            if call is not None:
                self._timer.stop()
                self._call = call
                call.then(partial(_start, self._timer))
            self._on_progress(self._count)

    def _step(self, steps: Iterator[Call[Any] | None]) -> Call[Any] | None:
        call, self._call = self._call, None
        return _advance(steps, call)


class Slices(QObject):
    """Draws one thing at a time in slices; a newer one replaces the one before.

    ``progressed`` carries the number of slices done, ``finished`` "" or a sentence that says what failed; ``stopped``
    is emitted when the work is cancelled.
    """

    progressed = Signal(int)
    finished = Signal(str)
    stopped = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._drawing: Drawing | None = None

    @property
    def running(self) -> bool:
        """Whether something is being drawn."""
        return self._drawing is not None and not self._drawing.done

    def start(self, steps: Iterator[Call[Any] | None], *, doing: str) -> None:
        """Start new work and cancel the work under way."""
        self.stop()
        self._drawing = draw(
            steps,
            self,
            on_done=lambda _: self.finished.emit(""),
            on_failed=self.finished.emit,
            doing=doing,
            progress=self.progressed.emit,
        )

    def stop(self) -> None:
        """Cancel the work under way, if any."""
        drawing, self._drawing = self._drawing, None
        if drawing is not None and not drawing.done:
            drawing.cancel()
            self.stopped.emit()


def draw(
    steps: Iterator[Call[Any] | None],
    owner: QObject,
    *,
    on_done: Callable[[Any], object],
    on_failed: Callable[[str], object],
    doing: str,
    progress: Callable[[int], object] | None = None,
) -> Drawing:
    """Take the steps of a generator one at a time, between user events; call this in the window's thread.

    A step yields None, or a :class:`Call` to wait for. ``on_done`` is called with the generator's return value, or
    ``on_failed`` with one sentence; ``progress`` with the number of steps done. ``doing`` completes "Something went
    wrong inside attnlab while …". The work ends with its ``owner``.
    """
    return Drawing(steps, owner, on_done, on_failed, progress or _unheard, doing)


def draw_now(steps: Iterator[Call[Any] | None]) -> Any:
    """Take all steps without a pause and return the generator's return value, where no window must stay responsive.

    Raises:
        Exception: any error of the generator.
    """
    call: Call[Any] | None = None
    while True:
        try:
            call = _advance(steps, call)
        except StopIteration as end:
            return end.value
        if call is not None:
            call.wait()


def _advance(steps: Iterator[Call[Any] | None], call: Call[Any] | None) -> Call[Any] | None:
    """Take the next step, with the result of the call that it waited for."""
    if call is None:
        return next(steps)
    try:
        result = call.result()
    except Exception as error:  # noqa: BLE001  # raised again where it was waited for
        return cast(Call[Any] | None, cast(Any, steps).throw(error))
    return cast(Call[Any] | None, cast(Any, steps).send(result))


def _start(timer: QTimer) -> None:
    if isValid(timer):  # it may have been deleted with its owner during the call
        timer.start()


def _run_caught(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    """Return the result and the error; the generator that waits for the call may handle the error."""
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001  # raised again where it is waited for
        return None, error


def _unheard(_: object) -> None:
    """Ignore a value."""
