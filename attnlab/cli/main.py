"""The command ``attnlab``: it opens the window, or runs one of the commands without one."""

import argparse
import atexit
import gc
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attnlab import __version__
from attnlab.base.console import INTERRUPTED, OK, flush_stdout, give_stderr, run_guarded, say, silence_stdout
from attnlab.base.display import has_display
from attnlab.base.errors import AttnlabError
from attnlab.bench import NAMES, TIMED
from attnlab.bench import main as run_benches
from attnlab.cli.command_line import (
    MisuseError,
    Parser,
    add_theme,
    check_folder,
    load_torch_before_qt,
    platform_without_display,
)
from attnlab.files.source import Source, check_source, is_weights, load_source, model_folder, parse_source, run_folder

SIZES = (64, 16384)
"""The smallest and the largest side of a screenshot, in pixels."""
VALUED = ("--preset", "--theme", "--screenshot", "--size")
"""The options of the window that a value follows, which is no command."""

EPILOG = """\
commands:
  attnlab show SOURCE            print the numbers of every stage
  attnlab export SOURCE -o OUT   write a figure or a table: png, svg, pdf, csv, npy …
  attnlab code SOURCE            print a PyTorch script that reproduces every stage, or write a notebook
  attnlab presets                list the worked examples
  attnlab lesson NAME|FILE       open a lesson; --pdf prints it, --check finds mistakes
  attnlab train TASK             train a tiny model; the window can open the run
  attnlab model SOURCE TEXT      a real model's attention, patterns and predictions
  attnlab bench [NAME ...]       compare speed with the usual notebook code on this machine
  attnlab doctor                 check the installation
SOURCE is a session file or preset:NAME; export and code also take several sources, folders and patterns.
attnlab COMMAND --help explains a command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0; 2 if the user can fix the problem; 1 for a fault in attnlab."""
    if argv is None:
        atexit.register(gc.freeze)  # or Python collects all of torch before it ends, which takes 0.3 s
    give_stderr()
    try:
        return run_guarded(partial(_run, list(sys.argv[1:] if argv is None else argv)))
    except BrokenPipeError:
        silence_stdout()
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:  # argparse, after --help
        return stop.code if isinstance(stop.code, int) else OK


def _run(argv: list[str]) -> int:
    named = _find_command(argv)
    if named is None:
        code = _window(argv)
    else:  # a command refuses options written before it, unless it has them
        words = argv[named + 1 :]
        end = words.index("--") if "--" in words else len(words)
        code = COMMANDS[argv[named]]([*words[:end], *argv[:named], *words[end:]])
    flush_stdout()
    return code


def _find_command(argv: list[str]) -> int | None:
    """Return the place of the command: first, or behind options; None if there is only a file, or ``--`` before it."""
    if not argv or not (argv[0] in COMMANDS or argv[0].startswith("-")):
        return None
    before = ("", *argv)
    for place, word in enumerate(argv):
        if word == "--":
            return None
        if word in COMMANDS and before[place] not in VALUED:
            return place
    return None


def _window(argv: list[str]) -> int:
    options = _window_parser().parse_args(argv)
    if options.version:
        say(_versions())
        return OK
    source = _window_source(options.file, options.preset)
    other = None if source is None or source.path is None else find_other(source.path)
    source = None if other is not None else source
    if options.screenshot is None and options.size is not None:
        raise MisuseError("--size sets the size of a screenshot; add --screenshot OUT.png.")
    if options.screenshot is not None:
        _check_picture(options.screenshot)
        if source is not None:
            load_source(source)  # a broken file is reported before anything is drawn
        if other is not None:
            _check_other(other)
    elif not has_display():
        if source is not None:
            load_source(source)
        raise AttnlabError(
            "There is no display to open a window on; attnlab --screenshot OUT.png saves a picture of the window."
        )
    load_torch_before_qt()
    with platform_without_display(options.screenshot is not None):
        from attnlab.ui.app.application import end, run
        from attnlab.ui.app.open_file import open_path

        first = None if other is None else partial(open_path, path=other)
        return end(run(source, options.theme, options.screenshot, options.size, on_window=first))


def _window_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="attnlab",
        description="Every number in an attention layer: real, editable, live and exportable.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a session, a run, a model or weights to open")
    parser.add_argument("--preset", metavar="NAME", help="a worked example to open")
    add_theme(parser)
    parser.add_argument("--screenshot", type=Path, metavar="OUT.png", help="save a picture of the window and exit")
    parser.add_argument(
        "--size",
        type=_parse_size,
        metavar="WxH",
        help="size of the screenshot in pixels (default: as the window opens)",
    )
    parser.add_argument("--version", action="store_true", help="print the versions of attnlab, Qt, torch and Python")
    return parser


