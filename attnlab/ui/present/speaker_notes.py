"""The notes of a step in large type, with buttons for their size."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from attnlab.figures.slides.slide_markdown import read_document, split_note_lines
from attnlab.figures.slides.slide_text import make_face
from attnlab.ui.base.lowered_text import lower_indices
from attnlab.ui.base.theme import set_sheet
from attnlab.ui.base.themed import palette_of

NOTES, CAPTION = 21, 14
"""Font sizes at 100 %."""
SIZES = (0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0)


class SpeakerNotes(QWidget):
    """Shows notes, which scroll; A− and A+ change the size of the notes only."""

    def __init__(self) -> None:
        super().__init__()
        self._factor, self._size = 1.0, SIZES.index(1.0)
        self._notes = self._words = ""
        self._heading, self.text = QLabel("Notes"), QLabel()
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setAccessibleName("Notes")
        self.text.setWordWrap(True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.smaller, self.larger = QPushButton("A−"), QPushButton("A+")
        self.smaller.setAccessibleName("Smaller notes")
        self.larger.setAccessibleName("Larger notes")
        for button, tip in ((self.smaller, "Make the notes smaller"), (self.larger, "Make the notes larger")):
            button.setToolTip(tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.smaller.clicked.connect(self._on_smaller_clicked)
        self.larger.clicked.connect(self._on_larger_clicked)
        head = QHBoxLayout()
        head.addWidget(self._heading, 1)
        head.addWidget(self.smaller)
        head.addWidget(self.larger)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self.text)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self._scroll, 1)

    @property
    def words(self) -> str:
        """The visible text."""
        return self._words

    def show_notes(self, notes: str) -> None:
        """Show the notes of a step, given as Markdown, from their beginning; each line is a paragraph."""
        markdown = "\n\n".join(split_note_lines(notes.strip())) or "No notes for this step."
        if markdown != self._notes:
            self._notes = markdown
            self._typeset()
            self._scroll.verticalScrollBar().setValue(0)

    def _typeset(self) -> None:
        document = read_document(self._notes, self.text.font(), has_addresses=True)
        lower_indices(document)
        self._words = document.toPlainText()
        self.text.setText(document.toHtml())  # Qt has escaped all plain text in it

    def set_look(self, factor: float) -> None:
        """Set the sizes, as factors of those at 100 %, and the colours."""
        self._factor = factor
        palette = palette_of(self)
        set_sheet(self._heading, f"color: {palette.ink}; background: transparent")
        set_sheet(self.text, f"color: {palette.ink}; background: transparent")
        self._heading.setFont(make_face(CAPTION * factor, bold=True))
        self.text.setFont(make_face(NOTES * SIZES[self._size] * factor))
        self._typeset()
        for button in (self.smaller, self.larger):
            button.setFont(make_face(CAPTION * factor))
        self.smaller.setEnabled(self._size > 0)
        self.larger.setEnabled(self._size < len(SIZES) - 1)

    @Slot()
    def _on_smaller_clicked(self) -> None:
        self._size = max(self._size - 1, 0)
        self.set_look(self._factor)

    @Slot()
    def _on_larger_clicked(self) -> None:
        self._size = min(self._size + 1, len(SIZES) - 1)
        self.set_look(self._factor)
