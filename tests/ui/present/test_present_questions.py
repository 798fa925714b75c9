"""Questions of a presentation: hidden answers, fields beside the map, feedback."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from attnlab.attention.stages.arithmetic import number
from attnlab.lessons.parse import parse
from tests.ui.present.test_present_window import Key, Lecture

TWO_ANSWERS = """## Guess

```state
preset: journey
```

```question
blank:
  - weights[1, 0]
  - weights[2, 1]
```
"""


def test_a_question_hides_its_answers_until_a_key_shows_them(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_End)
    assert talk.content.ask == "How much does “journey” give to “Your”?"
    assert talk.presentation.parts.answers.isVisible()
    assert [mark[1:] for mark in talk.content.main.marks] == [(1, 0), (1, 1)]  # the others are masked
    assert talk.bars() == {}
    assert talk.arithmetic() == ""
    talk.press(Key.Key_PageDown)
    answer = number(float(talk.person.painted("weights")[0, 1, 0]))
    assert talk.bars()["Your"] == answer
    assert [label for label, text in talk.bars().items() if text == "masked"] == ["starts", "with", "one", "step"]
    assert talk.content.main.marks == ()
    assert talk.arithmetic().endswith(answer)


def test_a_few_answers_are_typed_beside_the_map(lecture: Lecture) -> None:
    text = "## Guess\n\n```state\npreset: journey\n```\n\n```question\nask: How much?\nblank: weights[2, 1]\n```\n"
    talk = lecture(parse(text, "guess"))
    area = talk.presentation.parts.answers
    assert area.isVisible()
    assert talk.presentation.rect().contains(area.geometry())
    field = area.sheet.focusProxy()
    field.setFocus()
    talk.press(Key.Key_Escape, widget=field)  # leaves the field, and the presentation goes on
    assert talk.presentation.isVisible()
    assert talk.presentation.hasFocus()
    QTest.keyClicks(field, number(float(talk.person.painted("weights")[0, 2, 1])))
    QTest.keyClick(field, Key.Key_Return)
    talk.wait()
    assert talk.presentation.presenter.hidden == ()
    assert talk.content.main.marks == ()


def test_a_hint_on_a_slide_has_its_numbers(lecture: Lecture) -> None:
    hint = "{{scaled[2, 1]:.2f}} is the largest score; the weight is {{weights[2, 1]:.2f}}"
    text = f'## Guess\n\n```state\npreset: journey\n```\n\n```question\nblank: weights[2, 1]\nhint: "{hint}"\n```\n'
    talk = lecture(parse(text, "guess"))
    sheet = talk.presentation.parts.answers.sheet
    QTest.mouseClick(sheet.reveal_button, Qt.MouseButton.LeftButton)
    (shown,) = [label.text() for label in sheet.findChildren(QLabel) if "score" in label.text()]
    score = float(talk.person.painted("scaled")[0, 2, 1])
    assert shown.startswith(f"Hint: {score:.2f} is the largest score")
    assert "{{" not in shown
    assert f"{float(talk.person.painted('weights')[0, 2, 1]):.2f}" not in shown, "the answer"


def test_a_row_that_was_asked_for_stays_beside_the_map(lecture: Lecture) -> None:
    text = "## Guess\n\n```state\npreset: journey\nstage: scaled\n```\n\n```question\nblank: scaled[2, :]\n```\n"
    talk = lecture(parse(text, "guess"))
    talk.press(Key.Key_PageDown)
    assert talk.presentation.presenter.hidden == ()
    assert talk.content.row.title == "Scaled scores of “starts”"
    assert talk.bars()["journey"] == number(float(talk.person.painted("scaled")[0, 2, 1]))


def test_the_sum_of_a_questioned_cell_is_hidden(lecture: Lecture) -> None:
    state = "preset: journey\nstage: scores\ncell: [2, 1]\ndepth: term"
    talk = lecture(parse(f"## Guess\n\n```state\n{state}\n```\n\n```question\nblank: scores[2, 1]\n```\n", "guess"))
    key, seen = number(float(talk.person.painted("keys")[0, 1, 1])), [talk.arithmetic()]
    while talk.presentation.presenter.hidden:
        talk.press(Key.Key_Right)
        seen.append(talk.arithmetic())
    assert [key in each for each in seen] == [False] * (len(seen) - 1) + [True]
    assert talk.arithmetic().endswith(number(float(talk.person.painted("scores")[0, 2, 1])))


def test_feedback_on_an_answer_has_large_type(lecture: Lecture) -> None:
    text = "## Guess\n\n```state\npreset: bottleneck-attention\n```\n\n```question\nblank: weights[0, 3]\n```\n"
    talk = lecture(parse(text, "guess"), size=(1920, 1080))
    area = talk.presentation.parts.answers
    field = area.sheet.focusProxy()
    field.setFocus()
    QTest.keyClicks(field, "9")
    QTest.keyClick(field, Key.Key_Return)
    assert [each.text() for each in area.findChildren(QLabel) if each.text().startswith("Not yet.")]
    QTest.keyClick(field, Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, number(float(talk.person.painted("weights")[0, 0, 3])))
    QTest.keyClick(field, Key.Key_Return)
    talk.wait()
    said = [each for each in area.findChildren(QLabel) if each.isVisible()]
    assert [each for each in said if each.text().startswith("Right.")]
    assert all(each.font().pixelSize() >= 0.75 * talk.presentation.view.sheet.body for each in said)
    assert area.verticalScrollBar().maximum() == 0


def test_many_answers_scroll_and_the_focused_field_is_visible(lecture: Lecture) -> None:
    text = (
        "## Guess\n\n```state\npreset: journey\n```\n\n```question\nblank:\n  - weights[1, :]\n  - weights[2, :]\n```\n"
    )
    talk = lecture(parse(text, "guess"), size=(1024, 600))
    area = talk.presentation.parts.answers
    fields = [field for field in area.findChildren(QLineEdit) if field.isVisible()]
    assert len(fields) == 12
    assert talk.presentation.rect().contains(area.geometry())
    last = fields[-1]
    assert area.verticalScrollBar().maximum() > 0
    last.setFocus()
    assert area.viewport().rect().contains(last.mapTo(area.viewport(), last.rect().center()))
    QTest.keyClicks(last, number(float(talk.person.painted("weights")[0, 2, 5])))
    QTest.keyClick(last, Key.Key_Return)
    talk.wait()
    assert len(talk.presentation.presenter.hidden) == 11
    assert area.viewport().rect().contains(fields[0].mapTo(area.viewport(), fields[0].rect().center()))


def test_a_field_is_closed_once_its_answer_is_shown(lecture: Lecture) -> None:
    talk = lecture(parse(TWO_ANSWERS, "guess"))
    area = talk.presentation.parts.answers
    first, last = [field for field in area.findChildren(QLineEdit) if field.isVisible()]
    for field, row, column in ((first, 1, 0), (last, 2, 1)):
        opened = read_frame(field)
        field.setFocus()
        QTest.keyClicks(field, number(float(talk.person.painted("weights")[0, row, column])))
        QTest.keyClick(field, Key.Key_Return)
        talk.wait()
        assert not field.hasFocus()
        assert read_frame(field) != opened, "the box is gone"
        assert read_frame(field) == read_frame(first)
        if field is first:
            assert last.hasFocus()
    assert talk.presentation.hasFocus()
    QTest.mouseClick(last, Qt.MouseButton.LeftButton)
    QTest.keyClick(talk.presentation, Key.Key_Tab)
    assert not first.hasFocus()
    assert not last.hasFocus()


def test_the_key_that_shows_all_answers_closes_fields_begun(lecture: Lecture) -> None:
    talk = lecture(parse(TWO_ANSWERS, "guess"))
    area = talk.presentation.parts.answers
    field = area.sheet.focusProxy()
    QTest.keyClicks(field, number(float(talk.person.painted("weights")[0, 1, 0])))
    QTest.keyClick(field, Key.Key_Return)
    talk.press(Key.Key_Right)
    assert talk.presentation.presenter.hidden == ()
    assert not area.isVisible()
    assert talk.presentation.hasFocus()
    talk.press(Key.Key_Left)
    assert area.isVisible()
    assert [each.isReadOnly() for each in area.findChildren(QLineEdit) if each.isVisible()] == [False, False]


def read_frame(field: QLineEdit) -> set[str]:
    """Return the colours of a field's left and top edges, without the focus ring."""
    had = field.hasFocus()
    field.clearFocus()
    image = field.grab().toImage()
    if had:
        field.setFocus()
    return {image.pixelColor(x, 0).name() for x in range(20, image.width() - 20)}
