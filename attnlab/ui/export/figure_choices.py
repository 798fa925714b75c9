"""What was last chosen for a figure, as words for the settings, and back; of films it is kept beside, "film.fps=15"."""

from collections.abc import Sequence
from dataclasses import fields, replace

from attnlab.base import formats as export_formats
from attnlab.base.errors import AttnlabError
from attnlab.figures.panels.figure_spec import FigureSpec

_OF_WHAT_IS_OPEN = ("stages", "canvas", "head", "title", "columns")
"""What a figure is of is looked at now; how it is drawn is a habit."""
_KEPT = tuple(field.name for field in fields(FigureSpec) if field.name not in _OF_WHAT_IS_OPEN)
_MAY_BE_NONE = frozenset(field.name for field in fields(FigureSpec) if field.default is None)
FORMATS = {ending.removeprefix("."): title for ending, title in export_formats.FORMATS.items()}


def words(spec: FigureSpec, ending: str, before: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what is to be remembered of a figure and the kind of file, with what ``before`` was of films."""
    chosen = (f"{name}={'' if getattr(spec, name) is None else getattr(spec, name)}" for name in _KEPT)
    return (f"format={ending}", *chosen, *others(before))


def others(remembered: Sequence[str], kind: str = "") -> tuple[str, ...]:
    """Return the words that are of another kind: "film" or "sweep", or "" for figures."""
    return tuple(word for word in remembered if _kind(word) != kind)


def _kind(word: str) -> str:
    kind, dot, _ = word.partition("=")[0].partition(".")
    return kind if dot else ""


def recalled(remembered: Sequence[str]) -> tuple[FigureSpec, str]:
    """Return the figure and the ending that words remember; what cannot be drawn any more is left out alone."""
    spec, ending = FigureSpec(), "png"
    for word in remembered:
        name, _, text = word.partition("=")
        if name == "format" and text in FORMATS:
            ending = text
        elif name in _KEPT:
            try:
                spec = replace(spec, **{name: _value(name, text)})  # type: ignore[arg-type]
            except (AttnlabError, ValueError):
                continue
    return spec, ending


def _value(name: str, text: str) -> object:
    if not text:
        if name not in _MAY_BE_NONE:
            raise ValueError(f"{name} needs a value")
        return None
    if name in ("dpi", "decimals"):
        return int(text)
    if name in ("width_mm", "height_mm", "font_pt"):
        return float(text)
    return text == "True" if name in ("labels", "colour_bar") else text
