"""Edge cases of a walk: a cell being summed, a place just outside, the sink, and the source of a term."""

import pytest
import torch

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import token_edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages import walk
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.links import Region
from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.walk import Place
from attnlab.attention.stages.walk_sources import explain_begun, regions


def test_a_cell_is_known_when_its_last_term_is_added() -> None:
    e = preset("journey")
    adding, done = (walk.unknown_cells(e, Place("scores", 2, 1, term), "scores") for term in (0, None))
    assert adding is not None
    assert done is not None
    assert (adding[2].tolist(), done[2].tolist()) == ([False, *[True] * 5], [False, False, *[True] * 4])


def test_the_share_of_the_stages_that_are_done() -> None:
    e = preset("journey")  # inputs, queries, keys and values come before the 6 × 6 scores
    assert walk.count_stages_done(e, Place("inputs")) == 1
    assert walk.count_stages_done(e, Place("scores", -1)) == 4
    assert walk.count_stages_done(e, Place("scores", 2)) == 4.5
    assert walk.count_stages_done(e, Place("scores", 2, 2)) == pytest.approx(4 + 15 / 36)
    assert walk.count_stages_done(e, Place("scores", 2, 2, 0)) == pytest.approx(4 + 14 / 36)


def test_a_place_just_outside_is_moved_inside() -> None:
    four = token_edits.resize_tokens(preset("journey"), 4)
    assert walk.fit_place(four, Place("weights", 3, 3)) == Place("weights", 3, 3)
    assert walk.fit_place(four, Place("weights", 3, 4)) == Place("weights", 3)
    assert walk.fit_place(four, Place("weights", 4, 3)) == Place("weights")
    assert walk.fit_place(four, Place("scores", 1, 1, 1)) == Place("scores", 1, 1, 1)  # queries and keys of 2
    assert walk.fit_place(four, Place("scores", 1, 1, 2)) == Place("scores", 1, 1)


def test_asked_cells_keep_their_rows_and_columns() -> None:
    e = preset("journey")  # 6 queries of 2 columns
    assert walk.fit_place(e, Place("queries", asked=((5, 1), (1, 5)))) == Place("queries", asked=((5, 1),))


def test_the_number_of_terms_follows_the_configuration() -> None:
    e = preset("journey")
    for score, terms in (("dot", 2), ("general", 2), ("cosine", 2), ("additive", 0)):
        assert walk.count_terms(edits.configure(e, score=score), "scores") == terms
    for normalizer, terms in (("softmax", 6), ("softmax-unshifted", 6), ("sum", 6), ("sparsemax", 0)):
        assert walk.count_terms(edits.configure(e, normalizer=normalizer), "weights") == terms
    weights = attnlab.Weights(W_q=torch.eye(5, 6), W_k=torch.eye(5, 6), W_v=torch.eye(5, 4), W_o=torch.eye(4, 3))
    wide = Experiment(("a", "b"), torch.ones(2, 5), weights, attnlab.AttentionConfig(n_heads=2))
    stages = ("queries", "scores", "context", "output")
    assert [walk.count_terms(wide, stage) for stage in stages] == [5, 3, 2, 4]  # d_model, d_k, keys, h · d_v


def source_of(e: Experiment, at: Place, stage: str) -> tuple[int | None, int | None, int | None]:
    region: Region = regions(e, at, BY_NAME[stage])[0]
    return region.row, region.column, region.head


def test_a_merged_number_and_an_output_term_come_from_one_column_of_a_head() -> None:
    e = preset("multi-head-causal")  # eight heads of 8 columns
    assert source_of(e, Place("merged", 2, 5 * 8 + 3), "context") == (2, 3, 5)
    assert source_of(e, Place("output", 2, 7, 5 * 8 + 3), "merged") == (2, 43, None)
    bare = Experiment(("a", "b"), torch.ones(2, 6), config=attnlab.AttentionConfig(n_heads=3))
    assert source_of(bare, Place("output", 1, 5), "context") == (1, 1, 2)


def test_a_term_of_a_general_score_comes_from_the_whole_query() -> None:
    e = edits.configure(preset("journey"), score="general")
    assert source_of(e, Place("scores", 2, 1, 0), "queries") == (2, None, None)
    assert source_of(e, Place("scores", 2, 1, 0), "keys") == (1, 0, None)


def test_the_term_of_the_sink_has_no_key() -> None:
    trace = attnlab.compute(preset("attention-sink"))
    e = trace.experiment
    before = walk.stages_of(e)[[stage.name for stage in walk.stages_of(e)].index("weights") - 1].name
    assert source_of(e, Place("weights", 2, 1, e.T_k - 1), before) == (2, e.T_k - 1, None)
    assert source_of(e, Place("weights", 2, 1, e.T_k), before) == (2, None, None)
    for term, exponentials in ((e.T_k - 1, 6), (e.T_k, 7)):  # of six keys, and of the sink
        told = plain(explain_begun(trace, Cell("weights", 2, 1, 0), term).lines[1])
        assert told.partition(" ÷ ")[2].count("e^{") == exponentials
        assert told.endswith(" + …") == (term < e.T_k)
