"""Pattern scores, against their formulas written out as loops, and on maps whose scores are known."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from attnlab.attention.measures.shares import find_after
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.model import Model, read_model
from attnlab.pretrained.model_run import Run
from attnlab.pretrained.patterns import is_separator
from tests.pretrained.conftest import SPECIALS, Make
from tests.pretrained.test_families import text_of

NAMES = ["bert", "gpt2", "qwen3"]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def share(weights: Tensor, counts: list[list[bool]]) -> float:
    """Return the mean weight on the keys that count, over the queries that have one, in plain Python."""
    rows = [
        sum(float(a) for a, counted in zip(row, on, strict=True) if counted)
        for row, on in zip(weights, counts, strict=True)
        if any(on)
    ]
    return mean(rows)


def expected(run: Run, weights: Tensor, causal: bool) -> dict[str, float]:
    tokens, n = run.tokens, len(run.tokens)

    def on(counts: Callable[[int, int], bool]) -> list[list[bool]]:
        return [[counts(i, j) for j in range(n)] for i in range(n)]

    separators = {j for j, token in enumerate(tokens) if j and (token in SPECIALS or token == ",")}
    return {
        "entropy": mean([-sum(a * math.log(a) for a in map(float, row) if a > 0) for row in weights]),
        "distance": mean([sum(float(a) * abs(i - j) for j, a in enumerate(row)) for i, row in enumerate(weights)]),
        "previous": share(weights, on(lambda i, j: j == i - 1)),
        "itself": share(weights, on(lambda i, j: j == i)),
        "next": 0.0 if causal else share(weights, on(lambda i, j: j == i + 1)),
        "first": share(weights, on(lambda i, j: j == 0 and i > 0)),
        "separators": share(weights, on(lambda i, j: j in separators and (j <= i or not causal))),
        "duplicate": share(weights, on(lambda i, j: tokens[i] == tokens[j] and (j < i if causal else j != i))),
    }


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_their_formulas(make: Make, name: str) -> None:
    model = read_model(make(name)[1])
    run = model.run("the cat , the mat sat on the cat , it was")
    rows = run.patterns()
    assert [(row.layer, row.head) for row in rows] == [(layer, head) for layer in range(3) for head in range(4)]
    for row in rows:
        weights = run.attention(row.layer)[row.head]
        for field, value in expected(run, weights, name != "bert").items():
            assert getattr(row, field) == pytest.approx(value, abs=1e-5), field
        columns = weights.mean(0).tolist()
        assert row.column == pytest.approx(max(columns), abs=1e-6)
        assert columns[row.strongest] == pytest.approx(max(columns), abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_induction_is_measured_on_random_tokens_read_twice(make: Make, name: str) -> None:
    model = read_model(make(name)[1])
    ids = model.draw_repeated()
    half = len(ids) // 2
    assert ids[:half] == ids[half:]
    assert not {model.tokenizer.name(number) for number in ids} & set(SPECIALS)
    run = Run(model, "", ids, tuple(map(model.tokenizer.name, ids)), None)
    rows = model.run(text_of(5)).patterns()
    for row in rows:
        weights = run.attention(row.layer)[row.head]
        counts = [[0 < j <= i and ids[j - 1] == ids[i] for j in range(len(ids))] for i in range(len(ids))]
        assert row.induction == pytest.approx(share(weights, counts), abs=1e-5)


def test_a_repeated_token_counts_what_followed_it() -> None:
    after = find_after([7, 8, 9, 7, 8])
    assert [(i, j) for i in range(5) for j in range(5) if after[i, j]] == [(3, 1), (4, 2)]


@pytest.mark.parametrize(
    ("token", "parts"),
    [("[SEP]", True), (",", True), ("Ġ.", True), ("▁…", True), ("cat", False), ("Ġ", False), ("'s", False)],
)
def test_special_tokens_and_punctuation_part_a_text(token: str, parts: bool) -> None:
    assert is_separator(token, frozenset({"[SEP]"})) is parts


def test_shares_of_one_row_never_exceed_1(make: Make) -> None:
    for row in read_model(make("bert")[1]).run(text_of(1)).patterns():
        shares = row.previous, row.itself, row.next, row.first, row.separators, row.duplicate, row.induction, row.column
        assert all(0 <= each <= 1 + 1e-6 for each in shares)


def test_what_is_off_changes_the_scores(make: Make) -> None:
    model: Model = read_model(make("gpt2")[1])
    run = model.run(text_of(8))
    assert run.patterns()[:8] == run.change(heads_off=[(1, 0)]).patterns()[:8]
    assert run.patterns()[8:] != run.change(heads_off=[(1, 0)]).patterns()[8:]


def test_an_encoder_decoder_has_patterns_of_both_stacks_but_not_across(make: Make) -> None:
    run = read_model(make("t5")[1]).run(text_of(5), target=text_of(4))
    assert len(run.patterns()) == 12
    assert len(run.patterns("decoder")) == 8
    with pytest.raises(ArgumentError, match="choose the part encoder or decoder"):
        run.patterns("cross")


def test_arrows_and_painted_masks_of_a_text_do_not_count_on_random_tokens(make: Make) -> None:
    model = read_model(make("gpt2")[1])
    assert isinstance(model, Model)
    run = model.run(text_of(60))
    plain = [row.induction for row in run.patterns()]
    changed = run.change(pairs_off=[(0, 1, 58, 3), (1, 1, 20, 3)])
    assert [row.induction for row in changed.patterns()] == plain
    assert [row.previous for row in changed.patterns()] != [row.previous for row in run.patterns()]
    e = run.experiment(1)
    mask = torch.ones(60, 60, dtype=torch.bool).tril()
    edited = run.change(layers={1: replace(e, config=replace(e.config, mask=mask))})
    assert [row.induction for row in edited.patterns()] == pytest.approx(plain, abs=1e-6)
