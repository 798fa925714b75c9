"""Pattern scores equal their formulas, written out as loops over single cells of the maps."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from attnlab.training import tasks
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import LayerMaps, Look, Viewer
from attnlab.training.task_patterns import PATTERNS, list_patterns, measure_patterns, name_heads

Cells = list[list[tuple[int, int]]]
"""For each row that counts, the cells whose weights are added."""


def look_at(task: str, kind: str, probe: str) -> Look:
    spec = tasks.make_spec(task, kind)
    return Viewer(spec).look(0, draw_first_weights(spec), probe)


def mean(layer: LayerMaps, cells: Cells) -> list[float]:
    return [
        sum(sum(float(head[i, j]) for i, j in row) for row in cells) / len(cells) if cells else math.nan
        for head in layer.weights
    ]


def scores(task: str, name: str, look: Look) -> dict[str, list[float]]:
    """Return the score of each head, by layer."""
    place = [pattern.name for pattern in list_patterns(task, look)].index(name)
    found = iter(measure_patterns(task, look)[place].tolist())
    return {layer.layer: [next(found) for _ in layer.weights] for layer in look.maps}


CASES: dict[str, tuple[str, str, str, str, str, Callable[[], Cells]]] = {
    # five letters; a decoder answers from the row of ⟨, 5, on
    "reverse": (
        "reverse",
        "anti-diagonal",
        "decoder",
        "cabdb",
        "decoder",
        lambda: [[(5 + k, 4 - k)] for k in range(5)],
    ),
    "beside": (
        "reverse",
        "anti-diagonal + 1",
        "attention",
        "cabdb",
        "attention",
        lambda: [[(5 + k, 5 - k)] for k in range(5)],
    ),
    "in place": ("reverse", "anti-diagonal", "encoder", "cabdb", "encoder", lambda: [[(k, 4 - k)] for k in range(5)]),
    "cross": (
        "reverse",
        "anti-diagonal",
        "encoder-decoder",
        "cabdb",
        "cross",
        lambda: [[(k, 4 - k)] for k in range(5)],
    ),
    "copy": ("copy", "diagonal", "luong", "cabd", "alignment", lambda: [[(k, k)] for k in range(4)]),
    "previous": (
        "copy",
        "previous token",
        "encoder-decoder",
        "cab",
        "decoder",
        lambda: [[(i, i - 1)] for i in range(1, 4)],
    ),
    # a b b c d, of the places 1, 2, 3, 0, 4; both b are right
    "sort": (
        "sort",
        "next letter",
        "encoder",
        "cabbd",
        "encoder",
        lambda: [[(0, 1)], [(1, 2), (1, 3)], [(2, 2), (2, 3)], [(3, 0)], [(4, 4)]],
    ),
    # a b c a b a a: a follows nothing, the second a looks at b, …
    "induction": (
        "induction",
        "induction",
        "attention",
        "abcabaa",
        "attention",
        lambda: [[(3, 1)], [(4, 2)], [(5, 1), (5, 4)], [(6, 1), (6, 4), (6, 6)]],
    ),
    # "3 mar 2019": the year at 6 to 9, the month at 2 to 4, the day at 0
    "dates": (
        "dates",
        "alignment",
        "encoder-decoder",
        "3 mar 2019",
        "cross",
        lambda: (
            [[(i, j) for j in range(6, 10)] for i in range(4)]
            + [[(i, j) for j in (2, 3, 4)] for i in (5, 6)]
            + [[(8, 0)], [(9, 0)]]
        ),
    ),
    "noun": ("questions", "noun", "luong", "how was your day", "alignment", lambda: [[(2, 3)]]),
    "word": ("questions", "diagonal", "luong", "how was your day", "alignment", lambda: [[(k, k)] for k in range(4)]),
    "subject": (
        "masked",
        "subject",
        "encoder",
        "the old girl near the king [sees] [herself] .",
        "encoder",
        lambda: [[(7, 2)]],
    ),
    "hidden subject": (
        "masked",
        "subject",
        "encoder",
        "the [girl] near the king sees [herself] .",
        "encoder",
        lambda: [[(6, 1)]],
    ),
    "verb": ("masked", "verb", "attention", "the boys [eat] [bread] .", "attention", lambda: [[(3, 2)]]),
    "text": (
        "characters",
        "previous token",
        "decoder",
        "the sun",
        "decoder",
        lambda: [[(i, i - 1)] for i in range(1, 7)],
    ),
    "sum": (
        "sum",
        "previous two",
        "attention",
        "3",
        "attention",
        lambda: [[(i, i - 1), (i, i - 2)] for i in (2, 5, 8)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_score_equals_its_formula(case: str) -> None:
    task, name, kind, probe, prefix, cells = CASES[case]
    look = look_at(task, kind, probe)
    found = scores(task, name, look)
    layers = [layer for layer in look.maps if layer.layer.startswith(prefix)]
    assert layers
    for layer in layers:
        assert found[layer.layer] == pytest.approx(mean(layer, cells()), abs=1e-6)


def test_layers_that_do_not_see_the_input_have_no_score() -> None:
    found = scores("reverse", "anti-diagonal", look_at("reverse", "encoder-decoder", "cabd"))
    none = {layer for layer, values in found.items() if np.isnan(values).all()}
    assert none == {"encoder 1", "encoder 2", "decoder 1", "decoder 2"}


def test_a_probe_without_such_a_word_has_no_score() -> None:
    look = look_at("masked", "encoder", "the girl sees [herself] .")
    assert np.isnan(scores("masked", "verb", look)["encoder 1"]).all()
    assert np.isfinite(scores("masked", "subject", look)["encoder 1"]).all()


def test_a_model_is_offered_the_patterns_that_it_can_have() -> None:
    def names(task: str, kind: str, probe: str) -> list[str]:
        return [pattern.name for pattern in list_patterns(task, look_at(task, kind, probe))]

    assert names("reverse", "decoder", "cab") == ["anti-diagonal", "anti-diagonal + 1", "previous token"]
    assert names("reverse", "encoder", "cab") == ["anti-diagonal", "previous token"]
    assert names("reverse", "bahdanau", "cab") == ["anti-diagonal"]
    assert names("reverse", "recurrent", "cab") == []


@pytest.mark.slow
def test_every_task_has_a_pattern_that_its_own_probe_shows() -> None:
    assert set(PATTERNS) == set(tasks.TASKS)
    for task in tasks.TASKS:
        spec = tasks.make_spec(task)
        look = look_at(task, spec.model.kind, tasks.make_data(spec).probe_text)
        found = measure_patterns(task, look)
        assert found.shape == (len(list_patterns(task, look)), sum(len(layer.weights) for layer in look.maps))
        first = found[0][np.isfinite(found[0])]
        assert len(first)
        assert ((first >= 0) & (first <= 1)).all()


def test_heads_are_numbered_by_layer_and_named_by_kind_where_there_are_several() -> None:
    names = name_heads(look_at("reverse", "decoder", "cab").maps)
    assert names[:2] == ("head 1.0", "head 1.1")
    assert names[-1] == "head 2.3"
    assert name_heads(look_at("reverse", "encoder-decoder", "cab").maps)[-3] == "cross head 2.1"
    assert name_heads(look_at("reverse", "luong", "cab").maps) == ("alignment",)
