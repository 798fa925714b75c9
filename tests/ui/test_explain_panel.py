"""The Explain panel: the cell's arithmetic, its row as bars, and the row's statistics."""

import math
import re
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QFont, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

import attnlab
from attnlab.attention.edits.batches import select
from attnlab.attention.edits.stack_edits import select_layer
from attnlab.attention.edits.token_edits import rename_token
from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.stages.arithmetic import number, plain
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.walk import Place
from attnlab.document.settings import Settings
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.line_pen import find_pen
from attnlab.ui.playground.example_about import find_about
from attnlab.ui.playground.row_bars import RowBars
from attnlab.ui.playground.steps_view import StepsView
from attnlab.ui.widgets.charts.bars import BarList
from attnlab.ui.widgets.parted_label import PartedLabel
from attnlab.ui.widgets.subscripts import FormulaLabel
from tests.ui.explained import ask_for_formula, read_explained

if TYPE_CHECKING:
    from tests.ui.conftest import Person

INVITATION = "Point at a cell to see how it is computed; click to hold it, Esc to release it."
STAGES = ("inputs", "queries", "keys", "values", "scores", "scaled", "masked", "weights", "context", "output")


def shown(person: "Person") -> list[QLabel]:
    return [label for label in person.playground.explain.findChildren(QLabel) if label.isVisible()]


def labels(person: "Person") -> list[str]:
    return [label.text() for label in shown(person)]


def read(person: "Person", name: str) -> str:
    """Return the text of a label of the panel, as plain text."""
    document = QTextDocument()
    document.setHtml(person.find(QLabel, name, person.playground.explain).text())
    return document.toPlainText()


def arithmetic(person: "Person") -> list[str]:
    """Return the formula with its numbers, which the reader asked for, or the words on a cell without steps."""
    return read(person, "The cell as arithmetic").splitlines()


def steps(person: "Person") -> list[str]:
    """Return the lines of the steps as a screen reader has them, those of the row among them."""
    lists = [w for w in person.playground.explain.findChildren(HasCells) if isinstance(w, QWidget) and w.isVisible()]
    lists.sort(key=lambda w: w.mapTo(person.window, QPoint()).y())
    return [w.name_cell(place) for w in lists for place in range(w.count_cells())]


def said_first(person: "Person") -> str:
    """Return the sentences between the value of the cell and the steps."""
    explain = person.playground.explain
    value = explain._value.y()
    top, end = explain.findChildren(StepsView)[0].y(), explain.viewport().height()
    assert top < end
    labels = [label for label in explain.findChildren(FormulaLabel) if label.isVisible() and value < label.y() < top]
    return " ".join(label.text() for label in labels)


def value(text: str) -> float:
    """Compute a written sum of products."""
    plain = text.replace("−", "-").replace("·", "*").replace("÷", "/").replace("√", "math.sqrt")
    plain = re.sub(r"sqrt(\d+)", r"sqrt(\1)", plain)
    return float(eval(plain, {"math": math}))


def bars(person: "Person") -> BarList:
    return person.find(BarList, "Weights, row of", person.playground.explain)


def bar_texts(person: "Person") -> list[str]:
    return [bars(person).row_text(index) for index in range(person.experiment.T_k)]


def is_invited(person: "Person") -> bool:
    return any(text.endswith(INVITATION) for text in labels(person))


def test_without_a_cell_the_panel_says_what_to_do(person: "Person") -> None:
    assert is_invited(person)
    person.point_at("weights", 0, 0)
    assert not is_invited(person)
    person.leave("weights")
    assert is_invited(person)


@pytest.mark.slow
def test_what_an_example_shows_is_said_while_it_is_that_example(person: "Person") -> None:
    def is_said() -> bool:
        return any(text.startswith("Six words of 3 numbers") for text in labels(person))

    assert is_said()
    person.type_number(1, 1, "2")
    person.settle()
    assert is_said()
    person.write_sentence("seven words are more than six words")
    person.settle()
    assert not is_said()
    assert is_invited(person)
    person.document.undo()
    person.settle()
    assert is_said()


@pytest.mark.parametrize("name", attnlab.presets())
def test_another_sequence_or_layer_keeps_what_an_example_shows(name: str) -> None:
    e, about = attnlab.preset(name), PRESETS[name].about
    assert about
    shown = [select(e, item) for item in range(e.n_items)] + [select_layer(e, layer) for layer in range(e.n_layers)]
    assert [find_about(name, each) for each in shown] == [about] * len(shown)
    assert find_about(name, rename_token(e, 0, "another")) == ""
    assert find_about("", e) == ""


