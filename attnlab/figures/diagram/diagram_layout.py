"""Lays out the diagram of a model, and the diagrams of two models side by side."""

from collections.abc import Sequence

from attnlab.figures.diagram.diagram_data import Diagram, DiagramData, Opened
from attnlab.figures.diagram.recurrent_layout import lay_out_recurrent
from attnlab.figures.diagram.scene import Label, Measure, Scene, Stroke, shorten
from attnlab.figures.diagram.transformer_layout import EDGE, lay_out_transformer

HEADING, GAP = 40.0, 24.0
"""The height of the titles above two diagrams, and the room between the two."""


def lay_out_diagram(data: DiagramData, width: float, opened: Opened, measure: Measure) -> Scene:
    """Return the diagram of a model in a width; it is wider if it needs to be."""
    lay_out = lay_out_recurrent if data.inside.tree.is_recurrent else lay_out_transformer
    return lay_out(data, width, opened, measure)


def lay_out_beside(diagrams: Sequence[Diagram], width: float, measure: Measure) -> Scene:
    """Return diagrams side by side with a title above each, at least as wide as ``width``, their feet level.

    The regions of the first keep their names, as one diagram alone; see :func:`name_region` for the others.
    """
    each_width = (width - GAP * (len(diagrams) - 1)) / len(diagrams)
    scenes = [lay_out_diagram(each.data, each_width, each.opened, measure) for each in diagrams]
    if len(scenes) == 1:
        return scenes[0]
    tall = HEADING + max(each.height for each in scenes)
    whole, x = Scene(sum(each.width for each in scenes) + GAP * (len(scenes) - 1), tall), 0.0
    for at, (diagram, scene) in enumerate(zip(diagrams, scenes, strict=True)):
        if at:
            whole.add(Stroke(((x - GAP / 2, EDGE), (x - GAP / 2, tall - EDGE)), "hairline", 1))
        room = scene.width - 2 * EDGE - measure(diagram.at, "title")
        title = shorten(diagram.heading, "title", room, measure) + diagram.at
        whole.add(Label(x + EDGE, EDGE + 10, title, "title", "ink"))
        whole.put(scene, x, tall - scene.height, name_region(at, ""))
        x += scene.width + GAP
    return whole


def name_region(place: int, name: str) -> str:
    """Return the name that a region of the diagram at a place, counted from 0, has among several."""
    return f"{place + 1}. {name}" if place else name
