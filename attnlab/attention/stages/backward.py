"""The computation of the loss and of each gradient of the backward pass, by explicit formulas.

Entries of registries without a gradient of their own, such as those of a plug-in, are differentiated automatically.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.attention.products import bmm, matmul
from attnlab.attention.registries.losses import CLASS, OUTPUT, WEIGHT, find_class, find_pair
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages import evaluate
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.presence import find_consumer, find_last, source


def read_out(t: Computed) -> Tensor:
    """Return the probability of each class for each token, [T_q, classes]."""
    return torch.softmax(_score_classes(t), -1)


def _score_classes(t: Computed) -> Tensor:
    return matmul(t[find_last(t.experiment)], t.take(t.experiment.weights.extra["W_read"]))


def loss(t: Computed) -> Tensor:
    """Return the loss, [1, 1]."""
    e = t.experiment
    match e.config.option("loss"):
        case kind if kind == WEIGHT:
            found = (t["weights"][find_pair(e)] - e.config.option("loss_wanted")).square()
        case kind if kind == OUTPUT:
            found = miss_output(t).square().mean()
        case _:
            found = -torch.log_softmax(_score_classes(t)[find_pair(e)[1]], -1)[find_class(e)]
    made: Tensor = found.reshape(1, 1)
    return made


def miss_output(t: Computed) -> Tensor:
    """Return what leaves the layer minus the wanted output, [T_q, d_out]."""
    return t[find_last(t.experiment)] - t.take(t.experiment.weights.extra["Y"])


def miss_class(t: Computed) -> Tensor:
    """Return the probabilities of the token in question minus 1 at the wanted class, [classes]."""
    e = t.experiment
    missed = t["readout"][find_pair(e)[1]].clone()
    missed[find_class(e)] -= 1
    return missed


def d_last(t: Computed) -> Tensor:
    """Return the gradient of what leaves the layer, [T_q, d_out]: of one token for a wanted class."""
    e, last = t.experiment, t[find_last(t.experiment)]
    if e.config.option("loss") == CLASS:
        found = torch.zeros_like(last)
        found[find_pair(e)[1]] = matmul(t.take(e.weights.extra["W_read"]), miss_class(t))
        return found
    return 2 * miss_output(t) / last.numel()


def d_context(t: Computed) -> Tensor:
    """Return the gradient of the context, [h, T_q, d_v]."""
    e, d = t.experiment, t["d_output"]
    if e.weights.W_o is not None:
        d = matmul(d, t.take(e.weights.W_o).mT)
    return d.view(e.T_q, e.n_heads, -1).transpose(0, 1).contiguous()


def _pass_heads(t: Computed) -> Tensor:
    """Return the gradient of the context before heads are switched off, [h, T_q, d_v]: 0 for these."""
    d, off = t["d_context"], t.experiment.config.ablated
    if not off:
        return d
    passed = d.clone()
    passed[list(off)] = 0
    return passed


def d_values(t: Computed) -> Tensor:
    """Return the gradient of the values of each query head, [h, T_k, d_v]."""
    return bmm(t[source(t.experiment, "context")].mT, _pass_heads(t))


def make_map(name: str) -> Callable[[Computed], Tensor]:
    """Return the function that computes the gradient [h, T_q, T_k] of one of the maps from scores to weights."""
    return lambda t: pull_map(t, name)


def pull_map(t: Computed, name: str) -> Tensor:
    """Return the gradient of a map [h, T_q, T_k] from that of the stage computed from it."""
    e, consumer = t.experiment, find_consumer(t.experiment, name)
    if consumer == "loss":
        found, place = torch.zeros_like(t["weights"]), find_pair(e)
        found[place] = 2 * (t["weights"][place] - e.config.option("loss_wanted"))
        return found
    if consumer == "context":
        return bmm(_pass_heads(t), t["values"].mT)
    d = t[f"d_{consumer}"]
    if consumer == "weights":
        return pull_weights(t, t[source(e, "weights")], find_all_weights(t), d)
    return d if consumer == "biased" else d * find_slopes(t, consumer)


def find_slopes(t: Computed, consumer: str) -> Tensor:
    """Return how much each number of a map moves with the one it comes from, broadcastable to [h, T_q, T_k]."""
    e = t.experiment
    ones = torch.ones((), dtype=t.dtype, device=t.device)
    match consumer:
        case "masked" | "zeroed":
            return ones if t.hidden is None else ones.masked_fill(t.hidden, 0)
        case "dropped":
            kept: Tensor = ~evaluate.find_dropped(e).to(t.device)
            return torch.where(kept, ones / (1 - e.config.option("dropout")), 0)
        case "capped":
            cap: float = e.config.option("soft_cap")
            return 1 - (t["capped"] / cap).square()
        case "scaled":
            return ones / (e.divisor or 1.0)
    return ones


def find_all_weights(t: Computed) -> Tensor:
    """Return the weights, with that of the sink as a last column if there is one."""
    if not t.experiment.config.option("sink"):
        return t["weights"]
    return evaluate.normalize(t, t[source(t.experiment, "weights")])


def pull_weights(t: Computed, logits: Tensor, weights: Tensor, d: Tensor) -> Tensor:
    """Return the gradient of scores [h, n, T_k] from ``d``, that of their weights [h, n, T_k or one more]."""
    return pull_logits(t, logits, weights, d)[..., : logits.shape[-1]] / _find_warmth(t)


def _find_warmth(t: Computed) -> float:
    """Return the temperature, by which logits are divided."""
    e = t.experiment
    return float(e.config.option("temperature")) if NORMALIZERS[e.config.normalizer].tempered else 1.0


def pull_logits(t: Computed, logits: Tensor, weights: Tensor, d: Tensor) -> Tensor:
    """Return the gradient of scores over the temperature, with that of the sink as a last column if there is one."""
    e = t.experiment
    normalizer, p = NORMALIZERS[e.config.normalizer], t.parameters(NORMALIZERS[e.config.normalizer])
    x = logits / _find_warmth(t)
    if e.config.option("sink"):
        x = torch.cat([x, evaluate.find_sinks(t, x)], -1)
        d = torch.cat([d, torch.zeros_like(d[..., :1])], -1)
    if normalizer.backward is not None:
        return normalizer.backward(x, weights, d)
    return differentiate(lambda each: normalizer.apply(each, p), (x,), d)[0]


def jacobian(t: Computed) -> Tensor:
    """Return for one query how much weight j moves with score k, [h, T_k, T_k] with one row for each weight."""
    return find_jacobian(t, find_pair(t.experiment)[1])


def find_jacobian(t: Computed, query: int) -> Tensor:
    """Return the Jacobian of the normaliser for a query, [h, T_k, T_k] with one row for each weight."""
    count = t["weights"].shape[-1]
    logits, weights = (
        each[:, query, None].expand(-1, count, -1) for each in (t[source(t.experiment, "weights")], find_all_weights(t))
    )
    eye = torch.eye(count, dtype=t.dtype, device=t.device).expand(len(logits), -1, -1)
    return pull_weights(t, logits, weights, eye)


def make_vectors(name: str, place: int) -> Callable[[Computed], Tensor]:
    """Return the function that computes the gradient of queries (place 0) or keys (1), before or after a norm."""
    return lambda t: pull_vectors(t, name, place)


def pull_vectors(t: Computed, name: str, place: int) -> Tensor:
    """Return the gradient of queries or keys, [h, T, d_k], from that of the stage computed from them."""
    e, consumer = t.experiment, find_consumer(t.experiment, name)
    if consumer == "scores":
        queries, keys = t[source(e, "scores")], t[source(e, "scores", 1)]
        return pull_score(t, queries, keys, t["d_scores"])[place]
    if consumer.startswith("rotated"):
        return pull_rotation(t, t[f"d_{consumer}"])
    return pull_norm(t, t[name], t[f"d_{consumer}"], place)


def pull_score(t: Computed, queries: Tensor, keys: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of queries and keys from ``d``, that of their scores."""
    score = SCORES[t.experiment.config.score]
    p = t.parameters(score)
    if score.backward is not None:
        return score.backward(queries, keys, p, d)
    found = differentiate(lambda q, k: score.apply(q, k, p), (queries, keys), d)
    return found[0], found[1]


