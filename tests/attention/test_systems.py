"""Every system of the course has a preset that shows it, and every description in the gallery is true."""

import itertools
import json
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.batches import select
from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.measures import saturation
from attnlab.attention.measures.order import measure_order_blindness
from attnlab.attention.measures.rotation import rotation, rotation_error
from attnlab.attention.stages.trace import Trace
from attnlab.cli.main import main
from attnlab.compute.cost import compare_with_loops

SIZES = {"A": 8, "B": 4, "C": 4, "D": 6, "E": 4, "F": 1}
ROWS = [f"{letter}{number}" for letter, count in SIZES.items() for number in range(1, count + 1)]
Check = Callable[[attnlab.Experiment, Trace], None]
CHECKS: dict[tuple[str, str], Check] = {}


def shows(row: str, *names: str) -> Callable[[Check], Check]:
    """Register the check of a row of the course in presets; "" is for the description of a preset without a row."""

    def note(check: Check) -> Check:
        for name in names:
            CHECKS[row, name] = check
        return check

    return note


def close(actual: Tensor, expected: Tensor | list[float] | float, atol: float = 1e-5) -> None:
    expected = expected if isinstance(expected, Tensor) else torch.tensor(expected)
    torch.testing.assert_close(actual.float(), expected.float().broadcast_to(actual.shape), atol=atol, rtol=1e-5)


def sums(weights: Tensor) -> Tensor:
    return weights.sum(-1)


def traced(name: str) -> Trace:
    return attnlab.compute(attnlab.preset(name))


def items(e: attnlab.Experiment) -> list[attnlab.Experiment]:
    return [select(e, i) for i in range(e.n_items)]


def table(e: attnlab.Experiment, name: str) -> Tensor:
    found = getattr(e.weights, name, None)
    found = e.weights.extra[name] if found is None else found
    assert isinstance(found, Tensor)
    return found


def projected(e: attnlab.Experiment, length: int | None = None) -> Tensor:
    """Return the context of one head on the first tokens by the formula, without masks."""
    x = e.embeddings[:length]
    q, k, v = (x @ table(e, name) for name in ("W_q", "W_k", "W_v"))
    return torch.softmax(q @ k.T / math.sqrt(q.shape[1]), -1) @ v


# --- A: step by step ------------------------------------------------------------------------------------------------


@shows("A1", "random-4x8")
def a1(e: attnlab.Experiment, t: Trace) -> None:
    assert t.stages == (*("inputs", "queries", "keys", "values", "scores", "scaled", "weights", "context", "output"),)
    assert t["inputs"].shape == (4, 8)
    assert all(t[name].shape == (1, 4, 8) for name in ("queries", "keys", "values", "context"))
    close(t["scaled"], t["scores"] / math.sqrt(8))
    close(sums(t["weights"]), 1.0)
    close(t["output"], projected(e), atol=1e-4)


@shows("A2", "journey-untrained")
def a2(e: attnlab.Experiment, t: Trace) -> None:
    assert (e.T_q, e.d_model, "scaled" in t) == (6, 3, False)
    close(t["scores"][0], e.embeddings @ e.embeddings.T)
    close(t["scores"][0, 1], [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865], atol=5e-5)
    close(t["weights"][0, 1], [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581], atol=5e-5)
    close(t["context"][0, 1], [0.4419, 0.6515, 0.5683], atol=5e-5)


@shows("A2", "journey-untrained-sum")
def a2_by_sum(e: attnlab.Experiment, t: Trace) -> None:
    scores = traced("journey-untrained")["scores"]
    close(t["weights"], scores / scores.sum(-1, keepdim=True))
    close(t["weights"][0, 1], [0.1455, 0.2278, 0.2249, 0.1285, 0.1077, 0.1656], atol=5e-5)
    close(sums(t["weights"]), 1.0)


