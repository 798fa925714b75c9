"""Figures are exactly as large as asked, show the right colours in the right places, and fit every sentence."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

import attnlab
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.presets import drawn
from attnlab.attention.trace import Trace
from attnlab.errors import AttnlabError, FileError
from attnlab.figures.figure_file import figure_image, map_data, pixels, write_figure
from attnlab.figures.figure_layout import Labels, lay_out
from attnlab.figures.palette import DARK, LIGHT, Palette, colour_map

pytestmark = pytest.mark.usefixtures("qapp")

LABELS = Labels(row_width=40, column_width=30, upright=16, turned=40)


def trace_of(preset: str) -> Trace:
    return attnlab.compute(attnlab.preset(preset))


def coloured(image: QImage, colour: int) -> NDArray[np.bool_]:
    """Return which pixels have exactly a colour, [height, width]."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    raw = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return np.asarray((raw[:, : image.width()] & 0xFFFFFF) == (colour & 0xFFFFFF))


@pytest.mark.parametrize(
    ("width_mm", "dpi", "width"), [(120, 300, 1417), (85, 96, 321), (25.4, 1200, 1200), (170, 72, 482)]
)
def test_the_width_is_exact_to_the_pixel(width_mm: float, dpi: int, width: int) -> None:
    assert pixels(width_mm, dpi) == width
    image = figure_image(trace_of("journey"), "weights", dpi=dpi, width_mm=width_mm)
    assert image.width() == width
    assert image.devicePixelRatio() == 1.0
    assert image.dotsPerMeterX() == round(dpi / 0.0254)


def test_a_figure_at_twice_the_dots_is_the_same_figure_twice_as_large() -> None:
    one = figure_image(trace_of("causal-5x8"), "weights", dpi=192)
    two = figure_image(trace_of("causal-5x8"), "weights", dpi=384)
    assert abs(two.width() - 2 * one.width()) <= 1
    assert abs(two.height() - 2 * one.height()) <= 16


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_strongest_weight_is_where_it_belongs_and_in_its_colour(palette: Palette) -> None:
    values = [[0.0, 0.0, 0.0], [0.0, 0.0, 50.0], [0.0, 0.0, 0.0]]
    e = Experiment(("a", "b", "c"), np.eye(3), attnlab.Weights(W_q=values))
    trace = attnlab.compute(e)
    assert trace.array("weights")[0].argmax() == 5
    full = int(colour_map("sequential", palette)[254])
    image = figure_image(trace, "weights", 0, dpi=96, width_mm=100, palette=palette)
    places = np.argwhere(coloured(image, full)[: image.height() - 40])  # without the colour bar
    third = (places.max(0) - places.min(0)).min()
    assert 16 < third < 80
    rows, columns = np.nonzero(coloured(image, int(colour_map("sequential", palette)[85])))  # ⅓, the two other rows
    assert rows.min() < places[:, 0].min() < places[:, 0].max() < rows.max()
    assert columns.min() < places[:, 1].min()
    assert places[:, 1].max() >= columns.max() - 1


def test_the_figure_follows_the_theme() -> None:
    for palette in (LIGHT, DARK):
        image = figure_image(trace_of("journey"), "weights", dpi=96, palette=palette)
        assert QColor(image.pixel(0, 0)).name().upper() == palette.surface


@pytest.mark.parametrize("stage", attnlab.compute(attnlab.preset("multi-head-causal")).stages)
@pytest.mark.parametrize("head", [0, "all", "mean"])
def test_every_stage_can_be_drawn(stage: str, head: int | str) -> None:
    image = figure_image(trace_of("multi-head-causal"), stage, head, dpi=96)
    assert image.width() > image.height() * 0.5 > 50
    assert coloured(image, QColor(LIGHT.surface).rgb()).mean() < 0.95


