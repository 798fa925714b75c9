"""Keeps the contents of the slides shown last, so that going back and forth makes none anew."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from attnlab.ui.present.content import Moment, make_content

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.slides.lens_content import LensPicture
    from attnlab.figures.slides.slide_content import SlideContent
    from attnlab.lessons.slides import Slide

KEPT = 12
"""The number of slides kept as values."""


class ContentCache:
    """Makes contents, each once; ``is_kept`` says whether numbers are still kept elsewhere, else their slides go."""

    def __init__(self, is_kept: "Callable[[Trace | None], bool]") -> None:
        self._is_kept = is_kept
        self._made: dict[tuple[object, ...], tuple[Slide, Trace | None, Trace | None, SlideContent]] = {}

    def find(
        self,
        slide: "Slide",
        trace: "Trace | None",
        before: "Trace | None",
        own: "Trace | None",
        picture: "LensPicture | None",
        moment: Moment,
    ) -> "SlideContent":
        """Return the content of a slide at a moment, with the picture of its lens if there is one."""
        key = (id(slide), moment, id(trace), id(before), id(own), id(picture))
        known = self._made.pop(key, None)
        if known is None:
            made = make_content(slide, trace, before, moment, own)
            made = made if picture is None else replace(made, picture=picture)
        else:
            made = known[3]
        self._made[key] = slide, trace, before, made  # ids are theirs as long as they are kept
        while len(self._made) > KEPT:
            del self._made[next(iter(self._made))]
        self._made = {at: kept for at, kept in self._made.items() if kept[1] is trace or self._is_kept(kept[1])}
        return made
