"""The inputs: a sentence and its tokens, every table of numbers, and the sizes. Turns what people do into edits."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from attnlab.attention import edits, links, sentences
from attnlab.attention.explain import Cell
from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.playground.fill_bar import FillBar
from attnlab.ui.playground.shape_bar import ShapeBar
from attnlab.ui.playground.tab_button import TabButton
from attnlab.ui.theme import font, restyle
from attnlab.ui.widgets.fields import TextField
from attnlab.ui.widgets.flow_layout import FlowLayout
from attnlab.ui.widgets.matrix_table import BlockEdit, MatrixTable
from attnlab.ui.widgets.token_strip import TokenStrip

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document, View

TITLES = {"embeddings": "X"} | {name: name for name in (*edits.MATRICES[1:], *edits.BIASES)}
HINT = "Drag a number sideways, type, or press ↑ ↓. Shift for fine, Ctrl for coarse. Paste a block."
LONGEST = 1_000_000  # characters of a sentence: a longer one would be cut off by its field
_VERBS = {"type": "Type", "drag": "Drag", "wheel": "Turn", "step": "Step", "paste": "Paste into", "clear": "Clear"}


class InputsPanel(QScrollArea):
    """Edits the document's tokens, tables and sizes; holds nothing but which table is open."""

    def __init__(self, document: "Document", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._palette = LIGHT
        self._name = "W_q"
        self._opened = ("", 0)
        self._typing: tuple[int, Experiment] | None = None
        self._typing_count = 0
        self._retyping = False
        self._tokens_shown: tuple[str, ...] = ()
        self.setObjectName("inputs")
        self.setAccessibleName("Inputs")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        body.setProperty("ground", "surface")
        column = QVBoxLayout(body)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        self._sections = [_section("Sentence"), _section("Numbers"), _section("Shape")]
        column.addWidget(self._sections[0])
        column.addWidget(self._make_sentence())
        column.addWidget(self._complaint)
        self.tokens = self._make_tokens()
        column.addWidget(self.tokens)
        column.addSpacing(8)
        column.addWidget(self._sections[1])
        column.addLayout(self._make_tabs())
        self.table = MatrixTable()
        self.table.edited.connect(self._on_edited)
        self.table.message_raised.connect(self._on_table_message)
        column.addWidget(self.table, 100)
        self._message = QLabel()
        self._message.setWordWrap(True)
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setAccessibleName("Message about the table")
        self._message.hide()
        column.addWidget(self._message)
        self._hint = QLabel(HINT)
        self._hint.setWordWrap(True)
        column.addWidget(self._hint)
        self.fill_bar = FillBar()
        self.fill_bar.fill_requested.connect(self._on_fill)
        self.fill_bar.scale_requested.connect(self._on_scale)
        self.fill_bar.transpose_requested.connect(self._on_transpose)
        self.fill_bar.round_requested.connect(self._on_round)
        self.fill_bar.message_raised.connect(self._show_message)
        column.addWidget(self.fill_bar)
        column.addSpacing(8)
        column.addWidget(self._sections[2])
        self.shape_bar = ShapeBar()
        self.shape_bar.size_requested.connect(self._on_size)
        self.shape_bar.output_toggled.connect(self._on_output)
        self.shape_bar.biases_toggled.connect(self._on_biases)
        self.shape_bar.message_raised.connect(self._show_message)
        column.addWidget(self.shape_bar)
        column.addStretch(1)
        self.setWidget(body)
        document.scene_changed.connect(self._on_scene_changed)
        document.message_raised.connect(self._on_document_message)
        document.view_changed.connect(self._on_view_changed)
        self._refresh()

    def _make_sentence(self) -> TextField:
        self.sentence = TextField()
        self.sentence.setAccessibleName("Sentence")
        self.sentence.setPlaceholderText("Type a sentence")
        self.sentence.setObjectName("sentence")
        self.sentence.textEdited.connect(self._on_sentence_edited)
        self.sentence.editingFinished.connect(self._on_sentence_finished)
        self.sentence.cancelled.connect(self._on_sentence_cancelled)
        self.sentence.setMaxLength(LONGEST)
        self._complaint = QLabel()
        self._complaint.setWordWrap(True)
        self._complaint.setTextFormat(Qt.TextFormat.PlainText)
        self._complaint.setAccessibleName("Message about the sentence")
        self._complaint.hide()
        return self.sentence

    def _make_tokens(self) -> TokenStrip:
        strip = TokenStrip()
        strip.setAccessibleName("Tokens")
        strip.token_renamed.connect(self._on_token_renamed)
        strip.token_removed.connect(self._on_token_removed)
        strip.token_moved.connect(self._on_token_moved)
        strip.token_duplicated.connect(self._on_token_duplicated)
        strip.token_added.connect(self._on_token_added)
        strip.token_clicked.connect(self._on_token_clicked)
        return strip

    def _make_tabs(self) -> FlowLayout:
        flow = FlowLayout(gap=4)
        self.tabs: dict[str, TabButton] = {}
        for name, title in TITLES.items():
            button = TabButton(title)
            button.setProperty("table", name)
            button.clicked.connect(self._on_tab_clicked)
            flow.addWidget(button)
            self.tabs[name] = button
        return flow

    @property
    def name(self) -> str:
        """The table that is open: embeddings, W_q, …, b_o."""
        return self._name

    def open_table(self, name: str) -> None:
        """Show another table."""
        self._name = name
        self._refresh_table()

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        self._palette = palette
        self.tokens.set_palette(palette)
        self.table.set_palette(palette)
        self.shape_bar.set_palette(palette)
        for tab in self.tabs.values():
            tab.set_palette(palette)
        restyle(self._hint, f"color: {palette.muted}")
        restyle(self._message, f"color: {palette.bad}")
        restyle(self._complaint, f"color: {palette.bad}")
        self.set_fonts()
        self._fit_table()

    def set_fonts(self) -> None:
        """Take the fonts of the present size of type."""
        for section in self._sections:
            section.setFont(font("section"))
        self._hint.setFont(font("caption"))
        self._message.setFont(font("caption"))
        self._complaint.setFont(font("caption"))
        self.table.setFont(font("number"))

    def _refresh(self) -> None:
        e = self._document.experiment
        text = sentences.sentence(e.tokens)
        if self._typing is None and self.sentence.text() != text:
            at = self.sentence.cursorPosition() if self.sentence.hasFocus() else 0
            self.sentence.setText(text)
            self.sentence.setCursorPosition(at)
        if e.tokens != self._tokens_shown:
            self._tokens_shown = e.tokens
            self.tokens.set_tokens(e.tokens)
        self._refresh_table()
        self.shape_bar.show_experiment(e)
        self._on_view_changed(self._document.view)

    def _refresh_table(self) -> None:
        e = self._document.experiment
        there = {"embeddings", "W_q", "W_k", "W_v"}
        there |= {name for name in ("W_o", *edits.BIASES) if getattr(e.weights, name) is not None}
        if self._name not in there:
            self._name = "W_o" if self._name == "b_o" and "W_o" in there else "W_q"
        for name, button in self.tabs.items():
            if button.isHidden() == (name in there):
                button.setVisible(name in there)
            button.setChecked(name == self._name)
        opened = (self._name, self._document.history.current.opening)
        if opened != self._opened:
            self._opened = opened
            self.table.let_go()
        numbers = edits.array(e, self._name)
        group = {"W_q": e.d_k, "W_k": e.d_k, "W_v": e.d_v, "b_q": e.d_k, "b_k": e.d_k, "b_v": e.d_v}.get(self._name, 0)
        group = group if e.n_heads > 1 else 0
        self.table.setAccessibleName(f"Numbers of {TITLES[self._name]}")
        self.table.set_matrix(numbers, self._row_labels(e), [str(i) for i in range(numbers.shape[1])], group=group)
        self._fit_table()
        self.fill_bar.set_square(numbers.shape[0] == numbers.shape[1])

    def _fit_table(self) -> None:
        """Let the table be as high as its rows and no higher, so that what belongs to it stays close."""
        grid = self.table.grid()
        height = grid.header_height + grid.rows * grid.cell_height + 4
        scroll_bar = self.table.horizontalScrollBar()
        if self.table.width() and scroll_bar.maximum() > 0:
            height += scroll_bar.sizeHint().height()
        least = min(height, grid.header_height + 4 * grid.cell_height)
        if (self.table.minimumHeight(), self.table.maximumHeight()) != (least, height):
            self.table.setMinimumHeight(least)
            self.table.setMaximumHeight(height)

    def _row_labels(self, e: "Experiment") -> list[str]:
        rows = edits.shape(e, self._name)[0]
        if self._name == "embeddings":
            return list(e.tokens)
        if self._name.startswith("b_"):
            return ["bias"]
        letter = "z" if self._name == "W_o" else "x"
        return [f"{letter}{i}" for i in range(rows)]

    def _edit(self, label: str, change: object, gesture: object = None) -> None:
        self._document.edit(label, change, gesture)  # type: ignore[arg-type]

    @Slot(object)
    def _on_scene_changed(self, scene: object) -> None:
        if not self._retyping:
            self._end_typing()
        self._show_message("")
        self._refresh()

    @Slot(object)
    def _on_view_changed(self, view: "View") -> None:
        e, cell = self._document.experiment, view.cell
        at = links.coordinates(e, cell) if cell is not None else links.Coordinates()
        cross = e.memory_tokens is not None
        self.tokens.set_roles(at.query, None if cross else at.key)
        self._highlight_table(e, cell)

    def _highlight_table(self, e: "Experiment", cell: Cell | None) -> None:
        """Outline the row of X, or the column of a weight, that the selected cell is made of."""
        rows: list[int] = []
        columns: list[int] = []
        stage_of = {"W_q": "queries", "W_k": "keys", "W_v": "values", "b_q": "queries", "b_k": "keys", "b_v": "values"}
        if cell is not None and self._name == "embeddings":
            at = links.coordinates(e, cell)
            rows = [i for i in (at.query, at.key) if i is not None]
        elif cell is not None and stage_of.get(self._name) == cell.stage and cell.head is not None:
            size = e.d_v if cell.stage == "values" else e.d_k
            heads = e.n_heads if cell.stage == "queries" else e.n_kv_heads
            columns = [cell.head * heads // e.n_heads * size + cell.column]
        elif cell is not None and cell.stage == "output" and self._name in ("W_o", "b_o"):
            columns = [cell.column]
        roles = {"q": "query", "k": "key", "v": "value"}
        self.table.set_highlight(rows, columns, roles.get(self._name[-1], "neutral"))

    @Slot(str)
    def _on_sentence_edited(self, text: str) -> None:
        """Retokenise what the sentence was when typing began, so that the way there leaves no trace."""
        if self._typing is None:
            self._typing_count += 1
            self._typing = (self._typing_count, self._document.experiment)
        count, start = self._typing
        self._retyping = True
        try:
            self._document.edit("Type a sentence", lambda e: sentences.retype(start, text), ("sentence", count))
        finally:
            self._retyping = False

    @Slot()
    def _on_sentence_finished(self) -> None:
        wrong = not self._complaint.isHidden()
        self._end_typing()
        if wrong:
            self._document.message_raised.emit("")
        self._refresh()

    @Slot()
    def _on_sentence_cancelled(self) -> None:
        """Bring back the sentence that was there before typing began; redo brings what was typed."""
        typing = self._typing
        if typing is not None and self._document.history.current.gesture == ("sentence", typing[0]):
            self._document.undo()
        self._on_sentence_finished()

    def _end_typing(self) -> None:
        """Let what is typed from now on change what is there now: another edit came, or the field was left."""
        self._typing = None
        self.sentence.settle()
        self._complain("")

    @Slot(str)
    def _on_document_message(self, sentence: str) -> None:
        if self._retyping:
            self._complain(sentence)

    def _complain(self, sentence: str) -> None:
        """Say below the sentence what is wrong with it, where the eyes are."""
        if sentence == self._complaint.text():
            return
        self._complaint.setText(sentence)
        self._complaint.setVisible(bool(sentence))
        self.sentence.setProperty("wrong", bool(sentence))
        self.sentence.style().polish(self.sentence)

    @Slot(int, str)
    def _on_token_renamed(self, index: int, token: str) -> None:
        self._edit(f"Rename token {index} to “{token}”", lambda e: sentences.rename_token(e, index, token))

    @Slot(int)
    def _on_token_removed(self, index: int) -> None:
        self._edit(f"Remove “{self._document.experiment.tokens[index]}”", lambda e: sentences.remove_token(e, index))

    @Slot(int, int)
    def _on_token_moved(self, source: int, target: int) -> None:
        label = f"Move “{self._document.experiment.tokens[source]}”"
        self._edit(label, lambda e: sentences.move_token(e, source, target))

    @Slot(int)
    def _on_token_duplicated(self, index: int) -> None:
        label = f"Duplicate “{self._document.experiment.tokens[index]}”"
        self._edit(label, lambda e: sentences.duplicate_token(e, index))

    @Slot()
    def _on_token_added(self) -> None:
        self._edit("Add a token", lambda e: sentences.resize_tokens(e, e.T_q + 1))

    @Slot(int)
    def _on_token_clicked(self, index: int) -> None:
        head = self._document.view.head
        cell = Cell("queries", index, 0, head if isinstance(head, int) else None if head == "mean" else 0)
        self._document.select(cell, pin=True)

    @Slot()
    def _on_tab_clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, TabButton):
            self.open_table(str(sender.property("table")))
            self._on_view_changed(self._document.view)

    @Slot(object)
    def _on_edited(self, edit: BlockEdit) -> None:
        name, rows, columns = self._name, *edit.values.shape
        if edit.values.size == 1:
            what = f"{TITLES[name]}[{edit.row}, {edit.column}] = {float(edit.values[0, 0]):.4g}"
        else:
            what = f"{rows} × {columns} of {TITLES[name]}"
        label = f"{_VERBS[edit.verb]} {what}".replace("-", "−")
        self._edit(
            label, lambda e: edits.set_block(e, name, edit.row, edit.column, edit.values), ("table", edit.gesture)
        )

    @Slot(str)
    def _on_table_message(self, sentence: str) -> None:
        self._show_message(sentence)

    @Slot(str)
    def _show_message(self, sentence: str) -> None:
        self._message.setText(sentence)
        self._message.setVisible(bool(sentence))
        self._hint.setVisible(not sentence)

    @property
    def message(self) -> str:
        """The sentence about the table, "" for none."""
        return self._message.text() if not self._message.isHidden() else ""

    def _block(self) -> tuple[int, int, int, int] | None:
        """Return the selected block when it is more than one cell, else None for the whole table."""
        row, column, rows, columns = self.table.selection()
        return (row, column, rows, columns) if rows * columns > 1 else None

    @Slot(str, int)
    def _on_fill(self, kind: str, seed: int) -> None:
        name, block = self._name, self._block()
        seeded = f", seed {seed}" if kind in ("normal", "uniform", "xavier") else ""
        self._edit(f"Fill {TITLES[name]}: {kind}{seeded}", lambda e: edits.fill(e, name, kind, seed, block))

    @Slot(float)
    def _on_scale(self, factor: float) -> None:
        name = self._name
        self._edit(f"Scale {TITLES[name]} by {factor:g}".replace("-", "−"), lambda e: edits.scale(e, name, factor))

    @Slot()
    def _on_transpose(self) -> None:
        name = self._name
        self._edit(f"Transpose {TITLES[name]}", lambda e: edits.transpose(e, name))

    @Slot(int)
    def _on_round(self, decimals: int) -> None:
        name = self._name
        self._edit(f"Round {TITLES[name]} to {decimals} decimals", lambda e: edits.rounded(e, name, decimals))

    @Slot(str, int)
    def _on_size(self, name: str, size: int) -> None:
        if name == "T":
            self._edit(f"T = {size}", lambda e: sentences.resize_tokens(e, size))
        else:
            self._edit(f"{name} = {size}", lambda e: edits.resize(e, **{name: size}))
        self.shape_bar.show_experiment(self._document.experiment)

    @Slot(bool)
    def _on_output(self, on: bool) -> None:
        self._edit(f"W_o {'on' if on else 'off'}", lambda e: edits.toggle_output(e, on))

    @Slot(bool)
    def _on_biases(self, on: bool) -> None:
        self._edit(f"Biases {'on' if on else 'off'}", lambda e: edits.toggle_biases(e, on))

    def sizeHint(self) -> QSize:
        """Ask for what the widest row of controls needs, and room for a scroll bar."""
        body = self.widget()
        return QSize((body.minimumSizeHint().width() if body is not None else 0) + 12, 600)


def _section(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    return label
