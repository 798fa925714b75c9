"""The backgrounds of cards: each can be told from the canvas in every theme."""

from collections.abc import Callable

import pytest
from PySide6.QtGui import QColor

from attnlab.document.settings import Settings
from attnlab.figures.palette import PALETTES
from attnlab.ui.widgets.surface import Surface
from tests.ui.conftest import Person


@pytest.mark.parametrize("theme", PALETTES)
def test_a_card_ends_where_one_sees_it(theme: str, sit_down: Callable[..., Person]) -> None:
    person, palette = sit_down(settings=Settings(theme=theme)), PALETTES[theme]
    card = person.card("scores")
    picture = card.grab().toImage()
    edge = QColor(picture.pixel(0, picture.height() // 2)).name().upper()
    assert edge == (palette.hairline if palette.surface == palette.ground else palette.surface)
    assert edge != palette.ground
    surface = Surface(person.window)
    surface.resize(60, 60)
    drawn = surface.grab().toImage()
    assert QColor(drawn.pixel(0, 30)).name().upper() == edge
    assert QColor(drawn.pixel(30, 30)).name().upper() == palette.surface
