"""Conversion of the settings of a run to plain JSON and back, with checks of names and types."""

import math
from dataclasses import asdict, fields
from typing import Any, TypeVar

from attnlab.base.errors import TrainingError
from attnlab.files.atomic import format_name
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec

MOST = 2**53
"""The largest whole number that every JSON reader reads exactly."""
LONGEST, MOST_OPTIONS = 4096, 64
"""The maximum length of a text in characters, and of a task's options."""
_KINDS = {int: "a whole number", float: "a number", str: "text"}

Spec = TypeVar("Spec", ModelSpec, TrainSpec)


def to_json(spec: RunSpec) -> dict[str, Any]:
    """Return a spec as plain JSON, which :func:`from_json` reads."""
    return {**asdict(spec), "options": dict(spec.options)}


def from_json(value: Any) -> RunSpec:
    """Return the spec in plain JSON; whether it can be trained is checked later, by the registries.

    Raises:
        TrainingError: a name is missing or unknown, or a value has the wrong type; the sentence names it.
    """
    if not isinstance(value, dict) or value.keys() != {"task", "options", "model", "train"}:
        raise TrainingError("The settings of a run need task, options, model and train, and nothing else.")
    options = value["options"]
    if not isinstance(options, dict) or len(options) > MOST_OPTIONS:
        raise TrainingError(f"options needs to be an object with at most {MOST_OPTIONS} names and values.")
    taken = {
        _is_text("options", name): _is_scalar(f"options.{format_name(name[:40])}", given)
        for name, given in options.items()
    }
    model, train = _read_spec("model", value["model"], ModelSpec), _read_spec("train", value["train"], TrainSpec)
    return RunSpec(_is_text("task", value["task"]), taken, model, train)


def _read_spec(place: str, given: Any, kind: type[Spec]) -> Spec:
    wanted = {field.name: type(field.default) for field in fields(kind)}
    if not isinstance(given, dict):
        raise TrainingError(f"{place} needs values by name: {', '.join(wanted)}.")
    for name in given:
        if name not in wanted:
            raise TrainingError(f"{place}.{format_name(str(name)[:40])} is unknown; there are {', '.join(wanted)}.")
    taken = {}
    for name, value in given.items():
        where = f"{place}.{name}"
        found = _is_scalar(where, value)
        if type(found) is int and wanted[name] is float:
            found = float(found)
        if type(found) is not wanted[name]:
            raise TrainingError(f"{where} is {format_name(repr(value)[:40])}; it needs {_KINDS[wanted[name]]}.")
        taken[name] = found
    return kind(**taken)


def _is_scalar(place: str, value: Any) -> int | float | str:
    if isinstance(value, str):
        return _is_text(place, value)
    if isinstance(value, bool):  # a switch among a task's options
        return value
    if type(value) is int and abs(value) <= MOST:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    raise TrainingError(f"{place} is {format_name(repr(value)[:40])}; it needs text or a number that is not too large.")


def _is_text(place: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise TrainingError(
            f"{place} is {format_name(repr(value)[:40])}; it needs text of at most {LONGEST:,} letters."
        )
    return value
