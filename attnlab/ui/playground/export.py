"""Writes what is looked at to a file: figures and tables, by the ending."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.errors import FileError
from attnlab.figures.figure_file import write_figure
from attnlab.figures.figure_spec import FigureSpec
from attnlab.files import tables
from attnlab.files.atomic import write_bytes

if TYPE_CHECKING:
    from attnlab.attention.trace import Trace

FIGURES, TABLES = ("png", "svg", "pdf"), ("csv", "npy")


def export_stage(trace: "Trace", stage: str, head: int | str, path: Path) -> None:
    """Write one stage, for one head, "all" or their "mean".

    Raises:
        AttnlabError: the ending is unknown, or the file cannot be written.
    """
    ending = path.suffix.lower().removeprefix(".")
    if ending in TABLES:
        write_bytes(path, tables.encoded(tables.table(trace, stage, head), f".{ending}"))
    elif ending in FIGURES:
        write_figure(path, trace, FigureSpec((stage,), head=head))
    else:
        raise FileError(f"{path.name} does not end in {', '.join('.' + known for known in (*FIGURES, *TABLES))}.")


def export_figure(trace: "Trace", spec: FigureSpec, path: Path) -> None:
    """Write a figure; raises FileError when the ending is none of a figure, or it cannot be written."""
    if path.suffix.lower().removeprefix(".") not in FIGURES:
        raise FileError(f"{path.name} does not end in {', '.join('.' + known for known in FIGURES)}.")
    write_figure(path, trace, spec)
