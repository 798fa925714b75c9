"""The options of ``attnlab export`` that say what a figure is to be."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.command_line import MisuseError, platform_without_display

if TYPE_CHECKING:
    from attnlab.attention.trace import Trace
    from attnlab.figures.figure_spec import FigureSpec

ENDINGS = (".png", ".svg", ".pdf")


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
        "--colour-map", default="attnlab", metavar="NAME", help="viridis, cividis, magma, greys, vik, rdbu"
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
        raise MisuseError(f"A table holds one stage; several are for figures, {', '.join(ENDINGS)}.")


def figure_spec(options: argparse.Namespace) -> "FigureSpec":
    """Return what is asked for.

    Raises:
        AttnlabError: it cannot be drawn.
    """
    from attnlab.figures.figure_spec import FigureSpec

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


def write_figure_file(path: Path, trace: "Trace", spec: "FigureSpec") -> None:
    """Write a figure without a window; errors as :func:`attnlab.figures.figure_file.write_figure`."""
    with platform_without_display(True):
        from PySide6.QtWidgets import QApplication

        from attnlab.figures.figure_file import write_figure

        app = QApplication.instance() or QApplication([])
        write_figure(path, trace, spec)
        del app
