"""Shuffled tokens in the positions lens: what the layer sees of their order."""

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtGui import QFontMetricsF

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment, Weights
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.ui.base.fonts import face
from attnlab.ui.playground.lenses.positions_map import MapFigure
from tests.ui.lenses.positions_reader import Reader, values

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

# The order


def test_without_positions_the_map_follows_its_tokens(reader: Reader) -> None:
    e = preset("journey")
    reader.open(e)
    reader.press("Positions: Order")
    first, second = reader.sentences()
    assert first == "Without positions: the largest difference is 0.0000: attention ignores the order."
    assert re.fullmatch(
        r"With sinusoidal positions: the largest difference is 0\.[0-9]{4}: attention depends on the order\.", second
    )
    as_it_is, moved, restored, difference = reader.lens.order.rows[0]
    names = [figure.accessibleName() for row in reader.lens.order.rows for figure in row]
    assert names[0] == "original, without positions"
    assert names[4] == "original, with sinusoidal positions"
    assert as_it_is.name_cell(0).startswith(names[0])
    assert len(set(names)) == 8
    weights = compute(e, dtype="float64").array("weights")[0]
    np.testing.assert_allclose(values(as_it_is), weights, atol=1e-12)
    assert moved.data is not None
    order = [e.tokens.index(token) for token in moved.data.row_labels]
    assert order != sorted(order)
    assert moved.data.column_labels == moved.data.row_labels
    np.testing.assert_allclose(values(moved), weights[order][:, order], atol=1e-12)
    np.testing.assert_allclose(values(restored), weights, atol=1e-12)
    assert restored.data is not None
    assert restored.data.row_labels == e.tokens
    np.testing.assert_allclose(values(difference), 0, atol=1e-12)


def test_large_cells_have_three_decimals_where_four_have_no_room(
    sit_down: "Callable[..., Person]", decimals_drawn: list[int]
) -> None:
    person = sit_down("order-aware", size=(1920, 1080))
    person.playground.lenses.open_lens("positions/order")
    person.settle()
    maps = [each for each in person.window.findChildren(MapFigure) if each.isVisible()]
    assert len(maps) == 8
    person.wait_for(lambda: all(figure.count_decimals() for figure in maps))
    decimals_drawn.clear()
    for figure in maps:
        figure.grab()
    assert set(decimals_drawn) == {3}


def test_with_positions_the_largest_visible_difference_is_stated(reader: Reader) -> None:
    reader.open(preset("journey"))
    reader.press("Positions: Order")
    as_it_is, _, restored, difference = reader.lens.order.rows[1]
    np.testing.assert_allclose(values(difference), values(restored) - values(as_it_is), atol=1e-15)
    told = re.search(r"is (\d\.\d{4})", reader.sentences()[1])
    assert told is not None
    assert float(told[1]) == pytest.approx(float(np.abs(values(difference)).max()), abs=5e-5)
    assert float(told[1]) > 0.01


def test_shuffle_shows_another_order_and_keeps_the_experiment(reader: Reader) -> None:
    reader.open(preset("journey"))
    reader.press("Positions: Order")
    seen = set()
    for _ in range(4):
        data = reader.lens.order.rows[0][1].data
        assert data is not None
        seen.add(tuple(data.row_labels))
        reader.press("Shuffle")
    assert len(seen) > 2
    assert reader.edits == []


def test_the_visible_order_can_be_applied_to_the_experiment(reader: Reader) -> None:
    e = preset("journey")
    reader.open(e)
    reader.press("Positions: Order")
    reader.press("Shuffle")
    reader.press("Shuffle the tokens of the experiment")
    [(label, change)] = reader.edits
    assert label == "Shuffle the tokens"
    data = reader.lens.order.rows[0][1].data
    assert data is not None
    assert change(e).tokens == tuple(data.row_labels)


def test_a_causal_mask_is_described_as_seeing_the_order(reader: Reader) -> None:
    reader.open(edits.configure(preset("journey"), causal=True))
    reader.press("Positions: Order")
    first, second = reader.sentences()
    assert re.search(r"is 0\.[0-9]{4}: attention ignores the order, but the mask depends on it\.$", first)
    assert second.endswith("attention depends on the order, by its positions and its mask.")
    moved, restored = (figure.data for figure in reader.lens.order.rows[0][1:3])
    assert moved is not None
    assert moved.masked is not None
    assert moved.masked[0].tolist() == [False, True, True, True, True, True]
    assert restored is not None
    assert restored.masked is not None
    assert restored.masked.sum() == 15
    assert not np.array_equal(restored.masked, moved.masked)


