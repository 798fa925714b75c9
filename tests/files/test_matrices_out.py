"""Matrices written as LaTeX, NumPy, Markdown and CSV are read back as the same numbers."""

import csv
import io
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import attnlab
from attnlab.attention.edits import configure, tables
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.base.errors import AttnlabError
from attnlab.files.export.matrix_text import FORMATS, as_csv_text, as_latex, as_markdown, as_numpy, make_input_table
from attnlab.files.export.stage_tables import Table, as_csv, table
from attnlab.files.weights.text_in import read_text

CELLS = {r"\infty": "inf", r"\mathrm{NaN}": "nan", "∞": "inf", "NaN": "nan"}


def number(text: str) -> float:
    text = re.sub(r" \\times 10\^\{(-?\d+)\}", r"e\1", text.strip())
    sign, bare = ("-", text[1:]) if text.startswith("-") else ("", text)
    return float(sign + CELLS.get(bare, bare))


def from_latex(text: str) -> np.ndarray:
    blocks = re.findall(r"\\begin\{array\}\{r+\}\n(.*?)\\end\{array\}", text, re.DOTALL)
    return np.array([[[number(c) for c in row.split("&")] for row in b.split(r"\\")[:-1]] for b in blocks])


def from_numpy(text: str) -> np.ndarray:
    found = eval(text, {"np": np})
    assert isinstance(found, np.ndarray)
    return found if found.ndim == 3 else found[None]


def from_markdown(text: str) -> np.ndarray:
    blocks: list[list[list[float]]] = []
    for before, line in zip(["", *text.splitlines()], text.splitlines(), strict=False):
        if line.startswith("| ---:"):
            blocks.append([])
        elif line.startswith("|") and before.startswith("|"):
            blocks[-1].append([number(cell) for cell in line.strip("|").split("|")])
    return np.array(blocks)


def from_csv(text: str) -> np.ndarray:
    blocks = text.strip("\n").split("\n\n")
    return np.array([[[float(c or "-inf") for c in row] for row in csv.reader(io.StringIO(b))] for b in blocks])


READERS = {"latex": from_latex, "numpy": from_numpy, "markdown": from_markdown, "csv": from_csv}


def plain(values: np.ndarray, masked: np.ndarray | None = None, stage: str = "x") -> Table:
    rows, columns = (tuple(map(str, range(n))) for n in values.shape[-2:])
    return Table(stage, "", ("head", "row", "column")[-values.ndim :], values, masked, rows, columns, rows, columns)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("preset", attnlab.presets())
def test_every_exported_stage_is_read_back(preset: str, kind: str) -> None:
    trace = attnlab.compute(attnlab.preset(preset))
    for stage in trace.all_stages:
        t = table(trace, stage)
        if t.values.size > 1500:
            continue
        exact = READERS[kind](FORMATS[kind](t, None, False)).astype(np.float32)
        np.testing.assert_array_equal(exact, t.maps())
        rounded = READERS[kind](FORMATS[kind](t, 3, False))
        np.testing.assert_allclose(rounded, t.maps(), rtol=1e-3, atol=0.000501)


@given(
    values=arrays.arrays(
        st.sampled_from([np.float64, np.float32]),
        arrays.array_shapes(min_dims=2, max_dims=3, max_side=4),
        elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
    ),
    digits=st.sampled_from([None, 0, 1, 6, 20]),
    kind=st.sampled_from(list(FORMATS)),
)
@settings(max_examples=300, deadline=None)
def test_any_exported_numbers_are_read_back(values: np.ndarray, digits: int | None, kind: str) -> None:
    t = plain(values)
    found = READERS[kind](FORMATS[kind](t, digits, False))
    if digits is None:
        np.testing.assert_array_equal(found.astype(values.dtype), t.maps())
    else:
        most = 10.0**-digits
        with np.errstate(over="ignore"):  # what was rounded up beyond float32
            np.testing.assert_allclose(found, t.maps(), rtol=most, atol=0.5 * most + 1e-12)


def test_a_masked_score_is_written_as_minus_infinity() -> None:
    e = configure(attnlab.preset("journey"), causal=True)
    trace = attnlab.compute(e)
    masked = table(trace, "masked", "mean")
    assert as_latex(masked, 2).splitlines()[1] == r"0.65 & " + r"-\infty & " * 4 + r"-\infty \\"
    assert as_numpy(masked, 2).splitlines()[1] == "    [0.65" + ", -np.inf" * 5 + "],"
    assert as_markdown(masked, 2).splitlines()[2] == "| Your | 0.65 |" + " -∞ |" * 5
    assert as_csv_text(masked, 2).splitlines()[1] == "Your,0.65,,,,,"
    assert as_csv_text(table(trace, "weights", 0), 2).splitlines()[1] == "Your,1.00,0.00,0.00,0.00,0.00,0.00"
    filled = table(attnlab.compute(configure(e, fill="-1e9")), "masked", 0)
    assert as_latex(filled, 1).splitlines()[1].endswith(r"& -1.0 \times 10^{9} \\")


