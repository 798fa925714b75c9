"""Sweeps go from one value to another, through valid values only, and refuse the impossible."""

import pytest

import attnlab
from attnlab.attention.examples.presets import PRESETS
from attnlab.base.errors import AttnlabError
from attnlab.lessons.sweep import Sweep, make_sweep, parse_value, suggest_sweeps


def test_numbers_change_in_equal_steps_with_equal_decimals() -> None:
    sweep = make_sweep(attnlab.preset("journey"), "temperature", 0.5, 2.0, 4)
    assert sweep.values == (0.5, 1.0, 1.5, 2.0)
    assert [sweep.text(i) for i in range(4)] == [f"temperature = {x}" for x in ("0.5", "1.0", "1.5", "2.0")]
    assert Sweep("W_q[0, 0]", (-0.25, 0.25)).text(0) == "W_q[0, 0] = −0.25"


def test_whole_numbers_skip_invalid_values_and_share_the_frames() -> None:
    e = attnlab.preset("causal-5x8")
    e = Sweep("d_k", (8,)).at(e, 0)
    sweep = make_sweep(e, "n_heads", 1, e.d_v if e.d_v < 8 else 8, 12)
    assert set(sweep.values) < set(range(1, 9))
    assert len(sweep.values) == 12
    assert all(sweep.at(e, i).n_heads == value for i, value in enumerate(sweep.values))
    back = make_sweep(e, "T", 5, 2, 8)
    assert back.values == (5, 5, 4, 4, 3, 3, 2, 2)


def test_a_switch_is_off_for_half_of_the_frames() -> None:
    e = attnlab.preset("journey")
    sweep = make_sweep(e, "causal", parse_value("off"), parse_value("on"), 6)
    assert [sweep.text(i) for i in (0, 5)] == ["causal off", "causal on"]
    assert [sweep.at(e, i).config.causal for i in range(6)] == [False] * 3 + [True] * 3
    choice = make_sweep(e, "normalizer", "softmax", "sparsemax", 2)
    assert choice.text(1) == "normalizer = sparsemax"
    assert choice.at(e, 1).config.normalizer == "sparsemax"


def test_there_and_back_ends_next_to_its_beginning() -> None:
    assert Sweep("scale", (1, 2, 3)).there_and_back().values == (1, 2, 3, 2)


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_suggestion_can_be_swept(name: str) -> None:
    e = attnlab.preset(name)
    found = suggest_sweeps(e)
    assert {"scale", "causal", "W_q[0, 0]"} <= set(found)
    for key, (start, stop) in found.items():
        sweep = make_sweep(e, key, start, stop, 3)
        assert len({sweep.text(i) for i in range(len(sweep.values))}) > 1, key


@pytest.mark.parametrize(
    ("key", "start", "stop", "frames", "sentence"),
    [
        ("temperture", 1, 2, 5, "did you mean temperature?"),
        ("temperature", 0, 2, 5, "At temperature = 0: "),
        ("n_heads", 1, 3, 5, "At n_heads = 3: n_heads is 3; it needs to divide"),
        ("W_q[9, 0]", 1, 2, 5, "The row of W_q is 9"),
        ("scale", 1.0, 1.0, 5, "two different values"),
        ("scale", 1.0, 2.0, 1, "A sweep cannot have 1 frames; it needs 2 to 2000."),
    ],
)
def test_an_impossible_sweep_is_refused_in_one_sentence(
    key: str, start: float, stop: float, frames: int, sentence: str
) -> None:
    with pytest.raises(AttnlabError) as caught:
        make_sweep(attnlab.preset("journey"), key, start, stop, frames)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"), [("off", False), ("On", True), ("−0.5", -0.5), ("3", 3), ("1e-3", 1e-3), ("nan", "nan")]
)
def test_typed_values_are_read(text: str, value: object) -> None:
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)
