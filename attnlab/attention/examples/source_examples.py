"""Examples of score functions and of second sequences: a decoder that attends to the states of an encoder."""

from functools import partial

import torch

from attnlab.attention.examples.example import Draws, Preset, draw_experiment
from attnlab.attention.experiment import AttentionConfig, Experiment, Sample, Weights

GROUP = "Scores and second sequences"
HIDDEN, STATES, BATCH = 64, 10, 4
_STATES = tuple(f"h{i}" for i in range(1, STATES + 1))
_TABLES: dict[str, dict[str, tuple[int, ...]]] = {
    "dot": {},
    "cosine": {},
    "general": {"W_a": (HIDDEN, HIDDEN)},
    "concat": {"W_c": (2 * HIDDEN, HIDDEN), "v_c": (HIDDEN,)},
    "additive": {"W_d": (HIDDEN, HIDDEN), "W_e": (HIDDEN, HIDDEN), "v_a": (HIDDEN,)},
}
_QUESTION = ("How", "was", "your", "day")
_ANSWER = ("Comment", "s'", "est", "passée", "ta", "journée")


def _make_recurrent(score: str) -> Experiment:
    """Return one decoder state that attends to ten encoder states, in a batch of four, without projections or scale.

    The decoder states are drawn first, then the encoder states, then the tables of the score function.
    """
    draws = Draws(0)
    queries = [draws.normal(1, HIDDEN) for _ in range(BATCH)]
    first, *others = [Sample(("s",), query, _STATES, draws.normal(STATES, HIDDEN)) for query in queries]
    extra = {name: draws.normal(*shape) / HIDDEN**0.5 for name, shape in _TABLES[score].items()}
    config = AttentionConfig(scale="none", score=score)
    memory = first.memory_tokens, first.memory_embeddings
    return Experiment(first.tokens, first.embeddings, Weights(extra=extra), config, *memory, others)


def _make_translated(last_only: bool) -> Experiment:
    """Return a decoder that attends to all states of an encoder, or only to the last one."""
    allowed = torch.zeros(len(_ANSWER), len(_QUESTION), dtype=torch.bool, device="cpu")
    allowed[:, -1] = True
    config = AttentionConfig(mask=allowed if last_only else None)
    return draw_experiment(_ANSWER, 8, config, memory=_QUESTION)


def _cross() -> Experiment:
    english = ("The", "cat", "sat", "on", "the", "mat")
    return draw_experiment(("Le", "chat", "est", "assis"), 8, AttentionConfig(), memory=english)


_source = partial(Preset, group=GROUP)

SOURCES = (
    _source(
        "additive",
        "Additive (Bahdanau)",
        "vᵀ tanh(W_d s + W_e h): tanh keeps every term within ±v, so ten states share the weight.",
        lambda: _make_recurrent("additive"),
        rows=("D1",),
    ),
    _source(
        "luong-dot",
        "Luong: dot",
        "The same states, s·h: sums of 64 products without a scale, so one state gets nearly all the weight.",
        lambda: _make_recurrent("dot"),
        rows=("D2",),
    ),
    _source(
        "luong-general",
        "Luong: general",
        "The same states, sᵀ W h: a learned matrix decides which states match, and another state wins.",
        lambda: _make_recurrent("general"),
        rows=("D3",),
    ),
    _source(
        "luong-concat",
        "Luong: concat",
        "vᵀ tanh(W [s; h]): if W is W_d stacked on W_e, the weights equal those of the additive score exactly.",
        lambda: _make_recurrent("concat"),
        rows=("D4",),
    ),
    _source(
        "cosine",
        "Cosine",
        "The same states, but only their directions count: cosines within ±1 give nearly even weights.",
        lambda: _make_recurrent("cosine"),
    ),
    _source(
        "cross-attention",
        "Cross-attention",
        "Four French queries and six English keys: rows and columns are different sentences; Output has four rows.",
        _cross,
        rows=("D5",),
    ),
    _source(
        "bottleneck",
        "The bottleneck",
        "“How was your day” as one fixed vector: whatever the query, all rows of the output are the same.",
        lambda: _make_translated(True),
        rows=("D6",),
    ),
    _source(
        "bottleneck-attention",
        "Without the bottleneck",
        "The same with attention: every step of the decoder has its own mix of all four words.",
        lambda: _make_translated(False),
        rows=("D6",),
    ),
)
