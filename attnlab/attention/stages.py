"""The table: an attention layer is these stages, and nothing else in the program lists them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnlab.attention import explain
from attnlab.attention.arithmetic import number
from attnlab.attention.normalizers import NORMALIZERS
from attnlab.attention.positions import POSITIONS
from attnlab.attention.scores import SCORES

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.explain import Cell, Explanation
    from attnlab.attention.trace import Trace


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the computation.

    ``axes`` name each axis: token, query, key, head, d_model, d_k, d_v, d_out. ``kind`` is ``"signed"`` or
    ``"probability"``, ``sources`` the stages it is computed from, ``about`` one sentence for a lecture.
    """

    name: str
    title: str
    symbol: str
    axes: tuple[str, ...]
    role: str
    kind: str
    about: str
    sources: tuple[str, ...]
    formula: Callable[["Experiment"], str]
    compute: Callable[["Trace"], Tensor]
    explain: Callable[["Trace", "Cell", int | None], "Explanation"]
    code: Callable[["Experiment"], str]
    present: Callable[["Experiment"], bool] = lambda e: True

    @property
    def has_heads(self) -> bool:
        """Whether the first axis is the head."""
        return self.axes[0] == "head"


def _positioned(t: "Trace", embeddings: Tensor) -> Tensor:
    encode = POSITIONS[t.experiment.config.positions].encode
    x = t.take(embeddings)
    return x if encode is None else x + t.take(encode(*embeddings.shape))


