"""A long sum always shows the term of the explained cell, never only "… n more …"."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages.arithmetic import Line, Span, join_terms, plain, select_terms
from attnlab.attention.stages.explain import explain
from attnlab.attention.stages.explanation import Cell

KEYS, LIMIT = 40, 6
LOGITS = np.random.default_rng(3).permutation(np.linspace(0.2, 1.4, KEYS))
"""Close to each other, so that sparse normalisers keep many; distinct, so that a term identifies its key."""
SUMS = ("softmax", "softmax-unshifted", "sum", "sparsemax", "entmax15")
POWERS = ("softmax", "softmax-unshifted")
WIDE: Mapping[str, float] = {"sparsemax": 0.01, "entmax15": 0.05}
"""The factor of the scores with which all keys keep a weight."""


def explained(name: str, j: int, limit: int | None) -> tuple[Line, ...]:
    p: dict[str, Any] = {"temperature": 1.0, "finfo": torch.finfo(torch.float64)}
    return NORMALIZERS[name].explain(LOGITS * WIDE.get(name, 1.0), j, p, limit)


def sums(lines: tuple[Line, ...]) -> list[Line]:
    """Return the lines with omitted terms."""
    return [line for line in lines if any("more" in span.text for span in line)]


def terms(line: Line) -> list[list[Span]]:
    """Return the terms of a sum: the spans between its plus signs."""
    found: list[list[Span]] = [[]]
    for span in line:
        if span.text == " + ":
            found.append([])
        else:
            found[-1].append(span)
    return found


def test_the_test_covers_every_normaliser_that_writes_a_sum() -> None:
    assert {name for name in NORMALIZERS if sums(explained(name, 20, LIMIT))} == set(SUMS)


@pytest.mark.parametrize("name", SUMS)
def test_a_weights_own_term_is_always_written(name: str) -> None:
    for j in range(KEYS):
        cut, whole = explained(name, j, LIMIT), explained(name, j, None)
        places = [i for i, line in enumerate(cut) if line in sums(cut)]
        assert len(places) == (2 if name in POWERS else 1)
        for at in places:
            mine, everything = terms(cut[at]), terms(whole[at])
            assert len(everything) == KEYS
            own = [span for span in everything[j] if span.role == "attention"][-1]
            assert [term for term in mine if own in term], plain(cut[at])
            left_out = sum(int(found) for found in re.findall(r"… (\d+) more …", plain(cut[at])))
            written = len([term for term in mine if not any("more" in span.text for span in term)])
            assert written + left_out == KEYS
            assert written <= LIMIT + 2  # a single term between two others is written too


@pytest.mark.parametrize("preset", ["multi-head-8", "head-average"])
def test_a_layers_weight_always_shows_its_own_term(preset: str) -> None:
    trace = attnlab.compute(attnlab.preset(preset))
    rows, columns = trace.array("weights").shape[-2:]
    looked_at = 0
    for j in range(columns):
        for line in sums(explain(trace, Cell("weights", rows - 1, j, 0)).lines[:2]):
            bracket = [span.text for span in line].index(" ÷ (")
            assert [span for span in line[bracket:] if span.role == "attention"], plain(line)
            looked_at += 1
    assert looked_at >= columns


@pytest.mark.parametrize("count", range(1, 12))
@pytest.mark.parametrize("limit", [3, 6])
def test_required_terms_are_always_written(count: int, limit: int) -> None:
    for must in range(count):
        which = select_terms(count, limit, must)
        assert must in which
        assert which == sorted(set(which))
        assert len(which) <= min(count, limit + 2)
        assert len(which) == count or count > limit
        line = plain(join_terms([(Span(f"t{i}"),) for i in range(count)], which))
        pieces = line.split(" + ")
        at = 0
        for piece in pieces:
            gap = re.fullmatch(r"… (\d+) more …", piece)
            if gap is None:
                assert piece == f"t{at}"
            at += 1 if gap is None else int(gap[1])
            assert gap is None or int(gap[1]) > 1, line  # "… 1 more …" takes as much room as the term
        assert at == count