@shows("A3", "naive-softmax")
def a3(e: attnlab.Experiment, t: Trace) -> None:
    close(t["weights"], traced("journey")["weights"], atol=1e-6)
    assert t.warnings == ()


@shows("A3", "naive-softmax-overflow")
def a3_overflow(e: attnlab.Experiment, t: Trace) -> None:
    highest = t["scores"][0].amax(-1)
    broken = ~torch.isfinite(t["weights"][0]).all(-1)
    assert torch.equal(broken, highest > 88.7)
    assert broken.tolist() == [True, True, True, False, False, True]
    assert any(sentence.startswith("weights: 14 of 36") and "float32" in sentence for sentence in t.warnings)
    close(t["weights"][0, ~broken], torch.softmax(t["scores"], -1)[0, ~broken])
    assert attnlab.compute(e, dtype="float64").warnings == ()


@shows("A4", "journey")
def a4(e: attnlab.Experiment, t: Trace) -> None:
    assert [t[name].shape for name in ("inputs", "queries", "keys", "values")] == [(6, 3), *[(1, 6, 2)] * 3]
    close(t["queries"][0, 1], [0.4306, 1.4551], atol=5e-5)
    close(t["scores"][0, 1], [1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440], atol=5e-5)
    close(t["weights"][0, 1], [0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820], atol=5e-5)
    assert t["output"].shape == (6, 2)


@shows("A5", "journey-linear")
def a5(e: attnlab.Experiment, t: Trace) -> None:
    for name in ("W_q", "W_k", "W_v"):  # between ±1 ÷ √3, where journey's lie from 0 to 1
        assert table(e, name).abs().max() <= 3**-0.5
        assert table(attnlab.preset("journey"), name).min() >= 0
    assert min(table(e, name).min() for name in ("W_q", "W_k", "W_v")) < 0
    assert t["scores"].abs().max() < 0.5 < traced("journey")["scores"].abs().max()
    assert t["weights"].std() < traced("journey")["weights"].std() / 2
    close(t["context"][0, 0], [-0.0739, 0.0713], atol=5e-5)


@shows("A6", "the-cat-sat")
def a6(e: attnlab.Experiment, t: Trace) -> None:
    assert t["weights"].shape == (1, 3, 3)
    close(t["scores"][0], e.embeddings @ e.embeddings.T / 4)
    close(t["scaled"], t["scores"] / 2)
    close(sums(t["weights"]), 1.0)
    assert int(t["weights"][0, 1].argmax()) == 1  # "cat" looks at itself most


@shows("A7", "batch-of-two")
def a7(e: attnlab.Experiment, t: Trace) -> None:
    assert (e.n_items, e.T_q, e.d_model) == (2, 4, 8)
    outputs = []
    for item in items(e):
        assert item.weights is e.weights
        trace = attnlab.compute(item)
        assert (trace["output"].shape, trace["weights"].shape) == ((4, 8), (1, 4, 4))
        close(trace["output"], projected(item) @ table(e, "W_o"))
        outputs.append(trace["output"])
    assert not torch.allclose(outputs[0], outputs[1])
    assert e.others[0].tokens != e.tokens


@shows("A8", "loops")
def a8(e: attnlab.Experiment, t: Trace) -> None:
    loops = compare_with_loops(t)
    assert (loops.T_q, loops.T_k, loops.heads, loops.cut) == (e.T_q, e.T_k, 1, False)
    assert loops.difference < 1e-5
    assert min(loops.loops_ms, loops.matrix_ms) > 0
    assert PRESETS["loops"].lens == "cost"


# --- B: masks -------------------------------------------------------------------------------------------------------


@shows("B1", "causal-5x8")
def b1(e: attnlab.Experiment, t: Trace) -> None:
    triangle = torch.ones(5, 5, dtype=torch.bool).tril()
    assert e.d_model == 8
    allowed = e.allowed()
    assert allowed is not None
    assert torch.equal(allowed, triangle)
    assert (t["masked"][0][~triangle] == -torch.inf).all()
    assert torch.equal(t["weights"], t["weights"].tril())
    close(sums(t["weights"]), 1.0)


