"""The edge of a card can be seen in every theme."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from attnlab.document.settings import Settings
from attnlab.figures.palette import PALETTES, Palette, compute_contrast
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

EACH = pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)


def find_edge(picture: QImage) -> str:
    """Return the colour in the middle of the left edge."""
    return picture.pixelColor(QPoint(0, picture.height() // 2)).name().upper()


@EACH
def test_a_card_differs_from_the_ground_or_has_an_edge(qtbot: QtBot, palette: Palette) -> None:
    card = Surface()
    qtbot.addWidget(card)
    dress(card, palette)
    card.resize(120, 80)
    edge = find_edge(card.grab().toImage())
    assert edge == (palette.hairline if palette.surface == palette.ground else palette.surface)
    assert palette.surface != palette.ground or compute_contrast(edge, palette.ground) >= 3


def test_a_surface_on_a_card_hides_no_edge(qtbot: QtBot) -> None:
    card = Surface()
    inside = Surface(card)
    qtbot.addWidget(card)
    dress(card, PALETTES["contrast-dark"])
    card.resize(120, 80)
    inside.setGeometry(card.rect())
    assert find_edge(card.grab().toImage()) == PALETTES["contrast-dark"].hairline


@pytest.mark.parametrize("theme", ["contrast-light", "contrast-dark"])
def test_cards_of_the_canvas_have_an_edge_in_high_contrast(sit_down: "Callable[..., Person]", theme: str) -> None:
    person = sit_down(settings=Settings(theme=theme))
    card = person.card("weights")
    assert find_edge(card.grab().toImage()) == PALETTES[theme].hairline
    card.setFocus()
    assert find_edge(card.grab().toImage()) == PALETTES[theme].accent
