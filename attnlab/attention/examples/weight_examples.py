"""The examples of what turns scores into weights: why scores are divided, and what else there is than softmax."""

from functools import partial
from typing import Any

from attnlab.attention.examples.example import Preset, drawn, words
from attnlab.attention.experiment import AttentionConfig, Experiment

GROUP = "Weights"
LARGE = 256


def _saturated(scale: str) -> Experiment:
    return drawn(words(8), LARGE, AttentionConfig(scale=scale))


def _weighed(**settings: Any) -> Experiment:
    return drawn(words(8), 16, AttentionConfig(**settings))


_weight = partial(Preset, group=GROUP)

WEIGHTS = (
    _weight(
        "saturated", "Saturated softmax",
        "d_k = 256 and no scale: scores spread by 16, nearly every row is one 1 and zeros, and no gradient passes.",
        lambda: _saturated("none"), rows=("F1",), lens="saturation",
    ),
    _weight(
        "saturated-scaled", "Not saturated: scaled",
        "The same numbers divided by √256 = 16: scores spread by 1, and softmax can still learn.",
        lambda: _saturated("sqrt_d_k"), rows=("F1",), lens="saturation",
    ),
    _weight(
        "temperature", "Temperature",
        "Softmax at temperature 0.2: scores count five times, and the largest takes nearly all. Try 5.",
        lambda: _weighed(temperature=0.2),
    ),
    _weight(
        "sparsemax", "Sparsemax", "Only what is above a threshold gets a weight: count the cells that are exactly 0.",
        lambda: _weighed(normalizer="sparsemax"),
    ),
    _weight(
        "entmax", "Entmax 1.5", "Half way from softmax to sparsemax: weak keys get exactly 0, strong ones share.",
        lambda: _weighed(normalizer="entmax15"),
    ),
    _weight(
        "sigmoid", "Sigmoid",
        "Each key on its own, no competition: rows sum to what they like, and unlike keys get a half.",
        lambda: _weighed(normalizer="sigmoid"),
    ),
    _weight(
        "dropout", "Dropout",
        "A fifth of the weights is 0 at random and the rest is raised: rows no longer sum to 1. Training off ends it.",
        lambda: _weighed(dropout=0.2),
    ),
)  # fmt: skip
