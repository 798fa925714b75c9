"""Views of a model in training: attention maps, predictions and layers, computed from weights and a probe text."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.arithmetic import short
from attnlab.base.errors import TrainingError
from attnlab.training import block_experiment, layer_experiment, models, tasks
from attnlab.training.answers import NO_ANSWER, Answer, read_answer, reads_own_tokens
from attnlab.training.batch import END, IGNORED, PAD, Batch
from attnlab.training.inside import look_inside
from attnlab.training.messages import Arrays
from attnlab.training.model_view import Inside
from attnlab.training.models.attention import LayerTrace
from attnlab.training.models.base_model import Memory, OwnAnswers, pick_tokens
from attnlab.training.own_random import draw_and_restore
from attnlab.training.residual_stream import read_stream
from attnlab.training.specs import RunSpec
from attnlab.training.stream_view import Stream
from attnlab.training.tasks.data import Data, join_tokens


@dataclass(frozen=True, slots=True, eq=False)
class LayerMaps:
    """One layer's maps: ``weights`` [h, T_q, T_k] float32, ``hidden`` [T_q, T_k] True where masked, None without.

    The query labels of a decoder are its inputs, so that a row shows where the model looked while it predicted the next
    token.
    """

    layer: str
    weights: NDArray[np.float32]
    hidden: NDArray[np.bool_] | None
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    answers: NDArray[np.bool_] | None = None
    """The rows from which the model predicts an answer [T_q]; None if no row of the layer does."""
    writes: tuple[str, ...] = ()
    """The right answer that each row writes, "" for rows without one; empty if no row of the layer writes."""
    averaged: int = 0
    """The number of heads whose mean these maps are; 0 for the heads themselves."""

    def average(self) -> "LayerMaps":
        """Return the mean of the heads as one map; the layer itself if it has one head."""
        heads = len(self.weights)
        return replace(self, weights=self.weights.mean(0, keepdims=True), averaged=heads) if heads > 1 else self

    def list_answers(self) -> frozenset[int]:
        """Return the rows from which the model predicts an answer; none if it answers in all but perhaps the last."""
        if self.answers is None or bool(self.answers[:-1].all()):
            return frozenset()
        return frozenset(np.flatnonzero(self.answers).tolist())


@dataclass(frozen=True, slots=True)
class Written:
    """The input of a model, the right answer, and the model's: comparable place by place.

    After ⟨ the model continues from its own tokens. Elsewhere, as in a text, each token is predicted from the right
    ones before it, as in the curves. For numbers they are those of the first column, ``expected`` and ``predicted``
    only at the places whose right number differs from the one read.

    ``reads`` says what the model reads for each token: "own" tokens before it, the "right" tokens before it, or the
    whole "row" at once.
    """

    source: tuple[str, ...]
    expected: tuple[str, ...]
    predicted: tuple[str, ...]
    reads: str = "row"


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A model after ``step`` steps on a probe.

    ``maps`` and ``loss`` are those of a forward pass with the right tokens, as in training, so that maps of different
    steps show the same tokens; if the task does not know them, with the tokens that the model wrote, and a NaN loss.
    ``predicted`` are the likeliest tokens: after ⟨ what the model writes itself, continuing from its own tokens; in a
    text each from the right tokens before it. ``answer`` has the candidates and probabilities of every place.
    """

    step: int
    maps: tuple[LayerMaps, ...]
    source: tuple[str, ...]
    expected: tuple[str, ...]
    predicted: tuple[str, ...]
    loss: float
    answer: Answer = NO_ANSWER


