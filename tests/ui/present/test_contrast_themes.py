"""The high-contrast themes: every text has enough contrast, and the program uses them like any other."""

import pytest
from PySide6.QtWidgets import QApplication

from attnlab.document.settings import Settings, load_settings, save_settings
from attnlab.figures.palette import (
    CONTRAST_DARK,
    CONTRAST_LIGHT,
    PALETTES,
    Palette,
    choose_dark_text,
    colour_map,
    compute_contrast,
)
from attnlab.ui.base import theme
from attnlab.ui.base.themed import application_palette

CONTRASTS = pytest.mark.parametrize("palette", [CONTRAST_LIGHT, CONTRAST_DARK], ids=lambda palette: palette.name)
TEXTS = ("ink", "muted", "accent", "good", "bad", "query_ink", "key_ink", "value_ink", "attention_ink")


@CONTRASTS
@pytest.mark.parametrize("ground", ["ground", "surface", "control"])
@pytest.mark.parametrize("text", TEXTS)
def test_every_text_has_a_contrast_of_at_least_seven(palette: Palette, text: str, ground: str) -> None:
    assert compute_contrast(getattr(palette, text), getattr(palette, ground)) >= 7


@CONTRASTS
def test_marks_and_frames_stand_out(palette: Palette) -> None:
    for role in ("query", "key", "value", "attention", "neutral"):
        assert compute_contrast(palette.role(role), palette.ground) >= 4.5
    assert compute_contrast(palette.on_accent, palette.accent) >= 7
    assert compute_contrast(palette.hairline, palette.ground) >= 3  # cells that are not known yet are frames alone


@CONTRASTS
@pytest.mark.parametrize("name", ["diverging", "sequential"])
def test_the_ends_of_colour_scales_are_far_apart(palette: Palette, name: str) -> None:
    table = [f"#{int(entry) & 0xFFFFFF:06X}" for entry in colour_map(name, palette)[:-1]]
    ends = (table[0], table[127]) if name == "diverging" else (table[0], table[-1])
    assert compute_contrast(*ends) >= 5
    assert choose_dark_text(name, palette).any()


@CONTRASTS
def test_a_cell_of_0_can_be_seen(palette: Palette) -> None:
    """It had the colour of the card, so that maps looked as if cells were missing."""
    for colour in (palette.diverging[1], palette.sequential[0]):
        assert compute_contrast(colour, palette.surface) >= 1.1


@pytest.mark.parametrize("name", PALETTES)
def test_a_theme_is_recognised(qapp: QApplication, name: str) -> None:
    before = qapp.palette(), qapp.font(), qapp.styleSheet()
    try:
        assert theme.apply_theme(qapp, name, 100) is PALETTES[name]
        assert application_palette() is PALETTES[name]
    finally:
        qapp.styleHints().unsetColorScheme()
        qapp.setStyleSheet(before[2])
        qapp.setPalette(before[0])
        qapp.setFont(before[1])


@pytest.mark.parametrize("name", theme.CHOICES)
def test_settings_can_store_every_theme(name: str) -> None:
    save_settings(Settings(theme=name))
    assert load_settings() == (Settings(theme=name), ())
