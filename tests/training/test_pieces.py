"""Byte-pair encoding: a vocabulary of exactly the wanted size, text cut without loss, and clear refusals."""

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.base import assets
from attnlab.base.errors import TrainingError
from attnlab.training import models
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import TASKS, check, make_data, make_spec
from attnlab.training.tasks.data import join_tokens
from attnlab.training.tasks.pieces import Pieces
from attnlab.training.trainer import Trainer
from tests.nursery import run_python

SONNETS = assets.read_text("texts/sonnets.txt")
VARIANT = next(variant.spec for variant in TASKS["characters"].variants if variant.name == "pieces")


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces([SONNETS], 1000, "The sonnets")


def with_options(**options: int | str) -> RunSpec:
    spec = make_spec("characters")
    return replace(spec, options={**spec.options, "level": "piece", **options})


def test_the_vocabulary_has_the_wanted_size_and_frequent_words_are_whole(pieces: Pieces) -> None:
    assert len(pieces.vocabulary) == len(set(pieces.vocabulary)) == 1000
    assert pieces.vocabulary[:3] == ("·", "⟨", "⟩")
    assert pieces.split(" the beauty") == (" the", " beauty")
    assert set(pieces.split(SONNETS)) <= set(pieces.vocabulary)


@given(st.text(max_size=60))
def test_pieces_are_the_text_again(text: str) -> None:
    cutter = Pieces([SONNETS[:2000]], 100, "The sonnets")
    assert join_tokens(cutter.split(text), cutter.vocabulary) == text


def test_the_first_joins_are_those_of_the_definition() -> None:
    """Count pairs by hand: the most frequent pair of neighbours becomes one piece, again and again."""
    text = "low low low lower lower newest newest newest newest widest widest"
    cutter = Pieces([text], 3 + len(set(text)) + 3, "It")
    words = [list(word) for word in [text.split(" ")[0], *(f" {word}" for word in text.split(" ")[1:])]]
    joined = []
    for _ in range(3):
        counts: dict[tuple[str, str], int] = {}
        for word in words:
            for pair in pairwise(word):
                counts[pair] = counts.get(pair, 0) + 1
        best = max(counts.values())
        made = cutter.vocabulary[3 + len(set(text)) + len(joined)]
        assert made in {a + b for (a, b), count in counts.items() if count == best}
        joined.append(made)
        for at, word in enumerate(words):
            new: list[str] = []
            for token in word:
                if new and new[-1] + token == made:
                    new[-1] = made
                else:
                    new.append(token)
            words[at] = new


def test_another_process_finds_the_same_pieces(pieces: Pieces) -> None:
    """The training process makes its own; a saved run must read the same numbers tomorrow."""
    program = (
        "from attnlab.base import assets\nfrom attnlab.training.tasks.pieces import Pieces\n"
        "print(ascii(Pieces([assets.read_text('texts/sonnets.txt')], 1000, '').vocabulary))"
    )
    told = run_python("-c", program).stdout
    assert told.strip() == ascii(pieces.vocabulary)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"vocabulary": 9000},
            "The included text gives 2,858 tokens, because no other pieces occur twice together; the",
        ),
        ({"vocabulary": 40}, "The included text has 61 different characters, so its vocabulary needs 64 or more"),
        ({"vocabulary": 31}, "vocabulary"),
    ],
)
def test_a_vocabulary_that_the_text_cannot_give_is_refused(options: dict[str, int], said: str) -> None:
    problem = check(with_options(**options))
    assert said in problem
    assert problem.count(". ") <= 1


def test_without_the_library_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(TrainingError, match=r"Pieces need the tokenizers library: pip install attnlab\[models\]"):
        Pieces(["some text"], 40, "It")


def test_a_text_of_ones_own_is_cut_and_a_short_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("to be or not to be, that is the question; " * 40, encoding="utf-8")
    spec = with_options(text=str(path), vocabulary=32, context=32)
    assert check(spec) == ""
    data = make_data(spec)
    assert len(data.vocabulary) == 32
    path.write_text("to be or not to be " * 4, encoding="utf-8")
    assert "gives" in check(spec) or "pieces, and a context of 32 needs 132 or more" in check(spec)


def test_the_model_of_the_course_has_exactly_its_sizes() -> None:
    """G2: vocabulary 1000, d_model 64, 4 heads, d_ff 256, 128 positions, norms after, ReLU."""
    assert check(VARIANT) == ""
    data = make_data(VARIANT)
    torch.manual_seed(0)
    shapes = {name: tuple(table.shape) for name, table in models.build(VARIANT.model, data).state_dict().items()}
    assert (1000, 64) in shapes.values()
    assert (128, 64) in shapes.values()
    assert {(64, 256), (256, 64)} <= set(shapes.values())
    assert VARIANT.model.heads == 4
    trainer = Trainer(replace(VARIANT, train=replace(VARIANT.train, steps=3, batch=2)))
    first = trainer.take().loss
    assert first == pytest.approx(float(torch.tensor(1000.0).log()), rel=0.3)
    assert data.held_out.inputs.shape[1] == 128


def test_a_probe_is_cut_into_pieces_and_the_text_written_has_its_spaces() -> None:
    spec = replace(VARIANT, model=replace(VARIANT.model, d_model=16, heads=2, d_ff=16, layers=1))
    viewer, weights = Viewer(spec), draw_first_weights(spec)
    look = viewer.look(0, weights, "Shall I compare")
    assert "".join(look.maps[0].key_tokens) == "Shall I compare"
    assert any(len(token) > 1 for token in look.maps[0].key_tokens)
    written = viewer.write_text(weights, "Shall I", 12)
    assert not written.startswith("  ")
    with pytest.raises(TrainingError, match="'ż' does not occur in the training text"):
        viewer.look(0, weights, "ż")


def test_lines_and_pairs_of_ones_own_are_cut_into_pieces(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("".join(f"{s}{e}\t{e} {s}\n" for s in ("to", "be", "or", "not") for e in ("ing", "er", "ed")))
    for task, vocabulary in (("pairs", 28), ("lines", 28)):
        spec = make_spec(task)
        spec = replace(spec, options={**spec.options, "data": str(path), "level": "piece", "vocabulary": 32})
        problem = check(spec)
        assert "the vocabulary is 32. Make it smaller, or use more text." in problem, problem
        assert vocabulary < 32
    path.write_text("".join(f"{n} bottles of beer\t{n} Flaschen Bier\n" for n in range(40)))
    for task in ("pairs", "lines"):
        spec = make_spec(task)
        spec = replace(spec, options={**spec.options, "data": str(path), "level": "piece", "vocabulary": 50})
        assert check(spec) == ""
        data = make_data(spec)
        assert len(data.vocabulary) == 50
        assert " beer" in data.vocabulary
        source = data.make_probe(data.probe_text)
        row = source.inputs if source.source is None else source.source
        assert join_tokens(data.decode(row[0]), data.vocabulary) == data.probe_text
