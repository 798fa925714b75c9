"""``attnlab train TASK --seeds 0-4``: several runs that differ in one setting, one after the other, and a table."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.console import INTERRUPTED, OK, say, warn
from attnlab.base.errors import TrainingError
from attnlab.base.number_text import quote
from attnlab.cli.command_line import MisuseError
from attnlab.files.atomic import write_bytes

if TYPE_CHECKING:
    from attnlab.training.questions import Planned
    from attnlab.training.results import Result
    from attnlab.training.run import Run
    from attnlab.training.specs import RunSpec

MOST = 100
"""The maximum number of runs of one command."""
TABLE = "results.csv"
"""The table in the folder of a queue."""


def plan(spec: "RunSpec", varied: str, apply: Callable[["RunSpec", list[str]], "RunSpec"]) -> "tuple[Planned, ...]":
    """Return the runs of ``varied``, NAME=VALUES; ``apply`` sets NAME=VALUE in settings.

    Values are separated by commas; 0-4 stands for all whole numbers from 0 to 4.

    Raises:
        MisuseError: there is no such setting, a value has the wrong type or occurs twice, or there are too many.
        TrainingError: a run cannot be trained with its value.
    """
    from attnlab.training.questions import Planned, check_plan
    from attnlab.training.tasks import TASKS, check

    name, equals, values = varied.partition("=")
    if not equals or not values:
        raise MisuseError(f"--vary {quote(varied)} needs a name and values: --vary heads=1,2,4.")
    if any(option.name == name and option.kind == "file" for option in TASKS[spec.task].options):
        raise MisuseError(f"--vary cannot try several files as {name}; train each with --set {name}=FILE.")
    chosen = [value for part in values.split(",") for value in _expand(part.strip())]
    if len(set(chosen)) < len(chosen):
        raise MisuseError(f"--vary {quote(varied)} gives a value twice.")
    if len(chosen) > MOST:
        raise MisuseError(f"--vary {quote(varied)} asks for {len(chosen):,} runs; the maximum is {MOST}.")
    runs = tuple(Planned(f"{name} {value}", apply(spec, [f"{name}={value}"])) for value in chosen)
    if problem := check_plan(runs, check):
        raise TrainingError(problem)
    return runs


def _expand(part: str) -> list[str]:
    first, dash, last = part.partition("-")
    if not (dash and first.isascii() and first.isdecimal() and last.isascii() and last.isdecimal()):
        return [part]
    if max(len(first), len(last)) > 15 or int(last) - int(first) >= MOST or int(last) < int(first):
        raise MisuseError(f"{quote(part)} needs to be a range such as 0-4, of at most {MOST} values.")
    return [str(value) for value in range(int(first), int(last) + 1)]


def train_all(runs: "tuple[Planned, ...]", output: Path | None) -> int:
    """Train the runs one after the other, print a table of their results, and return the exit code.

    With ``output``, each is saved in its own folder in there, and the table as CSV beside them; otherwise they are
    saved among the user's own runs. A run that fails is reported, and the next one begins; Ctrl+C ends all of them.

    Raises:
        FileError: a run or the table cannot be saved.
    """
    from attnlab.cli.train_progress import follow
    from attnlab.training.process import TrainingProcess
    from attnlab.training.results import to_csv, to_text
    from attnlab.training.run import Run
    from attnlab.training.store import new_folder

    results, code = list["Result"](), OK
    for number, planned in enumerate(runs, 1):
        warn(f"{planned.name} ({number} of {len(runs)})")
        folder = new_folder(planned.spec) if output is None else output / re.sub(r"[^\w.+-]", "-", planned.name)
        run = Run(planned.spec, planned.run_name if output is None else planned.name)
        ended = follow(run, TrainingProcess(planned.spec, interval=run.recorder.interval), folder)
        results.append(measure(planned.name, run))
        if output is not None:  # after every run, so that a crash leaves the table of those before
            write_bytes(output / TABLE, to_csv(results).encode())
        code = code if ended == OK else ended
        if ended == INTERRUPTED:
            break
    say(to_text(results))
    if output is not None:
        say(f"{output / TABLE}\n")
    return code


def measure(name: str, run: "Run") -> "Result":
    """Return the result of a run, with the scores of its last weights for the patterns of its task."""
    from attnlab.training.best_heads import measure_best_heads
    from attnlab.training.look import Viewer
    from attnlab.training.results import make_result

    if run.weights is None:
        return make_result(name, run)
    return make_result(name, run, measure_best_heads(Viewer(run.spec), run.weights))
