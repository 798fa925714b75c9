"""The weights dialog: arrays are imported exactly, guesses can be changed, and errors are reported."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QTableView
from safetensors.torch import save_file
from torch import Tensor, nn

from attnlab.ui.base.theme import px
from attnlab.ui.weights.weights_dialog import WeightsDialog
from attnlab.ui.workspaces.models import MODELS
from tests.files.libraries import FIELDS, LIBRARIES, Layer, layer, linear
from tests.ui.weights.weights_user import WeightsUser, open_weights, refused

if TYPE_CHECKING:
    from tests.ui.conftest import Person

WRITERS: dict[str, Callable[[dict[str, Tensor], Path], None]] = {
    ".pt": lambda state, path: torch.save(state, path),
    ".safetensors": lambda state, path: save_file({k: v.contiguous() for k, v in state.items()}, path),
    ".npz": lambda state, path: np.savez(path, **{name: tensor.numpy() for name, tensor in state.items()}),  # type: ignore[arg-type]
}


def module(*, bias: bool = True, kdim: int | None = None) -> nn.MultiheadAttention:
    torch.manual_seed(3)
    made = nn.MultiheadAttention(12, 4, bias=bias, kdim=kdim, vdim=kdim, batch_first=True)
    for name, parameter in made.named_parameters():
        if "bias" in name:
            nn.init.normal_(parameter)
    return made


def write(state: dict[str, Tensor], path: Path) -> Path:
    WRITERS[path.suffix]({name: tensor.detach() for name, tensor in state.items()}, path)
    return path


def same(person: "Person", truth: Layer, fields: tuple[str, ...] = FIELDS) -> None:
    e = person.experiment
    assert (e.n_heads, e.n_kv_heads) == (truth.h, truth.h_kv)
    for field in fields:
        torch.testing.assert_close(getattr(e.weights, field), truth.tensors[field], rtol=0, atol=0)


@pytest.mark.parametrize(
    ("ending", "bias", "kdim"),
    [
        (".pt", True, None),
        (".pt", False, None),
        (".pt", True, 7),
        (".safetensors", False, 7),
        (".safetensors", True, None),
        (".npz", True, None),
    ],
)
def test_a_torch_module_is_imported_exactly(
    person: "Person", tmp_path: Path, ending: str, bias: bool, kdim: int | None
) -> None:
    truth = module(bias=bias, kdim=kdim)
    user = open_weights(person, [write(truth.state_dict(), tmp_path / f"mha{ending}")])
    assert "choose one of 1, 2, 3, 4, 6, 12" in user.message()
    user.choose("Heads", "4")
    assert "the embeddings have 3 columns; draw new ones" in user.message()
    assert not user.button("Import").isEnabled()
    user.press("Draw new embeddings")
    assert user.message() == ""
    shown = user.dialog.view.sheet.data
    assert shown is not None
    previewed = shown.values
    user.bring_in()

    e, w = person.experiment, person.experiment.weights
    assert person.history()[-1] == f"Weights from mha{ending}"
    state = truth.state_dict()
    kept = [tensor.T for tensor in (w.W_q, w.W_k, w.W_v) if tensor is not None]
    if kdim is None:
        torch.testing.assert_close(torch.cat(kept), state["in_proj_weight"], rtol=0, atol=0)
    else:
        for letter, tensor in zip("qkv", kept, strict=True):
            torch.testing.assert_close(tensor, state[f"{letter}_proj_weight"], rtol=0, atol=0)
    torch.testing.assert_close(w.W_o, state["out_proj.weight"].T, rtol=0, atol=0)
    if bias:
        assert w.b_q is not None
        assert w.b_k is not None
        assert w.b_v is not None
        torch.testing.assert_close(torch.cat([w.b_q, w.b_k, w.b_v]), state["in_proj_bias"], rtol=0, atol=0)
        torch.testing.assert_close(w.b_o, state["out_proj.bias"], rtol=0, atol=0)
    else:
        assert w.b_q is w.b_k is w.b_v is w.b_o is None
    x, memory = e.embeddings.float()[None], e.memory.float()[None]
    with torch.no_grad():
        output, weights = truth(x, memory, memory, average_attn_weights=False)
    np.testing.assert_allclose(person.painted("weights"), weights[0].numpy(), rtol=0, atol=1e-6)
    np.testing.assert_allclose(person.painted("output")[0], output[0].numpy(), rtol=0, atol=1e-6)
    np.testing.assert_allclose(previewed, weights[0].numpy(), rtol=0, atol=1e-6)

    person.undo()
    person.settle()
    assert person.experiment.d_model == 3


def test_linear_layers_are_transposed_and_a_config_gives_the_heads(person: "Person", tmp_path: Path) -> None:
    truth = layer(h=4, h_kv=2, d=3, d_model=20)
    path = write(LIBRARIES["LLaMA"](truth), tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"num_attention_heads": 4, "num_key_value_heads": 2}')
    user = open_weights(person, [path])
    assert "Transposed, as in nn.Linear" in user.texts()
    user.press("Draw new embeddings")
    user.bring_in()
    same(person, truth)


def test_another_head_count_splits_the_array_differently(person: "Person", tmp_path: Path) -> None:
    columns = torch.arange(24.0) + 1  # q k v of 4 heads of 2, or of 2 heads of 4
    path = write({"query_key_value.weight": columns[:, None].repeat(1, 8)}, tmp_path / "model.pt")
    (tmp_path / "config.json").write_text('{"model_type": "gpt_neox", "num_attention_heads": 4}')
    user = open_weights(person, [path])
    for heads, columns_of_q in (("4", [1, 2, 7, 8, 13, 14, 19, 20]), ("2", [1, 2, 3, 4, 13, 14, 15, 16])):
        if person.find(QComboBox, "Heads", user.dialog).currentText() != heads:
            user.choose("Heads", heads)
        picture = next(each for each in user.dialog.view.matrices.maps if each.small.name == "W_q")
        assert picture.small.values[0].tolist() == columns_of_q
    user.press("Draw new embeddings")
    user.bring_in()
    assert person.experiment.n_heads == 2
    assert person.experiment.weights.W_q is not None
    assert person.experiment.weights.W_q[0].tolist() == columns_of_q


@pytest.mark.slow
def test_a_fused_array_of_grouped_heads_is_split_by_the_config(person: "Person", tmp_path: Path) -> None:
    truth = layer(h=6, h_kv=3, d=2, d_model=20)
    path = write(LIBRARIES["Phi-3"](truth), tmp_path / "model.pt")
    (tmp_path / "config.json").write_text('{"num_attention_heads": 6, "num_key_value_heads": 3}')
    user = open_weights(person, [path])
    assert "20 × 12" in user.texts()
    assert "20 × 6" in user.texts()
    user.press("Draw new embeddings")
    user.bring_in()
    same(person, truth)


def test_a_layer_that_adds_keys_is_refused(person: "Person", tmp_path: Path) -> None:
    state = nn.MultiheadAttention(12, 4, add_bias_kv=True).state_dict()
    user = open_weights(person, [write(dict(state), tmp_path / "added.pt")])
    user.choose("b_o array", "none")
    user.choose("Heads", "4")
    assert user.message().startswith("bias_k [1, 1, 12] is a key or value that the layer adds")
    assert not user.button("Import").isEnabled()
    user.close()


def test_an_array_with_a_head_axis_is_split(person: "Person", tmp_path: Path) -> None:
    truth = layer()
    user = open_weights(person, [write(LIBRARIES["TransformerLens"](truth), tmp_path / "lens.pt")])
    user.press("Draw new embeddings")
    user.bring_in()
    same(person, truth)


def test_one_of_many_layers_can_be_chosen(person: "Person", tmp_path: Path) -> None:
    truths = [layer(seed=seed) for seed in range(12)]
    state: dict[str, Tensor] = {}
    for place, truth in enumerate(truths):
        state |= linear(f"h.{place}.attn.", "q_proj", "k_proj", "v_proj", "o_proj")(truth)
    user = open_weights(person, [write(state, tmp_path / "gpt.safetensors")])
    user.choose("Heads", "4")
    user.press("Draw new embeddings")
    user.choose("Layer", "h.10.attn")
    user.bring_in()
    same(person, truths[10])


def test_one_matrix_of_a_table_replaces_one_weight(person: "Person", tmp_path: Path) -> None:
    before = person.experiment
    (tmp_path / "mine.csv").write_text("1.5,2\n0.5,-1\n0,0.25\n")
    user = open_weights(person, [tmp_path / "mine.csv"])
    assert user.message() == "Nothing is chosen yet: choose an array for W_q, W_k, W_v, W_o or a bias."
    user.choose("W_q array", "mine")
    user.choose("Heads", "1")
    user.bring_in()
    assert person.experiment.weights.W_q is not None
    assert person.experiment.weights.W_q.tolist() == [[1.5, 2], [0.5, -1], [0, 0.25]]
    assert person.experiment.weights.W_k is before.weights.W_k
    assert person.experiment.embeddings is before.embeddings
    assert "journey" not in person.document.scene.preset  # which would tell of numbers that are not there any more


def test_arrays_that_are_all_unusable_say_why(person: "Person", tmp_path: Path) -> None:
    np.save(tmp_path / "five.npy", np.zeros((1, 1, 1, 2, 2)))
    user = open_weights(person, [tmp_path / "five.npy"])
    why = "it has 5 axes, shape [1, 1, 1, 2, 2]; weights have one, two or three"
    assert user.message() == f"five cannot be used: {why}."
    np.savez(tmp_path / "both.npz", texts=np.array(["a", "b"]), five=np.zeros((1, 1, 1, 2, 2)))
    user = open_weights(person, [tmp_path / "both.npz"])
    assert user.message().startswith("texts cannot be used: it contains ")
    assert user.message().endswith(". Nor can the other array.")


def test_files_dropped_together_are_one_source(person: "Person", tmp_path: Path) -> None:
    for name, value in (("W_q", 1.0), ("W_k", 2.0), ("W_v", 3.0)):
        np.save(tmp_path / f"{name}.npy", np.full((3, 2), value))
    user = open_weights(person, sorted(tmp_path.glob("W_*.npy")))
    user.choose("Heads", "2")
    user.bring_in()
    assert person.history()[-1] == "Weights from 3 files"
    weights = person.experiment.weights
    assert [set(w.flatten().tolist()) for w in (weights.W_q, weights.W_k, weights.W_v) if w is not None] == [
        {1},
        {2},
        {3},
    ]


@pytest.mark.slow
def test_any_part_and_orientation_can_be_chosen(person: "Person", tmp_path: Path) -> None:
    truth = layer(h=1, h_kv=1, d=3, d_model=3)
    user = open_weights(person, [write(LIBRARIES["timm"](truth), tmp_path / "vit.pt")])
    user.choose("Heads", "1")
    user.choose("W_q part", "2nd third")
    user.press("W_q transposed")
    assert "W_k is blocks.0.attn.qkv.weight [9, 3], transposed, a part of it" in user.message()
    assert not user.button("Import").isEnabled()
    user.press("W_q transposed")
    user.bring_in()
    torch.testing.assert_close(person.experiment.weights.W_q, truth.W_k, rtol=0, atol=0)
    torch.testing.assert_close(person.experiment.weights.W_k, truth.W_k, rtol=0, atol=0)


@pytest.mark.slow
def test_an_array_that_does_not_fit_is_reported_and_can_be_changed(person: "Person", tmp_path: Path) -> None:
    state = {**linear("", "q_proj", "k_proj", "v_proj", "o_proj")(layer()), "o_proj.weight": torch.ones(12, 7)}
    user = open_weights(person, [write(state, tmp_path / "odd.pt")])
    user.choose("Heads", "4")
    assert "W_o is o_proj.weight [12, 7]" in user.message()
    assert not user.button("Import").isEnabled()
    user.choose("W_o array", "none")
    user.choose("b_o array", "none")
    user.press("Draw new embeddings")
    user.bring_in()
    assert person.experiment.weights.W_o is None
    same(person, layer(), ("W_q", "W_k", "W_v", "b_q"))


def test_a_cell_that_is_not_a_number_is_named(person: "Person", tmp_path: Path) -> None:
    state = dict(module().state_dict())
    state["in_proj_weight"][5, 2] = torch.nan
    user = open_weights(person, [write(state, tmp_path / "nan.safetensors")])
    user.choose("Heads", "4")
    assert user.message() == "in_proj_weight[5, 2] is nan; every weight needs to be a finite number."
    assert not user.button("Import").isEnabled()
    user.close()


class Evil:
    """Creates a file when it is unpickled."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.made),)


