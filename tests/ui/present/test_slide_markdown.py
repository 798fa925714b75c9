"""Slides, notes and the panel read Markdown in the same way, in every lesson."""

import re

import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from attnlab.compute.engine import compute
from attnlab.figures.slides.slide_markdown import LINE_BREAK, read_paragraphs, to_plain_text
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.slides import make_slides
from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.present.content import fill_text

Styled = tuple[tuple[str, str], ...]


def styled(markdown: str) -> list[tuple[str, int, Styled]]:
    """Return mark, level, and text with style of each paragraph."""
    return [
        (each.mark, each.level, tuple((run.text, run.style) for run in each.runs)) for each in read_paragraphs(markdown)
    ]


@pytest.mark.parametrize(
    ("markdown", "runs"),
    [
        ("***both***", (("both", "strong italic"),)),
        ("**bold _in_ it**", (("bold ", "strong"), ("in", "strong italic"), (" it", "strong"))),
        ("__bold__ and _slanted_", (("bold", "strong"), (" and ", ""), ("slanted", "italic"))),
        ("a [link **to**](http://example.org) b", (("a ", ""), ("link to", "link"), (" b", ""))),
        ("<http://example.org>", (("http://example.org", "link"),)),
        ("before ![an image](x.png)after", (("before after", ""),)),
        ("R&amp;D &lt;b&gt; <b>b</b>", (("R&D <b> <b>b</b>", ""),)),
        ("``a ` tick``", (("a ` tick", "code"),)),
        (
            r"W_q, W\_q, `W_q` and `W\_q`",
            (
                ("W", ""),
                ("q", "sub"),
                (", W_q, ", ""),
                ("W_q", "code"),
                (" and ", ""),
                (r"W\_q", "code"),
            ),
        ),
        ("**W_q** of d_model", (("W", "strong"), ("q", "sub"), (" of d_model", ""))),
        ("dW_q by hand, not ddW_q", (("dW", ""), ("q", "sub"), (" by hand, not ddW_q", ""))),
        ("half of\n128. Only the distance counts.", (("half of 128. Only the distance counts.", ""),)),
        ("2 * 3 * 4 = 24", (("2 * 3 * 4 = 24", ""),)),
    ],
)
def test_a_paragraph_is_read_as_markdown(qapp: QApplication, markdown: str, runs: Styled) -> None:
    assert styled(markdown) == [("", 0, runs)]


@pytest.mark.parametrize(
    ("markdown", "read"),
    [
        ("> a quote\n> goes on\n>\n> > within", [("", 1, "a quote goes on"), ("", 2, "within")]),
        ("- a\n  - b\n- c\n\n  more of c", [("•", 0, "a"), ("•", 1, "b"), ("•", 0, "c"), ("", 1, "more of c")]),
        ("3. three\n3. four\n   1) within", [("3.", 0, "three"), ("4.", 0, "four"), ("1)", 1, "within")]),
        ("a\n\n***\n\nb", [("", 0, "a"), ("", 0, ""), ("", 0, "b")]),
        ("***\n***", [("", 0, ""), ("", 0, "")]),
        ("```\nif x:\n    y\n\nz\n```\nend", [("", 0, "if x:\n    y\n\nz"), ("", 0, "end")]),
        ("    indented\n    code", [("", 0, "indented\ncode")]),
        ("# A heading\ntext", [("", 0, "A heading"), ("", 0, "text")]),
        ("A heading\n===\ntext", [("", 0, "A heading"), ("", 0, "text")]),
        ("", []),
        (" \n\n", []),
        ("![only an image](x.png)", []),
    ],
)
def test_blocks_around_paragraphs_are_read_as_markdown(
    qapp: QApplication, markdown: str, read: list[tuple[str, int, str]]
) -> None:
    texts = [
        (mark, level, "".join(text for text, _ in runs).replace(LINE_BREAK, "\n"))
        for mark, level, runs in styled(markdown)
    ]
    assert texts == read
    assert words(to_plain_text(markdown)) == [word for mark, _, text in read for word in words(f"{mark} {text}")]


@pytest.mark.parametrize("name", list_shipped())
def test_slides_and_panel_have_the_same_complete_text(qapp: QApplication, name: str) -> None:
    label = MarkdownLabel()
    for slide in make_slides(find(name)):
        assert slide.experiment is not None
        now, before = compute(slide.experiment), compute(slide.before or slide.experiment)
        for text in (slide.step.text, slide.step.notes):
            markdown = fill_text(text, slide, now, before, markdown=True)
            label.show_markdown(markdown)
            document = QTextDocument()
            document.setHtml(label.text())
            on_slide = " ".join("".join(run.text for run in each.runs) for each in read_paragraphs(markdown))
            assert words(on_slide) == words(document.toPlainText())
            assert words(to_plain_text(markdown)) == words(re.sub(r"[*`\\]", "", markdown))


def words(text: str) -> list[str]:
    """Return the words and numbers of a text; an index is part of its word."""
    return re.findall(r"\w+", text.replace("_", ""))
