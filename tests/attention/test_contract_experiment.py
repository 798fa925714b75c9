"""Experiment, Weights and AttentionConfig are immutable, copy their arrays, and are validated with clear errors."""

import dataclasses
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import attnlab

NAN, INF = float("nan"), float("inf")


def filled(rows: int, columns: int, value: float = 0.5) -> list[list[float]]:
    return [[value + 0.01 * (i - j) for j in range(columns)] for i in range(rows)]


def with_cell(rows: int, columns: int, at: tuple[int, int], value: float) -> list[list[float]]:
    made = filled(rows, columns)
    made[at[0]][at[1]] = value
    return made


def experiment(**changes: Any) -> attnlab.Experiment:
    """Return an experiment of 4 tokens, d_model 6, two heads of d_k 3 and d_v 5, d_out 7, with some fields changed."""
    weights = {"W_q": filled(6, 6), "W_k": filled(6, 6), "W_v": filled(6, 10), "W_o": filled(10, 7)}
    config: dict[str, Any] = {"n_heads": 2}
    fields: dict[str, Any] = {"tokens": ("a", "b", "c", "d"), "embeddings": filled(4, 6)}
    for name, value in changes.items():
        home = weights if re.match("[Wb]_", name) else config if name in CONFIG_FIELDS else fields
        home[name] = value
    return attnlab.Experiment(**fields, weights=attnlab.Weights(**weights), config=attnlab.AttentionConfig(**config))


CONFIG_FIELDS = ("n_heads", "n_kv_heads", "causal", "mask", "scale", "normalizer")


def cross(**changes: Any) -> attnlab.Experiment:
    """Return the same layer with keys and values from a memory of 3 tokens × 9."""
    memory: dict[str, Any] = {"memory_tokens": ("x", "y", "z"), "memory_embeddings": filled(3, 9)}
    return experiment(**(memory | {"W_k": filled(9, 6), "W_v": filled(9, 10)} | changes))


def complaint(**changes: Any) -> str:
    """Return the error message of an experiment with some fields changed."""
    make = cross if any(name.startswith("memory") for name in changes) else experiment
    with pytest.raises(attnlab.ExperimentError) as caught:
        make(**changes)
    return str(caught.value)


# --- a value --------------------------------------------------------------------------------------------------------


def test_experiment_weights_and_config_are_immutable() -> None:
    made = experiment()
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.tokens = ("other",) * 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.weights.W_q = None  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.config.causal = True  # type: ignore[misc]


@pytest.mark.parametrize("source", [np.array(filled(4, 6)), torch.tensor(filled(4, 6)), filled(4, 6)])
def test_arrays_are_copied_so_later_changes_have_no_effect(source: Any) -> None:
    made = experiment(embeddings=source, W_q=np.array(filled(6, 6)))
    before = made.embeddings.clone()
    if isinstance(source, list):
        source[0][0] = 99.0
    else:
        source[0, 0] = 99.0
    assert torch.equal(made.embeddings, before)


def test_weights_biases_and_masks_are_copied_too() -> None:
    weight, bias, mask = np.array(filled(6, 6)), np.zeros(6), np.ones((4, 4), dtype=bool)
    made = experiment(W_q=weight, b_q=bias, mask=mask)
    before = attnlab.compute(made)["weights"].clone()
    weight[:], bias[:], mask[:, 1:] = 7.0, 7.0, False
    assert torch.equal(attnlab.compute(made)["weights"], before)


def test_tokens_are_copied_into_a_tuple() -> None:
    tokens = ["a", "b", "c", "d"]
    made = experiment(tokens=tokens)
    tokens[0] = "changed"
    assert made.tokens == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        (filled(4, 6), torch.float64),
        (np.array(filled(4, 6), dtype=np.float32), torch.float32),
        (np.array(filled(4, 6), dtype=np.float16), torch.float16),
        (np.array(filled(4, 6)), torch.float64),
        (torch.tensor(filled(4, 6), dtype=torch.bfloat16), torch.bfloat16),
    ],
)
def test_arrays_keep_their_number_format_and_lists_are_float64(source: Any, kept: torch.dtype) -> None:
    assert experiment(embeddings=source).embeddings.dtype == kept
    assert attnlab.Weights(W_q=source).W_q.dtype == kept


