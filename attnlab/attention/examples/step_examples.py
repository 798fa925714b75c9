"""Examples that show attention step by step: from similarity and weights to queries, keys, values and W_o."""

from functools import partial

import torch

from attnlab.attention.examples.example import ONE_HEAD, Draws, Preset, draw_experiment, float32, words
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights

GROUP = "Step by step"
JOURNEY = ("Your", "journey", "starts", "with", "one", "step")
_JOURNEY_INPUTS = (
    (0.43, 0.15, 0.89),
    (0.55, 0.87, 0.66),
    (0.57, 0.85, 0.64),
    (0.22, 0.58, 0.33),
    (0.77, 0.25, 0.10),
    (0.05, 0.80, 0.55),
)
_UNTRAINED = AttentionConfig(scale="none")


def _journey(weights: Weights, config: AttentionConfig = ONE_HEAD, times: float = 1.0) -> Experiment:
    return Experiment(JOURNEY, float32(_JOURNEY_INPUTS) * times, weights, config)


def _trainable(normalizer: str = "softmax") -> Experiment:
    draws = Draws(123)
    weights = Weights(draws.uniform(3, 2), draws.uniform(3, 2), draws.uniform(3, 2))
    return _journey(weights, AttentionConfig(normalizer=normalizer))


def _linear() -> Experiment:
    draws = Draws(789)
    return _journey(Weights(draws.linear(3, 2), draws.linear(3, 2), draws.linear(3, 2)))


def _make_overflowing() -> Experiment:
    """Return inputs ten times larger, so scores a hundred times larger, up to 149.5: e^88.7 is the limit of float32."""
    return _journey(Weights(), AttentionConfig(scale="none", normalizer="softmax-unshifted"), times=10)


def _random_4x8() -> Experiment:
    draws = Draws(42)
    x = draws.normal(4, 8)
    return Experiment(words(4), x, Weights(draws.normal(8, 8), draws.normal(8, 8), draws.normal(8, 8)))


def _the_cat_sat() -> Experiment:
    inputs = ((0.2, 0.1, 0.3, 0.1), (0.5, 0.3, 0.2, 0.4), (0.3, 0.2, 0.4, 0.3))
    half = torch.eye(4, dtype=torch.float32, device="cpu") / 2
    return Experiment(("The", "cat", "sat"), float32(inputs), Weights(half, half, half))


def _batch_of_two() -> Experiment:
    return draw_experiment(words(4), 8, ONE_HEAD, output=True, others=[("A", "dog", "ran", "home")])


_step = partial(Preset, group=GROUP)

STEPS = (
    _step(
        "journey",
        "Your journey starts…",
        "Six words of 3 numbers; trainable W_q, W_k and W_v turn each word into 2 numbers.",
        _trainable,
        rows=("A4",),
        place=(2, 1),
    ),
    _step(
        "journey-untrained",
        "Untrained attention",
        "No weight matrices, no scaling: words attend to similar words.",
        lambda: _journey(Weights(), _UNTRAINED),
        rows=("A2",),
    ),
    _step(
        "journey-untrained-sum",
        "Divided by the sum",
        "The same scores divided by their sum: rows sum to 1, but no weight stands out as it does with softmax.",
        lambda: _journey(Weights(), AttentionConfig(scale="none", normalizer="sum")),
        rows=("A2",),
    ),
    _step(
        "journey-linear",
        "Linear layers",
        "nn.Linear draws from ±1/√d_in instead of 0 to 1: with both signs, scores are small and weights even.",
        _linear,
        rows=("A5",),
    ),
    _step(
        "the-cat-sat",
        "The cat sat",
        "Three tokens, W = ½·I: small enough to check by hand.",
        _the_cat_sat,
        rows=("A6",),
    ),
    _step(
        "random-4x8",
        "Random numbers",
        "Four tokens of eight random numbers: large scores, sharp weights.",
        _random_4x8,
        rows=("A1",),
    ),
    _step(
        "naive-softmax",
        "Naive softmax",
        "e^x ÷ Σ e^x without subtracting the maximum: for small scores the weights equal those of softmax.",
        lambda: _trainable("softmax-unshifted"),
        rows=("A3",),
    ),
    _step(
        "naive-softmax-overflow",
        "Naive softmax overflows",
        "Inputs ten times larger: above a score of 88.7, e^x is ∞ in float32 and the row becomes NaN.",
        _make_overflowing,
        rows=("A3",),
    ),
    _step(
        "batch-of-two",
        "A batch of two",
        "Two sentences share all weights, including W_o: switch between them, and only X and the stages change.",
        _batch_of_two,
        rows=("A7",),
    ),
    _step(
        "loops",
        "Loops or one product",
        "The same numbers from a double loop and from one matrix product: equal values, very different times.",
        lambda: draw_experiment(tuple(f"t{i}" for i in range(32)), 32, ONE_HEAD),
        rows=("A8",),
        lens="cost",
    ),
)
