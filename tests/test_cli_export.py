"""``attnlab export``: figures and tables by the ending of the file."""

import csv
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

import attnlab
from attnlab.attention.edits.descent import choose_loss
from attnlab.cli.main import main

pytestmark = pytest.mark.usefixtures("qapp")


def export(source: str, path: Path, *arguments: str) -> Path:
    assert main(["export", source, "-o", str(path), *arguments]) == 0
    return path


def test_without_a_stage_the_weights_of_all_heads_are_exported(tmp_path: Path) -> None:
    array = np.load(export("preset:multi-head-8", tmp_path / "w.npy"))
    np.testing.assert_array_equal(array, attnlab.compute(attnlab.preset("multi-head-8")).array("weights"))


@pytest.mark.parametrize(("head", "shape"), [("all", (8, 10, 8)), ("3", (10, 8)), ("mean", (10, 8))])
def test_one_head_or_the_mean_drops_the_head_axis(head: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    path = export("preset:multi-head-8", tmp_path / "q.npy", "--stage", "queries", "--head", head)
    assert np.load(path).shape == shape


def test_float64_is_written_as_float64(tmp_path: Path) -> None:
    array = np.load(export("preset:journey", tmp_path / "w.npy", "--dtype", "float64"))
    np.testing.assert_array_equal(array, attnlab.compute(attnlab.preset("journey"), dtype="float64").array("weights"))
    assert array.dtype == np.float64


def test_csv_has_labels_and_empty_fields_for_masked_cells(tmp_path: Path) -> None:
    path = export("preset:causal-5x8", tmp_path / "m.csv", "--stage", "masked", "--head", "0")
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["query", "The", "cat", "sat", "on", "the"]
    assert rows[1][2:] == [""] * 4
    trace = attnlab.compute(attnlab.preset("causal-5x8"))
    assert np.float32(rows[3][2]) == trace.array("masked")[0, 2, 1]


@pytest.mark.parametrize(
    ("arguments", "width", "dpi"),
    [((), 1417, 300), (("--width", "80", "--dpi", "150"), 472, 150), (("--width", "25.4", "--dpi", "600"), 600, 600)],
)
def test_a_figure_has_the_requested_size(arguments: tuple[str, ...], width: int, dpi: int, tmp_path: Path) -> None:
    with Image.open(export("preset:journey", tmp_path / "w.png", *arguments)) as image:
        assert image.width == width
        assert image.format == "PNG"
        assert image.info["dpi"][0] == pytest.approx(dpi, rel=1e-3)


def test_vector_figures_have_the_requested_size_and_searchable_text(tmp_path: Path) -> None:
    path = export("preset:journey", tmp_path / "w.svg", "--width", "85", "--height", "80", "--title", "Where to look")
    root = ET.parse(path).getroot()
    assert (root.get("width"), root.get("height")) == ("85mm", "80mm")
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Where to look", "journey", "query"} <= set(texts)
    bare = export("preset:journey", path, "--no-labels", "--no-colour-bar", "--numbers", "off", "--title", "")
    assert list(ET.parse(bare).getroot().iter("{http://www.w3.org/2000/svg}text")) == []
    pdf = export("preset:journey", tmp_path / "w.pdf", "--width", "85").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"/Font" in pdf


def test_several_stages_or_the_canvas_make_one_figure(tmp_path: Path) -> None:
    def texts(*arguments: str) -> set[str | None]:
        path = export("preset:multi-head-causal", tmp_path / "w.svg", "--head", "mean", *arguments)
        return {element.text for element in ET.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")}

    assert {"Scores", "Weights"} <= texts("--stages", "scores, weights")
    assert {"Inputs", "Queries", "Masked", "Weights", "Output"} <= texts("--canvas", "--decimals", "1")


def test_background_and_colours_can_be_chosen(tmp_path: Path) -> None:
    with Image.open(export("preset:journey", tmp_path / "w.png", "--transparent")) as image:
        assert image.mode == "RGBA"
        assert image.getpixel((0, 0))[3] == 0
    with Image.open(export("preset:journey", tmp_path / "w.png", "--dark", "--colour-map", "viridis")) as image:
        assert image.convert("RGB").getpixel((0, 0)) == (0x1B, 0x1F, 0x26)
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 24)}
    end = np.array([0xFD, 0xE7, 0x25])  # of viridis, on the colour bar
    assert min(np.abs(np.array(colour) - end).sum() for colour in colours) < 9


