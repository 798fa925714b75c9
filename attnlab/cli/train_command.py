"""The command ``attnlab train``: starts a run or resumes one, or lists the tasks."""

import argparse
import os
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.base.console import OK, say
from attnlab.base.errors import FileError, TrainingError
from attnlab.base.number_text import quote
from attnlab.cli.command_line import MisuseError, Parser

if TYPE_CHECKING:
    from attnlab.attention.registries.entries import Option
    from attnlab.training.specs import RunSpec

CHILD = "--child"
"""The argument with which :mod:`attnlab.training.process` starts the frozen program; a pipe's number follows."""
PAIRS, LINES, TABLE = "pairs", "lines", ".tsv"
"""The task of --data without TASK: pairs for files with this ending, else lines."""
_SWITCHES = {"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}


def main(argv: list[str]) -> int:
    """Run ``attnlab train`` with these arguments and return its exit code."""
    if argv[:1] == [CHILD] and len(argv) == 2 and argv[1].isdecimal():
        from attnlab.training.child import main as child

        child(int(argv[1]))
    options = _parser().parse_args(argv)
    if options.list:
        return _list_tasks(options.task)
    if options.data is not None and options.resume is None and options.task is None:
        options.task = PAIRS if options.data.lower().endswith(TABLE) else LINES
    if (options.task is None) == (options.resume is None):
        raise MisuseError(
            "Give either a TASK to train or --resume RUN to continue a run; attnlab train --list names the tasks."
        )
    return _resume(options) if options.resume is not None else _start(options)


def _parser() -> Parser:
    parser = Parser(
        prog="attnlab train",
        description="Train a tiny model; attnlab RUN opens the run in the window.",
        epilog="Ctrl+C ends the run after the current step and saves it; --resume continues from there. A second "
        "Ctrl+C saves at once, without waiting for the step.",
    )
    parser.add_argument("task", nargs="?", metavar="TASK", help="the task to learn; --list names all tasks")
    parser.add_argument(
        "--data",
        metavar="FILE",
        help="your own file to learn from: pairs in a .tsv (source, tab, target), else lines; TASK may be left out",
    )
    parser.add_argument("--model", metavar="KIND", help="the kind of model; each task has a default")
    parser.add_argument(
        "--steps", type=_parse_steps, metavar="N", help="number of training steps (default: the task's)"
    )
    parser.add_argument(
        "--seed", type=_parse_whole, metavar="N", help="seed of the initial weights and the examples (default 0)"
    )
    parser.add_argument("--device", metavar="D", help="cpu, cuda or mps (default cpu)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting, repeatable"
    )
    several = parser.add_mutually_exclusive_group()
    several.add_argument(
        "--seeds", metavar="LIST", help="one run for each seed, such as 0-4, one after the other, and a table of them"
    )
    several.add_argument(
        "--vary", metavar="NAME=LIST", help="the same for another setting, such as rate=0.001,0.003 or heads=1,2,4"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="RUN",
        help="a new folder for the run or the runs (default: in attnlab's own folder)",
    )
    parser.add_argument("--resume", metavar="RUN", help="continue a run; --steps sets a new total")
    parser.add_argument("--allow-text", action="store_true", help="let --resume read the text file that the run names")
    parser.add_argument("--list", action="store_true", help="list the tasks, or only TASK")
    return parser


def _parse_steps(text: str) -> int:
    return _parse_whole(text, least=1)


def _parse_whole(text: str, least: int = 0) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 16 and int(text) >= least):
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a whole number of at least {least}; 2000 would be")
    return int(text)


def _list_tasks(name: str | None) -> int:
    """List the tasks, or only the one that is named.

    Raises:
        TrainingError: there is no such task.
    """
    from attnlab.training.tasks import TASKS, make_spec

    tasks = [task for task in TASKS.values() if name is None or task.name == make_spec(name).task]
    width = max(len(task.name) for task in tasks)
    say("".join(f"{task.name:{width}}  {task.about}  ({', '.join(task.kinds)})\n" for task in tasks))
    return OK


def _start(options: argparse.Namespace) -> int:
    from attnlab.cli import train_queue
    from attnlab.cli.train_progress import follow
    from attnlab.training import allowed_texts
    from attnlab.training.process import TrainingProcess
    from attnlab.training.run import Run
    from attnlab.training.store import new_folder
    from attnlab.training.tasks import check, find_own_text, make_spec

    spec = make_spec(options.task, options.model)
    given = {name: getattr(options, name) for name in ("steps", "seed", "device") if getattr(options, name) is not None}
    data = [] if options.data is None else [f"{_find_file_option(spec.task)}={options.data}"]
    spec = apply_settings(replace(spec, train=replace(spec.train, **given)), [*data, *options.set])
    varied = options.vary if options.seeds is None else f"seed={options.seeds}"
    if varied is not None and options.seeds is not None and options.seed is not None:
        raise MisuseError("--seeds and --seed are given; one of them would do.")
    runs = train_queue.plan(spec, varied, apply_settings) if varied is not None else ()
    if problem := "" if runs else check(spec):
        raise TrainingError(problem)
    if text := find_own_text(spec):
        allowed_texts.allow(text)
    if runs:
        return train_queue.train_all(runs, options.output and _check_unused(options.output))
    folder = _check_unused(options.output) if options.output is not None else new_folder(spec)
    run = Run(spec, folder.name)
    return follow(run, TrainingProcess(spec, interval=run.recorder.interval), folder)


