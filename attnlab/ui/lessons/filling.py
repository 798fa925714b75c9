"""Fills the placeholders of a lesson's text from the numbers that the playground shows."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from attnlab.ui.present.content import fill_text, has_earlier_numbers
from attnlab.ui.present.prefetch import Prefetch

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground


class Filling:
    """Gives access to the playground's numbers; ``ready`` says that those of the step before have been computed."""

    def __init__(self, playground: "Playground", parent: QObject) -> None:
        self._playground = playground
        self._ahead = Prefetch(playground, parent)
        self.ready = self._ahead.ready

    def find_trace(self) -> "Trace | None":
        """Return the trace of the open experiment, or None while it is computed."""
        reply = self._playground.reply
        if reply is None or reply.request.experiment is not self._playground.document.experiment:
            return None
        return reply.trace

    def begin(self, slide: "Slide") -> None:
        """Compute the numbers of the step before a slide, if one of its texts uses them."""
        self._ahead.want((), slide.before if has_earlier_numbers(slide) else None)

    def fill_text(self, text: str, slide: "Slide", trace: "Trace", markdown: bool = False) -> str:
        """Return a slide's text with its numbers; dots stand for numbers still being computed."""
        earlier = slide.before or trace.experiment
        before = trace if earlier is trace.experiment else self._ahead.find_trace(earlier)
        return fill_text(text, slide, trace, before, markdown)
