"""The pupil trains on a file of their own: opened by the dialog, or dropped on the window."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel

from attnlab.ui.train.text_file_control import TextFileControl
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.option_controls import Chosen
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny

WORDS = ("cat", "dog", "tree", "book", "hand", "king", "ship", "song", "star", "door", "bird", "road")
PLURALS = "".join(f"{word}\t{word}s\n" for word in WORDS)


@pytest.fixture
def pupil(sit_down: Callable[..., Person]) -> Pupil:
    person = sit_down()
    person.window.resize(1440, 900)
    return Pupil(person.window, person.qtbot)


def drop(pupil: Pupil, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    none, copy = Qt.MouseButton.NoButton, Qt.DropAction.CopyAction
    at, plain = QPointF(400, 300), Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(pupil.window, QDragEnterEvent(at.toPoint(), copy, data, none, plain))
    QApplication.sendEvent(pupil.window, QDropEvent(at, copy, data, none, plain))


def wait_for_check(pupil: Pupil) -> None:
    pupil.wait_for(lambda: pupil.trainer.session.valid is not None)


@pytest.mark.slow
def test_dropped_pairs_are_trained_and_answer_a_word_of_ones_own(pupil: Pupil, tmp_path: Path) -> None:
    path = tmp_path / "plurals.tsv"
    path.write_text(PLURALS)
    pupil.begin(tiny())
    drop(pupil, path)
    wait_for_check(pupil)
    assert pupil.trainer.settings.task.currentText() == "Own pairs"
    control = pupil.trainer.settings.options.control("data")
    assert isinstance(control, TextFileControl)
    assert control.file_name.text() == "plurals.tsv"
    spec = pupil.trainer.session.spec
    small = tiny("pairs", 30, "encoder-decoder")
    pupil.begin(type(spec)("pairs", {**spec.options, "level": "character"}, small.model, small.train))
    pupil.train_to_the_end()
    maps = pupil.trainer.maps
    maps.head.probe.setFocus()
    maps.head.probe.selectAll()
    QTest.keyClicks(maps.head.probe, "rat")  # not in the file
    pupil.wait_for(lambda: maps.seen is not None and maps.seen.probe == "rat" and not maps.answer.is_behind)
    assert "No right answer is known" in maps.answer.sentence.text()
    assert pupil.run.digest


def test_a_file_is_opened_with_the_button_and_a_bad_one_is_explained_at_the_setting(
    pupil: Pupil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pupil.begin(tiny("pairs"))
    panel = pupil.trainer.settings
    path = tmp_path / "words.tsv"
    path.write_text(PLURALS + "lonely\n")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    control = panel.options.control("data")
    assert isinstance(control, TextFileControl)
    QTest.mouseClick(control.open, Qt.MouseButton.LeftButton)
    wait_for_check(pupil)
    said = "Line 13 of words.tsv has one column; each line needs a source, a tab and a target."
    pupil.wait_for(lambda: panel.complaint() == said)
    assert panel.count.text() == "", "the size of the last model is not that of this one"
    message = next(label for label in panel.options.findChildren(QLabel) if label.text() == said)
    for type_size in (100, 175):
        pupil.window.change_settings(type_size=type_size)
        pupil.wait_for(lambda: message.height() >= message.heightForWidth(message.width()))
        assert control.height() >= control.sizeHint().height(), "its buttons are not cut"
    pupil.window.change_settings(type_size=100)
    assert not pupil.trainer.header.main.isEnabled()
    path.write_text(PLURALS)
    QTest.mouseClick(control.open, Qt.MouseButton.LeftButton)
    pupil.wait_for(lambda: pupil.trainer.header.main.isEnabled() and not panel.complaint())


def test_the_button_that_opens_a_file_has_an_edge_below_the_name_of_the_file(pupil: Pupil) -> None:
    pupil.begin(tiny("pairs"))
    control = pupil.trainer.settings.options.control("data")
    assert isinstance(control, TextFileControl)
    button, image = control.open.geometry(), control.grab().toImage()
    assert button.left() == control.file_name.x()
    edge, ground = (image.pixelColor(x, button.center().y()) for x in (button.left(), button.right() + 3))
    assert edge != ground


def test_nothing_of_the_earlier_task_is_shown_under_the_title_of_a_bad_file(pupil: Pupil, tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(PLURALS + "lonely\n")
    pupil.begin(tiny())
    maps = pupil.trainer.maps
    pupil.wait_for(lambda: maps.seen is not None and not maps.answer.is_behind)
    assert maps.view.isVisible()
    assert maps.answer.isVisible()
    drop(pupil, path)
    said = "Line 13 of words.tsv has one column; each line needs a source, a tab and a target."
    pupil.wait_for(lambda: maps.empty.isVisible() and maps.empty.text() == f"There is nothing to show yet. {said}")
    assert pupil.trainer.title().startswith("Own pairs")
    pupil.wait_for(lambda: not pupil.trainer.session.inspection.busy)
    assert pupil.trainer.written.rows == ()
    heading = next(each for each in pupil.trainer.side.findChildren(QLabel) if each.text() == "Expected and predicted")
    assert not heading.isVisible()
    assert not pupil.tools.round_trip.open_button.isVisible()
    for page in ("model", "inside", "maps"):
        maps.show_page(page)
        for part in (maps.view, maps.answer, maps.head, maps.model, maps.inside, pupil.trainer.text):
            assert not part.isVisible()
    path.write_text("cat\tcats\n")
    drop(pupil, path)  # another file, with another problem
    pupil.wait_for(lambda: "words.tsv has 1 different source" in maps.empty.text())
    path.write_text(PLURALS)
    drop(pupil, path)
    pupil.wait_for(lambda: maps.seen is not None and maps.seen.spec.task == "pairs")
    assert maps.view.isVisible()
    assert maps.head.isVisible()
    assert not maps.empty.isVisible()
    pupil.wait_for(lambda: bool(pupil.trainer.written.rows) and pupil.tools.round_trip.open_button.isVisible())
    assert heading.isVisible()


@pytest.mark.slow
def test_a_dropped_text_is_learned_in_lines_or_by_the_task_that_is_shown(pupil: Pupil, tmp_path: Path) -> None:
    path = tmp_path / "poem.txt"
    path.write_text("".join(f"this is line {number} of a poem\n" for number in range(40)))
    pupil.begin(tiny())
    drop(pupil, path)
    wait_for_check(pupil)
    assert (pupil.trainer.session.spec.task, pupil.trainer.session.spec.options["data"]) == ("lines", str(path))
    pupil.begin(tiny("characters"))
    drop(pupil, path)
    wait_for_check(pupil)
    assert (pupil.trainer.session.spec.task, pupil.trainer.session.spec.options["text"]) == ("characters", str(path))


@pytest.mark.slow
def test_a_file_dropped_on_a_running_training_changes_nothing_and_says_so(pupil: Pupil, tmp_path: Path) -> None:
    path = tmp_path / "plurals.tsv"
    path.write_text(PLURALS)
    pupil.begin(tiny())
    pupil.trainer.start()
    pupil.wait_for(lambda: pupil.trainer.session.alive and pupil.trainer.session.run is not None)
    drop(pupil, path)
    assert pupil.trainer.footer.message.text() == "Stop the training before you open plurals.tsv."
    assert pupil.trainer.session.spec.task == "reverse"
    pupil.trainer.session.stop()
    pupil.wait_for(lambda: not pupil.trainer.session.alive)


def test_a_setting_without_effect_is_disabled_and_says_why(pupil: Pupil) -> None:
    """Of *Words* and *Vocabulary* only the one that belongs to the chosen tokens can be changed."""
    pupil.begin(tiny("lines"))
    options = pupil.trainer.settings.options
    needed = {"words": "words", "vocabulary": "pieces (BPE)"}
    told = {name: f"Has an effect only if Tokens is “{title}”." for name, title in needed.items()}
    level = options.control("level")
    assert isinstance(level, Chosen)
    for chosen, enabled in (("word", {"words"}), ("character", set()), ("piece", {"vocabulary"}), ("word", {"words"})):
        level.list.activated.emit([choice.value for choice in level.field.choices].index(chosen))
        for name, reason in told.items():
            (control,) = options.control(name).stops()
            assert control.isEnabled() == (name in enabled)
            assert (control.toolTip() == reason) == (name not in enabled)


@pytest.mark.slow
def test_the_settings_say_how_many_words_there_are_and_how_much_became_unk(pupil: Pupil, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("".join(f"the cat sat on rare{number}.\n" for number in range(40)))
    pupil.begin(tiny("lines"))
    panel = pupil.trainer.settings
    panel.open_data(str(path))
    pupil.wait_for(lambda: panel.vocabulary.text() == "48 tokens")
    assert panel.vocabulary.isVisible()
    (words,) = panel.options.control("words").stops()
    assert isinstance(words, NumberEdit)
    words.setFocus()
    words.selectAll()
    QTest.keyClicks(words, "32")
    QTest.keyClick(words, Qt.Key.Key_Return)
    # 3 special tokens, UNK, the five of each line, and room for 23 of the 40 rare words
    pupil.wait_for(
        lambda: panel.vocabulary.text() == f"32 tokens; {100 * 17 / 240:.1f}\N{NO-BREAK SPACE}% of the text became UNK"
    )
    pupil.begin(tiny())
    assert not panel.vocabulary.isVisible()
