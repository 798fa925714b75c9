"""Lists the views of the playground for the gallery: sizes of layers, states, lenses, popups."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QScrollArea

from attnlab.ui.app.main_window import MainWindow
from tools.gallery_window import Prepare, View, wait_until

if TYPE_CHECKING:
    from attnlab.ui.playground.lenses.backward_lens import BackwardLens
    from attnlab.ui.playground.lenses.goal_lens import GoalLens
    from attnlab.ui.playground.playground import Playground

LAYERS = ("journey", "the-cat-sat", "causal-5x8", "multi-head-8", "head-average")
"""Presets of different shapes, which are drawn in every size."""


def _pin(stage: str, row: int, column: int) -> Prepare:
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


def _edit_and_undo(playground: "Playground", window: MainWindow) -> None:
    playground.toggle_causal()
    playground.toggle_output()
    playground.document.undo()


def _set_many_scripts(playground: "Playground", window: MainWindow) -> None:
    from attnlab.attention.edits.token_edits import set_tokens

    tokens = ("שלום", "عالم", "注意力", "🙂", "Donaudampfschifffahrtsgesellschaft", "the", "the", "")
    playground.document.edit("Many scripts", lambda e: set_tokens(e, tokens))


def _set_512_tokens(playground: "Playground", window: MainWindow) -> None:
    from attnlab.attention.edits.token_edits import resize_tokens

    playground.document.edit("T = 512", lambda e: resize_tokens(e, 512))
    _pin("weights", 100, 40)(playground, window)


def _open_lens(name: str) -> Prepare:
    def prepare(playground: "Playground", window: MainWindow) -> None:
        playground.lenses.open_lens(name)

    return prepare


def _draw_tokens(playground: "Playground", window: MainWindow) -> None:
    """Show the tokens of both sequences as arrows."""
    from PySide6.QtWidgets import QRadioButton

    playground.lenses.open_lens("arrows")
    next(button for button in playground.lenses.stack.findChildren(QRadioButton) if button.text() == "Tokens").click()


def _reach_goal(playground: "Playground", window: MainWindow) -> None:
    _find_goal(playground)


def _find_goal(playground: "Playground") -> "GoalLens":
    """Let “purrs” look at “cat”."""
    from attnlab.attention.stages.explain import Cell
    from attnlab.ui.playground.lenses.goal_lens import GoalLens

    playground.document.select(Cell("weights", 10, 1, 0), pin=True)
    playground.lenses.open_lens("goal")
    wait_until(lambda: playground.reply is not None and not playground.lane.busy)
    lens = playground.lenses.stack.currentWidget()
    assert isinstance(lens, GoalLens)
    lens.panel.hold.click()
    lens.panel.wanted_taken.emit(0.8)
    lens.panel.reach.click()
    wait_until(lambda: not lens.changes.isHidden())
    return lens


def _compare_scores(playground: "Playground", window: MainWindow) -> None:
    """Scroll to where the score of a goal that was reached comes from."""
    lens = _find_goal(playground)
    area = lens.findChild(QScrollArea)
    assert area is not None
    wait_until(lambda: not lens.scores.isHidden() and lens.scores.y() > lens.changes.y())
    QApplication.processEvents()  # the scroll bar learns how long the page is
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())


def _step_down(playground: "Playground", window: MainWindow) -> None:
    """Let “sat” look at “cat”, hold a gradient of W_q, and take ten steps down."""
    from attnlab.attention.stages.explain import Cell

    _choose_loss("weight")(playground, window)
    playground.document.select(Cell("d_W_q", 2, 0), pin=True)
    lens = _open_backward(playground)
    lens.panel.options_changed.emit({"loss_wanted": 0.8})
    _wait_for_reply(playground)
    lens.panel.ten.click()
    wait_until(lambda: not lens.curve.isHidden() and not playground.lane.busy)


def _wait_for_reply(playground: "Playground") -> None:
    e = playground.document.experiment
    wait_until(lambda: playground.reply is not None and playground.reply.request.experiment is e)


def _open_backward(playground: "Playground") -> "BackwardLens":
    from attnlab.ui.playground.lenses.backward_lens import BackwardLens

    playground.lenses.open_lens("backward")
    wait_until(lambda: playground.reply is not None and not playground.lane.busy)
    lens = playground.lenses.stack.currentWidget()
    assert isinstance(lens, BackwardLens)
    return lens


def _choose_loss(kind: str) -> Prepare:
    """Choose a loss in the lens of the backward pass."""

    def prepare(playground: "Playground", window: MainWindow) -> None:
        _open_backward(playground).panel.loss_chosen.emit(kind)
        _wait_for_reply(playground)

    return prepare


def _open_page(name: str) -> Prepare:
    """Open a page of the positions explorer."""

    def prepare(playground: "Playground", window: MainWindow) -> None:
        playground.lenses.open_lens(f"positions/{name}")

    return prepare


def _compare_with_pinned(look: str) -> Prepare:
    """Pin the state, switch the causal mask on, and show the pinned state, the current one or their difference."""

    def prepare(playground: "Playground", window: MainWindow) -> None:
        playground.comparison.toggle()
        playground.toggle_causal()
        playground.comparison.look(look)
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
    playground.comparison.look("difference")
    _pin("output", 2, 1)(playground, window)


def _mask_token(playground: "Playground", window: MainWindow) -> None:
    playground.inputs.tokens.obey("mask")
    playground.comparison.look("difference")
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


def _open_options(name: str) -> Prepare:
    def prepare(playground: "Playground", window: MainWindow) -> None:
        playground.top_bar.switches.by_name[name].open()

    return prepare


def _open_commands(playground: "Playground", window: MainWindow) -> None:
    if window.command_palette.isVisible():  # in another size: to open it again would close it
        window.command_palette.hide()
    window.show_palette()


def _train_every_table(playground: "Playground", window: MainWindow) -> None:
    """Hold a gradient of a layer with biases, a sink, an additive score and a T5 bias."""
    from attnlab.attention import edits
    from attnlab.attention.stages.explain import Cell

    settings = {
        "score": "additive",
        "sink": True,
        "positions": "t5",
        "qk_norm": "rms",
        "t5_buckets": 4,
        "t5_distance": 2,
    }
    playground.document.edit("Tables", lambda e: edits.toggle_biases(edits.configure(e, **settings), True))
    _choose_loss("output")(playground, window)
    playground.document.select(Cell("d_v_a", 0, 1), pin=True)
    _wait_for_reply(playground)


def _train_block(playground: "Playground", window: MainWindow) -> None:
    """Hold a number of a whole block whose gradient comes through a norm and beside it."""
    from attnlab.attention.stages.explain import Cell

    _choose_loss("output")(playground, window)
    playground.document.select(Cell("d_residual", 2, 1), pin=True)
    _wait_for_reply(playground)


def list_views() -> Iterator[View]:
    """Yield the views that are drawn in every size."""
    for preset in LAYERS:
        yield View(preset, preset, _pin("weights", 2, 1))
    yield View("state-causal", "journey", _set_causal)
    yield View("state-query", "journey", _pin("queries", 1, 0))
    yield View("state-context", "multi-head-causal", _pin("context", 2, 1))
    yield View("state-output", "multi-head-causal", _pin("output", 2, 1))
    yield View("state-alone", "multi-head-8", _show_alone)
    yield View("state-alone-one", "journey", _show_alone)
    yield View("state-step", "causal-5x8", _show_step)
    yield View("state-scripts", "journey", _set_many_scripts)
    yield View("state-512", "multi-head-8", _set_512_tokens)
    yield View("state-difference", "journey", _compare_with_pinned("difference"))
    yield View("state-pinned", "journey", _compare_with_pinned("pinned"))
    yield View("state-pinned-present", "journey", _compare_with_pinned("present"))
    yield View("state-batch", "padding-batch", _select_sequence)
    yield View("state-second-sequence", "journey", _add_second_sequence)
    yield View("state-painting", "journey", _paint_mask)
    yield View("state-head-off", "multi-head-8", _ablate_head)
    yield View("state-token-masked", "journey", _mask_token)
    yield View("state-everything", "multi-head-8", _switch_on_everything)
    yield View("lens-arrows", "journey", _open_lens("arrows"))
    yield View("lens-arrows-tokens", "cross-attention", _draw_tokens)
    yield View("lens-contributions", "journey", _open_lens("contributions"))
    yield View("lens-sensitivity", "journey", _open_lens("sensitivity"))
    yield View("lens-sensitivity-8", "multi-head-8", _open_lens("sensitivity"))
    yield View("lens-goal", "agreement-cat", _open_lens("goal"))
    yield View("lens-goal-reached", "agreement-cat", _reach_goal)
    yield View("lens-backward", "the-cat-sat", _open_lens("backward"))
    yield View("lens-backward-weight", "the-cat-sat", _step_down)
    yield View("lens-backward-output", "journey", _choose_loss("output"))
    yield View("lens-backward-class", "multi-head-8", _choose_loss("class"))
    yield View("lens-backward-tables", "the-cat-sat", _train_every_table)
    yield View("lens-backward-block", "block-llama", _train_block)
    yield View("lens-goal-scores", "agreement-cat", _compare_scores)
    yield View("lens-arrows-8", "multi-head-causal", _open_lens("arrows"))
    yield View("lens-statistics", "multi-head-8", _open_lens("statistics"))
    yield View("lens-positions", "journey", _open_lens("positions"))
    yield View("lens-positions-rotation", "journey", _open_page("rotation"))
    yield View("lens-positions-order", "order-aware", _open_page("order"))
    yield View("lens-masks", "masks-source-for-target", _open_lens("masks"))
    yield View("lens-saturation", "journey", _open_lens("saturation"))
    yield View("lens-precision", "multi-head-8", _open_lens("precision"))
    yield View("lens-cost", "journey", _open_lens("cost"))
    yield View("popup-presets", open=lambda p, _: p.open_gallery())
    yield View("popup-history", prepare=_edit_and_undo, open=lambda p, _: p.open_history())
    yield View("popup-weights", "dropout", open=_open_options("normalizer"))
    yield View("popup-score", open=_open_options("score"))
    yield View("popup-positions", "t5-bias", open=_open_options("positions"))
    yield View("popup-masks", open=_open_options("masks"))
    yield View("popup-heads", "multi-head-8", open=_open_options("heads"))
    yield View("commands", open=_open_commands)


def list_presets() -> Iterator[View]:
    """Yield a view of each preset, which has one size; this loads torch."""
    from attnlab.attention.examples.presets import PRESETS

    for name in PRESETS:
        yield View(f"preset-{name}", name, _select_weight, everywhere=False)
