"""Figures as PDF."""

from typing import TYPE_CHECKING

from attnlab.figures.figure_format import FigureFormat

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_page import Page


def _encode(page: "Page") -> bytes:
    from attnlab.figures.panels.figure_file import describe, encode_pdf

    return encode_pdf(page, describe(page)[0])


PDF = FigureFormat(".pdf", "PDF", _encode, order=30)
