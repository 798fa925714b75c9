"""Writes the current stage to a file: figures and tables, by the ending."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.errors import FileError
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.panels.figure_file import write_figure
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.atomic import write_bytes
from attnlab.files.export import stage_tables
from attnlab.files.export.table_formats import TABLES

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace


def export_stage(trace: "Trace", stage: str, head: int | str, path: Path) -> None:
    """Write one stage, for one head, "all" or their "mean".

    Raises:
        AttnlabError: the ending is unknown, or the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending in TABLES:
        write_bytes(path, stage_tables.encode(stage_tables.table(trace, stage, head), ending))
    elif ending in FIGURES:
        write_figure(path, trace, FigureSpec((stage,), head=head))
    else:
        raise FileError(f"{path.name} does not end in {', '.join((*FIGURES, *TABLES))}.")
