"""Models that are opened, refused or replaced: what is said, what stays, and which text is read."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from attnlab.pretrained.shipped import find_shipped
from attnlab.ui.workspaces.models import MODELS
from tests.pretrained.conftest import make_model, save_tokenizer
from tests.ui.conftest import Person
from tests.ui.models.reader import ModelReader

if TYPE_CHECKING:
    from collections.abc import Callable

Key, Mod = Qt.Key, Qt.KeyboardModifier


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


def test_a_folder_that_is_no_model_is_refused_in_one_sentence_and_the_model_stays(
    reader: ModelReader, tmp_path: Path
) -> None:
    reader.models.open_model(str(tmp_path))
    reader.wait_for(lambda: reader.models.panel.message.isVisible())
    assert reader.models.panel.message.text().endswith(
        "has no config.json, so it is not the folder of a model; choose one that has."
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
