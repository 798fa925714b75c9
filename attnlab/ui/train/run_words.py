"""What is said of a run in a few words: in what it differs, how it stands, when it was kept."""

import math
import time
from dataclasses import replace

from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.training.store import Summary


def difference(spec: RunSpec, other: RunSpec) -> str:
    """Return in what another run differs, in few words: "seed 1", "positions none"."""
    if spec.model.kind != other.model.kind:
        return f"{other.model.kind}, seed {other.train.seed}"
    found = [
        f"{name.replace('_', ' ')} {getattr(theirs, name)}"
        for mine, theirs in ((spec.model, other.model), (replace(spec.train, seed=0), replace(other.train, seed=0)))
        for name in mine.__dataclass_fields__
        if getattr(mine, name) != getattr(theirs, name)
    ]
    return ", ".join(found[:2]) or f"seed {other.train.seed}"


def line(found: Summary, spec: RunSpec) -> tuple[str, str]:
    """Return what a run is called in a list beside one with these settings, and what more there is to say."""
    assert found.spec is not None
    name = found.name
    if name == usual_name(found.spec) and found.spec.task == spec.task:
        name = difference(spec, found.spec)
    return (
        name,
        f"{found.name} · {state(found)} · {when(found.saved)}\nClick: its curves over these; double click: open",
    )


def usual_name(spec: RunSpec) -> str:
    """Return what a run is called that nobody has named."""
    return f"{spec.task}, seed {spec.train.seed}"


def state(found: Summary) -> str:
    """Return how far a run came: "step 120 of 2,000, interrupted"."""
    assert found.spec is not None
    told = "" if found.step >= found.spec.train.steps else f", {found.status}"
    return f"step {found.step:,} of {found.spec.train.steps:,}{told}"


def when(seconds: float) -> str:
    """Return a time of day, with the day where it is not today."""
    at, now = time.localtime(seconds), time.localtime()
    return time.strftime("%H:%M" if at[:3] == now[:3] else "%Y-%m-%d %H:%M", at)


def loss_of(run: Run) -> float:
    """Return the last held-out loss of a run, NaN where there is none."""
    return run.metrics[-1].loss if run.metrics else math.nan
