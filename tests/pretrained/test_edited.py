"""A layer edited as an experiment computes in its model's place, and only the layers behind it again."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from attnlab.attention.edits.layer_edits import configure, toggle_biases, with_setting
from attnlab.attention.experiment import Experiment, Weights
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.model import read_model
from attnlab.pretrained.model_run import Run
from attnlab.pretrained.stack_pass import Part
from tests.pretrained.conftest import Make
from tests.pretrained.test_families import text_of

TEXT = "the cat sat on the mat"


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "llama-yarn", "qwen3", "t5"])
def test_an_unedited_layer_in_its_place_changes_nothing(make: Make, family: str) -> None:
    run = read_model(make(family)[1]).run(TEXT, *(["it was"] if family == "t5" else []))
    for part in run.model.parts:
        same = run.change(layers={part: {1: run.experiment(1, part)}})
        torch.testing.assert_close(same.attention(1, part), run.attention(1, part), atol=1e-5, rtol=1e-4)
        last = run.model.stack(part).n_layers
        torch.testing.assert_close(same.hidden(last, part), run.hidden(last, part), atol=1e-5, rtol=1e-4)
        assert same.outputs(1, part).difference < 1e-5


def test_an_edited_matrix_gives_what_the_model_with_this_matrix_gives(make: Make) -> None:
    """The same number is changed in the files of the model, and in the experiment."""
    model = read_model(make("llama")[1])
    run = model.run(TEXT)
    before = run.hidden(3)
    e = run.experiment(1)
    W_q = e.weights.W_q.clone()
    W_q[:, 3] += 0.5
    parts = {name: getattr(e.weights, name) for name in ("W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o", "extra")}
    edited = run.change(layers={1: replace(e, weights=Weights(W_q=W_q, **parts))})
    edited.hidden(3)  # before the model itself changes
    name = next(key for key in model.folder.held if key.endswith("layers.1.self_attn.q_proj.weight"))
    model.folder.held[name][3, :] += 0.5  # saved [out, in]
    expected = model.run(TEXT)
    torch.testing.assert_close(edited.attention(1), expected.attention(1), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(edited.hidden(3), expected.hidden(3), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(edited.probabilities(), expected.probabilities(), atol=1e-6, rtol=1e-4)
    assert float((edited.hidden(3) - before).abs().max()) > 1e-4


def test_scale_mask_and_heads_off_count_in_an_edited_layer(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    e = run.experiment(0)
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[5, 0] = False
    changed = replace(e, config=replace(e.config, mask=mask, scale=1.0))
    edited = run.change(heads_off=[(0, 2)], layers={0: changed})
    weights = edited.attention(0)
    assert float(weights[:, 5, 0].max()) == 0
    assert bool(edited.hidden_pairs(0)[5, 0])
    assert float(edited.outputs(0).moved[2].max()) == 0
    assert edited.experiment(0).config.ablated == (2,)
    assert edited.hidden(0) is run.hidden(0)
    back = edited.change()
    assert torch.equal(back.hidden(3), run.hidden(3))


@pytest.mark.parametrize("temperature", [0.5, 4.0])
def test_a_temperature_divides_the_models_own_scores(make: Make, temperature: float) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    e = run.experiment(1)
    changed = replace(e, config=replace(e.config, options={"temperature": temperature}))
    edited = run.change(layers={1: changed})
    scores = run.attention(1).double().log() / temperature
    torch.testing.assert_close(edited.attention(1).double(), scores.softmax(-1), atol=1e-5, rtol=0)
    assert edited.hidden(1) is run.hidden(1)
    assert not torch.allclose(edited.hidden(3), run.hidden(3), atol=1e-3)


def test_what_cannot_stand_in_a_model_is_refused(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    e = run.experiment(1)
    with pytest.raises(ArgumentError, match="layers names layer 9; it needs a number from 0 to 2"):
        run.change(layers={9: e})
    with pytest.raises(ArgumentError, match="layers names 'cross'; the parts of this model are decoder"):
        run.change(layers={"cross": {0: e}})
    with pytest.raises(ArgumentError, match="layers contains str; it needs what run"):
        run.change(layers={0: "e"})
    with pytest.raises(ArgumentError, match="The edited layer has 2 heads; the model has 4"):
        run.change(layers={0: replace(e, config=replace(e.config, n_heads=2))})
    painted = replace(e, config=replace(e.config, mask=torch.ones(6, 6, dtype=torch.bool)))
    with pytest.raises(ArgumentError, match="a mask painted for 6 × 6 tokens, and this text has 2 × 2"):
        run.model.run("the cat", layers={0: painted}).attention(0)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "t5"])
def test_arrows_and_heads_are_off_in_an_edited_layer_as_in_the_models_own(make: Make, family: str) -> None:
    """The layer in its own place is the edited one, so that both ways have to agree."""
    run = read_model(make(family)[1]).run(TEXT, *(["it was"] if family == "t5" else []))
    for part in run.model.parts:
        off = {part: [(1, 0, 1, 0), (1, 0, 2, 1), (1, 3, 1, 0)]}
        own = run.change({part: [(1, 2)]}, off)
        edited = run.change({part: [(1, 2)]}, off, {part: {1: run.experiment(1, part)}})
        torch.testing.assert_close(edited.attention(1, part), own.attention(1, part), atol=1e-5, rtol=1e-4)
        assert float(edited.attention(1, part)[0, 2, 1]) == 0
        assert float(edited.attention(1, part)[1, 2, 1]) > 0
        last = run.model.stack(part).n_layers
        torch.testing.assert_close(edited.hidden(last, part), own.hidden(last, part), atol=1e-5, rtol=1e-4)
        assert edited.outputs(1, part).difference < 1e-5
        torch.testing.assert_close(edited.outputs(1, part).heads, own.outputs(1, part).heads, atol=1e-5, rtol=1e-4)


def test_an_arrow_off_hides_a_pair_beside_the_mask_and_temperature_of_an_edited_layer(make: Make) -> None:
    """The weights are those of the model's own scores, divided by the temperature, without the hidden pairs."""
    run = read_model(make("gpt2")[1]).run(TEXT)
    e = run.experiment(1)
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[5, 0] = False
    changed = replace(e, config=replace(e.config, mask=mask, options={"temperature": 2.0}))
    edited = run.change(pairs_off=[(1, 3, 5, 1)], layers={1: changed})
    scores = run.attention(1).double().log() / 2
    scores[:, 5, 0] = scores[3, 5, 1] = -torch.inf
    torch.testing.assert_close(edited.attention(1).double(), scores.softmax(-1), atol=1e-5, rtol=0)
    with pytest.raises(ArgumentError, match="Arrows are off in some heads of this layer only"):
        edited.experiment(1)
    everywhere = run.change(pairs_off=[(1, head, 5, 1) for head in range(4)], layers={1: changed})
    assert everywhere.experiment(1).config.mask.tolist()[5] == [False, False, True, True, True, True]


