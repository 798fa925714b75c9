"""The engineer's walk: a folder of one's own, the head that looks back, switched off, another next word, a PDF."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from attnlab.base import assets
from attnlab.pretrained import find_model
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.models.models_cards import ORDERS
from attnlab.ui.widgets.fields.switch import Switch
from tests.ui.models.reader import ModelReader


def test_a_folder_is_opened_a_head_found_switched_off_and_saved_as_a_pdf(reader: ModelReader, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(assets.path("models/induction/run.json").parent, folder)
    reader.open(str(folder), "c a d b f e c a d")
    models = reader.models
    assert reader.window.windowTitle() == "own — attnlab"
    reader.choose("Sort by", ORDERS["previous"])
    reader.wait()
    reader.click(models.overview, models.overview.cell_rect(0, 4, 4).center().toPoint())
    reader.wait()
    assert reader.place == (0, 1)
    before = reader.list_predictions()[0]
    reader.press("L0 H1 on", Switch)
    reader.wait()
    assert models.effect.sentence.text().startswith(f"After “d”: “{before[0]}” 99.8\N{NO-BREAK SPACE}% becomes “")
    reader.check_every_map()
    reader.key(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    dialog = reader.window.findChild(ExportDialog)
    assert dialog is not None
    assert dialog.form.read_spec().head == 1
    assert dialog.form.name.text() == "own-layer-0-head-1"
    dialog.form.heads.setCurrentIndex(dialog.form.heads.findData(0))
    assert dialog.form.name.text() == "own-layer-0-head-0"
    dialog.form.heads.setCurrentIndex(dialog.form.heads.findData(1))
    pdf = tmp_path / "head.pdf"
    assert dialog.export_to(pdf)
    assert pdf.read_bytes().startswith(b"%PDF")
    dialog.close()


def test_the_models_to_choose_from_have_titles(reader: ModelReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_model, "list_cached", lambda: ["gpt2"])
    reader.click(reader.models.header.model)
    reader.wait_for(lambda: bool(reader.models.header.findChildren(QMenu)))
    (menu,) = reader.models.header.findChildren(QMenu)
    titles = [each.text() for each in menu.actions() if not each.isEnabled() and not each.isSeparator()]
    assert titles == ["Small models that come with attnlab", "In the Hugging Face cache"]
    assert not menu.actions()[0].isSeparator()
    menu.close()
