"""The computation of each stage from earlier stages.

Every function also accepts a batch, whose axis comes first: [B, T, d] and [B, h, T, d]. A single sequence uses ``mm``
and ``bmm``, which are faster on small matrices than operations for any number of axes.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnlab.attention.products import affine, bmm, matmul
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.presence import find_last

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


def _source(t: Computed, name: str, place: int = 0) -> Tensor:
    """Return a source of a stage as a tensor."""
    return t[t.sources(name)[place]]


def _add_positions(t: Computed, x: Tensor) -> Tensor:
    """Return x [T, d] with positions added, or x itself."""
    position = POSITIONS[t.experiment.config.positions]
    if position.encode is None:
        return x
    return x + t.take(position.encode(x.shape[-2], x.shape[-1], t.parameters(position)))


def _embed(t: Computed, embeddings: Tensor) -> Tensor:
    """Return embeddings [T, d] with positions added, never the experiment's own tensor."""
    x = _add_positions(t, t.take(embeddings))
    return x.clone() if x.data_ptr() == embeddings.data_ptr() else x  # callers may change results


def inputs(t: Computed) -> Tensor:
    """Return the embeddings, or what leaves the layer below, with positions added, [T_q, d_model]."""
    if t.experiment.layer and (below := t.below) is not None:
        return _add_positions(t, below[find_last(below.experiment)].clone())
    return _embed(t, t.experiment.embeddings)


def memory(t: Computed) -> Tensor:
    """Return the second sequence with positions added, [T_k, d_memory]."""
    return _embed(t, t.experiment.memory)


