"""Draws pictures of the program into a folder: both themes, three sizes, several presets and states."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.base.console import USER_ERROR, run_guarded
from attnlab.cli.command_line import Parser
from attnlab.document.settings import Settings
from attnlab.files.source import Source
from attnlab.ui.app.application import make_application
from attnlab.ui.app.main_window import MainWindow
from tools import gallery_lessons, gallery_train, gallery_weights

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground

THEMES = ("light", "dark")
SIZES = {"small": (960, 620), "usual": (1440, 900), "large": (1920, 1200)}
SIZED = ("journey", "the-cat-sat", "causal-5x8", "multi-head-8", "head-average")
"""The presets that are drawn in every size."""
PATIENCE_MS = 20_000


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: the preset, the size of the window, and a preparation, which returns the widget to grab."""

    name: str
    preset: str
    size: tuple[int, int]
    prepare: Callable[["Playground", MainWindow], QWidget | None]


def _pin(stage: str, row: int, column: int) -> Callable[["Playground", MainWindow], None]:
    def prepare(playground: "Playground", window: MainWindow) -> None:
        from attnlab.attention.stages.explain import Cell
        from attnlab.attention.stages.table import BY_NAME

        head = 0 if BY_NAME[stage].has_heads else None
        playground.document.select(Cell(stage, row, column, head), pin=True)

    return prepare


def _set_causal(playground: "Playground", window: MainWindow) -> None:
    playground.toggle_causal()
    _pin("weights", 2, 1)(playground, window)


def _show_alone(playground: "Playground", window: MainWindow) -> None:
    playground.document.show(alone="weights")


def _show_step(playground: "Playground", window: MainWindow) -> None:
    playground.document.show(step=5)


def _open_gallery(playground: "Playground", window: MainWindow) -> QWidget:
    playground.open_gallery()
    return playground.gallery


def _open_history(playground: "Playground", window: MainWindow) -> QWidget:
    playground.toggle_causal()
    playground.toggle_output()
    playground.document.undo()
    playground.open_history()
    return playground.history


def _open_commands(playground: "Playground", window: MainWindow) -> None:
    window.show_palette()


def _enlarge_type(playground: "Playground", window: MainWindow) -> None:
    window.change_settings(type_size=150)


def _set_many_scripts(playground: "Playground", window: MainWindow) -> None:
    from attnlab.attention.edits.token_edits import set_tokens

    tokens = ("שלום", "عالم", "注意力", "🙂", "Donaudampfschifffahrtsgesellschaft", "the", "the", "")
    playground.document.edit("Many scripts", lambda e: set_tokens(e, tokens))


def _set_512_tokens(playground: "Playground", window: MainWindow) -> None:
    from attnlab.attention.edits.token_edits import resize_tokens

    playground.document.edit("T = 512", lambda e: resize_tokens(e, 512))
    _pin("weights", 100, 40)(playground, window)


def _open_lens(name: str) -> Callable[["Playground", MainWindow], None]:
    def prepare(playground: "Playground", window: MainWindow) -> None:
        playground.lenses.open_lens(name)

    return prepare


def _open_page(name: str) -> Callable[["Playground", MainWindow], None]:
    """Open a page of the positions explorer."""

    def prepare(playground: "Playground", window: MainWindow) -> None:
        playground.lenses.open_lens(f"positions/{name}")

    return prepare


def _compare_with_pinned(look: str) -> Callable[["Playground", MainWindow], None]:
    """Pin the state, switch the causal mask on, and show the pinned state, the current one or their difference."""

    def prepare(playground: "Playground", window: MainWindow) -> None:
        playground.toggle_pin()
        playground.toggle_causal()
        playground.look(look)
        playground.toggle_strips()
        _pin("weights", 2, 1)(playground, window)

    return prepare


def _select_weight(playground: "Playground", window: MainWindow) -> None:
    """Select a weight of the third query, or of the last if there are fewer, as after opening a preset."""
    e = playground.document.experiment
    _pin("weights", min(2, e.T_q - 1), min(1, e.T_k - 1))(playground, window)


def _select_sequence(playground: "Playground", window: MainWindow) -> None:
    from attnlab.attention.edits.batches import select

    playground.document.edit("Sequence 3", lambda e: select(e, 2))
    _pin("weights", 1, 1)(playground, window)


