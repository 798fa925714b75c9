"""A capture in the workspace of models: its maps are shown; what needs the model itself is refused in a sentence."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import Qt

import attnlab
from attnlab.cli.main import find_other
from attnlab.ui.app.open_file import open_path
from attnlab.ui.models.effect_card import FIXED
from tests.nursery import run_python
from tests.pretrained.conftest import make_model
from tests.ui.models.reader import ModelReader


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    attnlab.capture(make_model("gpt2"), input_ids=torch.tensor([[5, 6, 7, 5, 8]])).save(tmp_path / "mine.safetensors")
    return tmp_path / "mine.safetensors"


def open_capture(reader: ModelReader, capture: Path) -> attnlab.Capture:
    open_path(reader.window, capture)
    reader.wait()
    found = attnlab.read_model(capture)
    assert isinstance(found, attnlab.Capture)
    return found


@pytest.mark.slow
def test_a_capture_is_opened_like_a_model(reader: ModelReader, capture: Path) -> None:
    found = open_capture(reader, capture)
    for place in range(found.n_layers * found.n_heads):
        reader.models.overview.head_chosen.emit(place)
        reader.wait()
        layer, head = reader.place
        np.testing.assert_array_equal(reader.in_map(), found.attention(layer)[head].numpy())
    assert reader.models.panel.text.toPlainText() == "0 1 2 3 4"
    assert reader.models.header.badge.text().startswith("✓ true to the model")
    assert not reader.models.header.open.isEnabled()
    assert "not what the layer reads" in reader.models.header.open.toolTip()
    assert reader.models.effect.sentence.text() == FIXED
    assert not reader.models.effect.switch.isVisible()
    assert "induction" not in [meter.label for meter in reader.models.patterns.meters.meters]
    reader.models.head.values.chosen.emit("moved")
    moved = found.attention(reader.place[0]) * found.values(reader.place[0]).norm(dim=-1)[:, None]
    np.testing.assert_allclose(reader.in_map(), moved[reader.place[1]].numpy(), rtol=1e-6)
    assert reader.models.head.note.text() == "‖α v‖, without W_o"
    assert ">o</span>" in reader.models.head.note.markup


@pytest.mark.slow  # starts the program
def test_the_command_line_opens_a_capture(capture: Path, tmp_path: Path) -> None:
    """The picture is taken once its maps are computed: they are the only purple in the window."""
    picture = tmp_path / "window.png"
    run_python("-m", "attnlab", capture, "--screenshot", picture, "--size", "1366x768").check_returncode()
    red, green, blue = (np.asarray(Image.open(picture).convert("RGB"), int)[200:700, 860:1300, i] for i in range(3))
    assert ((blue > green + 60) & (red > green)).sum() > 5000


@pytest.mark.slow  # starts the program
def test_the_command_line_makes_no_picture_of_a_model_that_cannot_be_opened(tmp_path: Path) -> None:
    make_model("gpt2").save_pretrained(tmp_path)
    picture = tmp_path / "window.png"
    answer = run_python("-m", "attnlab", tmp_path, "--screenshot", picture)
    assert answer.returncode == 2
    assert answer.stderr.startswith(f"attnlab: {tmp_path.name} has no tokenizer;")
    assert answer.stderr.count("\n") == 1
    assert not picture.exists()


@pytest.mark.parametrize(
    ("name", "opened"), [("", True), ("model.safetensors", True), ("weights.json", True), ("config.json", False)]
)
def test_the_command_line_tells_models_and_weights_from_sessions(tmp_path: Path, name: str, opened: bool) -> None:
    make_model("gpt2").save_pretrained(tmp_path)
    (tmp_path / "weights.json").write_text('{"W_q": [[1]]}')
    assert find_other(tmp_path / name) == (tmp_path / name if opened else None)
    assert find_other(tmp_path / "none.safetensors") is None


def test_nothing_of_a_capture_can_be_changed(reader: ModelReader, capture: Path) -> None:
    open_capture(reader, capture)
    before = reader.models.session.state
    reader.models.overview.setFocus()
    reader.qtbot.keyClick(reader.models.overview, Qt.Key.Key_Delete)
    assert reader.models.session.state == before
    assert "open the model itself" in reader.models.panel.message.text()
    assert reader.models.panel.text.isReadOnly()
    reader.open()
    assert not reader.models.panel.text.isReadOnly()
    assert reader.models.effect.switch.isVisible()
    assert reader.models.effect.answers.isVisible()


def test_a_capture_that_is_gone_is_named(reader: ModelReader, capture: Path, tmp_path: Path) -> None:
    before = reader.models.session.state
    shutil.move(capture, tmp_path / "away.safetensors")
    reader.models.open_model(str(capture))
    reader.wait_for(lambda: bool(reader.models.panel.message.text()))
    assert reader.models.session.state == before
