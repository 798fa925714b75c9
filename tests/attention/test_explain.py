"""The explanation of a cell: its value equals the trace's, and its arithmetic gives that value."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

import attnlab
from attnlab.attention.axes import label
from attnlab.attention.stages.arithmetic import LARGE, LIMIT, Span, number, plain, short
from attnlab.attention.stages.explain import Cell, Explanation, explain
from tests import written

# --- reading the page back ------------------------------------------------------------------------------------------


def agree(a: written.Interval, b: written.Interval) -> bool:
    """Whether the intervals overlap, within the last bits of float32."""
    slack = 1e-5 * max(1.0, abs(a[0]), abs(b[0])) if math.isfinite(a[0]) else 0.0
    return a[0] <= b[1] + slack and b[0] <= a[1] + slack


def assert_arithmetic_holds(explanation: Explanation) -> None:
    """Check that every equation is true within the digits printed, and that the first or the last gives the value."""
    lines = list(map(plain, explanation.lines))
    text = "\n".join(lines)
    read = [
        [value for side in sides if (value := written.value_of(side)) is not None] for sides in written.equations(lines)
    ]
    chains = [values for values in read if values]
    for values in chains:
        assert all(agree(values[0], value) for value in values), text
    value = (explanation.value, explanation.value)
    assert any(agree(chain[-1], value) for chain in (*chains[:1], *chains[-1:])), f"{explanation.value}\n{text}"


def test_a_false_equation_is_noticed() -> None:
    trace = attnlab.compute(attnlab.preset("whole-block"))
    explanation = explain(trace, Cell("normed_inputs", 0, 0), None)
    assert_arithmetic_holds(explanation)
    given = [plain(each).rpartition("= ") for each in explanation.lines]
    ends = [i for i, (_, equals, end) in enumerate(given) if equals and written.value_of(end) is not None]
    assert len(ends) == 5  # the mean, the mean square, the deviation, the division and its result
    for i in ends:
        false = Span(f"{given[i][0]}= 7.1234")
        lines = (*explanation.lines[:i], (false,), *explanation.lines[i + 1 :])
        with pytest.raises(AssertionError):
            assert_arithmetic_holds(replace(explanation, lines=lines))


@pytest.mark.parametrize("name", ["journey", "qk-norm", "rope", "block-llama", "attention-sink"])
def test_no_result_is_written_twice(name: str) -> None:
    trace = attnlab.compute(attnlab.preset(name))
    for stage in trace.all_stages:
        lines = [plain(each) for each in explain(trace, Cell(stage, 1, 1, 0), None).lines]
        assert not any(line.endswith(lines[-1]) for line in lines[:-1] if lines[-1].startswith("= ")), lines


# --- layers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """The sizes and switches of a random layer."""

    seed: int
    h_kv: int
    group: int
    d_k: int
    d_v: int
    size: float
    cross: bool
    biases: bool
    trained: bool
    causal: bool
    masked: bool
    scale: str | float
    normalizer: str
    positions: str


options = st.builds(
    Options,
    seed=st.integers(0, 10**6),
    h_kv=st.integers(1, 2),
    group=st.integers(1, 2),
    d_k=st.integers(1, 3),
    d_v=st.integers(1, 3),
    size=st.sampled_from([1e-3, 1.0, 30.0]),
    cross=st.booleans(),
    biases=st.booleans(),
    trained=st.booleans(),
    causal=st.booleans(),
    masked=st.booleans(),
    scale=st.sampled_from(["sqrt_d_k", "sqrt_d_model", "none", 2.5]),
    normalizer=st.sampled_from(["softmax", "sum"]),
    positions=st.sampled_from(["none", "sinusoidal"]),
)


def layer(o: Options) -> attnlab.Experiment:
    g = torch.Generator().manual_seed(o.seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    h_kv, h = (o.h_kv, o.h_kv * o.group) if o.trained else (o.h_kv, o.h_kv)
    t_q, t_k, d_model = 3, 2 if o.cross else 3, 3 if o.trained else h * o.d_k
    d_memory = 2 if o.cross and o.trained else d_model
    widths = {"q": h * o.d_k, "k": h_kv * o.d_k, "v": h_kv * o.d_v, "o": 2}
    rows = {"q": d_model, "k": d_memory, "v": d_memory, "o": h * o.d_v}
    if not o.trained:
        widths = dict.fromkeys("qkvo", d_model)
    weights = {f"W_{name}": draw(rows[name], widths[name]) for name in "qkvo"} if o.trained else {}
    weights |= {f"b_{name}": draw(widths[name]) for name in "qkvo"} if o.biases else {}
    mask = torch.rand(t_q, t_k, generator=g) < 0.5 if o.masked else None
    return attnlab.Experiment(
        tokens=["a", "b", "c"],
        embeddings=draw(t_q, d_model) * o.size,
        weights=attnlab.Weights(**weights),
        config=attnlab.AttentionConfig(
            n_heads=h,
            n_kv_heads=h_kv,
            causal=o.causal,
            mask=mask,
            scale=o.scale,
            normalizer=o.normalizer,
            positions=o.positions,
        ),
        memory_tokens=["x", "y"] if o.cross else None,
        memory_embeddings=draw(t_k, d_memory) * o.size if o.cross else None,
    )


def cells(trace: attnlab.Trace, most: int = 10**9) -> Iterator[Cell]:
    """Yield every cell of every stage, for each head and the mean, with a limit of rows and columns."""
    for name in trace.stages:
        *heads, rows, columns = trace[name].shape
        for head in [None, *range(heads[0] if heads else 0)]:
            for row in sorted({*range(min(rows, most)), rows - 1}):
                for column in sorted({*range(min(columns, most)), columns - 1}):
                    yield Cell(name, row, column, head)


def value_of(trace: attnlab.Trace, cell: Cell) -> float:
    stage = trace[cell.stage]
    if cell.head is not None:
        return float(stage[cell.head, cell.row, cell.column])
    return float(stage[..., cell.row, cell.column].mean())


def text_of(trace: attnlab.Trace, cell: Cell, limit: int | None = None) -> str:
    return "\n".join(map(plain, explain(trace, cell, limit).lines))


# --- properties -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in attnlab.presets() if name != "head-average"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_arithmetic_of_every_preset_holds(name: str, dtype: str) -> None:
    trace = attnlab.compute(attnlab.preset(name), dtype=dtype)
    for cell in cells(trace, most=2):
        explanation = explain(trace, cell, None)
        assert explanation.cell == cell
        assert explanation.value == pytest.approx(value_of(trace, cell), rel=1e-5, abs=1e-7, nan_ok=True)
        if plainly_written(trace, cell):
            assert_arithmetic_holds(explanation)


def plainly_written(trace: attnlab.Trace, cell: Cell) -> bool:
    """Whether this reader understands a cell's explanation; other entries are tested elsewhere."""
    config = trace.experiment.config
    special = (config.score, config.normalizer, config.option("fill")) != ("dot", "softmax", "-inf")
    plain_heads = not config.options and not config.ablated and config.qk_norm == "none"
    return not special and plain_heads and config.positions in ("none", "sinusoidal")


