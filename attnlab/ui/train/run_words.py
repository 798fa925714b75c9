"""Short texts about a run: its differences from another, its state, its time."""

import math
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnlab.training.heads_off import describe_heads
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.training.store import Summary

Named = tuple[str, RunSpec]
"""The name of a run, and its settings."""
FINISHED = "finished"
DIVERGED = "Training stopped at step"
"""The beginning of the sentence of a run whose numbers were no longer finite."""
EDITED = "edited"
"""The beginning of a mark's title where edited weights were sent back."""
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
"""Those of strftime are of the system's language."""


def describe_difference(spec: RunSpec, other: RunSpec, step: int) -> str:
    """Return the differences of another run, which has reached a step, in few words: "positions none, seed 1".

    If only its number of steps is another, or also its seed, this says how many it has taken: "2,000 steps",
    "seed 1, 1,061 of 2,000 steps".
    """
    if spec.model.kind != other.model.kind:
        return f"{other.model.kind}, seed {other.train.seed}"
    off = describe_heads(other.train.heads_off)
    options = [] if spec.task != other.task else [name for name in other.options if name in spec.options]
    found = [
        f"{name_setting(spec.task, name)} {write_setting(other.options[name])}"
        for name in options
        if spec.options[name] != other.options[name]
    ]
    found += [
        off if name == "heads_off" else f"{name_setting(spec.task, name)} {getattr(theirs, name)}"
        for mine, theirs in ((spec.model, other.model), (replace(spec.train, seed=0), replace(other.train, seed=0)))
        for name in mine.__dataclass_fields__
        if getattr(mine, name) != getattr(theirs, name)
    ]
    telling = [each for each in found if not each.startswith("steps ")]  # a branch has more steps
    seed = f"seed {other.train.seed}"
    seeds = [seed] if other.train.seed != spec.train.seed else []
    if found and not telling:
        return ", ".join([*seeds, f"{format_reached(step, other.train.steps)} steps"])
    return ", ".join([*telling[:2], *seeds]) or seed


def name_setting(task: str, name: str) -> str:
    """Return what the settings of a task call one of them: "letters" for symbols, "weight decay"."""
    from attnlab.training.tasks import TASKS

    titles = {option.name: option.title.lower() for option in TASKS[task].options}
    return titles.get(name, name if name in ("d_model", "d_ff") else name.replace("_", " "))


