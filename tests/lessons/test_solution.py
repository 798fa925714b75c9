"""Worked solutions: every cell of every kind of attention, in Markdown and in well-formed LaTeX."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.stages.arithmetic import Span, number, plain, short
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import AttnlabError, FileError
from attnlab.lessons.exercise import trace_exactly
from attnlab.lessons.solution import LIMIT, WIDEST, find_extent, save, write_latex, write_markdown
from attnlab.lessons.solution_text import escape_latex, escape_markdown, write_latex_line
from tests.lessons.solved import solve
from tests.quick import slow_but

SMALL = (
    "journey",
    "journey-linear",
    "causal-5x8",
    "mask-fill-zero",
    "mask-after-softmax",
    "padding-batch",
    "sliding-window",
    "uneven-heads",
    "attention-sink",
    "qk-norm",
    "head-ablated",
    "cross-attention",
    "bottleneck-attention",
    "rope",
    "alibi",
    "t5-bias",
    "learned-positions",
    "sparsemax",
    "entmax",
    "sigmoid",
    "temperature",
    "dropout",
    "additive",
    "luong-concat",
    "cosine",
)
QUICK = ("journey", "alibi", "multi-head-8")
"""The presets that ``make test`` writes out; those of every stage take a quarter of a minute."""
LARGE = ("loops", "multi-head-8", "grouped-keys")
TOO_LARGE = ("head-average", "sinusoidal-100x128", "saturated")
NASTY = (
    "$x_1$",
    "a&b|c",
    "50%",
    "{",
    "\\end{document}",
    "#~^",
    "Zoë",
    "你",
    "🙂",
    "",
    " ",
    "*b*",
    "<i>",
    "]\n[",
    "\"`'",
)


def of(preset: str) -> Trace:
    return trace_exactly(attnlab.preset(preset))


def check_latex(text: str) -> None:
    """Check what every LaTeX engine needs: ASCII, balanced braces, dollars and environments."""
    assert text.isascii()
    plain = re.sub(r"\\[\\{}$&#_%]", "", text)
    depth = 0
    for character in plain:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    for paragraph in plain.split("\n"):
        assert paragraph.count("$") % 2 == 0, paragraph
    open_: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert not open_
    assert "\\\\\n\n" not in text
    assert len(re.findall(r"\\usepackage", text)) == 1


@pytest.mark.parametrize("preset", slow_but(QUICK, SMALL))
def test_every_stage_and_cell_is_written_out(preset: str) -> None:
    trace = of(preset)
    assert find_extent(trace).rows is None
    text = solve(preset)
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles == [trace.stage(name).title for name in trace.all_stages]
    cells = re.findall(r"^\*\*.* → .*: (\S+)\*\*", text, re.MULTILINE)
    computed = [name for name in trace.all_stages if not is_given(trace, name)]
    values = [x for name in computed for x in trace.array(name).reshape(-1)]
    for name in set(trace.all_stages) - set(computed):  # a table says it
        table = text.split(f"## {trace.stage(name).title}")[1].split("\n## ")[0]
        assert all(escape_markdown(short(x)) in table for x in trace.array(name).reshape(-1))
    assert len(cells) == len(values)
    assert cells == [escape_markdown(number(x)) for x in values]
    assert "more …" not in text


def is_copied(trace: Trace, name: str) -> bool:
    """Whether a stage has the numbers of an earlier one: a projection without weight and bias, one head's context."""
    weights, symbol = trace.experiment.weights, {"queries": "q", "keys": "k", "values": "v", "output": "o"}[name]
    none = getattr(weights, f"W_{symbol}") is None and getattr(weights, f"b_{symbol}") is None
    return none and (symbol != "o" or trace.experiment.n_heads == 1)


def test_numbers_that_are_copied_are_a_table_alone() -> None:
    text = write_markdown(trace_exactly(attnlab.preset("journey-untrained")))
    queries = text.split("## Queries")[1].split("## ")[0]
    assert "$$Q = X$$" in queries
    assert "**" not in queries
    output = text.split("## Output")[1]
    assert "**" not in output
    assert len(text.splitlines()) < 600


def test_all_numbers_of_a_table_have_the_same_decimals() -> None:
    text = write_markdown(trace_exactly(attnlab.preset("journey-untrained")))
    given, computed = text.split("### Embeddings")[1].split("## ")[0], text.split("## Scores")[1].split("**")[0]
    assert "| Your | 0.43 | 0.15 | 0.89 |" in given
    assert "| Your | 0.9995 | 0.9544 | 0.9422 | 0.4753 | 0.4576 | 0.6310 |" in computed


