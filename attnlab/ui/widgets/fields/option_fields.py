"""A form: a column of settings, each with its title, its control, and an error message below it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QToolButton, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.fields.form_style import PILL, FormStyle
from attnlab.ui.widgets.fields.option_controls import CONTROLS, Control
from attnlab.ui.widgets.fields.option_field import Field
from attnlab.ui.widgets.subscripts import FormulaLabel

__all__ = ["Field", "OptionFields"]

ABOUT = 230
"""The width in pixels at 100 % that a description below a title has at least."""
BELOW = 100
"""An empty row below all fields, which takes the height that a form does not need."""


@guarded
class OptionFields(FollowsTheme, QWidget):
    """Shows settings: ``field_changed`` carries the name and value that the user wants, ``set_fields`` shows values.

    ``refused`` carries the name of a field and what is wrong with the text typed in it, which is also said below it.
    """

    field_changed = Signal(str, object)
    refused = Signal(str, str)
    given_up = Signal()
    height_changed = Signal()

    def __init__(
        self,
        parent: QWidget | None = None,
        style: FormStyle = PILL,
        controls: Mapping[str, type[Control]] | None = None,
    ) -> None:
        """Create an empty form; ``controls`` edit further kinds of fields."""
        super().__init__(parent)
        self._style, self._controls = style, {**CONTROLS, **(controls or {})}
        self._rows: list[_Row] = []
        self._widgets: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setColumnStretch(1 if style.is_wide else 0, 1)
        if style.is_wide:
            self._grid.setRowStretch(BELOW, 1)  # an alignment would cut messages of several lines

    def restyle(self) -> None:
        """Set the sizes."""
        self._grid.setContentsMargins(*map(px, self._style.margins))
        self._grid.setHorizontalSpacing(px(self._style.gaps[0]))
        self._grid.setVerticalSpacing(px(self._style.gaps[1]))
        self._grid.setColumnMinimumWidth(0, px(self._style.title_width))
        for row in self._rows:
            row.restyle()

    def add_widget(self, title: str, widget: QWidget, about: str) -> QLabel:
        """Add a widget of the form's own, before there are fields, and return the label with its title.

        It and its children without an accessible name get the title as name.
        """
        label = QLabel(title)
        self._grid.addWidget(label, len(self._widgets), 0)
        self._grid.addWidget(widget, len(self._widgets), 1)
        self._widgets.append(label)
        for part in (widget, *widget.findChildren(QWidget)):
            part.setToolTip(plain_tip(about))
            if title and not part.accessibleName():
                part.setAccessibleName(title)
        return label

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

    def say_at(self, name: str, sentence: str) -> None:
        """Say a sentence below one field, and nothing below the others."""
        for row in self._rows:
            row.say(sentence if row.field.name == name else "")

    def names(self) -> list[str]:
        """Return the names of the fields, in order."""
        return [row.field.name for row in self._rows]

    def control(self, name: str) -> Control:
        """Return the control of a field; raises KeyError if there is none of that name."""
        return self._of(name).control

    def complaint(self, name: str) -> str:
        """Return the error message below a field, or ""."""
        return self._of(name).complaint.text()

    def reset_button(self, name: str) -> QToolButton:
        """Return the button that resets a field to its default."""
        button = self._of(name).reset
        assert button is not None, "only fields in pills can be reset"
        return button

    def stops(self) -> list[QWidget]:
        """Return the widgets that the Tab key stops at now, in order."""
        return [stop for stop in self._every_stop() if stop.isEnabled() and stop.isVisibleTo(self)]

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
        self._rows = [kept[key] if key in kept else self._new_row(f) for key, f in zip(wanted, fields, strict=True)]
        for key, row in kept.items():
            if key not in wanted:
                row.remove(self._grid)
        for i, row in enumerate(self._rows):
            row.place(self._grid, len(self._widgets) + 3 * i)
        for one, following in pairwise(self._every_stop()):
            QWidget.setTabOrder(one, following)
        self.height_changed.emit()

    def _every_stop(self) -> list[QWidget]:
        return [stop for row in self._rows for stop in (*row.control.stops(), row.reset) if stop is not None]

    def _new_row(self, field: Field) -> "_Row":
        row = _Row(field, self._controls[field.kind](field, self._style, self), self)
        row.changed.connect(self.field_changed)
        row.refused.connect(self.refused)
        row.control.given_up.connect(self.given_up)
        row.complained.connect(self.height_changed)
        return row


class _Row(QObject):
    """One field: title, control, in a pill a reset button, and below these a description and an error message."""

    changed = Signal(str, object)
    refused = Signal(str, str)
    complained = Signal()

    def __init__(self, field: Field, control: Control, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = self._given = field
        self.title, self.control = FormulaLabel("", control.form_style.title_role, parent), control
        self.title.setWordWrap(False)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.about, self.complaint = _make_wrapped(parent, "caption"), _make_wrapped(parent, "error")
        self.complaint.setAccessibleName(f"Message about {field.title}")
        self.reset: QToolButton | None = None
        if not control.form_style.is_wide:
            self.reset = _reset_button(parent)
            self.reset.clicked.connect(self._on_reset)
        self.control.taken.connect(self._on_taken)
        self.control.typed.connect(self._on_typed)
        self.control.refused.connect(self._on_refused)
        self.control.edited.connect(self._on_edited)
        self.restyle()
        self._show_given()

    def restyle(self) -> None:
        """Set the sizes."""
        if self.reset is not None:
            self.title.setMinimumHeight(0 if self.field.shows_about else px(30))
            self.about.setMinimumWidth(px(ABOUT))
            self.about.setContentsMargins(0, 0, 0, px(6))
            self.reset.setFixedSize(px(24), px(28))
            self.complaint.setFont(font("caption"))

    def place(self, grid: QGridLayout, at: int) -> None:
        """Put the widgets in this row of the grid and the next two."""
        if self.reset is not None:
            rows = 2 if self.field.shows_about else 1  # the title, and the description below it
            grid.addWidget(self.title, at, 0)
            grid.addWidget(self.reset, at, 1, rows, 1)  # before the control, which so ends at the edge without it too
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            grid.addWidget(self.control, at, 2, rows, 1, right)
        elif self.field.needs_no_title:
            grid.addWidget(self.control, at, 0, 1, 2)
        else:
            grid.addWidget(self.title, at, 0)
            grid.addWidget(self.control, at, 1)
        grid.addWidget(self.about, at + 1, 0)
        grid.addWidget(self.complaint, at + 2, 0, 1, 3 if self.reset is not None else 2)
        self.title.setVisible(not self.field.needs_no_title)
        self.control.setVisible(True)

    def show_field(self, field: Field) -> None:
        """Show the field's value; remove an error message about an earlier value."""
        if field == self.field == self._given:
            return
        if field.value != self._given.value:
            self.say("")
        self.field = self._given = field
        self._show_given()

    def _show_given(self) -> None:
        field = self.field
        self.title.setText(field.title)
        self.title.setToolTip(plain_tip(field.reason or field.about))
        self.about.setText(field.about if field.shows_about else "")
        self.about.setVisible(field.shows_about)
        for label in (self.title, self.about):
            label.setEnabled(not field.reason)
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
        show_text(self.complaint, sentence)
        self.complaint.setVisible(bool(sentence))
        self._describe()
        self.complained.emit()

    def remove(self, grid: QGridLayout) -> None:
        """Remove the field's widgets."""
        for widget in filter(None, (self.title, self.control, self.reset, self.about, self.complaint)):
            grid.removeWidget(widget)  # otherwise it takes space until it is deleted
            widget.hide()
            widget.deleteLater()
        self.deleteLater()

    def _show(self) -> None:
        self.control.show_field(self.field)
        if self.reset is not None:
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

    def _on_typed(self, value: object) -> None:
        self.changed.emit(self.field.name, value)

    def _on_refused(self, sentence: str) -> None:
        self.say(sentence)
        self.refused.emit(self.field.name, sentence)

    def _on_edited(self) -> None:
        self.say("")

    def _on_reset(self) -> None:
        assert self.reset is not None
        self.say("")
        stop = next((stop for stop in self.control.stops() if stop.isVisible()), None)
        if self.reset.hasFocus() and stop is not None:
            stop.setFocus(Qt.FocusReason.TabFocusReason)
        self._set(self.field.rest)


def _reset_button(parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setText("↺")
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    policy = button.sizePolicy()
    policy.setRetainSizeWhenHidden(True)  # the controls stay aligned
    button.setSizePolicy(policy)
    button.hide()
    return button


def _make_wrapped(parent: QWidget, role: str) -> QLabel:
    """Return a label of several lines, hidden until it has a text."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", role)
    label.setWordWrap(True)
    label.hide()
    return label
