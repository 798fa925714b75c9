"""Writes the stage that is looked at to a file: a picture or a table, by the ending."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.errors import FileError
from attnlab.figures.figure_file import write_figure
from attnlab.figures.figure_spec import FigureSpec
from attnlab.files import tables
from attnlab.files.atomic import write_bytes

if TYPE_CHECKING:
    from attnlab.attention.trace import Trace

ENDINGS = {"png": "Picture", "svg": "SVG", "pdf": "PDF", "csv": "Table", "npy": "NumPy array"}


def export_stage(trace: "Trace", stage: str, head: int | str, path: Path) -> None:
    """Write one stage, for one head, "all" or their "mean".

    Raises:
        AttnlabError: the ending is unknown, or the file cannot be written.
    """
    ending = path.suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise FileError(f"{path.name} does not end in {', '.join('.' + known for known in ENDINGS)}.")
    if ending in ("png", "svg", "pdf"):
        write_figure(path, trace, FigureSpec((stage,), head=head))
    else:
        write_bytes(path, tables.encoded(tables.table(trace, stage, head), f".{ending}"))
