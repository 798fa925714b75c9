"""Unusual arrays that occur in practice are read correctly, or refused by the name of the field."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import attnlab

NUMBERS = [[1.0, 2.0], [3.0, 4.0]]


def taken(embeddings: Any) -> torch.Tensor:
    """Return the embeddings of an experiment of two tokens."""
    return attnlab.Experiment(tokens=("a", "b"), embeddings=embeddings, weights=attnlab.Weights()).embeddings


def taken_or_complaint(embeddings: Any) -> torch.Tensor | str:
    try:
        return taken(embeddings)
    except attnlab.ExperimentError as refused:
        return str(refused)


def layer_with_mask(mask: Any) -> attnlab.Experiment:
    return attnlab.Experiment(
        tokens=("a", "b"),
        embeddings=NUMBERS,
        weights=attnlab.Weights(),
        config=attnlab.AttentionConfig(mask=mask),
    )


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(np.array(NUMBERS, dtype=">f8"), id="big-endian"),
        pytest.param(np.array(NUMBERS, dtype=np.longdouble), id="long double"),
        pytest.param(np.array(NUMBERS, dtype=np.uint16), id="unsigned"),
        pytest.param(np.array(NUMBERS).T.copy().T, id="column by column"),
        pytest.param([np.array(row) for row in NUMBERS], id="list of arrays"),
        pytest.param([torch.tensor(row) for row in NUMBERS], id="list of tensors"),
        pytest.param([torch.tensor(row, requires_grad=True) for row in NUMBERS], id="list of parameters"),
        pytest.param(tuple(tuple(row) for row in NUMBERS), id="tuples"),
        pytest.param(torch.nn.Parameter(torch.tensor(NUMBERS)), id="parameter"),
        pytest.param(torch.tensor(NUMBERS).T.contiguous().T, id="transposed tensor"),
    ],
)
def test_every_kind_of_array_is_read_correctly(source: Any) -> None:
    kept = taken(source)
    assert kept.tolist() == NUMBERS
    assert kept.is_floating_point()
    assert not kept.requires_grad


@pytest.mark.parametrize(
    "source",
    [
        pytest.param([[1.0, 2.0], [3.0]], id="ragged"),
        pytest.param([[1.0, None], [3.0, 4.0]], id="None inside"),
        pytest.param([[1.0, "2"], [3.0, 4.0]], id="text inside"),
        pytest.param([[10**400, 1], [1, 1]], id="too large for a float"),
        pytest.param([[1j, 0], [0, 1]], id="complex"),
        pytest.param(np.ones((2, 2), dtype="datetime64[s]"), id="dates"),
        pytest.param(np.array([[1, "x"], [2, 3]], dtype=object), id="objects"),
        pytest.param({"a": 1}, id="dict"),
        pytest.param(torch.zeros(2, 2, device="meta"), id="meta tensor"),
    ],
)
def test_an_unreadable_array_is_refused_by_name(source: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match="embeddings"):
        taken(source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(torch.tensor(NUMBERS).to_sparse(), id="sparse"),
        pytest.param(torch.tensor(NUMBERS).to(torch.float8_e4m3fn), id="float8"),
    ],
)
def test_unusual_tensors_are_read_correctly_or_refused_by_name(source: Any) -> None:
    result = taken_or_complaint(source)
    if isinstance(result, str):
        assert "embeddings" in result
    else:
        assert result.to_dense().float().tolist() == NUMBERS


@pytest.mark.parametrize(
    "mask",
    [
        pytest.param([[True], [True, False]], id="ragged"),
        pytest.param("causal", id="text"),
        pytest.param([[None, True], [True, True]], id="None inside"),
        pytest.param({}, id="dict"),
        pytest.param(True, id="one bool"),
        pytest.param(np.ones((1, 2, 2), dtype=bool), id="three axes"),
    ],
)
def test_an_invalid_mask_is_refused_by_name(mask: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match="mask"):
        layer_with_mask(mask)


@pytest.mark.parametrize("field", ["score", "normalizer", "positions"])
@pytest.mark.parametrize("wrong", ["unheard-of", None, ["softmax"], {}])
def test_an_unknown_choice_is_refused_by_name(field: str, wrong: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match=field):
        attnlab.AttentionConfig(**{field: wrong})


def test_a_scale_too_large_for_a_float_is_refused_by_name() -> None:
    with pytest.raises(attnlab.ExperimentError, match="scale"):
        attnlab.AttentionConfig(scale=10**400)


def test_fields_taken_from_an_experiment_are_checked_again() -> None:
    numbers, mask = taken(NUMBERS), layer_with_mask(np.ones((2, 2), dtype=bool)).config.mask
    with pytest.raises(attnlab.ExperimentError, match="mask"):
        layer_with_mask(numbers)
    with pytest.raises(attnlab.ExperimentError, match="W_q"):
        attnlab.Weights(W_q=mask)


def test_a_number_written_into_a_shared_field_is_noticed() -> None:
    numbers = taken(NUMBERS)
    numbers[1, 0] = float("nan")
    with pytest.raises(attnlab.ExperimentError, match=r"embeddings.*1\D+0"):
        taken(numbers)


def test_a_deep_copy_of_a_field_is_an_ordinary_array() -> None:
    mine = copy.deepcopy(taken(NUMBERS))
    kept = taken(mine)
    mine[0, 0] = 9.0
    assert kept.tolist() == NUMBERS