@settings(max_examples=60)
@given(options)
def test_the_arithmetic_of_every_layer_holds(o: Options) -> None:
    trace = attnlab.compute(layer(o), dtype="float64")
    for cell in cells(trace):
        explanation = explain(trace, cell, None)
        expected = value_of(trace, cell)
        assert explanation.value == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
        if abs(expected) < 1e6 and (cell.stage != "weights" or o.normalizer == "softmax"):
            assert_arithmetic_holds(explanation)


@settings(max_examples=30)
@given(options, st.integers(2, 8))
def test_with_a_limit_the_written_and_the_omitted_terms_add_up_to_all(o: Options, limit: int) -> None:
    e = layer(o)
    trace = attnlab.compute(e)
    sums = {"scores": e.d_k, "context": e.T_k}
    for name, terms in sums.items():
        for head in range(e.n_heads):
            full = text_of(trace, Cell(name, 0, 0, head))
            cut = text_of(trace, Cell(name, 0, 0, head), limit)
            left_out = sum(int(count) for count in re.findall(r"… (\d+) more …", cut))
            first_line = [line for line in cut.splitlines() if "·" in line and re.search(r"\d·|\)·", line)][-1]
            written = len(re.findall(r"[\d)]·", first_line))
            assert written + left_out == terms
            assert written <= limit
            assert "more" not in full


