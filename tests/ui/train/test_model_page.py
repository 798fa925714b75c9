"""The model, drawn: a person shows it, clicks blocks, folds layers, walks with the keys, and saves the picture."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel

from attnlab.training.specs import RunSpec
from attnlab.ui.train.diagram_window import DiagramWindow
from attnlab.ui.train.model_page import ModelPage
from tests.ui.train.pupil import Pupil, tiny

Left = Qt.MouseButton.LeftButton


def begin(pupil: Pupil, kind: str, **sizes: int | str) -> ModelPage:
    """Show the diagram of an untrained model."""
    spec = tiny(kind=kind)
    spec = replace(spec, model=replace(spec.model, **sizes))  # type: ignore[arg-type]
    pupil.begin(spec)
    click_segment(pupil, "Model")
    wait_for(pupil, spec)
    return pupil.trainer.maps.model


def wait_for(pupil: Pupil, spec: RunSpec) -> None:
    page = pupil.trainer.maps.model
    pupil.wait_for(lambda: page.seen is not None and page.seen.spec.model == spec.model)


def click_segment(pupil: Pupil, name: str) -> None:
    button = next(each for each in pupil.trainer.maps.head.pages.buttons() if each.text() == name)
    QTest.mouseClick(button, Left)


def place(page: ModelPage, name: str) -> QPoint:
    region = page.view.scene.find(name)
    assert region is not None, f"{name} is not among {[each.name for each in page.view.scene.regions]}"
    at = page.view.scene.regions.index(region)
    return page.view.locate_cell(at).center().toPoint()


def click(page: ModelPage, name: str) -> None:
    QTest.mouseClick(page.view, Left, pos=place(page, name))


def texts(page: ModelPage) -> list[str]:
    return [label.text() for label in page.details.findChildren(QLabel) if not label.isHidden()]


def test_the_model_is_drawn_with_real_counts_and_maps_in_place_of_the_curves(pupil: Pupil) -> None:
    page = begin(pupil, "encoder-decoder", layers=2)
    maps, session = pupil.trainer.maps, pupil.trainer.session
    assert maps.stack.currentWidget() is page
    assert page.isVisible()
    assert not pupil.trainer.side.isVisible()
    seen, data = page.seen, page.view.data
    assert seen is not None
    assert data is not None
    assert session.valid is not None
    assert data.inside.tree.total == session.valid.parameters
    for each in seen.look.maps:
        np.testing.assert_array_equal(data.maps[each.layer][0], each.weights)
    assert page.details.title.text() == "Decoder 2 · cross-attention"
    click_segment(pupil, "Maps")
    assert maps.stack.currentWidget() is maps.overview
    assert pupil.trainer.side.isVisible()


@pytest.mark.slow
def test_a_clicked_block_shows_its_formula_shapes_and_parameters(pupil: Pupil) -> None:
    page = begin(pupil, "encoder-decoder")
    click(page, "encoder 1 feed-forward")
    assert page.details.title.text() == "Encoder 1 · feed-forward"
    told = texts(page)
    assert "[6, 16]" in told
    assert any(text.startswith("Parameters: 544 of ") for text in told)
    assert page.details.heads.isHidden()
    click(page, "decoder 1 attention · head 1")
    assert page.chosen == ("decoder 1 attention", 1)
    assert "[2, 7, 7]" in texts(page)
    assert len(page.details.heads.data) == 2
    click(page, "memory")
    assert page.details.title.text() == "Memory"


@pytest.mark.slow
def test_a_head_opens_its_large_map_and_its_layer_in_the_playground(pupil: Pupil) -> None:
    page = begin(pupil, "encoder-decoder")
    click(page, "decoder 1 cross-attention · head 1")
    QTest.mouseClick(page.details.large_button, Left)
    maps = pupil.trainer.maps
    assert maps.large_map.index is not None
    assert maps.view.titles[maps.large_map.index] == "Cross 1 · head 1"
    QTest.keyClick(maps.large_map.sheet, Qt.Key.Key_Escape)
    assert maps.stack.currentWidget() is page
    QTest.mouseClick(page.details.open_button, Left)
    pupil.wait_for_playground()
    assert page.seen is not None
    weights = next(each.weights for each in page.seen.look.maps if each.layer == "cross 1")
    np.testing.assert_allclose(pupil.painted("weights"), weights[1:], atol=1e-6)


@pytest.mark.slow
def test_layers_fold_and_another_one_opens(pupil: Pupil) -> None:
    page = begin(pupil, "decoder", layers=3)
    names = [region.name for region in page.view.scene.regions]
    assert "decoder 3 attention" in names
    assert "decoder 1 attention" not in names
    click(page, "layer Decoder 0")
    assert page.details.title.text() == "Decoder 1 · masked self-attention"
    assert page.view.scene.find("decoder 1 attention") is not None
    height = page.view.height()
    click(page, "fold Decoder")
    assert all(page.view.scene.find(f"decoder {i} attention") is not None for i in (1, 2, 3))
    pupil.wait_for(lambda: page.view.height() > height)
    click(page, "fold Decoder")
    assert page.view.scene.find("decoder 3 attention") is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["recurrent", "luong", "bahdanau"])
def test_a_step_of_a_recurrent_model_is_pointed_at(pupil: Pupil, kind: str) -> None:
    page = begin(pupil, kind)
    click(page, "step 2")
    data = page.view.data
    assert data is not None
    if kind == "recurrent":
        assert page.view.scene.find("vector") is not None
        assert page.view.scene.find("weight 0") is None
        return
    spoken = [region.spoken for region in page.view.scene.regions if region.name.startswith("weight ")]
    row = data.maps["alignment"][0][0, 2]
    assert [each.split(": ")[1] for each in spoken] == [f"{weight:.4f}" for weight in row]


@pytest.mark.slow
def test_the_keys_walk_the_blocks_and_a_screen_reader_hears_them(pupil: Pupil) -> None:
    page = begin(pupil, "encoder-decoder")
    view = page.view
    spoken = [view.name_cell(i) for i in range(view.count_cells())]
    assert any(each.startswith("Cross-attention, shape 7 by 16, ") and "1,088 parameters" in each for each in spoken)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_Down)
    first = view.current_cell
    assert first is not None
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.current_cell not in (None, first)
    click(page, "decoder 1 feed-forward")
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_Down)
    below = view.current_cell
    assert below is not None
    assert view.scene.regions[below].name != "decoder 1 feed-forward"
    QTest.keyClick(view, Qt.Key.Key_Left)
    QTest.keyClick(view, Qt.Key.Key_Return)


@pytest.mark.slow
def test_without_tab_the_arrow_keys_belong_to_the_time_line(pupil: Pupil) -> None:
    page = begin(pupil, "decoder")
    page.view.setFocus(Qt.FocusReason.MouseFocusReason)
    QTest.keyClick(page.view, Qt.Key.Key_Down)
    assert page.view.current_cell is None


@pytest.mark.slow
def test_the_diagram_follows_a_training(pupil: Pupil) -> None:
    page = begin(pupil, "encoder-decoder")
    pupil.trainer.start()
    pupil.wait_for_step(5)
    pupil.trainer.session.pause()
    pupil.wait_for(lambda: pupil.trainer.session.state == "paused")
    pupil.wait_for(lambda: page.seen is not None and page.seen.look.step == pupil.run.weights_step)
    seen = page.seen
    assert seen is not None
    assert seen.inside is not None
    right, asked = seen.inside.count_right()
    assert 0 <= right <= asked == 7


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_diagram_is_saved_as_a_figure(pupil: Pupil, tmp_path: Path, ending: str) -> None:
    begin(pupil, "encoder-decoder")
    QTest.keySequence(pupil.window, QKeySequence("Ctrl+E"))
    dialog = pupil.window.findChild(QFileDialog)
    assert dialog is not None
    path = tmp_path / f"model.{ending}"
    dialog.fileSelected.emit(str(path))
    dialog.close()
    assert path.stat().st_size > 1000
    assert pupil.trainer.footer.message.text() == f"Saved {path}"


@pytest.mark.slow
def test_an_ending_that_is_no_figure_is_refused(pupil: Pupil, tmp_path: Path) -> None:
    begin(pupil, "decoder")
    pupil.tools.diagram.export_to(tmp_path / "model.gif")
    assert "cannot have the ending '.gif'" in pupil.trainer.footer.message.text()
    assert not list(tmp_path.iterdir())


def train(pupil: Pupil, kind: str) -> Path:
    """Train a model to its end and return the folder of its run, once it is saved."""
    pupil.begin(tiny(kind=kind, steps=20))
    pupil.train_to_the_end()
    folder = pupil.tools.keeper.find_folder(pupil.run)
    assert folder is not None
    pupil.wait_for(lambda: any(each.folder == folder for each in pupil.tools.runs.found))
    return folder


@pytest.mark.slow
def test_two_runs_side_by_side_are_both_drawn_and_share_what_is_chosen(pupil: Pupil) -> None:
    """Without attention beside with it: a click on a step of one points at that step in both."""
    folder = train(pupil, "luong")
    train(pupil, "recurrent")
    comparing = pupil.tools.comparing
    comparing.compare(folder)
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.seen is not None)
    second = comparing.second
    assert second is not None
    click_segment(pupil, "Model")
    pupil.wait_for(lambda: second.model.seen is not None and pupil.trainer.maps.model.seen is not None)
    page = pupil.trainer.maps.model
    assert page.view.scene.find("weight 0") is None
    assert page.view.scene.find("vector") is not None
    click(page, "step 1")
    assert second.model.seen is not None
    row = second.model.seen.look.maps[0].weights[0, 1]
    spoken = [each.spoken for each in second.model.view.scene.regions if each.name.startswith("weight ")]
    assert [each.split(": ")[1] for each in spoken] == [f"{weight:.4f}" for weight in row]
    assert second.model.details.open_button.isHidden()
    click_segment(pupil, "Maps")
    assert not second.shows_model


@pytest.mark.slow
def test_the_palette_draws_the_model_and_a_key_takes_it_away(pupil: Pupil) -> None:
    pupil.begin(tiny(kind="decoder"))
    QTest.keySequence(pupil.window, QKeySequence("Ctrl+Shift+D"))
    maps = pupil.trainer.maps
    assert maps.shows_model
    pupil.wait_for(lambda: maps.model.seen is not None)
    QTest.keySequence(pupil.window, QKeySequence("Ctrl+Shift+D"))
    assert not maps.shows_model
    assert isinstance(maps.head.pages.buttons()[0], QAbstractButton)
    assert maps.head.pages.buttons()[0].isChecked()


@pytest.mark.slow
def test_f5_on_the_maps_presents_the_model_and_not_the_experiment_of_the_playground(pupil: Pupil) -> None:
    pupil.begin(tiny(kind="decoder"))
    pupil.key(Qt.Key.Key_F5)
    pupil.wait_for(lambda: bool(pupil.window.findChildren(DiagramWindow)))
    (shown,) = pupil.window.findChildren(DiagramWindow)
    assert shown.words.sections[0].title.text() == "Masked self-attention"
    lessons = pupil.window.lessons
    assert lessons is None or lessons.presentation is None
    QTest.keyClick(shown, Qt.Key.Key_Escape)
    pupil.wait_for(lambda: not pupil.window.findChildren(DiagramWindow))
    assert (pupil.window.current, pupil.trainer.maps.page) == ("train", "maps")
    pupil.key(Qt.Key.Key_F5)
    for workspace in ("playground", "train"):  # left before the model is drawn
        pupil.window.show_workspace(workspace)
    pupil.wait_for(lambda: not pupil.trainer.session.inspection.busy)
    assert not pupil.window.findChildren(DiagramWindow)
    pupil.key(Qt.Key.Key_F5)
    (shown,) = pupil.window.findChildren(DiagramWindow)
    QTest.keyClick(shown, Qt.Key.Key_Escape)
    pupil.wait_for(lambda: not pupil.window.findChildren(DiagramWindow))
    assert pupil.trainer.maps.page == "model"  # where the second key was pressed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["encoder-decoder", "recurrent"])
def test_f5_presents_the_blocks_in_the_order_of_the_text(pupil: Pupil, kind: str) -> None:
    page = begin(pupil, kind)
    click(page, "output")
    page.view.setFocus()
    QTest.keyClick(page.view, Qt.Key.Key_F5)
    (shown,) = pupil.window.findChildren(DiagramWindow)
    assert shown.words.sections[0].title.text() == "Output"
    QTest.keyClick(shown, Qt.Key.Key_Home)
    seen = []
    for _ in shown.steps[1:]:
        QTest.keyClick(shown, Qt.Key.Key_Right)
        (block,) = shown.steps[shown.place]
        assert block is not None
        seen.append(block.name)
    assert seen[0] == "encoder embedding"
    assert seen.index("vector" if kind == "recurrent" else "memory") < seen.index("decoder embedding")
    assert seen[-1] == "output"
    assert all(shown.canvas.scene.find(name) is not None for name in seen)
    QTest.keyClick(shown, Qt.Key.Key_F5)
    pupil.wait_for(lambda: not pupil.window.findChildren(DiagramWindow))
