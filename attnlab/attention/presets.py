"""Worked examples by name: each one line in a table, made with its own random generator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import torch
from torch import Tensor

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.errors import UnknownPresetError

JOURNEY = ("Your", "journey", "starts", "with", "one", "step")
_JOURNEY_INPUTS = (
    (0.43, 0.15, 0.89), (0.55, 0.87, 0.66), (0.57, 0.85, 0.64),
    (0.22, 0.58, 0.33), (0.77, 0.25, 0.10), (0.05, 0.80, 0.55),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Preset:
    """A worked example: a plain name, a title, one line on what to look for, and what makes it."""

    name: str
    title: str
    about: str
    make: Callable[[], Experiment]


def presets() -> tuple[str, ...]:
    """Return the names of the presets."""
    return tuple(PRESETS)


def preset(name: str) -> Experiment:
    """Return the preset of that name.

    Raises:
        UnknownPresetError: there is none; the sentence names the nearest and all that exist.
    """
    if name not in PRESETS:
        near = get_close_matches(str(name), PRESETS, n=1)
        hint = f"did you mean {near[0]}? There" if near else "there"
        raise UnknownPresetError(f"There is no preset {name!r}; {hint} are {', '.join(PRESETS)}.")
    return PRESETS[name].make()


class _Draws:
    """Draws numbers as torch does after ``torch.manual_seed``, in float32 on the CPU whatever the caller's defaults."""

    def __init__(self, seed: int) -> None:
        self._g = torch.Generator(device="cpu").manual_seed(seed)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self._g, dtype=torch.float32, device="cpu")

    def uniform(self, *shape: int) -> Tensor:
        return torch.rand(*shape, generator=self._g, dtype=torch.float32, device="cpu")

    def linear(self, d_in: int, d_out: int) -> Tensor:
        """Return the first weight of torch.nn.Linear, drawn as [d_out, d_in] from U(±1/√d_in), as [d_in, d_out]."""
        bound = d_in**-0.5
        empty = torch.empty(d_out, d_in, dtype=torch.float32, device="cpu")
        return empty.uniform_(-bound, bound, generator=self._g).T


def _float32(rows: Sequence[Sequence[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float32, device="cpu")


def _journey(weights: Weights, scale: str = "sqrt_d_k") -> Experiment:
    return Experiment(JOURNEY, _float32(_JOURNEY_INPUTS), weights, AttentionConfig(scale=scale))


def _journey_trainable() -> Experiment:
    draws = _Draws(123)
    return _journey(Weights(draws.uniform(3, 2), draws.uniform(3, 2), draws.uniform(3, 2)))


def _journey_linear() -> Experiment:
    draws = _Draws(789)
    return _journey(Weights(draws.linear(3, 2), draws.linear(3, 2), draws.linear(3, 2)))


def _random_4x8() -> Experiment:
    draws = _Draws(42)
    x = draws.normal(4, 8)
    return Experiment(_words(4), x, Weights(draws.normal(8, 8), draws.normal(8, 8), draws.normal(8, 8)))


def _the_cat_sat() -> Experiment:
    inputs = ((0.2, 0.1, 0.3, 0.1), (0.5, 0.3, 0.2, 0.4), (0.3, 0.2, 0.4, 0.3))
    half = torch.eye(4, dtype=torch.float32, device="cpu") / 2
    return Experiment(("The", "cat", "sat"), _float32(inputs), Weights(half, half, half))


def _words(count: int) -> tuple[str, ...]:
    return ("The", "cat", "sat", "on", "the", "mat", "in", "the", "warm", "sun")[:count]


def drawn(
    tokens: tuple[str, ...], d_model: int, config: AttentionConfig, *, output: bool = False, biases: bool = False
) -> Experiment:
    """Return an experiment drawn with seed 0: X, W_q, W_k, W_v (W_o) by randn in that order, then the biases.

    X is [T, d_model], the weights [d_model, d_model] and divided by √d_model, as the biases are.
    """
    draws = _Draws(0)
    x = draws.normal(len(tokens), d_model)
    letters = "qkvo" if output else "qkv"
    weights = {f"W_{letter}": draws.normal(d_model, d_model) / d_model**0.5 for letter in letters}
    if biases:
        weights |= {f"b_{letter}": draws.normal(d_model) / d_model**0.5 for letter in letters}
    return Experiment(tokens, x, Weights(**weights), config)


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "journey", "Your journey starts…", "Six words, 3 → 2 numbers each, with trainable W_q, W_k and W_v.",
            _journey_trainable,
        ),
        Preset(
            "journey-untrained", "Untrained attention",
            "No weight matrices, no scaling: the words attend to their likes.",
            lambda: _journey(Weights(), scale="none"),
        ),
        Preset(
            "journey-linear", "Linear layers",
            "The journey with the first weights of nn.Linear, small and of both signs.",
            _journey_linear,
        ),
        Preset(
            "the-cat-sat", "The cat sat", "Three tokens, W = ½·I: small enough to check by hand.",
            _the_cat_sat,
        ),
        Preset(
            "random-4x8", "Random numbers", "Four tokens of eight random numbers: large scores, sharp weights.",
            _random_4x8,
        ),
        Preset(
            "causal-5x8", "Causal mask", "Five tokens that may look back only: the weights form a triangle.",
            lambda: drawn(_words(5), 8, AttentionConfig(causal=True)),
        ),
        Preset(
            "multi-head-causal", "Multi-head with W_o", "Eight causal heads of 8 numbers side by side, mixed by W_o.",
            lambda: drawn(_words(5), 64, AttentionConfig(n_heads=8, causal=True), output=True),
        ),
        Preset(
            "multi-head-8", "Eight heads", "Ten tokens, eight heads: eight different maps of one sentence.",
            lambda: drawn(_words(10), 64, AttentionConfig(n_heads=8), output=True),
        ),
        Preset(
            "head-average", "Head average",
            "512 numbers a token, eight heads, biases: compare the heads with their mean.",
            lambda: drawn(_words(10), 512, AttentionConfig(n_heads=8), output=True, biases=True),
        ),
        Preset(
            "uneven-heads", "Heads must divide", "Ten columns: 1, 2, 5 or 10 heads fit. Type 4 and read why not.",
            lambda: drawn(_words(6), 10, AttentionConfig(n_heads=2), output=True),
        ),
    )
}  # fmt: skip
