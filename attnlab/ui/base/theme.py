"""The look of the program: the palette in use, the application's fonts by role, and the style sheet."""

import re
from functools import lru_cache
from html import escape

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPainter, QPainterPath, QPalette, QPen, QRegion
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from attnlab.base import assets
from attnlab.figures.palette import (
    DARK,
    DARK_INK,
    LIGHT,
    LIGHT_INK,
    PALETTES,
    Palette,
    compute_contrast,
    compute_luminance,
    mix,
)
from attnlab.ui.base.late_pages import replace_sheet

CHOICES = ("system", *PALETTES)
TYPE_SIZES = (70, 250)
"""The smallest and the largest size of type, in per cent."""
FAMILY = "Inter"
BASE_PX = 13
BAR_MARGIN = 8
"""The pixels above and below the buttons of the bar above a workspace."""
HAIRLINE = 1

_TABULAR = QFont.Tag("tnum")
_ROLES: dict[str, tuple[float, QFont.Weight]] = {
    "display": (26, QFont.Weight.DemiBold),
    "title": (13, QFont.Weight.DemiBold),
    "strong": (13, QFont.Weight.DemiBold),
    "text": (13, QFont.Weight.Normal),
    "caption": (11, QFont.Weight.Normal),
    "caption_strong": (11, QFont.Weight.DemiBold),
    "section": (11, QFont.Weight.DemiBold),
    "number": (13, QFont.Weight.Normal),
    "number_strong": (13, QFont.Weight.DemiBold),
    "number_small": (11, QFont.Weight.Normal),
    "map": (12, QFont.Weight.Normal),
    "map_strong": (12, QFont.Weight.DemiBold),
    "cell": (10, QFont.Weight.Normal),
    "tiny": (10.5, QFont.Weight.Normal),
}
ROLES = tuple(_ROLES)


def apply_theme(app: QApplication, choice: str, type_size: int) -> Palette:
    """Set the application's style, palette, font and style sheet; return the palette for widgets that paint themselves.

    ``choice`` is system or the name of a palette; ``type_size`` is in per cent of 13 pixels. For "system", call it
    again when ``app.styleHints().colorSchemeChanged`` is emitted.
    """
    load_fonts()
    hints = app.styleHints()
    hints.setColorScheme(_scheme(PALETTES[choice]) if choice in PALETTES else Qt.ColorScheme.Unknown)
    palette = palette_for(choice, hints.colorScheme())
    if not app.styleSheet():  # only the first time: under a style sheet the style does not tell its name
        app.setStyle("Fusion")
    app.setPalette(qt_palette(palette))
    app.setFont(_application_font(type_size))
    sheet = style_sheet(palette, type_size)
    if sheet != app.styleSheet():  # setting it again would restyle every widget
        replace_sheet(app, sheet)
    return palette


def palette_for(choice: str, system: Qt.ColorScheme) -> Palette:
    """Return the palette for a choice of theme, given the system's scheme; an unknown scheme is light."""
    return PALETTES.get(choice) or (DARK if system == Qt.ColorScheme.Dark else LIGHT)


def is_dark(palette: Palette) -> bool:
    """Return whether a palette is light on dark."""
    return compute_luminance(palette.ground) < 0.2


def _scheme(palette: Palette) -> Qt.ColorScheme:
    return Qt.ColorScheme.Dark if is_dark(palette) else Qt.ColorScheme.Light


def load_fonts() -> tuple[str, ...]:
    """Register the shipped typefaces, once, and return their families."""
    if FAMILY not in QFontDatabase.families():
        for name in assets.names("fonts"):
            if name.endswith((".ttf", ".otf")):
                QFontDatabase.addApplicationFontFromData(assets.read_bytes(name))
    return tuple(QFontDatabase.families())


def dress_type() -> None:
    """Use the window's typeface in a program without a window, for drawing into files."""
    load_fonts()
    if FAMILY not in QGuiApplication.font().families():
        QGuiApplication.setFont(_application_font(100))


def font(role: str, zoom: float = 1.0) -> QFont:
    """Return the font of a role at the application's size of type, times a zoom; digits are tabular.

    Raises KeyError for a role that is not in ``ROLES``.
    """
    base = QGuiApplication.font()
    if _made_from != [base]:
        _made_from[:] = [base]
        _make_font.cache_clear()
    return QFont(_make_font(role, zoom))


_made_from = list[QFont]()
"""The application's font that the fonts of roles were made from."""


@lru_cache(maxsize=512)
def _make_font(role: str, zoom: float) -> QFont:
    size_px, weight = _ROLES[role]
    made = QFont(QGuiApplication.font())
    made.setPixelSize(max(1, round(size_px * zoom * scale())))
    made.setWeight(weight)
    if role == "section":
        made.setCapitalization(QFont.Capitalization.AllUppercase)
        made.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 104)
    return made


def scale() -> float:
    """Return the size of type, 1 being 100 %, read from the application's font."""
    size_px = QGuiApplication.font().pixelSize()
    return size_px / BASE_PX if size_px > 0 else 1.0