@pytest.mark.slow
@pytest.mark.parametrize("dump", [torch.save, lambda thing, path: path.write_bytes(pickle.dumps(thing))])
def test_code_in_a_pickle_is_not_executed(
    person: "Person", tmp_path: Path, dump: Callable[[object, Path], object]
) -> None:
    before, made = person.experiment, tmp_path / "made"
    for name in ("evil.pt", "evil.pth", "evil.bin"):
        dump({"in_proj_weight": torch.ones(9, 3), "x": Evil(made)}, tmp_path / name)
        assert refused(person, tmp_path / name) == (
            f"{name} contains a whole module or other code, which is never run: "
            "save only its numbers with torch.save(model.state_dict(), …)."
        )
    assert not made.exists()
    assert person.experiment is before


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.npz", b"", "a.npz is empty; choose a file with weights."),
        ("a.csv", b"1.5,2.5\n3.5,x", "Row 2, column 2 of a.csv: 'x' is not a number"),
        ("a.npy", b"?", "a.npy is damaged or not of the format that its ending says: it does not begin as a .npy"),
        ("a.safetensors", b"\xff" * 64, "a.safetensors is damaged or not of the format that its ending says"),
        ("a.docx", b"x", "a.docx is not a file of weights"),
    ],
)
def test_unreadable_files_are_reported_and_change_nothing(
    person: "Person", tmp_path: Path, name: str, data: bytes, sentence: str
) -> None:
    before = person.document.scene
    (tmp_path / name).write_bytes(data)
    said = refused(person, tmp_path / name)
    assert said.startswith(sentence)
    assert "\n" not in said
    assert person.document.scene is before


