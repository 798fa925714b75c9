"""Masks as maps: pairs that are seen in one colour, the others hatched, without numbers."""

import numpy as np

from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.mask_parts import MaskPart, list_mask_parts
from attnlab.figures.map_data import MapData
from attnlab.figures.panels.figure_source import Sheet, Sheets
from attnlab.figures.scales import Scale

SEEN = Scale(2.5)
"""The scale of 1 for a pair that is seen: a medium colour."""


def make_mask_data(part: MaskPart) -> MapData:
    """Return a mask as a map: 1 for pairs that are seen, the others masked."""
    values = np.where(part.hidden, 0, 1).astype(np.float32)[None]
    return MapData(
        values, "probability", SEEN, part.hidden, part.row_labels, part.column_labels, (part.title,), has_numbers=False
    )


def make_mask_sheets(e: Experiment) -> Sheets:
    """Return the masks of an experiment for one figure."""
    sheets = []
    for part in list_mask_parts(e):
        values = make_mask_data(part).values
        labels = part.row_labels, part.column_labels
        sheets.append(Sheet(part.name, part.title, values, *labels, part.hidden, scale=SEEN, has_numbers=False))
    return Sheets(tuple(sheets), "Masks", "Masks", abreast=True)
