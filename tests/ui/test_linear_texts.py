"""Readers of a lesson's text for window and slides take linear time."""

from pathlib import Path
from typing import Any

import pytest

from attnlab.figures.slides.slide_markdown import read_paragraphs
from attnlab.figures.subscripts import spans
from attnlab.ui.lessons.draft_files import find_free_path
from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.present import content
from tests.hostile_texts import Parser, out_of_proportion

SLIDE: Any = None
"""Not used before anything is computed."""
PARSERS: dict[str, Parser] = {
    "paragraphs": read_paragraphs.__wrapped__,
    "placeholders of a slide": lambda text: content.fill_text("{{" + text, SLIDE, None, None),
    "indices": spans,
    "the name of a file": lambda text: find_free_path(Path("nowhere"), text),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSERS)
def test_reading_a_text_takes_linear_time(name: str, qapp: object) -> None:
    assert out_of_proportion(PARSERS[name]) == []


def test_markdown_in_a_label_takes_linear_time(qapp: object) -> None:
    label = MarkdownLabel()
    assert out_of_proportion(label._make_html) == []


def test_a_single_letter_may_be_bold(qapp: object) -> None:
    (one,) = read_paragraphs("**a** and **b** **never closed")
    assert [(run.text, run.style) for run in one.runs] == [
        ("a", "strong"),
        (" and ", ""),
        ("b", "strong"),
        (" **never closed", ""),
    ]
