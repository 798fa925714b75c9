"""The command ``attnlab export``: writes figures and tables of one or more sources; the extension sets the format."""

import argparse
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.errors import AttnlabError
from attnlab.cli.command_line import MisuseError, delay_interrupts, offscreen_application
from attnlab.cli.figure_options import add_figure_options, check_figure_options, make_figure_spec
from attnlab.cli.many_sources import OUTPUT_HELP, parse_output, write_each
from attnlab.cli.stage_options import compute_trace, list_warnings, load_experiment, stage_parser
from attnlab.figures.figure_formats import FIGURES
from attnlab.files.export.table_formats import TABLES

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.panels.figure_source import Pair
    from attnlab.figures.panels.figure_spec import FigureSpec
    from attnlab.files.source import Source

USUAL = ".png"
EXAMPLES = """\
examples:
  attnlab export preset:journey -o weights.pdf --width 85
  attnlab export preset:additive --beside preset:luong-dot -o two-scores.pdf
  attnlab export runs -o figures/ --format svg            every session in a folder
  attnlab export 'sessions/**/*.attnlab' -o 'figures/{folder}-{name}.png' --dpi 600
"""


def main(argv: list[str]) -> int:
    """Run ``attnlab export`` with these arguments and return its exit code."""
    endings = (*FIGURES, *TABLES)
    options = _parser(endings).parse_args(argv)
    asked = None if options.format is None else f".{options.format}"
    out = parse_output(options.output, options.sources, endings, asked, USUAL)
    figure = out.ending in FIGURES
    _check(options, figure)
    spec = _make_spec(options) if figure else None
    with offscreen_application() if figure else nullcontext():
        return write_each(options.sources, out, partial(_write_one, options, out.ending, spec))


def _parser(endings: tuple[str, ...]) -> argparse.ArgumentParser:
    description = "Write one stage as a figure or a table; the extension of OUT sets the format."
    parser = stage_parser("export", description, several=True, epilog=EXAMPLES)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=OUTPUT_HELP)
    parser.add_argument(
        "--format", choices=_kinds(endings), help=f"the format, whatever the extension; {USUAL[1:]} in a folder"
    )
    figure = add_figure_options(parser, f"figures ({', '.join(_kinds(FIGURES))})")
    figure.add_argument("--stages", metavar="A,B", help="several stages, one above the other")
    figure.add_argument("--canvas", action="store_true", help="all stages, with the wires between them")
    figure.add_argument("--beside", metavar="SOURCE", help="another source, drawn beside this one on the same scale")
    figure.add_argument("--names", metavar="A,B", help="titles of the two; the titles of the sources without it")
    return parser


def _kinds(endings: Iterable[str]) -> tuple[str, ...]:
    return tuple(ending.removeprefix(".") for ending in endings)


def _write_one(
    options: argparse.Namespace, ending: str, spec: "FigureSpec | None", source: "Source", path: Path
) -> list[str]:
    trace = compute_trace(source, options)
    from attnlab.files.atomic import write_bytes

    if spec is not None:
        from attnlab.figures.panels.figure_file import encode_figure

        drawn = trace if options.beside is None else _stand_beside(trace, source, options)
        with delay_interrupts():
            data = encode_figure(drawn, spec, ending)
        write_bytes(path, data)
    else:
        from attnlab.files.export.stage_tables import encode, table

        write_bytes(path, encode(table(trace, options.stage or "weights", options.head), ending))
    return list_warnings(trace)


def _stand_beside(trace: "Trace", source: "Source", options: argparse.Namespace) -> "Pair":
    """Return a source and the one to draw beside it, each with its name."""
    from attnlab.figures.panels.figure_source import Pair

    try:
        other = compute_trace(options.beside, options)
    except AttnlabError as error:
        raise MisuseError(f"--beside: {error}") from None
    for stage in options.stages.split(",") if options.stages else [options.stage or "weights"]:
        for one, name in ((trace, "The first source"), (other, options.beside)):
            if not options.canvas and stage.strip() not in one:
                raise AttnlabError(f"{name} has no stage {stage.strip()!r}; it has {', '.join(one.all_stages)}.")
    if options.names is not None:
        left, _, right = options.names.partition(",")
        return Pair(trace, other, (left.strip(), right.strip()))
    return Pair(trace, other, (load_experiment(source, options)[1], load_experiment(options.beside, options)[1]))


def _check(options: argparse.Namespace, figure: bool) -> None:
    """Refuse options that contradict each other or do not apply to the format of the file.

    Raises:
        MisuseError: the options contradict each other or do not apply.
    """
    check_figure_options(options)
    if sum((options.stage is not None, options.stages is not None, options.canvas)) > 1:
        raise MisuseError("--stage, --stages and --canvas cannot be combined; give one of them.")
    if options.names is not None and (options.beside is None or options.names.count(",") != 1):
        raise MisuseError("--names takes two names with a comma between them, and needs --beside.")
    if not figure and options.beside is not None:
        raise MisuseError(f"A table contains one source; only figures can show two: {', '.join(FIGURES)}.")
    if not figure and (options.stages is not None or options.canvas):
        figures = ", ".join(FIGURES)
        raise MisuseError(f"A table contains one stage: name it with --stage. Only figures show several: {figures}.")


def _make_spec(options: argparse.Namespace) -> "FigureSpec":
    named = options.stage or "weights" if options.stages is None else options.stages
    stages = tuple(name.strip() for name in named.split(",") if name.strip())
    return make_figure_spec(options, stages, canvas=options.canvas)
