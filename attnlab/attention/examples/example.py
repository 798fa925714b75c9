"""Shared parts of the worked examples: the class Preset, the words, and reproducible random numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.attention.experiment import AttentionConfig, Experiment, Sample, Weights
from attnlab.attention.frozen import NOTHING

ONE_HEAD = AttentionConfig()
WORDS = ("The", "cat", "sat", "on", "the", "mat", "in", "the", "warm", "sun")


@dataclass(frozen=True, slots=True)
class Preset:
    """A worked example: a name, a title, one line on what to look for, and the function that makes it.

    ``group`` is its heading in the gallery, ``rows`` are the systems of the course that it shows ("A1" to "F1").
    ``lens`` is the view that the window opens with it: "" for the canvas, or a page of a lens, "positions/order".
    ``place`` is the query and the key of the weight that is explained first; None: the largest between two tokens.
    """

    name: str
    title: str
    about: str
    make: Callable[[], Experiment]
    group: str = ""
    rows: tuple[str, ...] = ()
    lens: str = ""
    place: tuple[int, int] | None = None


class Draws:
    """Draws the numbers of torch after ``torch.manual_seed``, in float32 on the CPU, whatever torch's defaults."""

    def __init__(self, seed: int) -> None:
        self._g = torch.Generator(device="cpu").manual_seed(seed)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self._g, dtype=torch.float32, device="cpu")

    def uniform(self, *shape: int) -> Tensor:
        return torch.rand(*shape, generator=self._g, dtype=torch.float32, device="cpu")

    def linear(self, d_in: int, d_out: int) -> Tensor:
        """Return the initial weight of torch.nn.Linear as [d_in, d_out], drawn as [d_out, d_in] from U(±1/√d_in)."""
        bound = d_in**-0.5
        empty = torch.empty(d_out, d_in, dtype=torch.float32, device="cpu")
        return empty.uniform_(-bound, bound, generator=self._g).T

    def weights(
        self,
        d_model: int,
        config: AttentionConfig = ONE_HEAD,
        *,
        output: bool = False,
        biases: bool = False,
        tables: Mapping[str, tuple[int, ...]] = NOTHING,
    ) -> Weights:
        """Return W_q, W_k, W_v (W_o), then biases, then tables of entries (name to shape): all randn ÷ √d_model."""
        group = config.n_heads // (config.n_kv_heads or config.n_heads)
        widths = {"q": d_model, "k": d_model // group, "v": d_model // group} | ({"o": d_model} if output else {})
        drawn = {f"W_{letter}": self.normal(d_model, width) / d_model**0.5 for letter, width in widths.items()}
        if biases:
            drawn |= {f"b_{letter}": self.normal(width) / d_model**0.5 for letter, width in widths.items()}
        return Weights(**drawn, extra={name: self.normal(*shape) / d_model**0.5 for name, shape in tables.items()})


def draw_experiment(
    tokens: tuple[str, ...],
    d_model: int,
    config: AttentionConfig,
    *,
    output: bool = False,
    biases: bool = False,
    memory: tuple[str, ...] = (),
    others: Sequence[tuple[str, ...]] = (),
    tables: Mapping[str, tuple[int, ...]] = NOTHING,
) -> Experiment:
    """Return an experiment drawn with seed 0: X, W_q, W_k, W_v (W_o) by randn in that order, then the biases.

    X is [T, d_model]; the weights [d_model, d_model] and the biases are divided by √d_model. The embeddings of
    ``others`` in the batch and of a ``memory`` are drawn after X, ``tables`` of entries after the biases.
    """
    draws = Draws(0)
    x = draws.normal(len(tokens), d_model)
    samples = [Sample(other, draws.normal(len(other), d_model)) for other in others]
    source = draws.normal(len(memory), d_model) if memory else None
    weights = draws.weights(d_model, config, output=output, biases=biases, tables=tables)
    return Experiment(tokens, x, weights, config, memory or None, source, samples)


def words(count: int) -> tuple[str, ...]:
    """Return the first ``count`` words of a sentence of ten."""
    return WORDS[:count]


def float32(rows: Sequence[Sequence[float]]) -> Tensor:
    """Return rows of numbers as a tensor on the CPU."""
    return torch.tensor(rows, dtype=torch.float32, device="cpu")
