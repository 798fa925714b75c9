"""Writes stages of a state, or maps of any kind, to a file: as a figure or a table."""

from pathlib import Path

from attnlab.base.errors import AttnlabError, FileError
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.panels.figure_file import write_figure
from attnlab.figures.panels.figure_panel import make_map_data
from attnlab.figures.panels.figure_source import Pair, Sheets, Source
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.atomic import write_bytes


def export_figure(source: Source, spec: FigureSpec, path: Path) -> None:
    """Write a figure; raises FileError if the ending is not that of a figure, or the file cannot be written."""
    if path.suffix.lower() not in FIGURES:
        raise FileError(f"{path.name} does not end in {', '.join(FIGURES)}.")
    write_figure(path, source, spec)


def export_table(source: Source, spec: FigureSpec, path: Path) -> None:
    """Write the single stage of a figure as a table, in the format of the ending.

    Raises:
        AttnlabError: the figure has several stages, or the file cannot be written.
    """
    if spec.canvas or len(spec.stages) > 1:
        raise AttnlabError("A table holds one stage; choose one stage, or a figure format.")
    if isinstance(source, Sheets):
        _export_sheet(source, spec, path)
    else:
        from attnlab.ui.playground.stage_export import export_stage  # loads torch, which sheets do not need

        export_stage(source.now if isinstance(source, Pair) else source, spec.stages[0], spec.head, path)


def _export_sheet(sheets: Sheets, spec: FigureSpec, path: Path) -> None:
    from attnlab.files.export.stage_tables import Table, encode

    sheet, data = sheets.stage(spec.stages[0]), make_map_data(sheets, spec.stages[0], spec.head)
    several = sheet.has_heads and spec.head == "all"
    rows, columns = tuple(sheet.row_labels), tuple(sheet.column_labels)
    values = data.values if several else data.values[0]
    about = f"{sheets.heading}: {sheet.title}"
    made = Table(
        sheet.name,
        about,
        sheet.axes[-values.ndim :],
        values,
        sheet.masked,
        rows,
        columns,
        rows,
        columns,
        titles=sheet.titles if several else (),
    )
    write_bytes(path, encode(made, path.suffix.lower()))