def blinded(e: attnlab.Experiment) -> Tensor:
    """Return the hidden cells: later keys, and all keys from the third query on."""
    hidden = e.hidden()
    assert hidden is not None
    expected = torch.ones(5, 5, dtype=torch.bool).triu(1)
    expected[2] = True
    assert torch.equal(hidden, expected)
    return hidden


@shows("B2", "mask-fill-infinity")
def b2_infinity(e: attnlab.Experiment, t: Trace) -> None:
    hidden = blinded(e)
    assert (t["masked"][0][hidden] == -torch.inf).all()
    assert (t["weights"][0][hidden] == 0).all()
    assert t.empty_rows == ((0, 2),)
    close(sums(t["weights"])[0], [1.0, 1.0, 0.0, 1.0, 1.0])


@shows("B2", "mask-fill-1e9")
def b2_large(e: attnlab.Experiment, t: Trace) -> None:
    assert (t["masked"][0][blinded(e)] == -1e9).all()
    right = traced("mask-fill-infinity")["weights"]
    rows = [0, 1, 3, 4]
    assert torch.equal(t["weights"][:, rows], right[:, rows])
    close(t["weights"][0, 2], 0.2)  # the future too
    assert t.empty_rows == ()


@shows("B2", "mask-fill-zero")
def b2_zero(e: attnlab.Experiment, t: Trace) -> None:
    hidden = blinded(e)
    assert (t["masked"][0][hidden] == 0).all()
    assert (t["weights"][0][hidden] > 0).all()
    close(sums(t["weights"]), 1.0)
    close(t["weights"][0, 2], 0.2)


@shows("B2", "mask-after-softmax")
def b2_after(e: attnlab.Experiment, t: Trace) -> None:
    assert (t["zeroed"][0][blinded(e)] == 0).all()
    close(sums(t["weights"]), 1.0)
    left = sums(t["zeroed"])[0]
    assert left[2] == 0
    assert (left[:4] < 0.99).all()
    close(left[4], 1.0)
    close(t["context"], t["zeroed"] @ t["values"])


@shows("B3", "padding-batch")
def b3(e: attnlab.Experiment, t: Trace) -> None:
    lengths = [4, 6, 2]
    for item, length in zip(items(e), lengths, strict=True):
        assert item.config.masks.get("padding", 6) == length
        assert (item.embeddings[length:] == 0).all()
        trace = attnlab.compute(item)
        assert (trace["weights"][..., length:] == 0).all()
        close(sums(trace["weights"]), 1.0)
        close(trace["output"][:length], projected(item, length))  # as if there were no padding


@shows("B4", "masks-source", "masks-target", "masks-source-for-target")
def b4(e: attnlab.Experiment, t: Trace) -> None:
    cross, causal = e.memory_tokens is not None, e.config.causal
    t_q, t_k = (12, 10) if cross else (12, 12) if causal else (10, 10)
    assert (e.T_q, e.T_k) == (t_q, t_k)
    for item, length in zip(items(e), (9 if causal else 7, t_k), strict=True):
        expected = torch.zeros(t_q, t_k, dtype=torch.bool)
        expected[:, :length] = True
        weights = attnlab.compute(item)["weights"][0]
        assert torch.equal(weights > 0, expected.tril() if causal else expected)
        close(sums(weights), 1.0)
        assert item.key_tokens.count("[pad]") == t_k - length


# --- C: heads -------------------------------------------------------------------------------------------------------


@shows("C1", "multi-head-causal")
def c1(e: attnlab.Experiment, t: Trace) -> None:
    assert (e.d_model, e.n_heads, e.T_q, edits.has_biases(e)) == (64, 8, 5, False)
    assert t["weights"].shape == (8, 5, 5)
    assert torch.equal(t["weights"], t["weights"].tril())
    assert torch.equal(t["merged"], torch.cat(list(t["context"]), -1))
    close(t["output"], t["merged"] @ table(e, "W_o"))


