"""Colour maps keep their order for the colour-blind and in greys, and show the sign of a number."""

import numpy as np
import pytest

from attnlab.figures.palette import DARK, LEVELS, LIGHT, colour_map, compute_luminance
from attnlab.figures.panels.figure_colours import MAPS, ColourMap, make_palette


def lightness(name: str, of: str, *, dark: bool = False) -> np.ndarray:
    """Return the lightness L* of CIE 1976, 0 to 100, of each colour of a map."""
    table = colour_map(of, make_palette(name, dark=dark))[:LEVELS]
    light = np.array([compute_luminance(f"#{int(entry) & 0xFFFFFF:06X}") for entry in table])
    return np.where(light > 0.008856, 116 * np.cbrt(light) - 16, 903.3 * light)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", [each.name for each in MAPS if not each.signed])
def test_sequential_colour_maps_are_monotone_in_lightness(name: str, dark: bool) -> None:
    steps = np.diff(lightness(name, "sequential", dark=dark))
    assert (steps > -0.35).all() or (steps < 0.35).all()  # a byte is as much
    assert abs(steps.sum()) > 55


@pytest.mark.parametrize("name", [each.name for each in MAPS])
def test_diverging_colour_maps_are_symmetric_in_lightness(name: str) -> None:
    light = lightness(name, "diverging")
    middle = LEVELS // 2
    assert light[middle] > 88
    assert (np.diff(light[: middle - 4]) > -0.35).all()
    assert (np.diff(light[middle + 4 :]) < 0.35).all()
    assert np.abs(light - light[::-1]).max() < 22


def test_a_colour_map_is_used_only_for_its_kind() -> None:
    assert make_palette("attnlab") is LIGHT
    assert make_palette("attnlab", dark=True) is DARK
    assert make_palette("viridis").diverging == LIGHT.diverging
    assert make_palette("vik").sequential == LIGHT.sequential
    assert colour_map("sequential", make_palette("viridis"))[0] == 0xFF440154
    assert colour_map("sequential", make_palette("viridis"))[LEVELS - 1] == 0xFFFDE725


@pytest.mark.parametrize("each", [each for each in MAPS if each.signed], ids=lambda each: each.name)
def test_negative_is_blue_and_positive_red(each: ColourMap) -> None:
    table = colour_map("diverging", make_palette(each.name))
    low, high = int(table[30]), int(table[LEVELS - 30])
    assert low & 0xFF > low >> 16 & 0xFF
    assert high >> 16 & 0xFF > high & 0xFF