def test_the_file_ending_may_be_in_capitals(tmp_path: Path) -> None:
    with Image.open(export("preset:journey", tmp_path / "W.PNG")) as image:
        assert image.format == "PNG"


def test_export_works_within_an_existing_application(tmp_path: Path) -> None:
    before = QApplication.instance()
    export("preset:journey", tmp_path / "w.png")
    assert QApplication.instance() is before


def test_an_old_file_is_replaced_only_by_a_complete_one(tmp_path: Path) -> None:
    path = tmp_path / "w.png"
    path.write_bytes(b"old")
    assert main(["export", "preset:journey", "-o", str(path), "--stage", "nope"]) == 2
    assert path.read_bytes() == b"old"
    export("preset:journey", path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["w.png"]


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("w.jpeg", (), "has no extension that attnlab can write; choose one of .png, .svg, .pdf, .csv"),
        ("w", (), "has no extension that attnlab can write"),
        ("none/w.png", (), "cannot be written: there is no folder"),
        ("none/w.csv", (), "cannot be written: there is no folder"),
        ("x" * 300 + ".npy", (), "cannot be written: File name too long"),
        ("x" * 300 + ".png", (), "cannot be written: "),
        ("folder.png", (), "cannot be written: it is a folder"),
        ("w.png", ("--head", "9"), "There is no head 9; there are heads 0 to 1"),
        ("w.png", ("--stage", "masked"), "There is no stage 'masked'"),
        ("w.csv", ("--stage", "masked"), "There is no stage 'masked'"),
        ("w.png", ("--dpi", "5"), "The resolution cannot be 5 dots per inch, only 30 to 2400"),
        ("w.png", ("--dpi", "many"), "--dpi"),
        ("w.png", ("--width", "0"), "The width cannot be 0 mm, only 20 to 1000 mm"),
        ("w.png", ("--width", "nan"), "The width cannot be nan mm"),
        ("w.png", ("--width", "1000", "--dpi", "2400"), "is too large"),
        ("w.svg", ("--height", "5"), "The height cannot be 5 mm, only 20 to 1000 mm"),
        ("w.pdf", ("--colour-map", "jet"), "The colour map cannot be 'jet', only attnlab, viridis"),
        ("w.pdf", ("--numbers", "some"), "Numbers cannot be 'some', only auto, on, off"),
        ("w.pdf", ("--font-size", "100"), "The type cannot have 100 points"),
        ("w.svg", ("--stages", "scores,nope"), "There is no stage 'nope'"),
        ("w.svg", ("--stages", ","), "A figure needs a stage"),
        ("w.svg", ("--stage", "keys", "--canvas"), "--stage, --stages and --canvas cannot be combined"),
        ("w.csv", ("--canvas",), "A table contains one stage"),
        ("w.png", ("--transparent", "--dark"), "--transparent and --dark both set the background"),
    ],
    ids=str,
)
def test_a_failed_export_is_reported_in_one_sentence_and_leaves_no_file(
    name: str, arguments: tuple[str, ...], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.png").mkdir()
    assert main(["export", "preset:uneven-heads", "-o", str(tmp_path / name), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnlab: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert [entry for entry in tmp_path.iterdir() if entry.is_file()] == []


def test_a_session_is_never_replaced_by_its_own_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.attnlab"
    attnlab.save(attnlab.preset("journey"), path)
    before = path.read_bytes()
    for sources, out in (([path], path), ([path, "preset:journey"], tmp_path / "{name}.attnlab")):
        assert main(["export", *map(str, sources), "-o", str(out), "--format", "png"]) == 2
        err = capsys.readouterr().err
        assert "mine.attnlab cannot be written: it is the source itself; choose another name." in err
        assert path.read_bytes() == before


def test_export_requires_an_output_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "preset:journey"]) == 2
    assert "-o" in capsys.readouterr().err


def test_the_title_of_a_jacobian_names_its_query(tmp_path: Path) -> None:
    e = choose_loss(attnlab.preset("the-cat-sat"), "weight", loss_query=1)
    attnlab.save(e, tmp_path / "loss.attnlab")
    svg = export(str(tmp_path / "loss.attnlab"), tmp_path / "j.svg", "--stage", "jacobian").read_text(encoding="utf-8")
    assert svg.count("Jacobian of “cat”") >= 3  # as text, in the title of the file and in its description
    assert "Jacobian<" not in svg
