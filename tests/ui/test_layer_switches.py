"""Every registry entry, chosen from its pill with its settings: the window shows what was chosen."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import stack_edits
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries import registry
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch
from tests.ui.popups import close, popup_of

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key
PILLS = {"score": "Score", "normalizer": "Weights", "positions": "Positions", "qk_norm": "Heads", "block": "Block"}
PILLS |= {"block_norm": "Block", "feed_forward": "Block"}


def said(popup: QWidget) -> list[str]:
    """Return the error messages in a popup."""
    labels = popup.findChildren(QLabel)
    return [label.text() for label in labels if label.isVisible() and label.property("role") == "error"]


def type_setting(person: "Person", pill: str, title: str, text: str) -> list[str]:
    """Type a number into a setting of a popup; return its error message. The popup stays open."""
    popup = popup_of(person, pill)
    edit = person.find(NumberEdit, title, popup)
    person.click(edit)
    edit.selectAll()
    person.key(Key.Key_Delete, widget=edit)
    QTest.keyClicks(edit, text)
    person.key(Key.Key_Return, widget=edit)
    return said(popup)


def turn(person: "Person", pill: str, title: str) -> None:
    """Click a switch of a popup."""
    person.click(person.find(Switch, title, popup_of(person, pill)))


def take(person: "Person", pill: str, setting: str, title: str) -> None:
    """Choose a value of a setting in a popup: a segment, or a line of a list."""
    popup = popup_of(person, pill)
    folded = [box for box in popup.findChildren(QComboBox) if box.isVisible() and box.accessibleName() == setting]
    if folded:
        folded[0].setFocus()
        person.key(Key.Key_Home, widget=folded[0])
        while folded[0].currentText() != title:
            before = folded[0].currentIndex()
            person.key(Key.Key_Down, widget=folded[0])
            assert folded[0].currentIndex() != before, f"{setting} has no {title!r}"
        return
    segments = person.find(Segments, setting, popup)
    person.click(next(button for button in segments.buttons() if button.text() == title))


def check(person: "Person", expected: Experiment) -> None:
    """Compare every card with an experiment."""
    person.settle()
    trace = attnlab.compute(expected)
    canvas = person.playground.canvas
    shown = [name for name, card in canvas.cards.items() if card.isVisible()]
    assert shown == [name for name in trace.all_stages if name != canvas.covered]
    for name in trace.all_stages:
        array = trace.array(name)
        np.testing.assert_array_equal(person.painted(name), array if array.ndim == 3 else array[None], name)


def settings(popup: QWidget) -> list[str]:
    """Return the names of the settings of a popup, from top to bottom."""
    stops = [w for kind in (NumberEdit, Switch, Segments, QComboBox) for w in popup.findChildren(kind)]
    shown = [w for w in stops if w.isVisible() and w.accessibleName()]
    return list(dict.fromkeys(w.accessibleName() for w in sorted(shown, key=lambda w: w.mapToGlobal(w.pos()).y())))


# Entries


@pytest.mark.slow
@pytest.mark.parametrize("choice", registry.CHOICES, ids=lambda choice: choice.field)
def test_every_entry_can_be_chosen_and_is_computed(
    person: "Person", choice: registry.Choice, subtests: pytest.Subtests
) -> None:
    pill, history = PILLS[choice.field], person.document.history
    if choice.under:
        person.choose(pill, "norms before")
    before, step = person.experiment, history.index
    for place, (name, entry) in enumerate(choice.entries.items()):
        with subtests.test(name=name):
            if choice.within:
                take(person, pill, choice.title, entry.title)
                close(person, pill)
            else:
                person.choose(pill, entry.title)
                assert person.find(Pill, pill).value_text() == entry.title
            check(person, edits.configure(before, **{choice.field: name}))
            made = history.index - step
            assert made == (place if choice.under else min(place, 1))  # keys take each entry of a list on their way
            popup = popup_of(person, pill)
            assert {option.title for option in entry.options} <= set(settings(popup))
            close(person, pill)
            for _ in range(made):
                person.undo()
            check(person, before)


def test_only_options_of_the_chosen_entry_are_offered(person: "Person") -> None:
    assert settings(popup_of(person, "Positions")) == []
    close(person, "Positions")
    person.choose("Positions", "T5 bias")
    assert settings(popup_of(person, "Positions")) == ["Buckets", "Farthest", "Both ways"]
    close(person, "Positions")
    person.choose("Weights", "÷ sum")
    assert settings(popup_of(person, "Weights")) == ["Dropout", "Seed", "Training"]
    close(person, "Weights")
    person.settle()


def test_tables_of_an_entry_can_be_opened_and_edited(person: "Person") -> None:
    before = person.experiment
    person.choose("Score", "general")
    person.settle()
    plain = person.painted("scores").copy()
    person.open_table("W_a")
    person.type_number(0, 0, "3")
    expected = edits.set_block(edits.configure(before, score="general"), "W_a", 0, 0, [[3.0]])
    check(person, expected)
    assert not np.array_equal(person.painted("scores"), plain)


def test_positions_are_shown_in_the_stages_that_they_change(person: "Person") -> None:
    for title, stages in (
        ("sinusoidal", set()),
        ("RoPE", {"rotated_queries", "rotated_keys"}),
        ("ALiBi", {"biased"}),
        ("none", set()),
    ):
        person.choose("Positions", title)
        person.settle()
        shown = {name for name, card in person.playground.canvas.cards.items() if card.isVisible()}
        assert shown & {"rotated_queries", "rotated_keys", "biased"} == stages


# Settings


def test_a_temperature_evens_out_the_weights_and_is_one_step(person: "Person") -> None:
    before, logits = person.experiment, person.painted("scaled")[0].astype(np.float64)
    steps = len(person.history())
    assert type_setting(person, "Weights", "Temperature", "2") == []
    close(person, "Weights")
    person.settle()
    powers = np.exp(logits / 2)
    np.testing.assert_allclose(person.painted("weights")[0], powers / powers.sum(-1, keepdims=True), rtol=1e-6)
    check(person, edits.configure(before, temperature=2.0))
    assert len(person.history()) == steps + 1
    assert person.history()[-1] == "Temperature 2"
    assert "temperature 2" in person.find(Pill, "Weights").accessibleDescription()
    person.undo()
    check(person, before)


INVALID_TEMPERATURES = {
    "0": "it needs a number above 0",
    "-1": "Temperature is −1; it needs a number above 0",
    "abc": "'abc' is not a number",
    "": "this field is empty",
    "inf": "'inf' is not a finite number",
}


def test_an_invalid_temperature_is_explained_and_changes_nothing(person: "Person", subtests: pytest.Subtests) -> None:
    before = person.document.scene
    for text, words in INVALID_TEMPERATURES.items():
        with subtests.test(text=text):
            sentence = type_setting(person, "Weights", "Temperature", text)
            assert len(sentence) == 1
            assert words in sentence[0]
            assert sentence[0].endswith(".")
            assert person.document.scene is before
            person.check_every_number()


def test_a_setting_can_be_reset_by_one_click(person: "Person") -> None:
    type_setting(person, "Weights", "Temperature", "0,5")
    assert person.experiment.config.option("temperature") == 0.5
    popup = popup_of(person, "Weights")
    person.press("Reset Temperature to 1")
    assert popup.isVisible()
    assert "temperature" not in person.experiment.config.options
    close(person, "Weights")
    person.settle()


def test_dropout_draws_by_its_seed_in_training_only(person: "Person") -> None:
    before = person.experiment
    sums = person.painted("weights").sum(-1)
    type_setting(person, "Weights", "Dropout", "0,5")
    type_setting(person, "Weights", "Seed", "7")
    close(person, "Weights")
    person.settle()
    dropped = person.painted("dropped")
    kept = torch.rand(1, 6, 6, generator=torch.Generator().manual_seed(7)).numpy() >= 0.5
    np.testing.assert_array_equal(dropped, np.where(kept, person.painted("weights") / 0.5, 0).astype(np.float32))
    assert np.abs(dropped.sum(-1) - sums).max() > 0.01
    text = next(t for t in bar_texts(person) if t.startswith("row sums"))
    low, high = dropped.sum(-1).min(), dropped.sum(-1).max()
    assert text == f"row sums {low:.2f} … {high:.2f}"
    assert person.history()[-2:] == ["Dropout 0.5", "Seed 7"]
    turn(person, "Weights", "Training")
    close(person, "Weights")
    person.settle()
    assert person.card("dropped").isHidden()
    assert "✓ rows sum to 1" in bar_texts(person)
    check(person, edits.configure(before, dropout=0.5, dropout_seed=7, training=False))
    person.undo()
    person.settle()
    np.testing.assert_array_equal(person.painted("dropped"), dropped)


def bar_texts(person: "Person") -> list[str]:
    return [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]


def test_seed_and_training_are_disabled_without_dropout(person: "Person") -> None:
    before, popup = person.document.scene, popup_of(person, "Weights")
    for kind, title in ((NumberEdit, "Seed"), (Switch, "Training")):
        control = person.find(kind, title, popup)
        assert not control.isEnabled()
        assert "Has no effect without dropout." in person.tip(control, control.rect().center())
        assert control.accessibleDescription() == "Has no effect without dropout."
        person.click(control)
    assert person.document.scene is before
    type_setting(person, "Weights", "Dropout", "0,1")
    assert person.find(NumberEdit, "Seed", popup).isEnabled()
    assert person.find(Switch, "Training", popup).isEnabled()
    close(person, "Weights")
    person.settle()


def whole(person: "Person") -> np.ndarray:
    """Return the weights of the first map with the share of the sink."""
    data = person.card("weights").data
    assert data is not None
    return data.values[0]


def test_a_sink_takes_part_of_every_row(person: "Person") -> None:
    before, logits = person.experiment, person.painted("scaled")[0].astype(np.float64)
    turn(person, "Heads", "Attention sink")
    close(person, "Heads")
    person.settle()
    powers = np.exp(logits)
    powers = np.append(powers, np.ones((len(powers), 1)), -1)  # the logit of the sink is 0
    np.testing.assert_allclose(whole(person), powers / powers.sum(-1, keepdims=True), rtol=2e-6)
    assert person.history()[-1] == "Attention sink on"
    person.open_table("sinks")
    person.type_number(0, 0, "2")
    person.settle()
    powers[:, -1] = np.exp(2)
    np.testing.assert_allclose(whole(person), powers / powers.sum(-1, keepdims=True), rtol=2e-6)
    turn(person, "Heads", "Attention sink")
    close(person, "Heads")
    check(person, before)


def test_a_soft_cap_keeps_scores_small(person: "Person") -> None:
    scaled = person.painted("scaled").astype(np.float64)
    assert type_setting(person, "Heads", "Soft cap", "0.5") == []
    close(person, "Heads")
    person.settle()
    np.testing.assert_allclose(person.painted("capped"), 0.5 * np.tanh(scaled / 0.5), rtol=1e-6)
    type_setting(person, "Heads", "Soft cap", "0")
    close(person, "Heads")
    person.settle()
    assert person.card("capped").isHidden()


def test_key_heads_can_be_reduced_to_one(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    before = person.experiment
    keys, steps = person.painted("keys").copy(), len(person.history())
    columns = edits.shape(before, "W_k")[1]
    for count in (4, 1):
        take(person, "Heads", "Key heads", str(count))
        close(person, "Heads")
        person.settle()
        assert person.experiment.n_kv_heads == count
        assert edits.shape(person.experiment, "W_k")[1] == columns * count // 8
        first = np.arange(8) // (8 // count) * (8 // count)
        np.testing.assert_allclose(person.painted("keys"), keys[first], rtol=1e-5, atol=1e-6)
        q, k = person.painted("queries"), person.painted("keys")
        scores = np.einsum("hqd,hkd->hqk", q.astype(np.float64), k.astype(np.float64))
        np.testing.assert_allclose(person.painted("scores"), scores, rtol=1e-4, atol=1e-5)
    assert len(person.history()) == steps + 2
    assert person.history()[-1] == "Key heads 1"
    person.undo()
    person.undo()
    check(person, before)


def test_one_head_has_no_choice_of_key_heads(person: "Person") -> None:
    segments = person.find(Segments, "Key heads", popup_of(person, "Heads"))
    assert not segments.isEnabled()
    assert segments.accessibleDescription() == "Sharing needs more than one head."


# What makes no sense

ODD_D_K = "“RoPE” rotates columns in pairs, but d_k is 3; use an even d_k such as 2 or 4."


def test_rope_is_disabled_for_an_odd_d_k(person: "Person") -> None:
    person.set_size("d_k", "3")
    person.settle()
    before = person.document.scene
    row = next(row for row in person.open_pill("Positions") if row.accessibleName() == "RoPE")
    assert not row.isEnabled()
    assert "d_k is 3" in person.tip(row, row.rect().center())
    assert ODD_D_K in row.accessibleDescription()
    person.click(row)
    assert person.document.scene is before
    close(person, "Positions")
    person.set_size("d_k", "4")
    person.choose("Positions", "RoPE")
    person.settle()
    assert person.painted("rotated_keys").shape == (1, 6, 4)


def test_an_odd_d_k_is_refused_with_rope(person: "Person") -> None:
    person.choose("Positions", "RoPE")
    person.settle()
    before = person.document.scene
    person.set_size("d_k", "3")
    assert person.message() + person.table_message() == ODD_D_K
    assert person.document.scene is before


def test_a_refused_setting_is_named_as_its_field_names_it(person: "Person") -> None:
    person.choose("Positions", "T5 bias")
    person.settle()
    odd = "“T5 bias” halves its buckets, but “Buckets” is 9; use an even number such as 8 or 10."
    assert type_setting(person, "Positions", "Buckets", "9") == [odd]
    close(person, "Positions")
    near = "“Farthest” is 8, but with 32 for “Buckets” each distance below 8 has a bucket already; use more than 8."
    assert type_setting(person, "Positions", "Farthest", "8") == [near]
    close(person, "Positions")


@pytest.mark.parametrize("title", ["÷ sum", "sigmoid"])
def test_a_sink_is_disabled_with_an_independent_normaliser(person: "Person", title: str) -> None:
    person.choose("Weights", title)
    person.settle()
    before = person.document.scene
    switch = person.find(Switch, "Attention sink", popup_of(person, "Heads"))
    assert not switch.isEnabled()
    assert "do not compete for weight" in person.tip(switch, switch.rect().center())
    person.click(switch)
    assert person.document.scene is before


@pytest.mark.parametrize("title", ["÷ sum", "sigmoid"])
def test_independent_normalisers_are_disabled_with_a_sink(person: "Person", title: str) -> None:
    turn(person, "Heads", "Attention sink")
    close(person, "Heads")
    person.settle()
    before = person.document.scene
    row = next(row for row in person.open_pill("Weights") if row.accessibleName() == title)
    assert not row.isEnabled()
    assert "sink off" in person.tip(row, row.rect().center())
    person.click(row)
    assert person.document.scene is before
    close(person, "Weights")
    person.choose("Weights", "sparsemax")
    person.settle()


def test_an_odd_number_of_buckets_is_explained_below_it(person: "Person") -> None:
    person.choose("Positions", "T5 bias")
    before = person.document.scene
    sentences = type_setting(person, "Positions", "Buckets", "7")
    assert len(sentences) == 1
    assert "use an even number such as 6 or 8" in sentences[0]
    assert person.document.scene is before
    assert person.find(NumberEdit, "Buckets", popup_of(person, "Positions")).lineEdit().text() == "32"
    assert type_setting(person, "Positions", "Buckets", "8") == []
    close(person, "Positions")
    person.settle()
    assert edits.shape(person.experiment, "B") == (8, 1)


def test_head_counts_that_would_remove_an_ablated_head_are_disabled(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    heads = person.playground.canvas.heads
    person.click(heads, heads.control_rect(3).center().toPoint())
    person.settle()
    before = person.document.scene
    rows = {row.accessibleName(): row for row in person.open_pill("Heads")}
    assert [name for name, row in rows.items() if not row.isEnabled()] == ["1", "2"]
    assert person.tip(rows["2"], rows["2"].rect().center()) == "Head 3 is switched off; switch it on first."
    person.click(rows["2"])
    assert person.document.scene is before
    person.click(rows["4"])
    person.settle()
    assert person.painted("weights").shape[0] == 4
    assert not person.painted("context")[3].any()


@pytest.mark.parametrize(("text", "words"), [("3", "n_kv_heads"), ("16", "W_k")])
def test_a_head_count_that_grouped_keys_forbid_is_refused_with_the_reason(
    sit_down: Callable[..., "Person"], text: str, words: str
) -> None:
    person = sit_down("grouped-keys")
    before = person.document.scene
    sentence = person.type_into_pill("Heads", text)
    assert words in sentence
    assert person.document.scene is before


# What masked scores become


@pytest.mark.parametrize(
    ("title", "fill", "masked_weight"),
    [
        ("−∞", "-inf", "zero"),
        ("−1e9", "-1e9", "zero"),
        ("0 (a mistake)", "0", "share"),
        ("after (a mistake)", "after", "late"),
    ],
)
def test_each_fill_has_its_effect(person: "Person", title: str, fill: str, masked_weight: str) -> None:
    before = person.experiment
    person.press("Causal")
    person.settle()
    if fill != "-inf":
        take(person, "Mask", "Masked scores", title)
        close(person, "Mask")
    person.settle()
    check(person, edits.configure(before, causal=True, fill=fill))
    future = np.triu_indices(6, 1)
    name = "zeroed" if fill == "after" else "weights"
    weights = person.painted(name)[0]
    assert (weights[future] > 0).all() == (masked_weight == "share")
    one = np.allclose(weights.sum(-1), 1, atol=1e-6)
    assert one == (masked_weight != "late")
    assert ("✓ rows sum to 1" in bar_texts(person)) == one
    if fill == "-1e9":
        assert (person.painted("masked")[0][future] == np.float32(-1e9)).all()


@pytest.mark.slow
def test_every_setting_is_one_history_entry(person: "Person") -> None:
    states: list[Any] = [person.experiment]
    for do in (
        lambda: person.choose("Score", "cosine"),
        lambda: type_setting(person, "Weights", "Temperature", "0,1"),
        lambda: person.choose("Weights", "entmax 1.5"),
        lambda: take(person, "Heads", "QK norm", "RMS"),
        lambda: person.choose("Positions", "sinusoidal"),
    ):
        do()
        for pill in ("Weights", "Heads"):
            if person.find(Pill, pill).popup() is not None:
                close(person, pill)
        states.append(person.experiment)
    person.settle()
    assert person.history()[1:] == [
        "Score cosine",
        "Temperature 0.1",
        "Weights entmax 1.5",
        "QK norm RMS",
        "Positions sinusoidal",
    ]
    for state in reversed(states[:-1]):
        person.undo()
        assert person.experiment is state
    for state in states[1:]:
        person.redo()
        assert person.experiment is state
    person.settle()


def test_a_setting_can_be_reached_by_keyboard_alone(person: "Person") -> None:
    pill = person.find(Pill, "Weights")
    pill.setFocus()
    person.key(Key.Key_Down)
    popup = pill.popup()
    assert popup is not None
    person.key(Key.Key_Tab, widget=popup.focusWidget())
    QTest.keyClicks(popup.focusWidget(), "3")
    person.key(Key.Key_Return, widget=popup.focusWidget())
    assert person.experiment.config.option("temperature") == 3
    close(person, "Weights")
    person.settle()


# Layers of a stack


@pytest.mark.slow
def test_layers_are_added_chosen_and_removed(person: "Person") -> None:
    person.choose("Block", "norms before")
    one = person.experiment
    person.choose("Layer", "add a layer")
    assert (person.experiment.n_layers, person.experiment.layer) == (2, 1)
    assert person.find(Pill, "Layer").value_text() == "2 of 2"
    check(person, stack_edits.add_layer(one))
    person.choose("Weights", "÷ sum")
    person.choose("Layer", "1 of 2")
    assert person.experiment.config.normalizer == "softmax"
    check(person, stack_edits.select_layer(person.experiment, 0))
    person.choose("Layer", "remove this layer")
    assert person.experiment.n_layers == 1
    assert person.experiment.config.normalizer == "sum"
    assert person.history()[-4:] == ["Add a layer", "Weights ÷ sum", "Layer 1", "Remove layer 1"]
    for _ in range(5):
        person.undo()
    check(person, attnlab.preset("journey"))
