"""The dialog of several texts: the strongest targets of their tokens layer by layer, and the mean scores of heads."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from attnlab.base.counted import format_count
from attnlab.pretrained.many_texts import SENTENCES, ManyTexts
from attnlab.pretrained.pattern_tables import encode_patterns, encode_targets
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.dialog_parts import ask_where, ask_which, button
from attnlab.ui.base.dialog_size import fit
from attnlab.ui.base.theme import font, px
from attnlab.ui.models.models_session import ModelsSession
from attnlab.ui.models.texts_files import TextFiles
from attnlab.ui.models.texts_table import SCORE_COLUMNS, TextsTable
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

FILES = "Texts (*.txt *.md);;All files (*)"
USUAL = "\n".join(SENTENCES)
ABOUT = "One text on each line. Heads that are switched off are off here too."


class TextsDialog(QDialog):
    """Stays open beside the workspace. ``head_opened`` carries a text, a layer, a head and a token: "" for the text
    that is open anyway, −1 for a head or a token that is not asked for.
    """

    head_opened = Signal(str, int, int, int)

    def __init__(self, session: ModelsSession, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Several texts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._found: ManyTexts | None = None
        self._head = -1
        self._files = TextFiles(self)
        self.texts = QPlainTextEdit()
        self.texts.setAccessibleName("Texts, one on each line")
        self.texts.setTabChangesFocus(True)
        self.show_choice = Segments("Table")
        self.show_choice.set_choices(
            [
                Choice("targets", "Strongest targets", "The key with the largest weight for every token, by layer"),
                Choice("scores", "Pattern scores", "What every head looks at, as means over the texts"),
            ]
        )
        self.show_choice.set_value("targets")
        self.head = Pill("Head")
        self.plain = Switch("Leave sinks out")
        self.plain.setToolTip("The first token and the special ones do not count as targets")
        self.plain.setChecked(True)
        self.targets, self.scores = TextsTable("Strongest targets"), TextsTable("Pattern scores")
        self.tables = QStackedWidget()
        self.message, self.note = make_wrapped_label("error"), make_wrapped_label("caption")
        self.message.setAccessibleName("Message about the texts")
        self.file = button("File…", "Read a file with one text on each line")
        self.folder = button("Folder…", "Read the .txt and .md files of a folder")
        self.usual = button("Sentences", "Three sentences to begin with")
        self.save = button("Save CSV…", "Write this table as a CSV file")
        self._lay_out()
        self._connect()
        self._show_heads()
        self.show_sentences()
        fit(self, (480, 360), (1040, 620))

    def _lay_out(self) -> None:
        for table in (self.targets, self.scores):
            self.tables.addWidget(table)
        title = QLabel("Several texts")
        title.setProperty("role", "title")
        title.setFont(font("title"))
        about = make_wrapped_label("caption")
        about.setText(ABOUT)
        buttons = FlowLayout(gap=px(8))
        for each in (self.file, self.folder, self.usual):
            buttons.addWidget(each)
        left, right = QVBoxLayout(), QVBoxLayout()
        for widget in (title, about):
            left.addWidget(widget)
        left.addWidget(self.texts, 1)
        left.addLayout(buttons)
        choices = FlowLayout(gap=px(8))
        for control in (self.show_choice, self.head, self.plain):
            choices.addWidget(control)
        foot = QHBoxLayout()
        foot.addWidget(self.note, 1)
        foot.addWidget(self.save)
        right.addLayout(choices)
        right.addWidget(self.message)
        right.addWidget(self.tables, 1)
        right.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(px(16), px(16), px(16), px(16))
        row.setSpacing(px(16))
        row.addLayout(left, 2)
        row.addLayout(right, 5)
        self.message.hide()

    def _connect(self) -> None:
        self.texts.textChanged.connect(self._ask)
        self._session.overview_changed.connect(self._on_overview)
        self.show_choice.chosen.connect(lambda _value: self._show())
        self.head.chosen.connect(self._on_head_chosen)
        self.plain.clicked.connect(self._show)
        self.targets.opened.connect(self._on_opened)
        self.scores.opened.connect(self._on_opened)
        self.file.clicked.connect(
            lambda: ask_which(self, "Open texts", "Texts (*.txt *.md);;All files (*)", self._read)
        )
        self.folder.clicked.connect(self._ask_folder)
        self.usual.clicked.connect(self.show_sentences)
        self.save.clicked.connect(self._ask_where)

    # Texts

    def show_sentences(self) -> None:
        """Begin with the sentences; a model that has no tokens for them begins with the text that is open."""
        self.texts.setPlainText(USUAL)

    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, "Open a folder of texts")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(lambda path: self._read(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _read(self, path: Path) -> None:
        self._files.read(path, lambda texts: self.texts.setPlainText("\n".join(texts)), self._say)

    def _ask(self) -> None:
        texts = [line for line in self.texts.toPlainText().splitlines() if line.strip()]
        self._session.ask_texts(texts, self._take, self._refuse, self)

    def _refuse(self, sentence: str) -> None:
        if self.texts.toPlainText() == USUAL and self._session.state.text != USUAL:
            self.texts.setPlainText(self._session.state.text)
        else:
            self._say(sentence)

    def _take(self, found: ManyTexts) -> None:
        self._found = found
        self._say("")
        self._show()

    def _on_overview(self) -> None:
        self._show_heads()
        self._ask()

    # The tables

    def _show_heads(self) -> None:
        found = self._session.overview
        count = found.facts.n_heads if found is not None else 0
        self.head.set_choices([Choice(-1, "mean of heads"), *(Choice(head, str(head)) for head in range(count))])
        self._head = self._head if self._head < count else -1
        self.head.set_value(self._head)

    @Slot(object)
    def _on_head_chosen(self, head: int) -> None:
        self._head = head
        self.head.set_value(head)
        self._show()

    def _show(self) -> None:
        found, scores = self._found, self.show_choice.value() == "scores"
        self.tables.setCurrentWidget(self.scores if scores else self.targets)
        for control in (self.head, self.plain):
            control.setVisible(not scores)
        if found is None:
            return
        if scores:
            self.scores.show_scores(found.patterns)
        else:
            self.targets.show_targets(found.texts, self._head, plain=self.plain.isChecked())
        left_out = f", {len(found.refused):,} left out: {found.refused[0][1]}" if found.refused else "."
        count = len(found.texts)
        self.note.setText(f"{format_count(count, 'text')}{left_out} A double click opens the head.")

    def _on_opened(self, place: tuple[int, int, int]) -> None:
        text, layer, third = place
        if self._found is None or layer < 0:
            return
        if text < 0:
            self.head_opened.emit("", layer, third, -1)
        else:
            self.head_opened.emit(self._found.texts[text].text, layer, self._head, third)

    def _say(self, sentence: str) -> None:
        show_text(self.message, sentence)
        self.message.setVisible(bool(sentence))

    def _ask_where(self) -> None:
        if self._found is None:
            self._say("There is nothing to save yet.")
            return
        name = f"{self.show_choice.value()}.csv"
        ask_where(self, "Save the table", "CSV (*.csv)", name, self._save)

    def _save(self, path: Path) -> None:
        assert self._found is not None
        if self.show_choice.value() == "scores":
            text = encode_patterns(self._found.patterns, ("layer", "head", *SCORE_COLUMNS))
        else:
            text = encode_targets(self._found, self._head, plain=self.plain.isChecked())
        self._files.write(path, text, lambda: self.note.setText(f"Saved {path}"), self._say)
