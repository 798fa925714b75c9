"""A walk through the computation: cells appear in order, Back undoes Next, and partial sums are written."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention import edits
from attnlab.attention.edits import token_edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages import walk
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.table import BY_NAME, sources
from attnlab.attention.stages.trace import Trace
from attnlab.attention.stages.walk import DEPTHS, Place
from attnlab.attention.stages.walk_sources import explain_begun, find_running_sum, regions
from attnlab.compute.engine import compute

SMALL = (
    "journey",
    "the-cat-sat",
    "journey-untrained",
    "causal-5x8",
    "multi-head-causal",
    "padding-batch",
    "t5-bias",
    "dropout",
    "additive",
    "luong-general",
    "cosine",
    "cross-attention",
    "uneven-heads",
    "grouped-keys",
    "attention-sink",
    "qk-norm",
    "rope",
    "head-ablated",
    "sparsemax",
    "mask-after-softmax",
    "mask-fill-zero",
    "bottleneck-attention",
)
DEPTH = st.sampled_from(DEPTHS)


@cache
def computed(name: str) -> Trace:
    return compute(preset(name), dtype="float64")


@st.composite
def steps(draw: st.DrawFn) -> tuple[Experiment, str, int]:
    e = computed(draw(st.sampled_from(SMALL))).experiment
    depth = draw(DEPTH)
    return e, depth, draw(st.integers(0, walk.count_steps(e, depth) - 1))


def known(e: Experiment, at: Place | None) -> np.ndarray:
    """Return all cells of all stages in one array, True for known ones."""
    cells = []
    for stage in walk.stages_of(e):
        hidden = walk.unknown_cells(e, at, stage.name)
        cells.append(np.ones(walk.shape(e, stage.name), bool) if hidden is None else ~hidden)
    return np.concatenate([each.reshape(-1) for each in cells])


# Places and their numbers


@given(steps())
def test_a_places_number_leads_back_to_the_place(step: tuple[Experiment, str, int]) -> None:
    e, depth, i = step
    assert walk.step_of_place(e, depth, walk.place_of_step(e, depth, i)) == i


@given(steps())
def test_next_and_back_undo_each_other(step: tuple[Experiment, str, int]) -> None:
    e, depth, i = step
    at = walk.place_of_step(e, depth, i)
    assert walk.step_back(e, depth, at) == walk.place_of_step(e, depth, max(i - 1, 0))
    if at is not None:
        assert walk.step_back(e, depth, walk.step_forward(e, depth, at)) == at
    else:
        assert walk.step_forward(e, depth, None) is None


@given(steps(), DEPTH)
def test_next_and_back_work_from_a_place_of_another_depth(step: tuple[Experiment, str, int], depth: str) -> None:
    e, fine, i = step
    at = walk.place_of_step(e, fine, i)
    here = walk.step_of_place(e, "term", at)
    if at is not None:
        assert walk.step_of_place(e, "term", walk.step_forward(e, depth, at)) > here
    before = walk.step_back(e, depth, at)
    assert walk.step_of_place(e, "term", before) < here or before == walk.place_of_step(e, depth, 0)


def test_a_coarser_step_back_ends_at_the_last_complete_place() -> None:
    e = computed("journey").experiment
    within, first = Place("scores", 2, 3, 0), Place("scores", 0, 0, 0)
    assert walk.step_back(e, "cell", within) == Place("scores", 2, 2)
    assert walk.step_back(e, "row", within) == Place("scores", 1)
    assert walk.step_back(e, "stage", within) == Place("values")
    assert walk.step_back(e, "row", Place("scores", 2)) == Place("scores", 1)
    assert walk.step_back(e, "cell", first) == Place("values", 5, 1)
    assert walk.step_back(e, "row", Place("inputs", 0, 1)) == Place("inputs", 0)


@given(steps())
def test_known_cells_stay_known(step: tuple[Experiment, str, int]) -> None:
    e, depth, i = step
    now, then = known(e, walk.place_of_step(e, depth, max(i - 1, 0))), known(e, walk.place_of_step(e, depth, i))
    assert not (now & ~then).any()
    if depth != "term" and i > 0:
        assert then.sum() > now.sum()


def test_the_first_step_computes_the_first_cell_and_the_last_completes_all() -> None:
    e = computed("journey").experiment
    firsts = [walk.place_of_step(e, depth, 0) for depth in DEPTHS]
    assert firsts == [Place("inputs"), Place("inputs", 0), Place("inputs", 0, 0), Place("inputs", 0, 0)]
    assert [walk.place_of_step(e, depth, walk.count_steps(e, depth) - 1) for depth in DEPTHS] == [None] * 4


def test_the_counts_of_steps_match_a_table() -> None:
    e = computed("journey").experiment  # six words, 3 numbers each, queries, keys and values of 2
    assert walk.count_steps(e, "stage") == 9
    assert walk.count_steps(e, "row") == 9 * 6
    assert walk.count_steps(e, "cell") == 6 * (3 + 2 + 2 + 2 + 6 + 6 + 6 + 2 + 2)
    sums = {"queries": 3, "keys": 3, "values": 3, "scores": 2, "weights": 6, "context": 6}
    assert {
        stage.name: walk.count_terms(e, stage.name) for stage in walk.stages_of(e) if walk.count_terms(e, stage.name)
    } == sums


@pytest.mark.parametrize("index", [-1, 9])
def test_a_step_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(IndexError, match=f"no step {index} of 9"):
        walk.place_of_step(computed("journey").experiment, "stage", index)


def test_walking_thousands_of_tokens_does_not_enumerate_the_steps() -> None:
    e = Experiment(tokens=tuple(map(str, range(4096))), embeddings=torch.zeros(4096, 2))
    steps = walk.count_steps(e, "term")
    assert steps > 4096**2 * 4000
    for i in (0, 123_456_789, steps // 2, steps - 2):
        at = walk.place_of_step(e, "term", i)
        assert walk.step_of_place(e, "term", at) == i
        assert walk.step_forward(e, "term", at) == walk.place_of_step(e, "term", i + 1)


# Places that are no more


@given(steps(), st.booleans(), st.sampled_from(["none", "sqrt_d_k"]), st.integers(1, 4))
def test_a_place_is_fitted_to_the_current_layer(
    step: tuple[Experiment, str, int], causal: bool, scale: str, tokens: int
) -> None:
    e, depth, i = step
    if e.memory_tokens is not None:
        return
    at = walk.place_of_step(e, depth, i)
    assert walk.fit_place(e, at) == at
    changed = token_edits.resize_tokens(edits.configure(e, causal=causal, scale=scale), tokens)
    now = walk.fit_place(changed, at)
    assert walk.fit_place(changed, now) == now
    assert (now is None) == (at is None)
    if now is not None:
        assert walk.unknown_cells(changed, now, now.stage) is None or now.row is not None
        assert 0 <= walk.step_of_place(changed, "term", now) < walk.count_steps(changed, "term")


def test_a_place_in_a_removed_stage_moves_to_the_stage_before_it() -> None:
    e = edits.configure(preset("journey"), scale="none")
    assert walk.fit_place(e, Place("scaled", 2, 1)) == Place("scores")


# Cells that somebody is to find


def test_asked_cells_and_later_stages_are_unknown() -> None:
    e = computed("multi-head-causal").experiment
    asked = [Cell("weights", 4, 1, 0), Cell("scores", 2, 0, 0), Cell("scores", 2, 3, 0), Cell("scores", 2, 3, 1)]
    at = walk.make_question_place(asked)
    assert at == Place("scores", asked=((2, 0), (2, 3)))
    assert np.argwhere(walk.unknown_cells(e, at, "scores")).tolist() == [[2, 0], [2, 3]]
    assert walk.unknown_cells(e, at, "keys") is None
    for name in ("scaled", "weights", "output"):
        hidden = walk.unknown_cells(e, at, name)
        assert hidden is not None
        assert hidden.all()
    assert walk.make_question_place([]) is None


def test_asked_cells_outside_the_layer_are_dropped() -> None:
    e = preset("journey")
    at = Place("weights", asked=((2, 1), (5, 1), (1, 5)))
    assert walk.fit_place(e, at) == at
    assert walk.fit_place(token_edits.resize_tokens(e, 4), at) == Place("weights", asked=((2, 1),))
    assert walk.fit_place(edits.configure(e, scale="none"), Place("scaled", asked=((0, 0),))) == Place("scores")
    assert walk.step_forward(e, "stage", at) == Place("context")


# One stage, key by key


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("depth", ["all", *DEPTHS])
def test_frames_begin_with_each_stages_title_and_end_complete(name: str, depth: str) -> None:
    e = computed(name).experiment
    for stage in walk.stages_of(e):
        rows, columns = walk.shape(e, stage.name)
        frames = walk.frames(e, stage.name, depth, (rows // 2, columns // 2))
        counts = [known(e, at).sum() for at in frames]
        assert frames[-1] is None
        assert None not in frames[:-1]
        assert counts == sorted(counts)
        assert all(walk.unknown_cells(e, at, stage.name) is not None for at in frames[:-1])
        assert all(walk.fit_place(e, at) == at for at in frames)


def test_frames_of_each_depth() -> None:
    e = computed("journey").experiment
    assert walk.frames(e, "weights", "all", None) == (None,)
    assert walk.frames(e, "weights", "stage", None) == (Place("weights", -1), None)
    assert walk.frames(e, "weights", "row", None) == (*(Place("weights", row) for row in range(-1, 5)), None)
    cells = walk.frames(e, "weights", "cell", (2, 1))
    assert cells == (*(Place("weights", 2, column) for column in range(-1, 6)), None)
    terms = walk.frames(e, "scores", "term", (2, 1))
    here = [Place("scores", 2, 0), Place("scores", 2, 1, 0), Place("scores", 2, 1, 1), Place("scores", 2, 1), None]
    assert list(terms) == here


def test_a_place_is_described_in_words() -> None:
    e = computed("journey").experiment
    assert walk.describe_place(e, Place("scores")) == ""
    assert walk.describe_place(e, Place("scores", 1)) == "row 2 of 6"
    assert walk.describe_place(e, Place("scores", 1, 2)) == "row 2 of 6, column 3 of 6"
    assert walk.describe_place(e, Place("scores", 1, 2, 0)) == "row 2 of 6, column 3 of 6, term 1 of 2"
    assert walk.place_labels(e, Place("scores", 1, 2)) == "journey → starts"
    assert walk.place_labels(e, Place("queries", 1)) == "journey"


# What a step is computed from


def framed(e: Experiment, at: Place, stage: str) -> tuple[int | None, int | None] | None:
    found = regions(e, at, BY_NAME[stage])
    return (found[0].row, found[0].column) if found else None


def test_a_score_comes_from_a_query_and_a_key() -> None:
    e = computed("journey").experiment
    whole, row, cell, term = Place("scores"), Place("scores", 2), Place("scores", 2, 1), Place("scores", 2, 1, 0)
    assert [framed(e, at, "queries") for at in (whole, row, cell, term)] == [(None, None), (2, None), (2, None), (2, 0)]
    assert [framed(e, at, "keys") for at in (whole, row, cell, term)] == [
        (None, None),
        (None, None),
        (1, None),
        (1, 0),
    ]
    assert [framed(e, at, "scores") for at in (whole, row, cell, term)] == [(None, None), (2, None), (2, 1), (2, 1)]
    assert [framed(e, at, "values") for at in (whole, row, cell, term)] == [None] * 4


def test_a_weight_needs_its_row_and_a_context_a_column_of_values() -> None:
    e = computed("journey").experiment
    assert framed(e, Place("weights", 2, 1), "scaled") == (2, None)
    assert framed(e, Place("weights", 2, 1, 4), "scaled") == (2, 4)
    assert framed(e, Place("scaled", 2, 1), "scores") == (2, 1)
    assert framed(e, Place("context", 2, 1), "weights") == (2, None)
    assert framed(e, Place("context", 2, 1), "values") == (None, 1)
    assert framed(e, Place("context", 2, 1, 4), "weights") == (2, 4)
    assert framed(e, Place("context", 2, 1, 4), "values") == (4, 1)


@given(steps())
def test_the_sources_of_a_step_are_known_cells(step: tuple[Experiment, str, int]) -> None:
    e, depth, i = step
    at = walk.place_of_step(e, depth, i)
    for stage in walk.stages_of(e) if at is not None else ():
        assert at is not None
        for region in regions(e, at, stage):
            assert stage.name == at.stage or stage in sources(BY_NAME[at.stage], e)
            rows, columns = walk.shape(e, stage.name)
            assert (region.row or 0) < rows
            assert (region.column or 0) < columns
            assert (region.head or 0) < e.n_heads
            assert stage.name == at.stage or walk.unknown_cells(e, at, stage.name) is None


# Terms


@pytest.mark.parametrize("name", ["journey", "the-cat-sat", "multi-head-causal", "attention-sink"])
def test_terms_match_those_of_the_explanation(name: str) -> None:
    trace = computed(name)
    e = trace.experiment
    for stage in walk.stages_of(e):
        rows, columns = walk.shape(e, stage.name)
        cell = Cell(stage.name, rows - 1, columns // 2, 0 if stage.has_heads else None)  # the last row sees all keys
        sums = [sum(span.text == " + " for span in line) for line in explain(trace, cell, None).lines]
        terms = walk.count_terms(e, stage.name)
        own = next((count for count in sums if count), 0)
        if terms:
            assert own + 1 == terms
        if stage.name in ("inputs", "scaled", "masked", "merged"):
            assert terms == 0


@given(steps())
def test_a_partial_sum_is_written_up_to_its_last_term(step: tuple[Experiment, str, int]) -> None:
    e, _, i = step
    i = i * 7919 % walk.count_steps(e, "term")
    at = walk.place_of_step(e, "term", i)
    if at is None or at.term is None:
        return
    assert at.row is not None
    assert at.column is not None
    trace = next(computed(name) for name in SMALL if computed(name).experiment is e)
    head = 0 if BY_NAME[at.stage].has_heads else None
    cell = Cell(at.stage, at.row, at.column, head)
    partial, whole = explain_begun(trace, cell, at.term), explain(trace, cell, None)
    assert np.isnan(partial.value)
    if plain(partial.lines[0]) == "masked: adds nothing":
        assert not np.isfinite(trace.array(walk_source(e))[0, at.row, : at.term + 1]).any()
        return
    for written, full in zip(partial.lines, whole.lines, strict=False):
        assert plain(full).startswith(plain(written).removesuffix(" + …"))
    assert len(partial.lines) < len(whole.lines) or not walk.count_terms(e, at.stage)


def walk_source(e: Experiment) -> str:
    return sources(BY_NAME["weights"], e)[0].name


def test_a_score_grows_term_by_term() -> None:
    trace = computed("journey")
    told = [[plain(line) for line in explain_begun(trace, Cell("scores", 2, 1, 0), term).lines] for term in (0, 1)]
    assert told == [["q·k = 0.43·0.4433 + …"], ["q·k = 0.43·0.4433 + 1.4343·1.1419"]]
    strong = [span.text for span in explain_begun(trace, Cell("scores", 2, 1, 0), 1).lines[0] if span.style == "strong"]
    assert strong == ["1.4343", "·", "1.1419"]


def test_a_masked_key_adds_nothing_to_the_sum() -> None:
    trace = computed("causal-5x8")
    lines = [[plain(line) for line in explain_begun(trace, Cell("weights", 1, 1, 0), term).lines] for term in range(5)]
    assert lines[0] != lines[1] == lines[2] == lines[3] == lines[4]


@pytest.mark.parametrize(
    ("name", "stage"),
    [("journey", "scores"), ("multi-head-8", "scores"), ("bottleneck", "context"), ("rope", "scores")],
)
def test_the_running_sum_ends_in_the_value_of_the_cell(name: str, stage: str) -> None:

    e = preset(name)
    trace = Trace(e, torch.device("cpu"), torch.float64)
    cell = Cell(stage, 1, 2, e.n_heads - 1)
    last = walk.count_terms(e, stage) - 1
    total = find_running_sum(trace, cell, last)
    assert total == pytest.approx(float(trace.array(stage)[e.n_heads - 1, 1, 2]))
    assert find_running_sum(trace, Cell("weights", 1, 2, 0), 0) is None
