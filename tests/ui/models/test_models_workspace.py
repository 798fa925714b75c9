"""The workspace of models as an engineer uses it: look, find a head, switch it off, read the next word."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QPlainTextEdit, QPushButton, QToolButton
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from attnlab.attention.experiment import Experiment
from attnlab.compute.engine import compute
from attnlab.figures.panels.figure_source import Sheets
from attnlab.files.source import Source
from attnlab.pretrained.model import open_model, read_model
from attnlab.pretrained.shipped import find_shipped
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.workspaces.models import MODELS
from tests.pretrained.conftest import SCALED, make_model, save_tokenizer
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
    person.window.change_settings(type_size=100)
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
    assert reader.models.panel.message.text().startswith("'Z' is no token of this model; its tokens are a, b, c")
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


def test_a_part_of_a_character_cannot_be_written_and_says_so(reader: ModelReader, tmp_path: Path) -> None:
    make_model("gpt2").save_pretrained(tmp_path)
    signs = [*"Ġtheacsonmiw", "Ã", "©"]  # the last two are é, byte by byte
    inner = Tokenizer(BPE({sign: number for number, sign in enumerate(signs)}, []))
    inner.pre_tokenizer = ByteLevel(add_prefix_space=False)
    inner.decoder = ByteLevelDecoder()
    inner.save(str(tmp_path / "tokenizer.json"))
    reader.open(str(tmp_path), "the cat")
    place = [label for label, _ in reader.list_predictions()].index("Ã")
    reader.models.effect.answers.meter_clicked.emit(place)
    assert reader.models.panel.message.text().startswith("“Ã” is a part of a character")
    assert reader.models.session.state.text == "the cat"


def test_a_layer_opens_in_the_playground_and_computes_the_same(reader: ModelReader) -> None:
    expected = reader.in_map()
    reader.press("Open in Playground")
    reader.wait_for(lambda: reader.window.current == "playground")
    reader.settle()
    assert reader.experiment.tokens == tuple("cadbfecad")
    assert reader.document.view.head == 1
    weights = compute(reader.experiment).array("weights")[1]
    assert abs(weights - expected).max() < 1e-6
    assert isinstance(reader.experiment, Experiment)
    assert "induction · layer 1" in reader.window.windowTitle()
    assert reader.playground.canvas.hasFocus(), "no field is ringed before a key is used"


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCALED)
def test_a_layer_that_scales_rope_opens_in_the_playground_with_its_table_of_frequencies(
    reader: ModelReader, tmp_path: Path, kind: str
) -> None:
    make_model(kind).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, kind)
    reader.open(str(tmp_path), "the cat sat on the mat , it was soft")
    assert reader.models.header.badge.text().startswith("✓ true to the model")
    expected = reader.in_map()
    open_in_playground(reader)
    assert reader.experiment.config.positions == "rope_scaled"
    weights = compute(reader.experiment).array("weights")
    assert abs(weights[reader.document.view.head] - expected).max() < 1e-5
    assert reader.models.tools.trip.strip.truth.text() == "✓ true to the model"
    reader.open_table("omega")
    before = reader.in_table()
    assert before.shape == (1, 3)
    reader.type_number(0, 1, "0.5")
    reader.settle()
    assert reader.experiment.weights.extra["omega"][1] == 0.5
    assert reader.models.tools.trip.strip.truth.text().startswith("edited")
    reader.check_every_number()
    reader.undo()
    reader.settle()
    np.testing.assert_array_equal(reader.in_table(), before)
    assert reader.models.tools.trip.strip.truth.text() == "✓ true to the model"


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


def test_a_folder_that_is_no_model_is_refused_in_one_sentence_and_the_model_stays(
    reader: ModelReader, tmp_path: Path
) -> None:
    reader.models.open_model(str(tmp_path))
    reader.wait_for(lambda: reader.models.panel.message.isVisible())
    assert reader.models.panel.message.text().endswith(
        "has no config.json, so it is no folder of a model; choose one that has."
    )
    reader.wait()
    assert reader.models.session.state.source == "induction"
    reader.check_every_map()


def test_a_refusal_opens_the_panel_of_a_narrow_window_and_breaks_long_names(
    reader: ModelReader, tmp_path: Path
) -> None:
    reader.window.resize(1024, 640)
    reader.window.change_settings(type_size=175)
    panel = reader.models.panel
    reader.wait_for(lambda: not panel.isVisible())
    make_model("llama").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "llama")
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["model.layers.0.self_attn.q_proj.weight"][0, 0] = torch.nan
    save_file(tensors, tmp_path / "model.safetensors")
    reader.models.open_model(str(tmp_path), "the cat sat")
    reader.wait_for(lambda: panel.message.isVisible())
    reader.settle()
    assert panel.message.text().startswith("model.layers.0.self_attn.q_proj.weight[0, 0] is nan;")
    assert panel.message.accessibleName().startswith("Message about the model: model.layers.0.self_attn.q_proj")
    assert reader.models.header.panel.isChecked()
    label = panel.message
    assert label.minimumSizeHint().width() <= label.width(), "no part of a name is cut"


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


def test_a_model_whose_numbers_overflow_is_said_to_produce_nan(reader: ModelReader, tmp_path: Path) -> None:
    make_model("gpt2").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "gpt2")
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["transformer.wte.weight"].mul_(1e30)
    save_file(tensors, tmp_path / "model.safetensors")
    reader.open(str(tmp_path), "the cat sat")
    told = "Its weights contain NaN: numbers of the model overflow on this input."
    assert reader.models.patterns.sentence.text() == told


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("mistral", "lm_head.weight"),
        ("mistral", "model.norm.weight"),
        ("bert", "cls.predictions.bias"),
        ("t5", "decoder.block.1.layer.1.EncDecAttention.k.weight"),
    ],
)
def test_a_model_with_nan_behind_the_layers_that_are_shown_is_refused(
    reader: ModelReader, tmp_path: Path, name: str, tensor: str
) -> None:
    make_model(name).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, name)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors[tensor].view(-1)[3] = torch.nan
    save_file(tensors, tmp_path / "model.safetensors")
    before = reader.list_predictions()
    reader.models.open_model(str(tmp_path), "the cat sat")
    reader.wait_for(lambda: reader.models.panel.message.isVisible())
    assert reader.models.panel.message.text().startswith(f"{tensor}[")
    assert reader.models.panel.message.text().endswith(" is nan; every weight needs to be a finite number.")
    reader.wait()
    assert reader.models.session.state.source == "induction"
    assert reader.list_predictions() == before
    reader.check_every_map()


def test_a_refused_first_model_leaves_its_reason_above_one_that_ships(
    sit_down: "Callable[..., Person]", tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt_neox"}')
    person = sit_down("journey")
    reader = ModelReader(person.window, person.qtbot)
    reader.window.open_paths([tmp_path])
    reader.wait()
    reader.wait_for(lambda: reader.models.panel.message.isVisible())
    assert " has no weights; a model has model.safetensors" in reader.models.panel.message.text()
    assert reader.models.session.state.source == "induction"
    reader.check_every_map()
    reader.models.set_text("a b a b", "read another text")
    reader.wait()
    assert not reader.models.panel.message.isVisible()


def test_a_dropped_folder_opens_as_a_model(reader: ModelReader, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    reader.window.show_workspace("playground")
    reader.window.open_paths([tmp_path])
    assert reader.window.current == MODELS.name
    reader.wait_for(lambda: reader.models.panel.message.isVisible())
    assert (
        str(tmp_path.name) in reader.models.panel.message.text()
        or "model.safetensors" in reader.models.panel.message.text()
    )


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


def open_in_playground(reader: ModelReader) -> None:
    reader.press("Open in Playground")
    reader.wait_for(lambda: reader.window.current == "playground")
    reader.settle()


def test_an_edited_layer_runs_in_the_model_and_changes_its_answer(reader: ModelReader) -> None:
    open_in_playground(reader)
    strip = reader.models.tools.trip.strip
    assert strip.isVisible()
    assert strip.truth.text() == "✓ true to the model"
    reader.document.edit("zero W_v", lambda e: replace(e, weights=replace(e.weights, W_v=e.weights.W_v * 0)))
    reader.settle()
    assert strip.truth.text().startswith("edited")
    reader.press("Run the model with it")
    assert reader.window.current == "models"
    reader.wait()
    reader.find(QToolButton, "Remove Layer 1: W_v edited, 2,304 numbers")
    assert reader.models.effect.sentence.text().startswith("After “d”: “b” 99.8\N{NO-BREAK SPACE}% becomes")
    reader.models.overview.setFocus()
    reader.key(Key.Key_Z, Mod.ControlModifier)
    reader.wait()
    assert reader.list_predictions()[0] == ("b", "0.998")


@pytest.mark.slow
def test_the_way_back_to_the_model_stays_with_large_type(reader: ModelReader) -> None:
    open_in_playground(reader)
    reader.window.resize(1366, 768)
    reader.window.change_settings(type_size=175)
    reader.settle()
    reader.document.edit("zero W_v", lambda e: replace(e, weights=replace(e.weights, W_v=e.weights.W_v * 0)))
    reader.settle()
    strip = reader.models.tools.trip.strip
    for button in (strip.leave, strip.send):
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()
        assert strip.rect().contains(button.geometry())
    reader.press("To the model")
    assert reader.window.current == "models"


@pytest.mark.slow
def test_new_words_are_called_invented_until_the_model_reads_them(reader: ModelReader) -> None:
    open_in_playground(reader)
    trip = reader.models.tools.trip
    reader.key(Key.Key_L, Mod.ControlModifier)
    reader.type("b c b")
    reader.settle()
    assert trip.truth == "invented"
    assert trip.strip.truth.text() == "new random words: not the model’s; Enter lets it read them"
    reader.key(Key.Key_Return)
    reader.wait_for(lambda: trip.truth == "true")
    reader.settle()
    assert reader.document.undo_label == "run the model on these words"
    expected = read_model("induction").run("b c b")
    weights = compute(reader.experiment).array("weights")
    assert abs(weights - expected.attention(1).numpy()).max() < 1e-6
    reader.key(Key.Key_L, Mod.ControlModifier)
    reader.type("b Z")
    reader.key(Key.Key_Return)
    reader.wait_for(lambda: "is no token of this model" in trip.strip.truth.text())
    reader.press("To the model")
    assert reader.window.current == "models"


@pytest.mark.slow
def test_a_token_that_is_removed_lets_the_model_read_the_others(reader: ModelReader) -> None:
    open_in_playground(reader)
    trip = reader.models.tools.trip
    before = reader.experiment.tokens
    reader.playground.inputs.query_box.tokens.token_removed.emit(0)
    reader.wait_for(lambda: trip.truth == "true")
    reader.settle()
    assert reader.experiment.tokens == before[1:]
    weights = compute(reader.experiment).array("weights")
    expected = read_model("induction").run(" ".join(before[1:])).attention(1).numpy()
    assert abs(weights - expected).max() < 1e-6
    reader.document.undo()
    reader.settle()
    assert trip.truth == "invented"  # undo does not run the model again
    reader.press("Run the model on these words")
    reader.wait_for(lambda: trip.truth == "true")


@pytest.mark.slow
def test_a_session_keeps_the_model_its_text_and_its_changes(
    reader: ModelReader, tmp_path: Path, sit_down: "Callable[..., Person]"
) -> None:
    open_in_playground(reader)
    reader.document.edit("halve W_v", lambda e: replace(e, weights=replace(e.weights, W_v=e.weights.W_v / 2)))
    reader.settle()
    reader.press("Run the model with it")
    reader.wait()
    reader.models.toggle_head(0, 0)
    reader.wait()
    reader.models.session.show(layer=0, head=1)
    reader.wait()
    expected = reader.list_predictions(), reader.in_map().copy()
    path = tmp_path / "with a model.attnlab"
    reader.playground.files.save_to(path)
    assert reader.playground.files.finish()
    other = sit_down(Source(path=path))
    again = ModelReader(other.window, other.qtbot)
    saved = tmp_path / "again.attnlab"
    again.playground.files.save_to(saved)
    assert again.playground.files.finish()
    for name in (path, saved):
        again.playground.files.open(name)
        again.settle()
    again.window.show_workspace("models")
    again.wait()
    assert again.models.session.state.text == "c a d b f e c a d"
    assert again.place == (0, 1)
    assert [each.place for each in again.models.session.state.off] == ["L0 H0"]
    assert again.list_predictions() == expected[0]
    assert (again.in_map() == expected[1]).all()
    again.find(QToolButton, "Remove Layer 1: W_v edited, 2,304 numbers")


def test_a_model_that_cannot_read_the_present_text_reads_one_of_its_own(reader: ModelReader) -> None:
    reader.open("characters", "Shall I")
    folder = str(find_shipped("reverse"))
    reader.models.open_model(folder)
    reader.wait_for(lambda: reader.models.session.overview is not None and len(reader.models.places) == 8)
    reader.wait()
    text = reader.models.session.state.text
    assert text.endswith("⟨")
    assert reader.find(QPlainTextEdit, "Input").toPlainText() == text
    assert reader.models.session.state.source == folder
    assert not reader.models.panel.message.isVisible()
    reader.check_every_map()
    reader.models.overview.setFocus()
    reader.key(Key.Key_Z, Mod.ControlModifier)
    reader.wait()
    assert reader.models.session.state.text == "Shall I"
    reader.check_every_map()


@pytest.mark.slow
def test_the_directions_of_the_lesson_switch_a_head_off_work(reader: ModelReader) -> None:
    """Follow its step “Try it on the model itself”, and read the predictions that the lesson tells."""
    field = reader.find(QPlainTextEdit, "Input")
    field.setFocus()
    field.selectAll()
    reader.type("c a d b c a")
    reader.wait()
    overview = reader.models.overview
    told = []
    for heads in (((1, 1),), ((1, 0),), ((1, 1), (1, 0), (0, 1))):  # the last three: both on again, then L0 H1 off
        for head in heads:
            reader.click(overview, overview.cell_rect(reader.models.places.index(head), 2, 2).center().toPoint())
            reader.wait()
            reader.key(Key.Key_Delete)
            reader.wait()
        told.append(reader.models.effect.sentence.text())
    one, both, previous = told
    assert one == "After “a”: still “d”, 99.8\N{NO-BREAK SPACE}% → 98.6\N{NO-BREAK SPACE}%."
    assert both.startswith("After “a”: “d” 99.8\N{NO-BREAK SPACE}% becomes “a” 2")
    assert previous == "After “a”: “d” 99.8\N{NO-BREAK SPACE}% becomes “c” 99.4\N{NO-BREAK SPACE}%."


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


def test_a_text_that_was_typed_goes_with_the_next_model_and_an_example_does_not(reader: ModelReader) -> None:
    reader.models.open_model("hidden-words")
    reader.wait()
    assert reader.models.session.state.text != "c a d b f e c a d"
    reader.open()
    reader.models.set_text("a b a b", "retype the input")
    reader.wait()
    reader.models.open_model("induction")
    reader.wait()
    assert reader.models.session.state.text == "a b a b"


def test_the_list_of_changes_says_that_it_is_empty_only_then(reader: ModelReader) -> None:
    assert reader.models.panel.nothing.isVisible()
    reader.models.toggle_shown()
    reader.wait()
    assert not reader.models.panel.nothing.isVisible()
    reader.models.session.undo()
    reader.wait()
    assert reader.models.panel.nothing.isVisible()


def test_all_heads_are_exported_as_one_page(reader: ModelReader) -> None:
    reader.window.refresh_actions()
    reader.window.actions_list["model-export-all"].trigger()
    dialog = reader.window.findChild(ExportDialog)
    assert dialog is not None
    source = dialog._source
    assert isinstance(source, Sheets)
    sheet = source.stage("all heads")
    assert sheet.titles == ("L0 H0", "L0 H1", "L1 H0", "L1 H1")
    weights = open_model("induction").run("c a d b f e c a d").attention(1)
    np.testing.assert_allclose(sheet.values[3], weights[1].numpy(), atol=1e-6)
    spec = dialog.form.read_spec()
    assert (spec.stages, spec.head) == (("all heads",), "all")
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
