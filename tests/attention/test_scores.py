"""Every score function equals the formula of its paper, in blocks or at once, and names the tables that it needs."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.registries import score_functions
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.explain import Cell, explain

Row = list[float]
Tables = dict[str, Any]


# --- the formulas, one query and one key at a time, in plain numbers ------------------------------------------------


def times(row: Row, matrix: list[Row]) -> Row:
    return [sum(row[i] * matrix[i][j] for i in range(len(row))) for j in range(len(matrix[0]))]


def inner(a: Row, b: Row) -> float:
    assert len(a) == len(b)
    return sum(x * y for x, y in zip(a, b, strict=True))


def additive(q: Row, k: Row, t: Tables) -> float:
    from_query, from_key = times(q, t["W_d"]), times(k, t["W_e"])
    return sum(v * math.tanh(a + b) for v, a, b in zip(t["v_a"], from_query, from_key, strict=True))


def cosine(q: Row, k: Row, t: Tables) -> float:
    lengths = math.sqrt(inner(q, q)) * math.sqrt(inner(k, k))
    return inner(q, k) / lengths if lengths else 0.0


FORMULAS: dict[str, Callable[[Row, Row, Tables], float]] = {
    "dot": lambda q, k, t: inner(q, k),
    "general": lambda q, k, t: inner(times(q, t["W_a"]), k),
    "concat": lambda q, k, t: inner(t["v_c"], [math.tanh(x) for x in times(q + k, t["W_c"])]),
    "additive": additive,
    "cosine": cosine,
}

sizes = st.tuples(*[st.integers(1, 4)] * 5, st.integers(0, 10**6))


def made(name: str, d_k: int, hidden: int, draw: Callable[..., torch.Tensor]) -> dict[str, torch.Tensor]:
    """Draw the tables of a score function."""
    axes = {"d_k": d_k, "two_d_k": 2 * d_k, "hidden": hidden}
    return {table.name: draw(*(axes[axis] for axis in table.axes)) for table in SCORES[name].tables}


def drawing(seed: int) -> Callable[..., torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(*shape, generator=g, dtype=torch.float64)


def by_loops(name: str, queries: torch.Tensor, keys: torch.Tensor, tables: dict[str, torch.Tensor]) -> torch.Tensor:
    formula, plain_tables = FORMULAS[name], {name: table.tolist() for name, table in tables.items()}
    rows = [
        [[formula(q, k, plain_tables) for k in ks] for q in qs]
        for qs, ks in zip(queries.tolist(), keys.tolist(), strict=True)
    ]
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=40)
@given(sizes=sizes)
def test_every_score_equals_its_formula(name: str, sizes: tuple[int, ...]) -> None:
    h, t_q, t_k, d_k, hidden, seed = sizes
    draw = drawing(seed)
    queries, keys, tables = draw(h, t_q, d_k), draw(h, t_k, d_k), made(name, d_k, hidden, draw)
    scores = SCORES[name].apply(queries, keys, tables)
    torch.testing.assert_close(scores, by_loops(name, queries, keys, tables), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("cross", [False, True])
def test_a_layer_scores_the_queries_and_keys_of_its_heads(name: str, cross: bool) -> None:
    draw = drawing(3)
    tables = made(name, 2, 5, draw)
    e = attnlab.Experiment(
        tokens=["a", "b", "c"],
        embeddings=draw(3, 4),
        weights=attnlab.Weights(
            W_q=draw(4, 8), W_k=draw(6 if cross else 4, 4), W_v=draw(6 if cross else 4, 4), extra=tables
        ),
        config=attnlab.AttentionConfig(n_heads=4, n_kv_heads=2, score=name, scale=3.0, positions="sinusoidal"),
        memory_tokens=["x", "y"] if cross else None,
        memory_embeddings=draw(2, 6) if cross else None,
    )
    trace = attnlab.compute(e, dtype="float64")
    expected = by_loops(name, trace["queries"], trace["keys"], tables)
    assert expected.shape == (4, 3, 2 if cross else 3)
    torch.testing.assert_close(trace["scores"], expected, atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(trace["scaled"], expected / 3, atol=1e-10, rtol=1e-10)


def test_additive_attention_with_64_hidden_units_mixes_the_values_by_softmax() -> None:
    draw = drawing(5)
    tables = made("additive", 8, 64, draw)
    e = attnlab.Experiment(
        tokens=[f"t{i}" for i in range(10)],
        embeddings=draw(10, 8),
        weights=attnlab.Weights(extra=tables),
        config=attnlab.AttentionConfig(score="additive", scale="none"),
    )
    trace = attnlab.compute(e, dtype="float64")
    shares = by_loops("additive", e.embeddings[None], e.embeddings[None], tables).exp()
    weights = shares / shares.sum(-1, keepdim=True)
    torch.testing.assert_close(trace["weights"], weights, atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(trace["context"], weights @ e.embeddings, atol=1e-10, rtol=1e-10)


# --- blocks ---------------------------------------------------------------------------------------------------------


class Made(TorchDispatchMode):
    """Records the bytes of each new tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result._base is None:
            self.largest = max(self.largest, result.nbytes)
        return result


