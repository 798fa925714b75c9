"""Lays a model out as a diagram."""

from attnlab.figures.diagram.diagram_data import DiagramData, Opened
from attnlab.figures.diagram.recurrent_layout import lay_out_recurrent
from attnlab.figures.diagram.scene import Measure, Scene
from attnlab.figures.diagram.transformer_layout import lay_out_transformer


def lay_out_diagram(data: DiagramData, width: float, opened: Opened, measure: Measure) -> Scene:
    """Return the diagram of a model in a width; it is wider if it needs to be."""
    lay_out = lay_out_recurrent if data.inside.tree.is_recurrent else lay_out_transformer
    return lay_out(data, width, opened, measure)
