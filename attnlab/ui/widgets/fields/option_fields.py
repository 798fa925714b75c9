"""A column of settings, each with its title, its control, a reset button, and an error message below it."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QToolButton, QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.widgets.fields.option_controls import CONTROLS, Control
from attnlab.ui.widgets.fields.option_field import Field
from attnlab.ui.widgets.subscripts import spans

__all__ = ["Field", "OptionFields"]


class OptionFields(QWidget):
    """Shows settings: ``field_changed`` carries the name and value that the user wants, ``set_fields`` shows values."""

    field_changed = Signal(str, object)
    given_up = Signal()
    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._rows: list[_Row] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(px(8), px(4), px(4), px(4))
        self._grid.setHorizontalSpacing(px(4))
        self._grid.setVerticalSpacing(px(2))
        self._grid.setColumnStretch(0, 1)

    def set_palette(self, palette: Palette) -> None:
        """Take a theme's colours."""
        self._palette = palette
        for row in self._rows:
            row.control.set_palette(palette)

    def set_fields(self, fields: Sequence[Field]) -> None:
        """Show these settings; focus and unfinished typing stay if their names and kinds do."""
        if [(row.field.name, row.field.kind) for row in self._rows] != [(f.name, f.kind) for f in fields]:
            self._rebuild(fields)
        for row, field in zip(self._rows, fields, strict=True):
            row.show_field(field)

    def complain(self, name: str, sentence: str) -> None:
        """Say below a field why its value is refused, and show the current value again."""
        for row in self._rows:
            if row.field.name == name:
                row.put_back()
                row.say(sentence)

    def control(self, name: str) -> Control:
        """Return the control of a field; raises KeyError if there is none of that name."""
        return self._of(name).control

    def complaint(self, name: str) -> str:
        """Return the error message below a field, or ""."""
        return self._of(name).complaint.text()

    def reset_button(self, name: str) -> QToolButton:
        """Return the button that resets a field to its default."""
        return self._of(name).reset

    def stops(self) -> list[QWidget]:
        """Return the widgets that the Tab key stops at now, in order."""
        stops = [stop for row in self._rows for stop in (*row.control.stops(), row.reset)]
        return [stop for stop in stops if stop.isEnabled() and stop.isVisibleTo(self)]

    def height_for(self, width: int) -> int:
        """Return the height of all fields at a width."""
        self._grid.invalidate()
        if self._grid.hasHeightForWidth():
            return self._grid.totalHeightForWidth(width)
        return self._grid.totalSizeHint().height()

    def _of(self, name: str) -> "_Row":
        for row in self._rows:
            if row.field.name == name:
                return row
        raise KeyError(name)

    def _rebuild(self, fields: Sequence[Field]) -> None:
        """Create rows for new fields and keep the rows of the others, with their focus."""
        kept = {(row.field.name, row.field.kind): row for row in self._rows}
        wanted = [(field.name, field.kind) for field in fields]
        self._rows = [kept[key] if key in kept else self._made(f) for key, f in zip(wanted, fields, strict=True)]
        for key, row in kept.items():
            if key not in wanted:
                row.remove(self._grid)
        for i, row in enumerate(self._rows):
            row.place(self._grid, i)
        every = [stop for row in self._rows for stop in (*row.control.stops(), row.reset)]
        for one, following in pairwise(every):
            QWidget.setTabOrder(one, following)
        self.height_changed.emit()

    def _made(self, field: Field) -> "_Row":
        row = _Row(field, self._palette, self)
        row.changed.connect(self.field_changed)
        row.control.given_up.connect(self.given_up)
        row.complained.connect(self.height_changed)
        return row


class _Row(QObject):
    """One field: title, control, reset button, and the error message below."""

    changed = Signal(str, object)
    complained = Signal()

    def __init__(self, field: Field, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = self._given = field
        self.title = QLabel(parent)
        self.title.setMinimumHeight(px(30))
        self.control = CONTROLS[field.kind](field, palette, parent)
        self.reset = _reset_button(parent)
        self.complaint = _complaint_label(parent)
        self.control.taken.connect(self._on_taken)
        self.control.refused.connect(self.say)
        self.control.edited.connect(self._on_edited)
        self.reset.clicked.connect(self._on_reset)

    def place(self, grid: QGridLayout, at: int) -> None:
        """Put the widgets in this row of the column."""
        grid.addWidget(self.title, 2 * at, 0)
        grid.addWidget(self.control, 2 * at, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.reset, 2 * at, 2)
        grid.addWidget(self.complaint, 2 * at + 1, 0, 1, 3)
        for widget in (self.title, self.control):
            widget.setVisible(True)

    def show_field(self, field: Field) -> None:
        """Show the field's value; remove an error message about an earlier value."""
        if field.value != self._given.value:
            self.say("")
        self.field = self._given = field
        self.title.setText(_marked_up(field.title))
        self.title.setToolTip(plain_tip(field.reason or field.about))
        self.title.setEnabled(not field.reason)
        self._show()

    def put_back(self) -> None:
        """Show the last given value, whatever the user has set since."""
        self.field = self._given
        self._show()
        self.control.put_back()

    def say(self, sentence: str) -> None:
        """Show an error message below the field, or none for ""."""
        if sentence == self.complaint.text():
            return
        self.complaint.setText(sentence)
        self.complaint.setVisible(bool(sentence))
        self._describe()
        self.complained.emit()

    def remove(self, grid: QGridLayout) -> None:
        """Remove the field's widgets."""
        for widget in (self.title, self.control, self.reset, self.complaint):
            grid.removeWidget(widget)  # otherwise it takes space until it is deleted
            widget.hide()
            widget.deleteLater()
        self.deleteLater()

    def _show(self) -> None:
        self.control.show_field(self.field)
        text = f"Reset {self.field.title} to {self.field.text(self.field.rest)}"
        self.reset.setToolTip(plain_tip(text))
        self.reset.setAccessibleName(text)
        self.reset.setVisible(self.field.differs and not self.field.reason)
        self._describe()

    def _describe(self) -> None:
        for stop in self.control.stops():
            stop.setAccessibleDescription(self.complaint.text() or self.field.reason or self.field.about)

    def _set(self, value: object) -> None:
        """Show a value and emit it; the owner may refuse it."""
        self.field = replace(self.field, value=value)
        self._show()
        self.control.put_back()  # unfinished typing was about the value before
        self.changed.emit(self.field.name, value)

    def _on_taken(self, value: object) -> None:
        self.say("")
        self._set(value)

    def _on_edited(self) -> None:
        self.say("")

    def _on_reset(self) -> None:
        self.say("")
        stop = next((stop for stop in self.control.stops() if stop.isVisible()), None)
        if self.reset.hasFocus() and stop is not None:
            stop.setFocus(Qt.FocusReason.TabFocusReason)
        self._set(self.field.rest)


def _reset_button(parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setText("↺")
    button.setFixedSize(px(24), px(28))
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    policy = button.sizePolicy()
    policy.setRetainSizeWhenHidden(True)  # the controls stay aligned
    button.setSizePolicy(policy)
    button.hide()
    return button


def _complaint_label(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", "error")
    label.setFont(font("caption"))
    label.setWordWrap(True)
    label.hide()
    return label


def _marked_up(title: str) -> str:
    """Return a title with its subscripts, as in d_k, as HTML."""
    pieces = spans(title)
    if not any(low for _, low in pieces):
        return title
    return "<qt>" + "".join(f"<sub>{escape(text)}</sub>" if low else escape(text) for text, low in pieces) + "</qt>"
