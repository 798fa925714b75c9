"""What one sees of a model in training: its maps, what it writes, and its layers, from weights and a sentence alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.arithmetic import short
from attnlab.base.errors import TrainingError
from attnlab.training import models, round_trip, tasks
from attnlab.training.batch import END, IGNORED, PAD, Batch
from attnlab.training.messages import Arrays
from attnlab.training.models.attention import LayerTrace
from attnlab.training.specs import RunSpec
from attnlab.training.tasks.data import Data


@dataclass(frozen=True, slots=True, eq=False)
class LayerMaps:
    """One layer's maps: ``weights`` [h, T_q, T_k] float32, ``hidden`` [T_q, T_k] True where masked, None without.

    The query side of a decoder is labelled by what it has read, so that a row shows what was looked at while the token
    after its own was found.
    """

    layer: str
    weights: NDArray[np.float32]
    hidden: NDArray[np.bool_] | None
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What a model was given, what was right, and what it wrote, on from its own words.

    Of numbers, ``expected`` and ``predicted`` are those of the first column.
    """

    source: tuple[str, ...]
    expected: tuple[str, ...]
    predicted: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A model after ``step`` steps on a probe.

    ``maps`` and ``loss`` are those of a forward with the right tokens, as in training, so that maps of different steps
    show the same tokens; where nobody knows the right ones, with those that it wrote, and then the loss is NaN.
    ``predicted`` is what it writes by itself: the likeliest token each time, going on from its own words.
    """

    step: int
    maps: tuple[LayerMaps, ...]
    source: tuple[str, ...]
    expected: tuple[str, ...]
    predicted: tuple[str, ...]
    loss: float


class Viewer:
    """Looks at the models of one run: any weights, any sentence. One model is kept, so one thread may use it at a time.

    Every method raises TrainingError for a sentence that the task cannot read and for weights that do not fit.
    """

    def __init__(self, spec: RunSpec, data: Data | None = None) -> None:
        self.spec = spec
        self.data = tasks.data(spec) if data is None else data
        with torch.random.fork_rng(devices=[]):  # its first weights are replaced, and nobody's random state may move
            self.model = models.build(spec.model, self.data).eval()

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers of attention, in order."""
        return tuple(self.model.layers)

    def look(self, step: int, weights: Arrays, probe: str) -> Look:
        """Return the maps of all layers for a sentence, what is right and what the model writes."""
        self._load(weights)
        batch = self._probe(probe)
        with torch.no_grad(), models.watched(self.model) as traces:
            loss = models.loss(self.model(batch), batch.targets)
            maps = tuple(self._maps(batch, name, traces[name]) for name in self.layers)
        written = self._written(batch)[0]
        asked = bool(_asked(batch.targets).any())
        return Look(
            step, maps, written.source, written.expected, written.predicted, float(loss) if asked else float("nan")
        )

    def stage(self, weights: Arrays, probe: str, layer: str, name: str) -> NDArray[np.float32]:
        """Return any stage of a layer for a sentence, [h, …] or [T, …], by its name in the playground.

        Raises:
            KeyError: the layer has no such stage; the message names those that it has.
        """
        with self._traced(weights, probe, layer) as (_, trace):
            return _array(trace.joined(name)[0])

    def gradients(self, weights: Arrays, probe: str) -> tuple[LayerMaps, ...]:
        """Return by how much the loss would rise with each attention weight, as maps of all layers.

        Raises:
            TrainingError: nobody knows what is right for this sentence, so that there is no loss.
        """
        self._load(weights)
        batch = self._probe(probe)
        if not bool(_asked(batch.targets).any()):
            raise TrainingError("Nothing is asked of this text, so that there is no loss to take a gradient of.")
        with torch.enable_grad(), models.watched(self.model) as traces:
            loss = models.loss(self.model(batch), batch.targets)
            parts = {name: traces[name].parts("weights") for name in self.layers}
            flat = [part for of_layer in parts.values() for part in of_layer]
            found = iter(torch.autograd.grad(loss, flat) if flat else ())
        return tuple(
            self._maps(batch, name, traces[name], tuple(next(found) for _ in parts[name])) for name in self.layers
        )

    def text(
        self, weights: Arrays, prompt: str, n: int, temperature: float = 0.0, top_k: int = 0, seed: int = 0
    ) -> str:
        """Return up to n tokens that the model writes on from a prompt; the same for the same seed.

        Where the task knows what is right, only what stands before it is read; a model that answers in place does so.

        Raises:
            TrainingError: the model gives numbers and writes nothing.
        """
        self._load(weights)
        if self.data.features:
            raise TrainingError("This model gives numbers, of which no text is made.")
        batch = self._prompt(self.data.probe(prompt))
        generator = torch.Generator().manual_seed(seed)
        row = self.model.write(batch, n, generator=generator, temperature=temperature, top_k=top_k)[0]
        words = any(len(token) > 1 for token in self.data.vocabulary)
        return (" " if words else "").join(self.data.tokens(_until_end(row)))

    def examples(self, weights: Arrays, n: int) -> tuple[Written, ...]:
        """Return the first n held-out examples, and what the model writes for them by itself."""
        self._load(weights)
        held_out = self.data.held_out
        source = None if held_out.source is None else held_out.source[:n]
        return self._written(Batch(held_out.inputs[:n], held_out.targets[:n], source))

    def experiment(self, weights: Arrays, probe: str, layer: str) -> Experiment:
        """Return a layer at work on a sentence as an experiment of the playground, whose maps are the model's."""
        with self._traced(weights, probe, layer) as (batch, trace):
            queries, keys = self._sides(batch, layer, trace)
            return round_trip.experiment(self.model.layers[layer], trace, queries, keys)

    def put(self, weights: Arrays, layer: str, experiment: Experiment) -> Arrays:
        """Return the weights with those of one layer from an experiment; its tokens and embeddings are left out.

        Raises:
            TrainingError: sizes differ, or the experiment computes something that the layer cannot.
        """
        attention = self._layer(layer)
        changed = round_trip.returned(attention, experiment)
        prefix = next(name for name, module in self.model.named_modules() if module is attention)
        return {**weights, **{f"{prefix}.{name}": array for name, array in changed.items()}}

    def _layer(self, name: str) -> models.Attention:
        if name not in self.model.layers:
            raise TrainingError(f"There is no layer {name!r}; there are {', '.join(self.layers) or 'none'}.")
        return self.model.layers[name]

    def _load(self, weights: Arrays) -> None:
        state = self.model.state_dict()
        for name, tensor in state.items():
            if name not in weights:
                raise TrainingError(f"These weights have no {name}, which this model needs; they are another model's.")
            got, need = list(weights[name].shape), list(tensor.shape)
            if got != need:
                raise TrainingError(f"{name} has shape {got}; this model needs {need}.")
        for name, tensor in state.items():
            tensor.copy_(torch.from_numpy(np.array(weights[name], np.float32)))  # a copy: theirs may be read-only

    def _probe(self, text: str) -> Batch:
        """Return a sentence as a batch; where nobody knows what is right, with what the model itself writes."""
        batch = self.data.probe(text)
        if batch.source is None or bool(_asked(batch.targets).any()):
            return batch
        written = self.model.write(batch, self.data.longest - 1)
        inputs = torch.cat([batch.inputs[:, :1], written[:, : len(_until_end(written[0]))]], 1)
        return Batch(inputs, torch.full_like(inputs, IGNORED), batch.source)

    def _prompt(self, batch: Batch) -> Batch:
        """Return what stands before the first answer; of a text in which every token is asked for, all of it."""
        places = _asked(batch.targets)[0].nonzero().flatten()
        if batch.source is not None or not self.model.onward or not len(places):
            return batch
        first = int(places[0])
        if first:
            return Batch(batch.inputs[:, : first + 1], batch.targets[:, : first + 1])
        last = batch.targets[:, -1:]
        inputs = torch.cat([batch.inputs, last], 1) if int(last[0, 0]) != IGNORED else batch.inputs
        return Batch(inputs, inputs)

    @contextmanager
    def _traced(self, weights: Arrays, probe: str, layer: str) -> Iterator[tuple[Batch, LayerTrace]]:
        """Give a sentence as a batch and the trace of one layer on it; stages are computed while within."""
        self._layer(layer)
        self._load(weights)
        batch = self._probe(probe)
        with torch.no_grad(), models.watched(self.model) as traces:
            self.model(batch)
            yield batch, traces[layer]

    def _maps(self, batch: Batch, layer: str, trace: LayerTrace, parts: tuple[Tensor, ...] = ()) -> LayerMaps:
        numbers = _array(trace.joined("weights", parts)[0])
        return LayerMaps(layer, numbers, round_trip.hidden(trace), *self._sides(batch, layer, trace))

    def _sides(self, batch: Batch, layer: str, trace: LayerTrace) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tokens of the queries and of the keys of a layer."""
        own = self.data.tokens(batch.inputs[0])
        if batch.source is None:
            return own, own
        source = self.data.tokens(batch.source[0])
        if "memory" in trace:
            return own, source
        return (source, source) if layer.startswith("encoder") else (own, own)

    def _written(self, batch: Batch) -> tuple[Written, ...]:
        if batch.targets.is_floating_point():
            return self._computed(batch)
        answers, asked = self.model.answers(batch), _asked(batch.targets)
        if batch.source is not None and not bool(asked.any()):
            answers, asked = batch.inputs[:, 1:], torch.ones_like(asked[:, 1:])  # it has written them already
        return tuple(
            Written(
                self.data.tokens(self._given(batch, i)),
                self.data.tokens(batch.targets[i][_asked(batch.targets)[i]]),
                self.data.tokens(_until_end(answers[i][asked[i]])),
            )
            for i in range(len(answers))
        )

    def _given(self, batch: Batch, i: int) -> Tensor:
        """Return what the model was given of an example: its source, or of a row what stands before the first answer;
        the row itself where the model answers in place. Without PAD.
        """
        row = batch.inputs[i] if batch.source is None else batch.source[i]
        places = _asked(batch.targets)[i].nonzero().flatten()
        if batch.source is None and self.model.onward and len(places):
            row = row[: max(1, int(places[0]))]  # not the sign that an answer follows, but at least one token
        return row[row != PAD]

    @torch.no_grad()
    def _computed(self, batch: Batch) -> tuple[Written, ...]:
        outputs = self.model(batch)
        rows = zip(batch.inputs, batch.targets, outputs, strict=True)
        return tuple(Written(*(tuple(short(float(x)) for x in numbers[:, 0]) for numbers in row)) for row in rows)


def _asked(targets: Tensor) -> Tensor:
    """Return where something is asked, [B, T]."""
    return targets[..., 0].isfinite() if targets.is_floating_point() else targets != IGNORED


def _until_end(row: Tensor) -> Tensor:
    """Return a row up to END, END included, and without PAD after it."""
    ends = (row == END).nonzero().flatten()
    row = row[: int(ends[0]) + 1] if len(ends) else row
    return row[row != PAD]


def _array(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().to("cpu", torch.float32).numpy().copy()
