"""The table: an attention layer is these stages, and nothing else in the program lists them."""

import re
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


def always(e: "Experiment") -> bool:
    """Return True: most stages are there in every configuration."""
    return True


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the computation.

    ``axes`` name each axis: token, query, key, head, d_model, d_k, d_v, d_out. ``kind`` is ``"signed"`` or
    ``"probability"``, ``sources`` the stages it is computed from, ``about`` one sentence for a lecture.

    ``code(e)`` is PyTorch that assigns :attr:`variable`. Run in order, the stages' code needs ``torch``, ``x`` (the
    embeddings), in cross-attention ``memory`` (its embeddings), and the weights, biases and ``mask`` that the
    experiment has, by the names of their fields.
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
    present: Callable[["Experiment"], bool] = always

    @property
    def has_heads(self) -> bool:
        """Whether the first axis is the head."""
        return self.axes[0] == "head"

    @property
    def variable(self) -> str:
        """What the stage is called in ``code``."""
        return self.symbol if self.symbol in "XQKVZ" else self.name


def positioned(t: "Trace", embeddings: Tensor) -> Tensor:
    """Return embeddings [T, d] with positions added, a tensor that the experiment does not hold."""
    encode = POSITIONS[t.experiment.config.positions].encode
    x = t.take(embeddings)
    if encode is not None:
        return x + t.take(encode(*embeddings.shape))
    return x.clone() if x.data_ptr() == embeddings.data_ptr() else x  # results are the caller's to change


def _inputs(t: "Trace") -> Tensor:
    return positioned(t, t.experiment.embeddings)


