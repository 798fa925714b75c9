"""Fills the placeholders of a lesson's text from the numbers that the playground shows."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from attnlab.ui.present.content import Moment, fill_text, find_covering, has_earlier_numbers, has_fixed_sentences
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
        """Compute the numbers of the step before a slide and its own, if its texts use them."""
        own = (slide.experiment,) if has_fixed_sentences(slide) else ()
        self._ahead.want(own, slide.before if has_earlier_numbers(slide) else None)

    def fill_text(
        self, text: str, slide: "Slide", trace: "Trace", markdown: bool = False, moment: Moment | None = None
    ) -> str:
        """Return a slide's text with its numbers; dots stand for numbers still being computed.

        At a ``moment``, numbers that are covered then are marked, and sentences about other numbers than the present.
        """
        earlier = slide.before or trace.experiment
        before = trace if earlier is trace.experiment else self._ahead.find_trace(earlier)
        if moment is None:
            return fill_text(text, slide, trace, before, markdown)
        is_changed = slide.experiment is not None and slide.experiment is not trace.experiment
        own = (self._ahead.find_trace(slide.experiment) or trace) if is_changed and slide.experiment else None
        return fill_text(text, slide, trace, before, markdown, find_covering(slide, trace, moment), own)
