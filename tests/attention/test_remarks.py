"""Remarks on odd settings and on conventions: each sentence is said where it is true, and only there."""

from typing import Any

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.descent import choose_loss
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.examples.presets import PRESETS, preset
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.remarks import find_oddities, find_remarks, find_stage_remarks
from attnlab.base.errors import ExperimentError

DK = 4


def make(t_k: int | None = None, **config: Any) -> Experiment:
    """Return an experiment of 4 tokens, with another sequence of ``t_k`` tokens if that is given."""
    numbers = np.random.default_rng(3).normal(size=(4, 6, DK))
    weights = Weights(numbers[0, :DK], numbers[1, :DK], numbers[2, :DK])
    memory = (None, None) if t_k is None else (tuple("uvwxyz"[:t_k]), numbers[3, :t_k])
    return Experiment(tuple("abcd"), numbers[3, :4], weights, AttentionConfig(**config), *memory)


def with_score(score: str, **config: Any) -> Experiment:
    """Return an experiment with RoPE and a score, whose learned tables have their first numbers."""
    return edits.configure(make(positions="rope", **config), score=score)


def test_no_shipped_example_is_odd() -> None:
    assert {name: find_oddities(preset(name)) for name in PRESETS if find_oddities(preset(name))} == {}


def test_a_causal_mask_between_two_sequences_is_odd_and_says_where_it_starts() -> None:
    (equal,) = find_oddities(make(4, causal=True))
    assert equal == (
        "The causal mask compares positions in two different sequences, which means little unless they are aligned "
        "word for word."
    )
    (unequal,) = find_oddities(make(6, causal=True))
    assert unequal == f"{equal} The causal mask starts at the top left."
    hidden = make(6, causal=True).hidden()
    assert hidden is not None
    assert hidden[0].tolist() == [False] + [True] * 5, "at the top left, query 0 sees key 0 only"


def test_the_other_masks_that_count_positions_are_named_together_and_padding_is_not() -> None:
    (said,) = find_oddities(make(4, causal=True, masks={"window": 2, "padding": 3}))
    assert said.startswith("The causal and window masks compare positions in two different sequences")
    assert find_oddities(make(4, masks={"padding": 3})) == ()
    assert find_oddities(make(causal=True, masks={"window": 2})) == ()


@pytest.mark.parametrize("scheme", ["rope", "alibi"])
def test_positions_between_two_sequences_are_odd(scheme: str) -> None:
    (said,) = find_oddities(make(4, positions=scheme))
    assert "compares positions in two different sequences" in said
    assert find_oddities(make(positions=scheme)) == ()


def move_along(e: Experiment) -> float:
    """Return how much the score of the same query and key changes when both move on by one position."""
    same = np.ones((4, 1)) * np.linspace(0.3, 1.1, DK)
    shown = attnlab.compute(edits.set_block(e, "embeddings", 0, 0, same), dtype="float64")["scores"][0]
    return float((shown[1:, 1:] - shown[:-1, :-1]).abs().max() / shown.abs().max())


@pytest.mark.parametrize("score", SCORES)
def test_rope_is_odd_exactly_where_scores_depend_on_more_than_the_distance(score: str) -> None:
    e = with_score(score)
    lost = [each for each in find_oddities(e) if "property is lost" in each]
    assert bool(lost) == (move_along(e) > 1e-3)
    assert bool(lost) == (score in ("concat", "additive"))
    if lost:
        assert f"“{score}”" in lost[0]


def test_rope_with_a_learned_matrix_is_judged_by_its_numbers() -> None:
    e = with_score("general")  # its matrix is the identity at first
    assert find_oddities(e) == ()
    moved = edits.set_block(e, "W_a", 0, 1, np.array([[0.7]]))
    assert move_along(moved) > 1e-3
    assert any("property is lost" in each for each in find_oddities(moved))


def test_division_by_the_sum_gives_the_weight_to_a_large_negative_fill() -> None:
    e = make(causal=True, normalizer="sum", options={"fill": "-1e9"})
    (said,) = find_oddities(e)
    assert said.startswith("“÷ sum” divides the −1e9 of masked scores like any other")
    weights, hidden = attnlab.compute(e, dtype="float64")["weights"][0], e.hidden()
    assert hidden is not None
    for row, masked in zip(weights[:-1], hidden[:-1], strict=True):
        assert float(row[masked].sum()) > 0.99
        assert float(row.sum()) == pytest.approx(1)
    assert find_oddities(e, "float16") == (), "beyond float16 it is −∞, which counts as 0"
    assert find_oddities(make(causal=True, normalizer="sum")) == ()
    assert find_oddities(make(normalizer="sum", options={"fill": "-1e9"})) == (), "nothing is masked"


