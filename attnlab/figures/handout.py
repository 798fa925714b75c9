"""Hand-outs and answer sheets as PDF: tables with numbers, boxes to fill in, and the arithmetic; text stays searchable.

Lengths are in tenths of a point, 720 to the inch, so that font sizes are whole numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QPicture,
    QTextDocument,
)

from attnlab.base.errors import AttnlabError
from attnlab.figures.exercise_sheet import Blanked, Sheet, SheetTable
from attnlab.figures.palette import LIGHT
from attnlab.figures.subscripts import draw_text, text_width, write_html

PAPERS = {"A4": QSizeF(5953, 8419), "Letter": QSizeF(6120, 7920)}
MARGIN, GAP = 480.0, 200.0
_HEADER, _FOOTER = 620.0, 200.0
_TITLE, _TEXT, _SMALL, _FORMULA = 150, 95, 75, 110
_ROW, _LABEL = 170.0, 900.0
_LEAST = 0.55
"""The smallest scale of a table at which its numbers can be read."""


@dataclass(frozen=True, slots=True)
class Formulas:
    """Functions that measure a formula at a font size, and draw it at its top left corner."""

    size: Callable[[str, float], QSizeF]
    draw: Callable[[QPainter, QPointF, str, float, str], float]


@dataclass(frozen=True, slots=True)
class Block:
    """An unbreakable part of a page; ``first`` begins a new line, ``alone`` has a line to itself.

    ``centred`` blocks stand at half the height of their line, others at its top.
    """

    size: QSizeF
    draw: Callable[[QPainter, QPointF], None]
    first: bool = False
    alone: bool = False
    centred: bool = False
    with_next: bool = False
    """A heading, which is never the last block on a page."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a sheet: its blocks with their positions."""

    sheet: Sheet
    number: int
    count: int
    solved: bool
    blocks: tuple[tuple[QPointF, Block], ...]


def lay_out(sheet: Sheet, paper: str, formulas: Formulas, solved: bool) -> tuple[Page, ...]:
    """Return the pages of a sheet, with the answers if ``solved``, else with boxes for them.

    Raises:
        AttnlabError: a table is too large for the paper; the sentence names it.
    """
    room = _find_room(paper)
    placed = _place(_make_blocks(sheet, room.size(), formulas, solved), room)
    return tuple(Page(sheet, i + 1, len(placed), solved, tuple(blocks)) for i, blocks in enumerate(placed))


def draw_page(painter: QPainter, page: Page, paper: str) -> None:
    """Draw a page; the painter's unit must be a tenth of a point."""
    _draw_header(painter, page, paper)
    for at, block in page.blocks:
        painter.save()
        block.draw(painter, at)
        painter.restore()


class HandoutWriter:
    """Writes one PDF, sheet by sheet; ``finish`` returns it. It needs a QGuiApplication."""

    def __init__(self, paper: str, title: str, formulas: Formulas) -> None:
        self._paper, self._formulas, self._first = paper, formulas, True
        self._bytes = QByteArray()
        self._buffer = QBuffer(self._bytes)
        self._buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        self._writer = QPdfWriter(self._buffer)
        self._writer.setTitle(title)
        self._writer.setCreator("attnlab")
        self._writer.setResolution(720)
        page = QPageSize(QPageSize.PageSizeId.A4 if paper == "A4" else QPageSize.PageSizeId.Letter)
        self._writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF()))
        self._painter = QPainter(self._writer)

    def add(self, sheet: Sheet, solved: bool) -> int:
        """Write a sheet on new pages, and return their number.

        Raises:
            AttnlabError: a table is too large for the paper; the file ends there.
        """
        try:
            pages = lay_out(sheet, self._paper, self._formulas, solved)
        except AttnlabError:
            self.finish()
            raise
        for page in pages:
            if not self._first:
                self._writer.newPage()
            self._first = False
            draw_page(self._painter, page, self._paper)
        return len(pages)

    def finish(self) -> bytes:
        """Finish the PDF and return its bytes."""
        if self._painter.isActive():
            self._painter.end()
        self._buffer.close()
        return bytes(self._bytes.data())

    def __del__(self) -> None:
        """End the painter of an unfinished PDF, because Qt crashes if a device is deleted before its painter."""
        if hasattr(self, "_painter") and self._painter.isActive():
            self._painter.end()