def px(length: float) -> int:
    """Return a length scaled with the size of type, in whole pixels."""
    return round(length * scale())


def bar_height() -> int:
    """Return the height in pixels of one line of the bar above a workspace, with the line below it."""
    return max(px(34), 32) + 2 * BAR_MARGIN


def text_on(colour: str) -> str:
    """Return the text colour, dark or light, that reads better on a colour."""
    return max((LIGHT_INK, DARK_INK), key=lambda text: compute_contrast(text, colour))


def set_sheet(widget: QWidget, sheet: str) -> None:
    """Set a widget's style sheet if it differs: setting it again costs a frame."""
    if widget.styleSheet() != sheet:
        widget.setStyleSheet(sheet)


def plain_tip(text: str) -> str:
    """Return a text escaped for a tool tip, so that markup in it is shown as plain text."""
    return "<qt>" + escape(text).replace("\n", "<br>") + "</qt>" if "<" in text or "&" in text else text


def draw_focus_ring(painter: QPainter, rect: QRectF, palette: Palette, radius: float = 8) -> None:
    """Draw the focus ring just inside a rectangle."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(palette.accent), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), radius - 1, radius - 1)
    painter.restore()


def round_corners(window: QMenu | QWidget) -> None:
    """Make the corners of a menu or popup round, transparent outside."""
    window.setWindowFlags(
        window.windowFlags() | Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
    )
    window.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)


def cut_corners(window: QWidget, radius: float) -> None:
    """Cut off a popup's corners: without a compositor, transparent ones would be black. Call this at each resize."""
    if QGuiApplication.platformName() != "xcb":
        return  # other platforms always have a compositor, and smooth corners look better
    path = QPainterPath()
    path.addRoundedRect(QRectF(window.rect()), radius, radius)
    window.setMask(QRegion(path.toFillPolygon().toPolygon()))


def qt_palette(palette: Palette) -> QPalette:
    """Return Qt's palette in the program's colours."""
    role = QPalette.ColorRole
    colours = {
        role.Window: palette.ground,
        role.WindowText: palette.ink,
        role.Base: palette.surface,
        role.AlternateBase: palette.control,
        role.Text: palette.ink,
        role.PlaceholderText: palette.muted,
        role.Button: palette.surface,
        role.ButtonText: palette.ink,
        role.BrightText: palette.bad,
        role.ToolTipBase: palette.surface,
        role.ToolTipText: palette.ink,
        role.Highlight: palette.accent,
        role.HighlightedText: palette.on_accent,
        role.Accent: palette.accent,
        role.Link: palette.accent,
        role.LinkVisited: palette.attention_ink,
        role.Light: palette.surface,
        role.Midlight: palette.control,
        role.Mid: palette.hairline,
        role.Dark: palette.hatch,
        role.Shadow: palette.hatch,
    }
    made = QPalette()
    for which, colour in colours.items():
        made.setColor(which, QColor(colour))
    faint = QColor(mix_disabled(palette))
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, which, faint)
    made.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(palette.control))
    return made


def mix_disabled(palette: Palette) -> str:
    """Return the colour of disabled text, for which WCAG requires no contrast."""
    return mix(palette.muted, palette.surface, 0.45)


def style_sheet(palette: Palette, type_size: int = 100) -> str:
    """Return the style sheet with the palette's colours and sizes filled in; raises KeyError for an unknown name."""
    values = {
        name: getattr(palette, name)
        for name in (
            "ground",
            "surface",
            "hairline",
            "ink",
            "muted",
            "accent",
            "on_accent",
            "control",
            "hatch",
            "good",
            "bad",
        )
    }
    values["faint"] = mix_disabled(palette)
    values["accent_soft"] = mix(palette.surface, palette.accent, 0.07)
    values["accent_hover"] = mix(palette.accent, palette.ink, 0.15)
    values["control_hover"] = mix(palette.control, palette.ink, 0.06)
    values["tick"] = assets.path(f"icons/tick-{'dark' if is_dark(palette) else 'light'}.svg").as_posix()
    values["chevron_up"] = assets.path("icons/chevron-up.svg").as_posix()
    values["chevron"] = assets.path("icons/chevron.svg").as_posix()
    grown = (4, 5, 8, 10, 11, 12, 14, 18, 22, 26)
    values |= {f"px{size}": f"{max(1, round(size * _clamp_size(type_size) / 100))}px" for size in grown}
    sheet = assets.read_text("style.qss")
    if QGuiApplication.platformName() == "xcb":  # transparency may be unsupported, and corners would be black
        sheet += "\nQMenu { border-radius: 0; }\n"
    return re.sub(r"@(\w+)", lambda found: values[found[1]], sheet)


def _clamp_size(type_size: int) -> int:
    return min(max(type_size, TYPE_SIZES[0]), TYPE_SIZES[1])


def _application_font(type_size: int) -> QFont:
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
    made = QFont([FAMILY, system])
    made.setPixelSize(round(BASE_PX * _clamp_size(type_size) / 100))
    made.setFeature(_TABULAR, 1)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made
