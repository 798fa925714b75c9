"""Short texts about a queue of runs: how far it is, and what each of its runs has reached."""

import math
from typing import TYPE_CHECKING

from attnlab.base.counted import format_percent
from attnlab.training.results import Result, format_loss

if TYPE_CHECKING:
    from attnlab.ui.train.run_queue import Entry, RunQueue


def describe_queue(queue: "RunQueue") -> str:
    """Return the title of a queue and how far it is, "" without one."""
    if not queue.entries:
        return ""
    n = len(queue.entries)
    if queue.done == n:
        return f"{queue.title}: all {n} runs are done."
    current = queue.current
    stopped = "the others waited when the window was closed" if queue.is_left_over else "stopped"
    state = f"training {hold_together(current.planned.name)}" if current is not None else stopped
    return f"{queue.title}: {queue.done} of {n} runs done, {state}."


def hold_together(name: str) -> str:
    """Return the name of a planned run, such as "seed 2", so that no line ends between a setting and its value."""
    return name.replace(" ", "\N{NO-BREAK SPACE}")


def describe_entry(entry: "Entry", running: bool) -> str:
    """Return in one or two words what a run has reached."""
    run = entry.run
    if run is None:
        return "being read" if entry.loading else "waiting"
    if running:
        return f"step {run.step:,}"
    if run.status == "failed":
        return "failed"
    if entry.diverged:
        return f"NaN at {run.step:,}"
    if not entry.over:
        return f"stopped at {run.step:,}"
    return describe_value(entry.make_result())


def describe_value(result: Result) -> str:
    """Return the share of right tokens, or the loss of a task on numbers; a run that failed says so."""
    if math.isfinite(result.right):
        return format_percent(result.right)
    return f"loss {format_loss(result.loss)}" if math.isfinite(result.loss) else "no result"


def tell_entry(entry: "Entry", running: bool) -> str:
    """Return the tool tip of a run: how it ended, and its best head for each pattern."""
    run = entry.run
    if run is None:
        return "It is trained after those above"
    lines = [run.sentence or f"Step {run.step:,} of {run.spec.train.steps:,}"]
    if not running:
        lines += [f"{best.pattern} {best.score:.2f} on held-out examples, {best.head}" for best in entry.patterns]
    return "\n".join(lines)
