"""Pictures without a window, for scripts and notebooks: ``attnlab.figure``, and the picture of an Experiment."""

import os
import threading
from collections.abc import Iterable, Sequence
from operator import index
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.trace import Trace
from attnlab.base.arguments import check_path, explain_calls
from attnlab.base.errors import AttnlabError, FileError
from attnlab.compute.engine import compute, estimate_bytes
from attnlab.figures.figure_formats import FIGURES
from attnlab.files.atomic import format_name, write_bytes
from attnlab.notebook.array_source import make_source

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_source import Source

_FORMATS = tuple(ending.removeprefix(".") for ending in FIGURES)
_NOTEBOOK_MM, _NOTEBOOK_DPI = 130.0, 144
"""About 740 pixels, the width of a notebook's column."""

_NOTEBOOK_BYTES = 256 << 20
"""The most memory for stages computed only to display an experiment in a notebook."""

FAULTS = (
    AttnlabError,
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


@explain_calls
def figure(
    x: object,
    path: str | os.PathLike[str] | None = None,
    *,
    tokens: object = None,
    layer: SupportsIndex | str | Sequence[SupportsIndex] = "all",
    stage: str | Sequence[str] = "weights",
    head: SupportsIndex | str = "all",
    canvas: bool = False,
    width_mm: SupportsFloat | None = None,
    height_mm: SupportsFloat | None = None,
    dpi: SupportsIndex = 300,
    format: str | None = None,
    columns: SupportsIndex | None = None,
    title: str | None = None,
    labels: bool = True,
    numbers: str = "auto",
    decimals: SupportsIndex | None = None,
    colour_bar: bool = True,
    colour_map: str = "attnlab",
    scale: str = "auto",
    each_head: bool = False,
    mute_sinks: bool = False,
    font_pt: SupportsFloat = 7.5,
    ground: str = "light",
) -> "Figure | None":
    """Draw a figure without a window: return a :class:`Figure`, or with a ``path`` write it there and return None.

    ``x`` is an Experiment, computed on the CPU in float32, or a Trace. ``stage`` is one of its stages or several, one
    above the other; ``canvas`` draws all. Or ``x`` is anything else that :func:`attnlab.view` shows: an array or tensor
    [T_q, T_k], [h, T_q, T_k] or [layers, h, T_q, T_k], the tuple of attentions of a Hugging Face model, a Capture, or a
    file of arrays. ``tokens`` then names its rows and columns, one list for both or a pair (query_tokens, key_tokens),
    and ``layer`` is a layer from 0, several, one above the other, ``"all"`` or ``"mean"``.

    ``head`` is a head from 0, ``"all"`` or ``"mean"``. ``format`` is ``"png"``, ``"svg"``, ``"pdf"`` or another format
    of figures; by default the extension of ``path``, or PNG without a path. Sizes are in millimetres: by default the
    width is 120, for several maps 170, and the height as needed.
    ``font_pt`` is in points, ``dpi`` in dots per inch. ``columns`` is the number of heads side by side. ``title`` ""
    draws none; ``numbers`` is ``"auto"``, ``"on"`` or ``"off"``; ``colour_map`` is attnlab, viridis, cividis, magma,
    greys, vik or rdbu; ``ground`` is light, dark or transparent. ``scale`` is where the colours end, and how they grow
    up to there: auto, full (0 to 1), largest, percentile (the 99th), sqrt or log; with ``each_head`` each head has its
    own end. ``mute_sinks`` draws the columns of the first token and of separators in grey, outside the scale.

    No display is needed, but it runs only in the main thread. An existing Qt application is used; otherwise one without
    a screen is created and kept, so a script that also opens windows must open them first.

    Raises:
        AttnlabError: it cannot be drawn, or this is not the main thread; the message says what is possible.
        FileError: ``path`` cannot be written; an existing file is left untouched.
    """
    ending = _find_ending(path, format)
    head = head if isinstance(head, str) else _to_whole_number("head", head)
    stages = (stage,) if isinstance(stage, str) else _to_stages(stage)
    source: Source
    if isinstance(x, Experiment | Trace):
        source = _to_trace(x, tokens, layer)
    else:
        source = make_source(x, tokens, layer, head, stages, canvas=canvas)
        stages = source.all_stages
    spec: dict[str, Any] = {
        "stages": stages,
        "canvas": bool(canvas),
        "head": head,
        "columns": None if columns is None else _to_whole_number("columns", columns),
        "width_mm": None if width_mm is None else _to_number("width_mm", width_mm),
        "height_mm": None if height_mm is None else _to_number("height_mm", height_mm),
        "dpi": _to_whole_number("dpi", dpi),
        "title": None if title is None else _check_text("title", title),
        "labels": bool(labels),
        "numbers": _check_text("numbers", numbers),
        "decimals": None if decimals is None else _to_whole_number("decimals", decimals),
        "colour_bar": bool(colour_bar),
        "colour_map": _check_text("colour_map", colour_map),
        "scale": _check_text("scale", scale),
        "each_head": bool(each_head),
        "mute_sinks": bool(mute_sinks),
        "font_pt": _to_number("font_pt", font_pt),
        "ground": _check_text("ground", ground),
    }
    _prepare_qt()
    from attnlab.figures.panels.figure_file import encode_figure
    from attnlab.figures.panels.figure_spec import FigureSpec

    data = encode_figure(source, FigureSpec(**spec), ending)
    if path is None:
        return Figure(data, ending.removeprefix("."))
    write_bytes(path, data)
    return None


class Figure(bytes):
    """The bytes of a figure's file; notebooks display it. ``format`` is its format, such as png."""

    format: str

    def __new__(cls, data: bytes, format: str) -> "Figure":
        """Create a figure from the bytes of its file and their format."""
        made = super().__new__(cls, data)
        made.format = format
        return made

    def __repr__(self) -> str:
        """Return the format and the size, not the bytes."""
        return f"<Figure: {self.format}, {len(self)} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments for copying and pickling."""
        return Figure, (bytes(self), self.format)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file, never partially; the extension must match the format.

        Raises:
            FileError: ``path`` cannot be written, or has another extension.
        """
        check_path(path)
        if os.path.splitext(os.fsdecode(path))[1].lower() != f".{self.format}":
            raise FileError(f"{format_name(path)} does not end in .{self.format}, the format of this figure.")
        write_bytes(path, self)

    def _repr_png_(self) -> bytes | None:
        return bytes(self) if self.format == "png" else None

    def _repr_svg_(self) -> str | None:
        return self.decode() if self.format == "svg" else None

    def _repr_pdf_(self) -> bytes | None:
        return bytes(self) if self.format == "pdf" else None


def draw_notebook_picture(x: Experiment | Trace) -> bytes | None:
    """Return the weights of all heads as PNG for a notebook; None if drawing fails or would take long.

    After an error, the notebook shows the short name of ``x`` instead of a traceback.
    """
    try:
        if estimate_bytes(x.experiment if isinstance(x, Trace) else x) > _NOTEBOOK_BYTES:
            return None
        return figure(x, width_mm=_NOTEBOOK_MM, dpi=_NOTEBOOK_DPI)
    except FAULTS:
        return None


def _find_ending(path: object, kind: str | None) -> str:
    known = f"choose one of {', '.join(_FORMATS)}"
    if kind is not None:
        ending = str(kind).lower().removeprefix(".")
        if ending not in _FORMATS:
            raise AttnlabError(f"There is no figure format {kind!r}; {known}.")
    elif path is None:
        ending = "png"
    else:
        if not isinstance(path, str | os.PathLike):
            raise AttnlabError(f"path is {short(path)}; it needs the name of a file.")
        ending = os.path.splitext(os.fsdecode(path))[1].lower().removeprefix(".")
        if ending not in _FORMATS:
            raise AttnlabError(f"{format_name(path)} has no extension of a figure; {known}, or set format.")
    return f".{ending}"


def _to_trace(x: Experiment | Trace, tokens: object, layer: object) -> Trace:
    if tokens is not None:
        raise AttnlabError(f"tokens is for arrays only; x is {type(x).__name__}, which has tokens of its own.")
    if not (isinstance(layer, str) and layer == "all"):
        raise AttnlabError(f"layer is for arrays only; x is {type(x).__name__}, which is a single layer.")
    return x if isinstance(x, Trace) else compute(x)


# Types are checked before drawing: an error while Qt paints would end the process.


def _to_stages(names: object) -> tuple[str, ...]:
    if not isinstance(names, Iterable):
        raise AttnlabError(f"stage is {short(names)}; it needs a name, or several in a list.")
    return tuple(_check_text("stage", name) for name in names)


def _to_whole_number(name: str, value: object) -> int:
    if not isinstance(value, SupportsIndex):
        words = " (all and mean as well)" if name == "head" else ""
        raise AttnlabError(f"{name} is {short(value)}; it needs a whole number{words}.")
    return index(value)


def _to_number(name: str, value: object) -> float:
    if not isinstance(value, SupportsFloat):
        raise AttnlabError(f"{name} is {short(value)}; it needs a number.")
    return float(value)


def _check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise AttnlabError(f"{name} is {short(value)}; it needs a text.")
    return value


def _prepare_qt() -> None:
    """Make sure that Qt can draw, with the existing application or a new one without a screen.

    The application is kept, because cached drawings must not outlive it.
    """
    if threading.current_thread() is not threading.main_thread():
        raise AttnlabError("Qt draws only in the main thread; call figure there.")
    try:
        from PySide6.QtCore import QCoreApplication
        from PySide6.QtGui import QGuiApplication
        from PySide6.QtWidgets import QApplication
    except ImportError as error:
        raise AttnlabError(f"Qt cannot be loaded ({error}); attnlab doctor names the command that fixes it.") from error
    there = QCoreApplication.instance()
    if there is None:
        QApplication(["attnlab", "-platform", "offscreen"])  # overrides the platform set in the environment
    elif not isinstance(there, QGuiApplication):
        raise AttnlabError(f"This program runs a {type(there).__name__}, which cannot draw; it needs a QApplication.")
