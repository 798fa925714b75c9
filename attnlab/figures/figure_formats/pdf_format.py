"""Figures as PDF."""

from typing import TYPE_CHECKING

from attnlab.figures.figure_format import FigureFormat

if TYPE_CHECKING:
    from attnlab.figures.diagram.scene import Scene
    from attnlab.figures.palette import Palette
    from attnlab.figures.panels.figure_page import Page


def _encode(page: "Page") -> bytes:
    from attnlab.figures.panels.figure_file import describe, encode_pdf

    return encode_pdf(page, describe(page)[0])


def _encode_scene(scene: "Scene", palette: "Palette", title: str) -> bytes:
    from attnlab.figures.diagram.diagram_file import encode_scene_pdf

    return encode_scene_pdf(scene, palette, title)


PDF = FigureFormat(".pdf", "PDF", _encode, order=30, encode_scene=_encode_scene)