@shows("C2", "multi-head-8")
def c2(e: attnlab.Experiment, t: Trace) -> None:
    assert (e.d_model, t["weights"].shape) == (64, (8, 10, 10))
    assert all(not torch.allclose(one, other, atol=0.1) for one, other in itertools.combinations(t["weights"], 2))


@shows("C3", "head-average")
def c3(e: attnlab.Experiment, t: Trace) -> None:
    assert (e.d_model, e.n_heads, e.T_q) == (512, 8, 10)
    assert all(getattr(e.weights, name) is not None for name in ("b_q", "b_k", "b_v", "b_o"))
    mean = torch.tensor(t.mean("weights"))
    close(mean, t["weights"].mean(0))
    close(sums(mean), 1.0)


@shows("C4", "uneven-heads")
def c4(e: attnlab.Experiment, t: Trace) -> None:
    with pytest.raises(attnlab.ExperimentError, match=r"n_heads is 4; .* divide the 10 columns of W_q: 1, 2, 5, 10"):
        edits.configure(e, n_heads=4)
    assert e.n_heads == 2
    assert torch.equal(attnlab.compute(e)["output"], t["output"])


@shows("", "grouped-keys", "multi-query")
def shared_keys(e: attnlab.Experiment, t: Trace) -> None:
    assert (e.n_heads, e.T_q, e.d_model) == (8, 10, 64)
    assert table(e, "W_k").shape == table(e, "W_v").shape == (64, 8 * e.n_kv_heads)
    of_group = t["keys"].reshape(e.n_kv_heads, -1, 10, 8)
    assert torch.equal(of_group, of_group[:, :1].expand_as(of_group))
    assert e.n_kv_heads == 1 or not torch.equal(of_group[0], of_group[1])


@shows("", "attention-sink")
def sink(e: attnlab.Experiment, t: Trace) -> None:
    left = sums(t["weights"]).mean(-1)
    assert (left < 1).all()
    assert left.tolist() == sorted(left, reverse=True)


@shows("", "soft-cap")
def soft_cap(e: attnlab.Experiment, t: Trace) -> None:
    assert 16 < t["scores"].abs().max() < 17
    assert t["capped"].abs().max() <= 5
    assert (t["weights"].max(-1).values <= torch.softmax(t["scores"], -1).max(-1).values).all()


@shows("", "qk-norm")
def qk_norm(e: attnlab.Experiment, t: Trace) -> None:
    for name in ("normed_queries", "normed_keys"):
        close(t[name].norm(dim=-1), 1.0)
    assert t["scores"].abs().max() <= 1


@shows("", "head-ablated")
def head_ablated(e: attnlab.Experiment, t: Trace) -> None:
    on = attnlab.compute(edits.toggle_head(e, 1))
    assert (t["context"][1] == 0).all()
    assert torch.equal(t["weights"], on["weights"])
    close(on["output"] - t["output"], on["context"][1] @ table(e, "W_o")[4:8])


# --- D: score functions and second sequences ------------------------------------------------------------------------


def score_of(e: attnlab.Experiment, query: Tensor, key: Tensor) -> Tensor:
    match e.config.score:
        case "additive":
            hidden = key @ table(e, "W_e") + query @ table(e, "W_d")
            return hidden.tanh() @ table(e, "v_a")
        case "concat":
            hidden = torch.cat([query, key]) @ table(e, "W_c")
            return hidden.tanh() @ table(e, "v_c")
        case "general":
            return query @ table(e, "W_a") @ key
        case "cosine":
            return torch.cosine_similarity(query, key, dim=0)
    return query @ key