def draw_page_image(page: Page, paper: str, width_px: int, ratio: float = 1.0) -> QImage:
    """Return a page as a picture, ``width_px`` screen pixels wide."""
    size, scale = PAPERS[paper], width_px * ratio / PAPERS[paper].width()
    drawn = QPicture()  # keeps formulas as drawings; as scaled pictures they would be unreadable
    painter = QPainter(drawn)
    draw_page(painter, page, paper)
    painter.end()
    image = QImage(round(width_px * ratio), round(size.height() * scale), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    painter.scale(scale, scale)
    painter.drawPicture(0, 0, drawn)
    painter.end()
    image.setDevicePixelRatio(ratio)
    return image


def _find_room(paper: str) -> QRectF:
    size = PAPERS[paper]
    return QRectF(MARGIN, MARGIN + _HEADER, size.width() - 2 * MARGIN, size.height() - 2 * MARGIN - _HEADER - _FOOTER)


def _place(blocks: Sequence[Block], room: QRectF) -> list[list[tuple[QPointF, Block]]]:
    """Place blocks in lines, and lines on pages; a heading stays with the block after it."""
    lines: list[list[Block]] = []
    x = 0.0
    for block in blocks:
        if not lines or block.first or block.alone or lines[-1][0].alone or x + block.size.width() > room.width():
            lines.append([])
            x = 0.0
        lines[-1].append(block)
        x += block.size.width() + GAP
    pages: list[list[tuple[QPointF, Block]]] = [[]]
    y = 0.0
    for i, line in enumerate(lines):
        height = _find_height(line)
        needed = height + (GAP / 2 + _find_height(lines[i + 1]) if line[0].with_next and i + 1 < len(lines) else 0.0)
        if y and y + needed > room.height():
            pages.append([])
            y = 0.0
        x = 0.0
        for block in line:
            above = (height - block.size.height()) / 2 if block.centred else 0.0
            pages[-1].append((QPointF(room.x() + x, room.y() + y + above), block))
            x += block.size.width() + GAP
        y += height + GAP / 2
    return pages


def _find_height(line: Sequence[Block]) -> float:
    return max(block.size.height() for block in line)


def _make_blocks(sheet: Sheet, room: QSizeF, formulas: Formulas, solved: bool) -> list[Block]:
    blocks = [_make_paragraph(sentence, room.width()) for sentence in sheet.task]
    blocks += [_make_formula(title, latex, formulas) for title, latex in sheet.formulas]
    blocks += [_make_heading("Given", room.width()), *(_make_table(table, room, True) for table in sheet.given)]
    blocks += [_make_heading("Compute" if not solved else "Answers", room.width())]
    blocks += [_make_table(table, room, solved) for table in sheet.wanted]
    if solved:
        return [*blocks, *(_make_solution(blank, room) for blank in sheet.blanks)]
    return [*blocks, *_make_answer_lines(sheet.blanks, room.width())]


def _make_paragraph(text: str, width: float) -> Block:
    return _make_document(f"<p>{write_html(text)}</p>", width)


def _make_heading(text: str, width: float) -> Block:
    def draw(painter: QPainter, at: QPointF) -> None:
        rect = QRectF(at, QSizeF(width, 220))
        _write(
            painter, rect, text, _make_font(_TEXT + 10, QFont.Weight.DemiBold), LIGHT.ink, Qt.AlignmentFlag.AlignBottom
        )

    return Block(QSizeF(width, 220), draw, alone=True, with_next=True)


def _make_formula(title: str, latex: str, formulas: Formulas) -> Block:
    font = _make_font(_SMALL)
    shift = text_width(title, font) + 70
    size = formulas.size(latex, _FORMULA)
    height = max(size.height(), 160.0)

    def draw(painter: QPainter, at: QPointF) -> None:
        painter.setPen(QColor(LIGHT.muted))
        draw_text(painter, at.x(), at.y() + height / 2, title, font)
        top = at.y() + (height - size.height()) / 2
        formulas.draw(painter, QPointF(at.x() + shift, top), latex, _FORMULA, LIGHT.ink)

    return Block(QSizeF(shift + size.width(), height), draw, centred=True)


def _make_document(html: str, width: float) -> Block:
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(_make_font(_TEXT))
    document.setHtml(
        f'<div style="color:{LIGHT.ink}">{html}</div>'
    )  # otherwise the window's colour, which is white in dark themes
    document.setTextWidth(width)

    def draw(painter: QPainter, at: QPointF) -> None:
        painter.translate(at)
        document.drawContents(painter)

    return Block(QSizeF(width, document.size().height()), draw, alone=True)


def _make_solution(blank: Blanked, room: QSizeF) -> Block:
    head = f"<b>{blank.letter}</b>&nbsp; {write_html(blank.lead)}{_escape(blank.place)} = <b>{_escape(blank.value)}</b>"
    block = _make_document(f"<p style='margin:0'>{head}<br>{blank.html}</p>", room.width())
    if block.size.height() > room.height():
        raise AttnlabError(
            f"The arithmetic of {blank.letter}, {blank.lead}{blank.place}, is longer than a page; use smaller sizes."
        )
    return block


def _make_answer_lines(blanks: Sequence[Blanked], width: float) -> list[Block]:
    """Return a block for each answer: the letter, the cell, and a box; as many side by side as fit."""
    font, bold = _make_font(_TEXT), _make_font(_TEXT, QFont.Weight.DemiBold)
    metrics = QFontMetricsF(font)
    longest = max(text_width(blank.lead, font) + metrics.horizontalAdvance(blank.place) for blank in blanks)
    place = min(longest + 100, width - 1100)

    def line(blank: Blanked, first: bool) -> Block:
        def draw(painter: QPainter, at: QPointF) -> None:
            middle = Qt.AlignmentFlag.AlignVCenter
            _write(painter, QRectF(at, QSizeF(150, 240)), blank.letter, bold, LIGHT.ink, middle)
            start = draw_text(painter, at.x() + 170, at.y() + 120, blank.lead, font)
            end = at.x() + 170 + place
            _write(painter, QRectF(start, at.y(), end - start, 240), blank.place, font, LIGHT.ink, middle)
            _draw_box(painter, QRectF(at + QPointF(170 + place, 10), QSizeF(800, 220)))

        return Block(QSizeF(970 + place, 240), draw, first=first)

    return [line(blank, i == 0) for i, blank in enumerate(blanks)]


def _make_table(table: SheetTable, room: QSizeF, solved: bool) -> Block:
    """Return a table with its title, scaled down if it is wider or higher than the page.

    Raises:
        AttnlabError: it would be too small to read.
    """
    number, label, title = _make_font(_TEXT), _make_font(_SMALL), _make_font(_TEXT, QFont.Weight.DemiBold)
    texts = [text for row in table.cells for text in row] + list(table.columns)
    cell = max([QFontMetricsF(number).horizontalAdvance(text[:14]) for text in texts] + [260.0]) + (
        110 if table.boxes else 50
    )  # the letter is in a corner
    side = min(max([QFontMetricsF(label).horizontalAdvance(text) for text in table.rows] + [0.0]) + 60, _LABEL)
    width, height = side + cell * len(table.columns), _ROW * (2 + len(table.rows))
    scale = min(1.0, room.width() / width, room.height() * 0.9 / height)
    if scale < _LEAST:
        raise AttnlabError(
            f"{table.title} has {len(table.rows)} rows and {len(table.columns)} columns, too many for the paper; "
            "use smaller sizes or fewer tokens."
        )
    whole = max(width, text_width(table.title, title))

    def draw(painter: QPainter, at: QPointF) -> None:
        painter.translate(at)
        painter.scale(scale, scale)
        ink = LIGHT.role_ink(table.role) if table.role != "neutral" else LIGHT.ink
        painter.setPen(QColor(ink))
        draw_text(painter, 0, _ROW / 2, table.title, title)
        for i, text in enumerate(table.columns):
            rect = QRectF(side + i * cell, _ROW, cell, _ROW)
            _write(painter, rect, text, label, LIGHT.muted, Qt.AlignmentFlag.AlignCenter)
        for i, text in enumerate(table.rows):
            rect = QRectF(0, _ROW * (2 + i), side - 40, _ROW)
            _write(painter, rect, text, label, LIGHT.muted, Qt.AlignmentFlag.AlignVCenter)
            for j in range(len(table.columns)):
                _draw_cell(painter, QRectF(side + j * cell, _ROW * (2 + i), cell, _ROW), table, (i, j), solved)
        for (i, j), letter in table.boxes.items():  # drawn over the lines of neighbouring cells
            rect = QRectF(side + j * cell, _ROW * (2 + i), cell, _ROW)
            _draw_box(painter, rect)
            _write(painter, rect.adjusted(20, 10, 0, 0), letter, _make_font(60), LIGHT.muted, Qt.AlignmentFlag.AlignTop)

    return Block(QSizeF(whole * scale, height * scale), draw)


def _draw_cell(painter: QPainter, rect: QRectF, table: SheetTable, at: tuple[int, int], solved: bool) -> None:
    boxed = at in table.boxes
    painter.setPen(QPen(QColor(LIGHT.hatch), 4))
    painter.setBrush(QColor(LIGHT.control) if at in table.masked and not boxed else Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)
    if solved or not (boxed or at in table.secret):
        weight = QFont.Weight.DemiBold if boxed else QFont.Weight.Normal
        middle = Qt.AlignmentFlag.AlignCenter
        _write(painter, rect, table.cells[at[0]][at[1]], _make_font(_TEXT, weight), LIGHT.ink, middle)


def _draw_box(painter: QPainter, rect: QRectF) -> None:
    painter.setPen(QPen(QColor(LIGHT.ink), 10))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)


