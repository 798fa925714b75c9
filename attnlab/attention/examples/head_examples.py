"""Examples of heads: multi-head, averages, shared keys, soft cap, QK norm, a sink, a head switched off."""

from dataclasses import replace
from functools import partial
from typing import Any

from attnlab.attention.examples.example import Preset, draw_experiment, float32, words
from attnlab.attention.experiment import AttentionConfig, Experiment

GROUP = "Heads"
_SINKS = ((0.0, 1.0, 2.0, 3.0),)


def _heads(n_heads: int, count: int = 10, d_model: int = 64, biases: bool = False, **settings: Any) -> Experiment:
    return draw_experiment(words(count), d_model, AttentionConfig(n_heads, **settings), output=True, biases=biases)


def _sink() -> Experiment:
    e = _heads(4, count=6, d_model=16)
    weights = replace(e.weights, extra={"sinks": float32(_SINKS)[0]})
    return replace(e, weights=weights, config=replace(e.config, options={"sink": True}))


_head = partial(Preset, group=GROUP)

HEADS = (
    _head(
        "multi-head-causal",
        "Multi-head with W_o",
        "Eight causal heads with d_k = 8, concatenated and mixed by W_o.",
        lambda: _heads(8, count=5, causal=True),
        rows=("C1",),
    ),
    _head(
        "multi-head-8",
        "Eight heads",
        "Ten tokens, eight heads: eight different maps of one sentence.",
        lambda: _heads(8),
        rows=("C2",),
    ),
    _head(
        "head-average",
        "Head average",
        "d_model = 512, eight heads, biases: compare the heads with their mean.",
        lambda: _heads(8, d_model=512, biases=True),
        rows=("C3",),
    ),
    _head(
        "uneven-heads",
        "Heads must divide",
        "Ten columns: the head count must be 1, 2, 5 or 10. Type 4 to read why.",
        lambda: _heads(2, count=6, d_model=10),
        rows=("C4",),
    ),
    _head(
        "grouped-keys",
        "Grouped keys",
        "Eight query heads share two key and value heads: heads 0 to 3 use the first, heads 4 to 7 the second.",
        lambda: _heads(8, n_kv_heads=2),
    ),
    _head(
        "multi-query",
        "Multi-query",
        "Eight query heads share one key and value head: K and V are the same in every head, an eighth of the size.",
        lambda: _heads(8, n_kv_heads=1),
    ),
    _head(
        "attention-sink",
        "Attention sink",
        "An extra logit takes part of each row: 0, 1, 2, 3 in the four heads, whose rows sum to less and less.",
        _sink,
    ),
    _head(
        "soft-cap",
        "Soft cap",
        "Unscaled scores from −16 to 16 are squeezed into −5 to 5: sharp weights become soft.",
        lambda: _heads(1, count=6, scale="none", soft_cap=5.0),
    ),
    _head(
        "qk-norm",
        "QK norm",
        "Queries and keys are normalised to length 1 before the dot product: only their directions count.",
        lambda: _heads(4, count=6, d_model=16, qk_norm="l2", scale="none"),
    ),
    _head(
        "head-ablated",
        "A head switched off",
        "Head 1 still has its map, but its context is 0: switch it on to see what it adds to the output.",
        lambda: _heads(4, count=6, d_model=16, ablated=(1,)),
    ),
)