def decoder_step(e: attnlab.Experiment, t: Trace) -> None:
    assert (e.n_items, e.T_q, e.T_k, e.d_model) == (4, 1, 10, 64)
    assert e.weights.W_q is e.weights.W_k is e.weights.W_v is None
    for item in items(e):
        trace = attnlab.compute(item)
        close(trace["scores"][0, 0], torch.stack([score_of(e, item.embeddings[0], key) for key in item.memory]), 1e-4)
        close(sums(trace["weights"]), 1.0)
        close(trace["context"][0], trace["weights"][0] @ item.memory)


for _row, _name in (("D1", "additive"), ("D2", "luong-dot"), ("D3", "luong-general"), ("D4", "luong-concat")):
    shows(_row, _name)(decoder_step)
shows("", "cosine")(decoder_step)


@shows("D5", "cross-attention", "masks-source-for-target")
def d5(e: attnlab.Experiment, t: Trace) -> None:
    assert e.T_q != e.T_k
    assert e.tokens != e.key_tokens
    assert t["weights"].shape == (1, e.T_q, e.T_k)
    assert t["output"].shape == (e.T_q, e.d_model)
    assert e.memory_embeddings is not None
    close(t["keys"][0], e.memory_embeddings @ table(e, "W_k"))
    close(t["queries"][0], e.embeddings @ table(e, "W_q"))


@shows("D6", "bottleneck")
def d6(e: attnlab.Experiment, t: Trace) -> None:
    assert e.key_tokens == ("How", "was", "your", "day")
    assert torch.equal(t["weights"][0], torch.eye(4)[3].expand(e.T_q, 4))
    close(t["output"], t["values"][0, 3])


@shows("D6", "bottleneck-attention")
def d6_attention(e: attnlab.Experiment, t: Trace) -> None:
    closed = attnlab.preset("bottleneck")
    assert torch.equal(e.embeddings, closed.embeddings)
    assert torch.equal(e.memory, closed.memory)
    assert (t["weights"] > 0).all()
    assert all(not torch.allclose(*pair, atol=0.05) for pair in itertools.combinations(t["output"], 2))


# --- E: positions ---------------------------------------------------------------------------------------------------


@shows("E1", "sinusoidal-100x128")
def e1(e: attnlab.Experiment, t: Trace) -> None:
    assert t["inputs"].shape == (100, 128)
    for position in (0, 10, 20, 50):
        expected = [
            wave(position / 10000 ** (2 * i / 128)) for i in range(32) for wave in (math.sin, math.cos)
        ]  # the first 64 dimensions
        close(t["inputs"][position, :64], expected, atol=1e-6)
    close(
        t["inputs"][[0, 10, 20, 50], :2],
        torch.tensor([[0.0, 1.0], [-0.5440, -0.8391], [0.9129, 0.4081], [-0.2624, 0.9650]]),
        atol=5e-5,
    )


@shows("E2", "sinusoidal-100x128", "rotation-property")
def e2(e: attnlab.Experiment, t: Trace) -> None:
    for offset in (1, 10, 49):
        turned = t["inputs"][:50] @ rotation(128, offset, torch.float32)
        close(turned, t["inputs"][offset : offset + 50], atol=1e-6)
        assert 0 < rotation_error(128, 50, offset, torch.float32) < 1e-6


@shows("E3", "learned-positions")
def e3(e: attnlab.Experiment, t: Trace) -> None:
    assert table(e, "P").shape == (5, 8)
    close(t["inputs"], e.embeddings + table(e, "P"))
    edited = attnlab.compute(edits.set_block(e, "P", 2, 0, [[0.0] * 8]))["inputs"]
    assert torch.equal(edited[2], e.embeddings[2])
    assert torch.equal(edited[[0, 1, 3, 4]], t["inputs"][[0, 1, 3, 4]])