def write_setting(value: Any) -> str:
    """Return the value of a setting as text, of a file its name."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    return Path(value).name or "none" if isinstance(value, str) else f"{value:,}"


def format_reached(step: int, steps: int) -> str:
    """Return how many steps a run has taken, and of how many if it has not taken all: "2,000", "1,061 of 2,000"."""
    return f"{step:,}" if step >= steps else f"{step:,} of {steps:,}"


def format_line(found: Summary, spec: RunSpec, others: Iterable[Named] = ()) -> tuple[str, str]:
    """Return the title of a run in a list beside one with these settings, and its tool tip."""
    assert found.spec is not None
    name = format_title(found)
    told = f"{name} · {describe_state(found)} · saved {format_time(found.saved)} in {found.folder.name}"
    if found.spec.task == spec.task or find_part(found.name, found.spec) is None:
        name = name_beside(spec, found.name, found.spec, found.step, others)
    return name, f"{told}\nClick: overlay its curves; double-click: open"


def name_beside(spec: RunSpec, name: str, other: RunSpec, step: int, others: Iterable[Named] = ()) -> str:
    """Return what another run, which has reached a step, is called beside one with settings ``spec``.

    That is the user's name for it, as in a heading, or else what is different about it.
    """
    part = find_part(name, other)
    if part is None:
        return make_heading(name, other, others)
    return f"seed {other.train.seed}{part}" if part else describe_difference(spec, other, step)


def format_title(found: Summary) -> str:
    """Return the title of a saved run, as :func:`make_title` does."""
    assert found.spec is not None
    return make_title(found.name, found.spec, found.folder, found.saved)


def make_title(name: str, spec: RunSpec, folder: Path | None, saved: float = 0.0) -> str:
    """Return the title of a run: the user's name for it, else its task, its seed, and when it began.

    A branch, and a run of a queue, add their part: "Reverse · seed 0, from step 265 · 14:32:16". Short runs may begin
    in the same minute.
    """
    from attnlab.training.tasks import TASKS

    part = find_part(name, spec)
    if part is None:
        return name
    began = describe_start(folder, saved)
    told = f"{TASKS[spec.task].title} · seed {spec.train.seed}{part}"
    return f"{told} · {began}" if began else told


def describe_start(folder: Path | None, saved: float = 0.0) -> str:
    """Return when a run began, as its folder's name says, else when it was ``saved``; "" if neither is known.

    Of several runs that began in the same second, the later ones are counted: "14:32:16 (2)".
    """
    stamp = re.search(r"-(\d{8}-\d{6})(?:-(\d+))?$", folder.name) if folder is not None else None
    try:
        began = time.mktime(time.strptime(stamp[1], "%Y%m%d-%H%M%S")) if stamp else saved
    except (ValueError, OverflowError):  # a folder that the user has named
        began, stamp = saved, None
    told = format_time(began, exact=True) if began else ""
    return f"{told} ({stamp[2]})" if stamp and stamp[2] else told


def tell_apart(names: Sequence[str], starts: Sequence[str]) -> list[str]:
    """Return the names of runs, equal ones with the time at which each began, as in the titles of runs.

    A run whose start isn't known, "", keeps its name.
    """
    return [
        f"{name} · {start}" if start and names.count(name) > 1 else name
        for name, start in zip(names, starts, strict=True)
    ]


def make_heading(name: str, spec: RunSpec, others: Iterable[Named] = ()) -> str:
    """Return what a run is called in the heading of a figure: the user's name for it, else its task and its seed.

    A name gets its seed where ``others`` have the name with another seed.
    """
    from attnlab.training.tasks import TASKS

    seed, part = f"seed {spec.train.seed}", find_part(name, spec)
    if part is not None:
        return f"{TASKS[spec.task].title}, {seed}{part}"
    shared = any(other == name and theirs.train.seed != spec.train.seed for other, theirs in others)
    return f"{name}, {seed}" if shared and not re.search(rf"\b{seed}\b", name) else name


def find_part(name: str, spec: RunSpec) -> str | None:
    """Return what follows the default name in a run's, such as ", from step 265"; None if the user has named it.

    The default is a window's, or the command line's, after its folder.
    """
    of_folder = rf"{re.escape(spec.task)}-{spec.train.seed}-\d{{8}}-\d{{6}}(?:-\d+)?"
    found = re.fullmatch(rf"(?:{re.escape(make_usual_name(spec))}|{of_folder})(|, .+)", name)
    return found[1] if found is not None else None


def make_usual_name(spec: RunSpec) -> str:
    """Return the default name of a run."""
    return f"{spec.task}, seed {spec.train.seed}"


def describe_state(found: Summary) -> str:
    """Return the progress of a run: "step 120 of 2,000, interrupted"."""
    assert found.spec is not None
    ended = describe_end(found.status, found.step, found.spec.train.steps, found.sentence)
    told = f", {ended}" if ended and (ended != FINISHED or found.step < found.spec.train.steps) else ""
    return f"step {found.step:,} of {found.spec.train.steps:,}{told}"


def describe_end(status: str, step: int, steps: int, sentence: str) -> str:
    """Return how a run ended: "finished", "stopped", "stopped: NaN", "interrupted" or "failed"; "" if it has not.

    ``sentence`` is the run's own about its end, see :class:`attnlab.training.messages.Ended`.
    """
    if status != "ended":
        return status if status in ("interrupted", "failed") else ""
    if sentence.startswith(DIVERGED):
        return "stopped: NaN"
    return FINISHED if step >= steps or sentence.startswith("Done") else "stopped"


def format_time(seconds: float, *, exact: bool = False) -> str:
    """Return a time of day, with its seconds if it is ``exact``, and with the date unless it is today: "2 Jan 14:32".

    Another year than this is named too.
    """
    at, now = time.localtime(seconds), time.localtime()
    clock = time.strftime("%H:%M:%S" if exact else "%H:%M", at)
    if at[:3] == now[:3]:
        return clock
    year = f" {at.tm_year}" if at.tm_year != now.tm_year else ""
    return f"{at.tm_mday} {_MONTHS[at.tm_mon - 1]}{year} {clock}"


def find_loss(run: Run) -> float:
    """Return the last held-out loss of a run, NaN where there is none."""
    return run.metrics[-1].loss if run.metrics else math.nan
