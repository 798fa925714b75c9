"""The way of the numbers: each experiment is computed beside the window, then shown, and then explained."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal, Slot

from attnlab.attention.stages.remarks import find_oddities
from attnlab.compute.service import ComputeService, Reply
from attnlab.document.document import Document, View, fit_view

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.ui.playground.columns import Columns
    from attnlab.ui.playground.explain_panel import ExplainPanel
    from attnlab.ui.playground.lens_area import LensArea
    from attnlab.ui.playground.remark_strip import RemarkStrip
    from attnlab.ui.playground.step_bar import StepBar

EXPLAIN_MS = 50
"""The least time between two explanations, so that a drag paints the cards more often than Explain."""


@dataclass(frozen=True, slots=True)
class Views:
    """What shows numbers."""

    remarks: "RemarkStrip"
    lenses: "LensArea"
    explain: "ExplainPanel"
    step_bar: "StepBar"
    body: "Columns"


class LiveNumbers(QObject):
    """Requests the numbers of the open experiment at each change, and shows each reply; Explain follows the cards."""

    computed = Signal(object)
    """The canvas has the numbers of this reply; Explain follows once they are painted."""
    explained = Signal()
    """Explain has the newest numbers too."""

    def __init__(self, document: Document, service: ComputeService, parent: QObject) -> None:
        super().__init__(parent)
        self._document, self._service = document, service
        document.scene_changed.connect(self.request)  # first: the worker computes while the views change
        self.reply: Reply | None = None
        self.warning = ""
        """The sentence that is shown about the newest numbers, such as an overflow."""
        self._explaining, self._since = QTimer(self, singleShot=True), QElapsedTimer()
        self._explaining.timeout.connect(self._explain)

    def show_on(self, views: Views) -> None:
        """Show replies and changes of the view on these."""
        self._views = views
        self._document.view_changed.connect(self._on_view_changed)
        self._service.computed.connect(self._on_computed)

    @Slot()
    def request(self) -> None:
        """Have the open experiment computed."""
        scene, view = self._document.scene, self._document.view
        self._service.request(scene.experiment, scene.device, scene.dtype, None, view.head == "mean")

    def find_trace(self) -> "Trace | None":
        """Return the numbers on screen; None before the first."""
        return self.reply.trace if self.reply is not None else None

    @property
    def up_to_date(self) -> bool:
        """Whether the numbers of the open experiment are on the cards and in Explain."""
        if self.reply is None or self._explaining.isActive():
            return False
        asked, scene = self.reply.request, self._document.scene
        return asked.experiment is scene.experiment and (asked.device, asked.dtype) == (scene.device, scene.dtype)

    def stop(self) -> None:
        """Explain nothing more."""
        self._explaining.stop()

    @Slot(object)
    def _on_computed(self, reply: Reply) -> None:
        if reply.trace is None:
            self._on_failed(reply)
            return
        is_first, self.reply = self.reply is None, reply
        if reply.request.id == self._service.newest:
            self._document.note_computed()
        self._show(reply, reply.trace)
        self._warn(" ".join(reply.warnings))
        past = self._since.elapsed() if self._since.isValid() else EXPLAIN_MS
        self._explaining.start(max(0, EXPLAIN_MS - past))  # 0: as soon as the cards are painted
        if is_first:
            self._explain()  # the first picture is whole
        self.computed.emit(reply)

    def _show(self, reply: Reply, trace: "Trace") -> None:
        views, computed = self._views, reply.request.experiment  # its shape may differ from the open experiment's
        view = fit_view(self._document.view, computed)
        views.remarks.show_sentences(find_oddities(trace.experiment, reply.request.dtype))
        views.lenses.canvas.show_trace(trace, view)
        views.lenses.show_trace(trace, view)
        views.step_bar.show_reply(reply, view)
        views.body.make_room()

    @Slot()
    def _explain(self) -> None:
        """Explain the numbers that the cards show: after them, as they must follow a drag."""
        self._explaining.stop()
        self._since.start()
        if self.reply is not None and self.reply.trace is not None:
            view = fit_view(self._document.view, self.reply.request.experiment)
            self._views.explain.show_trace(self.reply.trace, view)
        self.explained.emit()

    @Slot(object)
    def _on_view_changed(self, view: View) -> None:
        if self.reply is None or self.reply.request.experiment is not self._document.experiment:
            return  # the trace that fits this view is being computed, and will be shown with it
        views = self._views
        views.lenses.canvas.show_view(view)
        views.lenses.show_view(view)
        if self._explaining.isActive():
            self._explain()
        else:
            views.explain.show_view(view)
        views.step_bar.show_view(view)
        views.body.make_room()

    def _warn(self, sentence: str) -> None:
        """Show a warning about overflow, or clear one that no longer applies."""
        if sentence or self._views.step_bar.message == self.warning != "":
            self._views.step_bar.show_message(sentence)
        self.warning = sentence

    def _on_failed(self, reply: Reply) -> None:
        """Show the reason, return to the previous state, and remove the failed state from the history."""
        if reply.request.id != self._service.newest:
            return  # a newer request has replaced the failed one
        self._document.refuse()
        self._views.step_bar.show_message(reply.error)
