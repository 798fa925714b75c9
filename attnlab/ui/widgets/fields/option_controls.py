"""The controls that edit one field: a number, a switch, a few choices, a switch with a number."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QWidget

from attnlab.figures.subscripts import text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.fields.choice import same
from attnlab.ui.widgets.fields.form_parts import NarrowBox
from attnlab.ui.widgets.fields.form_style import PILL, FormStyle
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.option_field import Field
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch

_WIDEST_SEGMENTS = 220  # wider choices become a drop-down list, in pixels at 100 %


@guarded
class Control(FollowsTheme, QWidget):
    """Edits one field: ``taken`` carries the value that the user set, ``refused`` a sentence about an invalid one.

    ``typed`` carries a value while it is typed, in a form whose numbers are live.
    """

    taken = Signal(object)
    typed = Signal(object)
    refused = Signal(str)
    edited = Signal()
    given_up = Signal()

    def __init__(self, field: Field, style: FormStyle = PILL, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field, self.form_style = field, style
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        if style.is_wide:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # shrinks with the form

    def restyle(self) -> None:
        """Set the sizes."""
        self._row.setSpacing(px(6))
        if self.form_style.is_wide:
            self.setMinimumSize(px(76), px(28))

    def show_field(self, field: Field) -> None:
        """Show a field's value; unfinished typing stays."""
        self.field = field
        for stop in self.stops():
            stop.setEnabled(not field.reason)
            stop.setAccessibleName(field.title)
            stop.setToolTip(plain_tip(field.reason or field.about))

    def stops(self) -> list[QWidget]:
        """Return the widgets that the Tab key stops at."""
        return []

    def put_back(self) -> None:
        """Show the current value instead of the typed one."""


class Number(Control):
    """Edits a number or a whole number."""

    def __init__(self, field: Field, style: FormStyle = PILL, parent: QWidget | None = None) -> None:
        super().__init__(field, style, parent)
        self.edit = _edit_of(self)
        self._row.addWidget(self.edit)
        self.show_field(field)

    def restyle(self) -> None:
        super().restyle()
        _size_edit(self.edit, self.form_style)

    def show_field(self, field: Field) -> None:
        super().show_field(field)
        self.edit.show_number(field, field.value if isinstance(field.value, int | float) else None)

    def stops(self) -> list[QWidget]:
        return [self.edit]

    def put_back(self) -> None:
        self.edit.put_back()


class OnOff(Control):
    """Edits a switch."""

    def __init__(self, field: Field, style: FormStyle = PILL, parent: QWidget | None = None) -> None:
        super().__init__(field, style, parent)
        self.switch = Switch("", self)
        self.switch.clicked.connect(self._on_clicked)
        self._row.addWidget(self.switch)
        if style.is_wide:
            self._row.addStretch(1)
        self.show_field(field)

    def restyle(self) -> None:
        super().restyle()
        _restyle_switch(self.switch)

    def show_field(self, field: Field) -> None:
        super().show_field(field)
        self.switch.setChecked(bool(field.value))

    def stops(self) -> list[QWidget]:
        return [self.switch]

    def put_back(self) -> None:
        self.switch.setChecked(bool(self.field.value))

    def _on_clicked(self, on: bool) -> None:
        self.edited.emit()
        self.taken.emit(on)


class Counted(Control):
    """Edits a switch with a whole number beside it."""

    def __init__(self, field: Field, style: FormStyle = PILL, parent: QWidget | None = None) -> None:
        super().__init__(field, style, parent)
        self.edit = _edit_of(self)
        self.switch = Switch("", self)
        self.switch.clicked.connect(self._on_clicked)
        self._row.addWidget(self.edit)
        self._row.addWidget(self.switch)
        self.show_field(field)

    def restyle(self) -> None:
        super().restyle()
        _size_edit(self.edit, self.form_style)
        _restyle_switch(self.switch)

    def show_field(self, field: Field) -> None:
        super().show_field(field)
        self.switch.setChecked(field.value is not None)
        self.edit.setVisible(field.value is not None)
        self.edit.show_number(field, field.value if isinstance(field.value, int | float) else None)

    def stops(self) -> list[QWidget]:
        return [self.edit, self.switch]

    def put_back(self) -> None:
        self.switch.setChecked(self.field.value is not None)
        self.edit.put_back()

    def _on_clicked(self, on: bool) -> None:
        self.edited.emit()
        start = self.field.default if self.field.default is not None else max(1, round(self.field.least or 1))
        self.taken.emit(start if on else None)