@pytest.mark.parametrize(
    "make",
    [
        lambda: drawn(("x",), 1, AttentionConfig()),
        lambda: drawn(("",) * 3, 2, AttentionConfig()),
        lambda: drawn(("Wort" * 100, "北京", "🦊", "שלום", "a\nb"), 4, AttentionConfig(n_heads=2, causal=True)),
        lambda: drawn(tuple(map(str, range(512))), 4, AttentionConfig(causal=True)),
        lambda: drawn(tuple(map(str, range(512))), 16, AttentionConfig(n_heads=16)),
        lambda: drawn(("a", "b"), 64, AttentionConfig(n_heads=64)),
        lambda: Experiment(
            ("q",), [[1.0, 2.0]], memory_tokens=tuple("abcdefgh" * 40), memory_embeddings=np.ones((320, 2))
        ),
    ],
    ids=["1 token", "no words", "odd words", "512 tokens", "512 tokens, 16 heads", "64 heads", "1 query, 320 keys"],
)
@pytest.mark.parametrize("stage", ["weights", "queries", "keys", "output"])
def test_nothing_is_too_small_too_large_or_too_odd(make: Callable[[], Experiment], stage: str) -> None:
    image = figure_image(attnlab.compute(make()), stage, dpi=150, width_mm=120)
    assert image.width() == 709
    assert 60 < image.height() < 8000


def test_masked_cells_and_infinities_are_drawn_without_a_warning() -> None:
    e = Experiment(("a", "b"), [[1e30, 0.0], [0.0, 1.0]], config=AttentionConfig(causal=True))
    trace = attnlab.compute(e)
    for stage in trace.stages:
        assert not figure_image(trace, stage, dpi=96).isNull()


def test_all_heads_share_one_scale() -> None:
    trace = trace_of("multi-head-8")
    limits = {map_data(trace, "scores", head).limit for head in (0, 5, "all", "mean")}
    assert limits == {float(np.abs(trace.array("scores")).max())}


def test_several_maps_are_titled_with_their_head() -> None:
    trace = trace_of("multi-head-8")
    assert list(map_data(trace, "weights", "all").titles) == [f"head {i}" for i in range(8)]
    assert list(map_data(trace, "weights", 3).titles) == ["head 3 of 8"]
    assert list(map_data(trace, "weights", "mean").titles) == ["mean of 8 heads"]


@pytest.mark.parametrize("ratio", [1.0, 300 / 96, 600 / 96])
@pytest.mark.parametrize(
    "maps", [(1, 6, 6), (8, 10, 10), (8, 5, 5), (7, 12, 3), (1, 512, 512), (16, 64, 64), (1, 3, 512)]
)
def test_all_maps_lie_inside_the_figure_on_whole_pixels_and_apart(maps: tuple[int, int, int], ratio: float) -> None:
    count, rows, columns = maps
    layout = lay_out(640.0, maps, LABELS, square=rows == columns, ratio=ratio)
    assert sum(grid.count for grid in layout.grids) == count
    bottom = 0.0
    for grid in layout.grids:
        assert grid.y - grid.label_height - layout.caption >= bottom
        assert grid.x - grid.label_width >= 0
        assert grid.x + grid.width <= layout.width
        bottom = grid.y + grid.height
        if grid.cell_width * ratio >= 1:
            assert (grid.cell_width * ratio) % 1 == pytest.approx(0, abs=1e-6)
    assert bottom < layout.height


def test_eight_heads_stand_four_by_two() -> None:
    for tokens in (5, 10, 32):
        layout = lay_out(640.0, (8, tokens, tokens), LABELS, square=True, ratio=3.0)
        assert [grid.count for grid in layout.grids] == [4, 4]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"stage": "masked"}, "no stage 'masked'.*weights"),
        ({"head": 1}, "no head 1"),
        ({"dpi": 29}, "29 dots per inch"),
        ({"dpi": 2401}, "2401 dots per inch"),
        ({"width_mm": 19.0}, "19 mm"),
        ({"width_mm": float("nan")}, "nan mm"),
        ({"width_mm": 1000.0, "dpi": 2400}, "too large"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_a_sentence(arguments: dict[str, object], sentence: str) -> None:
    given = {"stage": "weights", "head": 0, **arguments}
    with pytest.raises(AttnlabError, match=sentence):
        figure_image(trace_of("journey"), **given)  # type: ignore[arg-type]


def test_writing_a_figure_replaces_the_old_one_whole(tmp_path: Path) -> None:
    (tmp_path / "f.png").write_bytes(b"old")
    write_figure(tmp_path / "f.png", trace_of("journey"), "weights", dpi=96)
    assert QImage(str(tmp_path / "f.png")).width() == 454
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["f.png"]


@pytest.mark.parametrize("name", ["none/f.png", "."])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="cannot be written: "):
        write_figure(tmp_path / name, trace_of("journey"), "weights", dpi=96)
