"""A trainable attention layer: the playground's stages, computed for a batch and with gradients."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from attnlab.attention.experiment import PROJECTIONS, AttentionConfig
from attnlab.attention.frozen import NOTHING
from attnlab.attention.registries import registry
from attnlab.attention.registries.entries import Table
from attnlab.attention.registries.masks import Hidden
from attnlab.attention.stages.table import Plan, new_plan
from attnlab.attention.stages.trace import Trace

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

OF_KEYS = ("memory", "keys", "normed_keys", "rotated_keys", "values")
"""The stages that depend on the memory alone and are reused from one query to the next."""


class _Layer:
    """A layer and its batch with the attributes of an experiment: embeddings [B, T_q, d], memory [B, T_k, d]."""

    __slots__ = ("config", "divisor", "embeddings", "masked", "memory_embeddings", "n_heads", "n_kv_heads", "weights")

    def __init__(
        self, layer: "Attention", config: AttentionConfig, x: Tensor, memory: Tensor | None, masked: bool
    ) -> None:
        self.weights = layer
        self.config = config
        self.embeddings = x
        self.memory_embeddings = memory
        self.masked = masked
        self.divisor = layer.divisor
        self.n_heads = config.n_heads
        self.n_kv_heads = config.n_kv_heads or config.n_heads

    @property
    def memory(self) -> Tensor:
        return self.embeddings if self.memory_embeddings is None else self.memory_embeddings

    @property
    def T_q(self) -> int:
        return self.embeddings.shape[-2]

    @property
    def T_k(self) -> int:
        return self.memory.shape[-2]


class LayerTrace(Trace):
    """The stages of one layer for a batch, ``trace["weights"]`` [B, h, T_q, T_k], with gradients.

    Dropout draws new numbers each time, from torch's own generator. If the queries were computed one after the other,
    ``earlier`` holds the traces before this one, and the stages are those of all queries together.
    """

    def __init__(self, layer: "Attention", x: Tensor, memory: Tensor | None, hidden: Hidden | None) -> None:
        config = layer.learning if layer.training else layer.config
        stand_in = _Layer(layer, config, x, memory, hidden is not None)
        self.experiment = cast("Experiment", stand_in)
        self.device, self.dtype = x.device, x.dtype
        self._plan = layer.plan(self.experiment)
        self._present = self._plan.stages
        self._tensors = {"inputs": x}  # absolute positions were added below the first layer
        if memory is not None:
            self._tensors["memory"] = memory
        self._arrays = {}
        self._kind = x.device.type
        self._as_given = True
        self._masks = hidden
        self._hidden = None if hidden is None else hidden.cells
        self.earlier: tuple[LayerTrace, ...] = ()

    def take(self, tensor: Tensor) -> Tensor:
        """Return a tensor on this trace's device in its dtype, with gradients."""
        same = tensor.dtype is self.dtype and tensor.device == self.device
        return tensor if same else tensor.to(self.device, self.dtype)

    def next(self, x: Tensor) -> "LayerTrace":
        """Return the trace of the next queries [B, 1, d] to the same memory, with the same keys and values."""
        made = LayerTrace(cast("Attention", self.experiment.weights), x, self.experiment.memory_embeddings, self._masks)
        made._tensors |= {name: self._tensors[name] for name in OF_KEYS if name in self._tensors}
        return made

    def collect_parts(self, name: str) -> tuple[Tensor, ...]:
        """Return the tensors of a stage: one, or one for each query if these were computed one after the other."""
        return tuple(trace[name] for trace in (*self.earlier, self))

    def join(self, name: str, parts: tuple[Tensor, ...] = ()) -> Tensor:
        """Return a stage of all queries together, or ``parts`` of its shape in the same way; without gradients."""
        parts = parts or self.collect_parts(name)
        whole = parts[-1] if len(parts) == 1 or name in OF_KEYS else torch.cat(parts, -2)
        return whole.detach()

    def _evaluate(self, name: str) -> Tensor:
        if name != "dropped":
            return super()._evaluate(name)
        before = self[self.sources(name)[0]]
        self._tensors[name] = nn.functional.dropout(before, self.experiment.config.option("dropout"))
        return self._tensors[name]


