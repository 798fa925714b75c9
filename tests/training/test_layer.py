"""The trainable attention layer compared with torch's, the papers' formulas, and the playground."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import attnlab
from attnlab import AttentionConfig, Experiment, Weights
from attnlab.attention.registries import masks
from attnlab.attention.registries.masks import Hidden
from attnlab.training.models import Attention
from attnlab.training.models.attention import LayerTrace

WEIGHTS = ("W_q", "W_k", "W_v", "W_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")


def layer_of(d: int, config: AttentionConfig, **more: object) -> Attention:
    torch.manual_seed(0)
    return Attention(d, config, **more).double()  # type: ignore[arg-type]


def hidden_by(padding: Tensor, t_q: int, causal: bool) -> Hidden:
    cells = padding[:, None, None].expand(-1, 1, t_q, -1).clone()
    if causal:
        cells |= torch.ones(t_q, padding.shape[1], dtype=torch.bool).triu(1)
    return Hidden(cells, bool(cells.all(-1).any()))


def torch_twin(layer: Attention, d: int, heads: int) -> torch.nn.MultiheadAttention:
    twin = torch.nn.MultiheadAttention(d, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([getattr(layer, name).T for name in WEIGHTS[:3]]))
        twin.in_proj_bias.copy_(torch.cat([getattr(layer, name) for name in BIASES[:3]]))
        twin.out_proj.weight.copy_(layer.W_o.T)
        twin.out_proj.bias.copy_(layer.b_o)
    return twin


@settings(max_examples=25, deadline=None)
@given(
    b=st.integers(1, 3),
    t_q=st.integers(1, 6),
    t_k=st.integers(1, 6),
    heads=st.sampled_from([1, 2, 4]),
    kind=st.sampled_from(["self", "causal", "cross"]),
    seed=st.integers(0, 99),
)
def test_the_layer_equals_torchs_in_values_and_gradients(
    b: int, t_q: int, t_k: int, heads: int, kind: str, seed: int
) -> None:
    d = 8
    layer = layer_of(d, AttentionConfig(n_heads=heads))
    twin = torch_twin(layer, d, heads)
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(b, t_q, d, generator=g, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(b, t_k, d, generator=g, dtype=torch.float64) if kind == "cross" else None
    keys = x if memory is None else memory
    padding = torch.rand(b, keys.shape[1], generator=g) < 0.3
    padding[:, 0] = False
    ahead = torch.ones(t_q, t_q, dtype=torch.bool).triu(1) if kind == "causal" else None
    theirs, shares = twin(x, keys, keys, padding, attn_mask=ahead, average_attn_weights=False)
    hidden = hidden_by(padding, t_q, kind == "causal")
    ours = layer(x, memory, hidden)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)
    trace = LayerTrace(layer, x, memory, hidden)
    torch.testing.assert_close(trace["weights"], shares, rtol=0, atol=1e-10)
    towards = torch.randn(ours.shape, generator=g, dtype=torch.float64)
    mine = torch.autograd.grad((ours * towards).sum(), [x, *layer.parameters()])
    named = dict(zip(["x", *dict(layer.named_parameters())], mine, strict=True))
    found = torch.autograd.grad(
        (theirs * towards).sum(), [x, twin.in_proj_weight, twin.in_proj_bias, twin.out_proj.weight, twin.out_proj.bias]
    )
    torch.testing.assert_close(named["x"], found[0], rtol=0, atol=1e-10)
    together = torch.cat([named[name].T for name in WEIGHTS[:3]])
    torch.testing.assert_close(together, found[1], rtol=0, atol=1e-10)
    torch.testing.assert_close(torch.cat([named[name] for name in BIASES[:3]]), found[2], rtol=0, atol=1e-10)
    torch.testing.assert_close(named["W_o"].T, found[3], rtol=0, atol=1e-10)
    torch.testing.assert_close(named["b_o"], found[4], rtol=0, atol=1e-10)


@pytest.mark.parametrize("positions", ["none", "rope", "alibi", "t5"])
@pytest.mark.parametrize("score", ["dot", "general", "concat", "additive", "cosine"])
def test_each_row_of_a_batch_equals_the_playgrounds_result(positions: str, score: str) -> None:
    config = AttentionConfig(n_heads=2, causal=True, positions=positions, score=score)
    layer = layer_of(8, config, hidden_units=5)
    x = torch.randn(3, 6, 8, dtype=torch.float64)
    with torch.no_grad():
        trace = LayerTrace(layer, x, None, masks.find_hidden(6, 6, True, {}, None))
        weights = Weights(**{name: getattr(layer, name) for name in (*WEIGHTS, *BIASES)}, extra=layer.extra)
        for i in range(3):
            alone = attnlab.compute(Experiment(tuple("abcdef"), x[i], weights, config), dtype="float64")
            assert alone.all_stages == trace.all_stages
            for name in alone.all_stages:
                torch.testing.assert_close(trace[name][i], alone[name], rtol=0, atol=1e-12)


def test_layer_features_give_the_same_result_in_a_batch() -> None:
    config = AttentionConfig(n_heads=4, n_kv_heads=2, ablated=(1,), qk_norm="rms", sink=True, soft_cap=2.0)
    g = torch.Generator().manual_seed(0)
    extra = {"sinks": torch.randn(4, generator=g), "g_q": torch.randn(2, generator=g), "g_k": torch.ones(2)}
    x = torch.randn(2, 5, 8, generator=g)
    layer = Attention(8, config)
    for name in ("W_k", "W_v"):
        setattr(layer, name, torch.nn.Parameter(torch.randn(8, 4, generator=g)))
    for name in ("b_k", "b_v"):
        setattr(layer, name, None)
    with torch.no_grad():
        for name, table in extra.items():
            layer.get_parameter(name).copy_(table)
        trace = LayerTrace(layer, x, None, None)
        weights = Weights(**{name: getattr(layer, name) for name in (*WEIGHTS, *BIASES)}, extra=extra)
        alone = attnlab.compute(Experiment(tuple("abcde"), x[1], weights, config))
        for name in alone.all_stages:
            torch.testing.assert_close(trace[name][1], alone[name], rtol=0, atol=1e-6)


def test_additive_attention_equals_the_paper_of_bahdanau() -> None:
    layer = layer_of(4, AttentionConfig(score="additive", scale="none"), plain=True, hidden_units=3)
    state, memory = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(2, 5, 4, dtype=torch.float64)
    W_d, W_e, v = (layer.get_parameter(name) for name in ("W_d", "W_e", "v_a"))
    for b in range(2):
        for i in range(3):  # e_ij = v·tanh(W s + U h_j), α = softmax(e), c = Σ α_j h_j (Bahdanau et al. 2015, A.1.2)
            energy = torch.stack([v @ torch.tanh(state[b, i] @ W_d + memory[b, j] @ W_e) for j in range(5)])
            context = energy.softmax(0) @ memory[b]
            torch.testing.assert_close(layer(state, memory)[b, i], context, rtol=0, atol=1e-12)


def test_general_attention_equals_the_paper_of_luong() -> None:
    layer = layer_of(4, AttentionConfig(score="general", scale="none"), plain=True)
    with torch.no_grad():
        layer.get_parameter("W_a").copy_(torch.randn(4, 4))
    state, memory = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(2, 5, 4, dtype=torch.float64)
    for b in range(2):
        for i in range(3):  # score = h_t W_a h_s (Luong et al. 2015, equation 8)
            score = torch.stack([state[b, i] @ layer.get_parameter("W_a") @ memory[b, j] for j in range(5)])
            torch.testing.assert_close(layer(state, memory)[b, i], score.softmax(0) @ memory[b], rtol=0, atol=1e-12)


def test_an_empty_row_gives_zero_and_finite_gradients() -> None:
    layer = layer_of(8, AttentionConfig(n_heads=2))
    x = torch.randn(2, 4, 8, dtype=torch.float64, requires_grad=True)
    padding = torch.tensor([[True] * 4, [False, True, False, False]])
    hidden = hidden_by(padding, 4, True)
    trace = LayerTrace(layer, x, None, hidden)
    assert not trace["weights"][0].any()
    assert torch.equal(trace["context"][0], torch.zeros(2, 4, 4, dtype=torch.float64))
    assert not trace["weights"][1, :, :, 1].any()
    trace["output"].square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in [x, *layer.parameters()])


def test_dropout_is_random_in_training_and_off_in_evaluation() -> None:
    layer = Attention(8, AttentionConfig(n_heads=2), dropout=0.5)
    x = torch.randn(2, 16, 8)
    torch.manual_seed(1)
    first, second = LayerTrace(layer, x, None, None), LayerTrace(layer, x, None, None)
    assert not torch.equal(first["dropped"], second["dropped"])
    kept = first["dropped"] != 0
    torch.testing.assert_close(first["dropped"][kept], first["weights"][kept] * 2)
    assert 0.4 < kept.float().mean() < 0.6
    assert "dropped" not in LayerTrace(layer.eval(), x, None, None)
    torch.testing.assert_close(layer(x), layer(x), rtol=0, atol=0)


def test_queries_one_at_a_time_equal_all_at_once() -> None:
    layer = layer_of(6, AttentionConfig(n_heads=2, score="additive"), hidden_units=4)
    x, memory = torch.randn(2, 3, 6, dtype=torch.float64), torch.randn(2, 5, 6, dtype=torch.float64)
    at_once = LayerTrace(layer, x, memory, None)
    traces = [LayerTrace(layer, x[:, :1], memory, None)]
    assert traces[0]["output"].shape == (2, 1, 6)
    for i in (1, 2):
        traces.append(traces[-1].next(x[:, i : i + 1]))
        assert traces[-1]["keys"] is traces[0]["keys"]
    traces[-1].earlier = tuple(traces[:-1])
    for name in at_once.all_stages:
        torch.testing.assert_close(traces[-1].join(name), at_once[name].detach(), rtol=0, atol=1e-12)
