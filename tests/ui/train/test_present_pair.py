"""Two models side by side are presented and exported together: row K4, an encoder beside a decoder."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from attnlab.figures.diagram.diagram_layout import GAP, lay_out_beside
from attnlab.figures.diagram.scene_painter import measure_label
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.ui.train.diagram_window import WIDTHS, DiagramWindow
from attnlab.ui.train.model_page import ModelPage
from tests.ui.train.pupil import Pupil, tiny

Key = Qt.Key


def show_pair(pupil: Pupil) -> tuple[ModelPage, ModelPage]:
    """Draw an untrained decoder, and an untrained encoder beside it."""
    pupil.begin(tiny())
    pupil.trainer.maps.show_page("model")
    comparing = pupil.tools.comparing
    comparing.compare_kind("encoder")
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.model.seen is not None)
    assert comparing.second is not None
    return pupil.trainer.maps.model, comparing.second.model


def present(pupil: Pupil, page: ModelPage) -> DiagramWindow:
    page.view.setFocus()
    QTest.keyClick(page.view, Key.Key_F5)
    (shown,) = pupil.window.findChildren(DiagramWindow)
    return shown


def read(shown: DiagramWindow) -> list[str]:
    """Return the titles that are shown beside the diagrams."""
    return [each.title.text() for each in shown.words.sections if each.title.isVisible()]


def leave(pupil: Pupil, shown: DiagramWindow) -> None:
    QTest.keyClick(shown, Key.Key_Escape)
    pupil.wait_for(lambda: not pupil.window.findChildren(DiagramWindow))


@pytest.mark.slow
def test_f5_on_the_maps_presents_both_models(pupil: Pupil) -> None:
    pupil.begin(tiny())
    pupil.tools.comparing.compare_kind("encoder")
    pupil.wait_for(lambda: pupil.tools.comparing.second is not None)
    pupil.settle()
    pupil.key(Key.Key_F5)
    pupil.wait_for(lambda: bool(pupil.window.findChildren(DiagramWindow)))
    (shown,) = pupil.window.findChildren(DiagramWindow)
    assert read(shown) == ["Masked self-attention", "Self-attention"]
    leave(pupil, shown)


@pytest.mark.slow
def test_f5_waits_for_the_second_model_to_be_drawn(pupil: Pupil) -> None:
    pupil.begin(tiny())
    page = pupil.trainer.maps.model
    pupil.trainer.maps.show_page("model")
    pupil.wait_for(lambda: page.seen is not None)
    comparing = pupil.tools.comparing
    comparing.compare_kind("encoder")
    pupil.wait_for(lambda: comparing.second is not None)
    page.view.setFocus()  # as a rule before the second is drawn, which a fast machine may have done
    QTest.keyClick(page.view, Key.Key_F5)
    pupil.wait_for(lambda: bool(pupil.window.findChildren(DiagramWindow)))
    (shown,) = pupil.window.findChildren(DiagramWindow)
    assert len(read(shown)) == 2
    leave(pupil, shown)
    assert pupil.trainer.maps.page == "model"


@pytest.mark.slow
def test_a_second_model_that_cannot_read_the_input_leaves_the_first_to_be_presented(pupil: Pupil) -> None:
    spec = tiny(steps=30)
    pupil.begin(replace(spec, options={**spec.options, "longest": 4}))
    pupil.train_to_the_end()
    folder = pupil.tools.keeper.find_folder(pupil.run)
    assert folder is not None
    longer = Run(spec, "longer inputs")
    longer.recorder.add(Moment(0, draw_first_weights(spec), math.nan))
    pupil.trainer.session.open_run(longer)
    pupil.wait_for(lambda: not pupil.trainer.session.inspection.busy)
    pupil.trainer.session.set_probe("a b c d e f")
    pupil.wait_for(lambda: pupil.trainer.session.inspection.probe == "a b c d e f")
    comparing = pupil.tools.comparing
    comparing.compare(folder)
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.wrong.text() != "")
    pupil.key(Key.Key_F5)
    pupil.wait_for(lambda: bool(pupil.window.findChildren(DiagramWindow)))
    (shown,) = pupil.window.findChildren(DiagramWindow)
    assert len(shown.diagrams) == 1
    leave(pupil, shown)


@pytest.mark.slow
def test_f5_presents_both_models_and_the_keys_walk_both_at_once(pupil: Pupil) -> None:
    pages = show_pair(pupil)
    shown = present(pupil, pages[0])
    assert read(shown) == ["Masked self-attention", "Self-attention"]
    masks = [each.about.text() for each in shown.words.sections]
    assert masks[0].endswith("attends to itself and the positions before it.")
    assert "Nothing is hidden here" in masks[1]
    assert shown.canvas.ringed == ["decoder 1 attention", "2. encoder 1 attention"]
    QTest.keyClick(shown, Key.Key_Home)
    whole = read(shown)
    assert ["GPT-style decoder" in whole[0], "BERT-style encoder" in whole[1]] == [True, True]
    seen = []
    for _ in shown.steps[1:]:
        QTest.keyClick(shown, Key.Key_Right)
        seen.append(read(shown))
        scene = shown.canvas.scene
        lefts = [scene.find(name).rect[0] for name in shown.canvas.ringed]  # type: ignore[union-attr]
        assert len(lefts) == 2
        assert lefts[0] < scene.width / 2 < lefts[1]
    assert seen == [
        ["Embedding"],
        ["Masked self-attention", "Self-attention"],
        ["Feed-forward"],
        ["Norm"],
        ["Output", "Output"],
    ]
    comes_out = [each.about.text().split(". ")[0] for each in shown.words.sections]
    assert comes_out == ["Each position predicts the next token", "Each position predicts its own token"]
    leave(pupil, shown)


@pytest.mark.slow
def test_diagrams_are_as_large_as_the_screen_allows(pupil: Pupil) -> None:
    shown = present(pupil, show_pair(pupil)[0])
    scenes = [lay_out_beside(shown.diagrams, 2 * width + GAP, measure_label) for width in WIDTHS]
    for width, height in ((418, 744), (1000, 600), (1500, 1000), (2600, 700)):
        shown.canvas.resize(width, height)
        shape = shown.canvas.scene.width, shown.canvas.scene.height
        largest = max(min(width / each.width, height / each.height) for each in scenes)
        assert min(width / shape[0], height / shape[1]) == largest
    leave(pupil, shown)


@pytest.mark.slow
def test_the_second_model_presents_both_too_and_closed_it_leaves_one(pupil: Pupil) -> None:
    first, second = show_pair(pupil)
    second.choose("output")
    shown = present(pupil, second)
    assert shown.canvas.ringed == ["output", "2. output"]
    assert [each.data.inside.tree.kind for each in shown.diagrams] == ["decoder", "encoder"]
    leave(pupil, shown)
    pupil.tools.comparing.close()
    shown = present(pupil, first)
    assert len(shown.diagrams) == len(shown.words.sections) == 1
    leave(pupil, shown)


@pytest.mark.slow
def test_the_exported_figure_has_both_models(pupil: Pupil, tmp_path: Path) -> None:
    pages = show_pair(pupil)
    pupil.tools.diagram.ask_export()
    dialog = pupil.window.findChild(QFileDialog)
    assert dialog is not None
    path = tmp_path / "both.svg"
    dialog.fileSelected.emit(str(path))
    dialog.close()
    text = path.read_text()
    for page in pages:
        assert page.view.data is not None
        tree = page.view.data.inside.tree
        assert tree.title in text
        assert f"{tree.total:,}" in text
