"""The difference between two states as sheets, which figures and tables are made of."""

from dataclasses import replace
from typing import TYPE_CHECKING

from attnlab.attention.stages.table import name_stage
from attnlab.figures.panels.figure_source import Sheet, Sheets
from attnlab.ui.playground.stage_maps import look_at

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

HEADING = "Difference from the pinned state"


def make_difference_sheets(trace: "Trace", pinned: "Trace", view: "View") -> Sheets:
    """Return what changed since the pinned state in each stage that both states have in the same size, in all heads."""
    sheets, every = [], replace(view, look="difference", head="all", at=None)
    for name in trace.all_stages:
        stage = trace.stage(name)
        data = look_at(trace, pinned, stage, every).data
        if data is not None:
            title, axes = name_stage(stage, trace.experiment), ("head", *stage.axes[-2:])
            labels = data.row_labels, data.column_labels
            sheets.append(
                Sheet(name, title, data.values, *labels, data.masked, data.kind, data.scale, axes, stage.role)
            )
    return Sheets(tuple(sheets), HEADING, "Stages")
