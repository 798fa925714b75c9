"""One blank to fill in: the cell's name, a field for the answer, the feedback, and the arithmetic."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from attnlab.base.spoken_text import speak_text
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import set_role
from attnlab.ui.widgets.fields.undo_fields import TextField

_FIELD_WIDTH = 96


@guarded
class AnswerRow(QWidget):
    """Shows one blank; the owner marks the answer. The row does not contain the solution before it is revealed."""

    entered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.place = _make_label(Qt.TextFormat.PlainText)
        self.field = TextField()
        self.field.setPlaceholderText("?")
        self.field.installEventFilter(self)
        self.field.textEdited.connect(self._on_edited)
        self.verdict = _make_label(Qt.TextFormat.PlainText)
        self.arithmetic = _make_label(Qt.TextFormat.RichText)
        self.arithmetic.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._line = QHBoxLayout()
        self._line.addWidget(self.place, 1)
        self._line.addWidget(self.field)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._line)
        column.addWidget(self.verdict)
        column.addWidget(self.arithmetic)
        self.arithmetic.hide()
        self._keeps_line, self._is_refused = True, False
        self.set_zoom(1.0)

    def set_place(self, place: str) -> None:
        """Name the cell: ``starts → journey``."""
        self.place.setText(place)
        self.field.setAccessibleName(f"Your answer for {speak_text(place)}")
        self.field.setToolTip("Type a number such as 0.38, 3/8, −∞ or masked, then press Enter")

    def set_zoom(self, zoom: float) -> None:
        """Set the size of the text: 1 is the size of the window's text."""
        self.place.setFont(font("text", zoom))
        self.field.setFont(font("number_strong", zoom))
        self.verdict.setFont(font("text" if zoom > 1 else "caption", zoom))
        self.arithmetic.setFont(font("text", zoom))
        self.field.setFixedWidth(px(_FIELD_WIDTH * (0.4 + 0.6 * zoom)) + px(16))
        self._line.setSpacing(px(8 * zoom))
        layout = self.layout()
        assert layout is not None
        layout.setSpacing(px(4 * zoom))
        self.verdict.setMinimumHeight(round(QFontMetricsF(self.verdict.font()).height()))

    def keep_line(self, on: bool) -> None:
        """Keep a line for the sentence about the answer, so that no button moves when it appears, or keep none."""
        self._keeps_line = on
        self.verdict.setVisible(on or bool(self.verdict.text()))

    def say(self, sentence: str, role: str) -> None:
        """Say one sentence about the answer; ``role`` is good, error or muted."""
        self._is_refused = False
        self.verdict.setVisible(self._keeps_line or bool(sentence))
        show_text(self.verdict, sentence)
        set_role(self.verdict, role)

    def refuse(self, sentence: str) -> None:
        """Say until the field is edited why the answer cannot be read."""
        self.say(sentence, "error")
        self._is_refused = True

    @Slot()
    def _on_edited(self) -> None:
        if self._is_refused:
            self.say("", "muted")

    def show_arithmetic(self, html: str, plain: str) -> None:
        """Show how the cell is computed, and accept no more answers: the field is closed, and takes no focus."""
        self.arithmetic.setText(html)
        self.arithmetic.setAccessibleName(f"The cell as arithmetic: {plain}")
        self.arithmetic.show()
        self.field.setReadOnly(True)
        self.field.setPlaceholderText("")
        self.field.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.field.setToolTip("The answer has been revealed")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep Enter in an open field: elsewhere it means the next step."""
        pressed = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and _is_enter(event)
        if pressed and not self.field.isReadOnly():
            self.entered.emit(self.field.text())
            return True
        return super().eventFilter(watched, event)


def _is_enter(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def _make_label(text_format: Qt.TextFormat) -> QLabel:
    label = QLabel()
    label.setTextFormat(text_format)
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label