@pytest.mark.parametrize("source", [np.array(filled(4, 6))[:, ::-1], np.asfortranarray(np.array(filled(4, 6)))])
def test_numpy_views_with_unusual_strides_are_read_correctly(source: Any) -> None:
    assert experiment(embeddings=source).embeddings.tolist() == source.tolist()


def test_read_only_numpy_arrays_are_accepted_without_a_warning() -> None:
    source = np.array(filled(4, 6))
    source.flags.writeable = False
    assert experiment(embeddings=source).embeddings.tolist() == source.tolist()


def test_integer_arrays_are_accepted() -> None:
    as_floats, as_integers = [[1.0, 0.0], [0.0, 2.0]], [[1, 0], [0, 2]]
    for source in (as_integers, np.array(as_integers), torch.tensor(as_integers)):
        made = attnlab.Experiment(tokens=("a", "b"), embeddings=source, weights=attnlab.Weights(W_q=source))
        expected = attnlab.Experiment(tokens=("a", "b"), embeddings=as_floats, weights=attnlab.Weights(W_q=as_floats))
        assert torch.equal(attnlab.compute(made)["output"], attnlab.compute(expected)["output"])


def test_without_weights_and_config_attention_is_plain() -> None:
    made = attnlab.Experiment(tokens=("a", "b"), embeddings=[[0.1, 0.2], [0.3, 0.4]])
    config = made.config
    assert (config.n_heads, config.n_kv_heads, config.causal, config.mask) == (1, None, False, None)
    assert (config.scale, config.normalizer) == ("sqrt_d_k", "softmax")
    assert all(getattr(made.weights, name) is None for name in ("W_q", "W_k", "W_v", "W_o", "b_q", "b_o"))


def test_a_replaced_field_is_validated_again() -> None:
    made = experiment()
    assert dataclasses.replace(made, tokens=("w", "x", "y", "z")).tokens == ("w", "x", "y", "z")
    with pytest.raises(attnlab.ExperimentError, match="n_heads"):
        dataclasses.replace(made, config=dataclasses.replace(made.config, n_heads=4))


def test_the_error_is_an_attnlab_error_and_a_value_error() -> None:
    assert issubclass(attnlab.ExperimentError, attnlab.AttnlabError)
    assert issubclass(attnlab.ExperimentError, ValueError)


def test_tokens_may_be_any_text() -> None:
    odd = ("", "שלום", "猫", "👩‍👩‍👧")
    assert experiment(tokens=odd).tokens == odd
    assert experiment(tokens=("same",) * 4).tokens == ("same",) * 4


# --- shapes ---------------------------------------------------------------------------------------------------------

# field, what it is given, numbers that the sentence must show: what it got and what it needs
WRONG_SHAPES: list[tuple[str, Any, tuple[int, ...]]] = [
    ("W_q", filled(5, 8), (5, 6)),
    ("W_k", filled(5, 6), (5, 6)),
    ("W_v", filled(5, 10), (5, 6)),
    ("W_k", filled(6, 8), (8, 6)),
    ("W_v", filled(6, 9), (9, 2)),
    ("W_o", filled(11, 7), (11, 10)),
    ("b_q", [0.5] * 5, (5, 6)),
    ("b_k", [0.5] * 5, (5, 6)),
    ("b_v", [0.5] * 9, (9, 10)),
    ("b_o", [0.5] * 8, (8, 7)),
    ("tokens", ("a", "b", "c"), (3, 4)),
    ("memory_tokens", ("x", "y"), (2, 3)),
    ("memory_embeddings", filled(3, 8), (8, 9)),
    ("mask", [[True] * 4] * 3, (3, 4)),
    ("mask", [[True] * 5] * 4, (5, 4)),
    ("mask", [True] * 4, (4,)),
]


