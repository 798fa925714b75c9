"""The registry of tasks, the tested settings of each, and the checks of a run."""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import ExperimentError, TrainingError
from attnlab.training.specs import ModelSpec, RunSpec
from attnlab.training.tasks import (
    characters,
    dates,
    induction,
    letters,
    masked,
    own_lines,
    own_pairs,
    short_questions,
    sums,
    texts,
)
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.task import Task, Variant

__all__ = [
    "TASKS",
    "Data",
    "Task",
    "Variant",
    "check",
    "check_options",
    "check_text",
    "compute_digest",
    "make_data",
    "make_spec",
]

_OWN = (own_pairs.TASK, own_lines.TASK)
_ALL = (
    *letters.TASKS,
    induction.TASK,
    dates.TASK,
    short_questions.TASK,
    masked.TASK,
    characters.TASK,
    sums.TASK,
    *_OWN,
)
TASKS: Mapping[str, Task] = MappingProxyType({task.name: task for task in _ALL})


def make_spec(name: str, kind: str | None = None) -> RunSpec:
    """Return settings that are known to learn a task, for a kind of model or for the task's default kind.

    Raises:
        TrainingError: the task does not exist, or it does not support the kind.
    """
    if name not in TASKS:
        raise TrainingError(f"There is no task {name!r}; there are {', '.join(TASKS)}.")
    task = TASKS[name]
    if kind is not None and kind not in task.kinds:
        raise TrainingError(_describe_wrong_kind(task, kind))
    return task.settings(kind or task.kinds[0])


def make_data(spec: RunSpec) -> Data:
    """Return the examples of a run; runs with the same options and kind of model share them.

    Raises:
        TrainingError: the task, its options or the kind of model are invalid.
    """
    problem = check_options(spec)
    if problem:
        raise TrainingError(problem)
    options = TASKS[spec.task].options
    chosen = {option.name: spec.options.get(option.name, option.default) for option in options}
    stamps = tuple(texts.stamp(str(chosen[option.name])) for option in options if option.kind == "file")
    return _make(spec.task, tuple(sorted(chosen.items())), spec.model.kind, stamps)


def compute_digest(spec: RunSpec) -> str:
    """Return the SHA-256 of the user's text that a run learns from, "" if it learns from another source.

    Raises:
        TrainingError: the text cannot be read.
    """
    path = find_own_text(spec)
    return sha256(texts.read(path).encode()).hexdigest() if path else ""


def check_text(spec: RunSpec, known: str) -> str:
    """Return one sentence if the text of a run no longer has the digest ``known``; "" if it has, or if that is ""."""
    try:
        same = not known or compute_digest(spec) == known
    except TrainingError as error:
        return str(error)
    do = "restore the earlier text, or start a new run"
    return "" if same else f"The text {find_own_text(spec)} has changed since this run began; {do}."


def find_own_text(spec: RunSpec) -> str:
    """Return the path of the user's own text that a run learns from, or ""."""
    files = [option.name for option in TASKS[spec.task].options if option.kind == "file"] if spec.task in TASKS else []
    return next((str(spec.options[name]) for name in files if spec.options.get(name)), "")


@lru_cache(maxsize=8)
def _make(
    task: str, options: tuple[tuple[str, int | float | str], ...], kind: str, stamps: tuple[tuple[int, int], ...]
) -> Data:
    return TASKS[task].make(RunSpec(task, dict(options), ModelSpec(kind=kind)))


def check(spec: RunSpec) -> str:
    """Return one sentence that says what is invalid in a run and what is valid; "" if the run can start."""
    from attnlab.training.models import check as check_model  # the models import the tasks
    from attnlab.training.models import check_heads_off
    from attnlab.training.train_checks import check_memory, check_train

    problem = check_options(spec) or check_train(spec.train)
    if problem:
        return problem
    try:
        data = make_data(spec)
        return check_model(spec.model, data) or check_heads_off(spec, data) or check_memory(spec, data)
    except TrainingError as error:  # the text cannot be read
        return str(error)


def check_options(spec: RunSpec) -> str:
    """Return one sentence on why the task, its options or the kind of model are invalid; "" if they are valid."""
    if spec.task not in TASKS:
        return f"There is no task {spec.task!r}; there are {', '.join(TASKS)}."
    task = TASKS[spec.task]
    if spec.model.kind not in task.kinds:
        return _describe_wrong_kind(task, spec.model.kind)
    options = {option.name: option for option in task.options}
    for name, value in spec.options.items():
        if name not in options:
            known = f"it has {', '.join(options)}" if options else "it has none"
            return f"The task {task.name} has no option {name!r}; {known}."
        problem = _check_value(options[name], value)
        if problem:
            return problem
    return task.check(spec)


def _describe_wrong_kind(task: Task, kind: str) -> str:
    return f"The task {task.name} cannot use a model of kind {kind!r}; it can use {', '.join(task.kinds)}."


def _check_value(option: Option, value: int | float | str) -> str:
    if option.kind == "file":
        return "" if isinstance(value, str) else f"{option.name} is {value!r}; it needs the path of a file."
    try:
        option.take(value)
    except ExperimentError as error:
        return str(error)
    return ""