@shows("E4", "order-blind", "order-aware")
def e4(e: attnlab.Experiment, t: Trace) -> None:
    both = measure_order_blindness(e, (3, 1, 4, 0, 2))
    if e.config.positions == "none":
        assert max(both.largest, both.largest_output) < 1e-12
        assert (both.shuffled_weights - both.weights).abs().max() > 0.1  # the map itself is another one
    else:
        assert both.largest > 0.1


@shows("", "rope", "alibi", "t5-bias")
def one_word(e: attnlab.Experiment, t: Trace) -> None:
    assert len(set(e.tokens)) == 1
    last = next(name for name in ("biased", "scaled") if name in t)
    for head in t[last]:
        for offset in range(-7, 8):
            diagonal = head.diagonal(offset)
            close(diagonal, diagonal[0], atol=1e-4)
        assert head[0].max() - head[0].min() > 0.01  # and not all of them are alike


# --- F, and what turns scores into weights --------------------------------------------------------------------------


@shows("F1", "saturated", "saturated-scaled")
def f1(e: attnlab.Experiment, t: Trace) -> None:
    assert e.d_k == 256
    measured = saturation.measure_trace(t)
    mean = measured.mean
    assert mean.raw.spread == pytest.approx(16, rel=0.1)
    assert mean.scaled.spread == pytest.approx(1, rel=0.1)
    assert mean.raw.gradient < mean.scaled.gradient / 20
    scaled = PRESETS["saturated-scaled"].make().config.scale == e.config.scale
    assert measured.divided == scaled
    largest = float(t["weights"].max(-1).values.mean())
    assert largest < 0.5 if scaled else largest > 0.95
    pairs = saturation.measure_random(8, 0)
    assert [pair.raw.spread for pair in pairs] == sorted(pair.raw.spread for pair in pairs)
    assert pairs[-1].raw.gradient < pairs[0].raw.gradient / 5
    assert pairs[-1].scaled.gradient == pytest.approx(pairs[0].scaled.gradient, rel=0.3)


@shows("", "sparsemax", "entmax")
def sparse(e: attnlab.Experiment, t: Trace) -> None:
    zeros = (t["weights"] == 0).sum()
    assert 0 < zeros < t["weights"].numel() - 8
    assert e.config.normalizer != "entmax15" or zeros < (traced("sparsemax")["weights"] == 0).sum()
    close(sums(t["weights"]), 1.0)


@shows("", "sigmoid")
def sigmoid(e: attnlab.Experiment, t: Trace) -> None:
    close(t["weights"], 1 / (1 + torch.exp(-t["scaled"])))
    assert ((sums(t["weights"]) - 1).abs() > 0.5).all()


@shows("", "temperature")
def temperature(e: attnlab.Experiment, t: Trace) -> None:
    close(t["weights"], torch.softmax(5 * t["scaled"], -1))


@shows("", "dropout")
def dropout(e: attnlab.Experiment, t: Trace) -> None:
    gone = t["dropped"] == 0
    assert 0.1 < gone.float().mean() < 0.3
    close(t["dropped"][~gone], t["weights"][~gone] / 0.8)
    assert ((sums(t["dropped"]) - 1).abs() > 0.01).all()
    evaluated = attnlab.compute(edits.configure(e, training=False))
    assert "dropped" not in evaluated


@shows("", "sliding-window", "prefix-lm", "block-mask")
def kinds_of_masks(e: attnlab.Experiment, t: Trace) -> None:
    i, j = torch.arange(10)[:, None], torch.arange(10)
    allowed = {
        "window": (j <= i) & (j > i - 3),
        "prefix": (j <= i) | (j < 4),
        "block": i // 5 == j // 5,
    }[next(iter(e.config.masks))]
    assert torch.equal(t["weights"][0] > 0, allowed)
    close(sums(t["weights"]), 1.0)


