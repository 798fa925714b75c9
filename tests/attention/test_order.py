"""Shuffled tokens: the maps follow them exactly without positions, but not with positions or a causal mask."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.measures.order import measure_order_blindness, permute, random_order, shuffle
from attnlab.base.errors import ExperimentError


def random(seed: int, *size: int) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(seed: int, count: int, d_model: int = 4, memory: int = 0, mask: Tensor | None = None) -> Experiment:
    tables = [random(seed + i, d_model, 4) for i in range(1, 4)]
    names = tuple(f"m{i}" for i in range(memory)) if memory else None
    return Experiment(
        tuple(f"t{i}" for i in range(count)),
        random(seed, count, d_model),
        Weights(*tables),
        AttentionConfig(n_heads=2, mask=mask),
        names,
        random(seed + 9, memory, d_model) if memory else None,
    )


seeds, counts = st.integers(0, 10_000), st.integers(2, 12)


@given(seeds, st.integers(0, 40))
def test_a_random_order_is_a_permutation_other_than_the_identity(seed: int, count: int) -> None:
    order = random_order(count, seed)
    assert sorted(order) == list(range(count))
    assert order == random_order(count, seed)
    assert count < 2 or order != tuple(range(count))


def test_different_seeds_give_different_orders() -> None:
    assert len({random_order(8, seed) for seed in range(20)}) > 15


@given(seeds, st.permutations(range(6)))
def test_shuffled_tokens_keep_their_vectors(seed: int, order: list[int]) -> None:
    e = layer(seed, 6)
    moved = permute(e, order)
    assert moved.tokens == tuple(e.tokens[i] for i in order)
    assert torch.equal(moved.embeddings, e.embeddings[order])


@given(seeds, counts)
def test_without_positions_the_map_follows_the_tokens(seed: int, count: int) -> None:
    seen = measure_order_blindness(layer(seed, count), random_order(count, seed))
    assert seen.largest < 1e-10
    assert seen.largest_output < 1e-10
    for i, source in enumerate(seen.order):
        for j, other in enumerate(seen.order):
            assert float(seen.shuffled_weights[0, i, j]) == pytest.approx(
                float(seen.weights[0, source, other]), abs=1e-10
            )


@given(seeds, counts, st.integers(1, 6))
def test_shuffling_cross_attention_shuffles_only_the_queries(seed: int, count: int, memory: int) -> None:
    seen = measure_order_blindness(layer(seed, count, memory=memory), random_order(count, seed))
    assert seen.shuffled.key_tokens == seen.experiment.key_tokens
    torch.testing.assert_close(seen.shuffled_weights, seen.weights[:, seen.order], rtol=0, atol=1e-10)
    torch.testing.assert_close(seen.restored_weights, seen.weights, rtol=0, atol=1e-10)


@given(seeds, st.integers(3, 8))
def test_a_painted_mask_is_shuffled_with_its_tokens(seed: int, count: int) -> None:
    mask = random(seed + 4, count, count) > 0
    seen = measure_order_blindness(layer(seed, count, mask=mask), random_order(count, seed))
    assert seen.largest < 1e-10


@pytest.mark.parametrize("changes", [{"positions": "sinusoidal"}, {"causal": True}])
def test_positions_and_a_causal_mask_depend_on_the_order(changes: dict[str, object]) -> None:
    e = edits.configure(layer(3, 6), **changes)
    seen = measure_order_blindness(e, random_order(6, 1))
    assert seen.largest > 0.01
    assert seen.largest_output > 0.01
    assert float(seen.difference.abs().max()) == seen.largest


def test_the_printed_example_is_blind_to_12_decimals() -> None:
    e = preset("journey")
    assert measure_order_blindness(e, random_order(e.T_q, 0)).largest < 1e-12
    assert 0 < measure_order_blindness(e, random_order(e.T_q, 0), torch.float32).largest < 1e-6


def test_two_tokens_are_always_swapped() -> None:
    assert {random_order(2, seed) for seed in range(20)} == {(1, 0)}


def test_the_map_shows_the_weights_that_mix_the_values() -> None:
    for name, stage in (("dropout", "dropped"), ("mask-after-softmax", "zeroed"), ("journey", "weights")):
        e = preset(name)
        assert measure_order_blindness(e, range(e.T_q)).stage == stage


def test_the_largest_difference_ignores_the_sign() -> None:
    """Inputs of opposite sign have equal scores, so that all differences change only their sign."""
    config = AttentionConfig(causal=True)
    up, down = (Experiment(("a", "b"), sign * torch.tensor([[1.0], [3.0]]), config=config) for sign in (1, -1))
    one, other = measure_order_blindness(up, (1, 0)), measure_order_blindness(down, (1, 0))
    first, second = (one.restored_output - one.output).flatten().tolist()
    assert abs(first) != pytest.approx(abs(second))
    assert one.largest_output == other.largest_output == max(abs(first), abs(second))


def test_the_shuffled_experiment_has_the_order_of_the_seed() -> None:
    e = preset("journey")
    assert shuffle(e, 5).tokens == tuple(e.tokens[i] for i in random_order(e.T_q, 5))


@pytest.mark.parametrize("order", [(0, 0, 1), (0, 1), (0, 1, 3), (1, 2, 3)])
def test_an_invalid_order_is_refused(order: tuple[int, ...]) -> None:
    with pytest.raises(ExperimentError, match="each number from 0 to 2 once"):
        permute(layer(0, 3), order)
