"""The palette of a widget, read when it paints; what to set again when the theme or the size of type changes.

A widget that only paints reads ``palette_of(self)`` in its paintEvent: Qt repaints it after a change. A coloured label
has a role of ``resources/style.qss``. A widget that holds fonts, icons or sizes is a :class:`FollowsTheme`.
"""

from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.figures.palette import LIGHT, PALETTES, Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.late_pages import is_waking
from attnlab.ui.base.theme import qt_palette, scale, set_sheet, style_sheet

_BY_HAIRLINE = {QColor(palette.hairline).rgb(): palette for palette in PALETTES.values()}
_QtType: Any = type(QWidget)
_dressed: WeakKeyDictionary[QWidget, Palette] = WeakKeyDictionary()


def application_palette() -> Palette:
    """Return the application's current palette, read from Qt's; light before a theme was applied."""
    return _find_palette(QGuiApplication.palette().cacheKey())


@lru_cache(maxsize=8)
def _find_palette(cache_key: int) -> Palette:
    """Return the palette that Qt's one with a cache key was made from; a read of its colours takes 2 µs."""
    return _BY_HAIRLINE.get(QGuiApplication.palette().color(QPalette.ColorRole.Mid).rgb(), LIGHT)


def palette_of(widget: QWidget | None) -> Palette:
    """Return the palette to paint a widget in: the application's, unless the widget or a parent is dressed in another.

    A popup or dialog has the palette of the widget that it belongs to.
    """
    while _dressed and widget is not None:
        if widget in _dressed:
            return _dressed[widget]
        widget = widget.parentWidget()
    return application_palette()


def dress(widget: QWidget, palette: Palette) -> None:
    """Give a widget and its children a palette independent of the application's.

    A palette set by ``QWidget.setPalette`` does not survive: Qt resets it whenever it restyles the widget.
    """
    _dressed[widget] = palette
    app = QApplication.instance()
    if palette is application_palette() and isinstance(app, QApplication) and app.styleSheet():
        widget.setPalette(QPalette())
        set_sheet(widget, "")
        return
    widget.setPalette(qt_palette(palette))
    ground = f"#{widget.objectName()}, QScrollArea, QScrollArea > QWidget > QWidget {{ background: {palette.ground} }}"
    sheet = style_sheet(palette, round(100 * scale()))  # the application's style sheet overrides a widget's palette
    set_sheet(widget, f"QLabel {{ color: {palette.ink}; background: transparent }} {ground} {sheet}")


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget a role of the style sheet, such as "muted" or "error"; "" for none."""
    set_style(widget, "role", role)


def set_style(widget: QWidget, name: str, value: str | bool) -> None:
    """Set a property that the style sheet selects by, such as "wrong", and apply the style sheet again."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().polish(widget)


class _Restyled(_QtType):  # type: ignore[misc]  # PySide does not name the type of its classes
    """The type of widgets that are restyled once their constructor has returned."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        widget = super().__call__(*arguments, **named)
        widget.restyle_if_changed()
        return widget


@guarded
class FollowsTheme(metaclass=_Restyled):
    """Base, before the Qt class, of widgets that hold fonts, icons, pens or sizes: ``restyle`` sets them.

    It runs after the constructor, and once per change of the theme or the size of type, also when the widget gets a
    parent with another palette.
    """

    _theme: tuple[Palette, float] | None = None
    """What ``restyle`` last ran for; None in the constructor, where Qt may send changes of style, too."""

    def restyle(self) -> None:
        """Set what depends on ``palette_of(self)`` and on the size of type."""
        raise NotImplementedError

    def restyle_if_changed(self) -> None:
        """Run ``restyle`` unless it has already run for this theme and size of type and still holds."""
        assert isinstance(self, QWidget)
        theme = palette_of(self), scale()
        if theme != self._theme or is_waking(self):
            self._theme = theme  # before restyle, whose own style sheets and fonts send further events
            self.restyle()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)  # type: ignore[misc]
        if event.type() == QEvent.Type.StyleChange and self._theme is not None:
            self.restyle_if_changed()
