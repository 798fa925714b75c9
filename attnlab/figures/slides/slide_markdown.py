"""Reads a lesson's Markdown, as Qt does: a document for labels, paragraphs for slides, plain text for notes."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextList,
    QTextListFormat,
)

from attnlab.base.text_marks import split_marks
from attnlab.figures.slides.slide_content import Paragraph, Run, Runs
from attnlab.figures.slides.slide_text import make_face

_BULLETS = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare)
_ESCAPED = re.compile(r"\\([\\_])")
_STAND_IN = "\u2056"
"""Stands for an escaped underscore while Qt reads: punctuation too, and nobody writes it."""
_INDEXED = re.compile(r"(?<![A-Za-z_])(d?[A-Za-z])_([A-Za-z]{1,2}|\d+)(?![A-Za-z0-9_])")
LINE_BREAK = "\u2028"
"""Separates the lines of code within one paragraph."""


def read_document(
    markdown: str, font: QFont, *, has_tables: bool = False, has_addresses: bool = False
) -> QTextDocument:
    """Return Markdown as a document: HTML in it is plain text, images are left out, links are underlined text.

    With ``has_addresses`` a link is followed by its address in brackets. Nothing is ever opened or fetched.
    Tables are read only on request: in a lesson a bar may be part of a formula.
    """
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setDefaultFont(font)
    feature = QTextDocument.MarkdownFeature
    document.setMarkdown(
        markdown, feature.MarkdownNoHTML | (feature.MarkdownDialectGitHub if has_tables else feature.MarkdownNoHTML)
    )
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    following = ""
    for start, end, found in reversed(_find_links_and_images(document)):  # an image that is removed moves what follows
        if has_addresses and found.isAnchor() and found.anchorHref() != following:
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            if cursor.selectedText() != found.anchorHref():
                cursor.setPosition(end)
                cursor.insertText(f" ({found.anchorHref()})", QTextCharFormat())
        following = found.anchorHref()
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        if found.isImageFormat():
            cursor.removeSelectedText()
        else:
            cursor.setCharFormat(_remove_link(found))
    cursor.endEditBlock()
    return document


def _find_links_and_images(document: QTextDocument) -> list[tuple[int, int, QTextCharFormat]]:
    """Return where each piece of a link and each image begins and ends, and its format."""
    found = []
    for block in _iterate_blocks(document):
        for piece in _iterate_fragments(block):
            style = piece.charFormat()
            if style.isAnchor() or style.isImageFormat():
                found.append((piece.position(), piece.position() + piece.length(), style))
    return found


def _remove_link(style: QTextCharFormat) -> QTextCharFormat:
    plain_style = QTextCharFormat()
    plain_style.setFontWeight(style.fontWeight())
    plain_style.setFontItalic(style.fontItalic())
    plain_style.setFontUnderline(style.isAnchor())
    return plain_style


@lru_cache(maxsize=256)
def read_paragraphs(markdown: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs of Markdown; ``W_q`` gets a subscript, unless its underscore is escaped."""
    marked = _ESCAPED.sub(lambda each: _STAND_IN if each[1] == "_" else each[0], markdown)
    document = read_document(marked, make_face(16))  # whatever the size: a slide sets type of its own
    found: list[Paragraph] = []
    numbers: dict[int, int] = {}
    aside = False
    for is_code, blocks in groupby(_iterate_blocks(document), _is_code):
        if is_code:
            found.append(_join_code(list(blocks)))
        else:
            for block in blocks:
                paragraph = _read_paragraph(block, numbers)
                if paragraph is not None:
                    runs, aside = split_runs(paragraph.runs, aside)
                    found.append(replace(paragraph, runs=runs))
    return tuple(found)


def split_runs(runs: Runs, aside: bool = False) -> tuple[Runs, bool]:
    """Return runs with the marks of ``base/text_marks.py`` read, and whether they end within an aside."""
    made: list[Run] = []
    for run in runs:
        pieces, aside = split_marks(run.text, aside=aside)
        for piece in pieces:
            role = piece.role if piece.held else run.role
            made.append(Run(piece.text, role, run.style, piece.held, piece.aside))
    return tuple(made), aside


