"""Writes stages of a state, or maps of any kind, to a file: as a figure or a table."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.errors import AttnlabError, FileError
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.panels.figure_file import write_figure
from attnlab.figures.panels.figure_panel import make_map_data
from attnlab.figures.panels.figure_source import Pair, Sheets, Source
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.atomic import write_bytes
from attnlab.files.export.table_formats import TABLES

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table


def export_figure(source: Source, spec: FigureSpec, path: Path) -> None:
    """Write a figure; raises FileError if the ending is not that of a figure, or the file cannot be written."""
    if path.suffix.lower() not in FIGURES:
        raise FileError(f"{path.name} does not end in {', '.join(FIGURES)}.")
    write_figure(path, source, spec)


def export_table(source: Source, spec: FigureSpec, path: Path) -> None:
    """Write the single stage of a figure as a table, in the format of the ending.

    Raises:
        AttnlabError: the figure has several stages, the ending is not that of a table, or the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending not in TABLES:
        raise FileError(f"{path.name} does not end in {', '.join(TABLES)}.")
    check_table(spec)
    from attnlab.files.export.stage_tables import encode

    write_bytes(path, encode(make_table(source, spec.stages[0], spec.head), ending))


def check_table(spec: FigureSpec) -> None:
    """Raise AttnlabError if a figure has several stages, which no table can hold."""
    if spec.canvas or len(spec.stages) > 1:
        raise AttnlabError("A table holds one stage; choose one stage, or a figure format.")


def make_table(source: Source, stage: str, head: int | str) -> "Table":
    """Return a stage of a figure as a table, of two states side by side that of the present one.

    Raises:
        AttnlabError: no such stage or head; the sentence names those that exist.
    """
    from attnlab.files.export.stage_tables import table  # loads torch, which figures of arrays do not need

    if isinstance(source, Sheets):
        return _make_sheet_table(source, stage, head)
    return table(source.now if isinstance(source, Pair) else source, stage, head)


def _make_sheet_table(sheets: Sheets, stage: str, head: int | str) -> "Table":
    from attnlab.files.export.stage_tables import Table

    sheet, data = sheets.stage(stage), make_map_data(sheets, stage, head)
    several = sheet.has_heads and head == "all"
    rows, columns = tuple(sheet.row_labels), tuple(sheet.column_labels)
    values = data.values if several else data.values[0]
    about = f"{sheets.heading}: {sheet.title}"
    titles = sheet.titles if several else ()
    return Table(
        sheet.name, about, sheet.axes[-values.ndim :], values, sheet.masked, rows, columns, rows, columns, titles=titles
    )
