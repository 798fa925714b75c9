"""Figures as PNG."""

from typing import TYPE_CHECKING

from attnlab.figures.figure_format import FigureFormat

if TYPE_CHECKING:
    from attnlab.figures.diagram.scene import Scene
    from attnlab.figures.palette import Palette
    from attnlab.figures.panels.figure_page import Page


def _encode(page: "Page") -> bytes:
    from attnlab.figures.panels.figure_file import draw_page_image, encode_png

    return encode_png(draw_page_image(page))


def _encode_scene(scene: "Scene", palette: "Palette", _title: str) -> bytes:
    from attnlab.figures.diagram.diagram_file import encode_scene_png

    return encode_scene_png(scene, palette)


PNG = FigureFormat(".png", "PNG", _encode, order=10, in_pixels=True, encode_scene=_encode_scene)