def test_a_loss_that_wants_a_weight_that_no_scores_give_is_odd() -> None:
    loss = {"loss": "weight", "loss_wanted": -0.1}
    assert find_oddities(make(options=loss)) == (
        "The wanted weight of the loss is −0.1; weights of “softmax” lie between 0 and 1, so the loss cannot become 0.",
    )
    assert find_oddities(make(normalizer="sum", options=loss)) == ()
    for inside in ({"loss_wanted": 0.0}, {"loss_wanted": 1.0}, {"loss": "none"}):
        assert find_oddities(make(options=loss | inside)) == ()


def test_a_loss_that_wants_a_weight_that_no_scores_give_is_not_chosen() -> None:
    with pytest.raises(ExperimentError, match=r"is 1\.2; weights of “softmax” lie between 0 and 1\.$"):
        choose_loss(make(), "weight", loss_wanted=1.2)
    assert choose_loss(make(normalizer="sum"), "weight", loss_wanted=1.2).config.option("loss_wanted") == 1.2


@pytest.mark.parametrize(("score", "norm"), [("cosine", "none"), ("dot", "l2")])
def test_scaled_cosines_are_odd_unless_the_temperature_compensates(score: str, norm: str) -> None:
    (said,) = find_oddities(make(score=score, qk_norm=norm))
    assert "dividing by √d_k squeezes them into −0.5 to 0.5" in said
    scaled = attnlab.compute(make(score=score, qk_norm=norm))["scaled"]
    assert float(scaled.abs().max()) <= 0.5 + 1e-6
    assert find_oddities(make(score=score, qk_norm=norm, scale="none")) == ()
    assert find_oddities(make(score=score, qk_norm=norm, scale=0.1)) == ()
    assert find_oddities(make(score=score, qk_norm=norm, options={"temperature": 0.2})) == ()


def test_cosine_makes_a_norm_superfluous_except_for_its_gains() -> None:
    bare, (said,) = make(score="cosine", scale="none"), find_oddities(make(score="cosine", scale="none", qk_norm="l2"))
    assert said.endswith("so QK norm “length 1” changes nothing.")
    normed = attnlab.compute(edits.configure(bare, qk_norm="l2"), dtype="float64")["scores"]
    torch.testing.assert_close(normed, attnlab.compute(bare, dtype="float64")["scores"])
    rms = edits.configure(bare, qk_norm="rms")
    assert [each.endswith("“RMS” changes nothing.") for each in find_oddities(rms)] == [True]
    gained = edits.set_block(rms, "g_q", 0, 1, np.array([[3.0]]))
    assert [each.endswith("“RMS” acts through its gains only.") for each in find_oddities(gained)] == [True]


def test_conventions_are_named_at_their_stage_and_are_not_odd() -> None:
    rope = make(positions="rope")
    for stage in ("rotated_queries", "rotated_keys"):
        (said,) = find_stage_remarks(rope, stage)
        assert said == (
            "Columns c and c + d_k/2 are a pair, as in the transformers library; the paper and Meta’s files pair "
            "neighbours."
        )
    assert find_stage_remarks(rope, "scores") == ()
    sink = preset("attention-sink")
    (told,) = find_remarks(sink)
    assert (told.stage, told.is_odd) == ("weights", False)
    assert told.sentence.endswith("at 0 it is softmax-off-by-one.")


def test_a_sink_of_0_is_softmax_off_by_one() -> None:
    e = preset("attention-sink")
    zero = edits.set_block(e, "sinks", 0, 0, np.zeros((1, e.n_heads)))
    trace = attnlab.compute(zero, dtype="float64")
    powers = trace["scaled"].exp()
    torch.testing.assert_close(trace["weights"], powers / (1 + powers.sum(-1, keepdim=True)))


def test_switching_the_second_sequence_on_brings_the_remark() -> None:
    assert find_oddities(make(causal=True)) == ()
    assert len(find_oddities(toggle_memory(make(causal=True), True))) == 1


def test_a_pair_hidden_between_two_sequences_is_not_called_the_future() -> None:
    trace = attnlab.compute(make(6, causal=True))
    told = " ".join(span.text for line in explain(trace, Cell("masked", 1, 3, 0)).lines for span in line)
    assert "“x” is at position 3 of its sequence, “b” at 1: causal counts from the top left" in told
    assert "future" not in told
