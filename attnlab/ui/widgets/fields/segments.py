"""A row of segments of which one is chosen: Present | Pinned | Difference."""

from collections.abc import Sequence
from itertools import accumulate, zip_longest

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QRadioButton, QSizePolicy, QWidget

from attnlab.figures.palette import mix
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, mix_disabled, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.fields.choice import Choice, same
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.subscripts import write_tip

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}

GAP = 2
"""Pixels between segments, at every size of type."""
HEIGHT = 28
"""The height of a segment at 100 % type, in pixels."""


@guarded
class Segments(QWidget):
    """Shows one of a few values; ``chosen`` carries the one that the user wants.

    It is one stop of the Tab key; arrows choose the neighbour and skip disabled values. With too little room, the text
    becomes smaller and closer, and then takes several lines.
    """

    chosen = Signal(object)

    def __init__(self, name: str = "", parent: QWidget | None = None) -> None:
        """Create a row without segments; ``name`` is its name for screen readers."""
        super().__init__(parent)
        self._name = name
        self._buttons: list[_Segment] = []
        self._value: object = None
        self._tight = False
        self._measured: tuple[tuple[str, list[str]], list[int]] = (("", []), [])
        self._row = FlowLayout(self, gap=GAP)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Show these values, in this order; existing segments are reused and keep the focus."""
        kept: list[_Segment] = []
        for button, choice in zip_longest(self._buttons, choices):
            if choice is None:
                self._row.removeWidget(button)
                button.hide()
                button.deleteLater()
                continue
            kept.append(button if button is not None else self._add_segment(kept[-1] if kept else self))
            kept[-1].set_choice(choice)
        self._buttons = kept
        self._show_value()

    def set_value(self, value: object) -> None:
        """Show the current value."""
        self._value = value
        self._show_value()

    def value(self) -> object:
        """Return the value that is shown."""
        return self._value

    def buttons(self) -> list[QRadioButton]:
        """Return the segments, in order."""
        return list(self._buttons)

    def show_first(self, count: int) -> None:
        """Show the first ``count`` segments only."""
        for at, button in enumerate(self._buttons):
            button.setVisible(at < count)
        self._show_value()
        self.updateGeometry()
        self._tighten()

    def count_shown(self) -> int:
        """Return how many segments are shown."""
        return sum(not button.isHidden() for button in self._buttons)

    def measure_width(self, count: int) -> int:
        """Return the preferred width of the first ``count`` segments, in pixels."""
        return self.measure_widths()[count - 1] if count else 0

    def measure_widths(self) -> list[int]:
        """Return the preferred width of the first segment, of the first two, and so on, in pixels."""
        asked = QGuiApplication.font().toString(), [button.choice.title for button in self._buttons]
        if asked != self._measured[0]:  # a layout asks many times for each size of the window
            wide = (button.measure_size(False).width() + GAP for button in self._buttons)
            self._measured = asked, [width - GAP for width in accumulate(wide)]
        return list(self._measured[1])

    def measure_tight(self) -> int:
        """Return the least width of the segments shown in one line, in pixels."""
        shown = [button for button in self._buttons if not button.isHidden()]
        return sum(button.measure_size(True).width() + GAP for button in shown) - GAP if shown else 0

    def step(self, step: int) -> None:
        """Choose the next enabled segment, or with -1 the previous one."""
        usable = self._list_usable()
        at = next((i for i, button in enumerate(usable) if button.hasFocus() or button.isChecked()), None)
        if at is not None and 0 <= at + step < len(usable):
            self._choose(usable[at + step])
            usable[at + step].setFocus(Qt.FocusReason.TabFocusReason)

    @property
    def tight(self) -> bool:
        """Whether there is less room than asked for."""
        return self._tight

    def sizeHint(self) -> QSize:
        return QSize(self.measure_width(self.count_shown()), px(HEIGHT) if self._buttons else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tighten()

    def _tighten(self) -> None:
        tight = self.width() < self.sizeHint().width()
        if tight != self._tight:
            self._tight = tight
            for button in self._buttons:
                button.updateGeometry()
                button.update()  # its size may stay the same, but not that of its text

    def _add_segment(self, before: QWidget) -> "_Segment":
        button = _Segment(self)
        button.clicked.connect(self._on_clicked)
        self._row.addWidget(button)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # otherwise it has no place in the tab order
        QWidget.setTabOrder(before, button)  # otherwise it would come last in the window
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setVisible(True)
        return button

    def _show_value(self) -> None:
        for button in self._buttons:
            button.setChecked(same(button.choice.value, self._value))
        usable = self._list_usable()
        stop = next((b for b in usable if b.isChecked()), usable[0] if usable else None)
        for button in self._buttons:
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if button is stop else Qt.FocusPolicy.ClickFocus)
        if stop is not None:
            self.setFocusProxy(stop)

    def _list_usable(self) -> list["_Segment"]:
        return [button for button in self._buttons if button.isEnabled() and not button.isHidden()]

    def _choose(self, button: "_Segment") -> None:
        asked, before = button.choice.value, self._value
        self.set_value(asked)
        if not same(asked, before):
            self.chosen.emit(asked)

    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, _Segment):
            self._choose(button)


@guarded
class _Segment(QRadioButton):
    """One segment; the current one has a tinted background."""

    def __init__(self, parent: Segments) -> None:
        super().__init__(parent)
        self.choice = Choice(None, "")
        self._segments = parent
        self.setAutoExclusive(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_choice(self, choice: Choice) -> None:
        """Show another value."""
        self.choice = choice
        self.setText(choice.title)
        self.setEnabled(choice.usable)
        self.setToolTip(write_tip(choice.reason or choice.description))
        self.setAccessibleName(choice.title)
        self.setAccessibleDescription(choice.reason or choice.description)
        self.updateGeometry()
        self.update()

    def measure_size(self, tight: bool) -> QSize:
        """Return the preferred size of this segment, normal or ``tight``."""
        face, margins = (font("caption"), px(8)) if tight else (font("strong"), px(16))
        return QSize(round(text_width(self.choice.title, face)) + margins, px(HEIGHT))

    def sizeHint(self) -> QSize:
        return self.measure_size(self._segments.tight)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self._segments.step(step)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.update()
        super().leaveEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        p, live, on = palette_of(self), self.isEnabled(), self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if on or (live and self.underMouse()):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(mix(p.control, p.ink, 0.03) if on else p.control))
            painter.drawRoundedRect(QRectF(self.rect()), px(6), px(6))
        face = font("caption" if self._segments.tight else "strong" if on else "text")
        painter.setPen(QColor(mix_disabled(p) if not live else p.ink if on else p.muted))
        title = self.choice.title
        draw_text(painter, (self.width() - text_width(title, face)) / 2, self.height() / 2, title, face)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, px(6))
        painter.end()
