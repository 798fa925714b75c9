"""Fills the placeholders of a lesson's text from the numbers that the playground shows."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from attnlab.ui.present.content import filled, looks_back
from attnlab.ui.present.prefetch import Prefetch

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground


class Filling:
    """Knows the numbers shown; those of the step before come from the worker: ``ready`` says that they are there."""

    def __init__(self, playground: "Playground", parent: QObject) -> None:
        self._playground = playground
        self._ahead = Prefetch(playground, parent)
        self.ready = self._ahead.ready

    def trace(self) -> "Trace | None":
        """Return the numbers of what is open, or None while they are on their way."""
        reply = self._playground.reply
        if reply is None or reply.request.experiment is not self._playground.document.experiment:
            return None
        return reply.trace

    def begin(self, slide: "Slide") -> None:
        """Have the numbers of the step before a slide computed, if a text of it asks for them."""
        self._ahead.want((), slide.before if looks_back(slide) else None)

    def filled(self, text: str, slide: "Slide", trace: "Trace", markdown: bool = False) -> str:
        """Return a text of a slide with its numbers in it; dots for those that are on their way."""
        earlier = slide.before or trace.experiment
        before = trace if earlier is trace.experiment else self._ahead.trace(earlier)
        return filled(text, slide, trace, before, markdown)