class Viewer:
    """Computes views of the model of one run, for any weights and any text. One thread may use it at a time.

    Every method raises TrainingError for a text that the task cannot read and for weights that do not fit.
    """

    def __init__(self, spec: RunSpec, data: Data | None = None) -> None:
        """Build the model; raises TrainingError for settings that no run can have, as in a run from elsewhere."""
        self.spec = spec
        _refuse(tasks.check_options(spec))
        self.data = tasks.make_data(spec) if data is None else data
        _refuse(models.check(spec.model, self.data) or models.check_heads_off(spec, self.data))
        with draw_and_restore():  # these weights are replaced
            self.model = models.build(spec.model, self.data).eval()
        models.switch_heads_off(self.model, spec)
        self._written: Tensor | None = None

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the attention layers, in order."""
        return tuple(self.model.layers)

    def look(self, step: int, weights: Arrays, probe: str, *, write: bool = True) -> Look:
        """Return the maps of all layers for a text, the right answer and what the model writes.

        Writing takes at most a pass for each mistake; fewer if the model writes what it wrote at the last call. Without
        ``write``, ``predicted`` holds what the model predicts when it reads the right tokens.
        """
        self.load(weights)
        batch = self._probe(probe)
        with torch.no_grad(), models.watch(self.model) as traces:
            memory = self.model.remember(batch)
            outputs = self.model.decode(batch.inputs, memory)
            maps = tuple(self._collect_maps(batch, name, traces[name]) for name in self.layers)
        loss = models.compute_loss(outputs, batch.targets)
        own = self._answer_itself(batch, outputs, memory) if write else None
        written = self._read_texts(batch, outputs, own)[0]
        asked = bool(_has_target(batch.targets).any())
        return Look(
            step,
            maps,
            written.source,
            written.expected,
            written.predicted,
            float(loss) if asked else float("nan"),
            read_answer(self.model, self.data, batch, outputs, own),
        )

    def look_at_held_out(self, i: int) -> Look:
        """Return the maps of held-out example ``i`` for the present weights, without what the model writes for it."""
        held_out = self.data.held_out
        inputs, targets = held_out.inputs[i : i + 1], held_out.targets[i : i + 1]
        source = None if held_out.source is None else held_out.source[i : i + 1]
        if not self.data.features:
            kept = inputs[0] != PAD
            inputs, targets = inputs[:, kept], targets[:, kept]
            source = None if source is None else source[:, source[0] != PAD]
        batch = Batch(inputs, targets, source)
        with torch.no_grad(), models.watch(self.model) as traces:
            self.model(batch)
            maps = tuple(self._collect_maps(batch, name, traces[name]) for name in self.layers)
        if self.data.features:
            return Look(0, maps, (), (), (), float("nan"))
        expected = self.data.decode(targets[0][_has_target(targets)[0]])
        return Look(0, maps, self.data.decode(self._find_given(batch, 0)), expected, (), float("nan"))

    def compute_stage(self, weights: Arrays, probe: str, layer: str, name: str) -> NDArray[np.float32]:
        """Return any stage of a layer for a text, [h, …] or [T, …], by its name in the playground.

        Raises:
            KeyError: the layer has no such stage; the message names those that it has.
        """
        with self._trace_layer(weights, probe, layer) as (_, trace):
            return _to_array(trace.join(name)[0])

    def compute_gradients(self, weights: Arrays, probe: str) -> tuple[LayerMaps, ...]:
        """Return the gradient of the loss with respect to each attention weight, as maps of all layers.

        Raises:
            TrainingError: the task does not know the answer for this text, so there is no loss.
        """
        self.load(weights)
        batch = self._probe(probe)
        if not bool(_has_target(batch.targets).any()):
            raise TrainingError("This input has no targets, so there is no loss and no gradient.")
        with torch.enable_grad(), models.watch(self.model) as traces:
            loss = models.compute_loss(self.model(batch), batch.targets)
            parts = {name: traces[name].collect_parts("weights") for name in self.layers}
            flat = [part for of_layer in parts.values() for part in of_layer]
            found = iter(torch.autograd.grad(loss, flat) if flat else ())
        return tuple(
            self._collect_maps(batch, name, traces[name], tuple(next(found) for _ in parts[name]))
            for name in self.layers
        )

    def write_text(
        self, weights: Arrays, prompt: str, n: int, temperature: float = 0.0, top_k: int = 0, seed: int = 0
    ) -> str:
        """Return up to n tokens that the model writes after a prompt; the same seed gives the same text.

        If the task knows the answer, the model reads only what comes before it; an encoder answers in place.

        Raises:
            TrainingError: the model gives numbers and writes nothing.
        """
        self.load(weights)
        if self.data.features:
            raise TrainingError("This model outputs numbers, not text.")
        batch = self._prompt(self.data.make_probe(prompt))
        generator = torch.Generator().manual_seed(seed)
        row = self.model.write(batch, n, generator=generator, temperature=temperature, top_k=top_k)[0]
        return join_tokens(self.data.decode(_cut_at_end(row)), self.data.vocabulary)

    def write_examples(self, weights: Arrays, n: int) -> tuple[Written, ...]:
        """Return the first n held-out examples with what the model writes for them."""
        self.load(weights)
        held_out = self.data.held_out
        source = None if held_out.source is None else held_out.source[:n]
        batch = Batch(held_out.inputs[:n], held_out.targets[:n], source)
        with torch.no_grad():
            memory = self.model.remember(batch)
            outputs = self.model.decode(batch.inputs, memory)
            return self._read_texts(batch, outputs, self._answer_itself(batch, outputs, memory))

    def look_inside(self, weights: Arrays, probe: str) -> Inside:
        """Return what the model's diagram shows of a text: its blocks, masks, states and answers."""
        self.load(weights)
        return look_inside(self.model, self.spec.model, self.data, self._probe(probe))

    def read_stream(self, weights: Arrays, probe: str) -> Stream:
        """Return the residual stream for a text: the answer after each layer, and what each part adds to it."""
        self.load(weights)
        return read_stream(self.model, self.data, self._probe(probe))

    def make_experiment(self, weights: Arrays, probe: str, layer: str, whole: bool = False) -> Experiment:
        """Return a layer applied to a text as a playground experiment, whose maps equal the model's.

        If ``whole``, it has the norms and the feed-forward of its block, and its embeddings are what enters the block.
        """
        attention = self._layer(layer)
        block = block_experiment.find_block(self.model, attention) if whole else None
        entered: list[Tensor] = []
        with ExitStack() as stack:
            if block is not None and block.is_norm_first:
                norm = block_experiment.find_norm(block, attention)
                stack.enter_context(norm.register_forward_pre_hook(lambda _, given: entered.append(given[0])))
            batch, trace = stack.enter_context(self._trace_layer(weights, probe, layer))
            queries, keys = self._write_sides(batch, layer, trace)
            e = layer_experiment.to_experiment(attention, trace, queries, keys)
            if block is None:
                return e
            x = entered[-1] if entered else trace.join("inputs")
            return block_experiment.add_block(e, block, attention, x[0].detach())

    def replace_layer(self, weights: Arrays, layer: str, experiment: Experiment) -> Arrays:
        """Return the weights with those of one layer taken from an experiment; its tokens and embeddings are ignored.

        Those of the block around it are taken too if the experiment is a whole block.

        Raises:
            TrainingError: sizes differ, or the experiment computes something that the layer cannot.
        """
        attention = self._layer(layer)
        changed = layer_experiment.to_weights(attention, experiment)
        block = block_experiment.find_block(self.model, attention)
        around = block_experiment.read_block(experiment, block, attention)
        names = {module: name for name, module in self.model.named_modules()}
        changed = {f"{names[attention]}.{name}": array for name, array in changed.items()}
        changed |= {f"{names[block]}.{name}": array for name, array in around.items()} if block is not None else {}
        return {**weights, **changed}

    def _layer(self, name: str) -> models.Attention:
        if name not in self.model.layers:
            raise TrainingError(f"There is no layer {name!r}; there are {', '.join(self.layers) or 'none'}.")
        return self.model.layers[name]

    def load(self, weights: Arrays) -> None:
        """Give the model these weights."""
        state = self.model.state_dict()
        for name, tensor in state.items():
            if name not in weights:
                raise TrainingError(f"These weights have no {name}, which this model needs; they are another model’s.")
            got, need = list(weights[name].shape), list(tensor.shape)
            if got != need:
                raise TrainingError(f"{name} has shape {got}; this model needs {need}.")
        for name, tensor in state.items():
            tensor.copy_(torch.from_numpy(np.array(weights[name], np.float32)))  # copied: the array may be read-only

    def _probe(self, text: str) -> Batch:
        """Return a text as a batch; if the task does not know the answer, with the one that the model writes."""
        batch = self.data.make_probe(text)
        if batch.source is None or bool(_has_target(batch.targets).any()):
            return batch
        written = self.model.write(batch, self.data.longest - 1)
        inputs = torch.cat([batch.inputs[:, :1], written[:, : len(_cut_at_end(written[0]))]], 1)
        return Batch(inputs, torch.full_like(inputs, IGNORED), batch.source)

    def _prompt(self, batch: Batch) -> Batch:
        """Return the part of a batch before its first target; all of it if every token is a target."""
        places = _has_target(batch.targets)[0].nonzero().flatten()
        if batch.source is not None or not self.model.onward or not len(places):
            return batch
        first = int(places[0])
        if first:
            return Batch(batch.inputs[:, : first + 1], batch.targets[:, : first + 1])
        last = batch.targets[:, -1:]
        inputs = torch.cat([batch.inputs, last], 1) if int(last[0, 0]) != IGNORED else batch.inputs
        return Batch(inputs, inputs)

    @contextmanager
    def _trace_layer(self, weights: Arrays, probe: str, layer: str) -> Iterator[tuple[Batch, LayerTrace]]:
        """Yield a text as a batch and the trace of one layer on it; stages are computed inside the ``with`` block."""
        self._layer(layer)
        self.load(weights)
        batch = self._probe(probe)
        with torch.no_grad(), models.watch(self.model) as traces:
            self.model(batch)
            yield batch, traces[layer]

    def _collect_maps(self, batch: Batch, layer: str, trace: LayerTrace, parts: tuple[Tensor, ...] = ()) -> LayerMaps:
        numbers = _to_array(trace.join("weights", parts)[0])
        sides = self._write_sides(batch, layer, trace)
        of_source = batch.source is not None and layer.startswith("encoder")
        answers = None if of_source else _has_target(batch.targets)[0].numpy()
        writes = () if of_source or self.data.features else self.data.decode(batch.targets[0])
        return LayerMaps(layer, numbers, layer_experiment.find_hidden(trace), *sides, answers, writes)

    def _write_sides(self, batch: Batch, layer: str, trace: LayerTrace) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the query tokens and the key tokens of a layer."""
        own = self.data.decode(batch.inputs[0])
        if batch.source is None:
            return own, own
        source = self.data.decode(batch.source[0])
        if "memory" in trace:
            return own, source
        return (source, source) if layer.startswith("encoder") else (own, own)

    def _answer_itself(self, batch: Batch, outputs: Tensor, memory: Memory | None) -> OwnAnswers | None:
        """Return what the model writes after ⟨; None if it writes nothing there."""
        if not reads_own_tokens(self.model, batch):
            return None
        guess = self._written if self._written is not None and self._written.shape == batch.targets.shape else None
        own = self.model.answer_itself(batch, outputs, memory, guess)
        self._written = own.answers
        return own

    def _read_texts(self, batch: Batch, outputs: Tensor, own: OwnAnswers | None) -> tuple[Written, ...]:
        """Return examples with what the model writes itself, or without ``own`` what it predicts."""
        if batch.targets.is_floating_point():
            return _read_numbers(batch, outputs)
        answers = pick_tokens(outputs) if own is None else own.answers
        asked = _has_target(batch.targets)
        reads = "own" if own is not None else "right" if self.model.onward else "row"
        if batch.source is not None and not bool(asked.any()):
            answers, asked = batch.inputs[:, 1:], torch.ones_like(asked[:, 1:])  # the model has written them already
        return tuple(
            Written(
                self.data.decode(self._find_given(batch, i)),
                self.data.decode(batch.targets[i][_has_target(batch.targets)[i]]),
                self.data.decode(_cut_at_end(answers[i][asked[i]])),
                reads,
            )
            for i in range(len(answers))
        )

    def _find_given(self, batch: Batch, i: int) -> Tensor:
        """Return the input of an example without PAD: its source; the part of a row before its first target; or the
        whole row if the model answers in place.
        """
        row = batch.inputs[i] if batch.source is None else batch.source[i]
        places = _has_target(batch.targets)[i].nonzero().flatten()
        if batch.source is None and self.model.onward and len(places):
            row = row[: max(1, int(places[0]))]  # without the separator before the answer, but at least one token
        return row[row != PAD]


def _refuse(problem: str) -> None:
    if problem:
        raise TrainingError(problem)


def _has_target(targets: Tensor) -> Tensor:
    """Return which positions have a target, bool [B, T]."""
    return targets[..., 0].isfinite() if targets.is_floating_point() else targets != IGNORED


def _read_numbers(batch: Batch, outputs: Tensor) -> tuple[Written, ...]:
    """Return the places whose right numbers differ from those read, such as sums; of their inputs, all places."""
    found = []
    for read, right, given in zip(batch.inputs, batch.targets, outputs, strict=True):
        asked = (right != read).any(-1)
        asked_for, wanted, answered = (
            tuple(_write_number(float(x)) for x in part) for part in (read[:, 0], right[asked, 0], given[asked, 0])
        )
        found.append(Written(asked_for, wanted, answered))
    return tuple(found)


def _write_number(x: float) -> str:
    """Return a number with two decimals, so that all places of a row fit beside each other."""
    return f"{round(x, 2) + 0.0:.2f}".replace("-", "−") if isfinite(x) else short(x)  # −0 is written as 0


def _cut_at_end(row: Tensor) -> Tensor:
    """Return a row up to and including END, without PAD."""
    ends = (row == END).nonzero().flatten()
    row = row[: int(ends[0]) + 1] if len(ends) else row
    return row[row != PAD]


def _to_array(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().to("cpu", torch.float32).numpy().copy()
