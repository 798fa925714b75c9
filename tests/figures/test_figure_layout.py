"""Maps stay inside their panels, separate and on whole pixels, for any number and size."""

import itertools

import pytest

from attnlab.figures.panels.figure_layout import (
    GOOD_MAP,
    LEAST_LABELLED,
    LEAST_MAP,
    LEAST_WHOLE,
    NO_LABELS,
    Labels,
    Wish,
    lay_out,
)

LABELS = Labels(row_width=40, column_width=30, upright=16, turned=40)


@pytest.mark.parametrize("height", [None, 400.0])
@pytest.mark.parametrize("ratio", [1.0, 300 / 96, 600 / 96])
@pytest.mark.parametrize(
    "maps",
    [(1, 6, 6), (8, 10, 10), (8, 5, 5), (7, 12, 3), (1, 512, 512), (16, 64, 64), (144, 64, 64), (1, 3, 512)],
    ids=str,
)
def test_maps_lie_inside_the_figure_and_do_not_overlap(
    maps: tuple[int, int, int], ratio: float, height: float | None
) -> None:
    count, rows, columns = maps
    layout = lay_out(maps, LABELS, Wish(640.0, height, square=rows == columns, ratio=ratio))
    assert sum(grid.count for grid in layout.grids) == count
    assert height is None or layout.height == height
    bottom = layout.top
    for grid in layout.grids:
        assert grid.y - grid.label_height - layout.caption >= bottom - 1 / ratio
        assert layout.left >= 0
        assert grid.x + grid.width <= layout.width
        bottom = grid.y + grid.height
        if grid.cell_width * ratio >= LEAST_WHOLE:
            assert (grid.cell_width * ratio) % 1 == pytest.approx(0, abs=1e-6)
    assert bottom < layout.height


@pytest.mark.parametrize("dpi", [72, 96, 100, 110, 150])
def test_maps_on_few_dots_lie_inside_the_figure(dpi: int) -> None:
    for width, count, tokens in itertools.product((227.0, 321.0, 642.0), range(1, 17), range(2, 25)):
        for grid in lay_out((count, tokens, tokens), LABELS, Wish(width, ratio=dpi / 96)).grids:
            assert grid.x + grid.width <= width, (width, count, tokens)


def test_eight_heads_are_arranged_four_by_two() -> None:
    for tokens in (5, 10, 32):
        layout = lay_out((8, tokens, tokens), LABELS, Wish(640.0, ratio=3.0))
        assert [grid.count for grid in layout.grids] == [4, 4]


def test_the_requested_number_of_maps_is_side_by_side() -> None:
    layout = lay_out((144, 64, 64), LABELS, Wish(640.0, per_row=12, ratio=3.0))
    assert [grid.count for grid in layout.grids] == [12] * 12
    assert [bool(grid.label_height) for grid in layout.grids] == [True] + [False] * 11  # narrow maps share theirs


def test_without_labels_maps_are_larger() -> None:
    bare = lay_out((1, 8, 8), NO_LABELS, Wish(300.0, 300.0, axis=0.0, bar=0.0, header=0.0))
    assert bare.first.cell_width > lay_out((1, 8, 8), LABELS, Wish(300.0, 300.0)).first.cell_width


@pytest.mark.parametrize("height", [None, *range(140, 420, 20)])
@pytest.mark.parametrize("width", [200.0, 321.0, 640.0])
def test_rotated_labels_fit_at_any_height(width: float, height: float | None) -> None:
    for maps in ((1, 5, 5), (8, 5, 5), (1, 20, 20)):
        first = lay_out(maps, LABELS, Wish(width, height, ratio=3.125)).first
        turned = LABELS.column_width > first.cell_width - 2
        least = LABELS.upright if maps[0] == 1 else LEAST_LABELLED
        wide_enough = first.cell_width * first.columns >= least
        assert first.label_height >= (LABELS.turned if turned and wide_enough else 0)


@pytest.mark.parametrize("width", [321.0, 640.0, 680.0])
@pytest.mark.parametrize("maps", [(144, 24, 24), (144, 64, 64), (8, 10, 10), (96, 12, 12), (12, 5, 8)], ids=str)
def test_pixels_and_vectors_have_the_same_arrangement(maps: tuple[int, int, int], width: float) -> None:
    arranged = {
        tuple(grid.count for grid in lay_out(maps, LABELS, Wish(width, square=maps[1] == maps[2], ratio=ratio)).grids)
        for ratio in (1.0, 1.5625, 3.125, 6.25, 25.0)
    }
    assert len(arranged) == 1


def test_a_grid_of_heads_in_one_paper_column_has_visible_maps() -> None:
    first = lay_out((144, 24, 24), LABELS, Wish(321.0, ratio=6.25)).first
    assert first.count == 12
    assert first.cell_width * first.columns >= 0.9 * LEAST_MAP


def test_32_heads_in_one_paper_column_are_8_mm_wide() -> None:
    layout = lay_out((32, 24, 24), LABELS, Wish(321.0, ratio=3.125))
    assert [grid.count for grid in layout.grids] == [8] * 4
    assert layout.first.cell_width * layout.first.columns >= GOOD_MAP
    assert layout.height < layout.width


def test_several_maps_have_labels_only_if_three_fit() -> None:
    small, large = (lay_out((16, 24, 24), LABELS, Wish(width, per_row=8)).first for width in (321.0, 640.0))
    assert small.rows * small.cell_height < LEAST_LABELLED
    assert small.label_width == small.label_height == 0
    assert large.rows * large.cell_height >= LEAST_LABELLED
    assert large.label_width == LABELS.row_width
    assert large.label_height == LABELS.turned


def test_several_maps_of_one_row_have_the_label_of_this_row() -> None:
    (first, *_) = lay_out((2, 1, 10), LABELS, Wish(321.0, per_row=1)).grids
    assert LABELS.upright <= first.cell_height < LEAST_LABELLED
    assert first.label_width == LABELS.row_width


def test_a_narrow_matrix_among_several_is_not_stretched() -> None:
    for grid in lay_out((8, 10, 8), LABELS, Wish(321.0, square=False, ratio=3.0)).grids:
        assert grid.height <= 1.3 * grid.columns * grid.cell_width + 1
