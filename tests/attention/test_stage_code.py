"""The PyTorch code of each stage computes the stage's numbers, in every configuration."""

import dataclasses
import itertools
from typing import Any

import pytest
import torch

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.edits.stack_edits import select_layer
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.presence import find_last
from attnlab.attention.stages.table import STAGES
from tests.near import assert_near

WEIGHTS = ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")


def by_code(e: attnlab.Experiment) -> dict[str, torch.Tensor]:
    """Run the stages' code in order, of the layers below first; return what it assigned to each stage's variable."""
    x = e.embeddings
    if e.layer:
        below = select_layer(e, e.layer - 1)
        x = by_code(below)[find_last(below)]
    scope: dict[str, Any] = {"torch": torch, "x": x}
    scope |= {name: getattr(e.weights, name) for name in WEIGHTS if getattr(e.weights, name) is not None}
    scope |= e.weights.extra
    scope |= {} if e.memory_embeddings is None else {"memory": e.memory_embeddings}
    scope |= {} if e.config.mask is None else {"mask": e.config.mask}
    made = {}
    for stage in (stage for stage in STAGES if stage.present(e)):
        exec(stage.code(e), scope)
        made[stage.name] = scope[stage.variable].clone()
    return made


def assert_code_makes_the_stages(e: attnlab.Experiment, dtype: str = "float64") -> None:
    trace, exact, made = attnlab.compute(e, dtype=dtype), attnlab.compute(e, dtype="float64"), by_code(e)
    assert tuple(made) == trace.all_stages
    for name, tensor in made.items():
        assert_near(tensor, trace, exact, name)


def randn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(cross: bool = False, trained: bool = True, biases: bool = False, **config: Any) -> attnlab.Experiment:
    """Return four queries of 6 numbers, 4 heads on 2; with cross-attention three keys of 5. Skip invalid layers."""
    rows = 5 if cross else 6
    heads = {"n_heads": 4, "n_kv_heads": 2} if trained else {"n_heads": 1 if cross else 2}
    weights: dict[str, Any] = {}
    if trained:
        weights = {"W_q": randn(6, 16), "W_k": randn(rows, 8), "W_v": randn(rows, 4), "W_o": randn(8, 7)}
        widths = {"b_q": 16, "b_k": 8, "b_v": 4, "b_o": 7}
    else:
        weights = {"W_q": randn(6, rows)} if cross else {}
        widths = {"b_q": rows, "b_k": rows, "b_v": rows, "b_o": rows}
    weights |= {name: randn(width, seed=2) for name, width in widths.items()} if biases else {}
    plain = attnlab.Experiment(
        tokens=("a", "b", "c", "d"),
        embeddings=randn(4, 6),
        weights=attnlab.Weights(**weights),
        config=attnlab.AttentionConfig(**heads),
        memory_tokens=("x", "y", "z") if cross else None,
        memory_embeddings=randn(3, 5, seed=3) if cross else None,
    )
    try:
        return configure(plain, **config)
    except attnlab.ExperimentError as refused:
        pytest.skip(str(refused))


@pytest.mark.parametrize("name", attnlab.presets())
def test_the_code_of_every_preset_computes_its_numbers(name: str) -> None:
    assert_code_makes_the_stages(attnlab.preset(name), "float32")


@pytest.mark.parametrize(("cross", "trained", "biases"), [*itertools.product((False, True), repeat=3)])
@pytest.mark.parametrize("positions", sorted(POSITIONS))
@pytest.mark.parametrize("causal", [False, True])
def test_the_code_computes_the_numbers_of_every_kind_of_layer(
    cross: bool, trained: bool, biases: bool, positions: str, causal: bool
) -> None:
    assert_code_makes_the_stages(layer(cross, trained, biases, positions=positions, causal=causal))


@pytest.mark.parametrize("normalizer", sorted(NORMALIZERS))
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_the_code_keeps_empty_rows_at_zero(normalizer: str, causal: bool, cross: bool) -> None:
    mask = torch.ones(4, 3 if cross else 4, dtype=torch.bool)
    mask[0, 1:], mask[2] = False, False
    e = layer(cross, mask=mask, causal=causal, normalizer=normalizer)
    assert_code_makes_the_stages(e)
    assert (by_code(e)["weights"][:, 2] == 0).all()


@pytest.mark.parametrize("scale", ["sqrt_d_k", "sqrt_d_model", "none", 2.5])
@pytest.mark.parametrize("normalizer", sorted(NORMALIZERS))
@pytest.mark.parametrize("causal", [False, True])
def test_the_code_divides_in_the_same_order_as_the_layer(scale: str | float, normalizer: str, causal: bool) -> None:
    assert_code_makes_the_stages(layer(scale=scale, normalizer=normalizer, causal=causal))


def test_the_code_does_not_depend_on_the_dtype_of_the_embeddings() -> None:
    e = layer(cross=True, positions="sinusoidal", causal=True)
    tensors = {name: getattr(e.weights, name) for name in WEIGHTS}
    weights = attnlab.Weights(**{name: w if w is None else w.float() for name, w in tensors.items()})
    assert e.memory_embeddings is not None
    half = dataclasses.replace(
        e, weights=weights, embeddings=e.embeddings.float(), memory_embeddings=e.memory_embeddings.float()
    )
    assert_code_makes_the_stages(half, "float32")


@pytest.mark.parametrize("name", [*attnlab.presets()])
def test_code_is_short(name: str) -> None:
    for positions in POSITIONS:
        try:
            e = configure(attnlab.preset(name), positions=positions)
        except attnlab.ExperimentError:
            continue  # a preset that these positions do not go with
        for stage in (stage for stage in STAGES if stage.present(e)):
            assert all(len(line) <= 100 for line in stage.code(e).splitlines())
