"""The inputs: one or two sequences, every table of numbers, and the sizes. Turns the user's changes into edits."""

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QScrollArea, QToolButton, QVBoxLayout, QWidget

from attnlab.attention import edits
from attnlab.attention.edits import batches, token_edits
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.stages import links
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.late import Late
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground import input_tables as tables
from attnlab.ui.playground.batch_bar import BatchBar
from attnlab.ui.playground.fill_bar import FillBar
from attnlab.ui.playground.sentence_box import SentenceBox
from attnlab.ui.playground.shape_bar import ShapeBar
from attnlab.ui.playground.tab_button import TabButton
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.matrix.matrix_gestures import ARROW
from attnlab.ui.widgets.matrix.matrix_table import BlockEdit, MatrixTable

if TYPE_CHECKING:
    from attnlab.document.document import Document, View

HINT = "Drag a number sideways, type, or press ↑\u00a0↓. Shift:\u00a0fine, Ctrl:\u00a0coarse."
_VERBS = {"type": "Type", "drag": "Drag", "wheel": "Turn", "step": "Step", "paste": "Paste into", "clear": "Clear"}


@guarded
class InputsPanel(FollowsTheme, QScrollArea):
    """Edits the document's sequences, tables and sizes; its only state is the open table."""

    fold_requested = Signal()

    def __init__(self, document: "Document", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._name = "W_q"
        self._opened = ("", 0)
        self._numbers: object = None
        self._labelled: tuple[object, ...] = ()
        self.setObjectName("inputs")
        self.setAccessibleName("Inputs")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.body = body = QWidget(self.viewport())
        body.setProperty("ground", "surface")
        column = self._column = QVBoxLayout(body)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        titles = ("Sentence", "Keys and values from", "Numbers", "Shape")
        self._sections = [_section(title) for title in titles]
        self._add_sequences(document, column)
        column.addSpacing(8)
        column.addWidget(self._sections[2])
        column.addLayout(self._make_tabs())
        self.table = MatrixTable()
        self.table.edited.connect(self._on_edited)
        self.table.message_raised.connect(self._on_table_message)
        column.addWidget(self.table, 10_000)  # all of the room before the stretch below gets any
        self._message = QLabel()
        self._message.setProperty("role", "error_caption")
        self._message.setWordWrap(True)
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setAccessibleName("Message about the table")
        self._message.hide()
        column.addWidget(self._message)
        self._hint = QLabel(HINT)
        self._hint.setProperty("role", "caption")
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
        column.addWidget(self._sections[3])
        self.shape_bar = ShapeBar()
        self.shape_bar.size_requested.connect(self._on_size)
        self.shape_bar.output_toggled.connect(self._on_output)
        self.shape_bar.biases_toggled.connect(self._on_biases)
        self.shape_bar.message_raised.connect(self._show_message)
        column.addWidget(self.shape_bar)
        column.addStretch(1)
        self.setWidget(body)
        self._gesture: Hashable = None
        self._late = Late(self._refresh, self)
        document.scene_changed.connect(self._on_scene_changed)
        document.view_changed.connect(self._on_view_changed)
        self._refresh()

    def _add_sequences(self, document: "Document", column: QVBoxLayout) -> None:
        """Add the sentence, the second one below its switch, and the bar for the batch above both."""
        self.add_button = QToolButton()
        self.add_button.setText("+ Sequence")
        self.add_button.setAccessibleName("Make a batch: add a sequence")
        self.add_button.setToolTip("Make a batch: add a copy of this sequence, with the same weights")
        self.add_button.clicked.connect(self._on_item_added)
        self.fold_button = QToolButton()
        self.fold_button.setAutoRaise(True)
        self.fold_button.setAccessibleName("Fold the inputs")
        self.fold_button.setToolTip("Fold the inputs to a strip: more room for the canvas")
        self.fold_button.clicked.connect(self.fold_requested)
        header = QHBoxLayout()
        header.addWidget(self._sections[0], 1)
        header.addWidget(self.add_button)
        header.addWidget(self.fold_button)
        column.addLayout(header)
        self.batch_bar = BatchBar()
        self.batch_bar.item_requested.connect(self._on_item)
        self.batch_bar.add_requested.connect(self._on_item_added)
        self.batch_bar.remove_requested.connect(self._on_item_removed)
        self.batch_bar.length_requested.connect(self._on_length)
        column.addWidget(self.batch_bar)
        self.query_box, self.memory_box = SentenceBox(document), SentenceBox(document, "memory")
        self.sentence, self.tokens = self.query_box.sentence, self.query_box.tokens
        self.memory_switch = Switch("Second sequence")
        self.memory_switch.setToolTip("Take keys and values from another sentence: cross-attention")
        self.memory_switch.clicked.connect(self._on_memory)
        for widget in (self.query_box, self.memory_switch, self._sections[1], self.memory_box):
            column.addWidget(widget)

    def _make_tabs(self) -> FlowLayout:
        self._tab_row = FlowLayout(gap=4)
        self.tabs: dict[str, TabButton] = {}
        for name, about in tables.ABOUT.items():
            self._add_tab(name, about)
        return self._tab_row

    def _add_tab(self, name: str, about: str) -> None:
        button = TabButton(tables.title(name), about)
        button.setProperty("table", name)
        button.clicked.connect(self._on_tab_clicked)
        button.hide()
        self._tab_row.addWidget(button)
        if button.parent() is not None:  # added later, so Tab would reach it after the sizes
            self.setTabOrder(list(self.tabs.values())[-1], button)
        self.tabs[name] = button

    @property
    def name(self) -> str:
        """The open table: embeddings, memory_embeddings, W_q, …, b_o, or one of an entry's, such as W_a."""
        return self._name

    def open_table(self, name: str) -> None:
        """Open another table."""
        self._name = name
        self._refresh_table()

    def scroll_to(self, part: QWidget) -> None:
        """Show the sentence or the table whole, or its upper part, with the title above it where both fit."""
        QTimer.singleShot(0, self, partial(self._scroll_to, part))  # once the columns have their widths

    def _scroll_to(self, part: QWidget) -> None:
        section = self._sections[2 if part is self.table else 0]
        top, bottom = (each.mapTo(self.body, QPoint(0, 0)).y() - 8 for each in (section, part))
        bottom += part.height() + 16
        bar, room = self.verticalScrollBar(), self.viewport().height()
        bar.setValue(min(max(bar.value(), bottom - room), top))

    def measure_least_height(self) -> int:
        """Return the least height in pixels that shows all parts down to the buttons below the table."""
        column, bar = self._column, self.verticalScrollBar().sizeHint().width()
        margins = column.contentsMargins()
        width, high = self.width() - bar - margins.left() - margins.right(), margins.top()
        for item in (column.itemAt(at) for at in range(column.indexOf(self.fill_bar) + 1)):
            assert item is not None
            if item.spacerItem() is not None:
                high += item.sizeHint().height()
            elif not item.isEmpty():
                flows = item.hasHeightForWidth()
                high += (item.minimumHeightForWidth(width) if flows else item.minimumSize().height()) + column.spacing()
        strips = [box.tokens for box in (self.query_box, self.memory_box) if not box.isHidden()]
        # their present height is that of their present width
        return high + sum(strip.measure_height(width) - strip.maximumHeight() for strip in strips)

    def reserve_foot(self, height: int) -> None:
        """Keep a number of pixels below the inputs free; the inputs scroll above."""
        if self.viewportMargins().bottom() != height:
            self.setViewportMargins(0, 0, 0, height)

    def restyle(self) -> None:
        """Fit the controls to the size of type."""
        self.add_button.setFont(font("caption"))
        self.fold_button.setIcon(icon("panel", palette_of(self), px(16)))
        self.fold_button.setIconSize(QSize(px(16), px(16)))
        self._fit_table()

    @Slot()
    def _refresh(self) -> None:
        self._late.stop()
        e = self._document.experiment
        cross = e.memory_tokens is not None
        self.memory_switch.setChecked(cross)
        for widget in (self._sections[1], self.memory_box):
            if widget.isHidden() == cross:
                widget.setVisible(cross)
        self.add_button.setVisible(e.n_items == 1)
        self.batch_bar.show_experiment(e)
        self._refresh_table()
        self.shape_bar.show_experiment(e)
        self._on_view_changed(self._document.view)

    def _refresh_table(self) -> None:
        e = self._document.experiment
        there = tables.list_tables(e)
        for name in there:
            if name not in self.tabs:
                self._add_tab(name, tables.about(e, name))
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
        numbers, group = edits.table(e, self._name), tables.head_width(e, self._name) if e.n_heads > 1 else 0
        labels = tables.row_labels(e, self._name)
        if numbers is self._numbers and (self._name, group, labels) == self._labelled:
            return  # the switch changed none of them
        self._numbers, self._labelled = numbers, (self._name, group, labels)
        self.table.spoken_title = tables.title(self._name)
        self.table.setAccessibleName(f"Numbers of {self.table.spoken_title}")
        columns = [str(i) for i in range(numbers.shape[1])]
        shown = edits.array(e, self._name)
        shown.flags.writeable = False  # shared with the experiment, which never changes: no copy needed
        self.table.set_matrix(shown, labels, columns, group=group)
        self._fit_table()
        self.fill_bar.set_square(numbers.shape[0] == numbers.shape[1])

    def _fit_table(self) -> None:
        """Make the table as high as its rows, so that its controls stay close to it."""
        grid = self.table.grid()
        height = grid.header_height + grid.rows * grid.cell_height + 4
        if self.table.is_wider_than(self.table.width()):
            height += self.table.horizontalScrollBar().sizeHint().height()
        least = min(height, grid.header_height + 4 * grid.cell_height)
        if (self.table.minimumHeight(), self.table.maximumHeight()) != (least, height):
            self.table.setMinimumHeight(least)
            self.table.setMaximumHeight(height)

    def _edit(self, label: str, change: object, gesture: object = None) -> None:
        self._document.edit(label, change, gesture)  # type: ignore[arg-type]

    @Slot(object)
    def _on_scene_changed(self, scene: object) -> None:
        self._show_message("")
        gesture = self._document.history.current.gesture
        before, self._gesture = self._gesture, gesture
        self._late.ask(late=isinstance(gesture, tuple) and gesture[0] == ARROW and gesture == before)

    @Slot(object)
    def _on_view_changed(self, view: "View") -> None:
        e, cell = self._document.experiment, view.subject
        at = links.coordinates(e, cell) if cell is not None else links.Coordinates()
        cross = e.memory_tokens is not None
        self.query_box.tokens.set_roles(at.query, None if cross else at.key)
        self.memory_box.tokens.set_roles(None, at.key if cross else None)
        made_of = tables.find_origins(e, self._name, cell)
        for role in tables.ROLES:
            rows, columns = made_of.get(role, ([], []))
            self.table.set_highlight(rows, columns, role)

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
            what = f"{tables.title(name)}[{edit.row}, {edit.column}] = {float(edit.values[0, 0]):.4g}"
        else:
            what = f"{rows} × {columns} of {tables.title(name)}"
        label = f"{_VERBS[edit.verb]} {what}".replace("-", "−")
        self._edit(
            label, lambda e: edits.set_block(e, name, edit.row, edit.column, edit.values), ("table", edit.gesture)
        )

    @Slot(str)
    def _on_table_message(self, sentence: str) -> None:
        self._show_message(sentence)

    @Slot(str)
    def _show_message(self, sentence: str) -> None:
        show_text(self._message, sentence)
        self._message.setVisible(bool(sentence))
        self._hint.setVisible(not sentence)

    @property
    def message(self) -> str:
        """The sentence about the table, "" for none."""
        return self._message.text() if not self._message.isHidden() else ""

    def _block(self) -> tuple[int, int, int, int] | None:
        """Return the selected block if it has more than one cell, else None for the whole table."""
        row, column, rows, columns = self.table.selection()
        return (row, column, rows, columns) if rows * columns > 1 else None

    @Slot(str, int)
    def _on_fill(self, kind: str, seed: int) -> None:
        name, block = self._name, self._block()
        seeded = f", seed {seed}" if kind in ("normal", "uniform", "xavier") else ""
        self._edit(f"Fill {tables.title(name)}: {kind}{seeded}", lambda e: edits.fill(e, name, kind, seed, block))

    @Slot(float)
    def _on_scale(self, factor: float) -> None:
        name = self._name
        self._edit(
            f"Scale {tables.title(name)} by {factor:g}".replace("-", "−"), lambda e: edits.scale(e, name, factor)
        )

    @Slot()
    def _on_transpose(self) -> None:
        name = self._name
        self._edit(f"Transpose {tables.title(name)}", lambda e: edits.transpose(e, name))

    @Slot(int)
    def _on_round(self, decimals: int) -> None:
        name = self._name
        self._edit(f"Round {tables.title(name)} to {decimals} decimals", lambda e: edits.round_table(e, name, decimals))

    @Slot(str, int)
    def _on_size(self, name: str, size: int) -> None:
        if name in ("T", "T_k"):
            side: batches.Side = "query" if name == "T" else "memory"
            self._edit(f"{name} = {size}", lambda e: token_edits.resize_tokens(e, size, side))
        elif name in self.shape_bar.free_sizes:
            self._edit(f"{name} = {size}", lambda e: edits.resize_free(e, name, size))
        else:
            self._edit(f"{name} = {size}", lambda e: edits.resize(e, **{name: size}))
        self.shape_bar.show_experiment(self._document.experiment)

    @Slot(int)
    def _on_item(self, item: int) -> None:
        self._edit(f"Sequence {item + 1} of {self._document.experiment.n_items}", lambda e: batches.select(e, item))

    @Slot()
    def _on_item_added(self) -> None:
        self._edit("Add a sequence", batches.add_item)

    @Slot()
    def _on_item_removed(self) -> None:
        self._edit("Remove a sequence", lambda e: batches.remove_item(e, e.item))

    @Slot(int)
    def _on_length(self, length: int) -> None:
        self._edit(f"Valid length = {length}", lambda e: batches.set_length(e, length))

    @Slot(bool)
    def _on_memory(self, on: bool) -> None:
        self._edit(f"Second sequence {'on' if on else 'off'}", lambda e: toggle_memory(e, on))
        self._refresh()

    @Slot(bool)
    def _on_output(self, on: bool) -> None:
        self._edit(f"W_o {'on' if on else 'off'}", lambda e: edits.toggle_output(e, on))

    @Slot(bool)
    def _on_biases(self, on: bool) -> None:
        self._edit(f"Biases {'on' if on else 'off'}", lambda e: edits.toggle_biases(e, on))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_table()  # there may be a scroll bar below it now, or none

    def sizeHint(self) -> QSize:
        """Return the width of the widest row of controls, with room for a scroll bar."""
        body = self.widget()
        if self.isHidden():  # Qt tells a layout inside another one of new fonts only once it is seen
            for layout in self.findChildren(QLayout):
                layout.invalidate()
        return QSize((body.minimumSizeHint().width() if body is not None else 0) + 12, 600)


def _section(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    return label
