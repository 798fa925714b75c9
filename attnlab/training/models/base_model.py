"""The base of all models: named attention layers, a forward pass, and generation."""

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
    """The output of an encoder: its states [B, S, d], the mask of PAD, and for recurrent models a summary [B, d], from
    which the decoder starts.
    """

    states: Tensor
    hidden: Hidden | None = None
    summary: Tensor | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OwnAnswers:
    """Greedy predictions: the ``inputs`` [B, T] with the model's own tokens, the ``logits`` [B, T, V] that it computes
    from them, and the likeliest tokens of these, ``answers`` [B, T].
    """

    inputs: Tensor
    logits: Tensor
    answers: Tensor


class Model(nn.Module):
    """A model of any kind. ``layers`` are its layers of attention by name, in order.

    ``longest`` is the number of tokens that it reads at once; longer texts continue from the last ``longest`` tokens.
    ``onward``: the model continues its inputs; otherwise it predicts at each of their positions.
    """

    def __init__(self, longest: int, onward: bool) -> None:
        super().__init__()
        self.longest = longest
        self.onward = onward
        self.layers: dict[str, Attention] = {}

    def encode(self, source: Tensor) -> Memory:
        """Return the memory of a source [B, S]; only models with an encoder implement this."""
        raise NotImplementedError

    def remember(self, batch: Batch) -> Memory | None:
        """Return the memory of a batch's source; None without a source."""
        return None if batch.source is None else self.encode(batch.source)

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return logits [B, T, V] for tokens [B, T], or numbers [B, T, d] for numbers [B, T, d]."""
        raise NotImplementedError

    def forward(self, batch: Batch) -> Tensor:
        """Return logits [B, T, V] for each position of the inputs, or numbers [B, T, d]."""
        return self.decode(batch.inputs, self.remember(batch))

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
        """Return ``n`` generated tokens [B, n]: the continuation of the inputs, or of BEGIN if there is a source. A
        model that is not ``onward`` returns its predictions at the first ``n`` positions.

        At temperature 0 these are the most likely tokens, else samples of the ``top_k`` most likely, 0 for all. PAD
        follows after END.
        """
        memory = self.remember(batch)
        if not self.onward:
            return pick_tokens(self.decode(batch.inputs, memory)[:, :n], generator, temperature, top_k)
        start = batch.inputs if memory is None else torch.full_like(batch.inputs[:, :1], BEGIN)
        tokens, done = start, torch.zeros(len(start), dtype=torch.bool, device=start.device)
        for _ in range(n):
            logits = self.decode(tokens[:, -self.longest :], memory)[:, -1]
            new = pick_tokens(logits, generator, temperature, top_k).masked_fill(done, PAD)
            tokens, done = torch.cat([tokens, new[:, None]], 1), done | (new == END)
            if bool(done.all()):
                break
        written = tokens[:, start.shape[1] :]
        return nn.functional.pad(written, (0, n - written.shape[1]), value=PAD)

    @torch.no_grad()
    def predict(self, batch: Batch) -> Tensor:
        """Return the model's greedy predictions [B, T], in which each target continues the model's own predictions.

        At positions without a target it reads the inputs. This equals generation token by token.
        """
        return self.answer_itself(batch).answers

    @torch.no_grad()
    def answer_itself(
        self,
        batch: Batch,
        outputs: Tensor | None = None,
        memory: Memory | None = None,
        guess: Tensor | None = None,
    ) -> OwnAnswers:
        """Return the greedy predictions in which each target continues the model's own, with their logits.

        An ``onward`` model predicts all positions at once and reads its predictions until they no longer change. This
        needs one forward pass, whose ``outputs`` and ``memory`` may be known already, and one more for each mistake. A
        ``guess`` at the answers [B, T], such as those of a few training steps before, saves passes if it is right, and
        never changes the result.
        """
        memory = self.remember(batch) if memory is None else memory
        inputs, asked = batch.inputs, (batch.targets != IGNORED)[:, :-1]
        logits = self.decode(inputs, memory) if outputs is None else outputs
        answers = pick_tokens(logits)
        read = answers if guess is None else _follow_guess(guess, answers, batch.targets)
        for _ in range(inputs.shape[1] + 1 if self.onward else 0):
            given = torch.where(asked, read[:, :-1], batch.inputs[:, 1:])
            if torch.equal(given, inputs[:, 1:]):
                break
            inputs = torch.cat([inputs[:, :1], given], 1)
            logits = self.decode(inputs, memory)
            read = answers = pick_tokens(logits)
        return OwnAnswers(inputs, logits, answers)


def _follow_guess(guess: Tensor, answers: Tensor, targets: Tensor) -> Tensor:
    """Return the tokens that a model probably writes [B, T], from a guess and the answers that follow right tokens.

    Its answers are certain up to the first mistake. Where the guess agrees with these, the guess continues them.
    """
    asked = targets != IGNORED
    right = ((answers == targets) | ~asked).cumprod(1).bool()
    certain = torch.cat([torch.ones_like(right[:, :1]), right[:, :-1]], 1)
    agrees = ((guess == answers) | ~(certain & asked)).all(1, keepdim=True)
    return torch.where(agrees & ~certain, guess, answers)


def pick_tokens(
    logits: Tensor, generator: torch.Generator | None = None, temperature: float = 0.0, top_k: int = 0
) -> Tensor:
    """Return one token for each row of logits [..., V], never PAD.

    Raises:
        TrainingError: the logits are not finite, so that no token can be drawn.
    """
    logits = logits.clone()
    logits[..., PAD] = -torch.inf
    if temperature <= 0:
        return logits.argmax(-1)
    if 0 < top_k < logits.shape[-1]:
        logits = logits.masked_fill(logits < logits.topk(top_k, -1).values[..., -1:], -torch.inf)
    shares = (logits / temperature).softmax(-1).flatten(0, -2)
    if not bool(shares.isfinite().all()):
        raise TrainingError("With these weights the logits are not finite; choose earlier weights to draw tokens.")
    return torch.multinomial(shares, 1, generator=generator).view(logits.shape[:-1])


def hide_keys(keys: Tensor, t_q: int, causal: bool) -> Hidden | None:
    """Return the mask of keys [B, T_k] for ``t_q`` queries: PAD and, if causal, later keys; None if no key is masked.

    Its shape is [T_q, T_k], or [B, 1, T_q, T_k] if there is PAD. Numbers [B, T_k, d] have no PAD.
    """
    ahead = masks.find_hidden(t_q, keys.shape[1], causal, NOTHING, None)
    ahead = None if ahead is None else ahead.on(keys.device)
    pad = None if keys.is_floating_point() else keys == PAD
    if pad is None or not bool(pad.any()):
        return ahead
    cells = pad[:, None, None].expand(-1, 1, t_q, -1)
    if ahead is not None:
        cells = cells | ahead.cells
    return Hidden(cells, bool(cells.all(-1).any()))


@contextmanager
def watch(model: Model) -> Iterator[Mapping[str, LayerTrace]]:
    """Provide the traces of the layers by name, of the last forward pass inside the ``with`` block."""
    traces: dict[str, LayerTrace] = {}
    try:
        for name, layer in model.layers.items():
            layer.report = partial(traces.__setitem__, name)
        yield traces
    finally:
        for layer in model.layers.values():
            layer.report = None


def compute_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy of logits [B, T, V] over the positions with a target, 0 if there is none; for
    numbers the mean squared error.
    """
    if targets.is_floating_point():
        return nn.functional.mse_loss(outputs, targets)
    total = nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum")
    return total / (targets != IGNORED).sum().clamp_min(1)
