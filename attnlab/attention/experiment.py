"""The state as a value: tokens, embeddings, weights and configuration. Validated here, once, when made."""

from dataclasses import dataclass, field, fields
from typing import Any

from torch import Tensor

from attnlab.attention import masks, normalizers, positions, scores
from attnlab.attention.arrays import take, take_mask
from attnlab.errors import ExperimentError

SCALES = ("sqrt_d_k", "none", "sqrt_d_model")


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The learned numbers, for right multiplication (Q = X @ W_q); None is the identity, or no bias.

    W_q [d_model, h·d_k], W_k [d_memory, h_kv·d_k], W_v [d_memory, h_kv·d_v], W_o [h·d_v, d_out], and a bias for the
    columns of each. d_memory is d_model without a second sequence. Head i owns columns i·d_k to (i+1)·d_k.

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

    def __post_init__(self) -> None:
        for each in fields(self):
            array = getattr(self, each.name)
            if array is not None:
                object.__setattr__(self, each.name, take(each.name, array, 2 if each.name.startswith("W") else 1))


@dataclass(frozen=True, slots=True, eq=False)
class AttentionConfig:
    """How attention is computed; the names are those of the registries.

    ``scale`` is ``"sqrt_d_k"``, ``"none"``, ``"sqrt_d_model"`` or a positive number by which scores are divided.
    ``mask`` is boolean [T_q, T_k], True where a query may attend; with ``causal`` both must allow.
    ``n_kv_heads`` None means ``n_heads``.

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

    def __post_init__(self) -> None:
        _check_count("n_heads", self.n_heads)
        if self.n_kv_heads is not None:
            _check_count("n_kv_heads", self.n_kv_heads)
            if self.n_heads % self.n_kv_heads:
                raise ExperimentError(
                    f"n_kv_heads is {self.n_kv_heads}; it needs to divide n_heads, {self.n_heads}, without remainder."
                )
        if not isinstance(self.causal, bool):
            raise ExperimentError(f"causal is {self.causal!r}; it needs True or False.")
        _check_scale(self.scale)
        for name, registry in (
            ("score", scores.SCORES), ("normalizer", normalizers.NORMALIZERS), ("positions", positions.POSITIONS),
        ):  # fmt: skip
            if getattr(self, name) not in registry:
                raise ExperimentError(f"{name} is {getattr(self, name)!r}; it needs one of {', '.join(registry)}.")
        if self.mask is not None:
            object.__setattr__(self, "mask", take_mask(self.mask))


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """One attention layer on one sentence, immutable; an edit makes another that shares what it did not touch.

    embeddings [T_q, d_model], one row a token. With ``memory_tokens`` and ``memory_embeddings`` [T_k, d_memory], keys
    and values come from there (cross-attention). Arrays may be tensors, NumPy arrays or nested lists; they are copied.

    Raises:
        ExperimentError: fields that are wrong or disagree; the sentence names the field, what it got, what it needs.
    """

    tokens: tuple[str, ...]
    embeddings: Tensor
    weights: Weights = field(default_factory=Weights)
    config: AttentionConfig = field(default_factory=AttentionConfig)
    memory_tokens: tuple[str, ...] | None = None
    memory_embeddings: Tensor | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "tokens", _take_tokens("tokens", self.tokens))
        put(self, "embeddings", take("embeddings", self.embeddings, 2))
        _match_tokens("tokens", self.tokens, "embeddings", self.embeddings)
        if (self.memory_tokens is None) != (self.memory_embeddings is None):
            have, lack = ("memory_tokens", "memory_embeddings")
            if self.memory_tokens is None:
                have, lack = lack, have
            raise ExperimentError(f"{have} came without {lack}; cross-attention needs both, self-attention neither.")
        if self.memory_tokens is not None:
            put(self, "memory_tokens", _take_tokens("memory_tokens", self.memory_tokens))
            put(self, "memory_embeddings", take("memory_embeddings", self.memory_embeddings, 2))
            _match_tokens("memory_tokens", self.memory_tokens, "memory_embeddings", self.memory)
        if not isinstance(self.weights, Weights):
            raise ExperimentError(f"weights is {type(self.weights).__name__}; it needs attnlab.Weights.")
        if not isinstance(self.config, AttentionConfig):
            raise ExperimentError(f"config is {type(self.config).__name__}; it needs attnlab.AttentionConfig.")
        _check_shapes(self)

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
        if isinstance(scale, float | int):
            return float(scale)
        sizes = {"sqrt_d_k": self.d_k, "sqrt_d_model": self.d_model}
        return sizes[scale] ** 0.5 if scale in sizes else None

    def allowed(self) -> Tensor | None:
        """Return the mask that applies, boolean [T_q, T_k], True where a query may attend; None without one."""
        return masks.combine(self.T_q, self.T_k, self.config.causal, self.config.mask)


def columns(weight: Tensor | None, rows: int) -> int:
    """Return the number of columns of a weight [rows, columns]; None is the identity."""
    return rows if weight is None else weight.shape[1]


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ExperimentError(f"{name} is {value!r}; it needs a whole number, 1 or more.")


def _check_scale(scale: Any) -> None:
    if isinstance(scale, str) and scale in SCALES:
        return
    number = isinstance(scale, float | int) and not isinstance(scale, bool)
    if not number or not 0 < scale < float("inf"):
        raise ExperimentError(f"scale is {scale!r}; it needs {', '.join(SCALES)} or a positive number to divide by.")


def _take_tokens(name: str, tokens: Any) -> tuple[str, ...]:
    if isinstance(tokens, str) or not hasattr(tokens, "__iter__"):
        raise ExperimentError(f"{name} is {tokens!r}; it needs a sequence of strings, one a token.")
    taken = tuple(tokens)
    for i, token in enumerate(taken):
        if not isinstance(token, str):
            raise ExperimentError(f"{name}[{i}] is {token!r}; every token needs to be a string.")
    if not taken:
        raise ExperimentError(f"{name} is empty; at least one token is needed.")
    return taken


def _match_tokens(name: str, tokens: tuple[str, ...], array_name: str, array: Tensor) -> None:
    if len(tokens) != array.shape[0]:
        raise ExperimentError(
            f"{array_name} has {array.shape[0]} rows; it needs {len(tokens)}, one for each of the {name}."
        )


def _check_shapes(e: Experiment) -> None:
    """Check every weight and the mask against the rest, in the order in which they are used."""
    w, h, h_kv = e.weights, e.n_heads, e.n_kv_heads
    source, d_memory = ("embeddings", e.d_model) if e.memory_tokens is None else ("memory_embeddings", len(e.memory[0]))
    _check_rows("W_q", w.W_q, e.d_model, "embeddings have")
    _check_heads("W_q", columns(w.W_q, e.d_model), "n_heads", h)
    for name in ("W_k", "W_v"):
        _check_rows(name, getattr(w, name), d_memory, f"{source} have")
    heads = "n_heads" if e.config.n_kv_heads is None else "n_kv_heads"
    got, need = columns(w.W_k, d_memory), h_kv * e.d_k
    if got != need:
        raise ExperimentError(
            f"W_k has {got} columns; it needs {need}: {h_kv} heads of d_k = {e.d_k}, which is W_q's columns ÷ n_heads."
        )
    _check_heads("W_v", columns(w.W_v, d_memory), heads, h_kv)
    _check_rows("W_o", w.W_o, h * e.d_v, "the heads side by side have")
    sizes = {"b_q": h * e.d_k, "b_k": h_kv * e.d_k, "b_v": h_kv * e.d_v, "b_o": e.d_out}
    for name, size in sizes.items():
        bias = getattr(w, name)
        if bias is not None and len(bias) != size:
            raise ExperimentError(
                f"{name} has {len(bias)} numbers; it needs {size}, one for each column of W_{name[-1]}."
            )
    mask = e.config.mask
    if mask is not None and tuple(mask.shape) != (e.T_q, e.T_k):
        raise ExperimentError(f"mask has shape {list(mask.shape)}; it needs [{e.T_q}, {e.T_k}], queries by keys.")


def _check_rows(name: str, weight: Tensor | None, rows: int, because: str) -> None:
    if weight is not None and weight.shape[0] != rows:
        raise ExperimentError(
            f"{name} has shape {list(weight.shape)}; it needs {rows} rows because {because} {rows} columns."
        )


def _check_heads(name: str, n_columns: int, heads: str, count: int) -> None:
    if n_columns % count:
        fits = ", ".join(str(n) for n in range(1, n_columns + 1) if n_columns % n == 0)
        raise ExperimentError(f"{heads} is {count}; it needs to divide the {n_columns} columns of {name}: {fits}.")