class Attention(nn.Module):
    """Attention over [B, T, d_model], computed by its stages, with parameters named as in :class:`attnlab.Weights`.

    ``plain`` omits the projections, as recurrent models do. ``hidden_units`` is the size of the hidden layer of
    additive scores. ``report``, if set, is called with each trace.
    """

    W_q: Tensor | None
    W_k: Tensor | None
    W_v: Tensor | None
    W_o: Tensor | None
    b_q: Tensor | None
    b_k: Tensor | None
    b_v: Tensor | None
    b_o: Tensor | None

    def __init__(
        self, d_model: int, config: AttentionConfig, dropout: float = 0.0, plain: bool = False, hidden_units: int = 0
    ) -> None:
        super().__init__()
        self.config = config
        self.learning = replace(config, options={**config.options, "dropout": dropout}) if dropout else config
        self.report: Callable[[LayerTrace], None] | None = None
        self.tables = tuple(registry.tables(config))
        self._plans: dict[tuple[bool, bool, bool], Plan] = {}
        d_k = d_model // config.n_heads
        self.divisor = _find_divisor(config.scale, d_k, d_model)
        for name in PROJECTIONS:
            shape = (d_model, d_model) if name.startswith("W") else (d_model,)
            self.register_parameter(name, None if plain else _draw_uniform(shape, d_model))
        sizes = {"d_model": d_model, "d_k": d_k, "two_d_k": 2 * d_k, "head": config.n_heads, "hidden": hidden_units}
        for table in registry.tables(config).values():
            self.register_parameter(table.name, _draw_table(table, config, sizes))

    @property
    def extra(self) -> Mapping[str, Tensor]:
        """The tables of registry entries by name, as in :class:`attnlab.Weights`."""
        return {name: self.get_parameter(name) for name in self.tables} if self.tables else NOTHING

    def switch_off(self, heads: Iterable[int]) -> None:
        """Set the context of some heads to 0 from now on, also in training; others that are off stay off."""
        off = tuple(sorted({*self.config.ablated, *heads}))
        self.config, self.learning = (replace(config, ablated=off) for config in (self.config, self.learning))
        self._plans = {}

    @contextmanager
    def heads_off(self, heads: Iterable[int]) -> Iterator[None]:
        """Set the context of some heads to 0 while the ``with`` block runs."""
        before = self.config, self.learning, self._plans
        self.switch_off(heads)
        try:
            yield
        finally:
            self.config, self.learning, self._plans = before

    def plan(self, e: "Experiment") -> Plan:
        """Return the plan of a forward pass of this layer, cached for each kind of pass."""
        key = (self.training, e.masked, e.memory_embeddings is not None)
        if key not in self._plans:
            self._plans[key] = new_plan(e)
        return self._plans[key]

    def forward(self, x: Tensor, memory: Tensor | None = None, hidden: Hidden | None = None) -> Tensor:
        """Return the output [B, T_q, d] of x [B, T_q, d], which attends to the memory [B, T_k, d] or to itself.

        ``hidden`` says which keys are masked, [T_q, T_k] or [B, 1, T_q, T_k].
        """
        trace = LayerTrace(self, x, memory, hidden)
        if self.report is not None:
            self.report(trace)
        return trace["output"]


def _find_divisor(scale: str | float, d_k: int, d_model: int) -> float | None:
    if not isinstance(scale, str):
        return scale
    return None if scale == "none" else math.sqrt(d_k if scale == "sqrt_d_k" else d_model)


def _draw_uniform(shape: tuple[int, ...], d_in: int) -> nn.Parameter:
    """Return uniform numbers from −1/√d_in to 1/√d_in, the initialisation of torch's linear layers."""
    bound = 1 / math.sqrt(d_in)
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


def _draw_table(table: Table, config: AttentionConfig, sizes: Mapping[str, int]) -> nn.Parameter:
    """Return a table of a registry entry with its initial numbers."""
    options = dict(table.free)
    shape = [config.option(options[axis]) if axis in options else sizes[axis] for axis in table.axes]
    if table.fill == "identity":
        return nn.Parameter(torch.eye(*shape))
    if table.fill in ("zeros", "ones"):
        return nn.Parameter(torch.full(shape, float(table.fill == "ones")))
    return nn.Parameter(torch.empty(shape).normal_(std=1 / math.sqrt(shape[-1])))