@pytest.mark.parametrize(("field", "given", "numbers"), WRONG_SHAPES)
def test_a_wrong_shape_is_reported_with_field_actual_and_expected_shape(
    field: str, given: Any, numbers: tuple[int, ...]
) -> None:
    sentence = complaint(**{field: given})
    # A memory of the wrong width is seen in W_k, which has too many rows for it; either field may be named.
    named = f"{field}|W_k" if field == "memory_embeddings" else field
    assert re.search(named, sentence), sentence
    shown = {int(number) for number in re.findall(r"\d+", sentence)}
    assert set(numbers) <= shown, sentence


@pytest.mark.parametrize("field", ["embeddings", "W_q", "W_k", "W_v", "W_o", "memory_embeddings"])
@pytest.mark.parametrize(
    "wrong",
    [
        [0.5, 0.5, 0.5, 0.5],
        [filled(4, 6)],
        0.5,
        [[0.1, 0.2], [0.3]],
        [["x"] * 6] * 4,
        "words",
        None.__class__,
        [[None]],
    ],
)
def test_embeddings_that_are_not_a_matrix_of_numbers_are_refused_by_name(field: str, wrong: Any) -> None:
    assert field in complaint(**{field: wrong})


@pytest.mark.parametrize("field", ["b_q", "b_k", "b_v", "b_o"])
@pytest.mark.parametrize("wrong", [[[0.5] * 6], 0.5, ["x"] * 6])
def test_biases_that_are_not_a_vector_of_numbers_are_refused_by_name(field: str, wrong: Any) -> None:
    assert field in complaint(**{field: wrong})


def test_complex_and_boolean_arrays_are_refused() -> None:
    assert "embeddings" in complaint(embeddings=np.ones((4, 6), dtype=complex))
    assert "W_q" in complaint(W_q=torch.ones(6, 6, dtype=torch.complex64))


def test_an_empty_token_list_is_refused() -> None:
    for nothing in (np.zeros((0, 6)), torch.zeros(0, 6), []):
        assert re.search("tokens|embeddings", complaint(tokens=(), embeddings=nothing))
    assert "memory" in complaint(memory_tokens=(), memory_embeddings=np.zeros((0, 9)))


def test_embeddings_without_columns_are_refused() -> None:
    with pytest.raises(attnlab.ExperimentError, match="embeddings"):
        attnlab.Experiment(tokens=("a", "b"), embeddings=np.zeros((2, 0)), weights=attnlab.Weights())


def test_memory_tokens_and_embeddings_must_come_together() -> None:
    assert "memory_embeddings" in complaint(memory_embeddings=None)
    assert "memory_tokens" in complaint(memory_tokens=None)


@pytest.mark.parametrize("wrong", [("a", "b", 3, "d"), (None,) * 4, 4, None])
def test_tokens_are_text(wrong: Any) -> None:
    assert "tokens" in complaint(tokens=wrong)
    assert "memory_tokens" in complaint(memory_tokens=(1, 2, 3))


# --- numbers --------------------------------------------------------------------------------------------------------

MATRICES = [("embeddings", 4, 6), ("W_q", 6, 6), ("W_k", 6, 6), ("W_v", 6, 10), ("W_o", 10, 7)]


@pytest.mark.parametrize(("field", "rows", "columns"), [*MATRICES, ("memory_embeddings", 3, 9)])
@pytest.mark.parametrize(("value", "shown"), [(NAN, "nan"), (INF, "inf|∞"), (-INF, "-inf|−∞|-∞")])
def test_a_non_finite_number_is_refused_with_its_cell(
    field: str, rows: int, columns: int, value: float, shown: str
) -> None:
    sentence = complaint(**{field: with_cell(rows, columns, (1, 2), value)})
    assert re.search(rf"{field}\b.*\b1\D+2\b", sentence), sentence
    assert re.search(shown, sentence, re.IGNORECASE), sentence


