"""The lens of the slide in the editor: its picture, or for a lens without a picture the lens itself above the slide."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from attnlab.document.document import View
from attnlab.ui.base.themed import palette_of
from attnlab.ui.present.lens_pictures import LensPictures
from attnlab.ui.present.lens_sheet import LensSheet
from attnlab.ui.present.lens_values import find_shown

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.slides.slide_content import SlideContent
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.present.slide_view import SlideView


class PreviewLens(QObject):
    """Shows the lens of a step as the class will see it; ``ready`` says that its picture was computed."""

    ready = Signal()

    def __init__(self, playground: "Playground", view: "SlideView") -> None:
        super().__init__(view)
        self._playground, self._view = playground, view
        self._pictures = LensPictures(playground, self)
        self._pictures.ready.connect(self.ready)
        self.sheet: LensSheet | None = None
        """The lens above the slide, made on first use."""
        view.laid_out.connect(self._place)

    def show_slide(self, slide: "Slide", trace: "Trace", content: "SlideContent", map_slide: "SlideContent") -> None:
        """Show a slide with room for its lens, and in it the lens; ``map_slide`` if the lens cannot be made."""
        lens = slide.step.lens or ""
        if not lens or self._pictures.has_picture(lens, trace):
            self.hide()
            picture = self._pictures.find(lens, trace, find_shown(slide), wanted=True) if lens else None
            self._view.show_content(content if picture is None else replace(content, picture=picture))
            return
        if self.sheet is None:
            self.sheet = LensSheet(self._playground, self._view)
            self.sheet.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        usable = self.sheet.open(lens, palette_of(self._view))
        self._view.show_content(content if usable else map_slide)
        if usable:
            self.sheet.show_trace(trace, View())
        self.sheet.setVisible(usable)

    def hide(self) -> None:
        """Show no lens above the slide."""
        if self.sheet is not None:
            self.sheet.hide()

    @Slot()
    def _place(self) -> None:
        """Place the lens in the free area of the slide, in the slide's scale."""
        side, sheet = self._view.drawn.side, self._view.sheet
        if self.sheet is not None and side is not None:
            self.sheet.dress_lens(palette_of(self._view))
            self.sheet.place(side, sheet.body, self._view.height() / sheet.height)
