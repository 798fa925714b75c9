"""A lens of the playground on paper: computed synchronously, and drawn as text and lines in the slide's free area."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QApplication, QGraphicsScene, QLayout

from attnlab.base.errors import AttnlabError
from attnlab.document.document import View
from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_content import SlideContent
from attnlab.lessons.lenses import LENSES
from attnlab.ui.base.themed import dress
from attnlab.ui.playground.lenses import make_lens
from attnlab.ui.present.lens_sheet import LEAST_ZOOM, can_scroll, find_largest_zoom

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.slides.slide_layout import Box

Job = tuple[Callable[[], Any], Callable[[Any], object], Callable[[str], object]]
"""A job, and the callbacks for its result and for the sentence that says why there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class LensPage(SlideContent):
    """The texts of a page with a lens, the lens's input, and the page with a map that replaces a missing lens."""

    lens: str = ""
    trace: "Trace | None" = None
    instead: SlideContent | None = None


class PaperLens:
    """A lens without a window: it is shown in its own scene, and ``finish`` runs its jobs."""

    def __init__(self, name: str, page: str, palette: Palette) -> None:
        self._jobs: list[Job] = []
        self._lens = make_lens(name, self._keep)
        dress(self._lens, palette)
        self._lens.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._lens.open_page(page)
        layout = self._lens.layout()
        if layout is not None:  # whose least size Qt would tell a window's platform, which may not be there
            layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._scene = QGraphicsScene()
        self._proxy = self._scene.addWidget(self._lens)

    def _keep(
        self,
        job: Callable[[], Any],
        on_done: Callable[[Any], object],
        on_failed: Callable[[str], object],
        latest: Hashable = None,
    ) -> None:
        self._jobs.append((job, on_done, on_failed))

    def finish(self, trace: "Trace") -> Iterator[None]:
        """Show a trace and run all resulting jobs, one between two yields."""
        self._lens.show_trace(trace, View())
        while self._jobs:
            yield
            job, on_done, on_failed = self._jobs.pop(0)
            try:
                result = job()
            except AttnlabError as error:
                on_failed(str(error))
            else:
                on_done(result)

    def draw(self, painter: QPainter, box: "Box", size_px: float) -> None:
        """Draw it over a part of a slide, enlarged as on the screen."""
        zoom = find_largest_zoom(box, size_px)
        self._resize(box, zoom)
        while zoom > LEAST_ZOOM and can_scroll(self._lens):
            zoom = max(zoom - 0.1, LEAST_ZOOM)
            self._resize(box, zoom)
        self._scene.render(painter, QRectF(box.x, box.y, box.width, box.height), self._scene.sceneRect())

    def _resize(self, box: "Box", zoom: float) -> None:
        rect = QRectF(0, 0, box.width / zoom, box.height / zoom)
        self._proxy.setGeometry(rect)
        self._scene.setSceneRect(rect)

    def let_go(self) -> None:
        """Delete the lens at once: when printing there may be no event loop to do it."""
        self._scene.clear()


def make_paper_lens(page: LensPage, palette: Palette) -> PaperLens | None:
    """Return the lens of a page; None if there is no such lens, or if a library it needs is missing."""
    name, _, sheet = page.lens.partition("/")
    if name not in LENSES or not isinstance(QCoreApplication.instance(), QApplication):
        return None
    try:
        return PaperLens(name, sheet, palette)
    except ImportError:  # pyqtgraph, which some lenses need
        return None
