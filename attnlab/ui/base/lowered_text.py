"""Indices such as that of ``W_q`` lowered in a document of text."""

from PySide6.QtGui import (
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from attnlab.figures.subscripts import places

_SIZE = 1.5 * 0.78
"""The size of an index, in those of its text, times 1.5, as Qt draws subscripts at two thirds of their size."""


def lower_indices(document: QTextDocument) -> None:
    """Draw indices as subscripts, without their underscores, and keep lines as far apart; code stays as it is."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    block = document.begin()
    while block.isValid():
        if not block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence.value):
            _lower_block(cursor, block)
        block = block.next()
    cursor.endEditBlock()


def _lower_block(cursor: QTextCursor, block: QTextBlock) -> None:
    before = block.length()
    _lower_places(cursor, block)
    if block.length() < before and not block.blockFormat().headingLevel():
        _fix_lines(cursor, block)


def _fix_lines(cursor: QTextCursor, block: QTextBlock) -> None:
    """Set the height of the lines of a block; Qt makes a line with an index higher than the others.

    Qt puts what a fixed height has more than the text above the text, and what a proportional one has more below it, so
    that much moves from the margin above to the one below.
    """
    given, style = block.blockFormat(), QTextBlockFormat()
    natural = height = QFontMetricsF(block.document().defaultFont()).lineSpacing()
    if given.lineHeightType() == QTextBlockFormat.LineHeightTypes.ProportionalHeight.value:
        height *= given.lineHeight() / 100
    style.setLineHeight(height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    style.setBottomMargin(given.bottomMargin() + height - natural)
    cursor.setPosition(block.position())
    cursor.mergeBlockFormat(style)
    if (above := block.previous()).isValid() and height > natural:
        raised = QTextBlockFormat()
        raised.setBottomMargin(max(above.blockFormat().bottomMargin() - (height - natural), 0.0))
        cursor.setPosition(above.position())
        cursor.mergeBlockFormat(raised)


def _lower_places(cursor: QTextCursor, block: QTextBlock) -> None:
    for start, end, low in reversed(places(block.text())):  # what is removed moves what follows
        cursor.setPosition(block.position() + start + 1)
        present = cursor.charFormat()
        if not low or present.fontFixedPitch():
            continue
        style = QTextCharFormat()
        style.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSubScript)
        size_px = present.font().pixelSize()
        size_px = size_px if size_px > 0 else block.document().defaultFont().pixelSize()
        style.setProperty(QTextFormat.Property.FontPixelSize.value, round(_SIZE * size_px))
        cursor.setPosition(block.position() + start)
        cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(style)
        cursor.setPosition(block.position() + start)
        cursor.deletePreviousChar()
