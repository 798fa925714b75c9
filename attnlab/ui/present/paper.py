"""The pages of a printed lesson: a slide a page, or several on a sheet of paper, with the notes below them."""

from dataclasses import dataclass

from PySide6.QtCore import QMarginsF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPageLayout, QPageSize, QPainter, QPdfWriter, QPen

from attnlab.base.errors import AttnlabError
from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_markdown import read_paragraphs, split_note_lines
from attnlab.figures.slides.slide_text import Text

WIDTH, HEIGHT, DPI = 1920, 1080, 144
"""The size of a page with one slide in dots, and dots per inch: 13⅓ × 7½ inches, as usual for slides."""
PAPER_DPI = 300
A4 = QSizeF(210, 297)
"""The size of a sheet for several slides, in millimetres."""
MARGIN, GAP = 0.06, 0.04
"""The margins of a sheet and the space between slides, in widths of the sheet."""
NOTE_POINTS = (12.0, 11.0, 10.0, 9.0, 8.0, 7.0)
GRIDS = {1: (1, 1), 2: (1, 2), 4: (2, 2), 6: (2, 3)}
"""Columns and rows of slides for each number of slides a page."""
MOST_WITH_NOTES = 2


@dataclass(frozen=True, slots=True)
class Paper:
    """How a lesson is printed: with ``notes``, and with 1, 2, 4 or 6 slides a page."""

    notes: bool = False
    per_page: int = 1

    def __post_init__(self) -> None:
        if self.per_page not in GRIDS:
            raise AttnlabError(f"{self.per_page} slides a page are not possible; use 1, 2, 4 or 6.")
        if self.notes and self.per_page > MOST_WITH_NOTES:
            raise AttnlabError(f"Notes need room: print at most {MOST_WITH_NOTES} slides a page with them.")

    @property
    def is_slide(self) -> bool:
        """Whether a page is a slide, not a sheet of paper."""
        return self.per_page == 1 and not self.notes

    def set_up(self, writer: QPdfWriter) -> None:
        """Set resolution and size of the pages; without margins, which the slides have themselves."""
        size, portrait = QPageSize(A4, QPageSize.Unit.Millimeter, "A4"), QPageLayout.Orientation.Portrait
        if self.is_slide:
            inches = QSizeF(WIDTH / DPI, HEIGHT / DPI)
            size = QPageSize(inches, QPageSize.Unit.Inch, "Slide", QPageSize.SizeMatchPolicy.ExactMatch)
        writer.setResolution(DPI if self.is_slide else PAPER_DPI)
        turned = QPageLayout.Orientation.Landscape if self.per_page == 4 else portrait
        writer.setPageLayout(QPageLayout(size, turned, QMarginsF(0, 0, 0, 0)))

    def list_places(self, width: float, height: float) -> list[QRectF]:
        """Return the places of slides with their notes on a page of a size in dots, in reading order."""
        if self.is_slide:
            return [QRectF(0, 0, width, height)]
        columns, rows = GRIDS[self.per_page]
        margin, gap = MARGIN * width, GAP * width
        across = (width - 2 * margin - gap * (columns - 1)) / columns
        down = (height - 2 * margin - gap * (rows - 1)) / rows
        return [
            QRectF(margin + column * (across + gap), margin + row * (down + gap), across, down)
            for row in range(rows)
            for column in range(columns)
        ]

    def find_sheet(self, place: QRectF) -> Sheet:
        """Return the slide within a place: at its top, as wide as it can be."""
        if self.is_slide:
            return Sheet(place.x(), place.y(), place.width(), place.height())
        height = min(place.width() * HEIGHT / WIDTH, place.height())
        width = height * WIDTH / HEIGHT
        return Sheet(place.x() + (place.width() - width) / 2, place.y(), width, height)

    def finish(self, painter: QPainter, place: QRectF, notes: str, palette: Palette) -> None:
        """Draw a hairline around a slide on paper, and its notes below it, in the largest type in which they fit."""
        if self.is_slide:
            return
        sheet = self.find_sheet(place)
        painter.setPen(QPen(QColor(palette.hatch), PAPER_DPI / 150))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(sheet.x, sheet.y, sheet.width, sheet.height))
        if not self.notes or not notes:
            return
        room = place.height() - sheet.height - 0.5 * GAP * place.width()
        paragraphs = tuple(each for line in split_note_lines(notes) for each in read_paragraphs(line))
        for points in NOTE_POINTS:
            text = Text(paragraphs, points * PAPER_DPI / 72, place.width(), palette)
            if text.height <= room:
                break
        text.draw(painter, place.x(), sheet.y + sheet.height + 0.5 * GAP * place.width(), palette.ink)


PAPERS = (
    ("Slides, one a page", Paper()),
    ("Slides with notes", Paper(notes=True)),
    ("Two slides a page, with notes", Paper(notes=True, per_page=2)),
    ("Two slides a page", Paper(per_page=2)),
    ("Four slides a page", Paper(per_page=4)),
    ("Six slides a page", Paper(per_page=6)),
)
"""The choices of the window, with their titles."""