def _project(t: "Trace", x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is None:
        return x if bias is None else x + t.take(bias)
    if bias is None:
        return x @ t.take(weight)
    return torch.addmm(t.take(bias), x, t.take(weight))


def _split(x: Tensor, heads: int) -> Tensor:
    return x.view(x.shape[0], heads, -1).transpose(0, 1)  # [T, h·d] -> [h, T, d]


def _queries(t: "Trace") -> Tensor:
    w = t.experiment.weights
    return _split(_project(t, t["inputs"], w.W_q, w.b_q), t.experiment.n_heads)


def _from_memory(t: "Trace", weight: Tensor | None, bias: Tensor | None) -> Tensor:
    e = t.experiment
    x = t["inputs"] if e.memory_embeddings is None else _positioned(t, e.memory_embeddings)
    split = _split(_project(t, x, weight, bias), e.n_kv_heads)
    repeats = e.n_heads // e.n_kv_heads
    return split if repeats == 1 else split.repeat_interleave(repeats, 0)  # [h_kv, T, d] -> [h, T, d]


def _masked(t: "Trace") -> Tensor:
    allowed = t.allowed
    before = t[before_mask(t.experiment)]
    return before if allowed is None else before.masked_fill(~allowed, -torch.inf)


def _weights(t: "Trace") -> Tensor:
    e = t.experiment
    weights = NORMALIZERS[e.config.normalizer].apply(t[before_weights(e)])
    if e.config.mask is None or t.allowed is None:
        return weights  # the causal mask leaves every query its first key
    return weights.masked_fill(~t.allowed.any(-1, keepdim=True), 0)


def _output(t: "Trace") -> Tensor:
    w = t.experiment.weights
    side_by_side = t["context"].transpose(0, 1).flatten(1)  # [h, T, d_v] -> [T, h·d_v]
    return _project(t, side_by_side, w.W_o, w.b_o)


def before_mask(e: "Experiment") -> str:
    """Return the stage that the mask is applied to."""
    return "scores" if e.divisor is None else "scaled"


def before_weights(e: "Experiment") -> str:
    """Return the stage that the normaliser is applied to."""
    return "masked" if e.masked else before_mask(e)


def _projection_formula(symbol: str, letter: str) -> Callable[["Experiment"], str]:
    def formula(e: "Experiment") -> str:
        weight, bias = getattr(e.weights, f"W_{letter}"), getattr(e.weights, f"b_{letter}")
        text = f"{symbol} = X" if weight is None else f"{symbol} = X W_{letter}"
        return text if bias is None else f"{text} + b_{letter}"

    return formula


def _projection_code(symbol: str, letter: str, source: str, heads: str) -> Callable[["Experiment"], str]:
    def code(e: "Experiment") -> str:
        weight, bias = getattr(e.weights, f"W_{letter}"), getattr(e.weights, f"b_{letter}")
        text = source if weight is None else f"{source} @ W_{letter}"
        if bias is not None:
            text = f"({text} + b_{letter})"
        text = f"({text})" if weight is not None and bias is None else text
        expand = f".repeat_interleave({e.n_heads // e.n_kv_heads}, 0)" if heads == "n_kv_heads" else ""
        expand = "" if e.n_kv_heads == e.n_heads else expand
        return f"{symbol} = {text}.unflatten(-1, ({getattr(e, heads)}, -1)).transpose(0, 1){expand}"

    return code


_DIVISORS = {"sqrt_d_k": (r"\sqrt{d_k}", "K.shape[-1] ** 0.5"), "sqrt_d_model": (r"\sqrt{d_{model}}", "X.shape[-1] ** 0.5")}


def _scaled_formula(e: "Experiment") -> str:
    scale = e.config.scale
    return rf"\div\, {_DIVISORS[scale][0] if isinstance(scale, str) else number(scale)}"


def _scaled_code(e: "Experiment") -> str:
    scale = e.config.scale
    return f"scaled = scores / {_DIVISORS[scale][1] if isinstance(scale, str) else repr(scale)}"


def _masked_formula(e: "Experiment") -> str:
    if e.config.mask is None:
        return r"\mathrm{future} = -\infty"
    return r"\mathrm{future, mask} = -\infty" if e.config.causal else r"\mathrm{mask} = -\infty"


def _masked_code(e: "Experiment") -> str:
    parts = []
    if e.config.causal:
        parts.append(f"torch.ones({e.T_q}, {e.T_k}, dtype=torch.bool).tril()")
    if e.config.mask is not None:
        parts.append("mask")
    return f"masked = {before_mask(e)}.masked_fill(~({' & '.join(parts)}), -torch.inf)"


def _weights_code(e: "Experiment") -> str:
    code = "weights = " + NORMALIZERS[e.config.normalizer].code.format(x=before_weights(e))
    if e.config.mask is None:
        return code
    return f"{code}\nweights = weights.masked_fill((masked == -torch.inf).all(-1, keepdim=True), 0)"


def _output_formula(e: "Experiment") -> str:
    text = r"\mathrm{heads\ side\ by\ side}" if e.n_heads > 1 else "Z"
    text = text if e.weights.W_o is None else ("[Z_1 Z_2 \\ldots]\\, W_o" if e.n_heads > 1 else "Z W_o")
    return text if e.weights.b_o is None else f"{text} + b_o"


def _output_code(e: "Experiment") -> str:
    text = "Z.transpose(0, 1).flatten(1)"
    text = text if e.weights.W_o is None else f"{text} @ W_o"
    return f"output = {text}" + ("" if e.weights.b_o is None else " + b_o")


def _keys_source(e: "Experiment") -> str:
    return "X" if e.memory_embeddings is None else "M"


def _inputs_code(e: "Experiment") -> str:
    return f"X = {POSITIONS[e.config.positions].code}"


STAGES: tuple[Stage, ...] = (
    Stage(
        "inputs", "Inputs", "X", ("token", "d_model"), "neutral", "signed",
        "One row of numbers for each token.", (),
        lambda e: POSITIONS[e.config.positions].formula,
        lambda t: _positioned(t, t.experiment.embeddings),
        explain.inputs, _inputs_code,
    ),
    Stage(
        "queries", "Queries", "Q", ("head", "query", "d_k"), "query", "signed",
        "What each token looks for.", ("inputs",),
        _projection_formula("Q", "q"), _queries, explain.queries,
        _projection_code("Q", "q", "X", "n_heads"),
    ),
    Stage(
        "keys", "Keys", "K", ("head", "key", "d_k"), "key", "signed",
        "What each token offers to be found by.", ("inputs",),
        _projection_formula("K", "k"),
        lambda t: _from_memory(t, t.experiment.weights.W_k, t.experiment.weights.b_k),
        explain.keys, lambda e: _projection_code("K", "k", _keys_source(e), "n_kv_heads")(e),
    ),
    Stage(
        "values", "Values", "V", ("head", "key", "d_v"), "value", "signed",
        "What each token passes on when it is attended to.", ("inputs",),
        _projection_formula("V", "v"),
        lambda t: _from_memory(t, t.experiment.weights.W_v, t.experiment.weights.b_v),
        explain.values, lambda e: _projection_code("V", "v", _keys_source(e), "n_kv_heads")(e),
    ),
    Stage(
        "scores", "Scores", "S", ("head", "query", "key"), "neutral", "signed",
        "How well each query fits each key.", ("queries", "keys"),
        lambda e: SCORES[e.config.score].formula,
        lambda t: SCORES[t.experiment.config.score].apply(t["queries"], t["keys"]),
        explain.scores, lambda e: f"scores = {SCORES[e.config.score].code}",
    ),
    Stage(
        "scaled", "Scaled", "S", ("head", "query", "key"), "neutral", "signed",
        "Divided, so that long vectors do not push softmax to its edges.", ("scores",),
        _scaled_formula, lambda t: t["scores"] / t.experiment.divisor, explain.scaled, _scaled_code,
        lambda e: e.divisor is not None,
    ),
    Stage(
        "masked", "Masked", "S", ("head", "query", "key"), "neutral", "signed",
        "What a query may not see is set to minus infinity.", ("scaled", "scores"),
        _masked_formula, _masked, explain.masked, _masked_code, lambda e: e.masked,
    ),
    Stage(
        "weights", "Weights", "A", ("head", "query", "key"), "attention", "probability",
        "Each row becomes shares of one whole.", ("masked", "scaled", "scores"),
        lambda e: NORMALIZERS[e.config.normalizer].formula, _weights, explain.weights, _weights_code,
    ),
    Stage(
        "context", "Context", "Z", ("head", "query", "d_v"), "attention", "signed",
        "The values, mixed by the weights.", ("weights", "values"),
        lambda e: r"Z = A V", lambda t: t["weights"] @ t["values"], explain.context,
        lambda e: "Z = weights @ V",
    ),
    Stage(
        "output", "Output", "O", ("query", "d_out"), "neutral", "signed",
        "The heads side by side, mixed by the output weights.", ("context",),
        _output_formula, _output, explain.output, _output_code,
    ),
)  # fmt: skip

BY_NAME = {stage.name: stage for stage in STAGES}


def sources(stage: Stage, e: "Experiment") -> tuple[Stage, ...]:
    """Return the stages that this one is computed from in this configuration, nearest first."""
    present = [BY_NAME[name] for name in stage.sources if BY_NAME[name].present(e)]
    return tuple(present[:1] if stage.name in ("masked", "weights") else present)