def test_at_most_six_terms_are_written_by_default() -> None:
    trace = attnlab.compute(attnlab.preset("head-average"))
    text = "\n".join(map(plain, explain(trace, Cell("queries", 0, 0, 0)).lines))
    assert len(re.findall(r"[\d)]·", text)) == LIMIT - 1
    assert "… 507 more …" in text
    weights = "\n".join(map(plain, explain(trace, Cell("weights", 0, 7, 0)).lines))
    assert re.search(r"e\^{[^}]*} ÷ \(.*… \d+ more ….*e\^{", weights)


# --- what is written ------------------------------------------------------------------------------------------------


def test_a_score_is_written_as_products_of_query_and_key() -> None:
    trace = attnlab.compute(attnlab.preset("journey"))
    q, k = trace["queries"][0, 2].tolist(), trace["keys"][0, 1].tolist()
    products = " + ".join(f"{short(a)}·{short(b)}" for a, b in zip(q, k, strict=True))
    explanation = explain(trace, Cell("scores", 2, 1, 0))
    assert plain(explanation.lines[0]) == f"q·k = {products}"
    assert plain(explanation.lines[1]) == f"= {number(float(trace['scores'][0, 2, 1]))}"
    assert (explanation.title, explanation.labels) == ("Scores", ("starts", "journey"))
    roles = {span.role for span in explanation.lines[0] if span.text[0].isdigit()}
    assert roles == {"query", "key"}


def test_a_weight_is_written_as_its_exponential_over_the_sum_of_the_row() -> None:
    trace = attnlab.compute(attnlab.preset("the-cat-sat"))
    lines = text_of(trace, Cell("weights", 1, 0, 0)).splitlines()
    assert lines[0].startswith("e^{")
    assert lines[2].endswith(number(float(trace["scaled"][0, 1].double().exp().sum())))
    assert any(line.startswith("scaled ") and line.endswith("÷ √4") for line in lines)
    assert any(line.startswith("score q·k = ") for line in lines)


def test_large_scores_are_written_minus_their_maximum() -> None:
    x = [[40.0, 0.0], [39.0, 1.0]]
    trace = attnlab.compute(attnlab.Experiment(tokens=["a", "b"], embeddings=x, config=config(scale=10.0)))
    text = text_of(trace, Cell("weights", 0, 1, 0))
    assert float(trace["scaled"].max()) > LARGE
    assert "160.0000, from all scores" in text
    assert "e^{−4.00} ÷ (e^{0.00} + e^{−4.00})" in text
    assert_arithmetic_holds(explain(trace, Cell("weights", 0, 1, 0), None))


def config(**changes: Any) -> attnlab.AttentionConfig:
    return attnlab.AttentionConfig(**changes)


def small(embeddings: Any = ((1.0, 2.0), (3.0, 4.0)), **changes: Any) -> attnlab.Trace:
    rows = torch.as_tensor(embeddings, dtype=torch.float64)
    e = attnlab.Experiment(
        tokens=["a", "b", "c"][: len(rows)],
        embeddings=rows,
        weights=changes.pop("weights", attnlab.Weights()),
        config=config(**changes),
    )
    return attnlab.compute(e, dtype="float64")


