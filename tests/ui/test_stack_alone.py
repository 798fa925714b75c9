"""A stack of layers reads one sequence alone: every way to a second sequence or a batch says so in one sentence."""

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QAbstractButton
from safetensors.torch import load, save

import attnlab
from attnlab.attention.edits.batches import add_item
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.files.sessions.session_archive import MANIFEST, TENSORS, pack
from attnlab.ui.playground.layer_fields import ADD, layer_choices

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

ALONE = "a stack of 2 layers; a stack reads one sequence alone."


@pytest.mark.parametrize(("button", "what"), [("Second sequence", "a second sequence"), ("Make a batch", "a batch")])
def test_the_inputs_refuse_more_than_one_sequence(sit_down: "Callable[..., Person]", button: str, what: str) -> None:
    person = sit_down("induction")
    before = person.experiment
    person.press(button)
    person.settle()
    assert person.message() == f"There is {what} and {ALONE}"
    assert person.experiment is before
    assert not person.playground.inputs.memory_switch.isChecked()
    assert person.find(QAbstractButton, button).isVisible()


@pytest.mark.parametrize("more", [add_item, lambda e: toggle_memory(e, True)])
def test_a_layer_is_not_offered_beside_more_than_one_sequence(
    more: "Callable[[attnlab.Experiment], attnlab.Experiment]",
) -> None:
    add = next(choice for choice in layer_choices(more(attnlab.preset("whole-block"))) if choice.value == ADD)
    assert add.reason.endswith(ALONE)


def test_a_session_with_both_is_refused(person: "Person", tmp_path: Path) -> None:
    path = tmp_path / "both.attnlab"
    attnlab.save(attnlab.preset("induction"), path)
    write_second_sequence(path)
    before = person.experiment
    person.window.open_path(path)
    person.wait_for(lambda: ALONE in person.message())
    assert "both.attnlab does not contain a valid experiment: There is a second sequence" in person.message()
    assert person.experiment is before
    with pytest.raises(attnlab.FileError, match=ALONE):
        attnlab.load(path)


def write_second_sequence(path: Path) -> None:
    """Give the experiment of a session a second sequence, which the program never writes beside a stack."""
    with zipfile.ZipFile(path) as archive:
        manifest, tensors = json.loads(archive.read(MANIFEST)), load(archive.read(TENSORS))
    experiment = manifest["experiment"]
    experiment["memory_tokens"] = experiment["tokens"]
    tensors["memory_embeddings"] = tensors["embeddings"].clone()
    path.write_bytes(pack({MANIFEST: json.dumps(manifest).encode(), TENSORS: save(tensors)}))