def test_a_painted_mask_moves_with_its_tokens(reader: Reader) -> None:
    mask = torch.eye(6, dtype=torch.bool).roll(1, 0) | torch.eye(6, dtype=torch.bool)
    reader.open(edits.configure(preset("journey"), mask=mask))
    reader.press("Positions: Order")
    assert reader.sentences()[0].endswith("attention ignores the order; the mask goes with its tokens.")


def test_the_current_scheme_is_compared_with_none(reader: Reader) -> None:
    reader.open(edits.configure(preset("journey"), positions="sinusoidal"))
    reader.press("Positions: Order")
    first, second = reader.sentences()
    assert first.startswith("Without positions: the largest difference is 0.0000")
    assert second.startswith("With sinusoidal positions: ")


def test_positions_without_effect_are_described_as_such(reader: Reader) -> None:
    e = preset("journey")
    reader.open(edits.with_table(e, "W_q", torch.zeros(3, 2)))
    reader.press("Positions: Order")
    assert reader.sentences()[1].endswith("is 0.0000: with these numbers the positions make no difference.")


def test_in_cross_attention_only_the_queries_are_shuffled(reader: Reader) -> None:
    memory = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    embeddings = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    reader.open(Experiment(("a", "b"), embeddings, memory_tokens=("x", "y", "z"), memory_embeddings=memory))
    reader.press("Positions: Order")
    data = reader.lens.order.rows[0][1].data
    assert data is not None
    assert (tuple(data.row_labels), tuple(data.column_labels)) == (("b", "a"), ("x", "y", "z"))
    assert reader.sentences()[0].endswith("attention ignores the order.")


def test_the_visible_head_is_shown(reader: Reader) -> None:
    e = preset("multi-head-8")
    weights = compute(e, dtype="float64").array("weights")
    reader.open(e, 3)
    reader.press("Positions: Order")
    figure = reader.lens.order.rows[0][0]
    np.testing.assert_allclose(values(figure), weights[3], atol=1e-12)
    reader.lens.show_view(View(head="all"))
    np.testing.assert_allclose(values(figure), weights.mean(0), atol=1e-12)
    assert "mean of 8 heads" in reader.lens.order.caption.text()
    assert "the largest difference in any head is" in reader.sentences()[0]


def test_a_message_says_that_the_maps_are_being_computed(reader: Reader) -> None:
    reader.lens.show_trace(compute(preset("multi-head-8")), View(head="all"))
    reader.click(reader.lens.tabs["order"])
    assert reader.sentences() == ["The tokens are being shuffled…"]
    reader.settle()
    assert len(reader.sentences()) == 2


def test_a_layer_that_is_too_large_shows_a_sentence(reader: Reader) -> None:
    e, one = preset("journey"), torch.ones(1, 1)
    many = Experiment(("a",) * 9000, torch.ones(9000, 1), Weights(one, one, one))
    reader.lens.order.show_experiment(many, 0)
    reader.press("Positions: Order")
    assert reader.sentences()[0].startswith("9,000 queries by 9,000 keys in 1 head take about 3.0 GiB")
    reader.open(e)
    assert len(reader.sentences()) == 2


def test_one_token_cannot_be_shuffled(reader: Reader) -> None:
    reader.open(Experiment(("alone",), torch.ones(1, 2)))
    reader.press("Positions: Order")
    assert reader.sentences() == ["One token has only one order; add a second word to shuffle them."]
    assert not reader.lens.order.shuffle.isEnabled()
    assert not reader.lens.order.edit.isEnabled()
    reader.open(preset("journey"))
    assert len(reader.sentences()) == 2
    assert reader.lens.order.shuffle.isEnabled()
    assert all(figure.isVisible() for figure in reader.lens.order.rows[0])


def test_with_large_type_cells_are_as_wide_as_their_labels(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("order-aware", size=(1366, 768))
    person.window.change_settings(type_size=175)
    person.playground.lenses.open_lens("positions/order")
    person.settle()
    maps = [each for each in person.window.findChildren(MapFigure) if each.isVisible()]
    person.wait_for(lambda: all(figure.count_decimals() for figure in maps))
    for figure in maps:
        figure.grab()
        labels = QFontMetricsF(face("caption", figure.zoom)).horizontalAdvance("bites")
        assert figure.cell_rect(0, 0).width() > labels + 6
