"""Benchmark of what explains a layer: arrows that follow a drag, derivatives, and the search for a goal.

Derivatives and goals are compared with bare torch, a drag of an arrow with the matplotlib notebook.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtTest import QTest
from torch import Tensor

from attnlab.attention.edits import configure
from attnlab.attention.edits.layer_tables import table
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.measures.goal_seek import Goal, seek_goals
from attnlab.attention.measures.sensitivity import Number, measure_causes, measure_effects
from attnlab.attention.stages.trace import Trace
from attnlab.bench.measure import Case, collect_garbage_like_the_program, make_case, run_in_turns
from attnlab.bench.notebook import Notebook
from attnlab.bench.window import open_window, wait_until
from attnlab.compute.engine import prepare
from attnlab.compute.service import Reply
from attnlab.ui.base.guard import guarded
from attnlab.ui.playground.lenses.arrows_lens import ArrowsLens
from attnlab.ui.widgets.arrows.arrow_plane import THRESHOLD

TOKENS, D_MODEL, HEADS = 16, 64, 8
ROUNDS = 30
MOVES = 10
"""The moves of the mouse in each round of a drag."""
GOAL = Goal(0, 10, 1, 0.8)
"""“purrs” looks at “cat” in the preset agreement-cat."""
_RATE, _MOST_STEPS = 0.02, 2000


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the cases of derivatives, goals, and arrows."""
    rounds = 2 if quick else ROUNDS
    threads = torch.get_num_threads()
    prepare()
    try:
        yield from measure_derivatives(rounds)
        yield from measure_backward(rounds)
        yield from measure_goals(rounds)
    finally:
        torch.set_num_threads(threads)
    yield from measure_arrows(rounds)


def make_layer() -> Experiment:
    """Return a layer of random numbers with 8 heads, 16 tokens and a width of 64."""
    rng = np.random.default_rng(0)
    size = D_MODEL, D_MODEL
    weights = Weights(**{f"W_{name}": rng.normal(size=size) / D_MODEL**0.5 for name in "qkv"})
    tokens, x = [f"t{place}" for place in range(TOKENS)], rng.normal(size=(TOKENS, D_MODEL))
    return Experiment(tokens, x, weights, AttentionConfig(n_heads=HEADS, causal=True))


def measure_derivatives(rounds: int) -> Iterator[Case]:
    """Yield the case of every weight by one number, and one weight by every number."""
    e = make_layer()

    def ours() -> None:
        measure_effects(e, Number("W_q", 1, 2))
        measure_causes(e, 0, 5, 3)

    mine, bare = run_in_turns(rounds, partial(_time, ours), partial(_time, partial(_differentiate_bare, e)))
    yield make_case("why", f"derivatives, T={TOKENS}, {HEADS} heads", mine, bare, "ms", "≤ 50 ms")