def _draw_header(painter: QPainter, page: Page, paper: str) -> None:
    """Write the title and a line for the name at the top, and the page number at the bottom."""
    sheet, size = page.sheet, PAPERS[paper]
    width, middle = size.width() - 2 * MARGIN, Qt.AlignmentFlag.AlignVCenter
    title = sheet.title + (" · answers" if page.solved else "")
    _write(
        painter, QRectF(MARGIN, MARGIN, width, 220), title, _make_font(_TITLE, QFont.Weight.DemiBold), LIGHT.ink, middle
    )
    line = QRectF(MARGIN, MARGIN + 260, width, 200)
    _write(painter, line, "Name", _make_font(_SMALL), LIGHT.muted, middle)
    if sheet.student:
        _write(painter, line.adjusted(360, 0, 0, 0), sheet.student, _make_font(_TEXT + 10), LIGHT.ink, middle)
    painter.setPen(QPen(QColor(LIGHT.hatch), 6))
    painter.drawLine(QPointF(MARGIN + 340, line.bottom()), QPointF(MARGIN + width, line.bottom()))
    foot = QRectF(MARGIN, size.height() - MARGIN - 100, width, 140)
    _write(painter, foot, f"{sheet.title} · {sheet.student}".rstrip(" ·"), _make_font(_SMALL), LIGHT.muted, middle)
    right = middle | Qt.AlignmentFlag.AlignRight
    _write(painter, foot, f"{page.number} of {page.count}", _make_font(_SMALL), LIGHT.muted, right)


def _write(painter: QPainter, rect: QRectF, text: str, font: QFont, ink: str, flags: Qt.AlignmentFlag) -> None:
    """Write one line of text, shortened to fit."""
    painter.setFont(font)
    painter.setPen(QColor(ink))
    shown = QFontMetricsF(font).elidedText(" ".join(text.split()), Qt.TextElideMode.ElideRight, rect.width() + 2)
    painter.drawText(rect, int(flags), shown)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _make_font(size: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    font = QFont(["Inter", QFont().family()])
    font.setPixelSize(size)
    font.setWeight(weight)
    for feature in ("tnum", "calt"):  # their glyphs cannot be searched or copied in a PDF
        font.setFeature(QFont.Tag(feature), 0)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font
