"""A field for one number, which is typed or stepped."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QWidget

from attnlab.base.errors import ExperimentError
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import set_style
from attnlab.ui.widgets.fields.option_field import Field

_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}


@guarded
class NumberEdit(KeepsKeys, QAbstractSpinBox):
    """A number field: typed text is taken with Enter or on leaving; arrows and wheel step at once.

    If it ``is_live``, ``typed`` carries each valid number while it is typed, and ``refused`` speaks of any other text.
    """

    taken = Signal(object)
    confirmed = Signal(object)
    """Emitted with the current value when it is typed again or Enter is pressed on it."""
    typed = Signal(object)
    refused = Signal(str)
    edited = Signal()
    given_up = Signal()

    def __init__(self, parent: QWidget | None = None, *, is_live: bool = False) -> None:
        super().__init__(parent)
        self._field: Field | None = None
        self._value: float | None = None
        self._before: float | None = None
        self._refusal = ""
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
        self._before, self._refusal = self._value, ""
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
            self._refusal = str(error)
            self.refused.emit(self._refusal)
            return False
        if value == self._value:
            self.confirmed.emit(value)
        self._take(value)
        return True

    def finish_typing(self) -> bool:
        """Take what is typed before a button uses the number; return False if it is refused.

        A click on the button leaves the field first, which puts the old number back. It is not used in that click.
        """
        if self.lineEdit().isModified():
            return self.take_typed()
        refusal, self._refusal = self._refusal, ""
        if refusal:
            self.refused.emit(refusal)
        return not refusal

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
        self._take(self._field.step(value, steps, fine))
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
        self._refusal = ""
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
        up = flags.StepUpEnabled if self._field.step(self._value, 1) != self._value else flags.StepNone
        return up | (flags.StepDownEnabled if self._field.step(self._value, -1) != self._value else flags.StepNone)

    def stepBy(self, steps: int) -> None:
        self._step(steps, fine=False)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, text, position

    def keeps_key(self, event: QKeyEvent) -> bool:
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            return True  # otherwise an open lesson would walk
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
            refusal = self._refusal
            self.put_back()
            self._refusal = refusal