@pytest.mark.parametrize("field", ["b_q", "b_k"])
def test_a_non_finite_bias_is_refused_with_its_cell(field: str) -> None:
    sentence = complaint(**{field: [0.0, 0.0, 0.0, NAN, 0.0, 0.0]})
    assert re.search(rf"{field}\b.*\b3\b", sentence), sentence


# --- configuration --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_heads", [0, -1, True, 2.0, 1.5, "2", None, NAN])
def test_n_heads_must_be_a_positive_whole_number(n_heads: Any) -> None:
    sentence = complaint(n_heads=n_heads)
    assert "n_heads" in sentence
    assert str(n_heads) in sentence


@pytest.mark.parametrize("n_kv_heads", [0, -1, True, 1.0, "1"])
def test_n_kv_heads_must_be_a_positive_whole_number(n_kv_heads: Any) -> None:
    sentence = complaint(n_kv_heads=n_kv_heads)
    assert "n_kv_heads" in sentence
    assert str(n_kv_heads) in sentence


def test_a_head_count_that_does_not_divide_is_refused_with_the_reason() -> None:
    sentence = complaint(n_heads=4)
    assert "n_heads" in sentence
    assert {"4", "6"} <= set(re.findall(r"\d+", sentence)), sentence
    untrained = {"W_q": None, "W_k": None, "W_v": None, "W_o": None}
    assert "n_heads" in complaint(**untrained, n_heads=4)


@pytest.mark.parametrize("n_kv_heads", [4, 5, 12])
def test_key_heads_must_divide_the_query_heads(n_kv_heads: int) -> None:
    sentence = complaint(n_heads=6, n_kv_heads=n_kv_heads)
    assert "n_kv_heads" in sentence
    assert {"6", str(n_kv_heads)} <= set(re.findall(r"\d+", sentence)), sentence


@pytest.mark.parametrize("scale", ["sqrt_d", "", "1", 0, 0.0, -2.0, NAN, INF, True, None, [2.0], object()])
def test_scale_must_be_a_known_name_or_a_positive_number(scale: Any) -> None:
    sentence = complaint(scale=scale)
    assert "scale" in sentence
    assert "sqrt_d_k" in sentence or "positive" in sentence, sentence


def test_an_unknown_scale_is_refused_with_the_known_ones() -> None:
    sentence = complaint(scale="sqrt_d")
    assert all(name in sentence for name in ("sqrt_d", "sqrt_d_k", "sqrt_d_model", "none")), sentence


@pytest.mark.parametrize("mask", [np.ones((4, 4)), np.ones((4, 4), dtype=int), torch.ones(4, 4), [[0.0] * 4] * 4])
def test_a_mask_must_be_boolean(mask: Any) -> None:
    sentence = complaint(mask=mask)
    assert "mask" in sentence
    assert "bool" in sentence.lower(), sentence


@pytest.mark.parametrize("mask", [np.eye(4, dtype=bool), torch.eye(4).bool(), np.eye(4, dtype=bool).tolist()])
def test_a_mask_may_be_any_boolean_array(mask: Any) -> None:
    weights = attnlab.compute(experiment(mask=mask), dtype="float64")["weights"]
    assert torch.equal(weights, torch.eye(4).double().expand(2, 4, 4))


@pytest.mark.parametrize("causal", ["False", 1.0, None])
def test_causal_must_be_true_or_false(causal: Any) -> None:
    assert "causal" in complaint(causal=causal)


def test_an_unknown_normalizer_is_refused_with_the_known_ones() -> None:
    sentence = complaint(normalizer="sofmax")
    assert all(name in sentence for name in ("normalizer", "sofmax", "softmax", "sum")), sentence


# --- the package ----------------------------------------------------------------------------------------------------


def test_importing_the_package_loads_neither_qt_nor_torch() -> None:
    look = "import sys, attnlab; print(sorted({'torch', 'numpy', 'PySide6'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['numpy']")