def _add_second_sequence(playground: "Playground", window: MainWindow) -> None:
    from attnlab.attention.edits.second_sequence import toggle_memory
    from attnlab.attention.edits.token_edits import set_tokens

    playground.document.edit("Second sequence on", lambda e: toggle_memory(e, True))
    playground.document.edit("Second sentence", lambda e: set_tokens(e, ("one", "small", "step"), "memory"))
    _pin("weights", 3, 1)(playground, window)


def _paint_mask(playground: "Playground", window: MainWindow) -> None:
    from attnlab.attention.edits import paint_mask

    playground.mask.toggle()
    for query, key in ((0, 5), (1, 4), (2, 3), (3, 2), *((4, key) for key in range(6))):
        hide = partial(paint_mask, query=query, key=key, allowed=False)
        playground.document.edit("Mask by brush", hide, ("brush", 1))
    playground.toggle_strips()
    _pin("weights", 4, 2)(playground, window)


def _ablate_head(playground: "Playground", window: MainWindow) -> None:
    playground.canvas.head_ablated.emit(1)
    playground.look("difference")
    _pin("output", 2, 1)(playground, window)


def _mask_token(playground: "Playground", window: MainWindow) -> None:
    playground.inputs.tokens.obey("mask")
    playground.look("difference")
    _pin("weights", 2, 1)(playground, window)


def _switch_on_everything(playground: "Playground", window: MainWindow) -> None:
    """Switch on one option of each kind, for the maximum number of stages."""
    from attnlab.attention.edits import with_setting

    playground.document.edit(
        "Everything",
        lambda e: with_setting(
            e,
            n_kv_heads=2,
            qk_norm="rms",
            positions="rope",
            masks={"window": 3},
            soft_cap=5.0,
            sink=True,
            dropout=0.2,
            temperature=0.7,
            ablated=(1,),
        ),
    )
    playground.toggle_strips()
    _pin("weights", 3, 2)(playground, window)


def _open_options(name: str) -> Callable[["Playground", MainWindow], QWidget | None]:
    def prepare(playground: "Playground", window: MainWindow) -> QWidget | None:
        pill = playground.top_bar.switches.pills[name]
        pill.open()
        return pill.popup()

    return prepare


def _open_masks(playground: "Playground", window: MainWindow) -> QWidget | None:
    playground.top_bar.switches.masks.open()
    return playground.top_bar.switches.masks.popup()


def _open_head_options(playground: "Playground", window: MainWindow) -> QWidget | None:
    playground.top_bar.switches.heads.open()
    return playground.top_bar.switches.heads.popup()


def list_shots() -> Iterator[Shot]:
    """Yield every picture of the gallery, for one theme."""
    for preset in SIZED:
        for size in SIZES.values():
            yield Shot(f"{preset}-{size[0]}x{size[1]}", preset, size, _pin("weights", 2, 1))
    usual = SIZES["usual"]
    states: tuple[tuple[str, str, Callable[[Playground, MainWindow], QWidget | None]], ...] = (
        ("state-causal", "journey", _set_causal),
        ("state-query", "journey", _pin("queries", 1, 0)),
        ("state-context", "multi-head-causal", _pin("context", 2, 1)),
        ("state-output", "multi-head-causal", _pin("output", 2, 1)),
        ("state-alone", "multi-head-8", _show_alone),
        ("state-alone-one", "journey", _show_alone),
        ("state-step", "causal-5x8", _show_step),
        ("popup-presets", "journey", _open_gallery),
        ("popup-history", "journey", _open_history),
        ("state-commands", "journey", _open_commands),
        ("state-large-type", "journey", _enlarge_type),
        ("state-scripts", "journey", _set_many_scripts),
        ("state-512", "multi-head-8", _set_512_tokens),
        ("state-difference", "journey", _compare_with_pinned("difference")),
        ("state-pinned", "journey", _compare_with_pinned("pinned")),
        ("state-pinned-present", "journey", _compare_with_pinned("present")),
        ("state-batch", "padding-batch", _select_sequence),
        ("state-second-sequence", "journey", _add_second_sequence),
        ("state-painting", "journey", _paint_mask),
        ("state-head-off", "multi-head-8", _ablate_head),
        ("state-token-masked", "journey", _mask_token),
        ("state-everything", "multi-head-8", _switch_on_everything),
        ("popup-weights", "dropout", _open_options("normalizer")),
        ("popup-score", "journey", _open_options("score")),
        ("popup-positions", "t5-bias", _open_options("positions")),
        ("popup-masks", "journey", _open_masks),
        ("popup-heads", "multi-head-8", _open_head_options),
        ("lens-statistics", "multi-head-8", _open_lens("statistics")),
        ("lens-positions", "journey", _open_lens("positions")),
        ("lens-positions-rotation", "journey", _open_page("rotation")),
        ("lens-positions-order", "order-aware", _open_page("order")),
        ("lens-saturation", "journey", _open_lens("saturation")),
        ("lens-precision", "multi-head-8", _open_lens("precision")),
        ("lens-cost", "journey", _open_lens("cost")),
    )
    for name, preset, prepare in states:
        yield Shot(name, preset, usual, prepare)
    for name, size, prepare in gallery_lessons.list_states((1000, 640), usual):
        yield Shot(name, "journey", size, prepare)
    for name, size, prepare in gallery_train.list_states((720, 480), usual):
        yield Shot(name, "journey", size, prepare)
    for name, prepare in gallery_weights.list_states():
        yield Shot(name, "the-cat-sat", usual, prepare)
    for name in _list_presets():
        yield Shot(f"preset-{name}", name, usual, _select_weight)


