"""The words of a slide: Markdown of the author is formatted, and tokens are shown literally."""

import pytest
import torch
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.edits.descent import choose_loss
from attnlab.attention.stages.trace import Trace
from attnlab.figures.slides.slide_markdown import to_plain_text
from attnlab.figures.subscripts import spans
from attnlab.lessons.lesson import Edit, Lesson, Question, Step
from attnlab.lessons.library import find
from attnlab.lessons.slides import make_slides
from attnlab.lessons.tour import make_tour
from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.present.content import Moment, fill_text, make_content

TOKENS = ("*", "_x_", "**b**", "`c`", "- d", "1. e", "# f", "<b>", "[g](h)", "![i](j)", "~~k~~", "W_q", "&amp;", "\\*")


def lesson_of(token: str) -> Lesson:
    edits = (Edit("tokens", [token, "two"]),)
    text = "{{tokens[0]}} is *first*, `{{tokens[0]}}` in code\n\n- {{tokens[0]}}: **{{tokens[1]}}**"
    step = Step(
        "{{tokens[0]}}!", text, "{{tokens[0]}} *loud*", "journey", edits=edits, question=Question((), "{{tokens[0]}}?")
    )
    return Lesson("own", "Own", (step,))


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_is_shown_literally_on_a_slide(token: str, qapp: object) -> None:
    (slide,) = make_slides(lesson_of(token))
    assert slide.experiment is not None
    trace = Trace(slide.experiment, torch.device("cpu"), torch.float32)
    shown = make_content(slide, trace, trace, Moment())
    assert shown.title == f"{token}!"
    assert shown.ask == f"{token}?"
    assert [run.text for run in shown.title_runs] == [f"{token}!"]
    first, item = shown.text
    assert (first.mark, item.mark) == ("", "•")
    written = "".join(run.text for run in first.runs)
    assert written.startswith(f"{token} is first, ")
    assert [run.text for run in first.runs if run.style == "italic"] == ["first"]
    assert "".join(run.text for run in item.runs) == f"{token}: two"
    assert [run.text for run in item.runs if run.style == "strong"] == ["two"]
    if "`" not in token:
        assert [run.text for run in first.runs if run.style == "code"] == [token]
    assert to_plain_text(fill_text(slide.step.notes, slide, trace, trace, markdown=True)) == f"{token} loud"


def test_marks_of_sentences_are_never_shown(qapp: object) -> None:
    lesson = Lesson("own", "Own", (Step("Own", "{={{weights[2, 1]:.2f}} is most.=} {=So it is.=}", "", "journey"),))
    (slide,) = make_slides(lesson)
    (waiting,) = make_content(slide, None, None, Moment()).text
    assert "".join(run.text for run in waiting.runs) == "… is most. So it is."


def test_titles_and_questions_have_subscripts(qapp: object) -> None:
    asked = Question((), "Which d_k divides?")
    lesson = Lesson("own", "Own", (Step("W_o is missing", "", "", "journey", question=asked),))
    (slide,) = make_slides(lesson)
    shown = make_content(slide, None, None, Moment())
    assert [(run.text, run.style) for run in shown.title_runs] == [("W", ""), ("o", "sub"), (" is missing", "")]
    assert [run.text for run in shown.ask_runs] == ["Which d", "k", " divides?"]


@pytest.mark.parametrize("token", [token for token in TOKENS if "`" not in token])
def test_a_token_is_shown_literally_in_the_panel(token: str, qtbot: QtBot) -> None:
    (slide,) = make_slides(lesson_of(token))
    assert slide.experiment is not None
    trace = Trace(slide.experiment, torch.device("cpu"), torch.float32)
    label = MarkdownLabel()
    qtbot.addWidget(label)
    label.show_markdown(fill_text(slide.step.text, slide, trace, trace, markdown=True))
    document = QTextDocument()
    document.setHtml(label.text())
    lowered = "".join(text for text, _ in spans(token))  # W_q, a name of the field, has its index in any text but code
    assert document.toPlainText().split("\n") == [f"{lowered} is first, {token} in code", f"{lowered}: two"]


def test_the_map_of_a_jacobian_names_its_query(qapp: object) -> None:
    e = choose_loss(attnlab.preset("the-cat-sat"), "weight", loss_query=1)
    slides = {slide.step.stage: slide for slide in make_slides(make_tour(e))}
    contents = [make_content(slides[name], attnlab.compute(e), None, Moment()) for name in ("jacobian", "d_scaled")]
    assert [content.main.title if content.main else "" for content in contents] == ["Jacobian of “cat”", "dScaled"]
    assert contents[1].sources[1].title == "Jacobian of “cat”"


@pytest.mark.parametrize(
    ("step", "title"), [(5, "Weights of “The”, masked after softmax"), (8, "Weights of “cat” after dropout")]
)
def test_the_title_of_bars_names_the_row_before_the_change(qapp: object, step: int, title: str) -> None:
    slide = make_slides(find("classic-mistakes"), step)[-1]
    assert slide.experiment is not None
    trace = attnlab.compute(slide.experiment)
    row = make_content(slide, trace, trace, Moment()).row
    assert row is not None
    assert row.title == title
