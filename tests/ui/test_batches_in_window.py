"""Batches in the window and on the command line: created, visited, padded, undone."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSpinBox, QToolButton

import attnlab
from attnlab.attention.edits import batches
from attnlab.attention.experiment import Sample
from attnlab.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

Key = Qt.Key
JOURNEY = ("Your", "journey", "starts", "with", "one", "step")


def place(person: "Person") -> str:
    return person.find(QLabel, "Sequence of the batch").text()


def go(person: "Person", button: str) -> None:
    person.press(button, QToolButton)
    person.settle()


def make_batch(person: "Person") -> None:
    """Add a shorter sequence after the journey and stay at it."""
    go(person, "Make a batch: add a sequence")
    person.write_sentence("A trip")
    person.key(Key.Key_Return)
    person.settle()


def test_a_batch_can_be_made_visited_and_undone(person: "Person") -> None:
    alone, start = person.painted("weights").copy(), person.experiment
    make_batch(person)
    assert place(person) == "Sequence 2 of 2"
    assert person.playground.inputs.sentence.text() == "A trip"
    assert person.playground.inputs.tokens.tokens() == ("A", "trip")
    assert person.labels("weights")[1] == ("A", "trip", *["[pad]"] * 4)
    assert (person.painted("weights")[..., 2:] == 0).all()
    np.testing.assert_allclose(person.painted("weights").sum(-1), 1, atol=1e-6)
    go(person, "Next sequence")
    assert place(person) == "Sequence 1 of 2"
    np.testing.assert_array_equal(person.painted("weights"), alone)
    go(person, "Previous sequence")
    assert person.labels("weights")[0][:2] == ("A", "trip")
    assert person.history()[1:] == [
        "Add a sequence",
        "Type a sentence",
        "Sequence 1 of 2",
        "Sequence 2 of 2",
    ]
    for _ in range(4):
        person.undo()
    assert person.experiment is start
    assert not any(
        label.isVisible() for label in person.window.findChildren(QLabel) if label.text() == "Sequence 1 of 1"
    )


@pytest.mark.slow
def test_next_and_previous_cycle_through_three_sequences(person: "Person") -> None:
    for sentence in ("A trip", "One more"):
        go(person, "Make a batch: add a sequence" if sentence == "A trip" else "Add a sequence")
        person.write_sentence(sentence)
        person.key(Key.Key_Return)
        person.settle()
    assert place(person) == "Sequence 3 of 3"
    for button, number, first in (
        ("Next sequence", 1, "Your"),
        ("Next sequence", 2, "A"),
        ("Next sequence", 3, "One"),
        ("Previous sequence", 2, "A"),
        ("Previous sequence", 1, "Your"),
        ("Previous sequence", 3, "One"),
    ):
        go(person, button)
        assert place(person) == f"Sequence {number} of 3"
        assert person.labels("weights")[0][0] == first


def test_every_sequence_has_the_same_numbers_as_alone(person: "Person") -> None:
    make_batch(person)
    here = person.painted("weights")[0, :2, :2].copy()
    e = person.experiment
    alone = attnlab.Experiment(("A", "trip"), e.embeddings[:2], e.weights)
    np.testing.assert_allclose(here, attnlab.compute(alone)["weights"][0].numpy(), atol=1e-6)
    go(person, "Next sequence")


@pytest.mark.slow
def test_sequences_are_padded_to_the_longest_sentence(person: "Person") -> None:
    make_batch(person)
    person.write_sentence("A trip that is much longer than the journey")
    person.settle()
    assert (person.experiment.T_q, dict(person.experiment.config.masks)) == (9, {})
    go(person, "Next sequence")
    assert person.labels("inputs")[0] == (*JOURNEY, "[pad]", "[pad]", "[pad]")
    assert person.find(QSpinBox, "Valid length").value() == 6
    go(person, "Next sequence")
    go(person, "Remove this sequence")
    assert person.experiment.tokens == JOURNEY
    assert person.experiment.n_items == 1
    person.undo()
    assert person.experiment.T_q == 9
    person.redo()


def test_a_typed_valid_length_hides_the_keys_beyond_it(person: "Person") -> None:
    go(person, "Make a batch: add a sequence")
    box = person.find(QSpinBox, "Valid length")
    assert box.value() == 6
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "4")
    QTest.keyClick(box, Key.Key_Return)
    person.settle()
    assert (person.painted("weights")[..., 4:] == 0).all()
    assert (person.painted("weights")[..., :4] > 0).all()
    assert person.playground.inputs.tokens.tokens() == JOURNEY
    assert person.history()[-1] == "Valid length = 4"
    before = person.experiment
    for wrong in ("0", "9"):
        box.selectAll()
        QTest.keyClicks(box, wrong)
        assert not any("does not fit" in each.text() for each in person.window.findChildren(QLabel))
        QTest.keyClick(box, Key.Key_Return)
        said = f"“{wrong}” does not fit here; type a whole number from 1 to 6."
        (label,) = (each for each in person.window.findChildren(QLabel) if each.text() == said)
        person.settle()
        below = label.mapToGlobal(QPoint(0, 0)).y() - box.mapToGlobal(QPoint(0, 0)).y()
        assert box.height() <= below < 2 * box.height()
        assert person.experiment is before
        assert box.value() == 4
    person.undo()
    assert not person.experiment.config.masks


def test_tokens_are_added_before_the_padding(person: "Person") -> None:
    make_batch(person)
    strip = person.playground.inputs.tokens
    strip.setFocus()
    person.key(Key.Key_Insert, widget=strip)
    assert person.experiment.tokens[:4] == ("A", "trip", "token3", "[pad]")
    assert person.experiment.config.masks["padding"] == 3
    go(person, "Next sequence")


def test_embeddings_belong_to_one_sequence_and_weights_to_all(person: "Person") -> None:
    go(person, "Make a batch: add a sequence")
    person.open_table("X")
    person.type_number(0, 0, "3")
    person.open_table("W_q")
    person.type_number(0, 0, "-2")
    go(person, "Next sequence")
    assert person.in_table()[0, 0] == -2
    person.open_table("X")
    assert person.in_table()[0, 0] == pytest.approx(0.43)


def test_explicit_padding_shows_its_length_without_a_batch(sit_down: "Callable[..., Person]") -> None:
    made = attnlab.Experiment(("a", "b", "c"), torch.eye(3), config=attnlab.AttentionConfig(masks={"padding": 2}))
    person = sit_down(made)
    assert person.find(QSpinBox, "Valid length").value() == 2
    assert person.find(QToolButton, "Make a batch").isVisible()
    assert not person.playground.inputs.batch_bar.title.isVisible()


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A file with a batch of two sequences, saved at the second."""
    samples = [Sample(tuple(text), torch.ones(len(text), 2)) for text in ("abc", "d")]
    path = tmp_path / "batch.attnlab"
    attnlab.save(batches.select(batches.make_batch(samples), 1), path)
    return path


def test_a_sequence_of_a_batch_can_be_shown_exported_and_written_as_code(
    saved: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    labels = []
    for item in ([], ["--item", "0"], ["--item", "1"]):
        assert main(["show", str(saved), "--stage", "weights", "--json", *item]) == 0
        labels.append(json.loads(capsys.readouterr().out))
    assert labels[0] == labels[2] != labels[1]
    assert "abc" in "".join(map(str, json.dumps(labels[1]).replace('", "', "")))
    assert main(["export", str(saved), "--item", "0", "-o", str(tmp_path / "w.npy")]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "w.npy"), 1 / 3, atol=1e-6)
    assert main(["code", str(saved), "--item", "0"]) == 0
    assert "'c'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ("2", "There is no sequence 2; they are numbered from 0 to 1."),
        ("-1", "'-1' is not a sequence of a batch; use 0, 1 …"),
        ("x", "'x' is not a sequence of a batch; use 0, 1 …"),
    ],
)
def test_a_missing_sequence_is_refused_in_one_sentence(
    saved: Path, item: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("show", "code"):
        assert main([command, str(saved), f"--item={item}"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
        assert err.count("\n") == 1