def _project(t: "Trace", x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is None:
        return x if bias is None else x + t.take(bias)
    if bias is None:
        return torch.mm(x, t.take(weight))
    return torch.addmm(t.take(bias), x, t.take(weight))


def _split(x: Tensor, heads: int) -> Tensor:
    return x.view(x.shape[0], heads, -1).transpose(0, 1)  # [T, h·d] -> [h, T, d]


def _queries(t: "Trace") -> Tensor:
    w = t.experiment.weights
    return _split(_project(t, t["inputs"], w.W_q, w.b_q), t.experiment.n_heads)


def _keys(t: "Trace") -> Tensor:
    w = t.experiment.weights
    return _for_every_head(t, _project(t, t.memory, w.W_k, w.b_k))


def _values(t: "Trace") -> Tensor:
    w = t.experiment.weights
    return _for_every_head(t, _project(t, t.memory, w.W_v, w.b_v))


def _for_every_head(t: "Trace", x: Tensor) -> Tensor:
    config = t.experiment.config
    if config.n_kv_heads is None or config.n_kv_heads == config.n_heads:
        return _split(x, config.n_heads)
    repeats = config.n_heads // config.n_kv_heads
    return _split(x, config.n_kv_heads).repeat_interleave(repeats, 0)  # [h_kv, T, d] -> [h, T, d]


def _scores(t: "Trace") -> Tensor:
    return SCORES[t.experiment.config.score].apply(t["queries"], t["keys"])


def _scaled(t: "Trace") -> Tensor:
    divisor = t.experiment.divisor
    return t["scores"] if divisor is None else t["scores"] / divisor


def _masked(t: "Trace") -> Tensor:
    hidden = t.hidden
    before = t[before_mask(t.experiment)]
    return before if hidden is None else before.masked_fill(hidden, -torch.inf)


def _weights(t: "Trace") -> Tensor:
    config = t.experiment.config
    weights = NORMALIZERS[config.normalizer].apply(t[before_weights(t.experiment)])
    if config.mask is None or t.hidden is None:
        return weights  # the causal mask leaves every query its first key
    return weights.masked_fill(t.hidden.all(-1, keepdim=True), 0)


def _context(t: "Trace") -> Tensor:
    return torch.bmm(t["weights"], t["values"])


def _output(t: "Trace") -> Tensor:
    w = t.experiment.weights
    side_by_side = t["context"].transpose(0, 1).flatten(1)  # [h, T, d_v] -> [T, h·d_v]
    return _project(t, side_by_side, w.W_o, w.b_o)


def before_mask(e: "Experiment") -> str:
    """Return the stage that the mask is applied to."""
    return "scores" if e.config.scale == "none" else "scaled"


def before_weights(e: "Experiment") -> str:
    """Return the stage that the normaliser is applied to."""
    return "masked" if e.masked else before_mask(e)


def _projected(e: "Experiment", letter: str) -> str:
    """Return what is multiplied by W_q, W_k or W_v: the inputs, or the memory that keys and values come from."""
    return "X" if letter == "q" or e.memory_embeddings is None else "M"


def _projection_formula(symbol: str, letter: str) -> Callable[["Experiment"], str]:
    def formula(e: "Experiment") -> str:
        weight, bias = getattr(e.weights, f"W_{letter}"), getattr(e.weights, f"b_{letter}")
        source = _projected(e, letter)
        text = f"{symbol} = {source}" if weight is None else f"{symbol} = {source} W_{letter}"
        return text if bias is None else f"{text} + b_{letter}"

    return formula


def _projection_code(symbol: str, letter: str) -> Callable[["Experiment"], str]:
    def code(e: "Experiment") -> str:
        source = _projected(e, letter)
        has_weight = getattr(e.weights, f"W_{letter}") is not None
        has_bias = getattr(e.weights, f"b_{letter}") is not None
        text = source + (f" @ W_{letter}" if has_weight else "") + (f" + b_{letter}" if has_bias else "")
        text = f"({text})" if has_weight or has_bias else text
        heads = e.n_heads if letter == "q" else e.n_kv_heads
        text = f"{symbol} = {text}.unflatten(-1, ({heads}, -1)).transpose(0, 1)"
        return text if heads == e.n_heads else f"{text}.repeat_interleave({e.n_heads // heads}, dim=0)"

    return code


_DIVISORS = {"sqrt_d_k": (r"\sqrt{d_k}", "K.shape[-1]"), "sqrt_d_model": (r"\sqrt{d_{model}}", "X.shape[-1]")}


def _scaled_formula(e: "Experiment") -> str:
    scale = e.config.scale
    return rf"\div\, {_DIVISORS[scale][0] if isinstance(scale, str) else number(scale)}"


def _scaled_code(e: "Experiment") -> str:
    scale = e.config.scale
    return f"scaled = scores / {f'{_DIVISORS[scale][1]} ** 0.5' if isinstance(scale, str) else repr(scale)}"


def _masked_formula(e: "Experiment") -> str:
    if e.config.mask is None:
        return r"\mathrm{future} = {-\infty}"
    return r"\mathrm{future, mask} = {-\infty}" if e.config.causal else r"\mathrm{mask} = {-\infty}"


def _allowed_code(e: "Experiment") -> str:
    """Return what may be attended to; the causal mask keeps the lower triangle, of a mask or of all."""
    if e.config.mask is None:
        return f"torch.ones_like({before_mask(e)}, dtype=torch.bool).tril()"
    return "mask.tril()" if e.config.causal else "mask"


def _masked_code(e: "Experiment") -> str:
    return f"masked = {before_mask(e)}.masked_fill(~{_allowed_code(e)}, -torch.inf)"


def _weights_code(e: "Experiment") -> str:
    code = NORMALIZERS[e.config.normalizer].code.format(x=before_weights(e))
    if e.config.mask is None:
        return code
    empty = f"~{_allowed_code(e)}.any(-1, keepdim=True)"
    return f"{code}\nweights = weights.masked_fill({empty}, 0)  # rows with nothing left to attend to"


def _output_formula(e: "Experiment") -> str:
    text = r"\mathrm{heads\ side\ by\ side}" if e.n_heads > 1 else "Z"
    text = text if e.weights.W_o is None else ("[Z_1 Z_2 \\ldots]\\, W_o" if e.n_heads > 1 else "Z W_o")
    return text if e.weights.b_o is None else f"{text} + b_o"


def _output_code(e: "Experiment") -> str:
    text = "Z.transpose(0, 1).flatten(1)"
    text = text if e.weights.W_o is None else f"{text} @ W_o"
    return f"output = {text}" + ("" if e.weights.b_o is None else " + b_o")


def _inputs_code(e: "Experiment") -> str:
    position = POSITIONS[e.config.positions]
    lines = [*position.setup, f"X = {position.code}"]
    if e.memory_embeddings is not None:
        lines += [re.sub(r"\bx\b", "memory", line) for line in (*position.setup, f"M = {position.code}")]
    return "\n".join(lines)


STAGES: tuple[Stage, ...] = (
    Stage(
        "inputs", "Inputs", "X", ("token", "d_model"), "neutral", "signed",
        "One row of numbers for each token.", (),
        lambda e: POSITIONS[e.config.positions].formula,
        _inputs, explain.inputs, _inputs_code,
    ),
    Stage(
        "queries", "Queries", "Q", ("head", "query", "d_k"), "query", "signed",
        "What each token looks for.", ("inputs",),
        _projection_formula("Q", "q"), _queries, explain.queries,
        _projection_code("Q", "q"),
    ),
    Stage(
        "keys", "Keys", "K", ("head", "key", "d_k"), "key", "signed",
        "What each token offers to be found by.", ("inputs",),
        _projection_formula("K", "k"), _keys, explain.keys,
        _projection_code("K", "k"),
    ),
    Stage(
        "values", "Values", "V", ("head", "key", "d_v"), "value", "signed",
        "What each token passes on when it is attended to.", ("inputs",),
        _projection_formula("V", "v"), _values, explain.values,
        _projection_code("V", "v"),
    ),
    Stage(
        "scores", "Scores", "S", ("head", "query", "key"), "neutral", "signed",
        "How well each query fits each key.", ("queries", "keys"),
        lambda e: SCORES[e.config.score].formula,
        _scores,
        explain.scores, lambda e: f"scores = {SCORES[e.config.score].code}",
    ),
    Stage(
        "scaled", "Scaled", "S", ("head", "query", "key"), "neutral", "signed",
        "Divided, so that long vectors do not push softmax to its edges.", ("scores",),
        _scaled_formula, _scaled, explain.scaled, _scaled_code, lambda e: e.config.scale != "none",
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
        lambda e: r"Z = A V", _context, explain.context,
        lambda e: "Z = weights @ V",
    ),
    Stage(
        "output", "Output", "O", ("query", "d_out"), "neutral", "signed",
        "The heads side by side, mixed by the output weights.", ("context",),
        _output_formula, _output, explain.output, _output_code,
    ),
)  # fmt: skip

BY_NAME = {stage.name: stage for stage in STAGES}


def kind_of(stage: Stage, e: "Experiment") -> str:
    """Return "signed" or "probability": what a stage's numbers are in this configuration, as a normaliser may say."""
    return NORMALIZERS[e.config.normalizer].kind if stage.name == "weights" else stage.kind


def sources(stage: Stage, e: "Experiment") -> tuple[Stage, ...]:
    """Return the stages that this one is computed from in this configuration, nearest first.

    Keys and values of a second sequence come from no stage: the memory is not among them.
    """
    if e.memory_embeddings is not None and stage.name in ("keys", "values"):
        return ()
    present = [BY_NAME[name] for name in stage.sources if BY_NAME[name].present(e)]
    return tuple(present[:1] if stage.name in ("masked", "weights") else present)
