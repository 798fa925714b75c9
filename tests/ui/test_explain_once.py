"""The Explain panel writes a cell once for each edit."""

from typing import TYPE_CHECKING

import pytest

from attnlab.attention import edits
from attnlab.ui.playground import explain_panel

if TYPE_CHECKING:
    from tests.ui.conftest import Person


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
