"""Hand-outs on paper: blanks are empty, nothing is cut off, and oversized content is refused."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from attnlab.base.errors import AttnlabError
from attnlab.figures.exercise_sheet import Blanked, Sheet, SheetTable
from attnlab.figures.handout import (
    PAPERS,
    Formulas,
    HandoutWriter,
    draw_page_image,
    lay_out,
)

FORMULAS = Formulas(lambda latex, size: QSizeF(len(latex) * size / 2, size), lambda *_: 0.0)


def table(rows: int = 3, columns: int = 3, title: str = "Weights", **more: object) -> SheetTable:
    cells = tuple(tuple(f"0.{i}{j}" for j in range(columns)) for i in range(rows))
    names = tuple(f"token{i}" for i in range(rows)), tuple(f"key{i}" for i in range(columns))
    return SheetTable(title, *names, cells, **more)  # type: ignore[arg-type]


def sheet(student: str = "Ada", wanted: SheetTable | None = None, count: int = 2) -> Sheet:
    blanks = tuple(
        Blanked(chr(97 + i), f"starts → key{i}", "0.77", "<b>e</b><sup>2</sup> ÷ 3<br>= 0.77") for i in range(count)
    )
    boxes = {(1, 0): "a", (1, 1): "b"}
    default = table(boxes=boxes, masked=frozenset({(0, 2)}), secret=frozenset({(1, 2)}))
    given = (table(3, 2, "W_q"), table(4, 6, "X"))
    return Sheet(
        "Softmax <by hand>", student, ("Compute 2 numbers.",), (("Scores", "Q K"),), given, (wanted or default,), blanks
    )


def pdf(paper: str, *sheets: Sheet, solved: bool = False) -> bytes:
    writer = HandoutWriter(paper, "Softmax", FORMULAS)
    for each in sheets:
        writer.add(each, solved)
    return writer.finish()


def text_of(data: bytes, path: Path) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not there")
    (path / "x.pdf").write_bytes(data)
    command = ["pdftotext", "-layout", "x.pdf", "-"]
    return subprocess.run(command, cwd=path, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("paper", "points"), [("A4", (595, 842)), ("Letter", (612, 792))])
def test_each_student_has_a_page_of_the_paper_size(qtbot: QtBot, paper: str, points: tuple[int, int]) -> None:
    data = pdf(paper, sheet("Ada"), sheet("Bob"), sheet("Eve"))
    assert data.startswith(b"%PDF")
    boxes = re.findall(rb"/MediaBox \[\S+ \S+ (\S+) (\S+)\]", data)
    assert len(boxes) == 3
    assert all(abs(float(w) - points[0]) < 1.5 and abs(float(h) - points[1]) < 1.5 for w, h in boxes)


def test_text_is_searchable_and_blanks_are_empty(qtbot: QtBot, tmp_path: Path) -> None:
    text = text_of(pdf("A4", sheet("Ada Ünal")), tmp_path)
    for there in ("Softmax <by hand>", "Ada Ünal", "Given", "Wq", "token1", "0.22", "starts → key1", "1 of 1"):
        assert there in text
    weights = text.split("Weights")[1]
    for secret in ("0.10", "0.11", "0.12", "0.77"):
        assert secret not in weights, "a box, its row, and what is right"
    assert "answers" not in text


def test_the_answer_sheet_has_every_answer(qtbot: QtBot, tmp_path: Path) -> None:
    text = text_of(pdf("A4", sheet(), solved=True), tmp_path)
    weights = text.split("Weights")[1]
    for there in ("0.10", "0.11", "0.12", "0.77", "÷ 3", "= 0.77"):
        assert there in weights
    assert "Softmax <by hand> · answers" in text


@pytest.mark.parametrize("solved", [False, True])
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_nothing_overlaps_or_leaves_the_page(qtbot: QtBot, paper: str, solved: bool) -> None:
    pages = lay_out(sheet(count=26), paper, FORMULAS, solved)
    whole = QRectF(0, 0, PAPERS[paper].width(), PAPERS[paper].height())
    assert len(pages) > 1
    for page in pages:
        rects = [QRectF(at, block.size) for at, block in page.blocks]
        for i, rect in enumerate(rects):
            assert whole.contains(rect), rect
            assert not any(rect.intersects(other) for other in rects[:i])


def test_a_high_formula_stands_at_the_middle_of_the_others_in_its_line(qtbot: QtBot) -> None:
    formulas = Formulas(lambda latex, size: QSizeF(200, 400 if "frac" in latex else size), lambda *_: 0.0)
    shown = replace(sheet(), formulas=(("Scores", "Q K"), ("Weights", r"\frac{a}{b}"), ("Keys", "K")))
    blocks = lay_out(shown, "A4", formulas, solved=False)[0].blocks
    rects = [QRectF(at, block.size) for at, block in blocks if block.centred]
    assert len({rect.height() for rect in rects}) == 2
    assert len({rect.center().y() for rect in rects}) == 1


def test_a_sentence_has_subscripts(qtbot: QtBot, tmp_path: Path) -> None:
    shown = replace(sheet(), task=("Compute 2 numbers (d_model < 3, d_k = 2).",))
    text = re.sub(r"\s+", "", text_of(pdf("A4", shown), tmp_path))
    assert "d_" not in text
    assert "model" in text
    assert "<3" in text


@pytest.mark.parametrize("solved", [False, True])
def test_the_table_of_a_blank_has_a_subscript_and_its_tokens_have_none(
    qtbot: QtBot, solved: bool, tmp_path: Path
) -> None:
    shown = replace(sheet(), given=(), blanks=(Blanked("a", "x_i → key0", "0.77", "= 0.77", "dW_q"),))
    text = text_of(pdf("A4", shown, solved=solved), tmp_path)
    assert "dW" in text
    assert "dW_" not in text
    assert "x_i → key0" in text


def test_a_heading_is_never_the_last_line_of_a_page(qtbot: QtBot) -> None:
    for rows in range(3, 40):
        pages = lay_out(sheet(wanted=table(rows, 3)), "A4", FORMULAS, solved=False)
        assert not any(page.blocks[-1][1].with_next for page in pages)


def test_a_wide_table_is_scaled_down_and_one_too_wide_is_refused(qtbot: QtBot) -> None:
    (page,) = lay_out(sheet(wanted=table(3, 18)), "A4", FORMULAS, solved=False)
    assert all(at.x() + block.size.width() <= PAPERS["A4"].width() - 400 for at, block in page.blocks)
    with pytest.raises(AttnlabError, match="Weights has 3 rows and 64 columns, too many for the paper"):
        lay_out(sheet(wanted=table(3, 64)), "A4", FORMULAS, solved=False)
    writer = HandoutWriter("A4", "x", FORMULAS)
    with pytest.raises(AttnlabError):
        writer.add(sheet(wanted=table(3, 64)), solved=False)
    writer.finish()


def test_arithmetic_that_is_too_long_is_refused(qtbot: QtBot) -> None:
    long = Sheet("x", "", (), (), (), (table(),), (Blanked("a", "there", "1", "+ 1<br>" * 200),))
    with pytest.raises(AttnlabError, match="longer than a page"):
        lay_out(long, "A4", FORMULAS, solved=True)


def test_the_preview_is_the_page_at_the_requested_size(qtbot: QtBot) -> None:
    (page,) = lay_out(sheet(), "A4", FORMULAS, solved=False)
    image = draw_page_image(page, "A4", 300, 2.0)
    assert (image.width(), image.devicePixelRatio()) == (600, 2.0)
    assert abs(image.height() - 600 * 8419 / 5953) <= 1
    grey = image.convertToFormat(QImage.Format.Format_Grayscale8)
    pixels = np.frombuffer(grey.constBits(), np.uint8).reshape(grey.height(), -1)[:, : grey.width()]
    assert (pixels < 128).mean() > 0.002, "something is drawn"
    for edge in (pixels[:30], pixels[-20:], pixels[:, :30], pixels[:, -30:]):
        assert (edge > 250).all(), "nothing at the edges"
