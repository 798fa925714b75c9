"""Texts of the window have typographic apostrophes, as lessons and help have."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import attnlab
from attnlab.pretrained.shipped import list_shipped

UI = Path(attnlab.__file__).parent / "ui"
STRAIGHT = re.compile(r"[A-Za-z]'[a-z]|s' [a-z]")


def list_strings(code: str) -> Iterator[ast.Constant]:
    """Return the strings of a module, without those that stand alone, such as docstrings."""
    tree = ast.parse(code)
    alone = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in alone:
            yield each


@pytest.mark.slow
def test_no_text_of_the_window_has_a_straight_apostrophe() -> None:
    assert [each.value for each in list_strings('"""It\'s."""\na = f"a token\'s {b}"')] == ["a token's "]
    found = [
        f"{path.relative_to(UI)}:{each.lineno}: {each.value}"
        for path in sorted(UI.rglob("*.py"))
        for each in list_strings(path.read_text(encoding="utf-8"))
        if STRAIGHT.search(str(each.value))
    ]
    assert found == []


def test_no_model_that_ships_is_described_with_a_straight_apostrophe() -> None:
    assert [each.about for each in list_shipped() if STRAIGHT.search(each.about)] == []
