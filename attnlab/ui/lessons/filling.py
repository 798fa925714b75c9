"""Fills the placeholders of a lesson's text from the numbers that the playground shows."""

from typing import TYPE_CHECKING

from attnlab.compute.engine import compute

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.trace import Trace
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.playground.workspace import Playground


class Filling:
    """Knows the numbers shown, and computes those of the step before when a text asks for them."""

    def __init__(self, playground: "Playground") -> None:
        self._playground = playground
        self._before: tuple[Experiment, Trace] | None = None

    def trace(self) -> "Trace | None":
        """Return the numbers of what is open, or None while they are on their way."""
        reply = self._playground.reply
        if reply is None or reply.request.experiment is not self._playground.document.experiment:
            return None
        return reply.trace

    def filled(self, player: "LessonPlayer", text: str, trace: "Trace") -> str:
        """Return a text of the player's slide with its numbers in it; what cannot be filled stays as it is written."""
        from attnlab.lessons.slides import filled

        if player.slide is None or "{{" not in text:
            return text
        return filled(text, trace, self._trace_before(player, trace) if "before." in text else None, player.slide)

    def _trace_before(self, player: "LessonPlayer", trace: "Trace") -> "Trace":
        earlier = player.slide.before if player.slide is not None else None
        if earlier is None or earlier is trace.experiment:
            return trace
        if self._before is None or self._before[0] is not earlier:
            scene = self._playground.document.scene
            self._before = earlier, compute(earlier, scene.device, scene.dtype)
        return self._before[1]
