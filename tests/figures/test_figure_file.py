"""Figures have exactly the requested size, the right colours at the right places, and fit any text."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from base64 import b64decode
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import configure
from attnlab.attention.examples.presets import draw_experiment
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import AttnlabError, FileError
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.palette import DARK, LIGHT, Palette, colour_map
from attnlab.figures.panels.figure_file import draw_figure, encode_figure, paint_on, write_figure
from attnlab.figures.panels.figure_page import Page, draw_page, lay_out_page
from attnlab.figures.panels.figure_panel import make_map_data
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.export.stage_tables import table

pytestmark = pytest.mark.usefixtures("qapp")
SVG = "{http://www.w3.org/2000/svg}"


def trace_of(preset: str) -> Trace:
    return attnlab.compute(attnlab.preset(preset))


def pixels(image: QImage) -> NDArray[np.uint32]:
    """Return the ARGB of each pixel, [height, width]."""
    image = image.convertToFormat(QImage.Format.Format_ARGB32)
    raw = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return np.array(raw[:, : image.width()])


def coloured(image: QImage, colour: int) -> NDArray[np.bool_]:
    return np.asarray((pixels(image) & 0xFFFFFF) == (colour & 0xFFFFFF))


def rendered(svg: bytes, width: int, height: int) -> QImage:
    """Return an SVG drawn on black, so that a seam would be seen."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("black"))
    painter = QPainter(image)
    QSvgRenderer(svg).render(painter, QRectF(0, 0, width, height))
    painter.end()
    return image


def texts(svg: bytes) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


# How large


@pytest.mark.parametrize(
    ("width_mm", "dpi", "width"), [(120, 300, 1417), (85, 96, 321), (25.4, 1200, 1200), (170, 72, 482)]
)
def test_the_width_is_exact_to_the_pixel(width_mm: float, dpi: int, width: int) -> None:
    image = draw_figure(trace_of("journey"), FigureSpec(dpi=dpi, width_mm=width_mm))
    assert image.width() == width
    assert image.devicePixelRatio() == 1.0
    assert image.dotsPerMeterX() == image.dotsPerMeterY() == round(dpi / 0.0254)


@pytest.mark.parametrize("size", [(85.0, 60.0), (170.0, 200.0), (338.7, 190.5)])
def test_a_given_height_is_exact(size: tuple[float, float]) -> None:
    image = draw_figure(trace_of("multi-head-8"), FigureSpec(width_mm=size[0], height_mm=size[1], dpi=100))
    assert (image.width(), image.height()) == tuple(round(side / 25.4 * 100) for side in size)


def test_an_svg_has_its_size_title_and_description() -> None:
    svg = encode_figure(trace_of("journey"), FigureSpec(width_mm=85, height_mm=70, title="A <b> & c"), ".svg")
    root = ET.fromstring(svg)
    assert (root.get("width"), root.get("height")) == ("85mm", "70mm")
    assert root.findtext(f"{SVG}title") == "A <b> & c"
    assert root.findtext(f"{SVG}desc") == "Maps drawn by attnlab: Weights (6 × 6)."


def test_a_pdf_is_one_page_as_large_as_the_figure() -> None:
    pdf = encode_figure(trace_of("journey"), FigureSpec(width_mm=85, height_mm=70), ".pdf")
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(boxes) == 1
    assert [float(side) for side in boxes[0]] == pytest.approx([85 / 25.4 * 72, 70 / 25.4 * 72], abs=0.6)


def test_larger_type_scales_the_figure() -> None:
    small = lay_out_page(trace_of("journey"), FigureSpec(width_mm=85, font_pt=7.5))
    large = lay_out_page(trace_of("journey"), FigureSpec(width_mm=170, font_pt=15))
    assert large.width == pytest.approx(small.width)
    assert large.size_mm[1] == pytest.approx(2 * small.size_mm[1], rel=0.02)


# What is drawn


