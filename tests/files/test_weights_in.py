"""A layer is found in a file under any usual names and layouts, and imported exactly."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import Tensor

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.experiment import Experiment
from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.files.weights.head_counts import heads_beside
from attnlab.files.weights.named_array import NamedArray, make_array
from attnlab.files.weights.projection_layouts import UNKNOWN, Heads
from attnlab.files.weights.weights_apply import apply
from attnlab.files.weights.weights_in import Proposal, fitting_heads, guess, part_for, shapes
from tests.files.libraries import FIELDS, LIBRARIES, Layer, layer, linear, neox, side_by_side

GROUPED = [name for name in LIBRARIES if name not in ("GPT-NeoX", "MultiheadAttention", "GPT-2", "nanoGPT", "timm")]


def arrays_of(tensors: dict[str, Tensor]) -> dict[str, NamedArray]:
    return {name: make_array(name, tuple(t.shape), str(t.dtype)[6:], lambda t=t: t) for name, t in tensors.items()}


def base(d_model: int = 12, tokens: int = 3) -> Experiment:
    g = torch.Generator().manual_seed(9)
    return Experiment([f"t{i}" for i in range(tokens)], torch.randn(tokens, d_model, generator=g))


def same(e: Experiment, truth: Layer) -> None:
    assert (e.n_heads, e.n_kv_heads) == (truth.h, truth.h_kv)
    for field in FIELDS:
        assert torch.equal(getattr(e.weights, field), truth.tensors[field]), field


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_layer_is_found_and_imported_exactly(library: str) -> None:
    truth = layer()
    arrays = arrays_of(LIBRARIES[library](truth))
    (proposal,) = guess(arrays, base())
    assert tuple(proposal.parts) == FIELDS
    assert proposal.notes
    assert truth.h in fitting_heads(proposal, arrays)
    same(apply(proposal, arrays, base(), n_heads=4), truth)


@pytest.mark.parametrize("library", GROUPED)
def test_shared_keys_are_found(library: str) -> None:
    truth = layer(h=4, h_kv=2)
    arrays = arrays_of(LIBRARIES[library](truth))
    (proposal,) = guess(arrays, base())
    same(apply(proposal, arrays, base(), n_heads=4), truth)
    if library not in ("TransformerLens", "Flax", "Phi-3", "MPT", "to_kv"):  # which say it by their axes, or are fused
        assert any("2 query heads share one" in note for note in proposal.notes)


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name not in ("GPT-NeoX", "TransformerLens", "Flax")])
@given(sizes=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(3, 20)), data=st.data())
@settings(max_examples=20, deadline=None)
def test_layers_of_any_size_and_order_are_found(library: str, sizes: tuple[int, int, int], data: st.DataObject) -> None:
    h, d, d_model = sizes
    if library in ("GPT-2", "nanoGPT"):  # used both ways: queries as wide as the embeddings tell which
        d_model = h * d
    truth = layer(h, h, d, d_model)
    written = LIBRARIES[library](truth)
    order = data.draw(st.permutations(list(written)))
    arrays = arrays_of({name: written[name] for name in order})
    one_array = h * d != d_model and any(part.fused for part in guess(arrays)[0].parts.values())
    (proposal,) = guess(arrays, heads=Heads(h, h, "config.json") if one_array else UNKNOWN)
    same(apply(proposal, arrays, base(d_model), n_heads=h), truth)


@given(turned=st.booleans(), seed=st.integers(0, 99), wide=st.sampled_from([(2, 5, 7), (3, 2, 8), (1, 4, 9)]))
@settings(max_examples=30, deadline=None)
def test_shapes_decide_the_orientation_of_matrices(turned: bool, seed: int, wide: tuple[int, int, int]) -> None:
    h, d, d_model = wide
    truth = layer(h, h, d, d_model, seed)
    weights = {n: t for n, t in truth.tensors.items() if n[0] == "W"}
    written = {n: t.T.contiguous() if turned else t for n, t in weights.items()}
    written |= {n: t for n, t in truth.tensors.items() if n[0] == "b"}
    (proposal,) = guess(arrays_of(written))
    assert {part.transposed for field, part in proposal.parts.items() if field[0] == "W"} == {turned}
    assert all("the only way the shapes fit" in note for note in proposal.notes if "is W_" in note)
    same(apply(proposal, arrays_of(written), base(d_model), n_heads=h), truth)


def test_embeddings_decide_the_orientation_where_shapes_and_names_do_not() -> None:
    written = {"W_q": torch.randn(8, 4), "W_k": torch.randn(8, 4), "W_v": torch.randn(8, 4)}
    arrays = arrays_of(written)
    for d_model, transposed, reason in ((8, False, "embeddings’"), (4, True, "embeddings’"), (5, False, "usual")):
        (proposal,) = guess(arrays, base(d_model))
        assert proposal.parts["W_q"].transposed == transposed
        assert reason in proposal.notes[0]
    named_by_torch = arrays_of({f"{name}.weight": t for name, t in written.items()})
    assert guess(named_by_torch, base(8))[0].parts["W_q"].transposed  # nn.Linear is never the other way


def test_square_matrices_follow_the_convention_of_their_names() -> None:
    square = torch.randn(6, 6)
    for name, transposed in (("q_proj.weight", True), ("W_q", False), ("attn.query.kernel", False)):
        (proposal,) = guess(arrays_of({name: square}))
        assert proposal.parts["W_q"].transposed == transposed
        assert "as is usual for its name; the shapes would fit both ways" in proposal.notes[0]


def test_the_reason_for_each_orientation_is_given() -> None:
    conv = guess(arrays_of(LIBRARIES["GPT-2"](layer())))[0]
    nano = guess(arrays_of(LIBRARIES["nanoGPT"](layer())))[0]
    assert conv.notes[0].endswith("is W_q, W_k and W_v, not transposed, [in, out], the only way the shapes fit.")
    assert nano.notes[1].endswith("is W_o, transposed, [out, in] as in nn.Linear, like the rest of its layer.")
    bare_fused = guess(arrays_of({"c_attn.weight": torch.ones(36, 12)}))[0]
    assert bare_fused.notes[0].endswith("which gives the usual sizes.")
    wrong = {**linear("", "q_proj", "k_proj", "v_proj", "o_proj")(layer()), "k_proj.weight": torch.ones(5, 12)}
    assert guess(arrays_of(wrong))[0].notes[1].endswith("as is usual for its name; the shapes contradict each other.")


def test_several_layers_give_several_proposals_in_order() -> None:
    truths = {number: layer(seed=number) for number in (10, 2, 0)}
    tensors = {}
    for number, truth in truths.items():
        tensors |= linear(f"h.{number}.attn.", "q_proj", "k_proj", "v_proj", "o_proj")(truth)
    tensors["wte.weight"] = torch.ones(100, 12)
    proposals = guess(arrays_of(tensors))
    assert [proposal.name for proposal in proposals] == ["h.0.attn", "h.2.attn", "h.10.attn"]
    for proposal, number in zip(proposals, (0, 2, 10), strict=True):
        same(apply(proposal, arrays_of(tensors), base(), n_heads=4), truths[number])


@pytest.mark.parametrize(
    ("config", "heads"),
    [
        ({"num_attention_heads": 4}, Heads(4, 4, "config.json")),
        ({"n_head": 4, "num_key_value_heads": 2}, Heads(4, 2, "config.json")),
        ({"n_head": 4, "multi_query": True}, Heads(4, 1, "config.json")),
        ({"n_head": True}, UNKNOWN),
        ({"n_head": -1}, UNKNOWN),
        ({"n_head": "4"}, UNKNOWN),
        ([4], UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_heads_are_read_from_a_config_beside_the_file(config: object, heads: Heads, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{" if config is None else json.dumps(config))
    assert heads_beside(tmp_path / "model.safetensors") == heads
    assert heads_beside(tmp_path / "elsewhere" / "model.safetensors") == UNKNOWN


def test_a_config_settles_heads_and_fused_arrays() -> None:
    truth = layer(h=6, h_kv=3, d=2, d_model=20)
    arrays = arrays_of(LIBRARIES["Phi-3"](truth))
    (proposal,) = guess(arrays, heads=Heads(6, 3, "config.json"))
    assert "6 heads, as config.json says." in proposal.notes
    assert shapes(proposal, arrays)["W_k"] == (20, 6)
    assert " is W_q, W_k and W_v, transposed, [out, in] as in nn.Linear, " in proposal.notes[0]
    same(apply(proposal, arrays, base(20)), truth)
    shared = arrays_of(LIBRARIES["LLaMA"](layer(h=4, h_kv=2)))
    (other,) = guess(shared, heads=Heads(4, 4, "config.json"))  # which says nothing of shared keys; the shapes do
    same(apply(other, shared, base()), layer(h=4, h_kv=2))
    (wrong,) = guess(arrays_of(LIBRARIES["LLaMA"](layer())), heads=Heads(5, 5, "config.json"))
    assert wrong.heads == UNKNOWN
    assert "config.json says 5 heads, which do not divide the 12 columns of W_q" in wrong.notes[-1]


def test_an_unknown_head_count_is_asked_for() -> None:
    arrays = arrays_of(LIBRARIES["LLaMA"](layer(h=4, h_kv=2)))
    (proposal,) = guess(arrays)
    assert fitting_heads(proposal, arrays) == (2, 4, 6, 12)
    with pytest.raises(ExperimentError, match=r"does not give the number of heads; choose one of 2, 4, 6, 12\.$"):
        apply(proposal, arrays, base())


def test_missing_weights_are_kept_from_the_experiment_or_absent() -> None:
    e = attnlab.preset("journey")
    new = torch.randn(3, 2)
    (proposal,) = guess(arrays_of({"W_q": new}), e)
    assert "The file has no W_k and no W_v; the experiment’s own is kept." in proposal.notes
    taken = apply(proposal, arrays_of({"W_q": new}), e, n_heads=1)
    assert torch.equal(taken.weights.W_q, new)
    assert taken.weights.W_k is e.weights.W_k
    full = apply(*_whole(layer()), base(), n_heads=4)
    bare_layer = {n: t for n, t in layer().tensors.items() if n in ("W_q", "W_k", "W_v")}
    arrays = arrays_of(bare_layer)
    taken = apply(guess(arrays)[0], arrays, full, n_heads=4)
    assert taken.weights.W_o is None
    assert taken.weights.b_q is None


def _whole(truth: Layer) -> tuple[Proposal, dict[str, NamedArray]]:
    arrays = arrays_of(truth.tensors)
    return guess(arrays)[0], arrays


@pytest.mark.parametrize(
    "name", ["emb", "emb.weight", "X", "pos_embeddings", "embed_out.weight", "patch_embed.proj.weight"]
)
def test_embeddings_are_guessed_to_be_no_weights(name: str) -> None:
    others = {"a": torch.randn(4, 4), "b": torch.randn(4, 4), "c": torch.randn(4, 4)}
    for written in ({**others, name: torch.randn(6, 4)}, {name: torch.randn(6, 4), **others}):
        (proposal,) = guess(arrays_of(written))
        assert {field: part.array for field, part in proposal.parts.items()} == {"W_q": "a", "W_k": "b", "W_v": "c"}
    assert guess(arrays_of({name: torch.randn(6, 4)})) == ()
    (named,) = guess(arrays_of({name: torch.randn(6, 4), "remember.o_proj.weight": torch.randn(4, 4)}))
    assert named.parts["W_o"].array == "remember.o_proj.weight"


def test_matrices_without_known_names_are_taken_in_order() -> None:
    arrays = arrays_of({f"arr_{i}": torch.full((2, 2), float(i)) for i in range(3)})
    (proposal,) = guess(arrays)
    assert proposal.notes[0] == (
        "No name is known; taken in the file’s order: W_q is arr_0, W_k is arr_1, W_v is arr_2."
    )
    assert apply(proposal, arrays, base(2), n_heads=1).weights.W_v.tolist() == [[2, 2], [2, 2]]
    assert guess(arrays_of({"x": torch.ones(2, 2)})) == ()


def test_embeddings_are_kept_or_drawn_or_read_from_an_array() -> None:
    proposal, arrays = _whole(layer())
    e = configure(attnlab.preset("journey"), causal=True)
    with pytest.raises(
        ExperimentError, match=r"W_q has 12 rows, but the embeddings have 3 columns; .* \(W_q is W_q \[12, 12\]\)"
    ):
        apply(proposal, arrays, e, n_heads=4)
    drawn = apply(proposal, arrays, e, n_heads=4, embeddings="drawn")
    assert drawn.tokens == e.tokens
    assert drawn.embeddings.shape == (6, 12)
    assert drawn.config.causal
    assert torch.equal(drawn.embeddings, apply(proposal, arrays, e, 4, embeddings="drawn").embeddings)
    fits = apply(proposal, arrays, drawn, n_heads=4, embeddings="drawn")
    assert fits.embeddings is drawn.embeddings
    values = torch.randn(2, 12)
    given_array = apply(proposal, arrays, e, 4, embeddings=arrays_of({"x": values})["x"])
    assert given_array.tokens == ("1", "2")
    assert torch.equal(given_array.embeddings, values)
    with pytest.raises(ExperimentError, match=r"^x \[2, 2, 2\] cannot be embeddings"):
        apply(proposal, arrays, e, 4, embeddings=arrays_of({"x": torch.ones(2, 2, 2)})["x"])


def test_keys_of_another_width_create_a_second_sequence() -> None:
    truth = layer()
    tensors = {**truth.tensors, "W_k": torch.randn(5, 12), "W_v": torch.randn(5, 12)}
    arrays = arrays_of(tensors)
    e = base()
    with pytest.raises(ExperimentError, match="W_k has 5 rows, but the embeddings have 12 columns"):
        apply(guess(arrays)[0], arrays, e, 4)
    made = apply(guess(arrays)[0], arrays, e, 4, embeddings="drawn")
    assert made.memory_tokens == e.tokens
    assert made.memory.shape == (3, 5)


def test_settings_tables_and_batches_are_kept() -> None:
    e = configure(attnlab.preset("multi-head-8"), score="additive", positions="learned", ablated=(1,))
    proposal, arrays = _whole(layer())
    taken = apply(proposal, arrays, e, 4, embeddings="drawn")
    assert (taken.config.score, taken.config.positions, taken.config.ablated) == ("additive", "learned", ())
    batch = next(attnlab.preset(name) for name in attnlab.presets() if attnlab.preset(name).others)
    taken = apply(proposal, arrays, batch, 4, embeddings="drawn")
    assert taken.n_items == batch.n_items
    assert attnlab.compute(taken)["output"].shape[-1] == 12


@pytest.mark.parametrize(
    ("changes", "heads", "sentence"),
    [
        (
            {},
            5,
            r"n_heads is 5; .*12 columns of W_q: 1, 2, 3, 4, 6, 12 \(W_q is q_proj\.weight \[12, 12\], transposed\)",
        ),
        (
            {"k_proj.weight": torch.ones(5, 12)},
            4,
            r"W_k has 5 columns; it needs 12: .*W_k is k_proj\.weight \[5, 12\], tr",
        ),
        ({"k_proj.weight": torch.ones(5, 12)}, 1, r"it needs 12: 1 head of d_k = 12, which is W_q’s columns"),
        ({"o_proj.weight": torch.ones(12, 7)}, 4, r"W_o has shape \[7, 12\]; .*W_o is o_proj\.weight \[12, 7\]"),
        ({"v_proj.weight": torch.ones(12, 9)}, 4, r"W_k has 12 rows and W_v 9; .*v_proj\.weight \[12, 9\]"),
        ({"q_proj.bias": torch.ones(3)}, 4, r"b_q has 3 numbers; it needs 12, .*b_q is q_proj\.bias \[3\]"),
        ({"q_proj.bias": torch.full((12,), torch.nan)}, 4, r"^q_proj\.bias\[0\] is nan"),
    ],
)
def test_an_array_that_does_not_fit_is_named(changes: dict[str, Tensor], heads: int, sentence: str) -> None:
    arrays = arrays_of({**linear("", "q_proj", "k_proj", "v_proj", "o_proj")(layer()), **changes})
    (proposal,) = guess(arrays)
    with pytest.raises(AttnlabError, match=sentence) as refused:
        apply(proposal, arrays, base(), heads)
    assert "\n" not in str(refused.value)


def test_fused_arrays_that_cannot_be_split_are_named() -> None:
    arrays = arrays_of(neox(layer()))
    with pytest.raises(ExperimentError, match=r"query_key_value\.weight \[36, 12\] contains q k v head by head"):
        apply(guess(arrays)[0], arrays, base(), 5)
    odd = arrays_of({"qkv.weight": torch.ones(11, 7)})
    with pytest.raises(ExperimentError, match=r"qkv\.weight \[11, 7\] contains"):
        apply(guess(odd)[0], odd, base(7), 2)


def test_a_layer_that_adds_keys_is_refused() -> None:
    module = torch.nn.MultiheadAttention(12, 4, add_bias_kv=True)
    arrays = arrays_of(dict(module.state_dict()))
    (proposal,) = guess(arrays)
    assert "add_bias_kv" in proposal.refused
    with pytest.raises(ExperimentError, match=r"^bias_k \[1, 1, 12\] is a key or value that the layer adds"):
        apply(proposal, arrays, base(), 4)


@pytest.mark.parametrize("kdim", [None, 7])
def test_a_saved_state_dict_computes_what_the_module_does(kdim: int | None, tmp_path: Path) -> None:
    module = torch.nn.MultiheadAttention(12, 4, kdim=kdim, vdim=kdim, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(parameter.numel()))
    torch.save(module.state_dict(), tmp_path / "a.pt")
    save_file(module.state_dict(), tmp_path / "a.safetensors")
    for path in (tmp_path / "a.pt", tmp_path / "a.safetensors"):
        arrays = read_arrays(path)
        e = apply(guess(arrays)[0], arrays, base(), 4, embeddings="drawn")
        x = e.embeddings.double()
        output, weights = module(x[None], e.memory.double()[None], e.memory.double()[None], average_attn_weights=False)
        trace = attnlab.compute(e, dtype="float64")
        torch.testing.assert_close(trace["output"], output[0].detach(), rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(trace["weights"], weights[0].detach(), rtol=1e-10, atol=1e-10)


LEAVES = (
    "q", "k", "v", "o", "W_q", "bias_k", "qkv", "c_attn", "in_proj_weight", "to_kv", "query_key_value", "linears.1",
    "to_out.0", ".", "_", "", "0", ".weight", "bias", "q.linear", "attention.self.query",
)  # fmt: skip
NAMES = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(("", "a.", "b.0.", "..")),
        st.sampled_from(LEAVES),
        st.sampled_from(("", ".weight", ".bias", "_bias", ":0", ".kernel")),
    ),
)


@given(
    names=st.dictionaries(NAMES, st.lists(st.integers(1, 9), min_size=1, max_size=3), max_size=8),
    heads=st.integers(1, 4),
)
@settings(max_examples=300, deadline=None)
def test_any_names_and_shapes_are_imported_or_refused_in_a_sentence(names: dict[str, list[int]], heads: int) -> None:
    arrays = arrays_of({name: torch.ones(shape) for name, shape in names.items()})
    for proposal in guess(arrays, base()):
        fitting_heads(proposal, arrays)
        with contextlib.suppress(AttnlabError):  # anything else fails
            apply(proposal, arrays, base(), heads, embeddings="drawn")


def test_another_array_can_be_chosen() -> None:
    truth = layer()
    arrays = arrays_of({"a": truth.W_q, "key.weight": truth.W_k.T.contiguous(), **fused_of(truth)})
    parts = {
        "W_q": part_for("W_q", arrays["a"]),
        "W_k": part_for("W_k", arrays["key.weight"]),
        "W_v": part_for("W_v", arrays["qkv.weight"]),
        "b_v": part_for("b_v", arrays["qkv.bias"]),
    }
    taken = apply(Proposal("", parts), arrays, base(), n_heads=4)
    for field in parts:
        assert torch.equal(getattr(taken.weights, field), truth.tensors[field])
    assert part_for("W_o", arrays["qkv.weight"]).fused == ""


def fused_of(truth: Layer) -> dict[str, Tensor]:
    W, b = side_by_side(truth)
    return {"qkv.weight": W.T.contiguous(), "qkv.bias": b}


def test_numpy_files_are_read_into_a_layer(tmp_path: Path) -> None:
    truth = layer()
    np.savez(tmp_path / "a.npz", **{name: t.numpy() for name, t in truth.tensors.items()})
    arrays = read_arrays(tmp_path / "a.npz")
    same(apply(guess(arrays)[0], arrays, base(), 4), truth)


def test_a_file_without_a_usable_array_is_refused_with_the_reason(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", W_q=np.ones((3, 2), dtype=complex))
    with pytest.raises(AttnlabError, match=r"W_q cannot be used: it contains complex128 values; weights are real"):
        attnlab.read_weights(tmp_path / "w.npz", base())


@pytest.mark.parametrize("names", [("x", "y" * 100_000), tuple(f"{n}{'y' * 20_000}" for n in range(20))])
def test_arrays_with_long_names_are_listed_in_a_short_sentence(names: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(json.dumps({name: [[1.0, 2.0]] for name in names}))
    with pytest.raises(
        AttnlabError, match=r"contains no attention layer that can be recognised; its arrays are .*\. Use names such"
    ) as refused:
        attnlab.read_weights(tmp_path / "w.json", base())
    assert len(str(refused.value)) < 1200


def test_layers_with_long_names_are_listed_in_a_short_sentence(tmp_path: Path) -> None:
    arrays = {f"{'n' * 30_000}.{n}.attn.{p}_proj.weight": [[1.0, 2.0], [3.0, 4.0]] for n in range(2) for p in "qkv"}
    (tmp_path / "w.json").write_text(json.dumps(arrays))
    with pytest.raises(AttnlabError, match=r"contains 2 layers; choose one with layer: 0 \(n") as refused:
        attnlab.read_weights(tmp_path / "w.json", base())
    assert len(str(refused.value)) < 1200
    with pytest.raises(AttnlabError, match="contains no layer 'zz") as refused:
        attnlab.read_weights(tmp_path / "w.json", base(), layer="z" * 100_000)
    assert len(str(refused.value)) < 1200
