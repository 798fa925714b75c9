"""Widgets know their palette, wherever they are, and are restyled once per change."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFrame,
    QGraphicsScene,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK, LIGHT, PALETTES, Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import apply_theme, font, scale
from attnlab.ui.base.themed import FollowsTheme, application_palette, dress, palette_of, set_role

EVERY_PALETTE = pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """The application in the light theme; its style is restored afterwards."""
    before = qapp.palette(), qapp.font(), qapp.styleSheet()
    apply_theme(qapp, "light", 100)
    yield qapp
    qapp.styleHints().setColorScheme(Qt.ColorScheme.Unknown)
    qapp.setStyleSheet(before[2])
    qapp.setPalette(before[0])
    qapp.setFont(before[1])


@guarded
class Tile(FollowsTheme, QWidget):
    """Counts how often it is restyled, and paints the surface."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedSize(60, 40)
        self.label = QLabel("tile", self)
        self.seen: list[tuple[str, float]] = []

    def restyle(self) -> None:
        self.seen.append((palette_of(self).name, scale()))
        self.label.setFont(font("title"))
        self.setStyleSheet(f"Tile {{ border: 1px solid {palette_of(self).hairline} }}")  # sends a change of style

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(palette_of(self).surface))
        painter.end()


def window_of(qtbot: QtBot, *parts: QWidget, named: str = "") -> QWidget:
    window = QWidget()
    window.setObjectName(named)
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    for part in parts:
        column.addWidget(part)
    return window


def test_without_a_theme_widgets_are_light(qapp: QApplication, qtbot: QtBot) -> None:
    assert application_palette() is LIGHT
    assert palette_of(window_of(qtbot)) is LIGHT


@EVERY_PALETTE
def test_style_sheets_do_not_hide_the_palette(app: QApplication, qtbot: QtBot, palette: Palette) -> None:
    styled, disabled, field, button, tool = (
        QLabel("a"),
        QPushButton("b"),
        QLineEdit("c"),
        QPushButton("d"),
        QToolButton(),
    )
    styled.setStyleSheet("color: #123456; background: #654321; border: 1px solid #111111; selection-color: red")
    disabled.setEnabled(False)
    field.setProperty("wrong", True)
    button.setProperty("primary", True)
    tool.setProperty("rail", True)
    parts = styled, disabled, field, button, tool
    window = window_of(qtbot, *parts)
    window.setProperty("ground", "surface")
    apply_theme(app, palette.name, 100)
    assert {palette_of(widget) for widget in (window, *parts)} == {palette}  # not yet shown
    window.show()
    assert {palette_of(widget) for widget in (window, *parts)} == {palette}


@EVERY_PALETTE
def test_a_widget_made_after_a_change_has_the_new_palette(app: QApplication, qtbot: QtBot, palette: Palette) -> None:
    apply_theme(app, palette.name, 100)
    window = window_of(qtbot)
    dialog = QDialog(window)
    popup = QFrame(dialog, Qt.WindowType.Popup)
    assert palette_of(Tile(popup)) is palette_of(popup) is palette_of(dialog) is palette


@EVERY_PALETTE
def test_a_widget_with_its_own_palette_and_its_children_keep_it(
    app: QApplication, qtbot: QtBot, palette: Palette
) -> None:
    inner = Tile()
    window = window_of(qtbot, QFrame(), inner, named="dressed")
    window.show()
    dress(window, palette)
    for theme in PALETTES:
        apply_theme(app, theme, 100)
        popup = QFrame(inner, Qt.WindowType.Popup)
        assert palette_of(window) is palette_of(inner) is palette_of(inner.label) is palette_of(popup) is palette
        assert inner.grab().toImage().pixelColor(3, 36) == QColor(palette.surface)
        assert palette_of(window_of(qtbot)) is PALETTES[theme]
    assert inner.seen[-1] == (palette.name, 1.0)


def test_a_widget_with_its_own_palette_keeps_it_in_a_scene(app: QApplication) -> None:
    scene, tile = QGraphicsScene(), Tile()
    dress(tile, DARK)
    scene.addWidget(tile)
    assert palette_of(tile.label) is DARK
    scene.clear()


def test_a_widget_added_to_a_themed_parent_is_restyled(app: QApplication, qtbot: QtBot) -> None:
    window = window_of(qtbot, named="dressed")
    dress(window, DARK)
    box = window_of(qtbot, tile := Tile())
    assert tile.seen == [("light", 1.0)]
    layout = window.layout()
    assert layout is not None
    layout.addWidget(box)
    assert tile.seen[-1] == ("dark", 1.0)
    box.setParent(None)
    assert tile.seen[-1] == ("light", 1.0)


def test_each_change_restyles_once(app: QApplication, qtbot: QtBot) -> None:
    tiles = [Tile(), Tile()]  # one shown, one never shown
    window = window_of(qtbot, tiles[0])
    window.show()
    qtbot.addWidget(tiles[1])
    for tile in tiles:
        tile.seen.clear()
    for choice, size in (("dark", 100), ("dark", 150), ("dark", 150), ("contrast-light", 120)):
        apply_theme(app, choice, size)
    assert tiles[0].seen == tiles[1].seen == [("dark", 1.0), ("dark", 20 / 13), ("contrast-light", 16 / 13)]
    assert tiles[0].label.font().pixelSize() == 16


@pytest.mark.parametrize(("role", "colour"), [("muted", DARK.muted), ("error", DARK.bad), ("good", DARK.good)])
def test_a_role_colours_a_label_and_can_be_changed(app: QApplication, qtbot: QtBot, role: str, colour: str) -> None:
    label = QLabel("a sentence")
    window = window_of(qtbot, label)
    window.show()
    set_role(label, "muted")
    apply_theme(app, "dark", 100)
    set_role(label, role)
    assert label.palette().windowText().color() == QColor(colour)
    set_role(label, "")
    assert label.palette().windowText().color() == QColor(DARK.ink)
