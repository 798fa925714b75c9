"""A lens of the playground on a slide: enlarged for the class, and interactive."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QFrame, QGraphicsProxyWidget, QGraphicsScene, QGraphicsView, QScrollArea, QWidget

from attnlab.figures.palette import Palette
from attnlab.lessons.lenses import LENSES
from attnlab.ui.base.theme import BASE_PX
from attnlab.ui.base.themed import dress
from attnlab.ui.playground.lenses import make_lens

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View
    from attnlab.figures.slides.slide_layout import Box
    from attnlab.ui.playground.lenses.lens import Lens
    from attnlab.ui.playground.playground import Playground

LEAST_ZOOM = 1.0
LEAST_WIDTH, LEAST_HEIGHT = 860, 400
"""The least size of a lens, in its own pixels: it is not enlarged beyond that."""


class LensSheet(QGraphicsView):
    """Shows one lens at a time, created on first use; its jobs run in the playground's worker."""

    def __init__(self, playground: "Playground", parent: QWidget) -> None:
        super().__init__(parent)
        self._playground = playground
        self._lenses: dict[str, Lens] = {}
        self._shown: tuple[str, str, Trace | None] = ("", "", None)
        self._proxy: QGraphicsProxyWidget | None = None
        self.setScene(QGraphicsScene(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Lens")
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        for set_policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    @property
    def lens(self) -> "Lens | None":
        """The visible lens."""
        return self._lenses.get(self._shown[0])

    def open(self, name: str, palette: Palette) -> bool:
        """Show a lens by its name, with its page ("positions/order"); False if it or a library is missing."""
        name, _, page = name.partition("/")
        if name not in LENSES:
            return False
        try:
            lens = self._lenses.get(name) or self._make_lens(name)
        except ImportError:  # pyqtgraph, which some lenses need
            return False
        self._dress(lens, palette)
        if (name, page) != self._shown[:2]:
            self._take(lens)
            lens.open_page(page)
            self._shown = name, page, None
        return True

    def _dress(self, lens: "Lens", palette: Palette) -> None:
        lens.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        dress(lens, palette)
        self.setBackgroundBrush(QColor(palette.ground))

    def dress_lens(self, palette: Palette) -> None:
        """Give the lens another palette; it is in a scene of its own, so it does not read the window's."""
        if self.lens is not None:
            self._dress(self.lens, palette)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show the slide's numbers in the lens."""
        if self.lens is not None and trace is not self._shown[2]:
            self._shown = *self._shown[:2], trace
            self.lens.show_trace(trace, view)

    def place(self, box: "Box", size_px: float, shrunk: float = 1.0) -> None:
        """Fill a part of the slide, enlarged to the slide's font size or as far as the lens fits.

        A slide that is ``shrunk``, such as the one in the editor, shows the lens as large as the slide shows its text.
        """
        self.setGeometry(*(round(shrunk * length) for length in (box.x, box.y, box.width, box.height)))
        zoom = find_largest_zoom(box, size_px)
        self._enlarge(box, zoom, shrunk)
        while zoom > LEAST_ZOOM and self._can_scroll():
            zoom = max(zoom - 0.1, LEAST_ZOOM)
            self._enlarge(box, zoom, shrunk)

    def _enlarge(self, box: "Box", zoom: float, shrunk: float) -> None:
        self.resetTransform()
        self.scale(shrunk * zoom, shrunk * zoom)
        if self._proxy is not None:
            rect = QRectF(0, 0, box.width / zoom, box.height / zoom)
            self._proxy.setGeometry(rect)
            self.setSceneRect(rect)

    def _can_scroll(self) -> bool:
        """Whether the lens is smaller than its contents."""
        return self.lens is not None and can_scroll(self.lens)

    def _make_lens(self, name: str) -> "Lens":
        lens = make_lens(name, self._playground.run_for_lens)
        lens.edit_requested.connect(self._playground.document.edit)
        lens.gesture_requested.connect(self._playground.document.edit)
        self._lenses[name] = lens
        return lens

    def _take(self, lens: "Lens") -> None:
        self._let_go()
        self._proxy = self.scene().addWidget(lens)

    def _let_go(self) -> None:
        """Take the lens out of the scene, which would otherwise delete it with its item."""
        if self._proxy is not None:
            self._proxy.setWidget(None)  # type: ignore[arg-type]  # Qt documents None, the stubs do not
            self.scene().removeItem(self._proxy)
            self._proxy = None

    def forget(self) -> None:
        """Release every lens at the end of the presentation."""
        self._let_go()
        for lens in self._lenses.values():
            lens.deleteLater()
        self._lenses.clear()


def find_largest_zoom(box: "Box", size_px: float) -> float:
    """Return the zoom of a lens: to the slide's font size, or as far as it keeps its least size."""
    return max(min(size_px / BASE_PX, box.width / LEAST_WIDTH, box.height / LEAST_HEIGHT), LEAST_ZOOM)


def can_scroll(lens: "Lens") -> bool:
    """Return whether a lens is smaller than its contents."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    areas = [area for area in lens.findChildren(QScrollArea) if area.isVisible()]
    return any(area.verticalScrollBar().maximum() > 0 for area in areas)
