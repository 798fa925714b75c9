"""The dialog of several texts: targets and scores as the model gives them, its own text if it must, CSV, and heads."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from attnlab.pretrained.model import open_model
from attnlab.ui.models.texts_dialog import TextsDialog
from tests.ui.models.reader import ModelReader

TEXTS = "c a d b f e c a d\na b a b"


@pytest.fixture
def dialog(reader: ModelReader) -> Iterator[TextsDialog]:
    reader.qtbot.mouseClick(reader.models.panel.several, Qt.MouseButton.LeftButton)
    (found,) = reader.window.findChildren(TextsDialog)
    wait(reader, found)
    yield found
    if shiboken6.isValid(found):
        found.close()


def wait(reader: ModelReader, dialog: TextsDialog) -> None:
    reader.wait_for(lambda: not reader.models.session.busy and dialog.note.text() != "")


def test_a_model_without_tokens_for_the_sentences_begins_with_the_open_text(
    reader: ModelReader, dialog: TextsDialog
) -> None:
    assert dialog.texts.toPlainText() == reader.models.session.state.text
    assert dialog.note.text().startswith("1 text.")


def test_texts_that_are_read_when_their_dialog_is_gone_reach_nobody(reader: ModelReader, dialog: TextsDialog) -> None:
    dialog.texts.setPlainText("neither of these words has a token")
    assert reader.models.session.busy
    shiboken6.delete(dialog)  # as Qt does when the window closes
    reader.wait_for(lambda: not reader.models.session.busy)


def test_a_long_text_makes_no_column_wide(reader: ModelReader, dialog: TextsDialog) -> None:
    dialog.texts.setPlainText("a b a b")
    wait(reader, dialog)
    before = [dialog.targets.columnWidth(column) for column in (1, 2)]
    dialog.texts.setPlainText("a b a b a b a b a b a b a b a b")
    wait(reader, dialog)
    assert [dialog.targets.columnWidth(column) for column in (1, 2)] == before


def test_targets_and_scores_of_what_is_typed(reader: ModelReader, dialog: TextsDialog) -> None:
    dialog.texts.setPlainText(TEXTS)
    wait(reader, dialog)
    model = open_model("induction")
    weights = model.run("a b a b").attention(1).mean(0)
    table = dialog.targets
    assert table.rowCount() == 1 + 9 + 1 + 4
    rows = [table.item(table.rowCount() - 4 + place, 0) for place in range(4)]
    assert [row.text() for row in rows if row is not None] == ["a₀", "b₁", "a₂", "b₃"]  # as targets are named
    plain = weights[3, 1:]
    cell = table.item(table.rowCount() - 1, 2)
    assert cell is not None
    assert cell.text().endswith(f"{float(plain.max()):.2f}")
    reader.qtbot.mouseClick(dialog.plain, Qt.MouseButton.LeftButton)
    cell = table.item(table.rowCount() - 1, 2)
    assert cell is not None
    assert cell.text().endswith(f"{float(weights[3].max()):.2f}")
    dialog.show_choice.chosen.emit("scores")
    dialog.show_choice.set_value("scores")
    dialog.show_choice.chosen.emit("scores")
    assert dialog.tables.currentWidget() is dialog.scores
    dialog.scores.sortByColumn(4, Qt.SortOrder.DescendingOrder)
    first = dialog.scores.item(0, 0)
    assert first is not None
    assert first.text() == "L0 H1"  # the head that looks at the token before


def test_a_double_click_opens_the_text_and_the_head(reader: ModelReader, dialog: TextsDialog) -> None:
    dialog.texts.setPlainText(TEXTS)
    wait(reader, dialog)
    dialog.head.chosen.emit(1)
    dialog.targets.setCurrentCell(dialog.targets.rowCount() - 1, 1)
    reader.qtbot.keyClick(dialog.targets, Qt.Key.Key_Return)
    reader.wait()
    assert reader.models.session.state.text == "a b a b"
    assert reader.place == (0, 1)
    assert reader.models.session.view.row == 3


def test_heads_that_are_off_are_off_in_every_text(reader: ModelReader, dialog: TextsDialog) -> None:
    dialog.texts.setPlainText(TEXTS)
    wait(reader, dialog)
    reader.models.toggle_head(0, 1)
    wait(reader, dialog)
    expected = open_model("induction").read_texts(TEXTS.splitlines(), heads_off=[(0, 1)])
    target, weight = expected.texts[0].find(1, -1, 8, plain=True)
    reader.wait_for(
        lambda: (cell := dialog.targets.item(9, 2)) is not None and cell.text() == f"{target}  {weight:.2f}"
    )


def test_texts_from_a_file_and_the_table_as_csv(reader: ModelReader, dialog: TextsDialog, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("a b a b\nzzz\n", encoding="utf-8")
    reader.qtbot.mouseClick(dialog.file, Qt.MouseButton.LeftButton)
    asked = dialog.findChild(QFileDialog)
    assert asked is not None
    asked.fileSelected.emit(str(tmp_path / "texts.txt"))
    asked.close()
    reader.wait_for(lambda: dialog.note.text().startswith("1 text, 1 left out: 'z' is not a token"))
    dialog._save(tmp_path / "out.csv")
    reader.wait_for(lambda: dialog.note.text().startswith("Saved "))
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * 4
    dialog.texts.setPlainText("zzz")
    reader.wait_for(lambda: "'z' is not a token" in dialog.message.text())


def test_the_probability_of_every_token_is_written(reader: ModelReader, tmp_path: Path) -> None:
    reader.models.toggle_head(1, 1)
    reader.wait()
    reader.qtbot.mouseClick(reader.models.effect.save, Qt.MouseButton.LeftButton)
    asked = reader.window.findChild(QFileDialog)
    assert asked is not None
    asked.fileSelected.emit(str(tmp_path / "answer.csv"))
    asked.close()
    reader.wait_for(lambda: reader.models.footer.note.text().startswith("Saved "))
    with (tmp_path / "answer.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    text = reader.models.session.state.text
    model = open_model("induction")
    before, after = (model.run(text, heads_off=off).probabilities() for off in ((), [(1, 1)]))
    assert len(rows) == len(before)
    for row in rows:
        number = model.tokenizer.number(row["token"])
        assert float(row["before"]) == pytest.approx(float(before[number]), abs=1e-6)
        assert float(row["change"]) == pytest.approx(float(after[number] - before[number]), abs=1e-6)


def test_typing_after_undo_is_a_change_of_its_own(reader: ModelReader) -> None:
    field = reader.models.panel.text
    first = field.toPlainText()
    for text in ("a b a", "a b a b"):
        field.setPlainText(text)
        reader.wait()
    reader.models.session.undo()
    reader.wait()
    assert reader.models.session.state.text == first
    reader.models.session.redo()
    field.setPlainText("c d c d")
    reader.wait()
    reader.models.session.undo()
    assert reader.models.session.state.text == "a b a b"