def test_arrows_of_a_row_without_any_key_leave_the_layers_output_bias(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    off = [(1, 0, 0, 0)]  # the first token of a causal model sees only itself
    edited = run.change(pairs_off=off, layers={1: run.experiment(1)})
    assert not edited.attention(1)[0, 0].any()
    torch.testing.assert_close(edited.hidden(3), run.change(pairs_off=off).hidden(3), atol=1e-5, rtol=1e-4)


def read_words(run: Run, part: Part | None = None) -> list[str]:
    return [edit.words for edit in run.list_edits(1, part)]


def test_every_edit_of_a_layer_is_named_and_removed_alone(make: Make) -> None:
    run = read_model(make("llama")[1]).run(TEXT)
    e = run.experiment(1)
    W_q, b_v = e.weights.W_q.clone(), e.weights.b_v.clone()
    W_q[0, :3] += 1.0
    b_v[2] = 0.25
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[5, :2] = False
    edits = {
        "W_q edited, 3 numbers": lambda e: replace(e, weights=replace(e.weights, W_q=W_q)),
        "b_v edited, 1 number": lambda e: replace(e, weights=replace(e.weights, b_v=b_v)),
        "causal mask off": lambda e: configure(e, causal=False),
        "scores ÷ √d_k → ÷ 4": lambda e: configure(e, scale=4.0),
        "mask painted, 2 pairs hidden": lambda e: replace(e, config=replace(e.config, mask=mask)),
        "window mask of 2": lambda e: configure(e, masks={"window": 2}),
        "temperature 1 → 2": lambda e: configure(e, temperature=2.0),
        "RoPE base 10000 → 90": lambda e: configure(e, rope_base=90.0),
    }
    changed = e
    for edit in edits.values():
        changed = edit(changed)
    found = run.change(layers={1: changed}).list_edits(1)
    assert {each.words for each in found} == {*edits}
    for each in found:
        without = e
        for words, edit in edits.items():
            without = without if words == each.words else edit(without)
        assert each.rest is not None
        expected = run.change(layers={1: without})
        torch.testing.assert_close(run.change(layers={1: each.rest}).hidden(3), expected.hidden(3))
        assert {*read_words(expected)} == {*edits} - {each.words}


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda e: configure(e, score="cosine"), "Score dot → cosine"),
        (lambda e: configure(e, score="additive"), "Score dot → additive"),
        (lambda e: configure(e, positions="t5"), "Positions RoPE → T5 bias"),
        (lambda e: configure(e, normalizer="sparsemax"), "Weights softmax → sparsemax"),
        (lambda e: configure(e, qk_norm="rms"), "QK norm none → RMS"),
        (lambda e: configure(e, sink=True), "attention sink off → on"),
        (lambda e: configure(e, ablated=(0, 3)), "heads 0, 3 off"),
        (lambda e: with_setting(e, n_kv_heads=4), "2 key heads → 4"),
        (lambda e: toggle_biases(e, False), "b_q, b_k, b_v, b_o removed"),
        (lambda e: configure(e, dropout=0.5, dropout_seed=3), "dropout 0 → 0.5"),
    ],
)
def test_a_choice_is_one_edit_with_its_settings_and_tables(
    make: Make, edit: Callable[[Experiment], Experiment], words: str
) -> None:
    """The last edit that is removed leaves the model's own layer, and beside another one it leaves that."""
    run = read_model(make("llama")[1]).run(TEXT)
    e = run.experiment(1)
    (found,) = run.change(layers={1: edit(e)}).list_edits(1)
    assert (found.words, found.rest) == (words, None)
    both = run.change(layers={1: edit(configure(e, causal=False))}).list_edits(1)
    (rest,) = (each.rest for each in both if each.words == words)
    expected = run.change(layers={1: configure(e, causal=False)})
    torch.testing.assert_close(run.change(layers={1: rest}).hidden(3), expected.hidden(3))


@pytest.mark.parametrize(("family", "count"), [("mistral", 3), ("llama-dynamic", 70), ("llama-dynamic", 90)])
def test_an_edited_layer_reads_a_text_of_another_length_with_the_models_window_and_frequencies(
    make: Make, family: str, count: int
) -> None:
    """A window that hides nothing, and frequencies of short texts, are those of the text at which it was edited."""
    model = read_model(make(family)[1])
    e = replace(model.run(text_of(count)).experiment(1))
    for other in (8, 80):
        run = model.run(text_of(other))
        same = run.change(layers={1: e})
        torch.testing.assert_close(same.attention(1), run.attention(1), atol=1e-5, rtol=1e-4)
        assert read_words(same) == []
        hidden = run.hidden_pairs(1)
        assert torch.equal(same.hidden_pairs(1), hidden)
