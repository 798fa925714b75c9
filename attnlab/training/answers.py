"""What a model answers at each place of a probe: the likeliest tokens with their probabilities, and the right one."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.training.batch import BEGIN, END, IGNORED, PAD, Batch
from attnlab.training.models.base_model import Model, OwnAnswers
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.masked import MASK, WRITTEN

MOST = 3
"""The likeliest tokens of a place."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a row: ``read`` is the token there, ``wanted`` the right answer, "" if the task does not know it.

    ``likeliest`` are the most probable tokens, at most three, with their probabilities in 0 to 1, the first one being
    the model's answer. ``probability`` is that of ``wanted``, NaN without one.
    """

    index: int
    read: str
    wanted: str
    likeliest: tuple[tuple[str, float], ...]
    probability: float

    @property
    def right(self) -> bool | None:
        """Whether the likeliest token is the right answer; None without a right answer, or if nothing is finite."""
        if not self.wanted or not math.isfinite(self.likeliest[0][1]):
            return None
        return self.likeliest[0][0] == self.wanted


@dataclass(frozen=True, slots=True)
class NumberPlace:
    """One place of a task on numbers: the right number and the model's, of the first column.

    ``explained`` is 1 − squared error ÷ squared length of the right numbers, over all columns: 1 if all are right, 0
    for a model that always answers 0, negative if it is worse.
    """

    index: int
    wanted: float
    output: float
    explained: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answers to a probe.

    ``places`` are those where it reads the right tokens before, as in training and in the curves. ``written`` are those
    where it reads the tokens that it has written itself, up to and including the end; empty if nothing is written.
    ``numbers`` replaces both for a task on numbers: the places whose right number differs from the one read.
    ``row`` has the tokens of the probe [T] as the model reads them, of which ``places`` are some.
    """

    places: tuple[Place, ...] = ()
    written: tuple[Place, ...] = ()
    numbers: tuple[NumberPlace, ...] = ()
    row: tuple[str, ...] = ()
    reads_before: bool = True
    """Whether the model reads the right tokens before a place, and not all places of the row at once."""

    def find_predicted(self) -> tuple[Place | None, ...]:
        """Return for each token of ``row`` the place before it that asks for it; None if no place does."""
        found = {place.index + 1: place for place in self.places if place.wanted and self.reads_before}
        places = (found.get(index) for index in range(len(self.row)))
        return tuple(
            place if place is not None and place.wanted == token else None
            for place, token in zip(places, self.row, strict=True)
        )


NO_ANSWER = Answer()


def find_asked(batch: Batch, data: Data, onward: bool) -> Tensor:
    """Return at which places of a probe [1, T] an answer is of interest, bool [T].

    These are the places with a target, hidden words without one, and the last place of a model that continues its row.
    All places are, if the task knows no target of a row with a source.
    """
    asked = batch.targets[0] != IGNORED
    if batch.source is not None:
        return asked if bool(asked.any()) else torch.ones_like(asked)
    if onward:
        asked = asked.clone()
        asked[-1] = True
    elif data.vocabulary[MASK : MASK + 1] == (WRITTEN,):
        asked = asked | (batch.inputs[0] == MASK)
    return asked


def read_places(data: Data, inputs: Tensor, targets: Tensor, logits: Tensor, asked: Tensor) -> tuple[Place, ...]:
    """Return the asked places of a row, from its inputs and targets [T] and the model's logits [T, V].

    The probabilities are those of the softmax over all tokens; PAD is never an answer.
    """
    indices = asked.nonzero().flatten()
    shares = logits[indices].double().softmax(-1)  # [places, V]
    right = shares.gather(-1, targets[indices, None].clamp(min=0)).flatten().tolist()  # unknown targets are below 0
    shares[:, PAD] = -1.0
    top = shares.topk(min(MOST, shares.shape[-1] - 1), -1)
    read, wanted, tokens = data.decode(inputs[indices]), data.decode(targets[indices]), data.vocabulary
    return tuple(
        Place(
            index,
            read[i],
            wanted[i],
            tuple((tokens[token], share) for token, share in zip(found, probable, strict=True)),
            right[i] if wanted[i] else math.nan,
        )
        for i, (index, found, probable) in enumerate(
            zip(indices.tolist(), top.indices.tolist(), top.values.tolist(), strict=True)
        )
    )


def read_numbers(inputs: Tensor, targets: Tensor, outputs: Tensor) -> tuple[NumberPlace, ...]:
    """Return the places of a row of numbers [T, d] at which the right numbers are not those read."""
    found = (targets != inputs).any(-1).nonzero().flatten().tolist()
    return tuple(
        NumberPlace(
            index,
            float(targets[index, 0]),
            float(outputs[index, 0]),
            1.0 - float((outputs[index] - targets[index]).square().sum() / targets[index].square().sum()),
        )
        for index in found
    )


def reads_own_tokens(model: Model, batch: Batch) -> bool:
    """Return whether a model writes an answer of its own after ⟨; of a text it only predicts the next token."""
    if batch.targets.is_floating_point():
        return False
    return model.onward and bool((batch.inputs == BEGIN).any()) and bool((batch.targets != IGNORED).any())


def read_answer(model: Model, data: Data, batch: Batch, outputs: Tensor, own: OwnAnswers | None) -> Answer:
    """Return a model's answers to a probe [1, T] from the ``outputs`` of its forward pass.

    ``own`` are its predictions that continue its own tokens, if it writes any.
    """
    if batch.targets.is_floating_point():
        return Answer(numbers=read_numbers(batch.inputs[0], batch.targets[0], outputs[0]))
    asked = find_asked(batch, data, model.onward)
    places = read_places(data, batch.inputs[0], batch.targets[0], outputs[0], asked)
    row = data.decode(batch.inputs[0])
    if own is None:
        return Answer(places, row=row, reads_before=model.onward)
    written = read_places(data, own.inputs[0], batch.targets[0], own.logits[0], asked)
    ends = [i for i, place in enumerate(written) if place.likeliest[0][0] == data.vocabulary[END]]
    return Answer(places, written[: ends[0] + 1] if ends else written, row=row)
