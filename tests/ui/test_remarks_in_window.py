"""What is odd about the open layer stands below the switches while it holds; conventions stand where they act."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from attnlab.ui.playground.remark_strip import RemarkStrip
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.pill_row import PillRow
from tests.ui.explained import read_explained
from tests.ui.layout_faults import find_layout_faults
from tests.ui.popups import close, popup_of

if TYPE_CHECKING:
    from tests.ui.conftest import Person

ODD = "Unusual here"


def said(person: "Person") -> str:
    """Return the visible sentences below the switches, "" for none."""
    (strip,) = person.window.findChildren(RemarkStrip)
    return person.find(QLabel, ODD).text() if strip.isVisible() else ""


def arithmetic(person: "Person") -> str:
    return read_explained(person)


def test_a_causal_mask_between_two_sequences_is_named_while_it_is_on(person: "Person") -> None:
    assert said(person) == ""
    person.press("Causal")
    person.settle()
    assert said(person) == "", "the mask is at home in one sequence"
    person.press("Second sequence")
    person.settle()
    assert said(person).startswith("The causal mask compares positions in two different sequences")
    person.press("Causal")
    person.settle()
    assert said(person) == ""


@pytest.mark.parametrize(("height", "type_size"), [(1080, 175), (640, 100), (900, 175)])
def test_the_sentence_is_whole_at_every_size_of_type(person: "Person", height: int, type_size: int) -> None:
    person.window.resize(1366, height)
    person.window.change_settings(type_size=type_size)
    person.choose("Score", "cosine")
    person.settle()
    QApplication.processEvents()
    label = person.find(QLabel, ODD)
    assert "Cosines already lie between −1 and 1; dividing by √d_k" in label.text()
    assert find_layout_faults(person.window) == [], "its index is lowered, for one"
    assert label.height() >= label.heightForWidth(label.width())


def test_a_low_window_has_one_line_which_unfolds(person: "Person") -> None:
    person.window.resize(1024, 640)
    person.window.change_settings(type_size=175)
    person.choose("Score", "cosine")
    person.settle()
    QApplication.processEvents()
    bar = person.playground.top_bar
    whole = bar.heightForWidth(bar.width())
    assert bar.height() >= whole, "the switches are not cut"
    line = person.find(ElidedLabel, ODD)
    assert line.visible_text.endswith("…")
    tip = person.tip(line, line.rect().center())
    assert "Cosines already lie between" in tip
    assert "√d<sub>k</sub>" in tip
    assert find_layout_faults(person.window) == []
    person.press("Show whole sentences")
    QApplication.processEvents()
    label = person.find(QLabel, ODD)
    assert label.height() >= label.heightForWidth(label.width())
    person.press("Show one line")
    assert person.find(ElidedLabel, ODD).isVisible()


def test_two_oddities_are_two_lines_and_stay_above_a_lens(person: "Person") -> None:
    person.choose("Score", "cosine")
    person.press("Second sequence")
    person.press("Causal")
    person.settle()
    assert len(said(person).splitlines()) == 2
    person.press("Statistics")
    assert len(said(person).splitlines()) == 2


def test_rope_says_which_columns_are_a_pair_where_it_is_chosen_and_where_it_acts(person: "Person") -> None:
    popup = popup_of(person, "Positions")
    (row,) = (row for row in popup.findChildren(PillRow) if row.text() == "RoPE")
    assert "as in the transformers library; the paper and Meta’s files pair" in row.accessibleDescription()
    close(person, "Positions")
    person.choose("Positions", "RoPE")
    person.settle()
    person.point_at("rotated_queries", 1, 0)
    assert "Meta’s files pair neighbours" in arithmetic(person)
    person.point_at("queries", 1, 0)
    assert "neighbours" not in arithmetic(person)


def test_a_sink_says_whose_it_is(person: "Person") -> None:
    person.playground.open_preset("attention-sink")
    person.settle()
    person.point_at("weights", 1, 0)
    assert "as in gpt-oss; at 0 it is softmax-off-by-one" in arithmetic(person)
