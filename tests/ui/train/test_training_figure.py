"""Exports of a training: the visible maps as figures, as tables and on the clipboard."""

import csv
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage, QKeySequence
from PySide6.QtTest import QTest

from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.training.look import LayerMaps
from attnlab.training.tasks import make_spec
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.export.figure_choices import read_words, write_words
from attnlab.ui.train.inspector import Inspector, Seen
from tests.patience import PATIENCE_MS
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny


@pytest.fixture
def pupil(person: Person) -> Pupil:
    """A person at the first maps of an untrained model with two layers of two heads."""
    pupil = Pupil(person.window, person.qtbot)
    spec = tiny()
    spec = replace(spec, model=replace(spec.model, layers=2))
    pupil.begin(spec)
    pupil.wait_for(lambda: seen(pupil).spec == spec and len(pupil.trainer.maps.view.data) == 4)
    return pupil


def seen(pupil: Pupil) -> Seen:
    found = pupil.trainer.session.inspection.seen
    assert found is not None
    return found


def opened(pupil: Pupil) -> ExportDialog:
    """Open the dialog by its shortcut, and wait for the figure."""
    QTest.keySequence(pupil.window, QKeySequence("Ctrl+E"))
    found = [each for each in pupil.window.findChildren(ExportDialog) if each.isVisible()]
    assert len(found) == 1
    pupil.wait_for(lambda: found[0].preview.image is not None)
    return found[0]


def read_labels(layer: LayerMaps) -> tuple[str, ...]:
    """Return the labels of rows in words of the task: the letter read, and the letter written if there is one."""
    pairs = list(zip(layer.query_tokens, layer.writes, strict=True))
    assert any(wanted for _, wanted in pairs)
    return tuple(f"{read}→{wanted}" if wanted else read for read, wanted in pairs)


