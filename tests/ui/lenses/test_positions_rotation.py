"""Rotations in the positions lens: the matrix from one position to the next, the circle, and RoPE."""

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.positions import sinusoidal
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.ui.widgets.fields.undo_fields import NumberBox

if TYPE_CHECKING:
    pass
from tests.ui.lenses.positions_reader import Reader, values

# The rotation


def test_the_rotation_page_shows_both_errors(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    told = reader.lens.rotation.error.text()
    found = re.fullmatch(r"The largest error over positions 0 to 100 is (\S+) in float32 and (\S+) in float64\.", told)
    assert found is not None, told
    float32, float64 = (float(text.replace("−", "-")) for text in found.groups())
    assert 1e-8 < float32 < 1e-6
    assert 0 < float64 < 1e-13


def test_the_matrix_maps_one_position_to_the_next(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    page = reader.lens.rotation
    reader.type(page.d_model, "8")
    reader.type(page.offset, "7")
    encoding = sinusoidal(60, 8).numpy()
    np.testing.assert_allclose(encoding[:50] @ values(page.map), encoding[7:57], atol=1e-10)


def test_the_points_on_the_circle_are_the_pair_at_both_positions(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    page = reader.lens.rotation
    reader.type(page.d_model, "4")
    reader.type(page.pair, "1")
    reader.type(page.position, "20")
    reader.type(page.offset, "30")
    at, later = (f"({math.sin(angle):.4f}, {math.cos(angle):.4f}) at t" for angle in (0.2, 0.5))
    assert f"from {at} = 20 to {later} + φ = 50." in page.caption.text()
    assert "ω·φ = 0.0100 · 30 = 0.3000 rad, 17.2°" in page.caption.text()
    assert "t + φ = 50" in page.circle.accessibleDescription()
    middle = (page.circle.place((1, 0)) + page.circle.place((-1, 0))) / 2
    point = page.circle.place((math.sin(0.5), math.cos(0.5))) - middle
    assert point.x() > 0 > point.y()  # right of the middle and above it
    reader.lens.grab()


def test_a_narrower_encoding_has_fewer_pairs(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    page = reader.lens.rotation
    reader.type(page.pair, "60")
    reader.type(page.d_model, "5")
    assert (page.pair.maximum(), page.pair.value()) == (1, 1)
    assert values(page.map).shape == (4, 4)
    assert page.error.text().endswith("Column 4 is a sine without a cosine and is left out.")
    assert page.caption.text().startswith("Pair 1 turns")


def test_an_offset_of_zero_is_the_identity(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    reader.type(reader.lens.rotation.offset, "0")
    np.testing.assert_array_equal(values(reader.lens.rotation.map), np.eye(8))
    reader.lens.grab()


# RoPE's own picture


def set_box(reader: Reader, name: str, value: int) -> None:
    boxes = [one for one in reader.lens.findChildren(NumberBox) if one.isVisible() and one.accessibleName() == name]
    assert len(boxes) == 1
    boxes[0].setValue(value)
    reader.settle()


def rope_score(e: Experiment, query: int, key: int) -> float:
    return float(compute(e, dtype="float64")["scores"][0, query, key])


def test_rope_shows_its_own_picture_first_and_other_schemes_do_not(reader: Reader) -> None:
    page = reader.lens.encoding
    reader.open(preset("journey"))
    assert not page.rope.isVisible()
    reader.open(preset("rope"))
    assert page.rope.isVisible()
    first = page.panels[0]
    assert page.rope.mapTo(page, QPoint()).y() < first.mapTo(page, QPoint()).y()
    assert page.comparison.isVisible()


@pytest.mark.parametrize("scheme", ["alibi", "t5-bias"])
def test_biases_are_above_the_sinusoidal_encoding_and_within_the_first_screen(reader: Reader, scheme: str) -> None:
    reader.open(preset(scheme))
    page = reader.lens.encoding
    top = page.bias_panel.mapTo(page, QPoint()).y()
    assert top < page.panels[0].mapTo(page, QPoint()).y()
    assert top + page.bias_panel.height() <= page.viewport().height()


@pytest.mark.slow
def test_the_scores_of_a_query_and_a_key_that_move_on_together_stay_equal(reader: Reader) -> None:
    e = preset("rope")
    reader.open(e)
    set_box(reader, "query at position", 3)
    set_box(reader, "key at position", 1)
    set_box(reader, "both moved on by", 4)
    told = reader.lens.encoding.rope.told.text()
    assert told.endswith("only the distance counts.")
    same = f"{rope_score(e, 3, 1):.4f}".replace("-", "−")
    assert told.count(same) == 2
    assert "query at 3, key at 1 and query at 7, key at 5" in reader.lens.encoding.rope.picture.accessibleDescription()


def test_scores_other_than_dot_products_do_not_stay_equal(reader: Reader) -> None:
    reader.open(edits.configure(preset("rope"), score="additive"))
    assert "more than the distance counts" in reader.lens.encoding.rope.told.text()


@pytest.mark.slow
def test_each_pair_turns_by_its_own_angle_and_a_click_chooses_it(reader: Reader) -> None:
    e = preset("rope")
    reader.open(e)
    set_box(reader, "query at position", 4)
    set_box(reader, "key at position", 1)
    picture = reader.lens.encoding.rope.picture
    turns = picture._turns
    assert turns is not None
    for pair in range(e.d_k // 2):
        assert turns.find_turn(pair) == pytest.approx(math.degrees(3 * 10000 ** (-2 * pair / e.d_k)) % 360)
    reader.click(picture, picture.find_small(2).center().toPoint())
    reader.settle()
    assert reader.lens.encoding.rope.pair.value() == 2
    trace = compute(e, dtype="float64")
    half = e.d_k // 2
    query = trace["rotated_queries"][0, 4]
    shown = picture._turns
    assert shown is not None
    angle = math.atan2(float(query[2 + half]), float(query[2]))
    assert math.cos(shown.find_angle(shown.query)) == pytest.approx(math.cos(angle))
    assert math.sin(shown.find_angle(shown.query)) == pytest.approx(math.sin(angle))


def test_the_turns_of_scaled_rope_are_those_of_its_table(reader: Reader) -> None:
    e = edits.configure(preset("rope"), positions="rope_scaled")
    omega = torch.linspace(0.3, 0.01, e.d_k // 2)
    reader.open(edits.with_table(e, "omega", omega[None]))
    set_box(reader, "query at position", 4)
    set_box(reader, "key at position", 1)
    turns = reader.lens.encoding.rope.picture._turns
    assert turns is not None
    found = [turns.find_turn(pair) for pair in range(e.d_k // 2)]
    assert found == pytest.approx([math.degrees(3 * each) % 360 for each in omega.tolist()])
    assert reader.lens.encoding.rope.told.text().endswith("only the distance counts.")
    assert "more slowly" not in reader.lens.encoding.rope.pair.toolTip()


def test_another_head_has_another_query(reader: Reader) -> None:
    e = edits.configure(preset("multi-head-8"), positions="rope")
    reader.open(e, head=0)
    first = reader.lens.encoding.rope.told.text()
    reader.lens.show_view(View(head=3))
    reader.settle()
    assert reader.lens.encoding.rope.told.text() != first
