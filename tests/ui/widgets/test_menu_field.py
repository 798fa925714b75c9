"""A button that opens a menu among the lists of a form."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QComboBox, QMenu, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.base import theme
from attnlab.ui.widgets.fields.menu_field import MenuField


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """The application with the light theme, which is removed afterwards."""
    before = qapp.palette(), qapp.font(), qapp.styleSheet()
    theme.apply_theme(qapp, "light", 175)
    yield qapp
    qapp.setStyleSheet(before[2])
    qapp.setPalette(before[0])
    qapp.setFont(before[1])


def test_its_text_begins_where_that_of_a_list_does(app: QApplication, qtbot: QtBot) -> None:
    field, below = MenuField("Hidden"), QComboBox()
    field.setMenu(QMenu(field))
    below.addItem("Hidden")
    starts = []
    for widget in (field, below):
        qtbot.addWidget(widget)
        widget.resize(400, 44)
        starts.append(_find_first_ink(widget))
    assert abs(starts[0] - starts[1]) <= 1


def _find_first_ink(widget: QWidget) -> int:
    image = widget.grab().toImage()
    middle = range(image.height() // 3, 2 * image.height() // 3)
    return min(x for x in range(4, image.width()) for y in middle if QColor(image.pixel(x, y)).lightness() < 90)
