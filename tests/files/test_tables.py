"""Tables have the trace's numbers with all digits, labelled by tokens."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import attnlab
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.base.errors import AttnlabError
from attnlab.files.export.stage_tables import Table, as_csv, as_json, encode, table


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("head", [1, "all", "mean"])
@pytest.mark.parametrize("preset", ["multi-head-causal", "uneven-heads"])
def test_numbers_read_back_from_csv_and_json_are_the_same(preset: str, head: int | str, dtype: str) -> None:
    trace = attnlab.compute(attnlab.preset(preset), dtype=dtype)
    for name in trace.stages:
        t = table(trace, name, head)
        expected = np.where(np.isfinite(t.values), t.values, np.nan)
        lead = t.values.ndim - 1
        body = rows_of(as_csv(t))[1:]
        read = np.array([[float(x) if x else np.nan for x in row[lead:]] for row in body], t.values.dtype)
        np.testing.assert_array_equal(read.reshape(t.values.shape), expected)
        values = np.array(json.loads(as_json(t))["values"], dtype=float).astype(t.values.dtype)
        np.testing.assert_array_equal(values, expected)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_every_float32_survives_csv_and_json(values: list[float]) -> None:
    t = single(np.array([values], dtype=np.float32))
    assert [np.float32(x) for x in rows_of(as_csv(t))[1][1:]] == [np.float32(x) for x in values]
    assert [np.float32(x) for x in json.loads(as_json(t))["values"][0]] == [np.float32(x) for x in values]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_every_float64_survives_csv_and_json(values: list[float]) -> None:
    t = single(np.array([values], dtype=np.float64))
    assert [float(x) for x in rows_of(as_csv(t))[1][1:]] == values
    assert json.loads(as_json(t))["values"][0] == values


def single(values: NDArray[np.floating]) -> Table:
    labels = tuple(map(str, range(values.shape[1])))
    return Table("inputs", "", ("token", "d_model"), values, None, ("a",), labels, ("a",), ("a",))


def test_csv_has_tokens_in_its_first_row_and_column() -> None:
    t = table(attnlab.compute(attnlab.preset("the-cat-sat")), "weights", 0)
    read = rows_of(as_csv(t))
    assert read[0] == ["query", "The", "cat", "sat"]
    assert [row[0] for row in read[1:]] == ["The", "cat", "sat"]


def test_csv_of_all_heads_has_a_head_column() -> None:
    t = table(attnlab.compute(attnlab.preset("uneven-heads")), "weights")
    read = rows_of(as_csv(t))
    assert read[0][:3] == ["head", "query", "The"]
    assert [row[0] for row in read[1:]] == ["0"] * 6 + ["1"] * 6


def test_tokens_with_commas_quotes_and_line_ends_stay_one_field() -> None:
    tokens = ('a,"b"', "c\nd", "", "שלום", "e;f")
    e = Experiment(tokens, np.eye(5))
    read = rows_of(as_csv(table(attnlab.compute(e), "weights", 0)))
    assert read[0][1:] == list(tokens)
    assert [row[0] for row in read[1:]] == list(tokens)


def test_a_masked_score_is_empty_in_csv_and_null_in_json() -> None:
    trace = attnlab.compute(attnlab.preset("causal-5x8"))
    masked, weights = table(trace, "masked", 0), table(trace, "weights", 0)
    assert rows_of(as_csv(masked))[1][2:] == [""] * 4
    assert json.loads(as_json(masked))["values"][0][1:] == [None] * 4
    assert rows_of(as_csv(weights))[1][1:] == ["1", "0", "0", "0", "0"]
    assert json.loads(as_json(weights))["values"][0] == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_an_overflowed_score_differs_from_a_masked_one() -> None:
    e = Experiment(("a", "b"), [[1e30, 0.0], [0.0, -1e30]], config=AttentionConfig(causal=True))
    t = table(attnlab.compute(e), "masked", 0)
    text = as_json(t)
    assert json.loads(text)["values"] == [["Infinity", None], [0.0, "Infinity"]]
    assert rows_of(as_csv(t))[1][1:] == ["inf", ""]


def test_json_names_its_stage_and_shape() -> None:
    trace = attnlab.compute(attnlab.preset("uneven-heads"))
    read = json.loads(as_json(table(trace, "queries", "all")))
    assert list(read) == ["stage", "shape", "values", "query_tokens", "key_tokens"]
    assert read["shape"] == [2, 6, 5] == list(np.shape(read["values"]))
    assert json.loads(as_json(table(trace, "queries", 0)))["shape"] == [6, 5]
    assert all(isinstance(x, float) for x in np.ravel(read["values"]).tolist())


def test_array_files_hold_the_same_numbers(tmp_path: object) -> None:
    from safetensors.numpy import load as read_safetensors

    t = table(attnlab.compute(attnlab.preset("multi-head-causal")), "masked", "all")
    np.testing.assert_array_equal(np.load(io.BytesIO(encode(t, ".npy")), allow_pickle=False), t.values)
    np.testing.assert_array_equal(np.load(io.BytesIO(encode(t, ".npz")), allow_pickle=False)["masked"], t.values)
    np.testing.assert_array_equal(read_safetensors(encode(t, ".safetensors"))["masked"], t.values)


def test_one_head_of_an_array_file_has_no_head_axis() -> None:
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    for head in (7, "mean"):
        t = table(trace, "weights", head)
        assert np.load(io.BytesIO(encode(t, ".npy"))).shape == (10, 10)
        assert read_shape(encode(t, ".safetensors")) == (10, 10)


def read_shape(data: bytes) -> tuple[int, ...]:
    from safetensors.numpy import load as read_safetensors

    return tuple(read_safetensors(data)["weights"].shape)


@pytest.mark.parametrize(
    ("stage", "head", "sentence"),
    [("masked", "all", "no stage 'masked'.*weights"), ("weights", 2, "heads 0 to 1"), ("weights", -1, "no head -1")],
)
def test_an_unknown_stage_is_refused_with_the_known_ones(stage: str, head: int | str, sentence: str) -> None:
    with pytest.raises(AttnlabError, match=sentence):
        table(attnlab.compute(attnlab.preset("uneven-heads")), stage, head)


def test_a_stage_without_heads_ignores_the_head() -> None:
    trace = attnlab.compute(attnlab.preset("uneven-heads"))
    np.testing.assert_array_equal(table(trace, "output", 99).values, trace.array("output"))


def test_each_head_of_a_stage_is_its_own_table() -> None:
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    for head in range(8):
        np.testing.assert_array_equal(table(trace, "weights", head).values, trace.array("weights")[head])
        np.testing.assert_array_equal(table(trace, "queries", head).values, trace.array("queries")[head])


def test_rows_and_columns_have_their_own_labels() -> None:
    e = attnlab.preset("cross-attention")
    trace = attnlab.compute(e)
    maps, queries, keys = (table(trace, name, 0) for name in ("weights", "queries", "keys"))
    assert e.memory_tokens is not None
    assert (maps.row_labels, maps.column_labels) == (e.tokens, e.memory_tokens)
    assert (queries.row_labels, queries.column_labels) == (e.tokens, tuple(map(str, range(e.d_k))))
    assert (keys.row_labels, keys.column_labels) == (e.memory_tokens, tuple(map(str, range(e.d_k))))
    assert rows_of(as_csv(maps))[0][1:] == list(e.memory_tokens)


def test_overflow_keeps_its_sign() -> None:
    one = table(attnlab.compute(attnlab.preset("journey")), "scores", 0)
    values = one.values.copy()
    values[0, :3] = np.inf, -np.inf, np.nan
    t = replace(one, values=values)
    assert json.loads(as_json(t))["values"][0][:3] == ["Infinity", "-Infinity", "NaN"]
    assert rows_of(as_csv(t))[1][1:4] == ["inf", "-inf", "nan"]
