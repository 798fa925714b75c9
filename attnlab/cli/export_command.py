"""The command ``attnlab export``: figures and tables of one source or of many, by the ending of the file."""

import argparse
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.formats import FIGURES, FORMATS
from attnlab.cli.command_line import MisuseError, platform_without_display
from attnlab.cli.many_sources import OUTPUT_HELP, output, write_each
from attnlab.cli.stage_options import computed, oddities, stage_parser

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_spec import FigureSpec
    from attnlab.files.source import Source

USUAL = ".png"
EXAMPLES = """\
examples:
  attnlab export preset:journey -o weights.pdf --width 85
  attnlab export runs -o figures/ --format svg            every session of a folder
  attnlab export 'sessions/**/*.attnlab' -o 'figures/{folder}-{name}.png' --dpi 600
"""


def main(argv: list[str]) -> int:
    """Run ``attnlab export`` with these arguments and return its exit code."""
    endings = tuple(FORMATS)
    options = _parser(endings).parse_args(argv)
    asked = None if options.format is None else f".{options.format}"
    out = output(options.output, options.sources, endings, asked, USUAL)
    figure = out.ending in FIGURES
    check_figure_options(options, figure)
    spec = figure_spec(options) if figure else None
    with drawing() if figure else nullcontext():
        return write_each(options.sources, out, partial(_write_one, options, out.ending, spec))


def _parser(endings: tuple[str, ...]) -> argparse.ArgumentParser:
    description = "Write one stage as a figure or a table, by the ending of OUT."
    parser = stage_parser("export", description, several=True, epilog=EXAMPLES)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=OUTPUT_HELP)
    kinds = tuple(ending.removeprefix(".") for ending in endings)
    parser.add_argument("--format", choices=kinds, help=f"whatever the ending of OUT; in a folder usually {USUAL[1:]}")
    add_figure_options(parser)
    return parser


def _write_one(
    options: argparse.Namespace, ending: str, spec: "FigureSpec | None", source: "Source", path: Path
) -> list[str]:
    trace = computed(source, options)
    from attnlab.files.atomic import write_bytes

    if spec is not None:
        from attnlab.figures.panels.figure_file import figure_bytes

        with uninterrupted():
            data = figure_bytes(trace, spec, ending)
        write_bytes(path, data)
    else:
        from attnlab.files.export.stage_tables import encoded, table

        write_bytes(path, encoded(table(trace, options.stage or "weights", options.head), ending))
    return oddities(trace)


def add_figure_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of a figure; a table heeds none of it."""
    figure = parser.add_argument_group("figures (png, svg, pdf)")
    figure.add_argument("--stages", metavar="A,B", help="several stages, one above the other")
    figure.add_argument("--canvas", action="store_true", help="all stages, as they follow from one another")
    figure.add_argument("--width", type=float, metavar="MM", help="width in millimetres (120, several maps 170)")
    figure.add_argument("--height", type=float, metavar="MM", help="height in millimetres (what the maps need)")
    figure.add_argument("--dpi", type=int, default=300, metavar="N", help="dots per inch (300)")
    figure.add_argument("--columns", type=int, metavar="N", help="how many heads stand side by side")
    figure.add_argument("--title", metavar="TEXT", help="another title than the stage's; '' for none")
    figure.add_argument("--no-labels", action="store_true", help="without tokens and names of axes")
    figure.add_argument("--no-colour-bar", action="store_true", help="without the scale of the colours")
    figure.add_argument("--numbers", default="auto", metavar="auto|on|off", help="numbers in the cells")
    figure.add_argument("--decimals", type=int, metavar="N", help="decimals of these numbers (what fits)")
    figure.add_argument(
        "--colour-map", default="attnlab", metavar="NAME", help="attnlab, viridis, cividis, magma, greys, vik, rdbu"
    )
    figure.add_argument("--font-size", type=float, default=7.5, metavar="PT", help="size of labels in points (7.5)")
    figure.add_argument("--transparent", action="store_true", help="without a ground")
    figure.add_argument("--dark", action="store_true", help="light on dark")


def check_figure_options(options: argparse.Namespace, figure: bool) -> None:
    """Refuse options that contradict one another, or that the file asked for cannot heed.

    Raises:
        MisuseError: they do.
    """
    if options.transparent and options.dark:
        raise MisuseError("--transparent and --dark both say what the ground is; one of them is enough.")
    if sum((options.stage is not None, options.stages is not None, options.canvas)) > 1:
        raise MisuseError("--stage, --stages and --canvas all say what is drawn; one of them is enough.")
    if not figure and (options.stages is not None or options.canvas):
        raise MisuseError(f"A table holds one stage; several are for figures, {', '.join(FIGURES)}.")


def figure_spec(options: argparse.Namespace) -> "FigureSpec":
    """Return what is asked for.

    Raises:
        AttnlabError: it cannot be drawn.
    """
    from attnlab.figures.panels.figure_spec import FigureSpec

    named = options.stage or "weights" if options.stages is None else options.stages
    return FigureSpec(
        stages=tuple(name.strip() for name in named.split(",") if name.strip()),
        canvas=options.canvas,
        head=options.head,
        columns=options.columns,
        width_mm=options.width,
        height_mm=options.height,
        dpi=options.dpi,
        title=options.title,
        labels=not options.no_labels,
        numbers=options.numbers,
        decimals=options.decimals,
        colour_bar=not options.no_colour_bar,
        colour_map=options.colour_map,
        font_pt=options.font_size,
        ground="transparent" if options.transparent else "dark" if options.dark else "light",
    )


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl+C wait until a picture is drawn, as Qt cannot be stopped while it paints; a second one does not wait."""
    pressed = 0

    def wait(*_: object) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def drawing() -> Iterator[None]:
    """Have Qt there, without a window, for as long as figures are drawn."""
    with platform_without_display(True):
        from PySide6.QtWidgets import QApplication

        app = QApplication.instance() or QApplication([])
        yield
        del app