class Chosen(Control):
    """Edits a choice: as segments if there is room, else as a drop-down list; always as a list in a wide form."""

    def __init__(self, field: Field, style: FormStyle = PILL, parent: QWidget | None = None) -> None:
        super().__init__(field, style, parent)
        self.segments = None if style.is_wide else Segments(field.title, self)
        self.list = _FoldedList(style, self)
        self.list.activated.connect(self._on_activated)
        if self.segments is not None:
            self.segments.chosen.connect(self._on_chosen)
            self._row.addWidget(self.segments)
        self._row.addWidget(self.list)
        self.show_field(field)

    def restyle(self) -> None:
        super().restyle()
        if self.segments is None:
            self.list.setMinimumHeight(px(28))

    def show_field(self, field: Field) -> None:
        super().show_field(field)
        if self.segments is not None:
            wanted = sum(text_width(choice.title, font("strong")) + px(22) for choice in field.choices)
            self.segments.setVisible(wanted <= px(_WIDEST_SEGMENTS))
            self.list.setVisible(wanted > px(_WIDEST_SEGMENTS))
            self.segments.set_choices(field.choices)
        self.list.show_field(field)
        self.put_back()

    def stops(self) -> list[QWidget]:
        return [self.list] if self.segments is None else [self.segments, self.list]

    def put_back(self) -> None:
        if self.segments is not None:
            self.segments.set_value(self.field.value)
        self.list.show_value(self.field)

    def _on_chosen(self, value: object) -> None:
        self.edited.emit()
        self.taken.emit(value)

    def _on_activated(self, at: int) -> None:
        value = self.field.choices[at].value
        if not same(value, self.field.value):
            self._on_chosen(value)


@guarded
class _FoldedList(NarrowBox):
    """A drop-down list that ignores the wheel without the focus, as it may be scrolling past."""

    def __init__(self, style: FormStyle, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if style.is_wide:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        else:
            self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContentsOnFirstShow)
            self.setMinimumContentsLength(0)

    def show_field(self, field: Field) -> None:
        """List the choices of a field; disabled ones say why."""
        if [self.itemText(i) for i in range(self.count())] != [choice.title for choice in field.choices]:
            self.clear()
            self.addItems([choice.title for choice in field.choices])
        usable = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        for i, choice in enumerate(field.choices):
            self.setItemData(i, plain_tip(choice.reason or choice.description), Qt.ItemDataRole.ToolTipRole)
            self.setItemData(i, usable.value if choice.usable else 0, Qt.ItemDataRole.UserRole - 1)  # the item's flags

    def show_value(self, field: Field) -> None:
        """Show the current value."""
        self.setCurrentIndex(next((i for i, c in enumerate(field.choices) if same(c.value, field.value)), -1))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


CONTROLS: dict[str, type[Control]] = {
    "number": Number,
    "whole": Number,
    "switch": OnOff,
    "choice": Chosen,
    "counted": Counted,
}


def _edit_of(control: Control) -> NumberEdit:
    edit = NumberEdit(control, is_live=control.form_style.is_live)
    edit.taken.connect(control.taken)
    edit.typed.connect(control.typed)
    edit.refused.connect(control.refused)
    edit.edited.connect(control.edited)
    edit.given_up.connect(control.given_up)
    if control.form_style.is_wide:
        edit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    return edit


def _size_edit(edit: NumberEdit, style: FormStyle) -> None:
    if style.is_wide:
        edit.setMinimumSize(px(76), px(28))
    else:
        edit.setFixedSize(px(96), px(28))


def _restyle_switch(switch: Switch) -> None:
    switch.setFixedHeight(px(28))
