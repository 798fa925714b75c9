"""The workspace of models as an engineer uses it: look, find a head, switch it off, read the next word."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QPlainTextEdit, QPushButton, QToolButton

from attnlab.figures.panels.figure_file import encode_figure
from attnlab.figures.panels.figure_page import lay_out_page
from attnlab.figures.panels.figure_source import Sheets
from attnlab.pretrained.model import open_model, read_model
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.switch import Switch
from tests.ui.conftest import Person
from tests.ui.models.reader import ModelReader

if TYPE_CHECKING:
    from collections.abc import Callable

Key, Mod = Qt.Key, Qt.KeyboardModifier


def test_it_opens_alive_at_the_clearest_head(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("journey")
    reader = ModelReader(person.window, person.qtbot)
    reader.key(Key.Key_4, Mod.ControlModifier)
    reader.wait()
    assert reader.find(QPushButton, "Model: induction").isVisible()
    assert reader.place == (1, 1)
    assert reader.models.patterns.sentence.text().startswith(
        "An induction head: on repeated random tokens, 94\N{NO-BREAK SPACE}%"
    )
    assert reader.list_predictions()[0] == ("b", "0.998")
    assert reader.models.header.badge.text().startswith("✓ true to the model")
    person.window.resize(1366, 768)
    person.window.change_settings(type_size=175)
    reader.wait()
    assert reader.models.header.badge.visible_text == "✓ true to the model"
    for size in (70, 80, 100):
        person.window.change_settings(type_size=size)
        reader.wait()
        panel = reader.models.panel
        assert panel.widget().width() <= panel.viewport().width()  # nothing is cut off
    reader.wait()
    reader.check_every_map()


def test_a_head_that_looks_back_is_found_and_switched_off_and_the_next_token_changes(reader: ModelReader) -> None:
    models = reader.models
    models.session.show(sort="previous")
    assert models.places[0] == (0, 1)
    reader.click(models.overview, models.overview.cell_rect(0, 4, 4).center().toPoint())
    reader.wait()
    assert reader.place == (0, 1)
    assert (
        models.patterns.sentence.text() == "Each token looks at the one before it: 99\N{NO-BREAK SPACE}% of the weight."
    )
    reader.press("L0 H1 on", Switch)
    reader.wait()
    assert models.effect.sentence.text().startswith("After “d”: “b” 99.8\N{NO-BREAK SPACE}% becomes “")
    token, written = reader.list_predictions()[0]
    assert token == "b"
    assert written.startswith("0.998 → 0.0")
    reader.check_every_map()
    reader.press("Remove L0 H1", QToolButton)
    reader.wait()
    assert reader.list_predictions()[0] == ("b", "0.998")


def test_what_is_switched_is_undone_and_redone(reader: ModelReader) -> None:
    models = reader.models
    models.overview.setFocus()
    reader.key(Key.Key_Delete)
    reader.wait()
    assert [each.place for each in models.session.state.off] == ["L1 H1"]
    reader.key(Key.Key_Z, Mod.ControlModifier)
    reader.wait()
    assert models.session.state.off == ()
    reader.check_every_map()
    reader.key(Key.Key_Y, Mod.ControlModifier)
    reader.wait()
    assert len(models.session.state.off) == 1
    assert reader.document.history.undo_label is None


def test_arrow_keys_choose_heads_and_a_sort_keeps_the_head(reader: ModelReader) -> None:
    overview = reader.models.overview
    overview.setFocus()
    reader.key(Key.Key_Left)
    reader.wait()
    assert reader.place == (1, 0)
    reader.key(Key.Key_Up)
    reader.wait()
    assert reader.place == (0, 0)
    reader.check_every_map()
    reader.press("Sort by", Pill)
    popup = reader.find(Pill, "Sort by").popup()
    assert popup is not None
    reader.click(next(row for row in popup.rows() if row.text() == "Induction"))
    assert reader.models.places[0] == (1, 1)
    assert reader.place == (0, 0)
    reader.check_every_map()


def test_a_single_arrow_is_switched_off_in_the_map(reader: ModelReader) -> None:
    sheet = reader.models.head.sheet
    reader.click(sheet, sheet.cell_rect(0, 8, 3).center().toPoint())
    reader.wait()
    assert reader.models.session.view.row == 8
    assert reader.models.targets.asked.text() == "“d₈” looks at"
    assert reader.models.targets.bars.meters[0].label == "b"
    assert {each.label for each in reader.models.targets.bars.meters[1:6]} < {
        "c₀",
        "a₁",
        "d₂",
        "f",
        "e",
        "c₆",
        "a₇",
        "d₈",
    }
    before = float(reader.in_map()[8, 3])
    assert before > 0.9
    sheet.setFocus()
    reader.key(Key.Key_Delete)
    reader.wait()
    assert float(reader.in_map()[8, 3]) == 0.0
    assert reader.in_map()[8].sum() == pytest.approx(1)
    reader.find(QToolButton, "Remove L1 H1, d₈ → b")
    assert "cannot be opened" in reader.models.header.badge.text()
    reader.check_every_map()


def test_the_menus_of_a_head_and_of_a_cell_switch_them(reader: ModelReader) -> None:
    models = reader.models
    models.overview.menu_requested.emit(0, QPoint(5, 5))
    choose("Switch all others of layer 0 off")
    reader.wait()
    assert [each.place for each in models.session.state.off] == ["L0 H1"]
    models.head.sheet.menu_requested.emit(3, 2, QPoint(5, 5))
    choose("Switch b → d₂ off")
    reader.wait()
    assert len(models.session.state.off) == 2
    reader.press("Remove all")
    reader.wait()
    assert models.session.state.off == ()


def test_a_masked_arrow_has_no_weight_to_switch_off(reader: ModelReader) -> None:
    models = reader.models
    models.toggle_arrow(2, 3)
    assert models.session.state.off == ()
    assert models.footer.note.text() == "d₂ → b is masked, so there is no weight to switch off."
    models.head.sheet.menu_requested.emit(2, 3, QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [(action.text(), action.isEnabled()) for action in menu.actions()] == [("d₂ → b is masked", False)]
    menu.close()


def choose(title: str) -> None:
    """Choose an entry of the open menu, and close it."""
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == title).trigger()
    menu.close()


def test_typing_a_text_runs_the_model_again_and_a_bad_one_changes_nothing(reader: ModelReader) -> None:
    field = reader.find(QPlainTextEdit, "Input")
    field.setFocus()
    field.selectAll()
    reader.type("b a b a")
    reader.wait()
    assert reader.models.session.overview is not None
    assert reader.models.session.overview.queries == ("b", "a", "b", "a")
    reader.check_every_map()
    reader.type(" Z")
    reader.wait_for(lambda: reader.models.panel.message.isVisible())
    assert reader.models.panel.message.text().startswith("'Z' is not a token of this model; its tokens are a, b, c")
    reader.wait()
    assert reader.models.session.state.text.strip() == "b a b a"
    assert field.toPlainText() == "b a b a Z"
    reader.key(Key.Key_Backspace)
    reader.key(Key.Key_Backspace)
    reader.wait()
    assert not reader.models.panel.message.isVisible()
    reader.check_every_map()


def test_a_predicted_token_is_written_and_the_maps_grow(reader: ModelReader) -> None:
    answers = reader.models.effect.answers
    reader.click(answers.viewport(), answers.row_rect(0).center())
    reader.wait()
    assert reader.models.session.state.text == "c a d b f e c a d b"
    assert reader.find(QPlainTextEdit, "Input").toPlainText() == "c a d b f e c a d b"
    assert reader.in_map().shape == (10, 10)
    assert reader.list_predictions()[0][0] == "f"
    reader.click(answers.viewport(), answers.row_rect(0).center())
    reader.wait()
    assert reader.models.session.state.text.endswith("d b f")
    reader.models.overview.setFocus()
    reader.key(Key.Key_Z, Mod.ControlModifier)
    reader.wait()
    assert reader.models.session.state.text.endswith("d b")
    reader.check_every_map()


def test_an_encoder_predicts_the_hidden_word_and_bars_show_the_row(reader: ModelReader) -> None:
    reader.open("hidden-words", "the girl near the old kings sees ▢ .")
    assert reader.list_predictions()[0][0] == "herself"
    assert reader.models.effect.sentence.text().startswith("In place of “▢”: “herself”, 7")
    assert not reader.models.effect.legend.text()
    reader.models.session.show(row=1)
    reader.wait()
    assert reader.models.effect.sentence.text().startswith("In place of “girl”")
    assert reader.models.effect.legend.text() == "Write ▢ in place of a word, and the model predicts it."
    reader.key(Key.Key_Escape)
    reader.wait()
    assert reader.models.session.view.row == -1


def test_the_bold_row_is_the_pattern_that_the_sentence_names(reader: ModelReader) -> None:
    patterns = reader.models.patterns
    row = reader.models.session.patterns[0]
    rows = [row._replace(itself=0.45, column=0.48, previous=0.1, duplicate=0.1, induction=0.1, next=0.0)]
    patterns.show_head(rows, row.layer, row.head, ["a"] * 9)
    assert patterns.sentence.text().startswith("Each token looks at itself: 45")
    assert [meter.label for meter in patterns.meters.meters if meter.strong] == ["itself"]


def test_duplicates_are_said_of_repeated_tokens_only(reader: ModelReader) -> None:
    patterns, row = reader.models.patterns, reader.models.session.patterns[0]
    rows = [row._replace(itself=0.3, column=0.5, previous=0.1, duplicate=0.95, induction=0.1, next=0.0)]
    patterns.show_head(rows, row.layer, row.head, ["a", "b", "a"])
    told = "Repeated tokens look at their other occurrences: 95\N{NO-BREAK SPACE}% of their weight."
    assert patterns.sentence.text() == told


def test_what_moves_is_shown_and_sums_to_the_output(reader: ModelReader) -> None:
    weights = reader.in_map().copy()
    segment = reader.find(QAbstractButton, "What moves")
    assert segment.toolTip().startswith("<qt>‖α v W<sub>o</sub>‖")
    assert segment.accessibleDescription().startswith("‖α v W_o‖")
    segment.click()
    moved = reader.in_map()
    assert moved.shape == weights.shape
    assert (moved - weights).any()
    reader.window.resize(1366, 768)
    note = reader.models.head.note
    assert "All heads and the residual sum to the layer’s output within " in note.text()
    reader.wait_for(lambda: 0 < note.heightForWidth(note.width()) <= note.height())
    assert reader.models.session.layer is not None
    assert reader.models.session.layer.sum_difference < 1e-5


def test_a_higher_window_shows_more_answers_and_spreads_the_targets(reader: ModelReader) -> None:
    answers, arcs = reader.models.effect.answers, reader.models.targets.arcs

    def count_seen() -> int:
        room = answers.viewport().rect()
        return sum(room.contains(answers.row_rect(at)) for at in range(len(answers.meters)))

    reader.window.resize(1366, 768)
    reader.wait_for(lambda: count_seen() == 7)
    narrow = arcs.line
    reader.window.resize(1366, 1500)
    reader.wait_for(lambda: count_seen() >= 12)
    assert arcs.line > narrow
    last = arcs.locate_cell(arcs.count_cells() - 1)
    assert last.bottom() <= arcs.height()
    reader.click(arcs, last.center().toPoint())
    assert reader.models.session.view.row == arcs.count_cells() - 1


def lay_out() -> None:
    """Handle all requests for a new layout, and those that they cause."""
    for _ in range(5):
        QApplication.processEvents()


def test_the_cards_stay_in_place_when_a_head_is_switched_off(reader: ModelReader) -> None:
    models = reader.models
    cards = (models.overview, models.effect, models.head.sheet, models.targets)
    reader.window.resize(1366, 768)
    lay_out()
    before = [(card.y(), card.height()) for card in cards]
    models.toggle_head(1, 1)
    reader.wait()
    lay_out()
    assert "97.8\N{NO-BREAK SPACE}%." in models.effect.sentence.text()
    assert [(card.y(), card.height()) for card in cards] == before


def test_the_list_of_changes_says_that_it_is_empty_only_then(reader: ModelReader) -> None:
    assert reader.models.panel.nothing.isVisible()
    reader.models.toggle_shown()
    reader.wait()
    assert not reader.models.panel.nothing.isVisible()
    reader.models.session.undo()
    reader.wait()
    assert reader.models.panel.nothing.isVisible()


def test_all_heads_are_exported_as_one_page_of_a_line_for_each_layer(reader: ModelReader, tmp_path: Path) -> None:
    reader.window.refresh_actions()
    reader.window.actions_list["model-export-all"].trigger()
    dialog = reader.window.findChild(ExportDialog)
    assert dialog is not None
    source = dialog._source
    assert isinstance(source, Sheets)
    sheet = source.stage("all heads")
    assert sheet.titles == ("L0·H0", "L0·H1", "L1·H0", "L1·H1")
    weights = open_model("induction").run("c a d b f e c a d").attention(1)
    np.testing.assert_allclose(sheet.values[3], weights[1].numpy(), atol=1e-6)
    spec = dialog.form.read_spec()
    assert (spec.stages, spec.head) == (("all heads",), "all")
    ((_, _, panel),) = lay_out_page(source, spec).panels
    assert [grid.count for grid in panel.layout.grids] == [2, 2]
    narrow = encode_figure(source, replace(spec, width_mm=40, font_pt=10), ".svg").decode()
    assert all(f">{title}<" in narrow for title in sheet.titles)
    dialog.form.format.setCurrentIndex(dialog.form.format.findData("csv"))
    assert dialog.export_to(tmp_path / "heads.csv")
    rows = (tmp_path / "heads.csv").read_text().splitlines()
    assert rows[0].startswith("head,query,c,a,d")
    assert [row.split(",")[0] for row in rows[1::9]] == list(sheet.titles)


def test_the_picture_that_is_copied_is_that_of_the_shown_head(reader: ModelReader) -> None:
    reader.models.session.show(layer=1, head=0)
    reader.wait()
    for values, title in (("weights", "Layer 1"), ("moved", "Layer 1: ‖α v W_o‖")):
        reader.models.session.show(values=values)
        reader.wait()
        assert reader.window.actions_list.run("copy-picture")
        assert reader.models.footer.note.text().startswith(f"Copied {title}, head 0 as a picture, ")
        svg = QGuiApplication.clipboard().mimeData().data("image/svg+xml").data().decode()
        assert all(text in svg for text in ("induction", title.partition(" W")[0], "head 0"))
    QGuiApplication.clipboard().clear()


def test_the_export_offers_the_heads_of_one_layer(reader: ModelReader) -> None:
    reader.window.actions_list.run("model-export")
    dialog = reader.window.findChild(ExportDialog)
    assert dialog is not None
    heads, before = dialog.form.heads, dialog.form.read_spec().head
    assert [heads.itemText(i).split(" (")[0] for i in range(heads.count())] == ["All", "Mean", "Head 0", "Head 1"]
    for stages, head in ((("all heads",), "all"), (("layer 1",), before)):
        dialog.form.choose(stages)
        assert heads.isEnabled() == (head != "all")
        assert dialog.form.read_spec().head == head
    dialog.close()


def test_every_token_can_be_found_with_its_change(reader: ModelReader) -> None:
    reader.open("characters", "Shall I compare thee to a summer")
    models = reader.models
    models.toggle_head(1, 0)
    reader.wait()
    card = models.effect
    said, listed = card.sentence.text(), reader.list_predictions()
    card.wanted.setFocus()
    reader.type("S")
    reader.wait()
    assert {token for token, _ in reader.list_predictions()} == {"s", "S"}
    assert card.sentence.text() == said  # of all tokens, not of those that are listed
    run = read_model("characters").run("Shall I compare thee to a summer")
    off = run.change(heads_off=[(1, 0)])
    place = run.model.tokenizer.number("s")
    assert place is not None
    before, after = (float(each.probabilities()[place]) for each in (run, off))
    assert dict(reader.list_predictions())["s"] == f"{before:.3f} → {after:.3f}"
    reader.type("zz")
    reader.wait()
    assert reader.list_predictions() == []
    assert card.legend.text() == "No token of the model has this in its name."
    card.wanted.clear()
    reader.wait()
    assert reader.list_predictions() == listed
