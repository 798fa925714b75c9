"""Work that belongs in the window's thread, such as drawing: :func:`draw` does a slice of it between two events."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, TypeVarTuple, cast

from PySide6.QtCore import QObject, QTimer, Slot

from attnlab.errors import AttnlabError
from attnlab.fault_log import report
from attnlab.ui.base.jobs import Lane, run

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Call(Generic[T]):
    """A function called beside the window, from now on. A generator that yields it goes on with the result.

    An error of the function is raised in the generator.
    """

    def __init__(self, function: Callable[[*Ts], T], *arguments: *Ts, lane: Lane | None = None) -> None:
        self._came: tuple[T | None, BaseException | None] | None = None
        self._then: Callable[[], None] | None = None
        self._job = run(_caught, function, arguments, on_done=self._take, on_failed=_unheard, lane=lane)

    @property
    def came(self) -> tuple[T | None, BaseException | None] | None:
        """The result and the error, one of which is None; None while the call goes on."""
        return self._came

    def then(self, go_on: Callable[[], None]) -> None:
        """Go on when the call has ended."""
        self._then = go_on
        if self._came is not None:
            go_on()

    def cancel(self) -> None:
        """Let nobody hear of it."""
        self._then = None
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
        """Give it up: what the generator holds open is closed now, and nobody hears of it."""
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
        except Exception as error:  # noqa: BLE001  # somebody waits for an answer
            sentence = report(error, self._doing).sentence
            self._end()
            self._on_failed(sentence)
        else:
            self._count += 1
            if call is not None:
                self._timer.stop()
                self._call = call
                call.then(self._timer.start)
            self._on_progress(self._count)

    def _step(self, steps: Iterator[Call[Any] | None]) -> Call[Any] | None:
        """Take the next step, with what came of the call that was waited for."""
        call, self._call = self._call, None
        result, error = (call.came or (None, None)) if call is not None else (None, None)
        if error is not None:
            return cast(Call[Any] | None, cast(Any, steps).throw(error))
        return cast(Call[Any] | None, cast(Any, steps).send(result)) if call is not None else next(steps)


def draw(
    steps: Iterator[Call[Any] | None],
    owner: QObject,
    *,
    on_done: Callable[[Any], object],
    on_failed: Callable[[str], object],
    progress: Callable[[int], object] | None = None,
    doing: str = "",
) -> Drawing:
    """Take the steps of a generator one at a time, between what the user does; call this in the window's thread.

    A step yields None, or a :class:`Call` to wait for. ``on_done`` is called with what the generator returns, or
    ``on_failed`` with one sentence; ``progress`` with how many steps were taken. ``doing`` completes "Something went
    wrong while …". It ends with its ``owner``.
    """
    return Drawing(steps, owner, on_done, on_failed, progress or _unheard, doing)


def _caught(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    """Return the result and the error: the generator that waits for the call may know what to do about it."""
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001  # raised again where it is waited for
        return None, error


def _unheard(_: object) -> None:
    """Need not be told."""
