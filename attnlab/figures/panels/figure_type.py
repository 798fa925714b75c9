"""The type of figures: font sizes in units, the shipped typeface, and titles on several lines."""

from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

from attnlab.base import assets

TITLE_PX, TEXT_PX, SMALL_PX, NUMBER_PX = 13, 10, 9, 10


def make_figure_font(size_px: int, weight: QFont.Weight = QFont.Weight.Normal, *, still: bool = False) -> QFont:
    """Return a font of figures; its size is in units. It needs a QGuiApplication.

    ``still`` gives all digits the same width, so that a changing number in a film does not move. A PDF must not use
    it, because these glyphs cannot be searched or copied.
    """
    if "Inter" not in QFontDatabase.families():
        for name in assets.names("fonts"):
            if name.endswith(".ttf"):
                QFontDatabase.addApplicationFontFromData(assets.read_bytes(name))
    return QFont(_make_font(size_px, weight, still))


@lru_cache(maxsize=32)
def _make_font(size_px: int, weight: QFont.Weight, still: bool) -> QFont:
    font = QFont(["Inter", QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()])
    font.setPixelSize(size_px)
    font.setWeight(weight)
    font.setFeature(QFont.Tag("tnum"), int(still))
    font.setFeature(QFont.Tag("calt"), 0)  # it also gives − and × between digits such glyphs
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def wrap(text: str, width: float, font: QFont) -> tuple[str, ...]:
    """Return a text in lines within a width, broken between words, and inside words only if necessary."""
    metrics = QFontMetricsF(font)
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and metrics.horizontalAdvance(joined) <= width:
            lines[-1] = joined
            continue
        lines.append("")
        for letter in word:
            if lines[-1] and metrics.horizontalAdvance(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return tuple(lines)
