"""Slides have large type and a complete layout on every screen, and name the parts that do not fit."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from attnlab.figures import cell_numbers
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_labels import count_labels
from attnlab.figures.palette import DARK, LIGHT, PALETTES, Palette, compute_contrast
from attnlab.figures.scales import TO_ONE
from attnlab.figures.slides.slide_content import Bar, BarRow, Paragraph, Run, SlideContent, SlideMap
from attnlab.figures.slides.slide_layout import Box, Sheet, choose_bars, lay_out_columns, stack_boxes
from attnlab.figures.slides.slide_maps import AIR, FLAT, LABELS, MAIN, SOURCE, draw_map, fit, fit_labelled
from attnlab.figures.slides.slide_painter import Drawn, draw_slide
from attnlab.figures.slides.slide_side import choose_form
from attnlab.figures.slides.slide_text import Text, lay_out_paragraph, make_face, use_plain_digits
from attnlab.figures.text import Pen
from attnlab.ui.base.theme import apply_theme

SIZES = [(1280, 720), (1920, 1080), (1024, 768), (3840, 2160), (1280, 800), (800, 800)]
TOKENS = ("Your", "journey", "starts", "with", "one", "step")


@pytest.fixture(autouse=True)
def dressed(qapp: QApplication) -> None:
    """A program dressed as it is for people."""
    apply_theme(qapp, "light", 100)


def map_of(rows: int = 6, heads: int = 1, unknown: np.ndarray | None = None) -> SlideMap:
    labels = [TOKENS[i % 6] for i in range(rows)]
    values = np.full((heads, rows, rows), 0.25, np.float32)
    titles = tuple(f"head {head}" for head in range(heads))
    data = MapData(values, "probability", TO_ONE, None, labels, labels, titles, unknown=unknown)
    return SlideMap(data, "Weights", "attention", (Outline(0, 1, None, "query"), Outline(0, 1, 2, "ink")), (1, 2))


def slide(**changes: object) -> SlideContent:
    made = SlideContent(
        heading="Trainable attention  ·  step 7 of 12",
        title="How much does “starts” look at “journey”?",
        text=(Paragraph((Run("Exponentials, divided by their sum. "), Run("masked", style="strong"))),),
        main=map_of(),
        sources=(replace(map_of(), title="Scaled"),),
        arithmetic=(((Run("e"), Run("1.29", style="sup"), Run(" ÷ 9.6 = 0.3791")),), ((Run("= 0.3791"),),)),
        row=BarRow(
            "Weights of “starts”", tuple(Bar(t, 0.25, "0.2500", current=t == "one") for t in TOKENS), "key", 1.0
        ),
        done=7,
        count=12,
        keys=("→ next row", "B black"),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def draw(
    content: SlideContent, size: tuple[int, int] = (1280, 720), palette: Palette = LIGHT, zoom: float = 1.0
) -> tuple[QImage, Drawn]:
    image = QImage(QSize(*size), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    drawn = draw_slide(painter, Sheet(0, 0, *size, zoom), content, palette)
    painter.end()
    return image, drawn


def inked(image: QImage, rect: QRect, ground: str) -> int:
    """Return the number of pixels of a rectangle that differ from the background."""
    view = image.copy(rect).convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(view.constBits(), np.uint32).reshape(view.height(), -1)[:, : view.width()]
    return int((pixels != QColor(ground).rgb()).sum())


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
@pytest.mark.parametrize("size", SIZES)
def test_a_slide_fits_every_screen(size: tuple[int, int], palette: Palette) -> None:
    image, drawn = draw(slide(), size, palette)
    assert drawn.left_out == ()
    width, height = size
    margin = round(0.03 * width)
    for edge in (
        QRect(0, 0, margin, height),
        QRect(width - margin, 0, margin, height),
        QRect(0, 0, width, height // 40),
        QRect(0, height - height // 40, width, height // 40),
    ):
        assert inked(image, edge, palette.ground) == 0
    assert inked(image, image.rect(), palette.ground) > width * height / 50


@given(height=st.integers(200, 4000), ratio=st.floats(1.2, 2.4), zoom=st.floats(0.5, 2))
def test_text_is_never_smaller_than_a_fortieth_of_the_height(height: int, ratio: float, zoom: float) -> None:
    sheet = Sheet(0, 0, ratio * height, height, zoom)
    assert sheet.body >= sheet.least_body >= height / 40
    assert all(size >= sheet.height * 0.0319 for size in sheet.title_sizes())


@given(
    y=st.floats(10, 50),
    sources=st.booleans(),
    side=st.booleans(),
    table=st.booleans(),
    numbered=st.booleans(),
    both=st.booleans(),
)
def test_columns_do_not_overlap_and_stay_inside(y: float, **parts: bool) -> None:
    sheet = Sheet(0, 0, 1920, 1080)
    made = lay_out_columns(sheet, y * sheet.unit, **parts)
    boxes = [box for box in (made.sources, made.main, made.side) if box is not None]
    assert boxes[0].x >= sheet.left
    assert boxes[-1].right <= sheet.left + sheet.inner + 1e-6
    assert all(one.right < other.x for one, other in pairwise(boxes))
    assert all(box.bottom <= sheet.foot + 1e-6 for box in boxes)
    assert made.main.width > 0.2 * sheet.inner


def wide_map(rows: int, columns: int) -> SlideMap:
    values = np.full((1, rows, columns), -0.25, np.float32)
    labels = [f"h{i}" for i in range(columns)]
    return SlideMap(MapData(values, "signed", TO_ONE, None, ["s"] * rows, labels), "Scores", "neutral", square=False)


def test_a_map_of_one_long_row_stands_below_its_sources() -> None:
    beside = draw(slide(main=wide_map(2, 10), sources=(wide_map(2, 10),), row=None))[1].grid
    drawn = draw(slide(main=wide_map(1, 10), sources=(wide_map(1, 10), wide_map(10, 64)), row=None))[1]
    assert beside is not None
    assert drawn.grid is not None
    assert drawn.left_out == ()
    assert drawn.grid.x < 150 < beside.x
    assert drawn.grid.cell_width > 1.4 * beside.cell_width


def test_column_labels_side_by_side_do_not_touch() -> None:
    each, metrics, flat = map_of(), QFontMetricsF(make_face(18.0)), 0
    widest = max(metrics.horizontalAdvance(label) for label in TOKENS)
    for width in range(300, 700, 5):
        grid = fit(each, Box(0, 0, width, 600), 18.0, MAIN, 7.68)
        if grid.column_space == FLAT * 18.0:
            assert grid.cell_width - widest >= 0.35 * 18.0, width
            flat += 1
    assert 0 < flat < 80, "both ways of labels occur"


def test_each_row_of_many_maps_has_its_label() -> None:
    each, unit = map_of(rows=10, heads=8), 7.68
    for height in (430, 460, 500):  # eight maps of ten words on a slide of 1366 by 768, and with more room
        size, grid = fit_labelled(each, Box(0, 0, 1230, height), [size * unit for size in LABELS], MAIN, unit)
        assert count_labels(grid, each.data, make_face(size)) == grid.lines * 10 + grid.per_row * 10, height


def test_numbers_side_by_side_do_not_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[float] = []

    class Measuring(Pen):
        def __init__(self, painter: QPainter, font: QFont) -> None:
            super().__init__(painter, font)
            self.air = AIR * font.pixelSize()

        def draw(self, x: float, y: float, text: str, across: float = 0.0, down: float = 0.5) -> None:
            widths.append(self.width(text) + self.air)

    monkeypatch.setattr(cell_numbers, "Pen", Measuring)
    values = np.where(np.eye(6), -0.92, 0.31)[None]
    each = replace(map_of(), data=replace(map_of().data, values=values, kind="signed"))
    image, full = QImage(600, 600, QImage.Format.Format_RGB32), 0
    painter = QPainter(image)
    for width in range(150, 500, 5):
        widths.clear()
        grid, _ = draw_map(painter, Box(0, 0, width, 500), each, Sheet(0, 0, 1366, 768, 1.0), LIGHT, None, SOURCE)
        assert max(widths, default=0.0) <= grid.cell_width, width
        full += bool(widths)
    painter.end()
    assert 0 < full < 70, "with and without numbers"


def test_arithmetic_without_bars_leaves_its_width_to_wide_maps() -> None:
    square, wide = (
        draw(slide(main=replace(wide_map(6, 8), square=is_map), sources=(wide_map(4, 8),), row=None, side=True))[1]
        for is_map in (True, False)
    )
    assert square.side is not None
    assert wide.side is not None
    assert wide.side.width < 0.75 * square.side.width


def test_stacked_boxes_share_the_height() -> None:
    made = stack_boxes(lay_out_columns(Sheet(0, 0, 1280, 720), 200, sources=False, side=False).main, 3, 10)
    assert [round(box.height, 6) for box in made] == [round(made[0].height, 6)] * 3
    assert made[1].y == pytest.approx(made[0].bottom + 10)


WORDS = "Every one of these words is read from the last row of the hall. "


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (slide(text=(Paragraph((Run(WORDS * 80),)),)), "the text"),
        (slide(text=(Paragraph((Run(WORDS * 40),)),)), "the map below the text"),
        (slide(title="A title that goes on " * 20), "the title"),
        (slide(heading="A heading that goes on " * 20), "the heading"),
        (slide(main=replace(map_of(), title="A caption that goes on " * 9)), "the caption"),
        (slide(arithmetic=(((Run("1" * 400),),),), row=None, side=True), "the arithmetic"),
        (slide(row=BarRow("r", tuple(Bar("word" * 30, 0.5, "0.5") for _ in "12"), "key", 1.0)), "a label of “r”"),
    ],
)
def test_parts_that_do_not_fit_are_named(content: SlideContent, named: str) -> None:
    assert any(each.startswith(named) for each in draw(content)[1].left_out)
    assert draw(content)[1].left_out


def test_a_shortened_label_is_reported_if_labels_are_few() -> None:
    long = replace(map_of(), data=replace(map_of().data, row_labels=["incomprehensibilities" * 3] * 6))
    assert any("the label" in each for each in draw(slide(main=long))[1].left_out)


@pytest.mark.parametrize("rows", [3, 12, 40, 400])
@pytest.mark.parametrize("heads", [1, 4, 12])
def test_maps_of_any_size_fit(rows: int, heads: int) -> None:
    _, drawn = draw(slide(main=map_of(rows, heads), sources=()))
    assert drawn.left_out == ()
    assert drawn.grid is not None
    assert drawn.grid.x + drawn.grid.width <= 1280
    assert drawn.grid.y + drawn.grid.height <= 720 * 0.93


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)
def test_unknown_cells_are_empty_and_blanks_are_marked(palette: Palette) -> None:
    unknown = np.ones((6, 6), bool)
    unknown[0] = False
    blank = replace(map_of(unknown=unknown), outlines=(), strong=(None, None))
    image, drawn = draw(slide(main=blank), palette=palette)
    marked, _ = draw(slide(main=replace(blank, marks=((0, 3, 3),))), palette=palette)
    assert drawn.grid is not None
    x, y, width, height = (round(side) for side in drawn.grid.rect(0, 3, 3))
    inside = QRect(x + 4, y + 4, width - 8, height - 8)
    assert inked(image, inside, palette.ground) == 0
    assert inked(marked, inside, palette.ground) > 0
    x, y, width, height = (round(side) for side in drawn.grid.rect(0, 0, 3))
    assert inked(image, QRect(x + 4, y + 4, width - 8, height - 8), palette.ground) > (width - 8) * (height - 8) / 2


def test_bars_have_the_length_of_their_numbers() -> None:
    lengths = []
    for bar in (Bar("a", 1.0, "1.0"), Bar("a", 0.5, "0.5"), Bar("a", None, "?"), Bar("a", None, "masked", faint=True)):
        row = BarRow("row", (replace(bar, current=True),), "key", 1.0)
        image, drawn = draw(slide(arithmetic=(), row=row))
        assert drawn.side is not None
        key = QColor(LIGHT.key).rgb()
        lengths.append(_longest_run(image, key))
    full, half, unknown, masked = lengths
    assert half == pytest.approx(full / 2, rel=0.1)
    assert (unknown, masked) == (0, 0)


def _longest_run(image: QImage, colour: int) -> int:
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    return int((pixels == colour).sum(axis=1).max())


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
def test_the_track_of_a_bar_stands_out_less_than_a_bar(palette: Palette) -> None:
    row = BarRow("row", (Bar("a", None, "masked", faint=True),), "attention", 1.0)
    image, _ = draw(slide(sources=(), arithmetic=(), row=row), palette=palette)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    track, frame = ((pixels == QColor(colour).rgb()).sum() for colour in (palette.control, palette.hairline))
    assert track > 5 * frame
    bar = palette.make_paler(palette.attention)
    assert compute_contrast(palette.control, palette.ground) < compute_contrast(bar, palette.ground)


def test_bars_that_are_parts_of_no_whole_have_no_track() -> None:
    row = BarRow("row", (Bar("a", 0.5, "0.5000"),), "key", 1.0)
    tracks = []
    for each in (row, replace(row, track=False)):
        image, _ = draw(slide(sources=(), arithmetic=(), row=each))
        tracks.append(_longest_run(image, QColor(LIGHT.control).rgb()))
    assert tracks[0] > 100
    assert tracks[1] == 0


def test_a_covered_last_bar_leaves_no_brush_behind() -> None:
    image = QImage(QSize(1280, 720), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    row = BarRow("row", (Bar("a", 1.0, "1.0"), Bar("b", None, "", held="0.5000")), "key", 1.0)
    draw_slide(painter, Sheet(0, 0, 1280, 720), slide(arithmetic=(), row=row), LIGHT)
    assert painter.brush().style() == Qt.BrushStyle.NoBrush
    painter.end()


def test_the_reserved_space_stays_free() -> None:
    image, drawn = draw(slide(arithmetic=(), row=None, side=True, table=True))
    for box in (drawn.side, drawn.table):
        assert box is not None
        rect = QRect(round(box.x), round(box.y), round(box.width), round(box.height))
        assert inked(image, rect, LIGHT.ground) == 0
    whole = draw(slide(main=None, sources=(), arithmetic=(), row=None, whole=True))[1].side
    assert whole is not None
    assert whole.width > 0.85 * 1280


def test_a_growing_sum_keeps_its_type_from_the_first_term() -> None:
    lines = [(Run(" + ".join(["0.94314·0.22188"] * terms)),) for terms in range(1, 9)]
    ends = (lines[-1], (Run("so far 1.6741"),))
    box, sheet = Box(700, 200, 440, 420), Sheet(0, 0, 1280, 720)
    first, last = (
        choose_form(((line, ends[1]),), box, slide().row, sheet, LIGHT, ends) for line in (lines[0], lines[-1])
    )
    assert first is not None
    assert last is not None
    assert first[0].height / first[0].lines == last[0].height / last[0].lines
    alone = choose_form(((lines[0], ends[1]),), box, slide().row, sheet, LIGHT)
    assert alone is not None
    assert alone[0].height > first[0].height, "alone it would be larger"


@pytest.mark.parametrize("zoom", [0.9, 1.2, 1.5])
def test_the_size_of_type_can_change(zoom: float) -> None:
    assert draw(slide(), zoom=zoom)[1].left_out == ()


@given(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 20), st.data())
def test_a_long_row_shows_the_current_and_the_longest_bars(
    values: list[float | None], room: int, data: st.DataObject
) -> None:
    current = data.draw(st.none() | st.integers(0, len(values) - 1))
    which = choose_bars(values, current, room)
    assert which == sorted(set(which))
    assert len(which) == min(len(values), room)
    assert current is None or current in which
    left_out = [values[i] or 0 for i in range(len(values)) if i not in which]
    kept = [values[i] or 0 for i in which if i != current]
    assert not left_out or not kept or min(kept) >= max(left_out)


def test_list_items_are_indented_and_paragraphs_wrap() -> None:
    plain, item = Paragraph((Run(WORDS),)), Paragraph((Run(WORDS),), "•")
    wide, narrow = (Text((plain, item), 20, width, LIGHT) for width in (4000, 300))
    assert narrow.height > 2 * wide.height
    assert lay_out_paragraph((Run(WORDS),), 20, 4000, LIGHT).lines == 1
    assert not Text((Paragraph((Run("x" * 200),)),), 20, 300, LIGHT).fits


@pytest.mark.parametrize("size", [20, 29, 36, 41])
@pytest.mark.parametrize("style", ["sub", "sup"])
def test_lines_with_an_index_are_as_far_apart_as_others(size: int, style: str) -> None:
    plain = lay_out_paragraph((Run("W"), Run(f" {3 * WORDS}")), size, 600, LIGHT)
    raised = lay_out_paragraph((Run("W"), Run("q", style=style), Run(f" {3 * WORDS}")), size, 600, LIGHT)
    assert raised.lines == plain.lines > 2
    assert raised.height == pytest.approx(plain.height)
    lines = [raised._layout.lineAt(i) for i in range(raised.lines)]
    below = [after.y() + after.ascent() - before.y() - before.ascent() for before, after in pairwise(lines)]
    assert max(below) - min(below) < 0.1


def test_digits_on_paper_are_plain(request: pytest.FixtureRequest) -> None:
    width: Callable[[str], float] = lambda text: lay_out_paragraph((Run(text),), 40, 4000, LIGHT).width  # noqa: E731
    assert width("1111") == pytest.approx(width("0000"), abs=0.5)
    with use_plain_digits():
        assert width("1111") < width("0000") - 5
    assert width("1111") == pytest.approx(width("0000"), abs=0.5)
