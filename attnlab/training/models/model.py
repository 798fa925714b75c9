"""What every model has: layers of attention by name, a forward, and a way to write on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from attnlab.attention.frozen import NOTHING
from attnlab.attention.registries import masks
from attnlab.attention.registries.masks import Hidden
from attnlab.base.errors import TrainingError
from attnlab.training.batch import BEGIN, END, IGNORED, PAD, Batch
from attnlab.training.models.attention import Attention, LayerTrace


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What an encoder made of the source: a row for each token [B, S, d], which of them are PAD, and its summary
    [B, d], with which a recurrent decoder begins.
    """

    states: Tensor
    hidden: Hidden | None = None
    summary: Tensor | None = None


class Model(nn.Module):
    """A model of any kind. ``layers`` are its layers of attention by name, in order.

    ``longest`` is how many tokens it reads at once; what it writes beyond goes on from the last so many. ``onward``
    says whether it writes on from what it reads; else it answers at each place.
    """

    def __init__(self, longest: int, onward: bool) -> None:
        super().__init__()
        self.longest = longest
        self.onward = onward
        self.layers: dict[str, Attention] = {}

    def encode(self, source: Tensor) -> Memory:
        """Return what there is to ask about a source [B, S]; models without an encoder have nothing to do with it."""
        raise NotImplementedError

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return logits [B, T, V] for inputs [B, T], or numbers [B, T, d] for numbers."""
        raise NotImplementedError

    def forward(self, batch: Batch) -> Tensor:
        """Return logits [B, T, V] for each place of the inputs, or numbers [B, T, d]."""
        return self.decode(batch.inputs, None if batch.source is None else self.encode(batch.source))

    @torch.no_grad()
    def write(
        self,
        batch: Batch,
        n: int,
        *,
        generator: torch.Generator | None = None,
        temperature: float = 0.0,
        top_k: int = 0,
    ) -> Tensor:
        """Return n tokens [B, n] that the model writes: on from the inputs; from BEGIN where there is a source; or, if
        it is none that writes on, its answers at the first n places.

        The likeliest token at temperature 0, else drawn from the ``top_k`` likeliest, 0 for all. After END stands PAD.
        """
        memory = None if batch.source is None else self.encode(batch.source)
        if not self.onward:
            return _picked(self.decode(batch.inputs, memory)[:, :n], generator, temperature, top_k)
        start = batch.inputs if memory is None else torch.full_like(batch.inputs[:, :1], BEGIN)
        tokens, done = start, torch.zeros(len(start), dtype=torch.bool, device=start.device)
        for _ in range(n):
            logits = self.decode(tokens[:, -self.longest :], memory)[:, -1]
            new = _picked(logits, generator, temperature, top_k).masked_fill(done, PAD)
            tokens, done = torch.cat([tokens, new[:, None]], 1), done | (new == END)
            if bool(done.all()):
                break
        written = tokens[:, start.shape[1] :]
        return nn.functional.pad(written, (0, n - written.shape[1]), value=PAD)

    @torch.no_grad()
    def answers(self, batch: Batch) -> Tensor:
        """Return what the model itself writes wherever something is asked, [B, T]: greedy, on from its own words.

        Where nothing is asked it reads what is given. For models that write on, this is found by asking for all
        places at once and putting the answers in until they stay the same, which is exactly what writing one by one
        gives, in as many forwards as there are mistakes, and in one where there is none.
        """
        memory = None if batch.source is None else self.encode(batch.source)
        inputs, asked = batch.inputs, (batch.targets != IGNORED)[:, :-1]
        answers = _picked(self.decode(inputs, memory))
        for _ in range(inputs.shape[1] if self.onward else 0):
            given = torch.where(asked, answers[:, :-1], batch.inputs[:, 1:])
            if torch.equal(given, inputs[:, 1:]):
                break
            inputs = torch.cat([inputs[:, :1], given], 1)
            answers = _picked(self.decode(inputs, memory))
        return answers


def _picked(
    logits: Tensor, generator: torch.Generator | None = None, temperature: float = 0.0, top_k: int = 0
) -> Tensor:
    """Return a token for each row of logits [..., V]; never PAD, which is no word.

    Raises:
        TrainingError: the logits are no finite numbers, of which none can be drawn.
    """
    logits = logits.clone()
    logits[..., PAD] = -torch.inf
    if temperature <= 0:
        return logits.argmax(-1)
    if 0 < top_k < logits.shape[-1]:
        logits = logits.masked_fill(logits < logits.topk(top_k, -1).values[..., -1:], -torch.inf)
    shares = (logits / temperature).softmax(-1).flatten(0, -2)
    if not bool(shares.isfinite().all()):
        raise TrainingError("With these weights the model gives no finite numbers to draw from; earlier ones would do.")
    return torch.multinomial(shares, 1, generator=generator).view(logits.shape[:-1])


def hidden_keys(keys: Tensor, t_q: int, causal: bool) -> Hidden | None:
    """Return what is masked of keys [B, T_k] for so many queries: what is ahead, if causal, and PAD; None for nothing.

    [T_q, T_k], or with PAD [B, 1, T_q, T_k]. Numbers [B, T_k, d] have no PAD.
    """
    ahead = masks.hidden_cells(t_q, keys.shape[1], causal, NOTHING, None)
    if ahead is not None and keys.device.type != "cpu":
        ahead = Hidden(ahead.cells.to(keys.device), ahead.has_empty_rows)
    pad = None if keys.is_floating_point() else keys == PAD
    if pad is None or not bool(pad.any()):
        return ahead
    cells = pad[:, None, None].expand(-1, 1, t_q, -1)
    if ahead is not None:
        cells = cells | ahead.cells
    return Hidden(cells, bool(cells.all(-1).any()))


@contextmanager
def watched(model: Model) -> Iterator[Mapping[str, LayerTrace]]:
    """Give the traces of the layers by name, of the last forward within; nothing is kept outside of it."""
    traces: dict[str, LayerTrace] = {}
    try:
        for name, layer in model.layers.items():
            layer.report = partial(traces.__setitem__, name)
        yield traces
    finally:
        for layer in model.layers.values():
            layer.report = None


def loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy of logits [B, T, V] where something is asked, or of numbers the mean square error.

    0 where nothing is asked.
    """
    if targets.is_floating_point():
        return nn.functional.mse_loss(outputs, targets)
    total = nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum")
    return total / (targets != IGNORED).sum().clamp_min(1)