def test_a_masked_cell_gives_its_reason() -> None:
    trace = small(causal=True, mask=[[True, False], [False, True]])
    assert "“b” comes after “a”" in text_of(trace, Cell("masked", 0, 1, 0))
    assert "and the mask does not allow this pair" in text_of(trace, Cell("masked", 0, 1, 0))
    assert text_of(trace, Cell("masked", 1, 0, 0)).splitlines() == ["the mask does not allow this pair", "= −∞"]
    assert "e^{−∞} = 0" in text_of(trace, Cell("weights", 1, 0, 0))
    assert "allowed: unchanged" in text_of(trace, Cell("masked", 1, 1, 0))


def test_an_empty_row_is_explained() -> None:
    trace = small(mask=[[False, False], [True, True]])
    assert text_of(trace, Cell("weights", 0, 1, 0)).splitlines() == ["every key of this row is masked", "= 0"]
    assert explain(trace, Cell("weights", 0, 1, 0)).value == 0.0


def test_the_explanation_of_an_overflowed_row_says_nan() -> None:
    for embeddings in ([[1e200, 1.0], [1e200, 1.0]], [[1e200, 0.0], [-1e200, 0.0]]):
        trace = small(embeddings)
        for column in (0, 1):
            explanation = explain(trace, Cell("weights", 0, column, 0))
            assert math.isnan(explanation.value)
            assert [plain(line) for line in explanation.lines][:2] == [
                "the scores of this row contain ∞ or NaN, so the weights are undefined",
                "= NaN",
            ]


def test_plain_sum_weights_are_written_as_score_over_sum() -> None:
    trace = small(normalizer="sum", scale="none", causal=True)
    assert text_of(trace, Cell("weights", 1, 0, 0)).splitlines()[:2] == [
        "11.00 ÷ (11.00 + 25.00)",
        "= 11.0000 ÷ 36.0000",
    ]
    assert "masked: counts as 0" in text_of(trace, Cell("weights", 0, 1, 0))


def test_identities_and_biases_are_named() -> None:
    biased = attnlab.Weights(b_q=[0.5, -0.25], b_o=[1.0, 0.0])
    trace = small(weights=biased)
    assert text_of(trace, Cell("queries", 1, 1, 0)).splitlines() == [
        "q = x[1] = 4.00",
        "W_q is the identity: untrained",
        "+ bias (−0.25)",
        "= 3.7500",
    ]
    assert text_of(trace, Cell("output", 0, 0)).splitlines()[0] == "column 0 of the context"
    assert "+ bias 1.00" in text_of(trace, Cell("output", 0, 0))


def test_an_output_that_is_the_context_gives_its_number_once() -> None:
    trace = small()
    same = number(float(trace["context"][0, 1, 0]))
    assert text_of(trace, Cell("output", 1, 0)).splitlines() == ["column 0 of the context", f"= {same}"]


def test_inputs_are_written_as_embedding_plus_position() -> None:
    trace = small(positions="sinusoidal")
    added = math.sin(1.0)
    assert text_of(trace, Cell("inputs", 1, 0)).splitlines() == [
        "given + sinusoidal position 1",
        f"= 3.00 + {short(added)} = {number(3.0 + added)}",
    ]
    assert text_of(small(), Cell("inputs", 1, 0)) == "given: 3.00"


@pytest.mark.parametrize(("column", "head", "of_head"), [(0, 0, 0), (3, 0, 3), (4, 1, 0), (6, 1, 2)])
def test_a_merged_number_names_its_head_and_column(column: int, head: int, of_head: int) -> None:
    rows = torch.arange(24.0, dtype=torch.float64).reshape(3, 8).sin()
    lines = [
        text_of(small(rows, n_heads=2, weights=attnlab.Weights(W_o=torch.eye(8))), Cell("merged", 1, column)),
        text_of(trace := small(rows, n_heads=2), Cell("output", 1, column)),
    ]
    assert [text.splitlines()[0] for text in lines] == [f"head {head}, column {of_head} of the context"] * 2
    value = number(float(trace["context"][head, 1, of_head]))
    assert [text.splitlines()[-1] for text in lines] == [f"= {value}"] * 2