def _resume(options: argparse.Namespace) -> int:
    own = ("model", "seed", "device", "output", "seeds", "vary", "data")
    refused = [name for name in own if getattr(options, name) is not None]
    if refused or options.set:
        raise MisuseError(f"--resume keeps the settings of the run; --{(refused or ['set'])[0]} is only for a new run.")
    from attnlab.cli.train_progress import follow
    from attnlab.files.atomic import format_name
    from attnlab.files.source import RUN, run_folder
    from attnlab.training import allowed_texts
    from attnlab.training.process import resume
    from attnlab.training.run import Run
    from attnlab.training.store import find_runs_folder, load
    from attnlab.training.tasks import check, check_text, find_own_text

    folder = Path(options.resume)
    if os.path.basename(options.resume) == options.resume and not folder.exists():
        folder = find_runs_folder() / folder
    kept = run_folder(folder)
    if kept is None:
        raise FileError(
            f"There is no run in {format_name(folder)}; --resume needs the folder of a run, with its {RUN}."
        )
    state = load(kept)
    if options.steps is not None:
        if options.steps < state.step:
            raise MisuseError(
                f"The run {options.resume} has taken {state.step:,} steps; --steps {options.steps} must be larger."
            )
        state = replace(state, spec=replace(state.spec, train=replace(state.spec.train, steps=options.steps)))
    if text := find_own_text(state.spec):
        if options.allow_text:
            allowed_texts.allow(text)
        elif not allowed_texts.is_allowed(text):
            raise TrainingError(f"{allowed_texts.write_question(text)} Add --allow-text to let attnlab read it.")
    if problem := check(state.spec) or check_text(state.spec, state.digest):
        raise TrainingError(problem)
    run = Run.of(state)
    return follow(run, resume(run), kept)


def _find_file_option(task: str) -> str:
    """Return the name of the option of a task that is a file.

    Raises:
        MisuseError: it learns from no file.
    """
    from attnlab.training.tasks import TASKS

    files = {each.name: option.name for each in TASKS.values() for option in each.options if option.kind == "file"}
    if task not in files:
        raise MisuseError(f"The task {task} learns from no file; --data is for {', '.join(files)}.")
    return files[task]


def _check_unused(folder: Path) -> Path:
    """Return a folder for a new run.

    Raises:
        FileError: the folder exists and is not empty.
    """
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileError(f"{folder} already exists; -o needs a new folder. To continue a run, use --resume {folder}.")
    return folder


def apply_settings(spec: "RunSpec", settings: Sequence[str]) -> "RunSpec":
    """Return a spec with settings written NAME=VALUE: options of its task, or fields of the model or the training.

    Raises:
        MisuseError: an unknown name, or a value of the wrong type.
    """
    from attnlab.training.tasks import TASKS

    options = {option.name: option for option in TASKS[spec.task].options}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise MisuseError(f"--set {quote(setting)} needs a name and a value: --set rate=0.001.")
        if name in options:
            spec = replace(spec, options={**spec.options, name: _option_value(options[name], text)})
        elif name in {field.name for field in fields(spec.model)} - {"kind"}:
            spec = replace(spec, model=replace(spec.model, **{name: _convert(getattr(spec.model, name), name, text)}))
        elif name in {field.name for field in fields(spec.train)}:
            spec = replace(spec, train=replace(spec.train, **{name: _convert(getattr(spec.train, name), name, text)}))
        else:
            own = [field.name for part in (spec.model, spec.train) for field in fields(part) if field.name != "kind"]
            raise MisuseError(f"There is no setting {quote(name)}; there are {', '.join([*options, *own])}.")
    return spec


def _option_value(option: "Option", text: str) -> Any:
    if option.kind == "switch":
        if text.lower() not in _SWITCHES:
            raise MisuseError(f"{option.name} is {quote(text)}; it needs {option.needs}.")
        return bool(_SWITCHES[text.lower()])
    if option.kind == "file" and text:
        return os.path.abspath(text)
    return _convert({"whole": 0, "number": 0.0}.get(option.kind, ""), option.name, text)


def _convert(value: Any, name: str, text: str) -> Any:
    """Convert a text to the type of ``value``: a whole number, a number or a text."""
    if isinstance(value, str):
        return text
    try:
        return int(text) if isinstance(value, int) else float(text)
    except ValueError:
        needed = "a whole number" if isinstance(value, int) else "a number"
        raise MisuseError(f"{name} is {quote(text)}; it needs {needed}.") from None