@pytest.mark.parametrize(("palette", "ground"), [(LIGHT, "light"), (DARK, "dark")])
def test_the_strongest_weight_has_its_place_and_colour(palette: Palette, ground: str) -> None:
    values = [[0.0, 0.0, 0.0], [0.0, 0.0, 50.0], [0.0, 0.0, 0.0]]
    trace = attnlab.compute(Experiment(("a", "b", "c"), np.eye(3), attnlab.Weights(W_q=values)))
    assert trace.array("weights")[0].argmax() == 5
    image = draw_figure(trace, FigureSpec(head=0, dpi=96, width_mm=100, ground=ground, colour_bar=False))
    assert QColor(image.pixel(0, 0)).name().upper() == palette.surface
    places = np.argwhere(coloured(image, int(colour_map("sequential", palette)[254])))
    rows, columns = np.nonzero(coloured(image, int(colour_map("sequential", palette)[85])))  # ⅓, the two other rows
    assert rows.min() < places[:, 0].min() < places[:, 0].max() < rows.max()
    assert columns.min() < places[:, 1].min()
    assert places[:, 1].max() >= columns.max() - 1


def test_without_a_background_the_space_between_cells_is_transparent() -> None:
    trace = trace_of("causal-5x8")
    clear = pixels(draw_figure(trace, FigureSpec(ground="transparent", dpi=150)))
    solid = pixels(draw_figure(trace, FigureSpec(dpi=150)))
    assert clear[0, 0] == 0
    assert (solid >> 24 == 255).all()
    np.testing.assert_array_equal(clear[clear >> 24 == 255], solid[clear >> 24 == 255])
    assert 0.2 < (clear >> 24 == 255).mean() < 0.9
    assert '<rect x="0" y="0"' not in encode_figure(trace, FigureSpec(ground="transparent"), ".svg").decode()


def test_an_svg_has_text_as_text_and_cells_as_shapes() -> None:
    svg = encode_figure(trace_of("journey"), FigureSpec(), ".svg")
    assert {"Weights", "query", "key", "journey", "6 × 6", "0.2264"} <= set(texts(svg))
    assert b"<image" not in svg
    pdf = encode_figure(trace_of("journey"), FigureSpec(), ".pdf")
    assert b"/Font" in pdf
    assert b"/Subtype /Image" not in pdf


@pytest.mark.parametrize("source", ["few", "many"])
@pytest.mark.parametrize("zoom", [1.0, 1.37, 3.3])
def test_maps_of_an_svg_have_no_seams(source: str, zoom: float) -> None:
    """All weights are alike here, so that within a map of small cells there must be one colour alone."""
    tokens = 6 if source == "few" else 200
    trace = attnlab.compute(Experiment(tuple("x" * tokens), np.zeros((tokens, 2))))
    spec = FigureSpec(width_mm=85, labels=False, title="", numbers="off", colour_bar=False)
    page = lay_out_page(trace, spec)
    image = rendered(encode_figure(trace, spec, ".svg"), round(page.width * zoom), round(page.height * zoom))
    grid = page.panels[0][2].layout.first
    left, top, width, height = (round(side * zoom) for side in grid.rect(0, None, None))
    inside = pixels(image)[top + 3 : top + height - 3, left + 3 : left + width - 3]
    allowed = {int(colour_map("sequential", LIGHT)[i]) for i in range(255)}
    if source == "many":
        assert len(np.unique(inside)) == 1
        assert int(inside[0, 0]) in allowed
    else:
        assert (inside & 0xFF).min() > 100  # nothing of the black ground


def test_vector_figures_are_transparent_white_between_maps() -> None:
    trace = attnlab.compute(draw_experiment(tuple(map(str, range(24))), 12, AttentionConfig(n_heads=12)))
    data = encode_figure(trace, FigureSpec(width_mm=85), ".svg")
    found = re.findall(rb'<image [^>]*xlink:href="data:image/png;base64,([^"]*)"', data)
    assert len(found) > 1
    for each in found:
        picture = QImage.fromData(b64decode(each)).convertToFormat(QImage.Format.Format_ARGB32)
        clear = pixels(picture)[pixels(picture) >> 24 == 0]
        assert clear.size
        assert set(np.unique(clear).tolist()) == {QColor(LIGHT.surface).rgb() & 0xFFFFFF}


def test_numbers_that_would_be_rounded_to_zeros_are_written_in_a_power_of_ten() -> None:
    e = attnlab.preset("journey")
    small = attnlab.compute(edits.with_table(e, "embeddings", e.embeddings * 1e-4))
    numbers = (small.array("scores")[0] * 1e8).ravel().tolist()
    written = texts(encode_figure(small, FigureSpec(("scores",)), ".svg"))
    assert "Scores × 10⁻⁸" in written
    assert {f"{number:.2f}" for number in numbers} <= set(written)
    assert "Weights" in texts(encode_figure(small, FigureSpec(("weights",)), ".svg"))
    titled = texts(encode_figure(small, FigureSpec(("scores", "queries"), title="Small"), ".svg"))
    assert {"Small", "Scores × 10⁻⁸", "6 × 6", "Queries × 10⁻⁴", "6 × 2"} <= set(titled)
    asked = texts(encode_figure(small, FigureSpec(("scores",), numbers="on", decimals=6), ".svg"))
    assert "Scores" in asked
    assert "0.000000" in asked


