"""The fields of a step's question: the question, the blank cells, the tolerance, and a hint."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QWidget

from attnlab.base.errors import AttnlabError
from attnlab.base.number_text import NumberError, parse_number, quote
from attnlab.lessons.cell_references import parse_blanks, write_blank
from attnlab.lessons.fields import CHOICES
from attnlab.lessons.lesson import Question
from attnlab.ui.base.announcing import show_text

SEPARATOR, RIGHT = "|", "*"
"""What stands between choices, and behind the right one."""
FIELDS = (
    ("blank", "Blank cells", "weights[2, 1], or a row: weights[2, :]; several with commas"),
    ("ask", "Question", "For example: How much does “starts” give to “journey”?"),
    ("choices", "Choices", "2 to 4, a star after the right one: 0.2 | 0.5 * | 0.9"),
    ("tolerance", "Tolerance", "How far an answer may be off: 0.01 if empty"),
    ("hint", "Hint", "For example: Divide each exponential by the sum of its row."),
)


class QuestionFields(QWidget):
    """Edits a question; without blank cells and choices there is none. Invalid text is kept, with a message below."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Question | None = None
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(6)
        self.fields: dict[str, QLineEdit] = {}
        for row, (name, title, hint) in enumerate(FIELDS):
            label, field = QLabel(title), QLineEdit()
            field.setAccessibleName(title)
            field.setPlaceholderText(hint)
            field.setToolTip(f"{title}: {hint}")
            field.textEdited.connect(self._on_edited)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
            self.fields[name] = field
        self._wrong = QLabel()
        self._wrong.setTextFormat(Qt.TextFormat.PlainText)
        self._wrong.setWordWrap(True)
        self._wrong.setProperty("role", "error")
        self._wrong.setAccessibleName("Message about the question")
        self._wrong.hide()
        grid.addWidget(self._wrong, len(FIELDS), 1)
        grid.setColumnStretch(1, 1)

    @property
    def message(self) -> str:
        """The error in a field, "" for none."""
        return self._wrong.text()

    def show_question(self, question: Question | None) -> None:
        """Show another question; the one just emitted leaves the fields as typed."""
        if question == self._shown:
            return
        self._shown = question
        texts = dict.fromkeys(self.fields, "")
        if question is not None:
            blanks = ", ".join(map(write_blank, question.blanks))
            tolerance = f"{question.tolerance:g}"
            texts |= {"blank": blanks, "ask": question.ask, "tolerance": tolerance, "hint": question.hint}
            texts["choices"] = _write_choices(question)
        for name, text in texts.items():
            self.fields[name].setText(text)
            self.fields[name].home(False)  # a long text is read from its beginning
        self._say("")

    def _say(self, sentence: str) -> None:
        show_text(self._wrong, sentence)
        self._wrong.setVisible(bool(sentence))

    @Slot(str)
    def _on_edited(self, _: str) -> None:
        try:
            question = self._read()
        except AttnlabError as error:
            self._say(str(error))
            return
        self._say("")
        if question != self._shown:
            self._shown = question
            self.changed.emit(question)

    def _read(self) -> Question | None:
        text = {name: field.text().strip() for name, field in self.fields.items()}
        choices, right = _read_choices(text["choices"])
        if not text["blank"] and not choices:
            if text["ask"] or text["hint"]:
                raise AttnlabError("A question needs blank cells, such as weights[2, 1], or choices.")
            return None
        blanks = parse_blanks(text["blank"]) if text["blank"] else ()
        return Question(blanks, text["ask"], _read_tolerance(text["tolerance"]), text["hint"], choices, right)


def _write_choices(question: Question) -> str:
    numbered = enumerate(question.choices, 1)
    return f" {SEPARATOR} ".join(f"{each} {RIGHT}" if i == question.right else each for i, each in numbered)


def _read_choices(text: str) -> tuple[tuple[str, ...], int]:
    """Return the choices and the number of the right one, counted from 1; none and 0 for an empty text."""
    if not text:
        return (), 0
    parts = [part.strip() for part in text.split(SEPARATOR)]
    right = [i for i, part in enumerate(parts, 1) if part.endswith(RIGHT)]
    choices = tuple(part.removesuffix(RIGHT).strip() for part in parts)
    least, most = CHOICES
    if not least <= len(choices) <= most or not all(choices):
        raise AttnlabError(f"Type {least} to {most} choices with {SEPARATOR} between them: 0.2 | 0.5 * | 0.9.")
    if len(right) != 1:
        raise AttnlabError(f"Mark the right choice, and only that, with a star: {choices[0]} {RIGHT}.")
    return choices, right[0]


def _read_tolerance(text: str) -> float:
    try:
        value = parse_number(text) if text else 0.01
    except NumberError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise AttnlabError(f"The tolerance is {quote(text)}; type a number of 0 or more, such as 0.01.")
    return value
