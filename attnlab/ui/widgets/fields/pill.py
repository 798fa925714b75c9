"""A pill of the tool bar: a muted label, the current value, and a popup of the other values."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from attnlab.figures.palette import mix
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import draw_focus_ring, font, mix_disabled, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.fields.choice import Choice, same
from attnlab.ui.widgets.fields.option_fields import Field
from attnlab.ui.widgets.fields.pill_popup import Entry, PillPopup

__all__ = ["Choice", "Entry", "Field", "Pill"]

_WIDEST = 220  # a value wider than this is elided, in pixels at 100 %
_LABEL_GAP, _DOT_ROOM = 6, 11  # between label and value, and for the dot of a changed setting, in pixels at 100 %


@lru_cache(maxsize=1024)  # layouts ask each pill for its size some twenty times whenever a window opens
def _measure_pill(label: str, gap: bool, value: str, dot: bool, face: str) -> tuple[int, int]:
    """Return the size of a pill with a label, and perhaps a gap behind it; ``face`` is the application's font."""
    wide = text_width(label, font("text")) if label else 0.0
    wide += px(_LABEL_GAP) * gap + text_width(_elide_value(value), font("strong")) + px(_DOT_ROOM) * dot
    return round(px(10) + wide + px(6) + px(10) + px(8)), px(32)


def _elide_value(value: str) -> str:
    room = px(_WIDEST)
    if text_width(value, font("strong")) <= room:
        return value
    while value and text_width(value + "…", font("strong")) > room:
        value = value[:-1]
    return value + "…"