def test_csv_with_all_digits_equals_the_exported_file() -> None:
    for name in ("multi-head-8", "causal-5x8"):
        trace = attnlab.compute(attnlab.preset(name))
        for stage in trace.all_stages:
            ours = list(csv.reader(as_csv_text(table(trace, stage)).splitlines()))
            theirs = list(csv.reader(as_csv(table(trace, stage)).splitlines()))
            lead = trace[stage].ndim - 1
            assert ours[0] == theirs[0]
            for mine, other in zip(ours[1:], theirs[1:], strict=True):
                assert mine[:lead] == other[:lead]
                assert [np.float32(x or "nan") for x in mine[lead:]] == pytest.approx(
                    [np.float32(x or "nan") for x in other[lead:]], abs=0, rel=0, nan_ok=True
                )


def test_only_labels_are_escaped() -> None:
    tokens = ("50%_&$#{}", "a\\b~^<|>", "line\nbreak", " ", "[link](x) *b* `c`")
    e = Experiment(tokens, torch.eye(5))
    weights = table(attnlab.compute(e), "weights", 0)
    latex = as_latex(weights, 1, labels=True).splitlines()
    assert latex[0] == r"\begin{array}{l|rrrrr}"
    assert latex[2].startswith(r"\mbox{50\%\_\&\$\#\{\}} & ")
    assert latex[3].startswith(r"\mbox{a\textbackslash{}b\textasciitilde{}\textasciicircum{}\textless{}\textbar{}")
    assert latex[4].startswith(r"\mbox{line\textbackslash{}nbreak} & ")
    markdown = as_markdown(weights, 1).splitlines()
    assert len(markdown) == 7
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 7 for line in markdown)
    assert markdown[6].startswith(r"| \[link\](x) \*b\* \`c\` | ")
    assert as_numpy(weights, 1, labels=True).splitlines()[4].endswith(r"  # line\nbreak")
    assert from_numpy(as_numpy(weights, labels=True)).shape == (1, 5, 5)
    assert next(csv.reader(io.StringIO(as_csv_text(weights))))[1:] == list(tokens)


def test_numbers_that_would_be_zeros_have_an_exponent() -> None:
    small = plain(np.array([[5.33e-8, -1.7e-9], [0.0, np.nan]], dtype=np.float32))
    rows = as_markdown(small, labels=False).splitlines()[2:]
    assert rows == ["| 5.3300e-08 | -1.7000e-09 |", "| 0.0000 | NaN |"]
    assert r"5.3300 \times 10^{-8} & -1.7000 \times 10^{-9} \\" in as_latex(small)
    beside_a_large_one = plain(np.array([[5.33e-8, 0.5]]))
    assert as_markdown(beside_a_large_one, labels=False).splitlines()[2:] == ["| 0.0000 | 0.5000 |"]


def test_zero_has_no_sign_and_heads_are_distinguished() -> None:
    assert as_latex(plain(np.array([[-0.0001, -0.0, 0.5]])), 2).splitlines()[1] == r"0.00 & 0.00 & 0.50 \\"
    two = plain(np.array([[[1.0]], [[2.0]]]))
    assert as_latex(two, 0).count("% head") == 2
    assert as_markdown(two, 0).split("\n\n")[0] == "**head 0**"
    assert as_csv_text(two, 0) == "head,row,0\n0,0,1\n1,0,2\n"


@pytest.mark.parametrize("name", ["journey", "causal-5x8"])
def test_input_tables_can_be_copied_and_pasted(name: str) -> None:
    e = configure(attnlab.preset(name), score="general")
    for each in tables(e):
        t = make_input_table(e, each)
        pasted = read_text(as_numpy(t))["pasted"].tensor().numpy().astype(np.float32)
        np.testing.assert_array_equal(pasted, t.values)
        pasted = read_text(as_csv_text(t, labels=False))["pasted"].tensor().numpy().astype(np.float32)
        np.testing.assert_array_equal(pasted, t.values)
    assert make_input_table(e, "embeddings").row_labels == e.tokens


def test_an_impossible_copy_is_refused_in_a_sentence() -> None:
    e = Experiment(("a",), [[1.0]], config=AttentionConfig())
    with pytest.raises(AttnlabError, match=r"no table 'W_x' in this layer; there are embeddings, W_q, W_k, W_v"):
        make_input_table(e, "W_x")
    with pytest.raises(AttnlabError, match="digits is 21; it needs a number from 0 to 20"):
        as_latex(make_input_table(e, "W_q"), 21)
