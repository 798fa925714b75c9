"""Converts the last choices of a figure to words for the settings and back; those of films are "film.fps=15"."""

from collections.abc import Sequence
from dataclasses import fields, replace

from attnlab.base.errors import AttnlabError
from attnlab.figures.figure_format import FigureFormat
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.export.table_format import TableFormat
from attnlab.files.export.table_formats import TABLES

_OF_WHAT_IS_OPEN = ("stages", "canvas", "head", "title", "columns", "scale", "each_head", "mute_sinks")
"""Only how a figure is drawn is remembered, not which stage, head and colours of the card it shows."""
_KEPT = tuple(field.name for field in fields(FigureSpec) if field.name not in _OF_WHAT_IS_OPEN)
_MAY_BE_NONE = frozenset(field.name for field in fields(FigureSpec) if field.default is None)
_FORMATS: tuple[FigureFormat | TableFormat, ...] = (*FIGURES.values(), *TABLES.values())
FORMATS = {each.ending.removeprefix("."): each.title for each in _FORMATS}
"""What a stage can be exported to: the titles by ending, such as "png"."""


def write_words(spec: FigureSpec, ending: str, before: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the words to remember of a figure and its format, with those of films from ``before``."""
    chosen = (f"{name}={'' if getattr(spec, name) is None else getattr(spec, name)}" for name in _KEPT)
    return (f"format={ending}", *chosen, *find_others(before))


def find_others(remembered: Sequence[str], kind: str = "") -> tuple[str, ...]:
    """Return the words that are not of this kind: "film" or "sweep", or "" for figures."""
    return tuple(word for word in remembered if _find_kind(word) != kind)


def _find_kind(word: str) -> str:
    kind, dot, _ = word.partition("=")[0].partition(".")
    return kind if dot else ""


def read_words(remembered: Sequence[str]) -> tuple[FigureSpec, str]:
    """Return the figure and the ending that words describe; words that are no longer valid are ignored."""
    spec, ending = FigureSpec(), "png"
    for word in remembered:
        name, _, text = word.partition("=")
        if name == "format" and text in FORMATS:
            ending = text
        elif name in _KEPT:
            try:
                spec = replace(spec, **{name: _read_value(name, text)})  # type: ignore[arg-type]
            except (AttnlabError, ValueError):
                continue
    return spec, ending


def _read_value(name: str, text: str) -> object:
    if not text:
        if name not in _MAY_BE_NONE:
            raise ValueError(f"{name} needs a value")
        return None
    if name in ("dpi", "decimals"):
        return int(text)
    if name in ("width_mm", "height_mm", "font_pt"):
        return float(text)
    return text == "True" if name in ("labels", "colour_bar", "each_head", "mute_sinks") else text
