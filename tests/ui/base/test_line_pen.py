"""The pen of one font: widths as Qt measures them, texts shortened in the middle, type that follows its size."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication

from attnlab.ui.base.line_pen import find_pen
from attnlab.ui.base.theme import apply_theme, font

NUMBERS = st.floats(-1e6, 1e6).map(lambda value: f"{value:.4f}".replace("-", "−"))


@pytest.fixture(scope="module")
def app(qapp: QApplication) -> Iterator[QApplication]:
    apply_theme(qapp, "light", 100)
    yield qapp
    apply_theme(qapp, "light", 100)


@pytest.mark.usefixtures("app")
@given(NUMBERS)
def test_a_number_is_as_wide_as_qt_measures_it(text: str) -> None:
    for role in ("map", "map_strong"):
        width = QFontMetricsF(font(role)).horizontalAdvance(text)
        assert find_pen(role).measure(text) == pytest.approx(width, abs=0.01)


@pytest.mark.usefixtures("app")
def test_a_long_text_is_shortened_in_the_middle_and_fits() -> None:
    pen, text = find_pen("map"), "Donaudampfschifffahrtsgesellschaft"
    shown = pen.elide(text, 80)
    assert "…" in shown
    assert (shown[0], shown[-1]) == ("D", "t")
    assert pen.measure(shown) <= 80
    assert pen.elide(text, 1000) == text


def test_pens_and_fonts_follow_the_size_of_type(app: QApplication) -> None:
    usual = find_pen("map").measure("0.1234")
    apply_theme(app, "light", 200)
    assert font("map").pixelSize() == 24
    assert find_pen("map").measure("0.1234") == pytest.approx(2 * usual, rel=0.02)
    apply_theme(app, "light", 100)
    assert find_pen("map").measure("0.1234") == usual
