"""A label shows indices as subscripts, large enough to read, and says the plain text to a screen reader."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.ui.base.theme import apply_theme, font
from attnlab.ui.widgets.formula_items import FormulaChoice
from attnlab.ui.widgets.parted_label import PartedLabel
from attnlab.ui.widgets.subscripts import FormulaLabel


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    yield qapp
    apply_theme(qapp, "light", 100)


def read(label: FormulaLabel) -> str:
    """Return the text as it is seen."""
    document = QTextDocument()
    document.setHtml(label.markup)
    return document.toPlainText()


def find_size(label: FormulaLabel) -> float:
    """Return the size of the subscripts in pixels, of which Qt draws two thirds."""
    return int(re.findall(r"font-size:(\d+)px", label.markup)[0]) * 2 / 3


def test_indices_are_subscripts_and_the_rest_is_as_written(qtbot: QtBot) -> None:
    label = FormulaLabel("x_i,a · M_a,b, with 1 < 2 & W_q in some_name")
    qtbot.addWidget(label)
    assert read(label) == "xi,a · Ma,b, with 1 < 2 & Wq in some_name"
    assert len(re.findall("vertical-align:sub", label.markup)) == 3
    assert label.accessibleName() == "x_i,a · M_a,b, with 1 < 2 & W_q in some_name"
    label.setText("W_k\nd_k")
    assert (read(label), label.text(), label.accessibleName()) == ("Wk\ndk", "W_k\nd_k", "W_k\nd_k")


def test_a_long_word_takes_several_lines_and_is_cut_nowhere(qtbot: QtBot) -> None:
    word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"
    sentence, place = FormulaLabel(f"“sat” takes 16 % from “{word}”."), PartedLabel("muted")
    for label in (sentence, place):
        qtbot.addWidget(label)
        label.setFixedWidth(160)
    place.show_parts(f"sat → {word}", "head 1")
    for label in (sentence, place):
        assert word in label.text()
        assert label.minimumSizeHint().width() <= 160
        assert label.heightForWidth(160) >= 3 * label.fontMetrics().height()
    assert place.lines == [f"sat → {word}", "head 1"]
    sentence.setText("x" * 5000)
    assert sentence.heightForWidth(160) < 12 * sentence.fontMetrics().height()


def test_subscripts_grow_with_the_size_of_type(app: QApplication, qtbot: QtBot) -> None:
    label = FormulaLabel("W_q")
    qtbot.addWidget(label)
    label.show()
    small = find_size(label)
    apply_theme(app, "light", 175)
    assert find_size(label) == pytest.approx(font("caption").pixelSize(), abs=1)
    assert find_size(label) > small


@pytest.mark.parametrize("type_size", [100, 175])
def test_lines_with_subscripts_are_as_far_apart_as_others(app: QApplication, qtbot: QtBot, type_size: int) -> None:
    apply_theme(app, "light", type_size)
    text = "W_q and W_k of a layer\nd_k numbers each"
    lowered, plain = FormulaLabel(text), FormulaLabel(text.replace("_", ""))
    for label in (lowered, plain):
        qtbot.addWidget(label)
        label.show()
    assert lowered.heightForWidth(900) == plain.heightForWidth(900)
    assert lowered.heightForWidth(900) >= 2 * lowered.fontMetrics().height() - 1


@pytest.mark.parametrize("text", ["Eight heads with d_k = 8.", "After a step the loss = −1.5."])
def test_a_number_stays_on_the_line_of_its_name(qtbot: QtBot, text: str) -> None:
    label = FormulaLabel(text)
    qtbot.addWidget(label)
    assert "\u00a0=\u00a0" in label.markup
    assert " = " not in label.markup
    assert label.text() == text


def test_a_name_of_its_own_stays_and_a_text_without_indices_is_plain(qtbot: QtBot) -> None:
    label = FormulaLabel()
    qtbot.addWidget(label)
    label.setAccessibleName("Message")
    label.setText("A < B & C")
    assert (label.accessibleName(), label.text(), label.markup) == ("Message", "A < B & C", "A < B & C")
    label.setText("")
    assert (label.text(), label.markup) == ("", "")


def test_a_label_is_as_high_as_its_new_text_needs(qtbot: QtBot) -> None:
    label = FormulaLabel("W_q")
    qtbot.addWidget(label)
    for text in ("W_q", "d_k is the size of a head. " * 20, "short", "d_k is the size of a head. " * 20):
        label.setText(text)
        fresh = FormulaLabel(text)
        qtbot.addWidget(fresh)
        assert label.heightForWidth(200) == fresh.heightForWidth(200)
        assert label.heightForWidth(400) == fresh.heightForWidth(400)


def test_a_list_without_a_choice_shows_its_placeholder(qtbot: QtBot) -> None:
    box = FormulaChoice()
    qtbot.addWidget(box)
    box.addItems(["as recommended"])
    box.resize(200, 32)
    box.setCurrentIndex(-1)
    empty = box.grab().toImage()
    box.setPlaceholderText("other settings")
    assert box.grab().toImage() != empty
