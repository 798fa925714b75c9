"""The masks of an experiment, one by one and together, and the three masks of an encoder and a decoder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.edits import with_setting
from attnlab.attention.edits.token_edits import resize_tokens
from attnlab.attention.measures.mask_parts import list_mask_parts

RULES = st.dictionaries(st.sampled_from(["padding", "window", "prefix", "block"]), st.integers(1, 7), max_size=4)


@given(st.booleans(), RULES, st.integers(1, 9))
def test_masks_together_hide_what_the_layer_hides(causal: bool, masks: dict[str, int], tokens: int) -> None:
    masks = masks | {"padding": min(masks["padding"], tokens)} if "padding" in masks else masks
    e = with_setting(resize_tokens(attnlab.preset("journey"), tokens), causal=causal, masks=masks)
    parts = list_mask_parts(e)
    own = e.hidden_cells()
    whole = np.zeros((tokens, tokens), bool) if own is None else own.cells.numpy()
    np.testing.assert_array_equal(parts[-1].hidden, whole)
    on = ["causal"] * causal + [name for name in ("padding", "window", "prefix", "block") if name in masks]
    assert [part.name for part in parts] == ((on + ["together"] * (len(on) > 1)) or ["none"])
    if "prefix" not in masks or not causal:
        np.testing.assert_array_equal(np.any([part.hidden for part in parts], 0), whole)


def test_an_encoder_and_a_decoder_have_three_masks() -> None:
    source, target, cross = list_mask_parts(attnlab.preset("masks-source-for-target"))
    for part, name in ((source, "masks-source"), (target, "masks-target"), (cross, "masks-source-for-target")):
        own = attnlab.preset(name).hidden_cells()
        assert own is not None
        np.testing.assert_array_equal(part.hidden, own.cells.numpy(), name)
        assert (part.row_labels, part.column_labels) == (
            attnlab.preset(name).tokens,
            attnlab.preset(name).key_tokens,
        )


@pytest.mark.parametrize(("preset", "names"), [("journey", ["none"]), ("causal-5x8", ["causal"])])
def test_one_mask_or_none_is_one_map(preset: str, names: list[str]) -> None:
    assert [part.name for part in list_mask_parts(attnlab.preset(preset))] == names
