"""The examples of positions: added, learned, turned, or none at all."""

from functools import partial

import torch

from attnlab.attention.examples_common import Preset, drawn
from attnlab.attention.experiment import AttentionConfig, Experiment

GROUP = "Positions"
_STORY = ("the", "dog", "bites", "the", "man")


def _encoding() -> Experiment:
    """Return 100 tokens of 128 zeros, so that the inputs are the encoding and nothing else."""
    zeros = torch.zeros(100, 128, dtype=torch.float32, device="cpu")
    return Experiment(tuple(f"t{i}" for i in range(100)), zeros, config=AttentionConfig(positions="sinusoidal"))


def _story(positions: str) -> Experiment:
    return drawn(_STORY, 8, AttentionConfig(positions=positions))


_position = partial(Preset, group=GROUP)

POSITIONS = (
    _position(
        "sinusoidal-100x128", "Sinusoidal encoding",
        "Embeddings of zeros: Inputs are the encoding itself, fast waves on the left and slow ones on the right.",
        _encoding, rows=("E1", "E2"), lens="positions",
    ),
    _position(
        "order-blind", "Blind to order",
        "No positions: shuffle the tokens and the map is shuffled with them, nothing else.",
        lambda: _story("none"), rows=("E4",), lens="positions",
    ),
    _position(
        "order-aware", "Aware of order",
        "The same words with positions: shuffle them, and the map is another one.",
        lambda: _story("sinusoidal"), rows=("E4",), lens="positions",
    ),
)  # fmt: skip
