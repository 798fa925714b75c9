"""The lens of the current slide: its picture, how many words that has walked, its labels, whether it is operated."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from attnlab.ui.present.lens_pictures import LensPictures
from attnlab.ui.present.lens_values import ROTATION, begins_before_answer, count_words, find_shown

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.slides.lens_content import LensPicture
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground


class SlideLens(QObject):
    """Knows how the lens of a slide is shown; ``ready`` says that its picture was computed."""

    ready = Signal()

    def __init__(self, playground: "Playground", parent: QObject) -> None:
        super().__init__(parent)
        self._playground = playground
        self._pictures = LensPictures(playground, self)
        self._pictures.ready.connect(self.ready)
        self.usable = True
        """Whether lenses can be shown: not without a library that one of them needs."""
        self.is_operated = False
        """Whether the lens is shown as in the window, where it can be operated."""
        self.labels = True
        self.turned = 0
        """How many words the picture has walked."""

    def enter(self, slide: "Slide", *, at_end: bool) -> None:
        """Begin with a slide as it is entered: at the beginning of its walk, or at the end."""
        self.is_operated, self.labels = False, True
        self.turned = self.count_words(slide) if at_end else 0

    def count_words(self, slide: "Slide") -> int:
        """Return how many words the lens of a slide walks before the next frame or the answer."""
        if not self.usable or self.is_operated:
            return 0
        return count_words(slide.step.lens or "", slide.experiment or self._playground.document.experiment)

    def begins_before_answer(self, slide: "Slide") -> bool:
        """Return whether the lens of a slide is shown while it asks."""
        return begins_before_answer(slide.step.lens or "", slide.experiment or self._playground.document.experiment)

    def find_picture(self, slide: "Slide", trace: "Trace | None", *, wanted: bool) -> "LensPicture | None":
        """Return what the lens of a slide shows; computed only if it is ``wanted``."""
        if trace is None or self.is_operated:
            return None
        return self._pictures.find(slide.step.lens or "", trace, find_shown(slide), wanted=wanted)

    def is_drawn(self, slide: "Slide", trace: "Trace | None") -> bool:
        """Return whether the lens of a slide is drawn, now or as soon as it is computed."""
        return not self.is_operated and self._pictures.has_picture(slide.step.lens or "", trace)

    def toggle_labels(self, slide: "Slide") -> bool:
        """Hide or show the labels; False for a lens without labels to hide."""
        if slide.step.lens != ROTATION:
            return False
        self.labels = not self.labels
        return True
