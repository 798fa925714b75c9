"""Invalid input and failures: one sentence at the right place, and the last valid state is kept."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSpinBox

from attnlab.attention.edits import set_block
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.base.errors import DeviceError

if TYPE_CHECKING:
    from attnlab.compute.service import Reply
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier


# Numbers


INVALID_NUMBERS = {
    "abc": "'abc' is not a number; type one such as 0.25",
    "nan": "'nan' is not a finite number",
    "inf": "'inf' is not a finite number",
    "1e39": "'1e39' is too large",
    "1/0": "divides by zero",
    "1 2": "'1 2' is not a number",
    "٣x": "is not a number",
}


def test_an_invalid_number_is_reported_at_its_cell_and_can_be_corrected(
    person: "Person", subtests: pytest.Subtests
) -> None:
    for i, (text, words) in enumerate(INVALID_NUMBERS.items(), 1):
        with subtests.test(text=text):
            before = person.document.scene
            person.type_number(1, 1, text)
            sentence = person.table_message()
            assert words in sentence
            assert sentence.startswith("Row x1, column 1: ")
            assert sentence.endswith(".")
            assert person.document.scene is before
            person.key(Key.Key_A, Mod.ControlModifier)  # the field is still open, with what was typed
            person.type(f"0.{i}")
            person.key(Key.Key_Return)
            assert person.table_message() == ""
            assert person.in_table()[1, 1] == i / 10
            assert len(person.history()) == 1 + i


def test_leaving_an_invalid_number_restores_the_last_one(person: "Person") -> None:
    before = person.in_table()
    person.type_number(1, 1, "abc")
    person.playground.inputs.sentence.setFocus()
    np.testing.assert_array_equal(person.in_table(), before)


MISFITS = {
    "1\t2\t3\n4\t5\t6": ("Row x0, column 0", "2 × 3", "room for 3 × 2"),
    "1\n2\n3\n4\n5": ("5 × 1", "room for 3 × 2", "Nothing was changed"),
    "1\t2\n3": ("row",),
    "1\tx\n3\t4": ("x",),
    "": ("clipboard",),
    "nan\t1": ("nan",),
    "1e39": ("1e39",),
}


def test_a_paste_of_the_wrong_shape_is_refused_with_the_reason(person: "Person", subtests: pytest.Subtests) -> None:
    before, sentence = person.document.scene, ""
    person.click_number(0, 0)
    for text, words in MISFITS.items():
        with subtests.test(text=text):
            earlier = sentence
            person.paste(text)
            sentence = person.table_message()
            assert sentence != earlier
            assert all(word in sentence for word in words), sentence
            assert sentence.endswith(".")
            assert person.document.scene is before


def test_several_pasted_lines_become_one_sentence(person: "Person") -> None:
    field = person.playground.inputs.sentence
    field.setFocus()
    field.selectAll()
    QGuiApplication.clipboard().setText("one\ntwo\tthree")
    person.key(Key.Key_V, Mod.ControlModifier)
    assert person.experiment.tokens == ("one", "two", "three")


def test_too_many_words_are_refused_in_a_sentence(person: "Person") -> None:
    field = person.playground.inputs.sentence
    field.setFocus()
    field.selectAll()
    field.insert("word " * 513)
    QTest.keyClick(field, Key.Key_X)
    assert "512" in person.message()
    assert person.experiment.T_q == 6


def test_overflowed_numbers_are_reported_and_shown_as_infinity(person: "Person") -> None:
    for row in range(3):
        person.type_number(row, 0, "3e38")
    person.settle()
    assert "∞ or NaN in float32" in person.message()
    assert "∞ or NaN" in [label.text() for label in person.playground.step_bar.findChildren(QLabel)]
    assert np.isinf(person.painted("queries")).any()
    row, column = np.argwhere(np.isinf(person.painted("queries")[0]))[0].tolist()
    assert person.tip(person.card("queries"), person.cell("queries", row, column)).endswith("∞")
    person.click_cell("weights", 0, 0)
    person.window.grab()
    for _ in range(3):
        person.undo()
    person.settle()
    assert person.message() == ""
    assert np.isfinite(person.painted("queries")).all()


def test_a_warning_of_a_late_reply_does_not_stay(person: "Person") -> None:
    service, good = person.playground.service, person.experiment
    bad = set_block(good, "W_q", 0, 0, [[3e38], [3e38], [3e38]])
    service.request(bad, "cpu", "float32", None, False)
    person.wait_for(lambda: "∞ or NaN" in person.message())
    service.request(good, "cpu", "float32", None, False)
    person.wait_for(lambda: person.message() == "")


def test_overflow_in_float16_is_reported(person: "Person") -> None:
    person.type_number(0, 0, "60000")
    person.settle()
    person.type_number(1, 0, "60000")
    person.settle()
    assert person.message() == ""
    person.choose("Device and number format", "CPU float16")
    person.settle()
    assert "in float16" in person.message()
    person.choose("Device and number format", "CPU float64")
    person.settle()
    assert person.message() == ""
    assert np.isfinite(person.painted("scores")).all()


def test_the_largest_float_can_be_dragged(person: "Person") -> None:
    person.type_number(0, 0, "3.4028234e38")
    person.drag_number(0, 0, 50, modifiers=Mod.ControlModifier)
    assert math.isfinite(person.in_table()[0, 0])


# Sizes


@pytest.mark.parametrize("name", ["T", "d_model", "d_k", "d_v"])
def test_an_invalid_size_is_explained_and_the_old_one_kept(
    person: "Person", name: str, subtests: pytest.Subtests
) -> None:
    box = person.find(QSpinBox, name)
    for text in ("0", "-1", "513", "1000", "2.5", "abc", ""):
        with subtests.test(text=text):
            before, old = person.document.scene, box.value()
            box.setFocus()
            box.selectAll()
            QTest.keyClick(box, Key.Key_Delete)
            person.type(text)
            person.key(Key.Key_Return)
            sentence = person.table_message()
            assert sentence.startswith(f"{name}: ")
            assert sentence.endswith("type a whole number from 1 to 512.")
            assert not text or f"“{text}”" in sentence
            assert box.text() == str(old)
            assert person.document.scene is before
            person.set_size(name, "8" if old == 7 else "7")
            assert person.table_message() == ""
            assert person.document.scene is not before


def test_an_invalid_seed_is_explained(person: "Person") -> None:
    box = person.find(QSpinBox, "Seed")
    heard = QAccessible.queryAccessibleInterface(box)
    assert [heard.text(each) for each in (QAccessible.Text.Name, QAccessible.Text.Value)] == ["Seed", "0"]
    box.setFocus()
    box.selectAll()
    person.type("seven")
    person.key(Key.Key_Return)
    assert person.table_message() == "Seed: “seven” does not fit here; type a whole number from 0 to 99999."
    assert box.value() == 0


@pytest.mark.slow
def test_a_layer_too_wide_for_its_heads_is_refused_with_the_reason(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(Experiment(("a",), torch.zeros(1, 4096), config=AttentionConfig(n_heads=4096)))
    before = person.document.scene
    person.set_size("d_k", "9")
    assert person.message() == "d_k is 9; it needs 1."
    assert person.document.scene is before
    assert person.find(QSpinBox, "d_k").value() == 1


# What breaks


def go_to_device(person: "Person", device: str, dtype: str = "float32") -> None:
    person.document.edit_scene(f"To {device}", lambda scene: replace(scene, device=device, dtype=dtype))


@pytest.mark.parametrize(
    ("device", "dtype", "words"),
    [("cuda:77", "float32", "cuda:77"), ("abacus", "float32", "abacus"), ("cpu", "float8", "float8")],
)
def test_a_failing_device_is_reported_and_the_last_state_restored(
    person: "Person", device: str, dtype: str, words: str
) -> None:
    person.press("Causal")
    person.settle()
    good, shown = person.document.scene, person.painted("weights")
    go_to_device(person, device, dtype)
    person.wait_for(lambda: person.message() != "")
    assert words in person.message()
    assert person.document.scene is good
    np.testing.assert_array_equal(person.painted("weights"), shown)
    person.settle()
    assert words in person.message()  # it stays until the next edit
    person.press("Biases")
    person.settle()
    assert person.message() == ""


def test_an_outdated_failure_reverts_nothing(person: "Person") -> None:
    go_to_device(person, "abacus")
    go_to_device(person, "cpu", "float64")
    wanted = person.document.scene
    person.settle()
    assert person.document.scene is wanted
    assert person.painted("weights").dtype == np.float64


def test_a_failed_state_is_removed_from_the_history(person: "Person") -> None:
    good = person.document.scene
    go_to_device(person, "abacus")
    person.wait_for(lambda: person.message() != "")
    assert len(person.history()) == 1
    assert person.document.history.redo_label is None
    assert person.document.scene is good


def test_undo_skips_a_state_that_cannot_be_computed(person: "Person") -> None:
    """It is between two valid states, because the newer edit came before its reply."""
    good = person.document.scene
    go_to_device(person, "abacus")
    go_to_device(person, "cpu", "float64")
    person.settle()
    assert len(person.history()) == 3
    person.undo()
    person.wait_for(lambda: "abacus" in person.message() and person.document.scene is good)
    person.settle()
    assert person.history() == ["Open Your journey starts…", "To cpu"]
    person.redo()
    person.settle()
    assert person.painted("weights").dtype == np.float64


def test_a_failing_gesture_returns_to_its_last_valid_state(person: "Person") -> None:
    def dragged(dtype: str) -> None:
        person.document.edit_scene("Drag", lambda scene: replace(scene, dtype=dtype), gesture=1)

    dragged("float64")
    person.settle()
    good = person.document.scene
    dragged("float8")
    person.wait_for(lambda: "float8" in person.message())
    assert person.document.scene is good
    assert len(person.history()) == 2


def test_a_later_device_failure_removes_no_history_entry(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Causal", "Biases"):
        person.press(name)
        person.settle()
    monkeypatch.setattr("attnlab.compute.service.check_size", _refuse)
    person.undo()
    person.wait_for(lambda: person.message() == "The device is gone.")
    person.undo()
    person.wait_for(lambda: person.document.history.index == 0)
    assert len(person.history()) == 3
    monkeypatch.undo()
    person.redo()
    person.settle()
    assert person.experiment.config.causal


def _refuse(*_: object) -> None:
    raise DeviceError("The device is gone.")


def test_an_error_in_the_worker_is_reported_and_the_program_continues(
    person: "Person", capsys: pytest.CaptureFixture[str], provoked: Callable[[], list[str]]
) -> None:
    good = person.document.scene
    person.playground.service.request(None, "cpu", "float32", None, False)  # type: ignore[arg-type]
    person.wait_for(lambda: person.message() != "")
    assert person.message().startswith("Something went wrong inside attnlab while computing: AttributeError")
    assert [reason.partition(":")[0] for reason in provoked()] == ["AttributeError"]
    assert "Traceback" in capsys.readouterr().err
    assert person.document.scene is good
    person.press("Causal")
    person.settle()
    assert person.painted("weights")[0, 0, 1] == 0


# Bursts


@pytest.mark.slow
def test_two_hundred_edits_end_with_the_last_state(person: "Person") -> None:
    replies: list[Reply] = []
    person.playground.computed.connect(replies.append)
    view, at = person.table.viewport(), person.table.grid().cell(0, 0).center()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=at)
    for x in range(5, 205):
        person._move_to(view, view.mapToGlobal(at) + _across(x), Qt.MouseButton.LeftButton, Mod.NoModifier)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at + _across(204))
    person.settle()
    ids = [reply.request.id for reply in replies]
    assert ids == sorted(set(ids))
    assert ids[-1] == person.playground.service.newest
    assert len(ids) < 200  # those in between were skipped
    assert replies[-1].request.experiment is person.experiment
    assert len(person.history()) == 2


def _across(x: int) -> QPoint:
    return QPoint(x, 0)


@pytest.mark.slow
def test_a_burst_of_undo_and_redo_ends_with_the_last_state(person: "Person") -> None:
    for step in range(20):
        person.type_number(0, 0, f"{step / 10}")
    for _ in range(50):
        person.document.undo()
    for _ in range(7):
        person.document.redo()
    person.settle()
    assert person.in_table()[0, 0] == pytest.approx(0.6)


def test_nothing_hangs_when_the_window_closes_in_the_middle_of_a_burst(person: "Person") -> None:
    for step in range(50):
        person.document.edit("x", lambda e: e)
        person.playground.toggle_causal()
        assert step >= 0
    assert person.window.close()


def test_a_huge_layer_does_not_block_the_edits_that_follow(sit_down: Callable[..., "Person"]) -> None:
    big = torch.randn(512, 64)
    person = sit_down(Experiment([f"t{i}" for i in range(512)], big, Weights(), AttentionConfig(8)))
    for _ in range(6):
        person.playground.toggle_causal()
    person.playground.open_preset("the-cat-sat")
    person.settle()
    assert person.painted("weights").shape == (1, 3, 3)


# Odd experiments


@pytest.mark.parametrize("tokens", [("",), (" ",), ("a", "a", "a"), ("\x00",), ("x" * 5000,)])
def test_unusual_tokens_are_displayed(sit_down: Callable[..., "Person"], tokens: tuple[str, ...]) -> None:
    person = sit_down(Experiment(tokens, torch.eye(len(tokens))))
    person.click_cell("weights", 0, 0)
    person.window.grab()
    assert person.playground.inputs.tokens.tokens() == tokens


def test_cross_attention_with_grouped_keys_can_be_viewed_and_edited(sit_down: Callable[..., "Person"]) -> None:
    torch.manual_seed(0)
    e = Experiment(
        ("q1", "q2", "q3"),
        torch.randn(3, 8),
        Weights(torch.randn(8, 8), torch.randn(6, 4), torch.randn(6, 4)),
        AttentionConfig(n_heads=4, n_kv_heads=2),
        ("k1", "k2", "k3", "k4", "k5"),
        torch.randn(5, 6),
    )
    person = sit_down(e)
    assert person.labels("weights") == (("q1", "q2", "q3"), ("k1", "k2", "k3", "k4", "k5"))
    person.click_cell("weights", 2, 4, index=3)
    person.open_table("W_k")
    assert person.in_table().shape[0] == 6
    person.type_number(0, 0, "9")
    person.press("Causal")
    person.settle()
    assert person.painted("weights").shape == (4, 3, 5)
    assert [row.accessibleName() for row in person.open_pill("Heads")] == ["4"]
    person.key(Key.Key_Escape)
