"""A new stage is one row of the table: it is in the window, Explain, code, figures, lessons, sessions, and is heard."""

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import pytest

import attnlab
from attnlab.attention.stages import presence, table
from attnlab.attention.stages.arithmetic import line
from attnlab.attention.stages.explain import explain
from attnlab.attention.stages.explanation import Cell, make_explanation, result_line, value_of
from attnlab.attention.stages.stage import Stage
from attnlab.attention.stages.walk import stages_of
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.document.saved_view import SavedView, from_plain, to_plain
from attnlab.files.export.script import code
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import make_slides
from attnlab.ui.present.content import Moment, make_content
from tests.attention.test_stage_code import by_code
from tests.ears import names
from tests.ui.explained import read_explained

if TYPE_CHECKING:
    from attnlab.attention.stages.computed import Computed
    from attnlab.attention.stages.explanation import Explanation
    from tests.ui.conftest import Person


def explain_square(trace: "Computed", cell: Cell, limit: int | None) -> "Explanation":
    weight = value_of(trace, cell, "weights")
    return make_explanation(trace, cell, line("the weight times itself"), result_line(trace, cell, weight**2))


SQUARED = Stage(
    "squared", "Squared", "S", ("head", "query", "key"), "attention", "positive", "Each weight times itself.",
    lambda e: "S = A²", lambda t: t["weights"].square(), explain_square, lambda e: "squared = weights.square()",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the row after the weights, for every module that holds the table."""
    at = table.STAGES.index(table.BY_NAME["weights"]) + 1
    before, after = table.STAGES, (*table.STAGES[:at], SQUARED, *table.STAGES[at:])
    replace_table(before, after)
    monkeypatch.setitem(table.BY_NAME, "squared", SQUARED)
    monkeypatch.setitem(presence.SOURCES, "squared", (("weights",),))
    monkeypatch.setattr(table, "_PLANS", WeakKeyDictionary())
    yield
    replace_table(after, before)  # also in modules that the test imported


def replace_table(old: tuple[Stage, ...], new: tuple[Stage, ...]) -> None:
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("STAGES") is old:
            module.STAGES = new  # type: ignore[attr-defined]


def test_it_is_computed_explained_and_written_as_code() -> None:
    e = attnlab.preset("the-cat-sat")
    trace = compute(e)
    assert trace.stages[trace.stages.index("weights") + 1] == "squared"
    assert [stage.name for stage in stages_of(e)] == list(trace.stages)
    np.testing.assert_allclose(by_code(e)["squared"], trace["squared"], atol=1e-6)
    assert ("squared", ("squared = weights.square()",)) in [(stage.name, lines) for stage, lines in code(e).stages]
    said = explain(trace, Cell("squared", 2, 1, 0))
    assert (said.title, said.value) == ("Squared", pytest.approx(trace.array("weights")[0, 2, 1] ** 2))


def test_it_is_a_figure_a_slide_and_part_of_a_session() -> None:
    e = attnlab.preset("the-cat-sat")
    assert "Squared" in bytes(attnlab.figure(e, stage="squared", format="svg")).decode()
    lesson = parse(
        "---\ntitle: Look\n---\n\n## Look\n\n```state\npreset: the-cat-sat\nstage: squared\n```\n\nSee.\n", "look"
    )
    slide = make_slides(lesson)[0]
    assert slide.experiment is not None
    trace = compute(slide.experiment)
    shown = make_content(slide, trace, None, Moment()).main
    assert shown is not None
    assert shown.title.startswith("Squared")
    np.testing.assert_array_equal(shown.data.values, trace.array("squared"))
    saved = SavedView(View(cell=Cell("squared", 2, 1, 0), pinned=True, alone="squared"))
    assert from_plain(to_plain(saved), e)[0].view.cell == Cell("squared", 2, 1, 0)


def test_it_is_a_card_that_is_seen_explained_and_heard(sit_down: "Callable[..., Person]", listening: None) -> None:
    person = sit_down("the-cat-sat")
    np.testing.assert_allclose(person.painted("squared"), person.painted("weights") ** 2, atol=1e-6)
    person.document.select(Cell("squared", 2, 1, 0), pin=True)
    person.settle()
    assert "the weight times itself" in read_explained(person)
    value = person.painted("squared")[0, 2, 1]
    assert f"squared, sat to cat, {value:.4f}" in names(person.card("squared"))