def texts(path: Path) -> list[str]:
    return [each.text or "" for each in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def test_visible_maps_are_drawn_with_task_step_and_layer(pupil: Pupil, tmp_path: Path) -> None:
    dialog = opened(pupil)
    assert (dialog.form.stages, dialog.form.read_spec().head) == (("decoder 1", "decoder 2"), "all")
    assert dialog.form.name.text() == "reverse-seed-0-step-0"
    page = dialog.preview.page
    assert page is not None
    assert page.title == ("Reverse, seed 0, step 0",)
    for (_, _, panel), layer in zip(page.panels, seen(pupil).look.maps, strict=True):
        np.testing.assert_array_equal(panel.data.values, layer.weights)
        assert panel.data.row_labels == read_labels(layer)
    assert dialog.export_to(tmp_path / "maps.svg")
    written = texts(tmp_path / "maps.svg")
    assert written[0] == "Reverse, seed 0, step 0"
    assert {"Decoder 1", "Decoder 2", "head 0", "head 1"} <= set(written)
    assert any(len(text) == 3 and text[1] == "→" for text in written)
    assert pupil.trainer.footer.message.text() == f"Saved {tmp_path / 'maps.svg'}"


@pytest.mark.slow
def test_an_enlarged_map_is_drawn_alone_as_previewed(pupil: Pupil, tmp_path: Path) -> None:
    pupil.trainer.maps.open_map(3)
    dialog = opened(pupil)
    assert (dialog.form.stages, dialog.form.read_spec().head) == (("decoder 2",), 1)
    assert dialog.form.name.text() == "reverse-seed-0-step-0-decoder-2-head-1"
    with pupil.qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        dialog.form.width_mm.setText("60")
    page = dialog.preview.page
    assert page is not None
    assert dialog.export_to(tmp_path / "map.png")
    image = QImage(str(tmp_path / "map.png"))
    assert (image.width(), image.height()) == page.pixels == (round(60 / 25.4 * 300), page.pixels[1])
    assert read_words(pupil.window.settings.figure)[0].width_mm == 60


@pytest.mark.slow
def test_a_table_has_the_numbers_of_the_map(pupil: Pupil, tmp_path: Path) -> None:
    pupil.trainer.maps.open_map(1)
    dialog = opened(pupil)
    dialog.form.format.setCurrentText("Table (CSV)")
    assert dialog.export_to(tmp_path / "map.csv")
    layer = seen(pupil).look.maps[0]
    header, *rows = csv.reader((tmp_path / "map.csv").read_text(encoding="utf-8").splitlines())
    assert header == ["query", *layer.key_tokens]
    assert tuple(row[0] for row in rows) == read_labels(layer)
    numbers = np.array([[float(text) for text in row[1:]] for row in rows], dtype=np.float32)
    np.testing.assert_array_equal(numbers, layer.weights[1])


@pytest.mark.slow
def test_visible_gradients_are_drawn(pupil: Pupil) -> None:
    pupil.click(pupil.trainer.maps.head.gradients)
    pupil.wait_for(lambda: bool(seen(pupil).gradients) and pupil.trainer.maps.view.data[0].kind == "signed")
    dialog = opened(pupil)
    page = dialog.preview.page
    assert page is not None
    assert page.title == ("Reverse, seed 0, step 0, gradients",)
    assert {panel.data.kind for _, _, panel in page.panels} == {"signed"}
    assert {panel.data.limit for _, _, panel in page.panels} == {pupil.trainer.maps.view.data[0].limit}
    dialog.close()


@pytest.mark.slow
def test_copied_maps_use_the_last_choices_for_figures(pupil: Pupil) -> None:
    pupil.window.change_settings(figure=write_words(FigureSpec(width_mm=100, dpi=150), "pdf"))
    assert pupil.window.actions_list.run("copy-picture")
    held = QGuiApplication.clipboard().mimeData()
    picture = QImage.fromData(held.data("image/png"), "PNG")
    assert picture.width() == round(100 / 25.4 * 150)
    root = ET.fromstring(bytes(held.data("image/svg+xml").data()))
    assert "Decoder 2" in {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert f"{picture.width()} × {picture.height()} pixels" in pupil.trainer.footer.message.text()
    QGuiApplication.clipboard().clear()


@pytest.mark.slow
def test_the_export_button_has_a_menu_of_formats(pupil: Pupil) -> None:
    menu = pupil.tools.export_button.menu()
    pupil.window.actions_list.refresh()
    offered = [(each.text(), each.shortcut().toString()) for each in menu.actions() if each.isVisible()]
    assert offered == [
        ("Export a picture or a table…", "Ctrl+E"),
        ("Export the curves…", ""),
        ("Export the answers…", ""),
        ("Export a film of the training…", "Ctrl+Shift+E"),
        ("Copy picture of the maps", ""),
    ]
    titles = [each.current_title() for each in pupil.window.actions_list]
    assert titles.count("Export a film of the training…") == 1
    pupil.window.show_workspace("playground")
    assert "Export a film of a sweep…" in [each.current_title() for each in pupil.window.actions_list]


def test_a_model_without_attention_has_no_maps_to_export(pupil: Pupil) -> None:
    spec = make_spec("copy", "recurrent")
    pupil.begin(replace(spec, model=replace(spec.model, layers=1, d_model=8)))
    pupil.wait_for(lambda: seen(pupil).spec.model.kind == "recurrent")
    for action in ("export", "copy-picture"):
        pupil.trainer.footer.show_message("")
        assert pupil.window.actions_list.run(action)
        assert pupil.trainer.footer.message.text().startswith("There is no map to export yet")
    assert not [each for each in pupil.window.findChildren(ExportDialog) if each.isVisible()]


@pytest.mark.slow
def test_maps_that_arrive_in_another_workspace_are_not_mixed_with_drawn_ones(pupil: Pupil) -> None:
    other = tiny("reverse")
    pupil.window.show_workspace("playground")
    pupil.trainer.session.inspection.look((other, 0, Inspector().make_first_weights(other)))
    pupil.wait_for(lambda: seen(pupil).spec == other)
    assert pupil.window.actions_list.run("train-figure")
    [dialog] = [each for each in pupil.window.findChildren(ExportDialog) if each.isVisible()]
    assert dialog.form.stages in {("decoder 1", "decoder 2"), ("decoder 1",)}
    pupil.wait_for(lambda: dialog.preview.image is not None)
    dialog.reject()
