"""The diagram of the open model: its blocks are read and clicked, its maps are those that the cards show."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QRadioButton

import attnlab
from attnlab.figures.diagram.scene import Label, Polyline
from attnlab.pretrained.model import read_model
from attnlab.ui.models.diagram_card import DiagramCard
from attnlab.ui.models.diagram_reader import NO_WEIGHTS
from attnlab.ui.train.diagram_window import DiagramWindow
from attnlab.ui.workspaces.models import MODELS
from attnlab.ui.workspaces.train import TRAIN
from tests.pretrained.conftest import make_model, save_tokenizer
from tests.ui.models.reader import ModelReader

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def card(reader: ModelReader) -> DiagramCard:
    """The diagram of the induction model."""
    reader.click(reader.find(QRadioButton, "Model", reader.models.header))
    reader.wait()
    return reader.models.cards.diagram


def click(reader: ModelReader, card: DiagramCard, name: str) -> None:
    """Click a region of the diagram."""
    region = card.view.scene.find(name)
    assert region is not None, [each.name for each in card.view.scene.regions]
    x, y, width, height = region.rect
    at = QPoint(round((x + width / 2) * card.view.zoom), round((y + min(height / 2, 9)) * card.view.zoom))
    reader.qtbot.mouseClick(card.view, Qt.MouseButton.LeftButton, pos=at)
    reader.wait()


def read(card: DiagramCard) -> list[str]:
    """Return what a screen reader reads of the diagram."""
    return [card.view.name_cell(place) for place in range(card.view.count_cells())]


def list_labels(card: DiagramCard) -> list[str]:
    """Return the texts that are drawn."""
    return [shape.text for shape in card.view.scene.shapes if isinstance(shape, Label)]


def test_the_diagram_takes_the_place_of_the_heads_and_gives_it_back(reader: ModelReader, card: DiagramCard) -> None:
    assert card.isVisible()
    assert not reader.models.overview.isVisible()
    assert reader.models.head.isVisible()
    said = read(card)
    assert "Attention only, 21,552 parameters, all trainable" in said
    assert "Masked self-attention, shape 9 by 48, 9,408 parameters, mask: causal" in said
    assert "Output, shape 9 by 19, 48 to 19, the embedding again" in said
    assert any(each.startswith("Place 9: b 100\N{NO-BREAK SPACE}%") for each in said)
    reader.click(reader.find(QRadioButton, "Maps", reader.models.header))
    assert reader.models.overview.isVisible()
    assert not card.isVisible()


def test_the_key_draws_the_model_of_the_workspace_that_is_shown(reader: ModelReader) -> None:
    keys, card = Mod.ControlModifier | Mod.ShiftModifier, reader.models.cards.diagram
    reader.key(Key.Key_D, keys)
    reader.wait()
    assert reader.window.current == MODELS.name
    assert card.isVisible()
    assert "Masked self-attention, shape 9 by 48, 9,408 parameters, mask: causal" in read(card)
    reader.key(Key.Key_D, keys)
    assert not card.isVisible()
    reader.key(Key.Key_1, Mod.ControlModifier)
    reader.key(Key.Key_D, keys)
    trainer = reader.window.workspace(TRAIN)
    assert trainer is not None
    assert trainer.maps.model.isVisible()
    assert not reader.models.session.view.drawn
    assert reader.window.actions_list["draw-model"].isChecked()
    reader.key(Key.Key_D, keys)
    assert not trainer.maps.model.isVisible()


def test_a_click_on_a_map_opens_it_and_layers_count_from_0(reader: ModelReader, card: DiagramCard) -> None:
    assert reader.place == (1, 1)
    click(reader, card, "decoder 1 attention · head 0")
    assert reader.place == (1, 0)
    click(reader, card, "layer Decoder 0")
    click(reader, card, "decoder 0 attention · head 1")
    assert reader.place == (0, 1)
    expected = read_model("induction").run("c a d b f e c a d").attention(0)[1].numpy()
    np.testing.assert_array_equal(reader.in_map(), expected)
    assert card.details.title.text() == "Decoder 0 · masked self-attention"
    assert "9,408 of 21,552" in card.details._parameters_head.text()
    assert card.view.data is not None
    np.testing.assert_array_equal(card.view.data.maps["decoder 0"][0][1], expected)


def test_a_head_chosen_elsewhere_is_ringed_and_a_change_is_drawn(reader: ModelReader, card: DiagramCard) -> None:
    reader.models.session.show(layer=0, head=0)
    reader.wait()
    assert card.view._selected == ("decoder 0 attention", "decoder 0 attention · head 0")
    assert card.view.data is not None
    before = card.view.data.maps["decoder 1"][0]
    reader.models.toggle_head(0, 0)
    reader.wait()
    after = card.view.data.maps["decoder 1"][0]
    assert abs(after - before).max() > 0.01


def test_a_head_that_is_off_is_crossed_out_and_said_to_be(reader: ModelReader, card: DiagramCard) -> None:
    def find_crosses() -> list[Polyline]:
        return [shape for shape in card.view.scene.shapes if isinstance(shape, Polyline) and shape.ink == "bad"]

    reader.models.session.show(layer=1, head=1)
    reader.wait()
    assert not find_crosses()
    reader.models.toggle_head(1, 1)
    reader.wait()
    region = card.view.scene.find("decoder 1 attention · head 1")
    assert region is not None
    left, top, width, height = region.rect
    one, other = find_crosses()
    assert one.points == ((left, top), (left + width, top + height))
    assert other.points == ((left + width, top), (left, top + height))
    said = "Masked self-attention, head {}, map"
    assert said.format(1) + ", switched off" in read(card)
    assert said.format(0) in read(card)


def test_large_type_shows_the_diagram_and_the_maps_from_their_tops(reader: ModelReader) -> None:
    keys, bar = Mod.ControlModifier | Mod.ShiftModifier, reader.models.room.area.verticalScrollBar()
    reader.window.change_settings(type_size=150)
    reader.window.resize(1366, 768)
    reader.wait_for(lambda: bar.maximum() > 0)
    overview = reader.models.overview
    for _ in range(2):
        reader.click(overview, overview.cell_rect(1, 2, 2).center().toPoint())
        reader.wait()
        for _ in range(2):
            reader.key(Key.Key_D, keys)
            reader.wait()
            reader.window.grab()
            assert bar.value() == 0
            bar.setValue(bar.maximum() // 2)


def test_arrow_keys_walk_and_enter_opens_a_block(reader: ModelReader, card: DiagramCard) -> None:
    reader.wait_for(card.view.hasFocus)
    names = set()
    for key in (Key.Key_Down, *(Key.Key_Down,) * 12):
        reader.qtbot.keyClick(card.view, key)
        place = card.view.current_cell
        assert place is not None
        names.add(card.view.scene.regions[place].name)
        if card.view.scene.regions[place].name == "embedding":
            break
    assert "embedding" in names
    reader.qtbot.keyClick(card.view, Key.Key_Return)
    assert card.details.title.text() == "Embedding"


@pytest.mark.slow
def test_stacks_unfold_and_a_block_of_cross_attention_opens_its_part(
    reader: ModelReader, card: DiagramCard, tmp_path: Path
) -> None:
    make_model("t5").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "t5")
    reader.open(str(tmp_path), "the cat sat on the mat")
    click(reader, card, "decoder 1 cross-attention · head 2")
    assert reader.models.session.view.part == "cross"
    assert reader.place == (1, 2)
    run = read_model(str(tmp_path)).run("the cat sat on the mat", "")
    np.testing.assert_array_equal(reader.in_map(), run.attention(1, "cross")[2].numpy())
    before = len(card.view.scene.regions)
    click(reader, card, "fold Encoder")
    assert len(card.view.scene.regions) > before
    assert card.view.scene.find("encoder 0 attention") is not None
    click(reader, card, "fold Encoder")
    assert card.view.scene.find("encoder 0 attention") is None


@pytest.mark.parametrize("size", [(1366, 768), (1024, 640)])
def test_both_halves_of_a_t5_fit_into_a_small_window(
    reader: ModelReader, card: DiagramCard, tmp_path: Path, size: tuple[int, int]
) -> None:
    make_model("t5").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "t5")
    reader.window.resize(*size)
    reader.open(str(tmp_path), "the cat sat")
    reader.wait_for(lambda: any(each.startswith("Cross-attention") for each in read(card)))
    assert card.area.horizontalScrollBar().maximum() == 0
    assert card.view.zoom >= 0.9


def test_long_tokens_are_legible_in_fewer_answers(reader: ModelReader, card: DiagramCard, tmp_path: Path) -> None:
    make_model("gpt2").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "gpt2")
    reader.window.resize(1366, 768)
    text = "the cat sat on the mat , it was soft the cat"
    reader.open(str(tmp_path), text)
    reader.wait_for(lambda: "[12, 14]" in list_labels(card))
    assert read_model(str(tmp_path)).run(text).predictions()[0][0] == "[SEP]"
    assert list_labels(card).count("[SEP]") == 8
    assert "the last 8 of 12 positions" in list_labels(card)


def test_the_diagram_is_saved_as_a_figure(reader: ModelReader, card: DiagramCard, tmp_path: Path) -> None:
    reader.click(reader.models.header.export)
    (dialog,) = reader.window.findChildren(QFileDialog)
    assert Path(dialog.selectedFiles()[0]).name == "induction-model.png"
    path = tmp_path / "model.svg"
    dialog.fileSelected.emit(str(path))
    dialog.close()
    reader.wait_for(lambda: reader.models.footer.note.text() == f"Saved {path}")
    text = path.read_text()
    assert "induction, Attention only" in text
    assert "21,552" in text


def test_a_capture_says_why_there_is_no_diagram(reader: ModelReader, card: DiagramCard, tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    attnlab.capture(make_model("gpt2"), input_ids=torch.tensor([[5, 6, 7]])).save(path)
    reader.models.open_model(str(path))
    reader.wait()
    assert card.message.text() == NO_WEIGHTS
    assert not card.view.isVisible()
    reader.models.session.show(drawn=False)
    reader.key(Key.Key_F5)  # there is nothing to present
    reader.wait()
    assert card.message.isVisible()
    reader.key(Key.Key_F5)
    reader.open()
    assert card.view.isVisible()
    assert not card.message.isVisible()
    assert not reader.window.findChildren(DiagramWindow)
    reader.key(Key.Key_F5)
    (shown,) = reader.window.findChildren(DiagramWindow)
    reader.qtbot.keyClick(shown, Key.Key_Escape)
    reader.wait_for(lambda: not reader.window.findChildren(DiagramWindow))
    assert reader.models.session.view.drawn  # the maps were not where that key was pressed


def test_f5_presents_the_diagram_block_by_block(reader: ModelReader, card: DiagramCard) -> None:
    reader.wait_for(card.view.hasFocus)
    click(reader, card, "embedding")
    reader.qtbot.keyClick(card.view, Key.Key_F5)
    (shown,) = reader.window.findChildren(DiagramWindow)
    assert shown.isFullScreen()
    words = shown.words.sections[0]
    seen = [words.title.text()]
    for _ in range(6):
        reader.qtbot.keyClick(shown, Key.Key_Right)
        seen.append(words.title.text())
    assert seen == ["Embedding", "Masked self-attention", "Norm", *["Output"] * 4]
    assert words.sizes.text() == "[9, 19]\nnothing to learn"
    reader.qtbot.keyClick(shown, Key.Key_Home)
    assert (words.title.text(), words.about.text()) == ("Attention only", "21,552 parameters in 7 blocks.")
    reader.qtbot.keyClick(shown, Key.Key_Space)
    reader.qtbot.keyClick(shown, Key.Key_PageDown)
    assert "Q  [2, 9, 24]  from the stream" in words.sizes.text()
    assert shown.canvas.ringed == ["decoder 1 attention"]
    reader.qtbot.keyClick(shown, Key.Key_Escape)
    reader.wait_for(lambda: not reader.window.findChildren(DiagramWindow))


def test_a_large_window_gives_the_diagram_its_room(reader: ModelReader, card: DiagramCard) -> None:
    """The chosen block stands beside the diagram, which grows with the window and does not scroll."""
    reader.window.resize(1366, 768)
    reader.wait_for(lambda: card.view.zoom == 1 and card.area.isAncestorOf(card.details))
    reader.window.resize(1920, 1080)
    reader.wait_for(lambda: not card.area.isAncestorOf(card.details) and card.view.zoom > 1)
    assert card.details.isVisible()
    assert card.area.verticalScrollBar().maximum() == card.area.horizontalScrollBar().maximum() == 0
    drawn = [region.rect for region in card.view.scene.regions]
    right = max(x + width for x, _, width, _ in drawn) * card.view.zoom
    assert right >= 0.9 * card.area.viewport().width()
    assert card.view.height() >= 0.8 * card.area.viewport().height()


def test_f5_on_the_maps_draws_and_presents_the_model(reader: ModelReader) -> None:
    reader.open()
    reader.models.session.show(drawn=False)
    reader.key(Key.Key_F5)
    reader.wait_for(lambda: bool(reader.window.findChildren(DiagramWindow)))
    (shown,) = reader.window.findChildren(DiagramWindow)
    assert shown.words.sections[0].title.text() == "Embedding"
    reader.qtbot.keyClick(shown, Key.Key_Escape)
    reader.wait_for(lambda: not reader.window.findChildren(DiagramWindow))
    assert not reader.models.session.view.drawn
    assert reader.models.overview.isVisible()
    reader.key(Key.Key_F5)
    reader.models.session.show(drawn=False)  # before the model is drawn
    reader.models.session.show(drawn=True)
    reader.wait()
    assert not reader.window.findChildren(DiagramWindow)
    reader.models.session.show(drawn=False)
    reader.key(Key.Key_F5)
    for workspace in ("playground", "models"):  # left before the model is drawn
        reader.window.show_workspace(workspace)
    reader.wait()
    assert not reader.window.findChildren(DiagramWindow)
    reader.key(Key.Key_F5)
    (shown,) = reader.window.findChildren(DiagramWindow)
    reader.qtbot.keyClick(shown, Key.Key_Escape)
    reader.wait_for(lambda: not reader.window.findChildren(DiagramWindow))
    assert reader.models.session.view.drawn  # where the second key was pressed
