"""Examples of how scores become weights: why they are scaled, and the alternatives to softmax."""

from functools import partial
from typing import Any

from attnlab.attention.examples.example import Preset, draw_experiment, words
from attnlab.attention.experiment import AttentionConfig, Experiment

GROUP = "Weights"
LARGE = 256


def _make_saturated(scale: str) -> Experiment:
    return draw_experiment(words(8), LARGE, AttentionConfig(scale=scale))


def _make_weighed(**settings: Any) -> Experiment:
    return draw_experiment(words(8), 16, AttentionConfig(**settings))


_weight = partial(Preset, group=GROUP)

WEIGHTS = (
    _weight(
        "saturated",
        "Saturated softmax",
        "d_k = 256 and no scale: scores have standard deviation 16, rows are nearly one-hot, gradients vanish.",
        lambda: _make_saturated("none"),
        rows=("F1",),
        lens="saturation",
    ),
    _weight(
        "saturated-scaled",
        "Not saturated: scaled",
        "The same scores divided by √256 = 16: standard deviation 1, and softmax can still learn.",
        lambda: _make_saturated("sqrt_d_k"),
        rows=("F1",),
        lens="saturation",
    ),
    _weight(
        "temperature",
        "Temperature",
        "Softmax at temperature 0.2: scores are five times as large, and the largest takes nearly all. Try 5.",
        lambda: _make_weighed(temperature=0.2),
    ),
    _weight(
        "sparsemax",
        "Sparsemax",
        "Only scores above a threshold get a weight: count the cells that are exactly 0.",
        lambda: _make_weighed(normalizer="sparsemax"),
    ),
    _weight(
        "entmax",
        "Entmax 1.5",
        "Halfway from softmax to sparsemax: weak keys get exactly 0, strong ones share.",
        lambda: _make_weighed(normalizer="entmax15"),
    ),
    _weight(
        "sigmoid",
        "Sigmoid",
        "Keys do not compete: rows need not sum to 1, and a key with score 0 gets 0.5.",
        lambda: _make_weighed(normalizer="sigmoid"),
    ),
    _weight(
        "dropout",
        "Dropout",
        "A fifth of the weights is set to 0 at random, the rest scaled up: rows no longer sum to 1. Try Training off.",
        lambda: _make_weighed(dropout=0.2),
    ),
)
