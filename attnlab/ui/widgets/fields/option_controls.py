"""The controls that edit one field: a number typed or stepped, a switch, a few choices, a switch with a number."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QHBoxLayout, QSizePolicy, QWidget

from attnlab.base.errors import ExperimentError
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, set_style
from attnlab.ui.widgets.fields.choice import same
from attnlab.ui.widgets.fields.form_parts import NarrowBox
from attnlab.ui.widgets.fields.form_style import PILL, FormStyle
from attnlab.ui.widgets.fields.option_field import Field
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.subscripts import text_width

_WIDEST_SEGMENTS = 220  # wider choices become a drop-down list, in pixels at 100 %
_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}


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


@guarded
class NumberEdit(KeepsKeys, QAbstractSpinBox):
    """A number field: typed text is taken with Enter or on leaving; arrows and wheel step at once.

    If it ``is_live``, ``typed`` carries each valid number while it is typed, and ``refused`` speaks of any other text.
    """

    taken = Signal(object)
    typed = Signal(object)
    refused = Signal(str)
    edited = Signal()
    given_up = Signal()

    def __init__(self, parent: QWidget | None = None, *, is_live: bool = False) -> None:
        super().__init__(parent)
        self._field: Field | None = None
        self._value: float | None = None
        self._before: float | None = None
        self._is_live = is_live
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # but not the wheel, which may be scrolling past
        self.lineEdit().setTextMargins(px(6), 0, 0, 0)
        self.lineEdit().textEdited.connect(self._on_text_edited)

    def show_number(self, field: Field, value: float | None) -> None:
        """Show a value of a field; unfinished typing stays."""
        self._field, self._value = field, value
        if not (self.hasFocus() and self.lineEdit().isModified()):
            self.put_back()

    def put_back(self) -> None:
        """Show the current value instead of the typed one."""
        assert self._field is not None
        self._mark(False)
        self._before = self._value
        text = "" if self._value is None else self._field.text(self._value)
        if text != self.lineEdit().text():
            self.lineEdit().setText(text)
        self.lineEdit().setModified(False)

    def take_typed(self) -> bool:
        """Emit the typed number and return True, or a sentence on what is wrong with it and return False."""
        assert self._field is not None
        try:
            value = self._field.read(self.lineEdit().text())
        except ExperimentError as error:
            self._mark(True)
            self.refused.emit(str(error))
            return False
        self._take(value)
        return True

    def _take(self, value: float) -> None:
        changed = value != self._value
        self._value = value
        self.put_back()
        if changed:
            self.taken.emit(value)

    def _step(self, steps: int, fine: bool) -> None:
        """Step from the typed number, or else from the current value."""
        if self._field is None or self._value is None:
            return
        try:
            value = self._field.read(self.lineEdit().text())
        except ExperimentError:
            value = self._value
        self.edited.emit()
        self._take(self._field.stepped(value, steps, fine))
        self.lineEdit().selectAll()

    def _give_up(self) -> None:
        """Show the value before the typing, which has changed a live one."""
        before = self._before if self._is_live else self._value
        self._value = before
        self.put_back()
        if self._is_live and before is not None:
            self.typed.emit(before)

    def _mark(self, wrong: bool) -> None:
        set_style(self, "wrong", wrong)

    def _on_text_edited(self, text: str) -> None:
        self._mark(False)
        self.edited.emit()
        if not self._is_live or self._field is None:
            return
        try:
            value = self._field.read(text)
        except ExperimentError as error:
            self.refused.emit(str(error))
        else:
            self.typed.emit(value)

    def _gives_up(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self.lineEdit().isModified()

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        flags = QAbstractSpinBox.StepEnabledFlag
        if self._value is None or self._field is None:
            return flags.StepNone
        up = flags.StepUpEnabled if self._field.stepped(self._value, 1) != self._value else flags.StepNone
        return up | (flags.StepDownEnabled if self._field.stepped(self._value, -1) != self._value else flags.StepNone)

    def stepBy(self, steps: int) -> None:
        self._step(steps, fine=False)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, text, position

    def keeps_key(self, event: QKeyEvent) -> bool:
        return self._gives_up(event)  # otherwise the window would clear its selection

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is not None:
            self._step(step, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.take_typed()
            self.lineEdit().selectAll()
        elif self._gives_up(event):
            self.edited.emit()
            self._give_up()
            self.given_up.emit()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.hasFocus():
            event.ignore()
            return
        turned = event.angleDelta().y() or event.angleDelta().x()  # with Shift, some systems report it as horizontal
        if turned:
            self._step(1 if turned > 0 else -1, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.lineEdit().isModified() and not self.take_typed():
            self.put_back()


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
