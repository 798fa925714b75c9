"""The Explain panel writes a cell once for each edit, after the cards, with the row of its own stage."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLabel

import attnlab
from attnlab.attention import edits
from attnlab.attention.stages.explain import Cell
from attnlab.ui.playground import explain_panel

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person


def read_value(person: "Person") -> str:
    """Return the value in Explain."""
    return person.find(QLabel, "Value of the cell").text()


def find_weight(person: "Person", query: int, key: int) -> str:
    """Return a weight of the card, as Explain writes it."""
    return f"{person.painted('weights')[0, query, key]:.4f}"


def test_an_edit_is_explained_once(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    person.click_cell("weights", 1, 2)
    person.settle()
    written: list[object] = []
    explain = explain_panel.explain_in_view

    def count(trace: object, *rest: object) -> object:
        written.append(trace)
        return explain(trace, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(explain_panel, "explain_in_view", count)
    person.document.edit("Set", lambda e: edits.set_block(e, "W_q", 0, 0, [[0.5]]))
    person.settle()
    assert len(written) == 1
    assert written[0] is person.playground.reply.trace  # type: ignore[union-attr]


def test_the_cards_come_first_and_explain_follows_at_once(person: "Person") -> None:
    person.click_cell("weights", 1, 2)
    person.settle()
    before, seen = read_value(person), list[tuple[str, str]]()
    person.playground.computed.connect(lambda _: seen.append((read_value(person), find_weight(person, 1, 2))))
    person.document.edit("Set", lambda e: edits.set_block(e, "W_q", 0, 0, [[2.5]]))
    assert not person.playground.up_to_date
    person.settle()
    assert find_weight(person, 1, 2) != before
    assert seen == [(before, find_weight(person, 1, 2))]
    assert read_value(person) == find_weight(person, 1, 2)


def test_a_cell_chosen_before_explain_has_followed_is_explained_with_the_new_numbers(person: "Person") -> None:
    person.click_cell("weights", 1, 2)
    person.settle()
    written: list[str] = []

    def choose(_reply: object) -> None:
        person.document.select(Cell("weights", 2, 1, 0), pin=True)
        written.append(read_value(person))

    person.playground.computed.connect(choose)
    person.document.edit("Set", lambda e: edits.set_block(e, "W_q", 0, 0, [[2.5]]))
    person.settle()
    assert written == [find_weight(person, 2, 1)]


def test_the_row_of_a_held_cell_is_that_of_its_own_stage(sit_down: "Callable[..., Person]") -> None:
    """Dropout scales the weights that it keeps: its rows do not sum to 1."""
    person = sit_down("dropout")
    kept = attnlab.compute(person.experiment).array("dropped")[0]
    for stage, total in (("weights", 1.0), ("dropped", float(kept[2].sum()))):
        person.document.select(Cell(stage, 2, 1, 0), pin=True)
        person.settle()
        assert person.find(QLabel, "Row: sum").text() == f"{total:.4f}"
    assert total > 1.2