def pull_rotation(t: Computed, d: Tensor) -> Tensor:
    """Return the gradient of queries or keys [h, T, d_k] from that of the rotated ones."""
    position = POSITIONS[t.experiment.config.positions]
    assert position.rotate is not None
    p, rotate = t.parameters(position), position.rotate
    if position.rotate_back is not None:
        return position.rotate_back(d, p)
    return differentiate(lambda x: rotate(x, p), (torch.zeros_like(d),), d)[0]


def pull_norm(t: Computed, x: Tensor, d: Tensor, place: int) -> Tensor:
    """Return the gradient of queries (place 0) or keys (1), [h, T, d_k], from that of the normalised ones."""
    norm = NORMS[t.experiment.config.qk_norm]
    assert norm.apply is not None
    apply, p = norm.apply, t.parameters(norm)
    if norm.tables:
        d = d * t.take(t.experiment.weights.extra[norm.tables[place].name])
    return norm.backward(x, d) if norm.backward is not None else differentiate(lambda each: apply(each, p), (x,), d)[0]


def differentiate(function: Callable[..., Tensor], given: tuple[Tensor, ...], d: Tensor) -> tuple[Tensor, ...]:
    """Return the gradients of ``given`` from ``d``, that of the function's result, by automatic differentiation."""
    with torch.inference_mode(False), torch.enable_grad():
        leaves = [x.detach().clone().requires_grad_() for x in given]
        return torch.autograd.grad(function(*leaves), leaves, d.detach().clone())


def _merge(x: Tensor) -> Tensor:
    return x.transpose(0, 1).flatten(1)  # [h, T, d] -> [T, h·d]


def merge_gradient(t: Computed, name: str) -> Tensor:
    """Return the gradient of queries, keys or values before they are split into heads, [T, h·d].

    Heads that share a key or value add their gradients.
    """
    d, heads = t[f"d_{name}"], t.experiment.n_kv_heads
    if name != "queries" and heads != len(d):
        d = d.reshape(heads, -1, *d.shape[1:]).sum(1)
    return _merge(d)


def make_weight(name: str, of: str) -> Callable[[Computed], Tensor]:
    """Return the function that computes the gradient of a matrix of projections: of each input times each gradient."""
    return lambda t: matmul(t[t.sources(name)[0]].mT, merge_gradient(t, of))


def d_output_weight(t: Computed) -> Tensor:
    """Return the gradient of W_o, [h·d_v, d_out]."""
    return matmul(_merge(t["context"]).mT, t["d_output"])


PROJECTIONS = {"queries": "W_q", "keys": "W_k", "values": "W_v"}


def pull_projection(t: Computed, of: str) -> Tensor:
    """Return the gradient of inputs or of a second sequence, [T, d], that comes through queries, keys or values."""
    weight, d = getattr(t.experiment.weights, PROJECTIONS[of]), merge_gradient(t, of)
    return d if weight is None else matmul(d, t.take(weight).mT)
