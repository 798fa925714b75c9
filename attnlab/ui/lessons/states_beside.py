"""The state of the step before, beside the current one, where a step of a lesson asks for it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.ui.present.prefetch import Prefetch

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.slides import Slide
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.playground.playground import Playground


class StatesBeside(QObject):
    """Pins the state of the step before while the open step shows both; what the user has pinned comes back."""

    def __init__(self, playground: "Playground", player: "LessonPlayer", parent: QObject) -> None:
        super().__init__(parent)
        self._playground = playground
        self._ahead = Prefetch(playground, self)
        self._ahead.ready.connect(self._on_ready)
        self._wanted: Experiment | None = None
        self._pinned: Trace | None = None
        self._theirs: Trace | None = None
        player.slide_changed.connect(self._on_slide_changed)

    @Slot(object)
    def _on_slide_changed(self, slide: "Slide | None") -> None:
        self._wanted = slide.before if slide is not None and slide.step.beside is not None else None
        if self._wanted is None:
            self._put_back()
            return
        self._ahead.want((), self._wanted)
        self._on_ready()

    @Slot()
    def _on_ready(self) -> None:
        trace = self._ahead.find_trace(self._wanted) if self._wanted is not None else None
        if trace is None:
            return
        if self._playground.comparison.pinned is not self._pinned or self._pinned is None:
            self._theirs = self._playground.comparison.pinned
        self._pinned = trace
        self._playground.comparison.pin(trace)
        self._playground.comparison.look("both")

    def _put_back(self) -> None:
        if self._pinned is not None and self._playground.comparison.pinned is self._pinned:
            self._playground.comparison.pin(self._theirs)
        self._pinned = self._theirs = None