@pytest.mark.parametrize("name", ["concat", "additive"])
@pytest.mark.parametrize("block", [1, 700, 5_000, 20_000, 10**9])
def test_computing_in_blocks_does_not_change_the_scores(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = drawing(1)
    queries, keys, tables = draw(3, 7, 2), draw(3, 5, 2), made(name, 2, 6, draw)
    monkeypatch.setattr(score_functions, "BLOCK_BYTES", block)
    scores = SCORES[name].apply(queries, keys, tables)
    torch.testing.assert_close(scores, by_loops(name, queries, keys, tables), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("name", ["concat", "additive"])
@pytest.mark.parametrize("shape", [(8, 40, 40), (1, 90, 30), (40, 3, 30)])
def test_no_temporary_is_larger_than_a_block(
    name: str, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    h, t_q, t_k = shape
    draw = drawing(1)
    queries, keys, tables = draw(h, t_q, 2), draw(h, t_k, 2), made(name, 2, 64, draw)
    block = 2**18
    assert h * t_q * t_k * 64 * 8 > 4 * block
    assert max(h * t_q * t_k, h * t_q * 64, h * t_k * 64) * 8 < block * 3
    monkeypatch.setattr(score_functions, "BLOCK_BYTES", block)
    with Made() as made_tensors:
        SCORES[name].apply(queries, keys, tables)
    assert block / 4 < made_tensors.largest <= max(block, h * t_k * 64 * 8)


# --- what single functions promise ----------------------------------------------------------------------------------


def experiment(**config: Any) -> attnlab.Experiment:
    draw = drawing(2)
    e = attnlab.Experiment(["a", "b", "c"], draw(3, 4), config=attnlab.AttentionConfig(n_heads=2))
    return configure(e, **config)


def test_a_new_general_score_equals_the_dot_product() -> None:
    dot, general = (attnlab.compute(experiment(score=name), dtype="float64") for name in ("dot", "general"))
    assert torch.equal(dot["scores"], general["scores"])


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_the_cosine_of_a_zero_vector_is_zero_in_every_precision(dtype: str) -> None:
    e = replace(experiment(score="cosine"), embeddings=[[0.0, 0.0, 1.0, 2.0], [3.0, 4.0, 0.0, 0.0], [1.0, 0, 0, 1e-3]])
    scores = attnlab.compute(e, dtype=dtype)["scores"]
    assert scores.isfinite().all()
    assert (scores[0, 0] == 0).all()
    assert (scores[0, :, 0] == 0).all()
    assert scores[0, 1, 1].item() == pytest.approx(1.0, abs=1e-2)


def test_a_cosine_does_not_depend_on_lengths() -> None:
    e = experiment(score="cosine")
    longer = replace(e, embeddings=e.embeddings * torch.tensor([[2.0], [30.0], [0.1]]))
    a, b = (attnlab.compute(each, dtype="float64")["scores"] for each in (e, longer))
    torch.testing.assert_close(a, b, atol=1e-10, rtol=1e-10)
    assert a.abs().max() <= 1 + 1e-12


@pytest.mark.parametrize("name", [score.name for score in SCORES.values() if score.tables])
def test_a_missing_table_is_named(name: str) -> None:
    e = experiment()
    tables = made(name, 2, 3, drawing(1))
    for lacking in tables:
        extra = {key: table for key, table in tables.items() if key != lacking}
        with pytest.raises(attnlab.ExperimentError, match=rf"{name} needs {lacking} \[.*missing"):
            replace(e, weights=attnlab.Weights(extra=extra), config=replace(e.config, score=name))


def test_tables_with_different_hidden_units_are_refused_by_name() -> None:
    e, tables = experiment(), made("additive", 2, 3, drawing(1))
    tables["v_a"] = torch.zeros(4)
    with pytest.raises(attnlab.ExperimentError, match=r"v_a has shape \[4\]; .* with hidden = 3, as W_d has"):
        replace(e, weights=attnlab.Weights(extra=tables), config=replace(e.config, score="additive"))


# --- written out ----------------------------------------------------------------------------------------------------


def text_of(e: attnlab.Experiment, limit: int | None = None) -> list[str]:
    return [plain(line) for line in explain(attnlab.compute(e, dtype="float64"), Cell("scores", 0, 1, 0), limit).lines]


def small(score: str, **tables: Any) -> attnlab.Experiment:
    return attnlab.Experiment(
        tokens=["a", "b"],
        embeddings=[[3.0, 4.0], [1.0, -2.0]],
        weights=attnlab.Weights(extra=tables),
        config=attnlab.AttentionConfig(score=score),
    )


def test_an_additive_score_is_explained_for_each_hidden_unit() -> None:
    e = small("additive", W_d=[[0.1, 0.0], [0.0, 0.1]], W_e=[[0.2, 0.0], [0.0, 0.1]], v_a=[2.0, -1.0])
    assert text_of(e) == [
        "v_a·tanh(q W_d + k W_e) = 2.00·tanh(0.30 + 0.20) + (−1.00)·tanh(0.40 + (−0.20))",
        "= 2.00·0.4621 + (−1.00)·0.1974",
        "= 0.7269",
    ]


def test_a_concat_score_is_explained_for_each_hidden_unit() -> None:
    e = small("concat", W_c=[[0.1, 0.0], [0.0, 0.1], [0.2, 0.0], [0.0, 0.1]], v_c=[2.0, -1.0])
    assert text_of(e) == [
        "v_c·tanh([q k] W_c) = 2.00·tanh(0.30 + 0.20) + (−1.00)·tanh(0.40 + (−0.20))",
        "= 2.00·0.4621 + (−1.00)·0.1974",
        "= 0.7269",
    ]


def test_a_general_score_is_explained_as_query_times_table_times_key() -> None:
    assert text_of(small("general", W_a=[[0.0, 1.0], [2.0, 0.0]])) == [
        "q W_a = (8.00, 3.00)",
        "(q W_a)·k = 8.00·1.00 + 3.00·(−2.00)",
        "= 2.0000",
    ]


def test_a_cosine_is_explained_with_both_lengths() -> None:
    assert text_of(small("cosine")) == [
        "q·k ÷ (|q|·|k|) = (3.00·1.00 + 4.00·(−2.00)) ÷ (5.00·2.2361)",
        "= −0.4472",
    ]


def test_the_cosine_of_a_zero_vector_is_explained() -> None:
    nowhere = replace(small("cosine"), embeddings=[[3.0, 4.0], [0.0, 0.0]])
    assert text_of(nowhere) == ["the key is all zeros: it has no direction, so its cosine is set to 0", "= 0.0000"]


@pytest.mark.parametrize("name", SCORES)
def test_numbers_of_query_and_key_have_their_colours(name: str) -> None:
    trace = attnlab.compute(experiment(score=name), dtype="float64")
    spans = [span for line in explain(trace, Cell("scores", 0, 1, 0)).lines for span in line]
    numbers = {span.role for span in spans if any(c.isdigit() for c in span.text)}
    assert {"query", "key"} <= numbers


@pytest.mark.parametrize("name", ["general", "concat", "additive"])
def test_long_sums_are_cut_and_omitted_terms_are_counted(name: str) -> None:
    draw = drawing(1)
    e = attnlab.Experiment(
        tokens=["a", "b"],
        embeddings=draw(2, 12),
        weights=attnlab.Weights(extra=made(name, 12, 12, draw)),
        config=attnlab.AttentionConfig(score=name),
    )
    cut, full = text_of(e, 6), text_of(e)
    assert all("… 7 more …" in line for line in cut[:2])
    assert not any("more" in line for line in full)