def test_the_mean_over_heads_writes_every_head() -> None:
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    explanation = explain(trace, Cell("weights", 3, 4), None)
    heads = trace["weights"][:, 3, 4].tolist()
    assert explanation.value == pytest.approx(sum(heads) / 8, rel=1e-6)
    assert plain(explanation.lines[0]) == "the mean of 8 heads"
    assert plain(explanation.lines[1]) == f"({' + '.join(map(short, heads))}) ÷ 8"


def test_the_mean_over_one_head_equals_the_head() -> None:
    trace = small()
    mean, head = explain(trace, Cell("scores", 0, 1)), explain(trace, Cell("scores", 0, 1, 0))
    assert (mean.value, mean.lines) == (head.value, head.lines)
    assert mean.cell == Cell("scores", 0, 1)


def test_the_mean_of_opposite_infinities_is_nan() -> None:
    trace = small(((1e200, 1e200), (1e200, -1e200)), n_heads=2, scale="none")
    assert math.isnan(explain(trace, Cell("scores", 0, 1)).value)
    assert trace.mean("scores").flags.writeable is False


@pytest.mark.parametrize(
    "cell", [Cell("scores", 2, 0, 0), Cell("scores", 0, 2, 0), Cell("scores", -1, 0, 0), Cell("scores", 0, 0, 1)]
)
def test_a_cell_outside_the_stage_raises(cell: Cell) -> None:
    with pytest.raises(IndexError, match="scores"):
        explain(small(), cell)


def test_an_absent_stage_raises() -> None:
    with pytest.raises(KeyError, match="masked"):
        explain(small(), Cell("masked", 0, 0, 0))


def test_axes_are_labelled_by_tokens_and_numbers() -> None:
    e = attnlab.Experiment(["q"], [[1.0]], memory_tokens=["k0", "k1"], memory_embeddings=[[1.0], [2.0]])
    assert [label(e, "query", 0), label(e, "token", 0), label(e, "key", 1)] == ["q", "q", "k1"]
    assert label(e, "d_k", 5) == "5"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0.0000"),
        (-0.0, "0.0000"),
        (1.5, "1.5000"),
        (-1.5, "−1.5000"),
        (12345.678, "12345.6780"),
        (1e-5, "1.000e−5"),
        (-2.5e7, "−2.500e7"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "NaN"),
        (np.float32(0.1), "0.1000"),
    ],
)
def test_numbers_are_written_with_four_decimals_or_as_powers(value: float, expected: str) -> None:
    assert number(value) == expected


class Converted(TorchDispatchMode):
    """Records the number of elements of each conversion to another dtype or device."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten._to_copy.default:
            self.sizes.append(result.numel())
        return result


@pytest.mark.parametrize("stage", ["queries", "keys", "values", "output"])
def test_explaining_one_cell_rounds_one_column_only(stage: str) -> None:
    trace = attnlab.compute(attnlab.preset("head-average"), dtype="bfloat16")
    for name in trace.stages:
        trace.array(name)
    with Converted() as converted:
        explain(trace, Cell(stage, 1, 2, None if stage == "output" else 3))
    assert 1 <= max(converted.sizes) <= 512


def test_masked_cells_are_shown_only_in_stages_that_the_mask_affects() -> None:
    trace = attnlab.compute(attnlab.preset("causal-5x8"))
    shown = {name: trace.find_shown_mask(name) for name in trace.stages}
    assert {name for name, mask in shown.items() if mask is not None} == {"masked", "weights"}
    np.testing.assert_array_equal(shown["weights"], np.triu(np.ones((5, 5), dtype=bool), 1))
    assert attnlab.compute(attnlab.preset("journey")).find_shown_mask("weights") is None
