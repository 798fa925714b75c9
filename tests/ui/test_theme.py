"""Both themes are legible, type has the chosen size, and the style sheet is complete."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QIcon, QImage, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from attnlab.base import assets
from attnlab.base.errors import FileError
from attnlab.figures.palette import DARK, LIGHT, PALETTES, compute_contrast, mix
from attnlab.ui.base import theme
from attnlab.ui.base.icons import icon, pixmap


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """The application, whose theme is removed afterwards."""
    before = qapp.palette(), qapp.font(), qapp.styleSheet()
    yield qapp
    qapp.styleHints().setColorScheme(Qt.ColorScheme.Unknown)
    qapp.setStyleSheet(before[2])
    qapp.setPalette(before[0])
    qapp.setFont(before[1])


GROUNDS = ("ground", "surface", "control")
TEXTS = ("ink", "muted", "accent", "good", "bad", "query_ink", "key_ink", "value_ink", "attention_ink")


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda p: p.name)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_every_text_has_enough_contrast_on_every_background(text: str, ground: str, palette: theme.Palette) -> None:
    assert compute_contrast(getattr(palette, text), getattr(palette, ground)) >= 4.5


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda p: p.name)
def test_text_on_filled_controls_has_enough_contrast(palette: theme.Palette) -> None:
    assert compute_contrast(palette.on_accent, palette.accent) >= 4.5
    assert (
        compute_contrast(palette.on_accent, mix(palette.accent, palette.ink, 0.15)) >= 4.5
    )  # a primary button, hovered
    assert compute_contrast(palette.ink, mix(palette.control, palette.ink, 0.06)) >= 4.5  # a pill, hovered
    assert compute_contrast(palette.muted, mix(palette.control, palette.ink, 0.06)) >= 4.3
    soft = mix(palette.surface, palette.accent, 0.07)  # the card of the first steps
    assert min(compute_contrast(text, soft) for text in (palette.ink, palette.muted)) >= 4.5
    for role in ("query", "key", "value", "attention"):  # chips
        fill = palette.role_ink(role)
        assert compute_contrast(theme.text_on(fill), fill) >= 4.5


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda p: p.name)
def test_the_focus_ring_has_enough_contrast(palette: theme.Palette) -> None:
    for ground in GROUNDS:
        assert compute_contrast(palette.accent, getattr(palette, ground)) >= 3


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda p: p.name)
def test_pale_bars_can_be_seen_and_told_from_the_others(palette: theme.Palette) -> None:
    for colour in (palette.query, palette.key, palette.value, palette.attention, palette.muted):
        pale = palette.make_paler(colour)
        assert compute_contrast(pale, palette.surface) >= (3 if palette.card_edge else 1.5)
        assert compute_contrast(pale, colour) >= 1.5


@pytest.mark.parametrize(("choice", "expected"), [("light", LIGHT), ("dark", DARK)])
def test_a_theme_applies_to_the_whole_application(app: QApplication, choice: str, expected: theme.Palette) -> None:
    assert theme.apply_theme(app, choice, 100) is expected
    assert app.palette().color(QPalette.ColorRole.Window) == QColor(expected.ground)
    assert expected.accent in app.styleSheet()
    app.setStyleSheet("")
    assert app.style().name() == "fusion"


@pytest.mark.parametrize(
    ("choice", "system", "expected"),
    [
        ("system", Qt.ColorScheme.Dark, DARK),
        ("system", Qt.ColorScheme.Light, LIGHT),
        ("system", Qt.ColorScheme.Unknown, LIGHT),
        ("light", Qt.ColorScheme.Dark, LIGHT),
        ("dark", Qt.ColorScheme.Light, DARK),
    ],
)
def test_only_the_system_theme_follows_the_system(choice: str, system: Qt.ColorScheme, expected: theme.Palette) -> None:
    assert theme.palette_for(choice, system) is expected


def test_the_style_sheet_is_filled_and_valid(app: QApplication, qtbot: QtBot) -> None:
    for palette in PALETTES.values():
        assert "@" not in theme.style_sheet(palette).replace("at sign", "")
    theme.apply_theme(app, "light", 100)
    button = QPushButton("Export")
    qtbot.addWidget(button)
    button.show()  # an unreadable style sheet is a warning of Qt's, which fails the test


def test_arrows_and_boxes_of_controls_grow_with_the_type() -> None:
    sized = re.compile(r"^([^{]*(?:arrow|indicator)[^{]*) \{.*?\bwidth: (\d+)px", re.MULTILINE)
    small, large = (dict(sized.findall(theme.style_sheet(DARK, size))) for size in (100, 200))
    assert "QComboBox::down-arrow" in small
    assert {name: 2 * int(width) for name, width in small.items()} == {name: int(w) for name, w in large.items()}


def test_a_focused_field_has_the_accent_colour(app: QApplication, qtbot: QtBot) -> None:
    theme.apply_theme(app, "light", 100)
    field = QLineEdit()
    qtbot.addWidget(field)
    field.resize(120, 36)
    field.show()
    assert _has(field.grab().toImage(), LIGHT.accent) is False
    field.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    assert _has(field.grab().toImage(), LIGHT.accent)


def test_a_checked_box_that_is_disabled_loses_the_accent_colour(app: QApplication, qtbot: QtBot) -> None:
    theme.apply_theme(app, "light", 100)
    box = QCheckBox("Labels")
    box.setChecked(True)
    qtbot.addWidget(box)
    box.show()
    assert _has(box.grab().toImage(), LIGHT.accent)
    box.setEnabled(False)
    assert _has(box.grab().toImage(), LIGHT.accent) is False


def _has(image: QImage, colour: str) -> bool:
    wanted = QColor(colour).rgb()
    return any(image.pixel(x, y) == wanted for x in range(image.width()) for y in range(image.height()))


def test_the_program_ships_its_typeface(app: QApplication) -> None:
    theme.apply_theme(app, "light", 100)
    assert QFontInfo(theme.font("text")).family() == "Inter"
    before = theme.load_fonts()
    assert theme.load_fonts() == before


@pytest.mark.parametrize("role", theme.ROLES)
def test_digits_are_tabular_in_every_role(app: QApplication, role: str) -> None:
    theme.apply_theme(app, "light", 100)
    metrics = QFontMetricsF(theme.font(role))
    assert metrics.horizontalAdvance("1111") == metrics.horizontalAdvance("0000")


@pytest.mark.parametrize(
    ("size", "text_px", "caption_px"),
    [(100, 13, 11), (200, 26, 22), (70, 9, 8), (250, 32, 27), (10, 9, 8), (900, 32, 27)],
)
def test_type_follows_the_chosen_size(app: QApplication, size: int, text_px: int, caption_px: int) -> None:
    theme.apply_theme(app, "light", size)
    assert app.font().pixelSize() == text_px
    assert theme.font("text").pixelSize() == text_px
    assert theme.font("caption").pixelSize() == pytest.approx(caption_px, abs=1)
    assert theme.font("text", 2).pixelSize() == pytest.approx(2 * text_px, abs=1)


def test_an_unknown_role_is_refused(app: QApplication) -> None:
    with pytest.raises(KeyError):
        theme.font("headline")


@pytest.mark.parametrize(
    "name", [n[6:-4] for n in assets.names("icons") if not n.endswith(("attnlab.svg", "chevron.svg", "chevron-up.svg"))]
)
def test_every_icon_draws_in_the_given_colour(qapp: QApplication, name: str) -> None:
    image = pixmap(name, "#FF0000", 20, 2).toImage()
    assert image.width() == 40
    seen = {
        image.pixelColor(x, y).name() for x in range(40) for y in range(40) if image.pixelColor(x, y).alpha() == 255
    }
    assert seen
    if not name.startswith("tick"):
        assert seen == {"#ff0000"}


def test_an_icon_is_accent_coloured_when_on(qapp: QApplication) -> None:
    on = icon("stop", DARK, 48).pixmap(48, QIcon.Mode.Normal, QIcon.State.On).toImage()
    assert any(on.pixelColor(x, y) == QColor(DARK.accent) for x in range(48) for y in range(48))


def test_an_unknown_icon_is_refused(qapp: QApplication) -> None:
    with pytest.raises(FileError, match="no-such"):
        icon("no-such", LIGHT)


class StyleChanges(QObject):
    """Counts the style changes of a widget."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.StyleChange
        return False


def test_a_change_of_theme_or_size_restyles_a_nested_widget_once(app: QApplication, qtbot: QtBot) -> None:
    """By default Qt restyles each widget once for every ancestor when a style sheet is replaced."""
    theme.apply_theme(app, "light", 100)
    window = QWidget()
    qtbot.addWidget(window)
    inner = window
    for _ in range(8):
        column = QVBoxLayout(inner)
        column.addWidget(inner := QWidget())
    label = QLabel("deep inside", inner)
    window.show()
    changes = StyleChanges()
    label.installEventFilter(changes)
    for choice, size in (("dark", 100), ("dark", 150), ("light", 100)):
        changes.count = 0
        theme.apply_theme(app, choice, size)
        assert changes.count == 1
        assert label.grab().toImage().pixelColor(1, 1) == QColor(PALETTES[choice].ground)
