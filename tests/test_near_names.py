"""The name that a mistyped one may have meant is found as difflib finds it."""

from difflib import get_close_matches

import pytest

from attnlab.base.near_names import find_near

KNOWN = ("causal", "positions", "position", "scale", "W_q", "W_k", "")


@pytest.mark.parametrize("cutoff", [0.6, 0.8, 1.0])
@pytest.mark.parametrize("name", ["cuasal", "casual", "postion", "positions", "scales", "W_Q", "W", "", "a" * 4000])
def test_the_nearest_name_is_that_of_difflib(name: str, cutoff: float) -> None:
    assert find_near(name, KNOWN, cutoff) == next(iter(get_close_matches(name, KNOWN, n=1, cutoff=cutoff)), "")


def test_there_may_be_none() -> None:
    assert find_near("nothing like it", KNOWN) == find_near("causal", ()) == ""
    assert find_near("cuasal", iter(KNOWN)) == "causal"
