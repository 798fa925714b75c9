"""The options of a figure, shared by the commands that draw one: ``export`` and ``model``."""

import argparse
from typing import TYPE_CHECKING

from attnlab.cli.command_line import MisuseError

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_spec import FigureSpec


def add_figure_options(parser: argparse.ArgumentParser, title: str) -> "argparse._ArgumentGroup":
    """Add the options of a figure as a group and return it; files that are no figures ignore them."""
    figure = parser.add_argument_group(title)
    figure.add_argument("--width", type=float, metavar="MM", help="width in mm (default 120; several maps 170)")
    figure.add_argument("--height", type=float, metavar="MM", help="height in mm (default: as needed)")
    figure.add_argument("--dpi", type=int, default=300, metavar="N", help="dots per inch (default 300)")
    figure.add_argument("--columns", type=int, metavar="N", help="number of heads side by side (default: as they fit)")
    figure.add_argument("--title", metavar="TEXT", help="title (default: what is drawn); '' for none")
    figure.add_argument("--no-labels", action="store_true", help="leave out tokens and axis labels")
    figure.add_argument("--no-colour-bar", action="store_true", help="leave out the colour bar")
    figure.add_argument("--numbers", default="auto", metavar="auto|on|off", help="numbers in the cells (default auto)")
    figure.add_argument("--decimals", type=int, metavar="N", help="decimals of these numbers (default: all that fit)")
    figure.add_argument(
        "--colour-map",
        default="attnlab",
        metavar="NAME",
        help="attnlab (the default), viridis, cividis, magma, greys, vik, rdbu",
    )
    figure.add_argument(
        "--scale",
        default="auto",
        metavar="NAME",
        help="scale of colours: auto (the default), full, largest, percentile, sqrt, log",
    )
    figure.add_argument("--each-head", action="store_true", help="a scale of the colours for each head")
    figure.add_argument("--mute-sinks", action="store_true", help="grey columns for the first token and separators")
    figure.add_argument("--font-size", type=float, default=7.5, metavar="PT", help="text size in points (default 7.5)")
    figure.add_argument("--transparent", action="store_true", help="transparent background")
    figure.add_argument("--dark", action="store_true", help="dark background")
    return figure


def check_figure_options(options: argparse.Namespace) -> None:
    """Refuse options of a figure that contradict each other.

    Raises:
        MisuseError: two options set the background.
    """
    if options.transparent and options.dark:
        raise MisuseError("--transparent and --dark both set the background; give one of them.")


def make_figure_spec(options: argparse.Namespace, stages: tuple[str, ...], *, canvas: bool = False) -> "FigureSpec":
    """Return the description of a figure of these stages, or of the whole canvas.

    Raises:
        AttnlabError: the figure cannot be drawn.
    """
    from attnlab.figures.panels.figure_spec import FigureSpec

    return FigureSpec(
        stages=stages,
        canvas=canvas,
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
        scale=options.scale,
        each_head=options.each_head,
        mute_sinks=options.mute_sinks,
        ground="transparent" if options.transparent else "dark" if options.dark else "light",
    )
