"""The presets: examples of the lecture notes with their names, sizes, seeds and settings."""

import dataclasses
import itertools
import math
import re
from typing import Any

import pytest
import torch

import attnlab
from attnlab.attention.examples.presets import PRESETS, Preset
from attnlab.lessons.lenses import LENSES

JOURNEY = ("Your", "journey", "starts", "with", "one", "step")
REQUIRED = {
    *("journey", "journey-untrained", "journey-linear", "random-4x8", "the-cat-sat", "causal-5x8"),
    *("multi-head-8", "multi-head-causal", "head-average", "uneven-heads"),
}


def drawn(seed: int, *shapes: tuple[int, int]) -> list[torch.Tensor]:
    """Draw as the lecture notes do: seed once, then standard normals in order."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator) for shape in shapes]


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual.float(), expected, atol=1e-7, rtol=1e-6)


def settings(experiment: attnlab.Experiment) -> tuple[Any, ...]:
    config = experiment.config
    return (config.n_heads, config.causal, config.scale)


def has_no_biases(experiment: attnlab.Experiment) -> bool:
    return all(getattr(experiment.weights, name) is None for name in ("b_q", "b_k", "b_v", "b_o"))


def test_names_are_listed_once_and_include_the_documented_ones() -> None:
    names = list(attnlab.presets())
    assert len(names) == len(set(names))
    assert set(names) >= REQUIRED
    assert all(isinstance(name, str) for name in names)


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_a_documented_preset_computes_without_a_warning(name: str) -> None:
    experiment = attnlab.preset(name)
    trace = attnlab.compute(experiment)
    assert isinstance(experiment, attnlab.Experiment)
    assert len(experiment.tokens) == len(trace["output"])
    assert trace.warnings == ()
    assert trace.empty_rows == ()
    sums = trace["weights"].sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_every_preset_computes_and_warns_of_non_finite_numbers() -> None:
    announced = []
    for name in attnlab.presets():
        trace = attnlab.compute(attnlab.preset(name))
        assert torch.isfinite(trace["output"]).all() == (not trace.warnings), name
        announced += [name] if trace.warnings else []
    assert announced == ["naive-softmax-overflow"]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_a_presets_description_is_one_short_line(preset: Preset) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", preset.name)
    assert preset.about.endswith(".")
    assert "\n" not in preset.about
    assert 40 < len(preset.about) <= 110
    assert len(preset.title) <= 36
    assert preset.lens.partition("/")[0] in ("", *LENSES)


def test_titles_are_unique_and_groups_are_contiguous() -> None:
    titles = [preset.title for preset in PRESETS.values()]
    assert len(titles) == len(set(titles))
    groups = [group for group, _ in itertools.groupby(preset.group for preset in PRESETS.values())]
    assert "" not in groups
    assert len(groups) == len(set(groups))


@pytest.mark.parametrize("name", attnlab.presets())
def test_a_preset_is_reproducible(name: str) -> None:
    first = attnlab.compute(attnlab.preset(name))
    torch.rand(3)  # whatever the caller draws meanwhile
    second = attnlab.compute(attnlab.preset(name))
    torch.testing.assert_close(first["output"], second["output"], atol=0, rtol=0, equal_nan=True)


def test_random_4x8_is_drawn_with_seed_42_in_the_order_x_q_k_v() -> None:
    experiment = attnlab.preset("random-4x8")
    x, *weights = drawn(42, (4, 8), (8, 8), (8, 8), (8, 8))
    assert_same(experiment.embeddings, x)
    for name, weight in zip(("W_q", "W_k", "W_v"), weights, strict=True):
        assert_same(getattr(experiment.weights, name), weight)
    assert experiment.weights.W_o is None
    assert has_no_biases(experiment)
    assert settings(experiment) == (1, False, "sqrt_d_k")


def test_journey_draws_its_weights_with_seed_123() -> None:
    experiment = attnlab.preset("journey")
    generator = torch.Generator().manual_seed(123)
    for name in ("W_q", "W_k", "W_v"):
        assert_same(getattr(experiment.weights, name), torch.rand(3, 2, generator=generator))
    assert experiment.tokens == JOURNEY
    assert settings(experiment) == (1, False, "sqrt_d_k")
    assert experiment.weights.W_o is None
    assert has_no_biases(experiment)


def test_journey_linear_takes_its_weights_from_linear_layers_with_seed_789() -> None:
    experiment = attnlab.preset("journey-linear")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(789)
        layers = [torch.nn.Linear(3, 2, bias=False) for _ in range(3)]
    for name, layer in zip(("W_q", "W_k", "W_v"), layers, strict=True):
        assert_same(getattr(experiment.weights, name), layer.weight.detach().T)
    assert experiment.tokens == JOURNEY
    assert settings(experiment) == (1, False, "sqrt_d_k")


def test_journey_untrained_has_no_weights_and_no_scale() -> None:
    experiment = attnlab.preset("journey-untrained")
    assert experiment.tokens == JOURNEY
    assert all(getattr(experiment.weights, name) is None for name in ("W_q", "W_k", "W_v", "W_o"))
    assert settings(experiment) == (1, False, "none")


def test_the_cat_sat_halves_the_identity() -> None:
    experiment = attnlab.preset("the-cat-sat")
    assert experiment.tokens == ("The", "cat", "sat")
    x = torch.tensor([[0.2, 0.1, 0.3, 0.1], [0.5, 0.3, 0.2, 0.4], [0.3, 0.2, 0.4, 0.3]])
    assert_same(experiment.embeddings, x)
    for name in ("W_q", "W_k", "W_v"):
        assert_same(getattr(experiment.weights, name), torch.eye(4) / 2)
    trace = attnlab.compute(experiment)
    torch.testing.assert_close(trace["scaled"], trace["scores"] / 2.0)


def test_causal_5x8_is_triangular() -> None:
    experiment = attnlab.preset("causal-5x8")
    x, *weights = drawn(0, (5, 8), (8, 8), (8, 8), (8, 8))
    assert_same(experiment.embeddings, x)
    for name, weight in zip(("W_q", "W_k", "W_v"), weights, strict=True):
        assert_same(getattr(experiment.weights, name), weight / math.sqrt(8))
    assert settings(experiment) == (1, True, "sqrt_d_k")
    weights_stage = attnlab.compute(experiment)["weights"]
    assert torch.equal(weights_stage, weights_stage.tril())


@pytest.mark.parametrize(
    ("name", "t", "d_model", "causal", "biases"),
    [
        ("multi-head-causal", 5, 64, True, False),
        ("multi-head-8", 10, 64, False, False),
        ("head-average", 10, 512, False, True),
    ],
)
def test_multi_head_presets_have_eight_heads_and_are_drawn_with_seed_0(
    name: str, t: int, d_model: int, causal: bool, biases: bool
) -> None:
    experiment = attnlab.preset(name)
    x, *weights = drawn(0, (t, d_model), *[(d_model, d_model)] * 4)
    assert_same(experiment.embeddings, x)
    for field, weight in zip(("W_q", "W_k", "W_v", "W_o"), weights, strict=True):
        given = getattr(experiment.weights, field)
        # The notes ask for W_o where the output is looked at; the grid of heads may go without.
        if field == "W_o" and name == "multi-head-8" and given is None:
            continue
        assert_same(given, weight / math.sqrt(d_model))
    for field in ("b_q", "b_k", "b_v", "b_o"):
        assert (getattr(experiment.weights, field) is not None) == biases
    assert settings(experiment) == (8, causal, "sqrt_d_k")
    assert attnlab.compute(experiment)["weights"].shape == (8, t, t)


def test_second_sequences_and_batches_are_drawn_after_x_and_tables_after_the_weights() -> None:
    batch = attnlab.preset("batch-of-two")
    first, second, *weights = drawn(0, (4, 8), (4, 8), *[(8, 8)] * 4)
    assert_same(batch.embeddings, first)
    assert_same(batch.others[0].embeddings, second)
    for name, weight in zip(("W_q", "W_k", "W_v", "W_o"), weights, strict=True):
        assert_same(getattr(batch.weights, name), weight / math.sqrt(8))
    cross = attnlab.preset("cross-attention")
    x, memory, w_q, *_ = drawn(0, (4, 8), (6, 8), (8, 8))
    assert_same(cross.embeddings, x)
    assert_same(cross.memory, memory)
    assert cross.weights.W_q is not None
    assert_same(cross.weights.W_q, w_q / math.sqrt(8))
    learned = attnlab.preset("learned-positions")
    assert_same(learned.weights.extra["P"], drawn(0, (5, 8), *[(8, 8)] * 3, (5, 8))[-1] / math.sqrt(8))


def test_grouped_keys_draw_as_many_columns_as_there_are_key_heads() -> None:
    experiment = attnlab.preset("grouped-keys")
    x, w_q, w_k, w_v, w_o = drawn(0, (10, 64), (64, 64), (64, 16), (64, 16), (64, 64))
    assert_same(experiment.embeddings, x)
    for name, weight in (("W_q", w_q), ("W_k", w_k), ("W_v", w_v), ("W_o", w_o)):
        assert_same(getattr(experiment.weights, name), weight / 8)


def test_uneven_heads_has_a_head_count_that_does_not_divide() -> None:
    experiment = attnlab.preset("uneven-heads")
    d_model = experiment.embeddings.shape[1]
    misfit = next(n for n in (8, 4, 3, 2) if d_model % n)
    before = attnlab.compute(experiment)["output"]
    with pytest.raises(attnlab.ExperimentError, match="n_heads") as caught:
        dataclasses.replace(experiment, config=dataclasses.replace(experiment.config, n_heads=misfit))
    assert str(misfit) in str(caught.value)
    assert torch.equal(attnlab.compute(experiment)["output"], before)


@pytest.mark.parametrize(("typed", "meant"), [("jorney", "journey"), ("the cat sat", "the-cat-sat"), ("", "journey")])
def test_an_unknown_name_is_refused_with_known_names(typed: str, meant: str) -> None:
    with pytest.raises(attnlab.UnknownPresetError) as caught:
        attnlab.preset(typed)
    assert isinstance(caught.value, attnlab.AttnlabError)
    assert meant in str(caught.value)
    assert typed in str(caught.value)
