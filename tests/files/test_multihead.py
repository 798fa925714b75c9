"""torch.nn.MultiheadAttention is imported and exported bit for bit, and computes the same as the experiment."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import attnlab
from attnlab.attention.edits import configure, with_setting
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.registries import registry
from attnlab.base.errors import ExperimentError
from attnlab.files.weights.multihead import from_multihead, to_multihead


def filled(seed: int = 0, **given: object) -> nn.MultiheadAttention:
    module = nn.MultiheadAttention(batch_first=True, **given)  # type: ignore[arg-type]
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(generator=g)
    return module


def words(d_model: int, d_memory: int | None = None, dtype: torch.dtype = torch.float64) -> Experiment:
    g = torch.Generator().manual_seed(1)
    x = torch.randn(4, d_model, generator=g, dtype=dtype)
    if d_memory is None:
        return Experiment(["a", "b", "c", "d"], x)
    m = torch.randn(3, d_memory, generator=g, dtype=dtype)
    w = Weights(W_k=torch.randn(d_memory, d_model), W_v=torch.randn(d_memory, d_model))
    return Experiment(["a", "b", "c", "d"], x, w, memory_tokens=["x", "y", "z"], memory_embeddings=m)


def agree(module: nn.MultiheadAttention, e: Experiment) -> None:
    """Compare a module's weights and output with the experiment's."""
    trace = attnlab.compute(e, dtype="float64")
    allowed = e.allowed()
    output, weights = module.double()(
        e.embeddings.double()[None],
        e.memory.double()[None],
        e.memory.double()[None],
        attn_mask=None if allowed is None else ~allowed,
        average_attn_weights=False,
    )
    torch.testing.assert_close(trace["weights"], weights[0].detach(), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(trace["output"], output[0].detach(), rtol=1e-10, atol=1e-10)


def equal(one: nn.MultiheadAttention, other: nn.MultiheadAttention) -> None:
    ours, theirs = one.state_dict(), other.state_dict()
    assert set(ours) == set(theirs)
    for name, tensor in theirs.items():
        assert ours[name].dtype == tensor.dtype
        assert torch.equal(ours[name], tensor), name
    assert (one.num_heads, one.kdim, one.vdim, one.batch_first) == (other.num_heads, other.kdim, other.vdim, True)


@given(
    heads=st.sampled_from([(1, 1), (2, 1), (2, 3), (4, 2), (3, 5)]),
    bias=st.booleans(),
    kdim=st.sampled_from([None, 2, 3, 7, 12]),
    dtype=st.sampled_from([torch.float64, torch.float32, torch.bfloat16, torch.float16]),
)
@settings(max_examples=40, deadline=None)
def test_a_module_survives_import_and_export_bit_for_bit(
    heads: tuple[int, int], bias: bool, kdim: int | None, dtype: torch.dtype
) -> None:
    h, d = heads
    module = filled(embed_dim=h * d, num_heads=h, bias=bias, kdim=kdim, vdim=kdim, dtype=dtype)
    e = from_multihead(module, words(h * d, kdim))
    equal(to_multihead(e), module)
    agree(module, e)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["multi-head-8", "head-average"])
def test_an_experiment_survives_export_and_import_bit_for_bit(name: str, causal: bool) -> None:
    e = with_setting(attnlab.preset(name), causal=causal, masks={"window": 2})
    module = to_multihead(e)
    agree(module, e)
    back = from_multihead(to_multihead(e), e)
    for field in ("W_q", "W_k", "W_v", "W_o"):
        before = getattr(e.weights, field)
        assert before is None or torch.equal(getattr(back.weights, field), before)
    assert back.config.causal == causal


def test_identities_shared_keys_and_single_biases_are_expanded() -> None:
    g = torch.Generator().manual_seed(2)
    w = Weights(W_k=torch.randn(8, 4, generator=g), W_v=torch.randn(8, 4, generator=g), b_k=torch.ones(4))
    e = Experiment(["a", "b", "c"], torch.randn(3, 8, generator=g), w, AttentionConfig(n_heads=4, n_kv_heads=2))
    agree(to_multihead(e), e)
    untrained = Experiment(["a", "b", "c"], torch.randn(3, 8, generator=g), config=AttentionConfig(n_heads=2))
    agree(to_multihead(untrained), untrained)
    assert to_multihead(untrained).in_proj_bias is None


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (nn.MultiheadAttention(8, 2, add_bias_kv=True), "The module has add_bias_kv, an extra key"),
        (nn.MultiheadAttention(8, 2, add_zero_attn=True), "The module has add_zero_attn, an extra key"),
        (nn.MultiheadAttention(8, 2, kdim=3, vdim=5), "The module has kdim 3 and vdim 5; they must be equal"),
        (nn.Linear(8, 8), "from_multihead was given Linear; it needs a torch.nn.MultiheadAttention."),
        (nn.MultiheadAttention(6, 2), r"W_q has 6 rows, but the embeddings have 8 columns; .*in_proj_weight \[18, 6\]"),
    ],
)
def test_an_unsupported_module_is_refused_in_a_sentence(module: nn.Module, sentence: str) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        from_multihead(module, words(8))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"score": "general"}, "score is 'general'; it needs 'dot'"),
        ({"normalizer": "sparsemax"}, "normalizer is 'sparsemax'; it needs 'softmax'"),
        ({"positions": "sinusoidal"}, "positions is 'sinusoidal'; it needs 'none'"),
        ({"qk_norm": "rms"}, "qk_norm is 'rms'; it needs 'none'"),
        ({"scale": "none"}, "scale is 'none'; it needs 'sqrt_d_k'"),
        ({"temperature": 2.0}, "temperature is 2.0; it needs 1.0"),
        ({"sink": True}, "sink is True; it needs False"),
        ({"soft_cap": 3.0}, "soft_cap is 3.0; it needs 0.0"),
        ({"dropout": 0.5}, "dropout is 0.5; it needs 0.0"),
        ({"ablated": (1,)}, r"ablated is \[1\]; it needs all heads on"),
        ({"causal": True, "fill": "0"}, "fill is '0'; it needs '-inf'"),
    ],
)
def test_settings_that_the_module_lacks_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ExperimentError, match=f"^torch.nn.MultiheadAttention does not support this layer: {sentence}"):
        to_multihead(configure(attnlab.preset("multi-head-8"), **changes))


def test_every_preset_is_exported_or_refused() -> None:
    held = set()
    for name in attnlab.presets():
        e = attnlab.preset(name)
        try:
            module = to_multihead(e)
        except ExperimentError as error:
            assert str(error).startswith("torch.nn.MultiheadAttention does not support this layer: ")  # noqa: PT017
            continue
        held.add(name)
        if not attnlab.compute(e).empty_rows:  # of which torch makes NaN
            agree(module, e)
    assert held >= {"random-4x8", "the-cat-sat", "multi-head-8", "head-average", "causal-5x8"}


def test_only_the_first_entry_of_each_switch_is_exported() -> None:
    e = attnlab.preset("multi-head-8")
    for choice in (choice for choice in registry.CHOICES if not choice.under):
        plain, *others = choice.entries
        for name in others:
            try:
                other = configure(e, **{choice.field: name})
            except ExperimentError:
                continue  # an entry that does not go with this layer
            with pytest.raises(ExperimentError, match=rf"{choice.field} is '{name}'; it needs '{plain}'"):
                to_multihead(other)