def is_given(trace: Trace, name: str) -> bool:
    """Whether the numbers of a stage are given or those of an earlier stage, not computed, and fit in a table."""
    if name in ("queries", "keys", "values", "output") and is_copied(trace, name):
        return max(trace.array(name).shape[-2:]) <= WIDEST
    head = 0 if trace.stage(name).has_heads else None
    return max(trace.array(name).shape[-2:]) <= WIDEST and all(
        plain(line).startswith("given: ") for line in explain(trace, Cell(name, 0, 0, head), None).lines
    )


@pytest.mark.parametrize("preset", slow_but(QUICK, [*SMALL, *LARGE]))
def test_latex_is_well_formed(preset: str) -> None:
    check_latex(solve(preset, write_latex))


def test_products_are_written_with_their_numbers() -> None:
    text = solve("journey")
    assert "q·k = " in text
    assert "e<sup>" in text
    assert r"$= 2.4278 \div  16.1484$" in solve("journey", write_latex)
    scaled = text.split("## Scaled")[1].split("## ")[0]
    assert "q·k" not in scaled, "what the scores have said is not said again"


@pytest.mark.parametrize("preset", LARGE)
def test_the_solution_of_a_large_layer_is_cut_with_a_note(preset: str) -> None:
    trace, text = of(preset), solve(preset)
    assert f"more than {LIMIT} terms" in text
    assert find_extent(trace).rows is not None
    assert len(text) < 3_000_000


@pytest.mark.parametrize("preset", TOO_LARGE)
def test_a_layer_that_is_too_large_is_refused(preset: str) -> None:
    with pytest.raises(AttnlabError, match="use fewer columns or tokens"):
        write_markdown(of(preset))


@pytest.mark.parametrize("tokens", [NASTY[:5], NASTY[5:10], NASTY[10:]])
def test_tokens_are_escaped_in_both_languages(tokens: tuple[str, ...]) -> None:
    trace = trace_exactly(replace(attnlab.preset("causal-5x8"), tokens=tokens))
    check_latex(write_latex(trace))
    rows = [line for line in write_markdown(trace).splitlines() if line.startswith("| ")]
    cells = {len(re.split(r"(?<!\\)\|", row)) for row in rows}
    assert cells <= {11, 8, 7}, "a token ends a cell of a table"


@given(st.text(max_size=12))
def test_any_text_gives_well_formed_latex(text: str) -> None:
    made = escape_latex(text)
    assert made.isascii()
    plain = re.sub(r"\\[\\{}$&#_%]", "", made)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    line = re.sub(
        r"\\[\\{}$&#_%]", "", write_latex_line((Span(text), Span("2", style="sup"), Span(text, style="strong")))
    )
    assert line.count("{") == line.count("}")
    assert line.count("$") % 2 == 0


def test_arithmetic_is_written_as_mathematics() -> None:
    assert write_latex_line((Span("scaled "), Span("0.5", style="strong"), Span(" = 1 ÷ √4"))) == (
        r"scaled $\mathbf{0.5} = 1 \div  \sqrt{4}$"
    )
    assert write_latex_line((Span("W_q", "query"), Span(", column 3"))) == "$W_{q}$, column $3$"
    assert write_latex_line((Span("1.2e−5"),)) == r"$1.2 \cdot 10^{-5}$"


def test_empty_rows_and_warnings_are_reported() -> None:
    e = attnlab.preset("causal-5x8")
    mask = [[False] * 5] + [[True] * 5] * 4
    text = write_markdown(trace_exactly(replace(e, config=replace(e.config, mask=mask))))
    assert "every key of this row is masked" in text
    assert "Sequence 1 of a batch of 3" in solve("padding-batch")


def test_a_solution_is_saved_completely(tmp_path: Path) -> None:
    e = attnlab.preset("journey")
    text = write_markdown(trace_exactly(replace(e, tokens=("\ud800", *e.tokens[1:]))))
    save(text, tmp_path / "solution.md")
    assert (tmp_path / "solution.md").read_text(encoding="utf-8").startswith("# Worked solution")
    with pytest.raises(FileError, match="cannot be written"):
        save(text, tmp_path / "none" / "solution.md")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not there")
@pytest.mark.parametrize("preset", ["journey", "rope", "alibi", "padding-batch", "additive", "qk-norm"])
def test_pdflatex_compiles_the_solution(preset: str, tmp_path: Path) -> None:
    e = attnlab.preset(preset)
    tokens = [*NASTY, *map(str, range(100))][: e.T_q]
    trace = trace_exactly(replace(e, tokens=tokens) if e.memory_tokens is not None or not e.others else e)
    (tmp_path / "x.tex").write_text(write_latex(trace), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace")
    assert made.returncode == 0, made.stdout[-1500:]