def _window_source(file: str | None, preset: str | None) -> Source | None:
    if file is not None and preset is not None:
        raise MisuseError("FILE and --preset cannot be used together; give one of them.")
    if preset is not None:
        return Source(preset=preset)
    if file is None:
        return None
    source = parse_source(file)
    if source.path is not None and not source.path.suffix and not os.path.exists(source.path):
        commands = ", ".join(COMMANDS)
        raise MisuseError(f"There is neither a file nor a command {file!r}; the commands are {commands}.")
    check_source(source)
    return source


def find_other(path: Path) -> Path | None:
    """Return a path that is no session and that the window opens as it opens dropped files; None for a session."""
    weights = path if is_weights(path) and path.is_file() else None
    return run_folder(path) or model_folder(path) or weights


def _check_other(path: Path) -> None:
    """Report a broken run or file of weights; a broken model is reported when the window opens it.

    Raises:
        AttnlabError: it cannot be read.
    """
    if (run := run_folder(path)) is not None:
        from attnlab.training.store import load

        load(run)
    elif model_folder(path) is None:
        from attnlab.files.weights.weights_source import files_source

        files_source([path])


def _check_picture(path: Path) -> None:
    if path.suffix.lower() != ".png":
        raise AttnlabError(f"A screenshot is a PNG; {path} needs to end in .png.")
    check_folder(path)


def _parse_size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,6})[xX×]([0-9]{1,6})", text)
    if not found or not all(SIZES[0] <= int(side) <= SIZES[1] for side in found.groups()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; use 1440x900, sides {SIZES[0]} to {SIZES[1]}")
    return int(found[1]), int(found[2])


def _versions() -> str:
    def version(package: str) -> str:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return "not installed"

    return (
        f"attnlab {__version__} (Qt {version('PySide6-Essentials')}, torch {version('torch')}, "
        f"Python {platform.python_version()})\n"
    )


def _show(argv: list[str]) -> int:
    from attnlab.cli.show_command import main as show

    return show(argv)


def _export(argv: list[str]) -> int:
    from attnlab.cli.export_command import main as export

    return export(argv)


def _code(argv: list[str]) -> int:
    from attnlab.cli.code_command import main as code

    return code(argv)


def _presets(argv: list[str]) -> int:
    parser = Parser(prog="attnlab presets", description="List the worked examples.")
    parser.add_argument("--json", action="store_true", help="print name, title, about and group of each as JSON")
    as_json = parser.parse_args(argv).json
    from attnlab.attention.examples.presets import PRESETS

    if as_json:
        import json

        fields = ("name", "title", "about", "group")
        say(json.dumps([{field: getattr(p, field) for field in fields} for p in PRESETS.values()]) + "\n")
    else:
        width = max(map(len, PRESETS))
        say("".join(f"{p.name:{width}}  {p.about}\n" for p in PRESETS.values()))
    return OK


def _doctor(argv: list[str]) -> int:
    Parser(prog="attnlab doctor", description="Check the installation and say how to fix it.").parse_args(argv)
    from attnlab.cli.doctor import main as doctor

    return doctor()


def _bench(argv: list[str]) -> int:
    parser = Parser(prog="attnlab bench", description="Compare speed with the usual notebook code on this machine.")
    parser.add_argument(
        "names", nargs="*", metavar="|".join(NAMES), help="the benchmarks to run; without a name all but learning"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or mps, for engine only (default cpu)")
    options = parser.parse_args(argv)
    for name in options.names:
        if name not in NAMES:
            raise MisuseError(f"There is no bench {name!r}; there are {', '.join(NAMES)}.")
    if options.device != "cpu" and options.names != ["engine"]:
        raise MisuseError(
            f"--device {options.device} is for engine only: attnlab bench engine --device {options.device}"
        )
    with platform_without_display(not has_display()):
        return run_benches(tuple(options.names) or TIMED, options.json, device=options.device)


def _lesson(argv: list[str]) -> int:
    from attnlab.cli.lesson_command import main as lesson

    return lesson(argv)


def _train(argv: list[str]) -> int:
    from attnlab.cli.train_command import main as train

    return train(argv)


def _model(argv: list[str]) -> int:
    from attnlab.cli.model_command import main as model

    return model(argv)


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "show": _show,
    "export": _export,
    "code": _code,
    "presets": _presets,
    "lesson": _lesson,
    "train": _train,
    "model": _model,
    "bench": _bench,
    "doctor": _doctor,
}
