"""Examples of whole blocks: one with norms, one as in Llama, and two attention layers that complete a pattern."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from attnlab.attention.edits import configure
from attnlab.attention.examples.example import Draws, Preset, draw_experiment, words
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.registries import registry

GROUP = "Blocks"
_WORDS = ("to", "be", "or", "not")
_SENTENCE = (*_WORDS, *_WORDS)
_N_WORDS, _N_PLACES = len(_WORDS), len(_SENTENCE)
_OWN = slice(0, _N_WORDS)
_PLACE = slice(_N_WORDS, _N_WORDS + _N_PLACES)
_BEFORE = slice(_PLACE.stop, _PLACE.stop + _N_WORDS)
_NEXT = slice(_BEFORE.stop, _BEFORE.stop + _N_WORDS)
"""The columns of the residual stream: the word itself, its position, the word before it, and the word after."""
_D_MODEL = _NEXT.stop
_SHARP = 5.0
"""The numbers of W_q and W_k: with them, a match scores 25 ÷ √d_k and everything else 0 or less."""


def _zeros(rows: int, columns: int) -> Tensor:
    return torch.zeros(rows, columns, dtype=torch.float32, device="cpu")


def _place(rows: int, columns: int, *blocks: tuple[slice, slice, Tensor]) -> Tensor:
    """Return a matrix that is 0 outside the blocks."""
    made = _zeros(rows, columns)
    for row, column, block in blocks:
        made[row, column] = block
    return made


def _eye(size: int) -> Tensor:
    return torch.eye(size, dtype=torch.float32, device="cpu")


def _make_previous() -> tuple[Weights, AttentionConfig]:
    """Return the layer whose head looks at the token before, and writes which word that is into the stream."""
    every, last = slice(None), slice(-_N_WORDS, None)
    earlier = _zeros(_N_PLACES, _N_PLACES)
    earlier[1:, :-1] = _SHARP * _eye(_N_PLACES - 1)  # position i asks for position i − 1
    positions = _place(_N_PLACES, _D_MODEL, (every, _PLACE, _eye(_N_PLACES)))
    weights = Weights(
        W_q=_place(_D_MODEL, _N_PLACES, (_PLACE, every, earlier)),
        W_k=_place(_D_MODEL, _N_PLACES, (_PLACE, every, _SHARP * _eye(_N_PLACES))),
        W_v=_place(_D_MODEL, _N_PLACES, (_OWN, last, _eye(_N_WORDS))),
        W_o=_place(_N_PLACES, _D_MODEL, (last, _BEFORE, _eye(_N_WORDS))),
        extra={"P": positions},
    )
    return weights, _make_config("learned")


def _make_induction() -> tuple[Weights, AttentionConfig]:
    """Return the layer whose head looks for the token that came after an earlier copy, and writes it as the next."""
    every = slice(None)
    first = slice(_PLACE.start, _PLACE.start + 1)  # the first token has none before it, so it must match no query
    weights = Weights(
        W_q=_place(_D_MODEL, _N_WORDS, (_OWN, every, _SHARP * _eye(_N_WORDS))),
        W_k=_place(
            _D_MODEL,
            _N_WORDS,
            (_BEFORE, every, _SHARP * _eye(_N_WORDS)),
            (first, every, torch.full((1, _N_WORDS), -_SHARP, dtype=torch.float32, device="cpu")),
        ),
        W_v=_place(_D_MODEL, _N_WORDS, (_OWN, every, _eye(_N_WORDS))),
        W_o=_place(_N_WORDS, _D_MODEL, (every, _NEXT, _eye(_N_WORDS))),
    )
    return weights, _make_config("none")


def _make_config(positions: str) -> AttentionConfig:
    return AttentionConfig(causal=True, positions=positions, block="before", block_norm="none", feed_forward="none")


def _induction() -> Experiment:
    x = _place(_N_PLACES, _D_MODEL, (slice(None), _OWN, _eye(_N_WORDS).repeat(2, 1)))
    (below, config), (weights, own) = _make_previous(), _make_induction()
    return Experiment(_SENTENCE, x, weights, own, other_layers=[(below, config)], layer=1)


def _draw_block(block: str, norm: str, feed_forward: str, d_ff: int) -> Experiment:
    e = draw_experiment(words(5), 4, AttentionConfig(1, causal=True), output=True)
    made = configure(e, block=block, block_norm=norm, feed_forward=feed_forward)
    draws, extra = Draws(1), dict(made.weights.extra)
    for name in registry.tables(made.config):  # gains and shifts stay 1 and 0
        if name.startswith("W_"):
            rows, columns = (d_ff, 4) if name == "W_2" else (4, d_ff)
            extra[name] = draws.normal(rows, columns) / 2
        elif name == "b_1":
            extra[name] = draws.normal(d_ff) / 2
    return replace(made, weights=replace(made.weights, extra=extra))


_block = partial(Preset, group=GROUP)

BLOCKS = (
    _block(
        "whole-block",
        "A whole block",
        "Attention with residuals, norms before each part, and a feed-forward with ReLU.",
        lambda: _draw_block("before", "layer", "relu", 8),
    ),
    _block(
        "block-after",
        "Norms after",
        "The block of the first transformer and of BERT: each sum on the residual stream is normalised.",
        lambda: _draw_block("after", "layer", "gelu", 8),
    ),
    _block(
        "block-llama",
        "A block as in Llama",
        "RMSNorm before each part, and a feed-forward whose hidden numbers are multiplied by a gate.",
        lambda: _draw_block("before", "rms", "swiglu", 6),
    ),
    _block(
        "induction",
        "Induction by hand",
        "Two layers set by hand: the first finds the word before, the second the word that came after an earlier copy.",
        _induction,
        place=(4, 1),
    ),
)
