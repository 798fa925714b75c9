"""The motion of arrows on slides: circles that turn from word to word, and planes from one slide to the next."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QEasingCurve

from attnlab.figures.arrows.arrow_blend import blend_arrows, find_starts
from attnlab.figures.slides.lens_content import Plane
from attnlab.figures.slides.slide_content import SlideContent


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion from one value to another; ``make`` returns the slide at a value between them."""

    start: float
    end: float
    make: Callable[[float], SlideContent]


def find_turn(before: SlideContent, content: SlideContent) -> Motion | None:
    """Return the turn of a lens's arrows from one word to the next; None unless only the word differs."""
    same = content.picture is not None and content.picture is before.picture
    if not same or before.turned is None or content.turned is None or before.turned == content.turned:
        return None
    return Motion(before.turned, content.turned, lambda turned: replace(content, turned=turned))


def find_travel(before: Plane | None, content: SlideContent) -> Motion | None:
    """Return the way of a plane's arrows from the plane shown before; None without other arrows."""
    after = content.picture
    if before is None or not isinstance(after, Plane) or before is after or before.arrows == after.arrows:
        return None
    starts, curve = find_starts(before.arrows, after.arrows), QEasingCurve(QEasingCurve.Type.InOutCubic)

    def make(share: float) -> SlideContent:
        moving = blend_arrows(starts, after.arrows, curve.valueForProgress(share))
        return replace(content, picture=replace(after, moving=moving))

    return Motion(0.0, 1.0, make)
