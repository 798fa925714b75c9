"""The experiment as an immutable value: tokens, embeddings, weights and configuration, validated when created."""

import math
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from torch import Tensor

from attnlab.attention.arrays import ArrayLike, take, take_mask
from attnlab.attention.frozen import NOTHING
from attnlab.attention.registries import masks, registry
from attnlab.attention.validation import (
    MOST_HEADS,
    check_shapes,
    columns,
    match_tokens,
    take_count,
    take_name,
    take_scale,
    take_tokens,
)
from attnlab.attention.validation_entries import (
    check_ablated,
    check_entries,
    check_others,
    check_tables,
    take_ablated,
    take_extra,
    take_item,
    take_masks,
    take_options,
    take_others,
)
from attnlab.attention.validation_layers import check_layers, take_layer, take_layers
from attnlab.base.arguments import explain_calls
from attnlab.base.counted import divisors, format_count
from attnlab.base.errors import ExperimentError

# The classes define __init__ because a field accepts any kind of array and stores a tensor. They are compared by
# identity (eq=False): the program only needs to know whether an edit created another one, not whether all numbers are
# equal.

PROJECTIONS = ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")
"""The fields of :class:`Weights` besides the tables of registry entries."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Weights:
    """The learned weights, for right multiplication (Q = X @ W_q); None means the identity, or no bias.

    W_q [d_model, h·d_k], W_k [d_memory, h_kv·d_k], W_v [d_memory, h_kv·d_v], W_o [h·d_v, d_out], and a bias for the
    columns of each. d_memory is d_model without a second sequence. Head i has columns i·d_k to (i+1)·d_k.
    ``extra`` holds the tables of registry entries by name ("W_a" of the score "general"), also of entries that are not
    in use. Two are equal only when they are the same object.

    Raises:
        ExperimentError: a field is not finite numbers of the right number of dimensions.
    """

    W_q: Tensor | None = None
    W_k: Tensor | None = None
    W_v: Tensor | None = None
    W_o: Tensor | None = None
    b_q: Tensor | None = None
    b_k: Tensor | None = None
    b_v: Tensor | None = None
    b_o: Tensor | None = None
    extra: Mapping[str, Tensor] = field(default_factory=dict)

    @explain_calls
    def __init__(
        self,
        W_q: ArrayLike | None = None,
        W_k: ArrayLike | None = None,
        W_v: ArrayLike | None = None,
        W_o: ArrayLike | None = None,
        b_q: ArrayLike | None = None,
        b_k: ArrayLike | None = None,
        b_v: ArrayLike | None = None,
        b_o: ArrayLike | None = None,
        extra: Mapping[str, ArrayLike] = NOTHING,
    ) -> None:
        matrices = {"W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o}
        vectors = {"b_q": b_q, "b_k": b_k, "b_v": b_v, "b_o": b_o}
        for given, ndim in ((matrices, 2), (vectors, 1)):
            for name, array in given.items():
                object.__setattr__(self, name, None if array is None else take(name, array, ndim))
        object.__setattr__(self, "extra", take_extra(extra))


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, init=False)
class AttentionConfig:
    """How attention is computed; names are those in the registries (:mod:`attnlab.attention.registries.registry`).

    ``scale`` is ``"sqrt_d_k"``, ``"none"``, ``"sqrt_d_model"`` or a positive number by which scores are divided.
    ``mask`` is boolean [T_q, T_k], True where a query may attend; with ``causal`` both must allow a pair.
    ``n_kv_heads`` None means ``n_heads``. ``masks`` are further masks, name to number ({"window": 3}). The heads in
    ``ablated`` are computed, but their context is set to 0. ``options`` are settings of entries and features by name;
    they can also be given as arguments (``temperature=2.0``, ``dropout=0.1``), and default values are left out.
    With ``block`` "after" or "before", attention is followed by residuals, norms (``block_norm``) and a feed-forward.
    NumPy numbers become Python numbers. Two are equal only when they are the same object.

    Raises:
        ExperimentError: an unknown or invalid value; the sentence names the valid ones.
    """

    n_heads: int = 1
    causal: bool = False
    scale: str | float = "sqrt_d_k"
    n_kv_heads: int | None = None
    mask: Tensor | None = None
    score: str = "dot"
    normalizer: str = "softmax"
    positions: str = "none"
    qk_norm: str = "none"
    masks: Mapping[str, int] = field(default_factory=dict)
    ablated: tuple[int, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    block: str = "none"
    block_norm: str = "layer"
    feed_forward: str = "relu"

    @explain_calls
    def __init__(
        self,
        n_heads: SupportsIndex = 1,
        causal: bool | np.bool_ = False,
        scale: str | SupportsFloat = "sqrt_d_k",
        n_kv_heads: SupportsIndex | None = None,
        mask: ArrayLike | None = None,
        score: str = "dot",
        normalizer: str = "softmax",
        positions: str = "none",
        qk_norm: str = "none",
        masks: Mapping[str, int] = NOTHING,
        ablated: Iterable[SupportsIndex] = (),
        options: Mapping[str, Any] = NOTHING,
        block: str = "none",
        block_norm: str = "layer",
        feed_forward: str = "relu",
        **more: Any,
    ) -> None:
        put = object.__setattr__
        put(self, "n_heads", take_count("n_heads", n_heads, MOST_HEADS))
        put(self, "n_kv_heads", None if n_kv_heads is None else take_count("n_kv_heads", n_kv_heads, MOST_HEADS))
        if self.n_kv_heads is not None and self.n_heads % self.n_kv_heads:
            fitting = ", ".join(map(str, divisors(self.n_heads)))
            raise ExperimentError(
                f"n_kv_heads is {self.n_kv_heads} and n_heads is {self.n_heads}, which it does not divide; "
                f"one of {fitting} would do."
            )
        if not isinstance(causal, bool | np.bool_):
            raise ExperimentError(f"causal is {reprlib.repr(causal)}; it needs True or False.")
        put(self, "causal", bool(causal))
        put(self, "scale", take_scale(scale))
        put(self, "mask", None if mask is None else take_mask(mask))
        names = {"score": score, "normalizer": normalizer, "positions": positions, "qk_norm": qk_norm}
        names |= {"block": block, "block_norm": block_norm, "feed_forward": feed_forward}
        for choice in registry.CHOICES:
            put(self, choice.field, take_name(choice.field, names[choice.field], choice.entries))
        put(self, "masks", take_masks(masks))
        put(self, "ablated", take_ablated(ablated))
        put(self, "options", take_options(options, more))

    def option(self, name: str) -> Any:
        """Return the value of an option, or its default; KeyError for an unknown option."""
        return self.options[name] if name in self.options else registry.default(name)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Sample:
    """One sequence of a batch besides the present one: the fields that differ from sequence to sequence.

    Fields are as in :class:`Experiment`; ``length`` is the number of valid keys, None for all.

    Raises:
        ExperimentError: fields that are wrong or disagree.
    """

    tokens: tuple[str, ...]
    embeddings: Tensor
    memory_tokens: tuple[str, ...] | None = None
    memory_embeddings: Tensor | None = None
    length: int | None = None

    @explain_calls
    def __init__(
        self,
        tokens: Iterable[str],
        embeddings: ArrayLike,
        memory_tokens: Iterable[str] | None = None,
        memory_embeddings: ArrayLike | None = None,
        length: SupportsIndex | None = None,
    ) -> None:
        _put_sequence(self, tokens, embeddings)
        _put_memory(self, memory_tokens, memory_embeddings)
        object.__setattr__(self, "length", None if length is None else take_count("length", length))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Experiment:
    """One attention layer on one sentence, immutable; an edit creates another one that shares all unchanged tensors.

    Its arrays are read-only: computing, saving or exporting it raises an error if one was changed in place.

    embeddings [T_q, d_model], one row per token. With ``memory_tokens`` and ``memory_embeddings`` [T_k, d_memory], keys
    and values come from there (cross-attention). Arrays may be tensors, NumPy arrays or nested lists; they are copied.
    In a batch, ``others`` are the sequences besides this one, whose index in the batch is ``item``; all have the same
    number of tokens and share weights and configuration. In a stack, ``other_layers`` are the weights and
    configurations of the layers besides this one, whose index is ``layer``; each reads what leaves the one below, and
    the first reads the embeddings. Two are equal only when they are the same object.

    Raises:
        ExperimentError: fields that are wrong or disagree; the sentence names the field, what it got, what it needs.
    """

    tokens: tuple[str, ...]
    embeddings: Tensor
    weights: Weights = Weights()
    config: AttentionConfig = AttentionConfig()
    memory_tokens: tuple[str, ...] | None = None
    memory_embeddings: Tensor | None = None
    others: tuple[Sample, ...] = ()
    item: int = 0
    other_layers: tuple[tuple[Weights, AttentionConfig], ...] = ()
    layer: int = 0

    @explain_calls
    def __init__(
        self,
        tokens: Iterable[str],
        embeddings: ArrayLike,
        weights: Weights = Weights(),
        config: AttentionConfig = AttentionConfig(),
        memory_tokens: Iterable[str] | None = None,
        memory_embeddings: ArrayLike | None = None,
        others: Iterable[Sample] = (),
        item: SupportsIndex = 0,
        other_layers: Iterable[tuple[Weights, AttentionConfig]] = (),
        layer: SupportsIndex = 0,
    ) -> None:
        if not isinstance(weights, Weights):
            raise ExperimentError(f"weights is {type(weights).__name__}; it needs attnlab.Weights.")
        if not isinstance(config, AttentionConfig):
            raise ExperimentError(f"config is {type(config).__name__}; it needs attnlab.AttentionConfig.")
        put = object.__setattr__
        put(self, "weights", weights)
        put(self, "config", config)
        _put_sequence(self, tokens, embeddings)
        _put_memory(self, memory_tokens, memory_embeddings)
        put(self, "others", take_others(others, Sample))
        put(self, "item", take_item(item, self.n_items))
        check_shapes(self)
        check_tables(self)
        check_entries(self)
        check_ablated(self)
        check_others(self)
        put(self, "other_layers", take_layers(other_layers, Weights, AttentionConfig))
        put(self, "layer", take_layer(layer, len(self.other_layers) + 1))
        check_layers(self)

    def __repr__(self) -> str:
        """Return one line with the sizes; the matrices can hold thousands of numbers."""
        heads = format_count(self.n_heads, "head")
        return f"<Experiment: {heads}, {self.T_q} × {self.T_k} tokens, d_model {self.d_model}>"

    def _repr_html_(self) -> str | None:
        """Return sizes, tokens, the weights as a picture and the stages as HTML, for notebooks."""
        import attnlab  # here, as it imports this module and loads Qt

        return attnlab.write_notebook_page(self)

    def _repr_png_(self) -> bytes | None:
        """Return the weights as a picture for notebooks, drawn on request; None if it cannot be drawn."""
        import attnlab  # here, as it imports this module and loads Qt

        return attnlab.draw_notebook_picture(self)

    @property
    def memory(self) -> Tensor:
        """The vectors that give keys and values, [T_k, d_memory]: the second sequence, or the embeddings."""
        return self.embeddings if self.memory_embeddings is None else self.memory_embeddings

    @property
    def key_tokens(self) -> tuple[str, ...]:
        """The T_k tokens of the key side."""
        return self.tokens if self.memory_tokens is None else self.memory_tokens

    @property
    def T_q(self) -> int:
        """Number of query tokens."""
        return len(self.tokens)

    @property
    def T_k(self) -> int:
        """Number of key tokens."""
        return len(self.key_tokens)

    @property
    def d_model(self) -> int:
        """Columns of the embeddings."""
        return self.embeddings.shape[1]

    @property
    def n_heads(self) -> int:
        """Number of query heads, h."""
        return self.config.n_heads

    @property
    def n_kv_heads(self) -> int:
        """Number of key and value heads, h_kv."""
        return self.config.n_kv_heads or self.config.n_heads

    @property
    def d_k(self) -> int:
        """Columns of one head's queries and keys."""
        return columns(self.weights.W_q, self.d_model) // self.n_heads

    @property
    def d_v(self) -> int:
        """Columns of one head's values."""
        return columns(self.weights.W_v, self.memory.shape[1]) // self.n_kv_heads

    @property
    def d_out(self) -> int:
        """Columns of the output."""
        return columns(self.weights.W_o, self.n_heads * self.d_v)

    @property
    def d_ff(self) -> int:
        """Hidden numbers of the feed-forward for each token; 0 without one."""
        w_1 = self.weights.extra.get("W_1")
        return 0 if w_1 is None else w_1.shape[1]

    def find_free_size(self, axis: str) -> int:
        """Return the size of a free axis of the tables in use, such as "hidden"; KeyError if none has it."""
        for name, table in registry.tables(self.config).items():
            if axis in table.axes:
                return int(self.weights.extra[name].shape[table.axes.index(axis)])
        raise KeyError(axis)

    @property
    def masked(self) -> bool:
        """Whether any mask applies."""
        return self.config.causal or self.config.mask is not None or bool(self.config.masks)

    @property
    def n_items(self) -> int:
        """Number of sequences in the batch; 1 without a batch."""
        return len(self.others) + 1

    @property
    def n_layers(self) -> int:
        """Number of layers in the stack; 1 without a stack."""
        return len(self.other_layers) + 1

    @property
    def divisor(self) -> float | None:
        """The number that scores are divided by; None if they are not scaled."""
        scale = self.config.scale
        if not isinstance(scale, str):
            return scale
        if scale == "none":
            return None
        return math.sqrt(self.d_k if scale == "sqrt_d_k" else self.d_model)

    def allowed(self) -> Tensor | None:
        """Return the mask that applies, boolean [T_q, T_k], True where a query may attend; None without one."""
        hidden = self.hidden()
        return None if hidden is None else ~hidden

    def hidden(self) -> Tensor | None:
        """Return the masked cells, boolean [T_q, T_k], or None without a mask. Read-only: the tensor is shared."""
        hidden = self.hidden_cells()
        return None if hidden is None else hidden.cells

    def hidden_cells(self) -> masks.Hidden | None:
        """Return the masked cells and whether a query has no key left; None without a mask."""
        return masks.find_hidden(self.T_q, self.T_k, self.config.causal, self.config.masks, self.config.mask)


def _put_sequence(holder: Experiment | Sample, tokens: Iterable[str], embeddings: ArrayLike) -> None:
    put = object.__setattr__
    put(holder, "tokens", take_tokens("tokens", tokens))
    put(holder, "embeddings", take("embeddings", embeddings, 2))
    match_tokens("tokens", holder.tokens, "embeddings", holder.embeddings)


def _put_memory(holder: Experiment | Sample, tokens: Iterable[str] | None, embeddings: ArrayLike | None) -> None:
    put = object.__setattr__
    put(holder, "memory_tokens", None if tokens is None else take_tokens("memory_tokens", tokens))
    put(holder, "memory_embeddings", None if embeddings is None else take("memory_embeddings", embeddings, 2))
    if holder.memory_tokens is not None and holder.memory_embeddings is not None:
        match_tokens("memory_tokens", holder.memory_tokens, "memory_embeddings", holder.memory_embeddings)
    elif holder.memory_tokens is not None or holder.memory_embeddings is not None:
        have, lack = "memory_tokens", "memory_embeddings"
        if holder.memory_tokens is None:
            have, lack = lack, have
        raise ExperimentError(f"{have} was given without {lack}; cross-attention needs both, self-attention neither.")
