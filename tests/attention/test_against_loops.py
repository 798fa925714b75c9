"""Every stage compared with attention written out as loops over plain numbers, for tiny shapes."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab

Matrix = list[list[float]]


@dataclass(frozen=True)
class Case:
    """One random layer as nested lists, with every option that changes the numbers."""

    x: Matrix
    memory: Matrix | None
    weights: dict[str, Any]
    n_heads: int
    n_kv_heads: int
    causal: bool
    mask: list[list[bool]] | None
    scale: str | float

    def experiment(self) -> attnlab.Experiment:
        memory_tokens = None if self.memory is None else [f"m{j}" for j in range(len(self.memory))]
        config = attnlab.AttentionConfig(
            n_heads=self.n_heads, n_kv_heads=self.n_kv_heads, causal=self.causal, mask=self.mask, scale=self.scale
        )
        return attnlab.Experiment(
            tokens=[f"t{i}" for i in range(len(self.x))],
            embeddings=self.x,
            weights=attnlab.Weights(**self.weights),
            config=config,
            memory_tokens=memory_tokens,
            memory_embeddings=self.memory,
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    def size(largest: int) -> int:
        return draw(st.integers(1, largest))

    numbers = st.floats(-2.0, 2.0, width=32)

    def vector(n: int) -> list[float]:
        return draw(st.lists(numbers, min_size=n, max_size=n))

    def matrix(rows: int, columns: int) -> Matrix:
        return [vector(columns) for _ in range(rows)]

    n_kv_heads, group, d_k, d_v = size(2), size(2), size(2), size(2)
    n_heads = n_kv_heads * group
    x = matrix(size(3), size(3))
    memory = matrix(size(3), size(3)) if draw(st.booleans()) else None
    source = x if memory is None else memory
    d_out = size(3)
    shapes = {
        "q": (len(x[0]), n_heads * d_k),
        "k": (len(source[0]), n_kv_heads * d_k),
        "v": (len(source[0]), n_kv_heads * d_v),
        "o": (n_heads * d_v, d_out),
    }
    weights: dict[str, Any] = {f"W_{name}": matrix(*shape) for name, shape in shapes.items()}
    if draw(st.booleans()):
        weights |= {f"b_{name}": vector(shape[1]) for name, shape in shapes.items()}
    allowed = [[draw(st.booleans()) for _ in source] for _ in x]
    return Case(
        x=x,
        memory=memory,
        weights=weights,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        causal=draw(st.booleans()),
        mask=allowed if draw(st.booleans()) else None,
        scale=draw(st.sampled_from(["sqrt_d_k", "none", "sqrt_d_model", 0.5, 3.0])),
    )


def project(rows: Matrix, weight: Matrix, bias: list[float] | None) -> Matrix:
    """Multiply row by row from the left, x @ W + b, term by term."""
    made = []
    for row in rows:
        sums = [sum(row[i] * weight[i][j] for i in range(len(row))) for j in range(len(weight[0]))]
        made.append([s + (bias[j] if bias else 0.0) for j, s in enumerate(sums)])
    return made


def head_columns(rows: Matrix, head: int, n_heads: int) -> Matrix:
    width = len(rows[0]) // n_heads
    return [row[head * width : (head + 1) * width] for row in rows]


def divisor(case: Case, d_k: int) -> float:
    named = {"sqrt_d_k": math.sqrt(d_k), "none": 1.0, "sqrt_d_model": math.sqrt(len(case.x[0]))}
    return named[case.scale] if isinstance(case.scale, str) else case.scale


def is_allowed(case: Case, i: int, j: int) -> bool:
    return (not case.causal or j <= i) and (case.mask is None or case.mask[i][j])


def softmax(numbers: list[float]) -> list[float]:
    largest = max(numbers)
    if largest == -math.inf:
        return [0.0] * len(numbers)
    powers = [math.exp(n - largest) for n in numbers]
    return [power / sum(powers) for power in powers]


def by_loops(case: Case) -> dict[str, Any]:
    """Compute every stage from sums and products of Python floats only."""
    w, source = case.weights, case.x if case.memory is None else case.memory
    q_rows = project(case.x, w["W_q"], w.get("b_q"))
    k_rows = project(source, w["W_k"], w.get("b_k"))
    v_rows = project(source, w["W_v"], w.get("b_v"))
    stages: dict[str, Any] = {name: [] for name in ("queries", "keys", "values", "scores", "scaled", "masked")}
    stages |= {"inputs": case.x, "weights": [], "context": [], "empty_rows": []}
    for head in range(case.n_heads):
        shared = head // (case.n_heads // case.n_kv_heads)
        q = head_columns(q_rows, head, case.n_heads)
        k = head_columns(k_rows, shared, case.n_kv_heads)
        v = head_columns(v_rows, shared, case.n_kv_heads)
        scores = [[sum(a * b for a, b in zip(qi, kj, strict=True)) for kj in k] for qi in q]
        scaled = [[s / divisor(case, len(q[0])) for s in row] for row in scores]
        masked = [[s if is_allowed(case, i, j) else -math.inf for j, s in enumerate(r)] for i, r in enumerate(scaled)]
        weights = [softmax(row) for row in masked]
        context = [[sum(p * vj[c] for p, vj in zip(row, v, strict=True)) for c in range(len(v[0]))] for row in weights]
        made = {"queries": q, "keys": k, "values": v, "scores": scores, "scaled": scaled, "masked": masked}
        for name, value in (made | {"weights": weights, "context": context}).items():
            stages[name].append(value)
        stages["empty_rows"] += [(head, i) for i, row in enumerate(masked) if max(row) == -math.inf]
    side_by_side = [[n for head in stages["context"] for n in head[i]] for i in range(len(case.x))]
    stages["output"] = project(side_by_side, w["W_o"], w.get("b_o"))
    return stages


@settings(deadline=None, max_examples=150)
@given(cases())
def test_every_stage_equals_the_loops(case: Case) -> None:
    trace, expected = attnlab.compute(case.experiment(), dtype="float64"), by_loops(case)
    for name in trace.stages:
        stage = torch.tensor(expected[name], dtype=torch.float64)
        torch.testing.assert_close(trace[name], stage, atol=1e-10, rtol=1e-10, msg=lambda m, n=name: f"{n}: {m}")
    assert sorted(trace.empty_rows) == sorted(expected["empty_rows"])


@settings(deadline=None, max_examples=50)
@given(cases())
def test_the_stages_are_those_that_the_configuration_has(case: Case) -> None:
    absent = set()
    if case.scale == "none":
        absent.add("scaled")
    if case.mask is None and not case.causal:
        absent.add("masked")
    in_order = ["inputs", "queries", "keys", "values", "scores", "scaled", "masked", "weights", "context", "output"]
    trace = attnlab.compute(case.experiment(), dtype="float64")
    assert list(trace.stages) == [name for name in in_order if name not in absent]