def _project(t: Computed, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is None:
        return x if bias is None else x + t.take(bias)
    return affine(x, t.take(weight), None if bias is None else t.take(bias))


def _split(x: Tensor, heads: int) -> Tensor:
    if x.ndim == 2:  # [T, h·d] -> [h, T, d] in half the time of view and transpose
        (rows, columns), (row, column) = x.shape, x.stride()
        return x.as_strided((heads, rows, columns // heads), (columns // heads * column, row, column))
    return x.view(*x.shape[:-1], heads, -1).transpose(-3, -2)


def _of_heads(x: Tensor) -> Tensor:
    return x if x.ndim == 3 else x.flatten(0, -3)  # [B, h, T, d] -> [B·h, T, d], as registry entries take heads


def _for_every_head(t: Computed, x: Tensor) -> Tensor:
    e = t.experiment
    if e.n_kv_heads == e.n_heads:
        return _split(x, e.n_heads)
    return _split(x, e.n_kv_heads).repeat_interleave(e.n_heads // e.n_kv_heads, -3)  # [h_kv, T, d] -> [h, T, d]


def queries(t: Computed) -> Tensor:
    """Return X W_q + b_q, split into heads [h, T_q, d_k]."""
    w = t.experiment.weights
    return _split(_project(t, _source(t, "queries"), w.W_q, w.b_q), t.experiment.n_heads)


def keys(t: Computed) -> Tensor:
    """Return X W_k + b_k, split into heads and repeated for each query head, [h, T_k, d_k]."""
    w = t.experiment.weights
    return _for_every_head(t, _project(t, _source(t, "keys"), w.W_k, w.b_k))


def values(t: Computed) -> Tensor:
    """Return X W_v + b_v, split into heads and repeated for each query head, [h, T_k, d_v]."""
    w = t.experiment.weights
    return _for_every_head(t, _project(t, _source(t, "values"), w.W_v, w.b_v))


def _normalize_vectors(t: Computed, name: str, place: int) -> Tensor:
    norm = NORMS[t.experiment.config.qk_norm]
    assert norm.apply is not None
    x = norm.apply(_source(t, name), t.parameters(norm))
    return x * t.take(t.experiment.weights.extra[norm.tables[place].name]) if norm.tables else x


def normed_queries(t: Computed) -> Tensor:
    """Return the queries normalised, [h, T_q, d_k]."""
    return _normalize_vectors(t, "normed_queries", 0)


def normed_keys(t: Computed) -> Tensor:
    """Return the keys normalised, [h, T_k, d_k]."""
    return _normalize_vectors(t, "normed_keys", 1)


def _rotate(t: Computed, name: str) -> Tensor:
    position = POSITIONS[t.experiment.config.positions]
    assert position.rotate is not None
    x = _source(t, name)
    return position.rotate(_of_heads(x), t.parameters(position)).view(x.shape)


def rotated_queries(t: Computed) -> Tensor:
    """Return the queries rotated by their positions, [h, T_q, d_k]."""
    return _rotate(t, "rotated_queries")


def rotated_keys(t: Computed) -> Tensor:
    """Return the keys rotated by their positions, [h, T_k, d_k]."""
    return _rotate(t, "rotated_keys")


def scores(t: Computed) -> Tensor:
    """Return how well each query matches each key, [h, T_q, T_k]."""
    score = SCORES[t.experiment.config.score]
    queries, keys = _source(t, "scores"), _source(t, "scores", 1)
    if queries.ndim == 3:
        return score.apply(queries, keys, t.parameters(score))
    return score.apply(_of_heads(queries), _of_heads(keys), t.parameters(score)).view(*queries.shape[:-1], -1)


def scaled(t: Computed) -> Tensor:
    """Return the scores divided by the scale, [h, T_q, T_k]."""
    divisor = t.experiment.divisor
    if divisor is None:
        return t["scores"]
    exact = t.device.type == "cpu" and t.dtype in (torch.float32, torch.float64)  # half precision would round it
    return t["scores"] / (_scalar(divisor, t.dtype, t.device) if exact else divisor)


@lru_cache(maxsize=32)
def _scalar(value: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return a number as a cached 0-d tensor, which halves the time of small layers."""
    with torch.inference_mode(False):
        return torch.tensor(value, dtype=dtype, device=device)


def biased(t: Computed) -> Tensor:
    """Return the scores plus the bias of the position scheme."""
    e = t.experiment
    position = POSITIONS[e.config.positions]
    assert position.bias is not None
    return _source(t, "biased") + t.take(position.bias(e.n_heads, e.T_q, e.T_k, t.parameters(position)))


def capped(t: Computed) -> Tensor:
    """Return the scores squeezed into −c to c."""
    cap: float = t.experiment.config.option("soft_cap")
    return cap * torch.tanh(_source(t, "capped") / cap)


def masked(t: Computed) -> Tensor:
    """Return the scores with masked pairs replaced by the fill value."""
    hidden = t.hidden
    before = _source(t, "masked")
    if hidden is None:
        return before
    fill = t.experiment.config.option("fill")
    value = _scalar(float(fill), t.dtype, t.device)  # beyond the range of float16 this is −∞
    return torch.where(hidden, value, before)  # half the time of masked_fill


def weights(t: Computed) -> Tensor:
    """Return the normalised scores; with softmax each row sums to 1. Rows without a visible key are 0."""
    config = t.experiment.config
    made = normalize(t, _source(t, "weights"))
    made = made[..., :-1] if config.option("sink") else made
    if t.hidden is None or config.option("fill") != "-inf" or not t.has_empty_rows:
        return made
    return made.masked_fill(t.hidden.all(-1, keepdim=True), 0)


def normalize(t: Computed, logits: Tensor) -> Tensor:
    """Return the normalised scores, with the weight of the sink as a last column if there is one."""
    config = t.experiment.config
    normalizer = NORMALIZERS[config.normalizer]
    p = t.parameters(normalizer)
    if normalizer.tempered and p["temperature"] != 1:
        logits = logits / p["temperature"]
    if config.option("sink"):
        logits = torch.cat([logits, find_sinks(t, logits)], -1)
    return normalizer.apply(logits, p)


def find_sinks(t: Computed, logits: Tensor) -> Tensor:
    """Return the logit of each head's sink for each query, [h, T_q, 1]."""
    return t.take(t.experiment.weights.extra["sinks"])[:, None, None].expand(*logits.shape[:-1], 1)


def zeroed(t: Computed) -> Tensor:
    """Return the weights with masked pairs set to 0; their rows no longer sum to 1."""
    hidden = t.hidden
    return t["weights"] if hidden is None else t["weights"].masked_fill(hidden, 0)


def dropped(t: Computed) -> Tensor:
    """Return the weights after dropout: some are 0, the others are divided by 1 − p."""
    e = t.experiment
    share = e.config.option("dropout")
    kept = _draw_kept(e.n_heads, e.T_q, e.T_k, share, e.config.option("dropout_seed")).to(t.device)
    return torch.where(kept, _source(t, "dropped") / (1 - share), 0)


def find_dropped(e: "Experiment") -> Tensor:
    """Return which weights dropout sets to 0, boolean [h, T_q, T_k] on the CPU."""
    return ~_draw_kept(e.n_heads, e.T_q, e.T_k, e.config.option("dropout"), e.config.option("dropout_seed"))


@lru_cache(maxsize=2)
def _draw_kept(h: int, t_q: int, t_k: int, share: float, seed: int) -> Tensor:
    with torch.inference_mode(False):
        g = torch.Generator(device="cpu").manual_seed(seed)
        return torch.rand(h, t_q, t_k, generator=g, dtype=torch.float32, device="cpu") >= share


def context(t: Computed) -> Tensor:
    """Return the values mixed by the weights, [h, T_q, d_v]; 0 for heads that are switched off."""
    weights, values = _source(t, "context"), t["values"]
    mixed = bmm(weights, values) if weights.ndim == 3 else matmul(weights, values)
    if t.experiment.config.ablated:
        mixed[..., list(t.experiment.config.ablated), :, :] = 0
    return mixed


def merged(t: Computed) -> Tensor:
    """Return the heads concatenated, [T_q, h·d_v]."""
    return t["context"].transpose(-3, -2).flatten(-2)


def output(t: Computed) -> Tensor:
    """Return the concatenated heads, mixed by W_o, [T_q, d_out]."""
    w = t.experiment.weights
    return _project(t, t["merged"] if "merged" in t else merged(t), w.W_o, w.b_o)
