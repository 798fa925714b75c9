"""The gradients of biases and of the tables of registry entries, by explicit formulas; a vector is one row, [1, n]."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.products import matmul
from attnlab.attention.registries.losses import find_pair
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.position_functions import find_buckets
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages import backward
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.presence import find_last, source

Computation = Callable[[Computed], Tensor]


def make_bias(of: str) -> Computation:
    """Return the function that computes the gradient of the bias of a projection, [1, h·d]."""
    return lambda t: backward.merge_gradient(t, of).sum(0, keepdim=True)


def d_output_bias(t: Computed) -> Tensor:
    """Return the gradient of b_o, [1, d_out]."""
    return t["d_output"].sum(0, keepdim=True)


def make_score_table(name: str) -> Computation:
    """Return the function that computes the gradient of a table of a score, [rows, columns]."""
    return lambda t: _pull_score_table(t, name)


def _pull_score_table(t: Computed, name: str) -> Tensor:
    e = t.experiment
    score = SCORES[e.config.score]
    p, queries, keys, d = t.parameters(score), t[source(e, "scores")], t[source(e, "scores", 1)], t["d_scores"]
    if name in score.table_gradients:
        found = score.table_gradients[name].compute(queries, keys, p, d)
    else:
        q, k = queries.detach().clone(), keys.detach().clone()
        given = _copy(p)
        found = backward.differentiate(lambda each: score.apply(q, k, {**given, name: each}), (p[name],), d)[0]
    return found if found.ndim == 2 else found[None]


def _copy(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables and options with copies of the tables, which automatic differentiation may keep."""
    return {name: each.detach().clone() if isinstance(each, Tensor) else each for name, each in parameters.items()}


def find_score_slopes(t: Computed, name: str, row: int, column: int) -> Tensor:
    """Return how much each score moves with one number of a table of the score, [h, T_q, T_k].

    The gradient is linear in that of the scores, so its derivative in their direction is these slopes.
    """
    e = t.experiment
    score = SCORES[e.config.score]
    with torch.inference_mode(False), torch.enable_grad():
        p = _copy(t.parameters(score))
        leaf = p[name] = p[name].requires_grad_()
        q, k = (t[source(e, "scores", place)].detach().clone() for place in (0, 1))
        scores = score.apply(q, k, p)
        along = torch.zeros_like(scores, requires_grad=True)
        pulled = torch.autograd.grad(scores, leaf, along, create_graph=True)[0].reshape(-1, leaf.shape[-1])
        return torch.autograd.grad(pulled[row, column], along)[0]


def make_gain(of: str) -> Computation:
    """Return the function that computes the gradient of the gain of queries or keys, [1, d_k]."""
    return lambda t: (t[f"d_normed_{of}"] * find_units(t, of)).sum((0, 1))[None]


def find_units(t: Computed, of: str) -> Tensor:
    """Return queries or keys as they are normalised, before the gain, [h, T, d_k]."""
    norm = NORMS[t.experiment.config.qk_norm]
    assert norm.apply is not None
    return norm.apply(t[of], t.parameters(norm))


def pull_sinks(t: Computed) -> Tensor:
    """Return the gradient of the logit of each head's sink for each query, [h, T_q]."""
    logits = t[source(t.experiment, "weights")]
    return backward.pull_logits(t, logits, backward.find_all_weights(t), t["d_weights"])[..., -1]


def d_sinks(t: Computed) -> Tensor:
    """Return the gradient of the logits of the sinks, [1, h]."""
    return pull_sinks(t).sum(1)[None]


def d_distance_bias(t: Computed) -> Tensor:
    """Return the gradient of the bias of each range of distances, [buckets, h]."""
    e, d = t.experiment, t["d_biased"]
    p = t.parameters(POSITIONS[e.config.positions])
    places = find_buckets(e.T_q, e.T_k, p).flatten().to(d.device)
    return torch.zeros_like(p["B"]).index_add(0, places, d.flatten(1).T)


def d_positions(t: Computed) -> Tensor:
    """Return the gradient of the vector added at each position, [longer sequence, d_model]."""
    e = t.experiment
    found = t["d_inputs"].new_zeros(max(e.T_q, e.T_k), e.d_model)
    for name in t.sources("d_P"):
        found[: len(t[name])] += t[name]
    return found


def d_read_out(t: Computed) -> Tensor:
    """Return the gradient of W_read, [d_out, classes]: of the output of the token in question."""
    output = t[find_last(t.experiment)][find_pair(t.experiment)[1]]
    return matmul(output[:, None], backward.miss_class(t)[None])