@pytest.mark.slow
def test_only_the_chosen_arrays_are_read(person: "Person", tmp_path: Path) -> None:
    """The file has 300 MB, most of it a table of words that is not chosen; it is sparse on the disk."""
    path = tmp_path / "large.safetensors"
    save_file({f"W_{x}": torch.full((3, 2), float(place)) for place, x in enumerate("qkv")}, path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    rest, end = data[8 + length :], 72 + (75 << 20) * 4
    header = data[8 : 8 + length].decode().rstrip().removesuffix("}")
    header += f', "wte": {{"dtype": "F32", "shape": [{75 << 10}, 1024], "data_offsets": [72, {end}]}}}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + rest)
    os.truncate(path, 8 + len(header) + end)
    user = open_weights(person, [path])
    assert "wte" in user.dialog.source.arrays  # type: ignore[union-attr]
    user.choose("Heads", "2")
    assert set(user.dialog.source.held) == {"W_q", "W_k", "W_v"}  # type: ignore[union-attr]
    user.choose("W_k array", "none")
    user.choose("W_v array", "none")
    assert user.dialog.source.held == ("W_q",)  # type: ignore[union-attr]
    user.choose("W_k array", "W_k")
    user.choose("W_v array", "W_v")
    user.bring_in()
    assert person.experiment.weights.W_v is not None
    assert set(person.experiment.weights.W_v.flatten().tolist()) == {2}


def test_arrays_can_be_filtered_and_chosen_from_the_list(person: "Person", tmp_path: Path) -> None:
    state = {f"block.{place}.thing": torch.full((3, 2), float(place)) for place in range(40)}
    state["step"] = torch.tensor(7)
    user = open_weights(person, [write(state, tmp_path / "odd.pt")])
    person.click(user.button("Arrays"))
    assert "41 arrays" in user.texts()
    table = person.find(QTableView, "Arrays of the file", user.dialog)
    for column in (1, 2):
        needed = max(table.sizeHintForColumn(column), table.horizontalHeader().sectionSizeHint(column), px(48))
        assert table.columnWidth(column) <= needed + px(8), "the rest is for the names"
    field = person.find(QLineEdit, "Filter of the arrays", user.dialog)
    field.setFocus()
    QTest.keyClicks(field, "block.17")
    assert "1 of 41 arrays" in user.texts()
    table = person.find(QTableView, "Arrays of the file", user.dialog)
    person.click(table.viewport(), table.visualRect(table.model().index(0, 0)).center())
    with person.qtbot.waitSignal(user.dialog.previewed):
        person.click(user.button("Use for"))
    user.choose("Heads", "1")
    user.bring_in()
    assert person.experiment.weights.W_q is not None
    assert set(person.experiment.weights.W_q.flatten().tolist()) == {17}


def test_an_unusable_array_has_its_reason_in_the_list(person: "Person", tmp_path: Path) -> None:
    user = open_weights(person, [write({"step": torch.tensor(7), "W_q": torch.ones(3, 2)}, tmp_path / "a.pt")])
    person.click(user.button("Arrays"))
    table = person.find(QTableView, "Arrays of the file", user.dialog)
    person.click(table.viewport(), table.visualRect(table.model().index(0, 0)).center())
    assert not user.button("Use for").isEnabled()
    assert "it is a single number" in user.button("Use for").toolTip()
    user.close()


@pytest.mark.slow
def test_embeddings_can_be_read_from_an_array_of_the_file(person: "Person", tmp_path: Path) -> None:
    truth = layer()
    state = {**truth.tensors, "X": torch.randn(5, 12)}
    user = open_weights(person, [write(state, tmp_path / "both.npz")])
    user.choose("Heads", "4")
    user.choose("Embeddings", "X  [5, 12]")
    assert "New embeddings, 5 × 12." in user.texts()
    user.bring_in()
    assert person.experiment.tokens == ("1", "2", "3", "4", "5")
    torch.testing.assert_close(person.experiment.embeddings, state["X"], rtol=0, atol=0)


def test_edits_made_while_the_dialog_is_open_are_kept(person: "Person", tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", W_q=np.ones((3, 2)))
    user = open_weights(person, [tmp_path / "a.npz"])
    user.choose("Heads", "2")
    with person.qtbot.waitSignal(user.dialog.previewed):
        person.playground.toggle_causal()
        assert not user.button("Import").isEnabled()
    user.bring_in()
    assert person.experiment.config.causal
    assert person.experiment.n_heads == 2


def test_closing_the_dialog_while_it_reads_changes_nothing(person: "Person", tmp_path: Path) -> None:
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    before = person.document.scene
    dialog = open_weights_dialog(person.playground, person.window, [write(module().state_dict(), tmp_path / "a.pt")])
    assert dialog is not None
    user = WeightsUser(person, dialog)
    assert "Reading a.pt…" in user.texts()
    user.close()
    assert person.document.scene is before


def test_a_narrow_dialog_shows_one_side_at_a_time(person: "Person", tmp_path: Path) -> None:
    user = open_weights(person, [write(module().state_dict(), tmp_path / "a.pt")])
    user.dialog.resize(560, 420)
    person.wait_for(lambda: not user.dialog.two_sides)
    assert user.dialog.form.n_heads.isVisible()
    person.click(user.button("Preview"))
    assert not user.dialog.form.n_heads.isVisible()
    assert user.dialog.view.matrices.isVisible()
    person.click(user.button("Mapping"))
    box = user.dialog.form.rows["W_q"].array
    person.wait_for(lambda: box.elide_text().startswith("in_proj_weight"))
    user.close()


@pytest.mark.slow
@pytest.mark.parametrize("type_size", [100, 150])
def test_lists_show_their_last_line_completely(person: "Person", tmp_path: Path, type_size: int) -> None:
    person.window.change_settings(type_size=type_size)
    state = {f"h.{place}.attn.q_proj.weight": torch.ones(6, 3) for place in range(40)}
    user = open_weights(person, [write(state, tmp_path / "a.pt")])
    for name in ("Layer", "W_q array", "W_q part", "Heads", "Embeddings"):
        box = person.find(QComboBox, name, user.dialog)
        box.showPopup()
        view, last = box.view(), box.model().index(box.count() - 1, 0)
        view.scrollToBottom()
        QApplication.processEvents()
        assert view.viewport().rect().contains(view.visualRect(last)), name
        assert view.sizeHintForColumn(0) <= view.viewport().width()
        box.hidePopup()
    user.close()


def test_names_with_markup_are_shown_literally(person: "Person", tmp_path: Path) -> None:
    name = "<b>W</b>\n\x1b[31m"
    user = open_weights(person, [write({name: torch.ones(3, 2), "W_q": torch.ones(3, 2)}, tmp_path / "a.safetensors")])
    box = person.find(QComboBox, "W_q array", user.dialog)
    titles = [box.itemText(place) for place in range(box.count())]
    assert "<b>W</b>\\n\\x1b[31m  [3, 2]" in titles
    user.choose("W_q array", "<b>")
    assert "&lt;b&gt;" in box.toolTip()
    user.choose("Heads", "2")
    user.bring_in()
    assert person.experiment.weights.W_q is not None


@pytest.mark.slow
def test_the_list_of_embeddings_offers_no_weights_of_other_layers(person: "Person", tmp_path: Path) -> None:
    layer_of = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    arrays = torch.nn.TransformerEncoder(layer_of, 2, enable_nested_tensor=False).state_dict()
    user = open_weights(
        person, [write(arrays | {"head.weight": torch.ones(5, 8)}, tmp_path / "two-layers.safetensors")]
    )
    box = person.find(QComboBox, "Embeddings", user.dialog)
    assert [box.itemText(place).split("  ")[0] for place in range(2, box.count())] == ["head.weight"]
    user.close()
    named = arrays | {"head.weight": torch.ones(5, 8), "wte.weight": torch.ones(6, 8)}
    user = open_weights(person, [write(named, tmp_path / "named.safetensors")])
    box = person.find(QComboBox, "Embeddings", user.dialog)
    assert [box.itemText(place).split("  ")[0] for place in range(2, box.count())] == ["wte.weight"]
    user.close()


def test_a_folder_dropped_on_the_window_opens_its_weights(person: "Person", tmp_path: Path) -> None:
    write({"W_q": torch.ones(3, 2), "W_k": torch.ones(3, 2), "W_v": torch.ones(3, 2)}, tmp_path / "a.safetensors")
    person.window.open_paths([tmp_path])
    dialog = person.window.findChild(WeightsDialog)
    assert dialog is not None
    with person.qtbot.waitSignal(dialog.previewed):
        pass
    assert dialog.title.text() == f"Weights from {tmp_path.name}"
    WeightsUser(person, dialog).close()


@pytest.mark.slow
def test_the_weights_of_a_whole_model_offer_to_open_it_instead(person: "Person", tmp_path: Path) -> None:
    truth = layer(h=4, h_kv=2, d=3, d_model=20)
    path = write(LIBRARIES["LLaMA"](truth), tmp_path / "model.safetensors")
    user = open_weights(person, [path])
    assert not user.offers("Open the model instead")
    user.close()
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    user = open_weights(person, [path])
    assert user.offers("Open the model instead")
    person.click(user.button("Open the model instead"))
    user.gone()
    assert person.window.current == "models"
    models = person.window.workspace(MODELS)
    assert models is not None
    person.wait_for(lambda: "is of the family mamba; attnlab runs bert" in models.panel.message.text())
