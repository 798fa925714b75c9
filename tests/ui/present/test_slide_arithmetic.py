"""The arithmetic on a slide is correct: both sides of every equation agree."""

import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QPainter

import attnlab
from attnlab.attention import edits
from attnlab.attention.stages.arithmetic import number, short
from attnlab.attention.stages.explain import explain
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.trace import Trace
from attnlab.attention.stages.walk_sources import explain_begun, find_running_sum
from attnlab.figures.palette import PALETTES
from attnlab.figures.slides.slide_content import Runs
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_painter import draw_slide
from attnlab.lessons.exercise import trace_exactly
from attnlab.lessons.library import find
from attnlab.lessons.slides import make_slides
from attnlab.ui.present.content import LIMITS, Moment, make_content
from attnlab.ui.present.slide_arithmetic import write_partial_sum, write_versions
from tests.written import disagreements

QUANTITIES = frozenset(
    re.findall(
        r"\w+",
        "tanh max cos sin more column weights of this row values head the context concatenated heads scaled capped "
        "biased given sinusoidal learned position bias rotated with angle times gain kept score length "
        "mean root square standard deviation",
    )
)
"""The words that may occur in an equation."""


def text(runs: Runs) -> str:
    """Return a line of a slide as plain text; powers as ^{2}, indices as _k."""
    marks = {"sup": "^{%s}", "sub": "_%s"}
    return "".join(marks.get(run.style, "%s") % run.text for run in runs)


def ways(trace: Trace, cell: Cell) -> list[list[str]]:
    """Return the versions of a cell's arithmetic on a slide, as lines of text."""
    return [
        list(map(text, way)) for way in write_versions([explain(trace, cell, limit) for limit in LIMITS], "neutral")
    ]


def cells(trace: Trace) -> list[Cell]:
    """Return cells of every stage: of the first rows and columns and the last, of a head and of the mean."""
    found = []
    for name in trace.all_stages:
        array = trace.array(name)
        heads = [None] if array.ndim == 2 else [0] if len(array) == 1 else [0, len(array) - 1, None]
        rows, columns = ({0, 1, n - 1} & set(range(n)) for n in array.shape[-2:])
        found += [Cell(name, i, j, head) for head in heads for i in sorted(rows) for j in sorted(columns)]
    return found


def check_way(value: float, cell: Cell, way: list[str]) -> int:
    """Check one version of a cell's arithmetic; return the number of compared equations."""
    compared, wrong = disagreements(way)
    assert not wrong, f"{cell}: {way}"
    for line in way:
        left, equals, _ = line.partition("= ")
        words = set(re.findall(r"[^\W\d_]{2,}", left)) if equals else set()
        assert words <= QUANTITIES, f"{cell}: {line!r} is a remark, and equals nothing"
    for side in "\n".join(way).split("="):
        counts = set(map(len, re.findall(r"(?<![\d.])\d+\.(\d{2,})(?![\d.e])", side)))
        assert len(counts) <= 1, f"{cell}: {way} mixes numbers of {counts} decimals"
        assert min(counts, default=4) >= 4
    shown = {number(value), short(value), f"{value:g}"}
    assert any(each in way[-1] for each in shown), f"{cell}: {way} does not come to {number(value)}"
    assert not any(way[i].endswith(way[i + 1]) for i in range(len(way) - 1)), f"{cell}: {way} says it twice"
    return compared


@pytest.mark.parametrize("preset", attnlab.presets())
def test_every_equation_of_a_slide_is_true(preset: str) -> None:
    trace = trace_exactly(attnlab.preset(preset))
    compared = 0
    for cell in cells(trace):
        value = explain(trace, cell).value
        compared += sum(check_way(value, cell, way) for way in ways(trace, cell))
    assert compared > 0


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["journey", "journey-untrained", "multi-head-8", "the-cat-sat", "qk-norm"])
def test_a_bias_is_never_omitted(preset: str) -> None:
    e = edits.toggle_biases(attnlab.preset(preset), True)
    for name in ("b_q", "b_k", "b_v", "b_o"):
        if name in edits.tables(e):
            e = edits.set_block(e, name, 0, 0, [[0.5] * edits.shape(e, name)[1]])
    trace = trace_exactly(e)
    for cell in cells(trace):
        written = ways(trace, cell)
        for way in written:
            check_way(explain(trace, cell).value, cell, way)
        if cell.stage in ("queries", "keys", "values") and cell.head is not None:
            assert any("bias" in line for line in written[0])


