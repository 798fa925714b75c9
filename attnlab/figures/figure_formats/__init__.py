"""The formats of figures, one module for each with a ``FigureFormat``; they are found by themselves."""

from attnlab.base.discovery import find_declared
from attnlab.figures.figure_format import FigureFormat

FIGURES = {each.ending: each for each in find_declared(__name__, FigureFormat)}
"""The formats by ending, in the order of lists; loading them does not load Qt."""
