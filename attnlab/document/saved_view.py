"""The saved view of a session as plain JSON: written completely, and restored as far as it fits the experiment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages import walk
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.walk import Place
from attnlab.document.saved_model import SavedModel, model_from_plain, model_to_plain
from attnlab.document.view import View, fit_view
from attnlab.figures.scales import AUTOMATIC, SCALES, Colouring

T = TypeVar("T")
KEY = "shown"
"""The key of the saved view in a session's view."""
LOOKS = ("present", "pinned", "both", "difference")
_LONGEST = 4096
_COLOURING = ("scale", "each_head", "mute_sinks")
_CALLED = {
    "head": "the head",
    "alone": "the stage that filled the canvas",
    "at": "the step",
    "depth": "how far a step goes",
    "cell": "the selected cell",
    "held": "the selected cell",
    "look": "the comparison",
    "strips": "the figures",
    "colours": "the colours",
    "lens": "the lens",
    "table": "the table",
    "pinned": "the pinned state",
    "lesson": "the lesson",
    "model": "the model",
}


@dataclass(frozen=True, slots=True)
class LessonPlace:
    """The place in a lesson: its name or file, the step and its frame, counted from 0."""

    lesson: str
    step: int = 0
    frame: int = 0


@dataclass(frozen=True, slots=True)
class SavedView:
    """Everything that is shown besides the experiment itself.

    ``lens`` is an argument for :meth:`LensArea.open_lens`, ``table`` the table open among the inputs, "" for any;
    ``pinned`` is the device and the dtype of the pinned state, None if no state is pinned; ``model`` is the real model
    that is open beside it.
    """

    view: View
    lens: str = "canvas"
    table: str = ""
    pinned: tuple[str, str] | None = None
    lesson: LessonPlace | None = None
    model: SavedModel | None = None


def to_plain(saved: SavedView) -> dict[str, Any]:
    """Return a saved view as plain JSON values, without the step, which follows from the place of the walk."""
    view, lesson = saved.view, saved.lesson
    return {
        "head": view.head,
        "alone": view.alone,
        "at": None if view.at is None else _fields(view.at, "stage", "row", "column", "term"),
        "depth": view.depth,
        "cell": None if view.cell is None else _fields(view.cell, "stage", "row", "column", "head"),
        "held": view.pinned,
        "look": view.look,
        "strips": view.strips,
        "colours": {stage: _fields(each, *_COLOURING) for stage, each in view.colours},
        "lens": saved.lens,
        "table": saved.table,
        "pinned": None if saved.pinned is None else dict(zip(("device", "dtype"), saved.pinned, strict=True)),
        "lesson": None if lesson is None else _fields(lesson, "lesson", "step", "frame"),
        "model": None if saved.model is None else model_to_plain(saved.model),
    }


def from_plain(plain: object, e: Experiment) -> tuple[SavedView, tuple[str, ...]]:
    """Return the saved view in plain values as far as it fits the experiment, and the names of the dropped parts.

    The names are such as "the lens", "the selected cell". Missing parts get their initial values. Never raises.
    """
    first, wrong = fit_view(View(), e, first=True), dict[str, None]()
    said = plain if isinstance(plain, Mapping) else {}
    if said is not plain:
        wrong["the view"] = None

    def read(key: str, default: T, of: Callable[[Any], T]) -> T:
        try:
            return of(said[key]) if key in said else default
        except _WrongError:
            wrong[_CALLED[key]] = None
            return default

    view = View(
        head=read("head", first.head, lambda value: _head(value, e)),
        alone=read("alone", None, lambda value: None if value is None else _stage(value, e)),
        cell=read("cell", None, lambda value: None if value is None else _cell(value, e)),
        pinned=read("held", False, _switch),
        look=read("look", "present", lambda value: _one_of(value, LOOKS)),
        strips=read("strips", False, _switch),
        colours=read("colours", (), _colours),
        depth=read("depth", "stage", lambda value: _one_of(value, walk.DEPTHS)),
        at=read("at", None, lambda value: None if value is None else _place(value, e)),
    )
    if view.cell is None:
        view = replace(view, pinned=False)
    saved = SavedView(
        fit_view(view, e),
        lens=read("lens", "canvas", _lens),
        table=read("table", "", _text),
        pinned=read("pinned", None, _read_computed),
        lesson=read("lesson", None, _lesson),
        model=read("model", None, _model),
    )
    return saved, tuple(wrong)