def _list_presets() -> list[str]:
    """Return the names of all presets, which loads torch."""
    from attnlab.attention.examples.presets import PRESETS

    return list(PRESETS)


def _wait(signal: object, start: Callable[[], None]) -> bool:
    """Call ``start`` and wait for a signal; return False if it did not arrive."""
    loop = QEventLoop()
    came: list[bool] = []

    def on_signal(*_: object) -> None:
        came.append(True)
        loop.quit()

    signal.connect(on_signal)  # type: ignore[attr-defined]
    QTimer.singleShot(PATIENCE_MS, loop.quit)
    start()
    if not came:
        loop.exec()
    signal.disconnect(on_signal)  # type: ignore[attr-defined]
    return bool(came)


def _settle(playground: "Playground") -> None:
    """Wait until the last request is shown, including the pictures of presets."""
    while playground.reply is None or playground.reply.request.experiment is not playground.document.experiment:
        if not _wait(playground.computed, lambda: None):
            return
    until = time.monotonic() + PATIENCE_MS / 1000
    while playground.lane.busy and time.monotonic() < until:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
    QApplication.processEvents()


def draw(shot: Shot, theme: str, folder: Path) -> Path:
    """Draw one picture and return its path."""
    window = MainWindow(replace(Settings(), theme=theme), Source(preset=shot.preset), remember=False)
    window.resize(*shot.size)
    window.show()
    _wait(window.ready, window.load)
    assert window.playground is not None
    widget = shot.prepare(window.playground, window) or window
    _settle(window.playground)
    path = folder / f"{shot.name}-{theme}.png"
    widget.grab().save(str(path))
    widget.hide()
    window.close()
    window.deleteLater()
    return path


def _make_parser() -> Parser:
    parser = Parser(prog="python -m tools.gallery", description="Draw pictures of the window, light and dark.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("gallery"), help="folder (default: gallery)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="draw only pictures whose names contain one of these")
    return parser


def main(arguments: list[str]) -> int:
    """Draw the gallery into a folder; with ``names``, only pictures whose names contain one of them."""
    options = _make_parser().parse_args(arguments)
    make_application()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    wanted = options.names or [""]
    chosen = [(shot, theme) for theme in THEMES for shot in list_shots() if _is_wanted(f"{shot.name}-{theme}", wanted)]
    steps = [name for name, _, _ in gallery_lessons.list_step_names()]
    wanted_steps = {t: {name for name in steps if _is_wanted(f"{name}-{t}", wanted)} for t in THEMES}
    if not chosen and not any(wanted_steps.values()):
        names = ", ".join([*(shot.name for shot in list_shots()), *steps])
        print(f"No picture's name contains {' or '.join(wanted)}; there are, each light and dark: {names}.")
        return USER_ERROR
    for shot, theme in chosen:
        print(draw(shot, theme, folder))
    for theme, names_of in wanted_steps.items():
        for path in gallery_lessons.draw_steps(theme, names_of, folder, _open, _settle) if names_of else ():
            print(path)
    return 0


def _open(window: MainWindow) -> None:
    window.show()
    _wait(window.ready, window.load)


def _is_wanted(name: str, wanted: list[str]) -> bool:
    return any(text in name for text in wanted)


if __name__ == "__main__":
    sys.exit(run_guarded(lambda: main(sys.argv[1:])))