def _attend(x: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    q, k = ((x @ w).view(TOKENS, HEADS, -1).transpose(0, 1) for w in (w_q, w_k))
    hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    return torch.softmax((q @ k.mT / q.shape[-1] ** 0.5).masked_fill(hidden, -torch.inf), -1)


def _differentiate_bare(e: Experiment) -> None:
    given = [table(e, name).double().requires_grad_() for name in ("embeddings", "W_q", "W_k")]
    weights = _attend(*given)
    torch.autograd.grad(weights[0, 5, 3], given, retain_graph=True)
    along = torch.zeros_like(weights, requires_grad=True)
    pulled = torch.autograd.grad(weights, given[1], along, create_graph=True)[0]
    torch.autograd.grad(pulled[1, 2], along)


def measure_backward(rounds: int) -> Iterator[Case]:
    """Yield the case of the whole backward pass by formulas, compared with autograd, which keeps no gradient between.

    The loss is a wanted output: it reaches every stage. Both compute forward and back in float64.
    """
    e = configure(make_layer(), loss="output")

    def ours() -> None:
        trace = Trace(e, torch.device("cpu"), torch.float64)
        for name in trace:
            trace[name]

    mine, bare = run_in_turns(rounds, partial(_time, ours), partial(_time, partial(_go_back_bare, e)))
    yield make_case("why", f"backward pass, T={TOKENS}, {HEADS} heads", mine, bare, "ms", "≤ 50 ms")


def _go_back_bare(e: Experiment) -> None:
    x, w_q, w_k, w_v = (table(e, name).double().requires_grad_() for name in ("embeddings", "W_q", "W_k", "W_v"))
    values = (x @ w_v).view(TOKENS, HEADS, -1).transpose(0, 1)
    output = (_attend(x, w_q, w_k) @ values).transpose(0, 1).flatten(1)
    torch.autograd.grad((output - e.weights.extra["Y"].double()).square().mean(), (x, w_q, w_k, w_v))


def measure_goals(rounds: int) -> Iterator[Case]:
    """Yield the cases of one goal, free and with the other rows held, compared with Adam."""
    e = preset("agreement-cat")
    may = {name: np.ones(tuple(table(e, name).shape), bool) for name in ("W_q", "W_k")}
    for hold, name in ((False, "one goal"), (True, "one goal, other rows held")):
        search = partial(seek_goals, e, [GOAL], may, hold_others=hold)
        mine, bare = run_in_turns(rounds, partial(_time, search), partial(_time, partial(seek_with_adam, e, hold=hold)))
        yield make_case("why", name, mine, bare, "ms", "≤ 300 ms")


def seek_with_adam(e: Experiment, *, hold: bool) -> float:
    """Return the weight that Adam reaches from the layer's own matrices, as a notebook would seek it."""
    x, (w_q, w_k) = e.embeddings.double(), (table(e, name).double().clone().requires_grad_() for name in ("W_q", "W_k"))
    adam = torch.optim.Adam([w_q, w_k], _RATE)
    hidden, before, weight = e.hidden(), None, 0.0
    assert hidden is not None
    for _ in range(_MOST_STEPS):
        scores = (x @ w_q) @ (x @ w_k).T / e.d_k**0.5
        weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), -1)
        before = weights.detach() if before is None else before
        weight = weights[GOAL.query, GOAL.key].item()
        if abs(weight - GOAL.wanted) < 5e-5:
            break
        loss = (weights[GOAL.query, GOAL.key] - GOAL.wanted).square()
        if hold:
            others = torch.arange(e.T_q) != GOAL.query
            loss = loss + (weights - before)[others].square().sum()
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
    return weight


def measure_arrows(rounds: int) -> Iterator[Case]:
    """Yield the case of a query dragged by the mouse in the window, compared with a notebook's next picture.

    It is the mean of some moves of the mouse, each as soon as the arrows have followed the one before: what is shown
    late counts too.
    """
    notebook = Notebook()
    with open_window() as driver, collect_garbage_like_the_program(driver.window):
        driver.open(make_layer())
        driver.playground.lenses.open_lens(ArrowsLens.name)
        lens = driver.playground.lenses.stack.currentWidget()
        assert isinstance(lens, ArrowsLens)
        wait_until(lambda: lens.plane.data is not None)
        watch, at = _Paints(lens.plane), lens.plane.tip(("queries", 3)).toPoint()
        QTest.mousePress(lens.plane, Qt.MouseButton.LeftButton, pos=at)
        notebook.draw_kept(driver.experiment)

        def drag() -> float:
            return sum(move() for _ in range(MOVES)) / MOVES

        def move() -> float:
            nonlocal at
            at += QPoint(1, 0) if at.x() < lens.plane.width() / 2 else QPoint(-40, 0)
            before, begun, painted = driver.experiment, time.perf_counter(), watch.count
            QTest.mouseMove(lens.plane, at)
            wait_until(
                lambda: (
                    driver.experiment is not before
                    and watch.count > painted
                    and _is_shown(driver.playground.reply, driver.experiment)
                )
            )
            return 1e3 * (time.perf_counter() - begun)

        for _ in range(THRESHOLD + 1):  # before that a press is no drag
            at += QPoint(1, 1)
            QTest.mouseMove(lens.plane, at)
        mine, drawn = run_in_turns(rounds, drag, partial(_time, lambda: notebook.draw_kept(driver.experiment)))
        QTest.mouseRelease(lens.plane, Qt.MouseButton.LeftButton, pos=at)
        watch.deleteLater()
    yield make_case("why", f"arrows, drag to picture, T={TOKENS}", mine, drawn, "ms", "≤ 16 ms")


@guarded
class _Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QObject) -> None:
        super().__init__()
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def _is_shown(reply: Reply | None, e: Experiment) -> bool:
    return reply is not None and reply.request.experiment is e


def _time(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - begun)