@shows("", "agreement-cat", "agreement-cats")
def agreement(e: attnlab.Experiment, t: Trace) -> None:
    singular, plural = attnlab.preset("agreement-cat"), attnlab.preset("agreement-cats")
    texts = [" ".join(one.tokens) for one in (singular, plural)]
    assert texts == [
        "The cat , which was sitting on the mat , purrs .",
        "The cats , which were sitting on the mat , purr .",
    ]
    other = (singular.embeddings != plural.embeddings).any(-1).nonzero().flatten().tolist()
    assert [plural.tokens[i] for i in other] == ["cats", "were", "purr"]
    verb = traced("agreement-cat")["weights"][0, 10, :11]  # which can see its noun and all between
    assert 0 < verb[1] < verb.mean()


@shows("", "whole-block", "block-after", "block-llama")
def whole_blocks(e: attnlab.Experiment, t: Trace) -> None:
    last = t["second_residual"]
    if e.config.block == "before":
        close(last, t["inputs"] + t["output"] + t["feed_forward"])
        normed = t["normed_inputs"]
    else:
        close(last, t["normed_residual"] + t["feed_forward"])
        normed = t["normed_second_residual"]
    assert ((normed.square().mean(-1) - 1).abs() < 1e-3).all()
    if e.config.block_norm == "layer":
        assert (normed.mean(-1).abs() < 1e-6).all()
    if "gates" in t:
        close(t["activated"], t["gates"] * t["gates"].sigmoid() * t["hidden"])


@shows("", "induction")
def induction(e: attnlab.Experiment, t: Trace) -> None:
    assert e.tokens[:4] == e.tokens[4:]
    assert all(t["weights"][0, 4 + i, 1 + i] > 0.9 for i in range(4))


# --- the tests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "name"), CHECKS)
def test_a_preset_has_the_properties_of_its_rows(row: str, name: str) -> None:
    e = attnlab.preset(name)
    CHECKS[row, name](e, attnlab.compute(e))


def test_every_claimed_row_of_a_preset_is_checked() -> None:
    claims = {(row, p.name) for p in PRESETS.values() for row in p.rows or ("",)}
    assert claims == set(CHECKS)


@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_the_course_has_a_preset(row: str) -> None:
    assert [p.name for p in PRESETS.values() if row in p.rows]


def test_presets_claim_rows_that_exist() -> None:
    assert {row for p in PRESETS.values() for row in p.rows} == set(ROWS)


@pytest.mark.parametrize("name", attnlab.presets())
def test_show_prints_the_stages_of_every_preset(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"preset:{name}", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    t = traced(name)
    assert [(stage["stage"], stage["shape"]) for stage in printed] == [(s, list(t[s].shape)) for s in t.all_stages]


def test_concat_with_two_tables_equals_the_additive_score() -> None:
    additive, concat = attnlab.preset("additive"), attnlab.preset("luong-concat")
    assert torch.equal(table(concat, "W_c"), torch.cat([table(additive, "W_d"), table(additive, "W_e")]))
    close(traced("luong-concat")["weights"], traced("additive")["weights"])


def test_the_scores_of_the_decoder_compare_the_same_states() -> None:
    first, *rest = [attnlab.preset(name) for name in ("additive", "luong-dot", "luong-general", "cosine")]
    for other in rest:
        assert torch.equal(first.memory, other.memory)
        assert all(map(torch.equal, [s.embeddings for s in first.others], [s.embeddings for s in other.others]))
    strongest = [int(traced(name)["weights"].argmax()) for name in ("luong-dot", "luong-general")]
    assert strongest[0] != strongest[1]
    assert traced("luong-dot")["weights"].max() > 0.95
    assert traced("cosine")["weights"].max() < 0.15 < traced("additive")["weights"].max() < 0.5


def test_all_sequences_of_a_batch_can_be_visited_and_revisited() -> None:
    e = attnlab.preset("padding-batch")
    there = select(select(e, 2), 0)
    assert (there.tokens, there.config.masks) == (e.tokens, e.config.masks)
    assert torch.equal(there.embeddings, e.embeddings)
