"""The examples of positions: added, learned, turned, or none at all."""

from dataclasses import replace
from functools import partial

import torch

from attnlab.attention.examples.example import Draws, Preset, drawn
from attnlab.attention.experiment import AttentionConfig, Experiment

GROUP = "Positions"
_STORY = ("the", "dog", "bites", "the", "man")


def _encoding() -> Experiment:
    """Return 100 tokens of 128 zeros, so that the inputs are the encoding and nothing else."""
    zeros = torch.zeros(100, 128, dtype=torch.float32, device="cpu")
    return Experiment(tuple(f"t{i}" for i in range(100)), zeros, config=AttentionConfig(positions="sinusoidal"))


def _story(positions: str) -> Experiment:
    return drawn(_STORY, 8, AttentionConfig(positions=positions))


def _repeated(n_heads: int, positions: str, **tables: tuple[int, ...]) -> Experiment:
    """Return one word eight times over, so that nothing but the distance tells the tokens apart."""
    draws, config = Draws(0), AttentionConfig(n_heads, positions=positions)
    x = draws.normal(1, 16).expand(8, 16)
    weights = draws.weights(16, config)
    extra = {name: draws.normal(*shape) for name, shape in tables.items()}
    return Experiment(("buffalo",) * 8, x, replace(weights, extra=extra), config)


_position = partial(Preset, group=GROUP)

POSITIONS = (
    _position(
        "sinusoidal-100x128", "Sinusoidal encoding",
        "Embeddings of zeros: Inputs are the encoding itself, fast waves on the left and slow ones on the right.",
        _encoding, rows=("E1", "E2"), lens="positions",
    ),
    _position(
        "rotation-property", "Positions turn",
        "One matrix takes the encoding of any position t to that of t + φ: it turns each pair by an angle of its own.",
        _encoding, rows=("E2",), lens="positions/rotation",
    ),
    _position(
        "learned-positions", "Learned positions",
        "P has a row for each place: change one, and whatever token stands there is another one to all.",
        lambda: drawn(_STORY, 8, AttentionConfig(positions="learned"), tables={"P": (len(_STORY), 8)}), rows=("E3",),
    ),
    _position(
        "order-blind", "Blind to order",
        "No positions: shuffle the tokens and the map is shuffled with them, nothing else.",
        lambda: _story("none"), rows=("E4",), lens="positions/order",
    ),
    _position(
        "order-aware", "Aware of order",
        "The same words with positions: shuffle them, and the map is another one.",
        lambda: _story("sinusoidal"), rows=("E4",), lens="positions/order",
    ),
    _position(
        "rope", "Rotary positions",
        "One word eight times over: queries and keys are turned, and each diagonal of the scores is one number.",
        lambda: _repeated(1, "rope"),
    ),
    _position(
        "alibi", "ALiBi",
        "One word eight times over: the farther a token, the less weight, steeply in head 0 and hardly in head 3.",
        lambda: _repeated(4, "alibi"),
    ),
    _position(
        "t5-bias", "T5 bias",
        "One word eight times over: a learned number for each head and distance, one stripe a distance.",
        lambda: _repeated(4, "t5", B=(32, 4)),
    ),
)  # fmt: skip
