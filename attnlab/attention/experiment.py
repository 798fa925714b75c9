"""The state as a value: tokens, embeddings, weights and configuration. Validated here, once, when made."""

import math
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsFloat, SupportsIndex

import numpy as np
from torch import Tensor

from attnlab.attention import masks
from attnlab.attention.arrays import ArrayLike, take, take_mask
from attnlab.attention.normalizers import NORMALIZERS
from attnlab.attention.positions import POSITIONS
from attnlab.attention.scores import SCORES
from attnlab.attention.validation import (
    check_shapes,
    columns,
    match_tokens,
    take_count,
    take_name,
    take_scale,
    take_tokens,
)
from attnlab.errors import ExperimentError

# The three classes write their own __init__, as a field is given as any kind of array and kept as a tensor. They are
# compared by identity (eq=False): comparing two would compare every number, and the program asks only whether
# an edit made another one.


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Weights:
    """The learned numbers, for right multiplication (Q = X @ W_q); None is the identity, or no bias.

    W_q [d_model, h·d_k], W_k [d_memory, h_kv·d_k], W_v [d_memory, h_kv·d_v], W_o [h·d_v, d_out], and a bias for the
    columns of each. d_memory is d_model without a second sequence. Head i owns columns i·d_k to (i+1)·d_k.
    Two are equal only when they are the same object.

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
    ) -> None:
        matrices = {"W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o}
        vectors = {"b_q": b_q, "b_k": b_k, "b_v": b_v, "b_o": b_o}
        for given, ndim in ((matrices, 2), (vectors, 1)):
            for name, array in given.items():
                object.__setattr__(self, name, None if array is None else take(name, array, ndim))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class AttentionConfig:
    """How attention is computed; the names are those of the registries.

    ``scale`` is ``"sqrt_d_k"``, ``"none"``, ``"sqrt_d_model"`` or a positive number by which scores are divided.
    ``mask`` is boolean [T_q, T_k], True where a query may attend; with ``causal`` both must allow.
    ``n_kv_heads`` None means ``n_heads``. Numbers of NumPy become plain ones. Two are equal only when they are the
    same object.

    Raises:
        ExperimentError: a value that does not exist or cannot be; the sentence names those that can.
    """

    n_heads: int = 1
    causal: bool = False
    scale: str | float = "sqrt_d_k"
    n_kv_heads: int | None = None
    mask: Tensor | None = None
    score: str = "dot"
    normalizer: str = "softmax"
    positions: str = "none"

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
    ) -> None:
        put = object.__setattr__
        put(self, "n_heads", take_count("n_heads", n_heads))
        put(self, "n_kv_heads", None if n_kv_heads is None else take_count("n_kv_heads", n_kv_heads))
        if self.n_kv_heads is not None and self.n_heads % self.n_kv_heads:
            raise ExperimentError(
                f"n_kv_heads is {self.n_kv_heads}; it needs to divide n_heads, {self.n_heads}, without remainder."
            )
        if not isinstance(causal, bool | np.bool_):
            raise ExperimentError(f"causal is {reprlib.repr(causal)}; it needs True or False.")
        put(self, "causal", bool(causal))
        put(self, "scale", take_scale(scale))
        put(self, "mask", None if mask is None else take_mask(mask))
        put(self, "score", take_name("score", score, SCORES))
        put(self, "normalizer", take_name("normalizer", normalizer, NORMALIZERS))
        put(self, "positions", take_name("positions", positions, POSITIONS))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Experiment:
    """One attention layer on one sentence, immutable; an edit makes another that shares what it did not touch.

    embeddings [T_q, d_model], one row a token. With ``memory_tokens`` and ``memory_embeddings`` [T_k, d_memory], keys
    and values come from there (cross-attention). Arrays may be tensors, NumPy arrays or nested lists; they are copied.
    Two are equal only when they are the same object.

    Raises:
        ExperimentError: fields that are wrong or disagree; the sentence names the field, what it got, what it needs.
    """

    tokens: tuple[str, ...]
    embeddings: Tensor
    weights: Weights = Weights()
    config: AttentionConfig = AttentionConfig()
    memory_tokens: tuple[str, ...] | None = None
    memory_embeddings: Tensor | None = None

    def __init__(
        self,
        tokens: Iterable[str],
        embeddings: ArrayLike,
        weights: Weights = Weights(),
        config: AttentionConfig = AttentionConfig(),
        memory_tokens: Iterable[str] | None = None,
        memory_embeddings: ArrayLike | None = None,
    ) -> None:
        if not isinstance(weights, Weights):
            raise ExperimentError(f"weights is {type(weights).__name__}; it needs attnlab.Weights.")
        if not isinstance(config, AttentionConfig):
            raise ExperimentError(f"config is {type(config).__name__}; it needs attnlab.AttentionConfig.")
        put = object.__setattr__
        put(self, "weights", weights)
        put(self, "config", config)
        put(self, "tokens", take_tokens("tokens", tokens))
        put(self, "embeddings", take("embeddings", embeddings, 2))
        match_tokens("tokens", self.tokens, "embeddings", self.embeddings)
        self._put_memory(memory_tokens, memory_embeddings)
        check_shapes(self)

    def _put_memory(self, tokens: Iterable[str] | None, embeddings: ArrayLike | None) -> None:
        put = object.__setattr__
        put(self, "memory_tokens", None if tokens is None else take_tokens("memory_tokens", tokens))
        put(self, "memory_embeddings", None if embeddings is None else take("memory_embeddings", embeddings, 2))
        if self.memory_tokens is not None and self.memory_embeddings is not None:
            match_tokens("memory_tokens", self.memory_tokens, "memory_embeddings", self.memory_embeddings)
        elif self.memory_tokens is not None or self.memory_embeddings is not None:
            have, lack = "memory_tokens", "memory_embeddings"
            if self.memory_tokens is None:
                have, lack = lack, have
            raise ExperimentError(f"{have} came without {lack}; cross-attention needs both, self-attention neither.")

    @property
    def memory(self) -> Tensor:
        """Where keys and values come from, [T_k, d_memory]: the second sequence, or the embeddings."""
        return self.embeddings if self.memory_embeddings is None else self.memory_embeddings

    @property
    def key_tokens(self) -> tuple[str, ...]:
        """The tokens of the key side, T_k of them."""
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
    def masked(self) -> bool:
        """Whether any mask applies."""
        return self.config.causal or self.config.mask is not None

    @property
    def divisor(self) -> float | None:
        """The number by which scores are divided; None when they are not."""
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
        """Return what is masked, boolean [T_q, T_k], or None without a mask. To be read, never written into."""
        return masks.hidden(self.T_q, self.T_k, self.config.causal, self.config.mask)