@guarded
class Pill(KeepsKeys, QPushButton):
    """Shows one of several values: ``chosen`` carries the value that the user wants, ``set_value`` shows a value.

    Settings that belong to the value are below the choices: ``field_changed`` carries the name and value that the user
    wants, ``set_fields`` shows values.
    """

    chosen = Signal(object)
    field_changed = Signal(str, object)

    def __init__(self, label: str, parent: QWidget | None = None, *, name: str = "") -> None:
        """Create a pill; ``name`` is its name for screen readers if the label does not say it."""
        super().__init__(parent)
        self._label = label
        self.drops_label = False
        """Whether any value but "none" is clear alone, so that the pill may be too narrow for its label beside it."""
        self.drops_none = False
        """Whether the label alone says that nothing is chosen, so that the pill may be too narrow for "none"."""
        self.stand_in: QWidget | None = None
        """The widget below which the popup opens while the pill has no room in its bar."""
        self._name = name or label
        self._choices: tuple[Choice, ...] = ()
        self._entry: Entry | None = None
        self._value: object = None
        self._text: str | None = None
        self._fields: tuple[Field, ...] = ()
        self._described = ("", "")
        self._popup: PillPopup | None = None
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.open)
        self._describe()

    @property
    def label(self) -> str:
        """The muted label before the value."""
        return self._label

    def list_changes(self) -> list[str]:
        """Return the settings in its popup that differ from the usual, which a dot shows."""
        return [field.describe() for field in self._fields if field.differs]

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """List these values, in this order."""
        self._choices = tuple(choices)
        self._describe()

    def set_entry(self, prompt: str, parse: Callable[[str], object], show: Callable[[object], str] = str) -> None:
        """Add a field for a custom value below the choices.

        ``parse`` returns the value of a typed text, or raises a ValueError or AttnlabError, whose sentence is shown
        under the field; ``show`` writes a value that is not one of the choices.
        """
        self._entry = Entry(prompt, parse, show)
        self._describe()

    def set_fields(self, fields: Sequence[Field]) -> None:
        """Show these settings below the choices; an open popup updates in place."""
        self._fields = tuple(fields)
        if self._popup is not None:
            self._popup.set_fields(self._fields)
        self._describe()

    def complain(self, name: str, sentence: str) -> None:
        """Say below a setting in the open popup why its value is refused."""
        if self._popup is not None:
            self._popup.options.complain(name, sentence)

    def set_text(self, text: str | None) -> None:
        """Show this text in place of the value; None shows the value again."""
        self._text = text
        self._describe()

    def set_value(self, value: object) -> None:
        """Show the current value."""
        self._value = value
        self._describe()

    def value_text(self) -> str:
        """Return the current value as text."""
        if self._text is not None:
            return self._text
        for choice in self._choices:
            if same(choice.value, self._value):
                return choice.title
        if self._value is None:
            return ""
        return self._entry.show(self._value) if self._entry else str(self._value)

    def list_entries(self) -> list[str]:
        """Return the entries of the popup: the choices, and the settings with their names in files."""
        return [*(choice.title for choice in self._choices), *(field.write_name() for field in self._fields)]

    def choose_entry(self, entry: str) -> None:
        """Choose one of :meth:`list_entries`; open the popup for a setting, and for a choice that is not possible."""
        choice = next((each for each in self._choices if each.title == entry), None)
        if choice is not None and choice.usable and self.isEnabled():
            self.chosen.emit(choice.value)
        else:
            self.open()

    def popup(self) -> PillPopup | None:
        """Return the popup while it is open."""
        return self._popup

    def open(self) -> None:
        """Open the popup of choices below the pill."""
        if self._popup is not None or not self.isEnabled():
            return
        current = next((i for i, choice in enumerate(self._choices) if same(choice.value, self._value)), None)
        typed = self.value_text() if current is None and self._entry else ""
        other = self.stand_in if self.size().isEmpty() else None
        below = other if other is not None and not other.size().isEmpty() else self
        popup = PillPopup(self._choices, current, self._entry, typed, below, self._fields)
        popup.options.field_changed.connect(self.field_changed)
        popup.chosen.connect(self._on_chosen)
        popup.closed.connect(self._on_closed)
        self._popup = popup
        popup.open_below(below)
        self.update()

    def _describe(self) -> None:
        name = f"{self._name}: {self.value_text()}"
        opens = "Opens a list of choices" if self._choices or self._entry or not self._fields else "Opens settings"
        description = "; ".join([opens, *self.list_changes()])
        if (name, description) == self._described:
            return  # nothing changed: avoid layout and painting
        self._described = name, description
        self.setAccessibleName(name)
        self.setAccessibleDescription(description)
        self.updateGeometry()
        self.update()

    def _has_dot_room(self) -> bool:
        """Whether there is room for the dot that marks a changed setting."""
        return bool(self.list_changes())

    def _on_chosen(self, value: object) -> None:
        self.chosen.emit(value)

    def _on_closed(self) -> None:
        self._popup = None
        self.update()

    def sizeHint(self) -> QSize:
        return self._measure(self._label, self.value_text())

    def minimumSizeHint(self) -> QSize:
        value = self.value_text()
        if value == "none" and self.drops_none:
            return self._measure(self._label, "", gap=False)
        return self._measure("" if self.drops_label and value not in ("", "none") else self._label, value)

    def _measure(self, label: str, value: str, *, gap: bool = True) -> QSize:
        """Return the size with a label and a value, and a gap between them unless there is no label."""
        face = QGuiApplication.font().toString()
        return QSize(*_measure_pill(label, gap and bool(label), value, self._has_dot_room(), face))

    def keeps_key(self, event: QKeyEvent) -> bool:
        return _opens(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _opens(event):
            self.open()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.update()
        super().leaveEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.ApplicationFontChange):
            self.updateGeometry()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        p, live = palette_of(self), self.isEnabled()
        lit = live and (self.underMouse() or self._popup is not None)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(mix(p.control, p.ink, 0.06) if lit else p.control))
        painter.drawRoundedRect(QRectF(self.rect()), px(8), px(8))
        middle, x = self.height() / 2, float(px(10))
        is_whole, alone = self.width() >= self.sizeHint().width(), self.drops_none and self.value_text() == "none"
        if self._label and (is_whole or alone):
            painter.setPen(QColor(p.muted if live else mix_disabled(p)))
            x = draw_text(painter, x, middle, self._label, font("text")) + (px(_LABEL_GAP) if is_whole else 0)
        if is_whole or not alone:
            painter.setPen(QColor(p.ink if live else mix_disabled(p)))
            x = draw_text(painter, x, middle, _elide_value(self.value_text()), font("strong"))
        if self.list_changes():
            self._paint_dot(painter, x + px(6))
        x += px(_DOT_ROOM) * self._has_dot_room() + px(6)
        pen = QPen(QColor(p.muted if live else mix_disabled(p)), 1.5 * px(10) / 10)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        step = px(3)
        chevron = [QPoint(round(x), 0), QPoint(round(x) + step, step), QPoint(round(x) + 2 * step, 0)]
        painter.translate(0, middle - step / 2 + 0.5)
        painter.drawPolyline(chevron)
        painter.resetTransform()
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, px(8))
        painter.end()

    def _paint_dot(self, painter: QPainter, x: float) -> None:
        """Paint the dot of a changed setting, with its left end at x."""
        p, high = palette_of(self), px(5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.accent if self.isEnabled() else mix_disabled(p)))
        painter.drawEllipse(QRectF(x, (self.height() - high) / 2, high, high))
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _opens(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down, Qt.Key.Key_Up) and not (
        event.modifiers() & Qt.KeyboardModifier.ControlModifier
    )
