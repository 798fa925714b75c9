"""Indices in a document of text are lowered, and its lines stay as far apart."""

import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from attnlab.figures.slides.slide_markdown import read_document
from attnlab.ui.base.lowered_text import lower_indices
from attnlab.ui.base.theme import font


def measure_blocks(document: QTextDocument) -> list[float]:
    """Return the height of every paragraph."""
    document.setTextWidth(200)
    blocks = [document.findBlockByNumber(number) for number in range(document.blockCount())]
    return [document.documentLayout().blockBoundingRect(block).height() for block in blocks]


@pytest.mark.parametrize(
    "text",
    [
        "W_q and W_k of a layer give queries and keys of d_k numbers each, over some lines",
        "- one W_q of a list with W_k and d_k over two lines and W_v on others or more\n- and **W_k**",
    ],
)
def test_lines_with_an_index_are_as_high_as_others(qapp: QApplication, text: str) -> None:
    lowered = read_document(text, font("text"))
    lower_indices(lowered)
    plain = read_document(text.replace("_", ""), font("text"))
    first, *_ = zip(measure_blocks(lowered), measure_blocks(plain), strict=True)
    assert first[0] == pytest.approx(first[1], abs=4)  # the last line of a paragraph may be higher
    assert "_" not in lowered.toPlainText()


def test_a_heading_keeps_the_room_of_its_larger_type(qapp: QApplication) -> None:
    document = read_document("## The width d_k\n\nof a layer", font("text"))
    lower_indices(document)
    heading, text = measure_blocks(document)
    assert heading > 1.3 * text