def test_an_exact_zero_differs_from_a_small_number_that_is_rounded_to_zeros() -> None:
    def write(first: float) -> list[str]:
        e = edits.fill(attnlab.preset("journey"), "W_v", "zeros")
        e = edits.set_block(e, "W_v", 0, 0, np.array([[first, 1.0]]))
        return texts(encode_figure(attnlab.compute(e), FigureSpec(("values",)), ".svg"))

    assert write(0.0).count("0.0000") == 0
    assert write(1e-6).count("0.0000") == 6
    assert write(0.0).count("0") - write(1e-6).count("0") == 6


def test_large_numbers_have_two_digits_where_these_fit() -> None:
    e = attnlab.preset("journey")
    large = attnlab.compute(edits.with_table(e, "embeddings", e.embeddings * 1e6))
    written = texts(encode_figure(large, FigureSpec(("scores",), width_mm=85), ".svg"))
    assert f"{float(large.array('scores')[0, 0, 0]):.1e}".replace("e+", "e") in written


def test_requested_decimals_of_a_gradient_are_those_of_its_power_of_ten() -> None:
    e = configure(attnlab.preset("the-cat-sat"), loss="weight", loss_query=1, loss_key=0, loss_wanted=0.4)
    trace = attnlab.compute(e)
    shown = make_map_data(trace, "d_scores", 0)
    assert shown.exponent
    written = texts(encode_figure(trace, FigureSpec(("d_scores",), decimals=3), ".svg"))
    assert {f"{value:.3f}".replace("-", "−") for value in (shown.values * shown.factor)[0, 1].tolist()} <= set(written)


@pytest.mark.parametrize(("preset", "rows"), [("the-cat-sat", "d_model"), ("cross-attention", "d_memory")])
def test_the_rows_of_w_k_are_those_of_a_second_sequence_only_if_there_is_one(preset: str, rows: str) -> None:
    trace = attnlab.compute(configure(attnlab.preset(preset), loss="weight"))
    (_, _, panel), *_ = lay_out_page(trace, FigureSpec(("d_W_k",))).panels
    assert panel.axes == (rows, "columns")
    assert table(trace, "d_W_k").axes == (rows, "key_columns")


def test_a_wide_colour_bar_labels_its_quarters() -> None:
    trace = trace_of("journey")
    limit = make_map_data(trace, "scores", 0).limit
    wide = texts(encode_figure(trace, FigureSpec(("weights",), width_mm=85, numbers="off"), ".svg"))
    assert {"0", "0.25", "0.5", "0.75", "1"} <= set(wide)
    signed = texts(encode_figure(trace, FigureSpec(("scores",), width_mm=85, numbers="off"), ".svg"))
    assert {f"−{limit / 2:.3g}", "0", f"{limit / 2:.3g}"} <= set(signed)
    narrow = texts(encode_figure(trace, FigureSpec(("scores",), width_mm=30, numbers="off"), ".svg"))
    assert f"{limit / 2:.3g}" not in narrow