def describe_dropped(dropped: tuple[str, ...]) -> str:
    """Return one sentence on the dropped parts, "" if there are none."""
    if not dropped:
        return ""
    *first, last = dropped
    what = f"{', '.join(first)} and {last}" if first else last
    return f"The file has no valid value for {what}; everything else is restored."


class _WrongError(ValueError):
    """A value in a file is not valid for the experiment."""


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _check_known(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _WrongError
    return value


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise _WrongError
    return value


def _colours(value: object) -> tuple[tuple[str, Colouring], ...]:
    found = {}
    for stage, each in _check_known(value).items():
        if stage not in BY_NAME:
            raise _WrongError
        scale, *switches = (_check_known(each).get(name, getattr(AUTOMATIC, name)) for name in _COLOURING)
        found[stage] = Colouring(_one_of(scale, tuple(SCALES)), *map(_switch, switches))
    return tuple(sorted(found.items()))


def _whole(value: object, least: int, below: int) -> int:
    if type(value) is not int or not least <= value < below:
        raise _WrongError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not all(c.isprintable() for c in value):
        raise _WrongError
    return value


def _one_of(value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise _WrongError
    return value


def _head(value: object, e: Experiment) -> int | str:
    return _one_of(value, ("mean", "all")) if isinstance(value, str) else _whole(value, 0, e.n_heads)


def _stage(value: object, e: Experiment) -> str:
    if not isinstance(value, str) or value not in BY_NAME or not BY_NAME[value].present(e):
        raise _WrongError
    return value


def _cell(value: object, e: Experiment) -> Cell:
    plain = _check_known(value)
    stage, head = _stage(plain.get("stage"), e), plain.get("head")
    rows, columns = walk.shape(e, stage)
    row, column = _whole(plain.get("row"), 0, rows), _whole(plain.get("column"), 0, columns)
    return Cell(
        stage, row, column, _whole(head, 0, e.n_heads) if head is not None and BY_NAME[stage].has_heads else None
    )


def _place(value: object, e: Experiment) -> Place:
    """Return a place of the walk: each part requires the one before it, and −1 means before the first."""
    plain = _check_known(value)
    stage = _stage(plain.get("stage"), e)
    rows, columns = walk.shape(e, stage)
    limits = (("row", -1, rows), ("column", -1, columns), ("term", 0, max(walk.count_terms(e, stage), 1)))
    given = ((plain.get(name), least, below) for name, least, below in limits)
    row, column, term = (None if part is None else _whole(part, least, below) for part, least, below in given)
    if any(part is not None and before in (None, -1) for before, part in pairwise((row, column, term))):
        raise _WrongError
    return Place(stage, row, column, term)


def _lens(value: object) -> str:
    from attnlab.lessons.lenses import LENSES  # not at the start: few sessions need it

    name, _, page = _text(value).partition("/")
    if name != "canvas" and (name not in LENSES or (page and page not in LENSES[name].pages)):
        raise _WrongError
    return name if name == "canvas" or not page else f"{name}/{page}"


def _read_computed(value: object) -> tuple[str, str] | None:
    if value is None:
        return None
    plain = _check_known(value)
    return _text(plain.get("device", "cpu")), _text(plain.get("dtype", "float32"))


def _lesson(value: object) -> LessonPlace | None:
    if value is None:
        return None
    plain = _check_known(value)
    name = _text(plain.get("lesson"))
    if not name:
        raise _WrongError
    return LessonPlace(name, _whole(plain.get("step", 0), 0, 1 << 31), _whole(plain.get("frame", 0), 0, 1 << 31))


def _model(value: object) -> SavedModel | None:
    if value is None:
        return None
    try:
        return model_from_plain(value)
    except ValueError:
        raise _WrongError from None
