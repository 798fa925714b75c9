"""Scales of colours: where they end, how they curve, and what lies beyond the end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError
from attnlab.figures.raster import find_indices
from attnlab.figures.scales import LONG_ROW, SCALES, TO_ONE, Colouring, Scale, find_scale, find_sinks, join_scales

LONG = 200
CURVES = ("linear", "sqrt", "log")
WEIGHTS = arrays(
    np.float32, st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 50)), elements=st.floats(0, 1, width=32)
)


def make_real_map(sink: float = 0.6, heads: int = 1) -> NDArray[np.float32]:
    """Return weights as real models have them: a sink in the first column, and little on everything else."""
    weights = np.random.default_rng(3).random((heads, LONG, LONG)).astype(np.float32) ** 4
    weights *= (1 - sink) / weights.sum(-1, keepdims=True)
    weights[..., 0] += sink
    return weights


def share_of_colours(weights: NDArray[np.float32], scale: Scale) -> float:
    """Return how much of the palette the cells use: the spread of the middle nine tenths of them."""
    found = np.quantile(find_indices(weights, "probability", scale), (0.05, 0.95))
    return float(found[1] - found[0]) / 254


def test_a_long_map_with_a_sink_is_not_blank() -> None:
    weights = make_real_map()
    scale = find_scale(weights, "probability")
    assert scale.clipped
    assert share_of_colours(weights, scale) > 0.15 > 10 * share_of_colours(weights, TO_ONE)
    beyond = (weights > scale.limit).sum(-1).mean()
    assert 1 <= beyond <= 3


def test_a_long_map_of_single_strong_weights_reaches_to_them() -> None:
    assert find_scale(np.eye(LONG)[None] * 0.98 + 0.02 / LONG, "probability") == TO_ONE


def test_hidden_keys_do_not_count_in_a_causal_map() -> None:
    masked = ~np.tri(LONG, dtype=bool)
    weights = np.tri(LONG)[None] / np.arange(1, LONG + 1)[:, None]
    scale = find_scale(weights, "probability", masked)
    beyond = (weights > scale.limit).sum() / LONG
    assert beyond <= 3
    assert scale.limit < 1


@pytest.mark.parametrize("columns", [LONG_ROW, LONG_ROW + 1])
def test_only_long_rows_leave_the_scale_to_one(columns: int) -> None:
    weights = np.full((1, 4, columns), 1 / columns)
    assert (find_scale(weights, "probability") == TO_ONE) == (columns <= LONG_ROW)


@given(WEIGHTS, st.sampled_from(sorted(SCALES)), st.booleans())
def test_a_scale_says_whether_numbers_lie_beyond_it(weights: NDArray[np.float32], choice: str, each: bool) -> None:
    scale = find_scale(weights, "probability", None, Colouring(choice, each))
    limits = np.broadcast_to(scale.limits(len(weights)), (len(weights), 1, 1))
    assert scale.clipped == bool((weights > limits * (1 + 1e-6)).any())
    assert 0 < scale.limit <= 1
    assert choice not in ("full", "largest", "sqrt", "log") or not scale.clipped


@given(st.sampled_from(CURVES), st.floats(1e-3, 1e3), st.floats(-1, 1))
def test_a_number_lies_where_the_scale_says(curve: str, limit: float, place: float) -> None:
    scale = Scale(limit, curve)
    number = scale.find_value(place)
    again = scale.bend(np.array([number]))[0]
    assert again == pytest.approx(place, abs=1e-6)


@given(st.sampled_from(CURVES), arrays(np.float32, 20, elements=st.floats(-1, 1, width=32)))
def test_larger_numbers_never_have_a_lower_colour(curve: str, numbers: NDArray[np.float32]) -> None:
    ordered = np.sort(numbers)[None, None]
    entries = find_indices(ordered, "signed", Scale(1.0, curve)).astype(int)
    assert (np.diff(entries) >= 0).all()


def test_curves_show_small_numbers() -> None:
    weights = np.array([[[0.01, 0.25, 1.0]]])
    linear, root, log = (find_indices(weights, "probability", Scale(1.0, curve))[0, 0] for curve in CURVES)
    assert (linear.tolist(), root.tolist(), log.tolist()) == ([3, 64, 254], [25, 127, 254], [127, 216, 254])


def test_each_head_may_have_a_scale_of_its_own() -> None:
    weights = np.stack([np.full((2, 3), 0.2), np.full((2, 3), 0.004)])
    common = find_scale(weights, "probability", None, Colouring("largest"))
    own = find_scale(weights, "probability", None, Colouring("largest", each_head=True))
    assert (common.limit, common.own) == (0.2, ())
    assert own.own == (0.2, 0.004)
    assert find_indices(weights, "probability", own).min() == 254
    assert own.of(1, 2).own == (0.004,)


def test_muted_sinks_leave_the_scale_to_the_other_columns() -> None:
    weights = make_real_map(0.9)
    muted = find_sinks(("[CLS]", *map(str, range(LONG - 2)), "[SEP]"))
    assert muted == (0, LONG - 1)
    assert find_scale(weights, "probability", muted=muted).limit < find_scale(weights, "probability").limit


def test_sinks_are_the_first_token_and_separators() -> None:
    assert find_sinks(("The", "cat", "<s>", "[SEP]", "<|endoftext|>", "[", "<", "[]")) == (0, 2, 3, 4)
    assert find_sinks(("[CLS]", "the", "[UNK]", "<unk>", "[SEP]")) == (0, 4)  # an unknown word is a word


def test_states_share_the_furthest_scale() -> None:
    near, far = Scale(0.3), Scale(0.5, clipped=True)
    assert join_scales([near, far]) == far
    assert join_scales([Scale(1.0, own=(1.0, 0.2)), Scale(0.6, own=(0.5, 0.6))]).own == (1.0, 0.6)


def test_an_unknown_scale_is_refused_with_those_that_exist() -> None:
    with pytest.raises(AttnlabError, match="cannot be 'cubic', only auto, full, largest, percentile, sqrt, log"):
        Colouring("cubic")
