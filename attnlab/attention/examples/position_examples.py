"""Examples of positions: sinusoidal, learned, rotary, biases, or none."""

from dataclasses import replace
from functools import partial

import torch

from attnlab.attention.examples.example import Draws, Preset, draw_experiment
from attnlab.attention.experiment import AttentionConfig, Experiment

GROUP = "Positions"
_STORY = ("the", "dog", "bites", "the", "man")


def _encoding() -> Experiment:
    """Return 100 tokens with embeddings of 128 zeros, so that the inputs equal the encoding."""
    zeros = torch.zeros(100, 128, dtype=torch.float32, device="cpu")
    return Experiment(tuple(f"t{i}" for i in range(100)), zeros, config=AttentionConfig(positions="sinusoidal"))


def _story(positions: str) -> Experiment:
    return draw_experiment(_STORY, 8, AttentionConfig(positions=positions))


def _make_repeated(n_heads: int, positions: str, **tables: tuple[int, ...]) -> Experiment:
    """Return one word eight times, so that tokens differ only in their position."""
    draws, config = Draws(0), AttentionConfig(n_heads, positions=positions)
    x = draws.normal(1, 16).expand(8, 16)
    weights = draws.weights(16, config)
    extra = {name: draws.normal(*shape) for name, shape in tables.items()}
    return Experiment(("buffalo",) * 8, x, replace(weights, extra=extra), config)


_position = partial(Preset, group=GROUP)

POSITIONS = (
    _position(
        "sinusoidal-100x128",
        "Sinusoidal encoding",
        "The embeddings are zeros, so Inputs shows the encoding: fast waves on the left, slow ones on the right.",
        _encoding,
        rows=("E1", "E2"),
        lens="positions",
    ),
    _position(
        "rotation-property",
        "Positions rotate",
        "One matrix maps the encoding of any position t to that of t + φ: it rotates each pair by its own angle.",
        _encoding,
        rows=("E2",),
        lens="positions/rotation",
    ),
    _position(
        "learned-positions",
        "Learned positions",
        "P has a row for each position: change a row, and the token at that position changes for every query.",
        lambda: draw_experiment(_STORY, 8, AttentionConfig(positions="learned"), tables={"P": (len(_STORY), 8)}),
        rows=("E3",),
    ),
    _position(
        "order-blind",
        "Blind to order",
        "No positions: if you shuffle the tokens, the map is shuffled with them and nothing else changes.",
        lambda: _story("none"),
        rows=("E4",),
        lens="positions/order",
    ),
    _position(
        "order-aware",
        "Aware of order",
        "The same words with positions: if you shuffle them, the map changes.",
        lambda: _story("sinusoidal"),
        rows=("E4",),
        lens="positions/order",
    ),
    _position(
        "rope",
        "Rotary positions",
        "One word eight times: queries and keys are rotated, and each diagonal of the scores has one value.",
        lambda: _make_repeated(1, "rope"),
    ),
    _position(
        "alibi",
        "ALiBi",
        "One word eight times: weights fall with distance, steeply in head 0 and hardly in head 3.",
        lambda: _make_repeated(4, "alibi"),
    ),
    _position(
        "t5-bias",
        "T5 bias",
        "One word eight times: a learned number for each head and distance, so each distance is one stripe.",
        lambda: _make_repeated(4, "t5", B=(32, 4)),
    ),
)