def test_crowded_heads_are_not_all_numbered() -> None:
    trace = attnlab.compute(draw_experiment(("a", "b"), 120, AttentionConfig(n_heads=120)))
    data = encode_figure(trace, FigureSpec(width_mm=60, columns=60, labels=False, colour_bar=False, title=""), ".svg")
    numbers = [int(text) for text in texts(data) if text.isdecimal()]
    assert 8 < len(numbers) < 60
    assert len({b - a for a, b in pairwise(numbers[: len(numbers) // 2])}) == 1


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not there")
def test_text_in_a_pdf_can_be_searched_and_copied(tmp_path: Path) -> None:
    write_figure(tmp_path / "x.pdf", trace_of("random-4x8"), FigureSpec(stages=("scores",), decimals=2))
    command = ["pdftotext", "-layout", "x.pdf", "-"]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    scores = trace_of("random-4x8")["scores"][0]
    assert [word for word in text.split() if re.fullmatch(r"−?\d+\.\d\d", word)][: scores.numel()] == [
        f"{value:.2f}".replace("-", "−") for value in scores.flatten().tolist()
    ]
    assert "4×4" in text.replace(" ", "")


@pytest.mark.parametrize("ending", [".svg", ".pdf"])
def test_a_large_map_is_a_lossless_picture_of_every_cell(ending: str) -> None:
    trace = attnlab.compute(draw_experiment(tuple(map(str, range(512))), 4, AttentionConfig(causal=True)))
    data = encode_figure(trace, FigureSpec(width_mm=85), ending)
    assert b"DCTDecode" not in data
    if ending == ".svg":
        assert b"image-rendering:pixelated" in data
        sizes = re.findall(rb'<image [^>]*xlink:href="data:image/png;base64,([^"]*)"', data)
        assert len(sizes) == 1
        picture = QImage.fromData(b64decode(sizes[0]))
        assert picture.width() % 512 == 0
        assert picture.height() % 512 == 0
    assert len(data) < 1_000_000


@pytest.mark.parametrize("stage", attnlab.compute(attnlab.preset("multi-head-causal")).stages)
@pytest.mark.parametrize("head", [0, "all", "mean"])
def test_every_stage_can_be_drawn(stage: str, head: int | str) -> None:
    image = draw_figure(trace_of("multi-head-causal"), FigureSpec((stage,), head=head, dpi=96))
    assert image.width() > image.height() * 0.5 > 40
    assert coloured(image, QColor(LIGHT.surface).rgb()).mean() < 0.95


def test_tokens_with_characters_invalid_in_xml_give_a_valid_file() -> None:
    trace = attnlab.compute(draw_experiment(("a\x01b", "<i>&", "\ud800x", "\uffff", "]]>"), 2, AttentionConfig()))
    found = texts(encode_figure(trace, FigureSpec(title="a\x00 & <b>"), ".svg"))
    assert "<i>&" in found
    assert "]]>" in found


def test_figures_of_several_stages_and_of_the_canvas_are_complete() -> None:
    trace = trace_of("multi-head-causal")
    two = texts(encode_figure(trace, FigureSpec(("scores", "weights"), head=0), ".svg"))
    assert {"Scores", "Weights"} <= set(two)
    assert "Masked" not in two
    canvas = texts(encode_figure(trace, FigureSpec(canvas=True, head="mean", title="All of it"), ".svg"))
    assert {trace.stage(name).title for name in trace.all_stages} | {"All of it"} <= set(canvas)
    page = lay_out_page(trace, FigureSpec(canvas=True, head=0))
    places = [QRectF(x, y, *panel.size) for x, y, panel in page.panels]
    whole = QRectF(0, 0, page.width, page.height).adjusted(-1, -1, 1, 1)
    assert all(whole.contains(place) for place in places)
    shrunk = [place.adjusted(1, 1, -1, -1) for place in places]
    assert not any(a.intersects(b) for i, a in enumerate(shrunk) for b in shrunk[:i])


def test_omitted_parts_are_not_drawn() -> None:
    trace = trace_of("journey")
    bare = FigureSpec(labels=False, title="", numbers="off", colour_bar=False)
    assert texts(encode_figure(trace, bare, ".svg")) == []
    numbers = texts(encode_figure(trace, FigureSpec(labels=False, title="", colour_bar=False, decimals=1), ".svg"))
    assert len(numbers) == 36
    assert all(re.fullmatch(r"0\.[0-9]", text) for text in numbers)


def test_numbers_are_drawn_where_legible_and_smaller_ones_on_request() -> None:
    trace = trace_of("multi-head-8")
    plain = {"labels": False, "title": "", "colour_bar": False, "width_mm": 100.0}
    auto, on = (texts(encode_figure(trace, FigureSpec(numbers=n, **plain), ".svg")) for n in ("auto", "on"))  # type: ignore[arg-type]
    assert len(auto) == 8  # the captions alone
    assert len(on) == 8 + 800


def test_a_long_title_is_wrapped() -> None:
    title = "Where every token of a rather long sentence looks when it is asked what it is about " * 2
    svg = encode_figure(trace_of("journey"), FigureSpec(width_mm=60, title=title.strip()), ".svg")
    assert title.strip() in " ".join(texts(svg))


@pytest.mark.parametrize(
    "make",
    [
        lambda: draw_experiment(("x",), 1, AttentionConfig()),
        lambda: draw_experiment(("",) * 3, 2, AttentionConfig()),
        lambda: draw_experiment(
            ("Wort" * 100, "北京", "🦊", "שלום", "a\nb"), 4, AttentionConfig(n_heads=2, causal=True)
        ),
        lambda: draw_experiment(tuple(map(str, range(300))), 4, AttentionConfig(causal=True)),
        lambda: draw_experiment(("a", "b"), 64, AttentionConfig(n_heads=64)),
        lambda: Experiment(
            ("q",), [[1.0, 2.0]], memory_tokens=tuple("abcdefgh" * 40), memory_embeddings=np.ones((320, 2))
        ),
    ],
    ids=["1 token", "no words", "odd words", "300 tokens", "64 heads", "1 query, 320 keys"],
)
@pytest.mark.parametrize("stage", ["weights", "queries", "keys", "output"])
def test_extreme_sizes_and_tokens_can_be_drawn(make: Callable[[], Experiment], stage: str) -> None:
    trace = attnlab.compute(make())
    image = draw_figure(trace, FigureSpec((stage,), dpi=150, width_mm=120))
    assert image.width() == 709
    assert 60 < image.height() < 8000
    ET.fromstring(encode_figure(trace, FigureSpec((stage,), width_mm=120), ".svg"))


def test_masked_cells_and_infinities_are_drawn_without_a_warning() -> None:
    e = Experiment(("a", "b"), [[1e30, 0.0], [0.0, 1.0]], config=AttentionConfig(causal=True))
    trace = attnlab.compute(e)
    for stage in trace.stages:
        for ending in FIGURES:
            assert encode_figure(trace, FigureSpec((stage,), dpi=96, decimals=2), ending)


def test_the_hatching_stays_inside_the_masked_cells() -> None:
    svg = encode_figure(trace_of("causal-5x8"), FigureSpec(labels=False, title="", numbers="off"), ".svg")
    page = lay_out_page(trace_of("causal-5x8"), FigureSpec(labels=False, title="", numbers="off"))
    image = rendered(svg, round(page.width * 2), round(page.height * 2))
    grid = page.panels[0][2].layout.first
    places = np.argwhere(coloured(image, QColor(LIGHT.hatch).rgb())) / 2
    assert len(places)
    x, y, width, _ = grid.rect(0, None, None)
    assert places[:, 0].min() >= y
    assert places[:, 1].max() <= x + width
    below = (places[:, 0] - y) / grid.cell_height > (places[:, 1] - x) / grid.cell_width + 1
    assert not below.any()  # nothing in the allowed triangle


def test_all_heads_share_one_colour_scale() -> None:
    trace = trace_of("multi-head-8")
    limits = {make_map_data(trace, "scores", head).limit for head in (0, 5, "all", "mean")}
    assert limits == {float(np.abs(trace.array("scores")).max())}


def test_several_maps_have_their_heads_as_titles() -> None:
    trace = trace_of("multi-head-8")
    assert list(make_map_data(trace, "weights", "all").titles) == [f"head {i}" for i in range(8)]
    assert list(make_map_data(trace, "weights", 3).titles) == ["head 3"]
    assert list(make_map_data(trace, "weights", "mean").titles) == ["mean of 8 heads"]


def drawn_small(page: Page, scale: float) -> QImage:
    image = QImage(round(page.width * scale), round(page.height * scale), QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)  # the page may end within the last pixels
    painter = QPainter(image)
    painter.scale(scale, scale)
    draw_page(painter, page)
    painter.end()
    return image


def test_a_smaller_page_scales_the_file() -> None:
    page = lay_out_page(trace_of("multi-head-causal"), FigureSpec(dpi=300))
    small = drawn_small(page, 1.0)
    file = draw_figure(trace_of("multi-head-causal"), FigureSpec(dpi=300))
    blocks = QImage(file).scaled(
        small.size(), mode=__import__("PySide6.QtCore").QtCore.Qt.TransformationMode.SmoothTransformation
    )
    one, other = (pixels(image).view(np.uint8).astype(float) for image in (small, blocks))
    assert np.abs(one - other).mean() < 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"stages": ("masked",)}, "no stage 'masked'.*weights"),
        ({"stages": ()}, "figure needs a stage"),
        ({"head": 1}, "no head 1"),
        ({"dpi": 1_000_000}, "The resolution cannot be 1000000 dots per inch, only 30 to 2400"),
        ({"width_mm": 2e6}, "The width cannot be 2000000 mm, only 20 to 1000 mm"),
        ({"dpi": 29}, "The resolution cannot be 29 dots per inch, only 30 to 2400"),
        ({"dpi": 2401}, "2401 dots per inch"),
        ({"width_mm": 19.0}, "The width cannot be 19 mm"),
        ({"height_mm": 1001.0}, "The height cannot be 1001 mm"),
        ({"width_mm": float("nan")}, "nan mm"),
        ({"font_pt": 1.0}, "The type cannot have 1 points"),
        ({"decimals": 9}, "Numbers cannot have 9 decimals"),
        ({"decimals": 1.5}, "Numbers cannot have 1.5 decimals"),
        ({"columns": 2.5}, "A row cannot have 2.5 maps"),
        ({"numbers": "some"}, "Numbers cannot be 'some', only auto, on, off"),
        ({"colour_map": "jet"}, "The colour map cannot be 'jet', only attnlab, viridis"),
        ({"ground": "pink"}, "The ground cannot be 'pink'"),
        ({"columns": 0}, "A row cannot have 0 maps"),
        ({"width_mm": 20.0, "font_pt": 40.0}, "too small for its type"),
        ({"width_mm": 1000.0, "dpi": 2400}, "too large"),
    ],
    ids=str,
)
def test_an_impossible_figure_is_refused_in_a_sentence(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(AttnlabError, match=sentence):
        draw_figure(trace_of("journey"), FigureSpec(**arguments))  # type: ignore[arg-type]


def test_an_error_while_painting_ends_the_painter_before_its_picture() -> None:
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    kept = []

    def paint() -> None:
        with paint_on(image) as painter:
            kept.append(painter)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        paint()
    assert not kept[0].isActive()


def test_an_unknown_file_ending_is_refused() -> None:
    with pytest.raises(AttnlabError, match=r"'\.bmp'; it can be \.png, \.svg, \.pdf"):
        encode_figure(trace_of("journey"), FigureSpec(), ".bmp")


@pytest.mark.parametrize("ending", FIGURES)
def test_writing_a_figure_replaces_the_old_file_completely(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"f{ending}"
    path.write_bytes(b"old")
    write_figure(path, trace_of("journey"), FigureSpec(dpi=96))
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml", b"%PDF-")
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == [path.name]


@pytest.mark.parametrize("name", ["none/f.png", "folder.png"])
def test_a_path_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(FileError, match="cannot be written: "):
        write_figure(tmp_path / name, trace_of("journey"), FigureSpec(dpi=96))


def test_a_vector_has_no_rows_and_indices_are_lowered() -> None:
    e = edits.configure(attnlab.preset("the-cat-sat"), score="additive", loss="output")
    trace = attnlab.compute(edits.toggle_biases(e, True))
    vector = texts(encode_figure(trace, FigureSpec(("d_v_a",), numbers="off", colour_bar=False), ".svg"))
    assert vector[:2] == ["dv", "a"]
    assert "hidden" in vector
    assert "one" not in vector
    assert vector.count("0") == 1  # that of the first column
    bias = texts(encode_figure(trace, FigureSpec(("d_b_q",), numbers="off", colour_bar=False), ".svg"))
    assert "columns" in bias
    loss = texts(encode_figure(trace, FigureSpec(("loss",), numbers="off", colour_bar=False), ".svg"))
    assert loss == ["Loss", "1 × 1"]
    matrix = texts(encode_figure(trace, FigureSpec(("d_W_q",), numbers="off", colour_bar=False), ".svg"))
    assert {"dW", "q", "d", "model"} <= set(matrix)


@pytest.mark.parametrize(("title", "shown"), [(None, "Loss × 10⁻⁵"), ("So near", "So near × 10⁻⁵"), ("", "× 10⁻⁵")])
def test_a_small_number_keeps_its_power_of_ten_with_every_title(title: str | None, shown: str) -> None:
    e = attnlab.preset("the-cat-sat")
    weight = float(attnlab.compute(e, dtype="float64")["weights"][0, 2, 1])
    e = edits.configure(e, loss="weight", loss_query=2, loss_key=1, loss_wanted=weight - 0.005)
    drawn = texts(encode_figure(attnlab.compute(e), FigureSpec(("loss",), title=title, colour_bar=False), ".svg"))
    assert " ".join(drawn[0].split()) == shown
    assert "2.50" in drawn
