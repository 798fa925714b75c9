"""The colours of a card: the menu of its scale, muted sinks, the sink's column, dropped and filled cells."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

import attnlab
from attnlab.attention.edits import with_setting
from attnlab.attention.edits.token_edits import resize_tokens
from attnlab.document.saved_view import SavedView, from_plain, to_plain
from attnlab.figures.map_painter import MapData
from attnlab.figures.scales import AUTOMATIC, SCALES, Colouring
from attnlab.figures.stage_data import SINK

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

LONG = 60


def shown(person: "Person", stage: str) -> MapData:
    data = person.card(stage).data
    assert data is not None
    return data


def open_menu(person: "Person", stage: str) -> QMenu:
    """Click on the colour bar of a card and return the menu."""
    card = person.card(stage)
    card.grab()
    assert not card.bar_rect.isEmpty()
    person.click(card, card.bar_rect.center().toPoint())
    menus = [each for each in person.playground.canvas.findChildren(QMenu) if each.isVisible()]
    assert len(menus) == 1
    return menus[0]


def choose(person: "Person", stage: str, title: str) -> None:
    menu = open_menu(person, stage)
    action = next(each for each in menu.actions() if each.text() == title)
    person.click(menu, menu.actionGeometry(action).center())
    person.settle()


def grow(person: "Person", tokens: int) -> None:
    person.document.edit(f"T = {tokens}", lambda e: resize_tokens(e, tokens))
    person.settle()


def test_the_menu_offers_every_scale_and_marks_the_current_one(person: "Person") -> None:
    titles = [each.text() for each in open_menu(person, "weights").actions() if each.isCheckable()]
    assert titles == [*SCALES.values(), "Mute sinks"]
    person.key(Qt_escape())
    choose(person, "weights", "Square root")
    checked = [each.text() for each in open_menu(person, "weights").actions() if each.isChecked()]
    assert checked == ["Square root"]
    person.key(Qt_escape())


def Qt_escape():  # noqa: ANN201, N802
    from PySide6.QtCore import Qt

    return Qt.Key.Key_Escape
