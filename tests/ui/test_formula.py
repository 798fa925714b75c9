"""Formulas are typeset, keep their proportions, take any colour, and are shown as text if invalid."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication

from attnlab.base import assets
from attnlab.ui.base.formula import draw_formula, formula_ascent, formula_pixmap, formula_size, is_typeset, typeset
from tools.make_formulas import list_formulas

pytestmark = pytest.mark.usefixtures("qapp")

GOOD = (
    r"Q = X W_q",
    r"\frac{Q K^{\top}}{\sqrt{d_k}}",
    r"\div \sqrt{2}",
    r"\mathrm{future} = {-\infty}",
    r"\sum_{j=1}^{T} e^{s_{ij}}",
    r"\begin{bmatrix} a & b \\ c & d\end{bmatrix}",
    r"d_{\mathrm{model}}",
    r"\mathrm{softmax}\left(\frac{QK^{\top}}{\sqrt{d_k}}\right) V",
    r"\begin{cases} 0 & j \le i \\ -\infty & j > i \end{cases}",
)
BROKEN = (r"\frac{1", "", "#$&", r"\left( x", "x_", r"\begin{nosuch} a", "{", "}", "a_b_c", r"\sqrt")


def _drawn(latex: str, colour: str = "#0072B2", max_width: float | None = None) -> tuple[QImage, float]:
    image = QImage(400, 120, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    width = draw_formula(painter, QPointF(4, 4), latex, 16, colour, max_width)
    painter.end()
    return image, width


def _inked(image: QImage) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the pixels that are not white."""
    places = [
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y) != QColor(Qt.GlobalColor.white)
    ]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    return min(xs), min(ys), max(xs), max(ys)


@pytest.mark.parametrize("latex", GOOD)
def test_a_formula_fills_its_reported_box(latex: str) -> None:
    assert is_typeset(latex)
    image, width = _drawn(latex)
    left, top, right, bottom = _inked(image)
    size = formula_size(latex, 16)
    assert width == pytest.approx(size.width())
    assert left == pytest.approx(4, abs=3)
    assert top == pytest.approx(4, abs=3)
    assert size.width() - 3 < right <= 5 + size.width()  # a thin space may follow the last sign
    assert bottom == pytest.approx(4 + size.height(), abs=3)


@pytest.mark.parametrize("latex", BROKEN)
def test_an_invalid_formula_is_shown_as_its_text(latex: str) -> None:
    image, width = _drawn(latex)
    if not is_typeset(latex) and latex:
        assert width > 4
        assert _inked(image)[2] <= 4 + width + 2


def test_the_test_has_invalid_formulas() -> None:
    assert not is_typeset(r"\frac{1")
    assert not is_typeset("")


def test_a_formula_has_the_given_colour() -> None:
    image, _ = _drawn("Q", "#D55E00")
    darkest = min((image.pixelColor(x, y) for x in range(40) for y in range(40)), key=lambda colour: colour.lightness())
    assert darkest.red() > darkest.green() > darkest.blue()
    assert darkest.red() == pytest.approx(0xD5, abs=25)


def test_a_wide_formula_is_scaled_to_fit() -> None:
    image, width = _drawn(GOOD[-2], max_width=60)
    assert width == pytest.approx(60)
    assert _inked(image)[2] <= 4 + 61


def test_formulas_can_share_a_baseline() -> None:
    image = QImage(300, 100, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    draw_formula(painter, QPointF(4, 60), "x", 16, "#000000", baseline=True)
    painter.end()
    assert _inked(image)[3] == pytest.approx(60, abs=1)
    assert formula_ascent(r"\frac{a}{b}", 16) > formula_ascent("x", 16)


def test_a_formula_is_sharp_on_a_high_resolution_screen() -> None:
    one, two = formula_pixmap("Q", 16, "#000000", 1), formula_pixmap("Q", 16, "#000000", 2)
    assert two.width() == pytest.approx(2 * one.width(), abs=2)
    assert two.devicePixelRatio() == 2


def test_a_formula_stays_a_vector_on_paper(tmp_path: Path, qapp: QApplication) -> None:
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    paper = QSvgGenerator()
    paper.setOutputDevice(buffer)
    painter = QPainter(paper)
    draw_formula(painter, QPointF(0, 0), r"\sqrt{d_k}", 16, "#000000")
    painter.end()
    svg = bytes(buffer.data().data())
    assert b"<path" in svg
    assert b"<image" not in svg


def test_the_formulas_of_the_presets_are_shipped_as_ziamath_sets_them() -> None:
    shipped = json.loads(assets.read_text("formulas.json"))
    assert {latex: typeset(latex) for latex in list_formulas()} == shipped, "python -m tools.make_formulas"
