"""From numbers to colours: every value has its palette entry, and a spike among thousands is never lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from attnlab.figures.palette import (
    DARK,
    DARK_INK,
    LEVELS,
    LIGHT,
    LIGHT_INK,
    PALETTES,
    Palette,
    choose_dark_text,
    colour_map,
    compute_contrast,
    compute_luminance,
)
from attnlab.figures.raster import (
    MAP_OF,
    NOT_A_NUMBER,
    colour_cells,
    find_indices,
    join_maps,
    reduce_maps,
)
from attnlab.figures.scales import LONG_ROW, TO_ONE, Scale, find_scale

NUMBERS = st.floats(-(2.0**100), 2.0**100, width=32)
MAPS = arrays(np.float32, st.tuples(st.integers(1, 3), st.integers(1, 24), st.integers(1, 24)), elements=NUMBERS)
KINDS = st.sampled_from(["signed", "probability"])


def entry(value: float, kind: str, limit: float) -> int:
    """Return the palette entry of a value, computed in plain Python."""
    low, span = (0.0, limit) if kind == "probability" else (-limit, 2 * limit)
    share = min(max((float(value) - low) / span, 0.0), 1.0)
    return int(share * (LEVELS - 1) + 0.5)


@given(MAPS, KINDS)
def test_every_value_has_the_palette_entry_of_its_position(values: NDArray[np.float32], kind: str) -> None:
    scale = find_scale(values, kind)
    found = find_indices(values, kind, scale)
    for place in np.ndindex(values.shape):
        assert abs(int(found[place]) - entry(values[place], kind, scale.limit)) <= 1  # float32 may round the other way


@given(arrays(np.float32, st.integers(2, 60), elements=NUMBERS), KINDS)
def test_palette_entries_grow_with_the_values(values: NDArray[np.float32], kind: str) -> None:
    values = np.sort(values)[None, None]
    found = find_indices(values, kind, find_scale(values, kind)).astype(int)
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_is_the_middle_of_a_diverging_palette(dtype: type) -> None:
    values = np.array([[[-2.0, -1.0, 0.0, 1.0, 2.0]]], dtype=dtype)
    assert find_indices(values, "signed", Scale(2.0)).tolist() == [[[0, 64, 127, 191, 254]]]
    assert find_indices(values, "probability", TO_ONE).tolist() == [[[0, 0, 0, 254, 254]]]
    assert find_indices(values, "positive", Scale(2.0)).tolist() == [[[0, 0, 0, 127, 254]]]


def test_infinities_do_not_stretch_the_scale() -> None:
    values = np.array([[[1.0, -1e9], [2.0, 0.5]]], dtype=np.float32)
    masked = np.array([[False, True], [False, False]])
    assert find_scale(values, "signed", masked).limit == 2.0
    assert find_scale(np.array([[[0.2, 1.25]]]), "positive").limit == 1.25
    assert find_scale(np.array([[[0.2, 0.4]]]), "positive").limit == 1.0


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
@pytest.mark.parametrize("kind", MAP_OF)
def test_colours_are_those_of_the_palette(kind: str, palette: Palette) -> None:
    values = np.linspace(-1, 1, 255, dtype=np.float32)[None, None]
    if MAP_OF[kind] == "sequential":
        values = (values + 1) / 2
    found = colour_cells(values, kind, TO_ONE, palette, None)[0, 0]
    np.testing.assert_array_equal(found, colour_map(MAP_OF[kind], palette)[:LEVELS])


def test_masked_cells_are_transparent_and_nan_has_its_own_colour() -> None:
    values = np.array([[[np.nan, np.inf, -np.inf, 0.5, -np.inf]]], dtype=np.float32)
    masked = np.array([[False, False, False, False, True]])
    found = colour_cells(values, "signed", TO_ONE, LIGHT, masked)[0, 0]
    assert found[:3].tolist() == [NOT_A_NUMBER] * 3
    assert found[4] == 0
    assert NOT_A_NUMBER not in colour_map("diverging", LIGHT)
    assert NOT_A_NUMBER not in colour_map("sequential", DARK)
    assert found[3] == colour_map("diverging", LIGHT)[191]


@given(MAPS, st.data())
def test_reducing_never_loses_a_spike(values: NDArray[np.float32], data: st.DataObject) -> None:
    _, rows, columns = values.shape
    to = data.draw(st.integers(1, rows)), data.draw(st.integers(1, columns))
    small = reduce_maps(values, *to)
    assert small.shape == (len(values), *to)
    np.testing.assert_array_equal(np.abs(small).max((1, 2)), np.abs(values).max((1, 2)))
    assert np.isin(small, values).all()  # nothing is averaged or made up


@given(MAPS, st.data())
def test_a_reduced_block_shows_its_value_of_largest_magnitude(values: NDArray[np.float32], data: st.DataObject) -> None:
    _, rows, columns = values.shape
    to = data.draw(st.integers(1, rows)), data.draw(st.integers(1, columns))
    small = reduce_maps(values, *to)
    edges = [np.append((np.arange(n) * length) // n, length) for n, length in zip(to, (rows, columns), strict=True)]
    for i, j in np.ndindex(*to):
        block = values[:, edges[0][i] : edges[0][i + 1], edges[1][j] : edges[1][j + 1]]
        np.testing.assert_array_equal(np.abs(small[:, i, j]), np.abs(block).max((1, 2)))


@given(st.integers(20, 200), st.data())
def test_nan_is_never_hidden_by_reducing(size: int, data: st.DataObject) -> None:
    values = np.zeros((1, size, size), dtype=np.float32)
    row, column = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size - 1))
    bad = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    values[0, row, column] = bad
    small = reduce_maps(values, 7, 5)
    assert (~np.isfinite(small)).sum() == 1
    assert repr(float(small[~np.isfinite(small)][0])) == repr(float(bad))


def test_a_small_map_is_not_reduced() -> None:
    values = np.random.default_rng(0).normal(size=(2, 5, 6)).astype(np.float32)
    assert reduce_maps(values, 5, 6) is values
    assert reduce_maps(values, 50, 60) is values


@pytest.mark.parametrize(
    ("values", "kind", "limit"),
    [
        (np.zeros((1, 2, 2)), "signed", 1.0),
        (np.full((1, 2, 2), 0.01), "probability", 1.0),
        (np.array([[[-3.0, 2.0]]]), "signed", 3.0),
        (np.array([[[np.nan, -np.inf, np.inf, 2.0]]]), "signed", 2.0),
        (np.array([[[np.nan, np.inf]]]), "signed", 1.0),
        (np.full((1, 1, LONG_ROW + 1), 0.0234), "probability", 0.03),
        (np.eye(LONG_ROW + 1)[None], "probability", 1.0),
    ],
)
def test_a_scale_ends_at_its_largest_number(values: NDArray[np.float64], kind: str, limit: float) -> None:
    assert find_scale(values, kind).limit == pytest.approx(limit)


@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.data())
def test_a_mosaic_has_every_map_at_its_place(count: int, rows: int, columns: int, data: st.DataObject) -> None:
    per_row = data.draw(st.integers(1, count))
    gap = data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    maps = np.arange(1, count * rows * columns + 1, dtype=np.uint32).reshape(count, rows, columns)
    sheet = join_maps(maps, per_row, gap)
    for index in range(count):
        line, place = divmod(index, per_row)
        top, left = line * (rows + gap[0]), place * (columns + gap[1])
        np.testing.assert_array_equal(sheet[top : top + rows, left : left + columns], maps[index])
    assert (sheet != 0).sum() == maps.size  # and nothing between them


# The colours themselves


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
@pytest.mark.parametrize("name", ["diverging", "sequential"])
def test_numbers_are_legible_on_every_colour(name: str, palette: Palette) -> None:
    for colour, dark in zip(colour_map(name, palette)[:LEVELS], choose_dark_text(name, palette), strict=False):
        ground = f"#{int(colour) & 0xFFFFFF:06X}"
        text, other = (DARK_INK, LIGHT_INK) if dark else (LIGHT_INK, DARK_INK)
        assert compute_contrast(text, ground) >= compute_contrast(other, ground)
        assert compute_contrast(text, ground) >= 4.5, ground


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
def test_sequential_palettes_have_one_direction_and_diverging_ones_two(palette: Palette) -> None:
    def light(name: str) -> NDArray[np.float64]:
        table = colour_map(name, palette)[:LEVELS]
        return np.array([compute_luminance(f"#{int(colour) & 0xFFFFFF:06X}") for colour in table])

    steps = np.diff(light("sequential"))
    assert (steps <= 1e-9).all() or (steps >= -1e-9).all()
    middle = light("diverging")
    away = abs(middle - middle[LEVELS // 2])
    assert (np.diff(away[LEVELS // 2 :]) >= -1e-9).all()
    assert (np.diff(away[: LEVELS // 2]) <= 1e-9).all()


def test_a_palette_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        colour_map("diverging", LIGHT)[0] = 0


def test_luminance_and_contrast_follow_wcag() -> None:
    assert compute_contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert compute_contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert compute_luminance("#FFFFFF") == pytest.approx(1)