@pytest.mark.parametrize(
    ("settings", "remark"),
    [
        ({"temperature": 0.25}, "temperature"),
        ({"scale": 0.01}, "first subtract the maximum"),
        ({"causal": True}, "future"),
    ],
)
def test_remarks_are_not_part_of_an_equation(settings: dict[str, object], remark: str) -> None:
    e = edits.configure(attnlab.preset("journey"), **settings)
    trace = trace_exactly(edits.configure(e, fill="0") if "causal" in settings else e)
    found = False
    for cell in cells(trace):
        found |= any(remark in "".join(span.text for span in line) for line in explain(trace, cell).lines)
        for way in ways(trace, cell):
            check_way(explain(trace, cell).value, cell, way)
            assert not any(remark in line and "=" in line for line in way)
    assert found, "the remark is made"


def test_a_partial_sum_does_not_show_its_result() -> None:
    trace = trace_exactly(attnlab.preset("sparsemax"))
    for column in range(trace.experiment.T_k):
        cell = Cell("weights", 0, column, 0)
        value = number(explain(trace, cell).value)
        for way in write_partial_sum(explain_begun(trace, cell, 0)):
            assert not any(text(line).endswith(f"= {value}") for line in way)
    tempered = trace_exactly(edits.configure(attnlab.preset("journey"), temperature=0.5))
    full, *_ = write_partial_sum(explain_begun(tempered, Cell("weights", 2, 1, 0), 1))
    assert text(full[0]).startswith("e^{")
    assert text(full[1]).startswith("= ")
    finer, cell = trace_exactly(attnlab.preset("whole-block")), Cell("scores", 0, 1, 0)  # its terms have five decimals
    for way in write_partial_sum(explain_begun(finer, cell, 1), find_running_sum(finer, cell, 1)):
        assert "0.67471" in text(way[0])
        assert text(way[-1]) == "so far 0.5142"


def test_a_given_cell_shows_its_value() -> None:
    e = attnlab.preset("journey")
    assert ways(trace_exactly(e), Cell("inputs", 0, 0)) == [["given: 0.4300"], ["= 0.4300"]]
    switched_off = trace_exactly(replace(attnlab.preset("head-ablated")))
    assert ways(switched_off, Cell("context", 0, 0, 1))[0] == [
        "head 1 is switched off: its context is set to 0",
        "= 0.0000",
    ]


def test_a_value_without_its_arithmetic_is_left_to_the_bars(qapp: object) -> None:
    slide = next(slide for slide in make_slides(find("watch-induction-form")) if slide.step.title.startswith("But one"))
    assert slide.experiment is not None
    content = make_content(slide, trace_exactly(slide.experiment), None, Moment())
    assert content.row is not None
    assert [bar.text for bar in content.row.bars if bar.current] == ["0.4830"]
    assert all("÷" in text(way[0]) for way in content.arithmetic)
    image = QImage(QSize(1366, 768), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    assert draw_slide(painter, Sheet(0, 0, 1366, 768), content, PALETTES["light"]).left_out == ()
    painter.end()


@pytest.mark.parametrize(("name", "step", "gap"), [("cross-attention", 3, False), ("bahdanau-luong", 4, True)])
def test_a_sum_of_eight_products_is_written_whole(qapp: object, name: str, step: int, gap: bool) -> None:
    slide = make_slides(find(name), step)[-1]
    assert slide.experiment is not None
    trace = trace_exactly(slide.experiment)
    first, *_ = make_content(slide, trace, trace, Moment()).arithmetic
    assert any("…\u00a04\u00a0more\u00a0…" in text(line) for line in first) is gap  # never broken into two lines
    if gap:  # six of ten terms, but each step
        assert len(first) == 4
    else:
        assert text(first[0]).count("·") == 1 + 8
