"""Figures of given arrays show their title, tokens and heads."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import attnlab
from attnlab.base.errors import AttnlabError
from attnlab.figures.mask_data import make_mask_sheets
from attnlab.figures.panels.figure_file import draw_figure, encode_figure
from attnlab.figures.panels.figure_page import lay_out_page
from attnlab.figures.panels.figure_panel import make_map_data
from attnlab.figures.panels.figure_source import Sheet, Sheets, count_heads
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.scales import Scale

pytestmark = pytest.mark.usefixtures("qapp")
ROWS, COLUMNS = ("das", "Haus", "."), ("the", "house")
VALUES = np.linspace(0, 1, 12, dtype=np.float32).reshape(2, 3, 2)
SHEETS = Sheets(
    (Sheet("first", "First layer", VALUES, ROWS, COLUMNS), Sheet("second", "Second layer", VALUES[:1], ROWS, COLUMNS)),
    "Translating, step 12",
    "Layers",
)


def texts(spec: FigureSpec) -> list[str]:
    root = ET.fromstring(encode_figure(SHEETS, spec, ".svg"))
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_heading_layers_heads_and_tokens_are_written() -> None:
    written = texts(FigureSpec(("first", "second"), numbers="off"))
    assert written[0] == "Translating, step 12"
    assert {"First layer", "Second layer", "head 0", "head 1", *ROWS, *COLUMNS, "query", "key"} <= set(written)


def test_a_custom_title_replaces_the_heading_and_an_empty_one_removes_it() -> None:
    assert "Mine" in texts(FigureSpec(("first",), title="Mine"))
    assert not {"Translating, step 12", "First layer"} & set(texts(FigureSpec(("first",), title="Mine")))
    assert not {"Translating, step 12", "First layer"} & set(texts(FigureSpec(("first",), title="")))


def test_one_head_the_mean_and_a_single_map_can_be_drawn() -> None:
    for head in (0, 1):
        np.testing.assert_array_equal(make_map_data(SHEETS, "first", head).values, VALUES[head : head + 1])
    np.testing.assert_allclose(make_map_data(SHEETS, "first", "mean").values[0], VALUES.mean(0), rtol=1e-6)
    np.testing.assert_array_equal(
        make_map_data(SHEETS, "second", 1).values, VALUES[:1]
    )  # which has no heads to choose from
    assert count_heads(SHEETS) == 2
    assert "head 1" in texts(FigureSpec(("first",), head=1))
    with pytest.raises(AttnlabError, match=re.escape("There is no head 2; there are heads 0 to 1, all and mean.")):
        make_map_data(SHEETS, "first", 2)


def test_an_absent_layer_or_head_is_refused_in_a_sentence() -> None:
    with pytest.raises(AttnlabError, match="There is no stage 'third' in this configuration; there are first, second"):
        lay_out_page(SHEETS, FigureSpec(("third",)))
    with pytest.raises(AttnlabError, match="These maps have no canvas; choose the maps"):
        lay_out_page(SHEETS, FigureSpec((), canvas=True))


def test_the_figure_has_the_requested_size_and_is_wide_for_several_heads() -> None:
    image = draw_figure(SHEETS, FigureSpec(("first",), width_mm=50.8, height_mm=50.8, dpi=100))
    assert (image.width(), image.height()) == (200, 200)
    assert lay_out_page(SHEETS, FigureSpec(("first",))).size_mm[0] == pytest.approx(170)
    assert lay_out_page(SHEETS, FigureSpec(("second",))).size_mm[0] == pytest.approx(120)


def test_the_heading_is_part_of_the_description() -> None:
    root = ET.fromstring(encode_figure(SHEETS, FigureSpec(("first",), head=0), ".svg"))
    title, about = (root.findtext(f"{{http://www.w3.org/2000/svg}}{name}") for name in ("title", "desc"))
    assert title == "Translating, step 12: First layer"
    assert about == "Maps drawn by attnlab: First layer head 0 (3 × 2)."


def test_maps_in_several_rows_have_their_own_numbers_and_titles() -> None:
    values = np.arange(1, 13, dtype=np.float32).reshape(6, 1, 2) / 16
    sheets = Sheets((Sheet("only", "Only", values, ("a",), ("b", "c")),), "Six", "Six")
    root = ET.fromstring(encode_figure(sheets, FigureSpec(("only",), columns=2, numbers="on", decimals=4), ".svg"))
    written = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(text for text in written if text.startswith("head ")) == [f"head {i}" for i in range(6)]
    numbers = [text for text in written if re.fullmatch(r"0\.\d{4}", text)]
    assert sorted(numbers) == [f"{value:.4f}" for value in values.flatten()]


def test_masked_cells_of_a_figure_have_no_numbers() -> None:
    values = np.arange(1, 10, dtype=np.float32).reshape(1, 3, 3) / 16
    mask = np.triu(np.ones((3, 3), bool), 1)
    sheets = Sheets((Sheet("only", "Only", values, "abc", "def", mask),))
    root = ET.fromstring(encode_figure(sheets, FigureSpec(("only",), numbers="on", decimals=4), ".svg"))
    written = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    numbers = [text for text in written if re.fullmatch(r"0\.\d{4}", text)]
    assert sorted(numbers) == [f"{value:.4f}" for value in values[0][~mask]]


@pytest.mark.parametrize(
    ("width", "columns", "lines"), [(170, None, (3,)), (120, None, (3,)), (85, None, (2, 1)), (170, 1, (1, 1, 1))]
)
def test_the_masks_of_an_encoder_and_a_decoder_stand_side_by_side(
    width: float, columns: int | None, lines: tuple[int, ...]
) -> None:
    source, target = ("The", "house", "is", "very", "large", "."), ("Das", "Haus", ".")
    e = attnlab.Experiment(
        target, np.ones((3, 2)), attnlab.Weights(), memory_tokens=source, memory_embeddings=np.ones((6, 2))
    )
    sheets = make_mask_sheets(e)
    for height in (None, 100.0):
        page = lay_out_page(sheets, FigureSpec(sheets.all_stages, width_mm=width, height_mm=height, columns=columns))
        tops = [y + panel.layout.top for _, y, panel in page.panels]
        assert tuple(tops.count(top) for top in sorted(set(tops))) == lines
        assert max(y + panel.layout.bottom for _, y, panel in page.panels) < page.height
        assert max(x + panel.layout.right for x, _, panel in page.panels) < page.width
        if lines == (3,):
            grids = [panel.layout.first for _, _, panel in page.panels]
            assert len({(grid.cell_width, grid.cell_height, grid.label_height) for grid in grids}) == 1
            starts = [y + panel.layout.first.y for _, y, panel in page.panels]
            assert max(starts) - min(starts) < 0.5  # the same line but for dots


def test_long_texts_do_not_make_the_masks_of_a_figure_higher_than_a_page() -> None:
    tokens = tuple(f"word{i}" for i in range(60))
    e = attnlab.Experiment(
        tokens, np.ones((60, 2)), attnlab.Weights(), memory_tokens=tokens, memory_embeddings=np.ones((60, 2))
    )
    sheets = make_mask_sheets(e)
    assert lay_out_page(sheets, FigureSpec(sheets.all_stages, width_mm=170)).size_mm[1] < 100


@pytest.mark.parametrize("decimals", [None, 1])
def test_the_numbers_of_all_lines_of_maps_have_one_format(decimals: int | None) -> None:
    values = np.stack([np.full((3, 9), 0.5), np.full((3, 9), -14.25)]).astype(np.float32)
    sheets = Sheets((Sheet("scores", "Scores", values, ROWS, "abcdefghi", kind="signed", scale=Scale(15.0)),))
    svg = encode_figure(sheets, FigureSpec(("scores",), width_mm=85, columns=1, decimals=decimals), ".svg").decode()
    formats = {}
    for size, text in re.findall(r'font-size="([^"]+)"[^>]*>([^<>]+)</text>', svg):
        if re.fullmatch(r"(0|−14)?\.\d+", text):
            formats.setdefault("14" in text, set()).add((size, len(text.partition(".")[2])))
    assert set(formats) == {False, True}
    assert formats[False] == formats[True]


def test_layers_on_one_scale_have_numbers_of_one_format() -> None:
    values = np.full((2, 4, 3, 3), 0.25, np.float32)
    values[0, 0, 0] = (1, 0.125, 0.125)  # “1.00” has no room, “.25” would have
    labels = ("Your", "journey", "starts")
    layers = [Sheet(f"{i}", f"Layer {i}", each, labels, labels) for i, each in enumerate(values)]
    spec = FigureSpec(("0", "1"), width_mm=85, colour_bar=False)
    written = re.findall(r">([^<>]+)</text>", encode_figure(Sheets(tuple(layers), shared=True), spec, ".svg").decode())
    assert len({len(text.partition(".")[2]) for text in written if re.fullmatch(r"\d?\.\d+", text)}) == 1


def test_labels_of_white_space_are_marks() -> None:
    tokens = ("a", " ", "\n", "b")
    values = np.full((1, 4, 4), 0.25, np.float32)
    svg = encode_figure(Sheets((Sheet("only", "Only", values, tokens, tokens),)), FigureSpec(("only",)), ".svg")
    written = re.findall(r">([^<>]+)</text>", svg.decode())
    assert [written.count(mark) for mark in "a␣↵b"] == [2] * 4
