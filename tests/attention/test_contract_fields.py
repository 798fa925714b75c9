"""Fields accept values of other libraries and keep plain ones; checked tensors can be trusted."""

import copy
import dataclasses
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention.arrays import is_owned

NUMBERS = [[1.0, 2.0], [3.0, 4.0]]


def layer(**config: Any) -> attnlab.Experiment:
    return attnlab.Experiment(("a", "b"), NUMBERS, config=attnlab.AttentionConfig(**config))


@pytest.mark.parametrize("count", [2, np.int64(2), np.uint8(2), torch.tensor(2)])
def test_head_counts_may_be_integers_of_any_library(count: Any) -> None:
    config = layer(n_heads=count, n_kv_heads=count).config
    assert (type(config.n_heads), config.n_heads) == (int, 2)
    assert (type(config.n_kv_heads), config.n_kv_heads) == (int, 2)


@pytest.mark.parametrize("count", [True, np.bool_(True), np.float64(2.0), torch.tensor(2.0), np.int64(0), "2"])
def test_an_invalid_head_count_is_refused(count: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match="n_heads"):
        layer(n_heads=count)


@pytest.mark.parametrize("scale", [2, 2.0, np.float32(2.0), np.int64(2), Fraction(2)])
def test_scales_may_be_numbers_of_any_library(scale: Any) -> None:
    kept = layer(scale=scale).config.scale
    assert (type(kept), kept) == (float, 2.0)


@pytest.mark.parametrize("scale", [np.float32("nan"), np.float64("inf"), np.int64(-1), np.bool_(True), 10**400, 1j])
def test_a_scale_that_is_not_a_positive_number_is_refused(scale: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match="scale"):
        layer(scale=scale)


@pytest.mark.parametrize("causal", [True, np.bool_(True)])
def test_causal_may_be_a_numpy_boolean(causal: Any) -> None:
    assert layer(causal=causal).config.causal is True


def test_numpy_tokens_become_plain_strings() -> None:
    e = attnlab.Experiment(np.array(["a", "b"]), NUMBERS)
    assert [type(token) for token in e.tokens] == [str, str]


@pytest.mark.parametrize("tokens", [{"a", "b"}, {"a": 1, "b": 2}, np.array("ab"), 3, "ab"])
def test_unordered_tokens_are_refused(tokens: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match="tokens"):
        attnlab.Experiment(tokens, NUMBERS)


@pytest.mark.parametrize("name", ["weights", "config"])
def test_weights_and_config_must_be_attnlab_classes(name: str) -> None:
    with pytest.raises(attnlab.ExperimentError, match=name):
        attnlab.Experiment(("a", "b"), NUMBERS, **{name: {}})


def test_masked_numpy_cells_are_refused() -> None:
    hidden = np.ma.masked_greater(np.array(NUMBERS), 3.5)
    with pytest.raises(attnlab.ExperimentError, match="embeddings"):
        attnlab.Experiment(("a", "b"), hidden)


@pytest.mark.parametrize(
    "mask", [torch.eye(2).bool().to_sparse(), np.eye(2).astype(bool), [[np.True_, np.False_], [False, True]]]
)
def test_a_mask_may_be_any_array_of_booleans(mask: Any) -> None:
    kept = layer(mask=mask).config.mask
    assert kept is not None
    assert kept.tolist() == [[True, False], [False, True]]


# --- values ---------------------------------------------------------------------------------------------------------


def test_a_replaced_experiment_shares_unchanged_fields() -> None:
    e = layer(mask=np.eye(2, dtype=bool))
    other = dataclasses.replace(e, tokens=("c", "d"), config=dataclasses.replace(e.config, causal=True))
    assert other.embeddings is e.embeddings
    assert other.config.mask is e.config.mask


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_experiments_can_be_copied_and_pickled(again: Any) -> None:
    e = layer(mask=np.eye(2, dtype=bool), scale=2.0)
    other = again(e)
    assert torch.equal(attnlab.compute(other)["output"], attnlab.compute(e)["output"])
    assert dataclasses.replace(other, tokens=("c", "d")).config.scale == 2.0


def test_experiments_compare_by_identity() -> None:
    first, second = layer(), layer()
    assert first == first
    assert first != second
    assert len({first, second}) == 2


def test_a_copied_or_changed_tensor_is_validated_again() -> None:
    kept = layer().embeddings
    assert is_owned(kept)
    assert not is_owned(kept.clone())
    assert not is_owned(copy.deepcopy(kept))
    kept.mul_(2)
    assert not is_owned(kept)
    taken = attnlab.Experiment(("a", "b"), kept)
    assert taken.embeddings is not kept


def test_experiments_made_in_inference_mode_work_outside_it() -> None:
    with torch.inference_mode():
        rows = torch.tensor(NUMBERS)
        e = attnlab.Experiment(("a", "b"), rows, config=attnlab.AttentionConfig(causal=True, mask=rows > 0))
        inside = attnlab.compute(e)["output"].tolist()
    assert attnlab.compute(e)["output"].tolist() == inside
    assert dataclasses.replace(e, tokens=("c", "d")).embeddings is e.embeddings


def test_results_carry_no_gradients_even_if_a_field_requires_them() -> None:
    e = layer()
    e.embeddings.requires_grad_()
    trace = attnlab.compute(e, dtype="float64")
    assert not any(trace[name].requires_grad for name in trace.stages)
    trace["inputs"].fill_(9.0)
    assert e.embeddings.tolist() == NUMBERS


@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
@pytest.mark.parametrize("cross", [False, True])
def test_no_result_shares_memory_with_the_experiment(positions: str, cross: bool) -> None:
    rows = torch.tensor(NUMBERS, dtype=torch.float64)
    e = attnlab.Experiment(
        tokens=("a", "b"),
        embeddings=rows,
        config=attnlab.AttentionConfig(positions=positions, causal=True, mask=[[True, True], [True, True]]),
        memory_tokens=("x", "y") if cross else None,
        memory_embeddings=rows * 2 if cross else None,
    )
    held = [e.embeddings, e.memory, e.config.mask]
    trace = attnlab.compute(e, dtype="float64")
    own = {tensor.untyped_storage().data_ptr() for tensor in held if tensor is not None}
    results = {name: trace[name].untyped_storage().data_ptr() for name in trace.stages}
    assert not own & set(results.values())
    assert trace.allowed is not None
    trace.allowed.fill_(False)
    assert attnlab.compute(e)["weights"].isfinite().all()


def test_changing_an_allowed_mask_does_not_change_another_trace() -> None:
    first = attnlab.compute(layer(causal=True))
    assert first.allowed is not None
    first.allowed.fill_(True)
    second = attnlab.compute(layer(causal=True))
    assert second["masked"][0, 0, 1] == -math.inf
    assert first["masked"][0, 0, 1] == -math.inf
