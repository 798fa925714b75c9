"""The numbers of the current slide: its own state, or after a live edit those of the open experiment."""

from dataclasses import replace
from typing import TYPE_CHECKING

from attnlab.document.scene import Scene
from attnlab.ui.present.content import fill_text

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.slides import Slide
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.present.prefetch import Prefetch


class SlideNumbers:
    """Finds traces among those computed ahead, and compares the open experiment with the slide's own."""

    def __init__(self, playground: "Playground", player: "LessonPlayer", ahead: "Prefetch") -> None:
        self._playground, self._player, self._ahead = playground, player, ahead
        self._start = playground.document.scene
        self._stale: object = None

    def enter_slide(self) -> None:
        """Note that another slide was entered: the reply on the screen is that of the slide before."""
        self._stale = self._playground.reply

    @property
    def own(self) -> Scene:
        """The slide's own state; a tour's is the one with which the presentation began."""
        slide, now = self._player.slide, self._playground.document.scene
        if slide is None or slide.experiment is None:
            return self._start
        return now if slide.experiment is now.experiment else replace(now, experiment=slide.experiment)

    @property
    def changed(self) -> bool:
        """Whether the numbers were changed since the slide was entered."""
        return self.own.experiment is not self._playground.document.experiment

    def restore(self) -> None:
        """Restore the slide's own state, as an undoable edit."""
        if self.changed:
            own = self.own
            self._playground.document.edit_scene("Back to the step’s state", lambda _: own)

    def find_trace(self) -> "Trace | None":
        """Return the open experiment's numbers; while these are computed after an edit, the earlier ones."""
        experiment, reply = self._playground.document.experiment, self._playground.reply
        kept = self._ahead.find_trace(experiment)
        if kept is not None or reply is None:
            return kept
        if reply.request.experiment is experiment:
            return reply.trace
        return reply.trace if self.changed and reply is not self._stale else None

    def find_entered_trace(self, slide: "Slide") -> "Trace | None":
        """Return the numbers with which another slide will be entered; None while they are computed."""
        return self.find_trace() if slide.experiment is None else self._ahead.find_trace(slide.experiment)

    def find_earlier_trace(self, slide: "Slide", trace: "Trace | None") -> "Trace | None":
        """Return the numbers of the step before; None while they are computed."""
        return trace if slide.before is None else self._ahead.find_trace(slide.before)

    def find_own_trace(self, slide: "Slide", trace: "Trace | None") -> "Trace | None":
        """Return the slide's own numbers after a live edit; while they are computed, the present ones."""
        own = None if slide.experiment is None else self._ahead.find_trace(slide.experiment)
        return own or trace

    def fill(self, text: str, slide: "Slide", *, markdown: bool = False) -> str:
        """Return a text of a slide with its numbers, as far as they are known: those of other slides are not."""
        trace = self.find_trace() if slide is self._player.slide else None
        return fill_text(text, slide, trace, self.find_earlier_trace(slide, trace), markdown=markdown)