def _join_code(blocks: list[QTextBlock]) -> Paragraph:
    """Return lines of code as one paragraph."""
    text = LINE_BREAK.join(_restore_underscores(block.text(), is_code=True) for block in blocks)
    return Paragraph((Run(text, style="code"),), level=_count_levels(blocks[0]))


def _read_paragraph(block: QTextBlock, numbers: dict[int, int]) -> Paragraph | None:
    """Return a block as a paragraph, None for an empty one; ``numbers`` counts the items of each list."""
    if block.blockFormat().hasProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth):
        return Paragraph((), level=_count_levels(block))
    mark, runs = _make_mark(block, numbers), _read_runs(block)
    return Paragraph(runs, mark, _count_levels(block)) if mark or runs else None


def split_note_lines(notes: str) -> list[str]:
    """Return the lines of notes, each of which is a paragraph; notes with a block of code are one piece."""
    return [notes] if "```" in notes else notes.split("\n")


def to_plain_text(markdown: str) -> str:
    """Return Markdown as plain text, one line per paragraph or item."""
    lines = []
    for each in read_paragraphs(markdown):
        text = "".join(run.text for run in each.runs).replace(LINE_BREAK, "\n")
        lines.append(f"{each.mark} {text}" if each.mark else text)
    return "\n".join(lines)


def _iterate_blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _iterate_fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    pieces = block.begin()
    while not pieces.atEnd():
        yield pieces.fragment()
        pieces += 1


def _is_code(block: QTextBlock) -> bool:
    """Return whether a block is a line of code, fenced or indented."""
    return block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeLanguage)


def _find_list(block: QTextBlock) -> QTextList | None:
    return block.textList()  # PySide's types say that there always is one


def _count_levels(block: QTextBlock) -> int:
    """Return how many levels a block is set in: by quotes, lists around its own, or as a later paragraph of an item."""
    style, items = block.blockFormat(), _find_list(block)
    quoted = style.property(QTextFormat.Property.BlockQuoteLevel) or 0
    return int(quoted) + (items.format().indent() - 1 if items is not None else style.indent())


def _make_mark(block: QTextBlock, numbers: dict[int, int]) -> str:
    """Return the mark of an item, "" for what is none; ``numbers`` counts the items of each list."""
    items = _find_list(block)
    if items is None:
        return ""
    style = items.format()
    if style.style() in _BULLETS:
        return "•"
    key = items.objectIndex()
    numbers[key] = numbers.get(key, style.start() - 1) + 1
    return f"{numbers[key]}{style.numberSuffix()}"


def _read_runs(block: QTextBlock) -> Runs:
    runs: list[Run] = []
    for style, pieces in groupby(_iterate_fragments(block), lambda piece: _find_style(piece.charFormat())):
        text = "".join(piece.text() for piece in pieces)
        runs += (
            [Run(_restore_underscores(text, is_code=True), style="code")]
            if style == "code"
            else split_subscripts(text, style)
        )
    return tuple(runs)


def _find_style(found: QTextCharFormat) -> str:
    """Return the style of a run that has this format."""
    if found.fontFixedPitch():
        return "code"
    if found.fontUnderline():
        return "link"
    strong = found.fontWeight() > QFont.Weight.Medium
    return " ".join(name for name, is_on in (("strong", strong), ("italic", found.fontItalic())) if is_on)


def split_subscripts(text: str, style: str) -> list[Run]:
    """Return a text with subscripts: after one letter and _, or as in the gradient dW_q."""
    runs: list[Run] = []
    at = 0
    for found in _INDEXED.finditer(text):
        runs += [Run(_restore_underscores(text[at : found.end(1)]), style=style), Run(found[2], style="sub")]
        at = found.end()
    return [run for run in (*runs, Run(_restore_underscores(text[at:]), style=style)) if run.text]


def _restore_underscores(text: str, *, is_code: bool = False) -> str:
    """Return a text with its escaped underscores; code shows the backslash, too."""
    return text.replace(_STAND_IN, r"\_" if is_code else "_")