def test_without_a_cell_the_panel_explains_the_weight_of_the_example(person: "Person") -> None:
    weight = float(person.painted("weights")[0, 2, 1])
    assert "starts → journey" in labels(person)
    assert read(person, "Value of the cell") == f"{weight:.4f}"
    assert person.document.view.cell is None
    person.type_number(1, 1, "2")  # the example is computed again with every edit
    person.settle()
    assert read(person, "Value of the cell") == f"{float(person.painted('weights')[0, 2, 1]):.4f}" != f"{weight:.4f}"


def test_without_a_place_the_largest_weight_between_two_tokens_is_explained(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("causal-5x8")
    weights = person.painted("weights")[0] - 2 * np.eye(5)
    row, column = divmod(int(weights.argmax()), 5)
    tokens = person.experiment.tokens
    assert f"{tokens[row]} → {tokens[column]}" in labels(person)


def test_on_a_lens_the_panel_says_what_the_lens_shows(person: "Person") -> None:
    person.playground.lenses.open_lens("cost")
    assert any(text.endswith("Cost: time and memory, measured on this machine.") for text in labels(person))
    person.press("Canvas")
    assert is_invited(person)


def test_every_stage_is_explained_down_to_its_number(
    sit_down: Callable[..., "Person"], subtests: pytest.Subtests
) -> None:
    person = sit_down("causal-5x8")
    for stage in STAGES:
        with subtests.test(stage=stage):
            # without W_o the output is the context, and has no maps of its own; with a mask, one card shows both scores
            own = {"output": person.playground.toggle_output, "scaled": person.playground.toggle_causal}.get(stage)
            if own is not None:
                own()
                person.settle()
            person.point_at(stage, 3, 1)
            number = float(person.painted(stage)[0, 3, 1])
            assert read(person, "Value of the cell") == f"{number:.4f}".replace("-", "−")
            assert person.card(stage).stage.title in labels(person)
            assert steps(person) if stage != "inputs" else arithmetic(person)
            person.leave(stage)
            if own is not None:
                own()
                person.settle()


def test_a_score_is_written_out_with_its_numbers(person: "Person") -> None:
    ask_for_formula(person)
    person.point_at("scores", 2, 1)
    first, total = arithmetic(person)
    assert first == "q·k = 0.43·0.4433 + 1.4343·1.1419"
    assert total == "= 1.8284"
    assert value(first.split("= ")[1]) == pytest.approx(person.painted("scores")[0, 2, 1], abs=1e-4)


def test_a_weight_is_written_with_exponential_sum_and_score(person: "Person") -> None:
    ask_for_formula(person)
    person.click_cell("weights", 2, 1)
    lines = " ".join(arithmetic(person))
    fraction = re.search(r"= ([\d.]+) ÷ ([\d.]+) ", lines)
    assert fraction is not None
    weight = float(person.painted("weights")[0, 2, 1])
    assert float(fraction[1]) / float(fraction[2]) == pytest.approx(weight, abs=1e-4)
    row = np.exp(person.painted("scaled")[0, 2].astype(np.float64))
    written = re.search(r"÷ \(([\d. +]+)\)", lines)
    assert written is not None
    np.testing.assert_allclose([float(n) for n in written[1].split(" + ")], row, atol=1e-4)
    assert "scaled 1.2929 = 1.8284 ÷ √2" in lines
    assert "q·k = 0.43·0.4433 + 1.4343·1.1419" in lines


def test_a_weight_is_written_as_numbered_steps_with_the_numbers_on_the_cards(person: "Person") -> None:
    person.click_cell("weights", 2, 1)
    query, key = person.painted("queries")[0, 2], person.painted("keys")[0, 1]
    scaled, weights = person.painted("scaled")[0, 2], person.painted("weights")[0, 2]
    values = person.painted("values")[0, 1]
    powers = np.exp(scaled.astype(np.float64))
    assert steps(person) == [
        "1 Score, query times key",
        *(f"{q:.4f} times {k:.4f} = {q * k:.4f}" for q, k in zip(query, key, strict=True)),
        f"{person.painted('scores')[0, 2, 1]:.4f}",
        f"2 Scaled over √2: {scaled[1]:.4f}",
        "3 Softmax, e to the scaled over sum of the row",
        *(
            f"Weights, row of “starts”, {token}, {power:.4f}, weight {weight:.4f}"
            for token, power, weight in zip(person.experiment.tokens, powers, weights, strict=True)
        ),
        f"sum: {powers.sum():.4f}, weights 1.0000",
        f"{powers[1]:.4f} over {powers.sum():.4f} = {weights[1]:.4f}",
        "4 Into the context, weight times value",
        *(f"{weights[1]:.4f} times {v:.4f} = {weights[1] * v:.4f}" for v in values),
    ]
    assert "“starts” takes 23\N{NO-BREAK SPACE}% of its new value from “journey”." in [
        label.accessibleName() for label in shown(person)
    ]


def test_during_a_walk_the_steps_end_before_what_is_not_computed_yet(person: "Person") -> None:
    person.click_cell("weights", 2, 1)
    assert "4 Into the context" in read_explained(person)
    person.document.show(depth="cell", at=Place("weights", 2, 1))
    assert "3 Softmax" in read_explained(person)
    assert "Into the context" not in read_explained(person)


def test_the_steps_can_be_walked_with_the_keys(person: "Person") -> None:
    person.click_cell("scores", 2, 1)
    view = person.find(StepsView, "Steps to this cell")
    view.setFocus()
    for key, place in ((Qt.Key.Key_Down, 1), (Qt.Key.Key_End, 3), (Qt.Key.Key_Up, 2), (Qt.Key.Key_Home, 0)):
        QTest.keyClick(view, key)
        assert view.current_cell == place
    assert view.find_cell(view.locate_cell(2).center()) == 2


def test_with_several_heads_the_weight_is_compared_in_every_head(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8")
    person.click_cell("weights", 4, 0, index=2)
    lines = steps(person)
    trace = attnlab.compute(person.experiment)
    weights = trace.array("weights")[:, 4, 0]
    at = lines.index("The same weight in every head")
    assert lines[at + 1 :] == [
        *(f"head {i}: {weight:.4f}" for i, weight in enumerate(weights)),
        f"mean: {weights.mean():.4f}",
    ]


def test_the_sentence_on_the_example_has_subscripts(person: "Person") -> None:
    texts = [getattr(label, "markup", label.text()) for label in shown(person)]
    assert any("vertical-align:sub" in text and "trainable W<span" in text for text in texts)
    assert not any("W_q" in text for text in texts)


def test_a_masked_cell_gives_its_reason(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("causal-5x8")
    person.point_at("masked", 1, 3)
    assert read(person, "Value of the cell") == "−∞"
    assert "“on” comes after “cat”: the future is masked" in steps(person)
    assert bar_texts(person)[2:] == ["masked", "masked", "masked"]


def test_the_explanation_follows_numbers_while_they_are_dragged(person: "Person") -> None:
    person.click_cell("scores", 2, 1)
    seen = [read(person, "Value of the cell")]
    for by in (20, 80):
        person.drag_number(0, 0, by)
        person.settle()
        seen.append(read(person, "Value of the cell"))
        assert seen[-1] == f"{person.painted('scores')[0, 2, 1]:.4f}".replace("-", "−")
    assert len(set(seen)) == 3


def test_the_row_of_weights_is_drawn_as_bars(person: "Person") -> None:
    person.click_cell("weights", 2, 1)
    assert bars(person).accessibleName() == "Weights, row of “starts”"
    assert bar_texts(person) == [f"{weight:.4f}" for weight in person.painted("weights")[0, 2]]


def test_a_click_on_a_bar_selects_its_weight(person: "Person") -> None:
    person.click_cell("scores", 2, 1)
    person.click(bars(person).viewport(), bars(person).row_rect(4).center())
    assert person.document.view.cell == Cell("weights", 2, 4, 0)
    assert person.document.view.pinned


def test_the_statistics_of_the_row_are_shown(person: "Person") -> None:
    person.click_cell("weights", 2, 1)
    row = person.painted("weights")[0, 2].astype(np.float64)
    entropy = float(-(row * np.log(row)).sum())
    assert read(person, "Row: sum") == "1.0000"
    assert read(person, "Row: entropy") == f"{entropy:.4f} of {math.log(6):.4f}"
    assert read(person, "Row: effective tokens") == f"{math.exp(entropy):.2f}"
    assert read(person, "Row: strongest") == person.experiment.tokens[int(row.argmax())]
    assert read(person, "Row: largest") == f"{row.max():.4f}"


@pytest.mark.parametrize(("query", "key"), [(4, 1), (1, 4)])
def test_the_distance_of_a_row_is_counted_from_its_query(person: "Person", query: int, key: int) -> None:
    person.click_cell("weights", query, key)
    row = person.painted("weights")[0, query].astype(np.float64)
    away = float(row @ np.abs(np.arange(6) - query))
    assert read(person, "Row: distance") == f"{away:.2f} tokens"


def test_a_key_has_no_row(person: "Person") -> None:
    person.click_cell("keys", 2, 1)
    names = [w.accessibleName() for w in person.playground.explain.findChildren(QLabel) if w.isVisible()]
    assert not any(name.startswith("Row:") for name in names)
    assert not any(w.isVisible() for w in person.playground.explain.findChildren(BarList))


def test_long_sums_are_cut_and_can_be_written_out(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8")
    ask_for_formula(person)
    person.click_cell("queries", 2, 1, index=3)
    assert "… 59 more …" in arithmetic(person)[1]
    assert any(line.startswith("58 more, together") for line in steps(person))
    person.press("Show every term", QPushButton)
    products = arithmetic(person)[1]
    assert sum(" times " in line and " = " in line for line in steps(person)) == 64
    assert products.count("·") == 64
    assert value(products.removeprefix("= ")) == pytest.approx(person.painted("queries")[3, 2, 1], abs=5e-4)
    person.press("Show every term", QPushButton)
    assert "… 59 more …" in arithmetic(person)[1]


def test_large_type_never_makes_the_steps_wider_than_the_panel(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8", settings=Settings(type_size=175))
    person.window.resize(1366, 768)
    person.click_cell("output", 2, 1)
    panel = person.playground.explain
    token = person.experiment.tokens[2]
    assert panel._row_title.text() == f"ROW OF “{token}”, MEAN OF THE HEADS"
    assert panel._row_title.fontInfo().pixelSize() < panel.fontInfo().pixelSize()
    assert panel._row_title.font().capitalization() == QFont.Capitalization.MixedCase
    assert panel.widget().minimumSizeHint().width() <= panel.viewport().width()


class Overlaps(QObject):
    """Collects the parts of a widget that overlap whenever it is painted."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__(watched)
        self.found: list[tuple[QWidget, QWidget]] = []
        self.paintings = 0
        watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            direct = watched.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
            shown = [part for part in direct if part.isVisible()]
            self.paintings += 1
            self.found += [(a, b) for a, b in combinations(shown, 2) if a.geometry().intersects(b.geometry())]
        return False


def test_the_parts_never_overlap_while_a_longer_explanation_is_laid_out(sit_down: Callable[..., "Person"]) -> None:
    """They were painted once within the height of the explanation before."""
    person = sit_down(size=(1366, 768), settings=Settings(theme="light", type_size=150))
    body = person.playground.explain.widget()
    before, overlaps = body.height(), Overlaps(body)
    person.choose("Heads", "2")
    person.settle()
    person.wait_for(lambda: overlaps.paintings > 0 and body.height() > before)
    assert overlaps.found == []


def test_the_equivalent_line_of_torch_is_shown(person: "Person") -> None:
    person.click_cell("scaled", 2, 1)
    assert read(person, "The same in PyTorch") == "scaled = scores / K.shape[-1] ** 0.5"


def test_copied_code_keeps_its_indentation(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("luong-concat")
    person.click_cell("scores", 0, 1)
    label = person.find(QLabel, "The same in PyTorch")
    code = label.accessibleName().removeprefix("The same in PyTorch: ")
    assert "\n    (Q @ " in code
    label.setSelection(0, len(code))
    assert label.selectedText().replace("\u2029", "\n") == code


def test_a_long_heading_begins_level_with_the_name_of_the_stage(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(
        rename_token(rename_token(attnlab.preset("multi-head-8"), 2, "international"), 1, "representation")
    )
    person.click_cell("weights", 2, 1, index=3)
    where, name = person.find(PartedLabel, "", person.playground.explain), person.find(FormulaLabel, "Weights")
    assert where.lines == ["international → representation", "head\u00a03"]
    person.wait_for(lambda: where.height() > 1.5 * name.height())
    assert abs(where.mapTo(person.window, QPoint()).y() - name.mapTo(person.window, QPoint()).y()) <= 1


def test_with_several_heads_the_explanation_names_the_head(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8")
    person.click_cell("weights", 2, 1, index=3)
    assert any(text.endswith("sat → cat · head\u00a03") for text in labels(person))
    assert bar_texts(person)[1] == f"{person.painted('weights')[3, 2, 1]:.4f}"
    person.choose("Show", "mean")
    assert steps(person)[0] == "Mean of 8 heads"
    ask_for_formula(person)
    assert arithmetic(person)[0] == "the mean of 8 heads"
    assert bars(person).accessibleName() == "Weights, row of “sat”, mean of the heads"
    assert bar_texts(person)[1] == f"{person.painted('weights')[0, 2, 1]:.4f}"


def test_an_empty_row_is_explained(sit_down: Callable[..., "Person"]) -> None:
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[1] = False
    person = sit_down(Experiment(("a", "b", "c"), torch.eye(3), config=AttentionConfig(mask=mask)))
    assert person.painted("weights")[0, 1].tolist() == [0, 0, 0]
    person.click_cell("weights", 1, 0)
    assert "Every key of this row is masked." in said_first(person)
    assert read(person, "Row: strongest") == "none"
    assert any("1 empty" in label.text() for label in person.playground.step_bar.findChildren(QLabel))


def test_a_row_without_a_total_ends_in_nan_and_says_why_first(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(Experiment(("a", "b"), torch.zeros(2, 2), config=AttentionConfig(normalizer="sum")))
    person.click_cell("weights", 1, 0)
    assert said_first(person) == "The scores sum to 0, so the division is undefined."
    assert [text for text in steps(person) if text.startswith("=")] == ["= 0.0000 over 0.0000", "= NaN"]


def test_the_score_of_a_sink_stands_above_the_row_and_its_convention_above_the_steps(
    sit_down: Callable[..., "Person"],
) -> None:
    person = sit_down("attention-sink")
    person.click_cell("weights", 2, 1, index=1)
    assert "as in gpt-oss" in said_first(person)
    told = steps(person)
    title = next(place for place, text in enumerate(told) if "Softmax" in text)
    assert told[title + 1] == "the sink adds the score 1.00"
    assert told[title + 2].startswith("Weights, row of “sat”, The")


def test_tokens_that_look_like_markup_are_shown_literally(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(Experiment(("<b>x</b>", "&amp;"), torch.eye(2), config=AttentionConfig(causal=True)))
    person.click_cell("masked", 0, 1)
    assert "“&amp;” comes after “<b>x</b>”: the future is masked" in steps(person)
    assert any(text == "<b>x</b> → &amp;" for text in labels(person))
    image = person.playground.explain.grab().toImage()
    assert not image.isNull()


def test_a_row_of_hundreds_of_keys_is_shown_as_a_profile(sit_down: Callable[..., "Person"]) -> None:
    e = Experiment([f"t{i}" for i in range(200)], torch.randn(200, 4))
    person = sit_down(e)
    person.click_cell("weights", 100, 50)
    cell = person.document.view.cell
    assert cell is not None
    assert abs(cell.row - 100) <= 1  # a row is hardly higher than a pixel
    assert bars(person).accessibleName() == f"Weights, row of “t{cell.row}”"
    QTest.keyClick(bars(person), Qt.Key.Key_End)
    assert bars(person).accessibleDescription().startswith("t199: ")


def test_the_sum_of_a_row_of_short_tokens_stands_beside_its_name(sit_down: Callable[..., "Person"]) -> None:
    x = torch.tensor([[3.0, 1.0], [2.0, 3.0], [1.0, 0.5]])
    person = sit_down(Experiment(("a", "b", "c"), x))
    person.click_cell("weights", 0, 0)
    bars, pen = person.playground.explain.bars, find_pen(RowBars.strong_role)
    total = next(step.terms[0] for step, _, part in person.playground.explain._last_steps._steps if part == "foot")
    assert total.label == "sum"
    labels = bars._columns()[0]
    assert labels >= pen.measure("sum")
    assert bars.find_parts_end() - pen.measure(plain(total.expression)) >= labels


@pytest.mark.parametrize(
    ("stage", "titles"),
    [
        ("residual", ["Sum"]),
        ("normed_residual", ["1 Mean", "2 Standard deviation", "3 Quotient", "4 Gain and shift"]),
        ("activated", ["Activation"]),
    ],
)
def test_the_stages_of_a_block_are_explained_with_bars(
    sit_down: Callable[..., "Person"], stage: str, titles: list[str]
) -> None:
    person = sit_down("block-after")
    person.click_cell(stage, 1, 2)
    view = person.playground.explain.findChildren(StepsView)[0]
    heads = [item for item in view._items if item.kind == "head"]
    assert [f"{item.number or ''} {item.step.title}".strip() for item in heads] == titles
    bars = [term for step, _, _ in view._steps for term in step.terms if not math.isnan(term.amount)]
    assert bars
    result = view._steps[-1][0].terms[-1].result
    assert result == number(float(attnlab.compute(person.experiment)[stage][1, 2]))
