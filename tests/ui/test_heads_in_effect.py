"""The heads card says how many tokens each head attends to in effect."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

import attnlab
from attnlab.attention.edits.token_edits import resize_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person


def measure(e: attnlab.Experiment) -> list[float]:
    """Return e to the mean entropy of each head's rows, computed by hand."""
    weights = attnlab.compute(e).array("weights").astype(np.float64)
    terms = np.where(weights > 0, weights * np.log(np.where(weights > 0, weights, 1)), 0)
    return np.exp(-terms.sum(-1).mean(-1)).tolist()


@pytest.mark.parametrize("preset", ["multi-head-8", "multi-head-causal"])
def test_each_head_says_how_many_tokens_it_sees_in_effect(sit_down: "Callable[..., Person]", preset: str) -> None:
    person = sit_down(preset)
    shown = person.playground.canvas.heads.effects
    assert shown == tuple(f"{each:.1f} of {person.experiment.T_k}" for each in measure(person.experiment))
    person.press("Causal")
    person.settle()
    assert person.playground.canvas.heads.effects != shown


def test_differences_and_long_texts_have_no_such_numbers(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    person.press("Pin")
    person.press("Causal")
    person.settle()
    person.press("Difference")
    assert person.playground.canvas.heads.effects == ()
    person.press("Pinned")
    assert person.playground.canvas.heads.effects[0] == "7.0 of 10"
    person.press("Unpin")
    person.document.edit("T = 200", lambda e: resize_tokens(e, 200))
    person.settle()
    assert person.playground.canvas.heads.effects == ()
