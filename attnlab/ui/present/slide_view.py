"""Paints a slide: a picture prepared in advance, with a fade of new cells, a black screen."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QVariantAnimation, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap, QRegion, QResizeEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.slides.lens_content import Plane
from attnlab.figures.slides.slide_content import SlideContent, SlideMap
from attnlab.figures.slides.slide_layout import Box, Sheet
from attnlab.figures.slides.slide_painter import Drawn, draw_slide
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.motion import motion_ms
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.present.formulas import FORMULAS
from attnlab.ui.present.slide_motion import Motion, find_travel, find_turn
from attnlab.ui.present.spoken_slide import describe_choices, name_slide_cell
from attnlab.ui.widgets.maps.spoken_maps import MapCell, join_cell, move_cell, split_cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOTION_MS, TURN_MS = 180, 300
VEIL = 0.55
"""The veil over new cells at the start of a fade: their numbers are readable from the first frame."""
PICTURES, MOST_PIXELS = 6, 30_000_000
LARGE_BYTES = 32 << 20
"""For larger maps only the visible picture is kept, with its numbers."""
RING_PX = 3.0


@guarded
class SlideView(HasCells, FollowsTheme, QWidget):
    """Shows one slide; ``drawn`` carries its layout. The cells of its main map are named for screen readers."""

    painted = Signal()
    """The newest slide is on screen."""
    laid_out = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._zoom = 1.0
        self._content: SlideContent | None = None
        self._pictures: dict[int, tuple[SlideContent, QPixmap, Drawn]] = {}
        self._fresh: list[QRectF] = []
        self._cover = ""
        self._insets: tuple[QPixmap | None, ...] = (None, None, None)
        self._walked: MapCell | None = None
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(MOTION_MS)
        self._motion.setStartValue(VEIL)
        self._motion.setEndValue(0.0)
        self._motion.valueChanged.connect(self._on_motion)
        self._arrows: Plane | None = None
        self._way: Motion | None = None
        self._turning: tuple[SlideContent, QPixmap, Drawn] | None = None
        self._turn = QVariantAnimation(self)
        self._turn.setDuration(TURN_MS)
        self._turn.valueChanged.connect(self._on_turned)
        self._turn.finished.connect(self.finish)
        self.framed = False
        """Whether a hairline surrounds the slide, to separate it from others."""
        self.ringed = False
        """Whether the frame is a ring in the accent."""
        self.drawn_height = 0
        """The height for which the slide is laid out before it is scaled; 0: that of the widget."""
        self.reduced_motion = False
        """The user's setting; the system's preference is respected too."""
        self.drawn = Drawn()
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)

    @property
    def content(self) -> SlideContent | None:
        """The visible content."""
        return self._content

    @property
    def sheet(self) -> Sheet:
        """The slide's rectangle."""
        if self.drawn_height:
            return Sheet(0, 0, self.drawn_height * max(self.width(), 1) / max(self.height(), 1), self.drawn_height)
        return Sheet(0, 0, max(self.width(), 1), max(self.height(), 1), self._zoom)

    @property
    def moving(self) -> bool:
        """Whether a fade is running."""
        return self._motion.state() == QVariantAnimation.State.Running

    def restyle(self) -> None:
        """Draw the slides again."""
        self._forget()

    def set_zoom(self, zoom: float) -> None:
        """Set the font size."""
        self._zoom = zoom
        self._forget()

    def _forget(self) -> None:
        self._pictures.clear()
        self.finish()
        if self._content is not None:
            self.drawn = self._find_picture(self._content)[2]
            self.laid_out.emit()
        self.update()

    def show_content(self, content: SlideContent, soft: bool = False) -> None:
        """Show a slide; ``soft`` fades newly revealed cells in. The arrows of a lens move on from the slide before."""
        before, self._content = self._content, content
        self.finish()
        self.drawn = self._find_picture(content)[2]
        if before is not None and not self.reduced_motion and self.isVisible() and motion_ms(self):
            if soft:
                self._fresh = self._find_new_cells(before, content)
            if self._fresh:
                self._motion.start()
            turn = find_turn(before, content) if soft else None
            self._begin_motion(turn or find_travel(self._arrows, content))
        if isinstance(content.picture, Plane):
            self._arrows = content.picture
        elif not content.beside:  # a slide of arrows whose plane is still computed goes on from the last
            self._arrows = None
        self._describe(content)
        self.laid_out.emit()
        self.update()

    @Slot(object)
    def prepare(self, content: SlideContent) -> None:
        """Draw a slide in advance, so that its key shows it at once."""
        if not self.size().isEmpty():
            self._find_picture(content)

    def _begin_motion(self, way: Motion | None) -> None:
        """Move the arrows of a lens to where they belong."""
        if way is not None:
            self._way = way
            self._turn.setStartValue(float(way.start))
            self._turn.setEndValue(float(way.end))
            self._turn.start()

    @Slot(object)
    def _on_turned(self, turned: float) -> None:
        if self._way is not None and self.turning:
            self._turning = self._draw(self._way.make(turned))
            self.update()

    @property
    def turning(self) -> bool:
        """Whether arrows are moving."""
        return self._turn.state() == QVariantAnimation.State.Running

    @Slot()
    def finish(self) -> None:
        """End all motion: show all new cells, and arrows where they belong."""
        self._motion.stop()
        self._turn.stop()
        self._way = None
        if self._turning is not None:
            self._turning = None
            self.update()
        if self._fresh:
            self._fresh = []
            self.update()

    def set_cover(self, cover: str) -> None:
        """Cover everything with "black" or "white"; "" uncovers it."""
        self._cover = cover
        self.update()

    @property
    def cover(self) -> str:
        """The colour that covers the slide: "", "black" or "white"."""
        return self._cover

    def set_insets(self, side: QPixmap | None, table: QPixmap | None, answers: QPixmap | None) -> None:
        """Show pictures of the widgets above the slide: of the lens, the table and the fields for answers."""
        self._insets = side, table, answers
        self.update()

    def _find_picture(self, content: SlideContent) -> tuple[SlideContent, QPixmap, Drawn]:
        """Return the picture of a slide, drawn on first use."""
        known = self._pictures.pop(id(content), None)
        if known is None:
            known = self._draw(content)
        self._pictures[id(content)] = known
        large = content.main is not None and content.main.data.values.nbytes > LARGE_BYTES
        while len(self._pictures) > (1 if large else self._count_kept_pictures()):
            del self._pictures[next(iter(self._pictures))]
        return known

    def _count_kept_pictures(self) -> int:
        pixels = self.width() * self.height() * self.devicePixelRatioF() ** 2
        return max(2, min(PICTURES, int(MOST_PIXELS / max(pixels, 1))))

    def _draw(self, content: SlideContent) -> tuple[SlideContent, QPixmap, Drawn]:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(QSize(max(self.width(), 1), max(self.height(), 1)) * ratio)
        picture.setDevicePixelRatio(ratio)
        painter = QPainter(picture)
        if self.drawn_height:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.scale(self.height() / self.drawn_height, self.height() / self.drawn_height)
        try:
            drawn = draw_slide(painter, self.sheet, content, palette_of(self), FORMULAS)
        finally:
            painter.end()  # Qt crashes if the picture goes before its painter
        return content, picture, drawn

    def _find_new_cells(self, before: SlideContent, after: SlideContent) -> list[QRectF]:
        """Return the rectangles of newly revealed cells."""
        old, new, grid = before.main, after.main, self.drawn.grid
        if old is None or new is None or grid is None or old.data.values.shape != new.data.values.shape:
            return []
        hidden = _fill_mask(old.data.unknown, old.data.values.shape) & ~_fill_mask(
            new.data.unknown, new.data.values.shape
        )
        if hidden.all():
            return [QRectF(*grid.rect(index, None, None)) for index in range(grid.count)]
        rows = [(index, row) for index, row in np.argwhere(hidden.any(-1)).tolist()]
        found = []
        for index, row in rows:
            columns = np.flatnonzero(hidden[index, row])
            x, y, _, height = grid.rect(index, row, int(columns[0]))
            found.append(QRectF(x, y, (int(columns[-1]) - int(columns[0]) + 1) * grid.cell_width, height))
        return found

    def _describe(self, content: SlideContent) -> None:
        told = content.text + (content.answer if content.answered else ())
        words = " ".join("".join(run.text for run in each.runs) for each in told)
        self.setAccessibleName(f"{content.heading}: {content.title}")
        self.setAccessibleDescription(" ".join(filter(None, (words, content.ask, *describe_choices(content)))))
        if self.current_cell is None:
            self._walked = None

    @property
    def _main(self) -> SlideMap | None:
        return self._content.main if self._content is not None and self.drawn.grid is not None else None

    def _shape(self) -> tuple[int, int, int]:
        return self._main.data.values.shape if self._main is not None else (0, 0, 0)

    def count_cells(self) -> int:
        return int(self._main.data.values.size) if self._main is not None else 0

    def name_cell(self, place: int) -> str:
        assert self._main is not None
        return name_slide_cell(self._main, place)

    def locate_cell(self, place: int) -> QRectF:
        grid, scale = self.drawn.grid, self._scale
        x, y, width, height = grid.rect(*split_cell(self._shape(), place)) if grid is not None else (0.0,) * 4
        return QRectF(x * scale, y * scale, width * scale, height * scale)

    def find_cell(self, at: QPointF) -> int | None:
        grid, scale = self.drawn.grid, self._scale
        hit = grid.hit(at.x() / scale, at.y() / scale) if grid is not None and scale else None
        return join_cell(self._shape(), hit) if hit is not None and self._main is not None else None

    @property
    def current_cell(self) -> int | None:
        shape = self._shape()
        inside = self._walked is not None and all(at < most for at, most in zip(self._walked, shape, strict=True))
        return join_cell(shape, self._walked) if inside and self._walked is not None else None

    @property
    def _scale(self) -> float:
        return self.height() / self.drawn_height if self.drawn_height else 1.0

    def walk(self, event: QKeyEvent) -> bool:
        """Go to the cell of the main map to which a key with Ctrl leads, and announce it; False for any other key."""
        cell = move_cell(event, self._walked, self._shape(), plain=False)
        if cell is None:
            return False
        self._walked = cell
        announce(self.name_cell(join_cell(self._shape(), cell)), self)
        self.update()
        return True

    @Slot()
    def _on_motion(self) -> None:
        region = QRegion()
        for rect in self._fresh:
            region += rect.toAlignedRect()
        self.update(region)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._cover or self._content is None:
            painter.fillRect(
                event.rect(), QColor({"black": "#000000", "white": "#FFFFFF"}.get(self._cover, palette_of(self).ground))
            )
            return
        _, picture, _ = self._turning or self._find_picture(self._content)
        painter.drawPixmap(0, 0, picture)
        if self._fresh and self.moving:
            veil = QColor(palette_of(self).ground)
            veil.setAlphaF(float(self._motion.currentValue() or 0.0))
            for rect in self._fresh:
                painter.fillRect(rect, veil)
        boxes = self.drawn.side, self.drawn.table, self.drawn.answers or self.drawn.side
        for inset, box in zip(self._insets, boxes, strict=True):
            if inset is not None and box is not None:
                self._paint_inset(painter, inset, box)
        if self.framed:
            self._paint_frame(painter)
        if (place := self.current_cell) is not None:
            painter.setPen(QPen(QColor(palette_of(self).ink), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.locate_cell(place))
        painter.end()
        self.painted.emit()

    def _paint_frame(self, painter: QPainter) -> None:
        palette, width = palette_of(self), RING_PX if self.ringed else 1.0
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self.ringed)
        painter.setPen(QPen(QColor(palette.accent if self.ringed else palette.hatch), width))
        half = width / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), 3 * width, 3 * width)

    def _paint_inset(self, painter: QPainter, inset: QPixmap, box: Box) -> None:
        scale, keep = self._scale, Qt.AspectRatioMode.KeepAspectRatio
        size = inset.deviceIndependentSize().scaled(box.width * scale, box.height * scale, keep)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(QRectF(QPointF(box.x * scale, box.y * scale), size), inset, QRectF(inset.rect()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._forget()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._forget()

    def hideEvent(self, event: QEvent) -> None:
        self.finish()


def _fill_mask(unknown: "NDArray[np.bool_] | None", shape: tuple[int, ...]) -> "NDArray[np.bool_]":
    return np.zeros(shape, bool) if unknown is None else np.broadcast_to(unknown, shape)
