"""Draws pictures of the program into a folder: every view in four sizes, two sizes of type and both themes."""

import os
import sys
import tempfile
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from attnlab.base.console import USER_ERROR, run_guarded
from attnlab.cli.command_line import Parser
from attnlab.figures.palette import DARK, LIGHT, PALETTES
from attnlab.ui.app.application import GarbageTimer, make_application
from tools import gallery_dialogs, gallery_lessons, gallery_models, gallery_playground, gallery_train, gallery_weights
from tools.gallery_window import Variant, View, close, open_view, show

SIZES = ((1024, 640), (1366, 768), (1920, 1080), (3840, 2160))
TYPES = (100, 175)
THEMES = tuple(PALETTES)
DRAWN_THEMES = (LIGHT.name, DARK.name)
"""The themes of a whole gallery; the two in high contrast are drawn when asked for."""
ONE_SIZE, ONE_TYPE = SIZES[1], TYPES[0]
"""The size of window and type of the presets and of the steps of lessons."""


def list_views() -> Iterator[View]:
    """Yield every view, without the presets and the steps of lessons."""
    for room in (gallery_playground, gallery_dialogs, gallery_lessons, gallery_train, gallery_models, gallery_weights):
        yield from room.list_views()


def draw(view: View, variants: list[Variant], folder: Path) -> Iterator[Path]:
    """Draw a view in each variant, in one window, and yield the paths."""
    window = open_view(view, variants[0])
    for variant in variants:
        path = folder / f"{view.name}-{variant.name}.png"
        show(view, window, variant).grab().save(str(path))
        yield path
    close(window)


def _read_size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise ArgumentTypeError(f"{text!r} is not a size; 1366x768 would be")
    return int(width), int(height)


def _make_parser() -> Parser:
    parser = Parser(
        prog="python -m tools.gallery",
        description="Draw pictures of every view of the program. Each preset and each step of a lesson has one size, "
        f"{ONE_SIZE[0]}x{ONE_SIZE[1]} with type of {ONE_TYPE} %.",
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("gallery"), help="folder (default: gallery)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="draw only pictures whose names contain one of these")
    parser.add_argument("--sizes", nargs="+", type=_read_size, default=SIZES, metavar="WxH", help="sizes of the window")
    parser.add_argument("--types", nargs="+", type=int, default=TYPES, metavar="N", help="sizes of type in per cent")
    parser.add_argument("--themes", nargs="+", choices=THEMES, default=DRAWN_THEMES, help="themes")
    return parser


def main(arguments: list[str]) -> int:
    """Draw the gallery into a folder; with ``names``, only pictures whose names contain one of them."""
    options = _make_parser().parse_args(arguments)
    garbage = GarbageTimer(make_application())  # another thread must not collect widgets
    garbage.start()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as own:  # for runs and settings, beside those of the user
        os.environ["ATTNLAB_CONFIG_DIR"] = own
        count = 0
        for path in _draw_all(options):
            count += 1
            print(path, flush=True)
    garbage.stop()
    if not count:
        names = ", ".join(each.name for each in (*list_views(), *gallery_playground.list_presets()))
        print(f"No picture's name contains {' or '.join(options.names)}. The views are {names}, and lesson-NAME-STEP.")
        return USER_ERROR
    return 0


def _draw_all(options: Namespace) -> Iterator[Path]:
    all_variants = [Variant(s, t, theme) for theme, t, s in product(options.themes, options.types, options.sizes)]
    for view in (*list_views(), *gallery_playground.list_presets()):
        variants = [each for each in all_variants if view.everywhere or _is_usual(each)]
        if variants := [each for each in variants if _is_wanted(f"{view.name}-{each.name}", options.names)]:
            yield from draw(view, variants, options.folder)
    for variant in filter(_is_usual, all_variants):
        steps = [name for name, _, _ in gallery_lessons.list_step_names()]
        if steps := [name for name in steps if _is_wanted(f"{name}-{variant.name}", options.names)]:
            yield from gallery_lessons.draw_steps(variant, steps, options.folder)


def _is_usual(variant: Variant) -> bool:
    return variant.size == ONE_SIZE and variant.type_size == ONE_TYPE


def _is_wanted(name: str, wanted: list[str]) -> bool:
    return not wanted or any(text in name for text in wanted)


if __name__ == "__main__":
    sys.exit(run_guarded(lambda: main(sys.argv[1:])))
