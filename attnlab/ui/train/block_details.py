"""The chosen block of a model: a sentence, its formula, shapes and parameters, and its maps with labels."""

from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from attnlab.figures.diagram.block_shapes import name_shape
from attnlab.figures.subscripts import keep_products, write_html
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.maps_view import MapsView
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from attnlab.training.look import LayerMaps
    from attnlab.training.model_tree import Block, ModelTree

WIDTH = 300
"""The width of the details beside a diagram, in pixels at 100 %."""


class BlockDetails(FollowsTheme, QWidget):
    """Shows a block. ``head_chosen`` carries a head whose map was clicked."""

    head_chosen = Signal(int)
    map_wanted = Signal()
    playground_wanted = Signal()

    def __init__(self, opens: bool = True) -> None:
        """Create the panel; without ``opens`` it has no buttons that open a map elsewhere."""
        super().__init__()
        self._opens = opens
        self.setProperty("ground", "surface")
        self.setAccessibleName("The chosen block")
        self.heading, self.title, self.about, self.formula = _section("Selected"), QLabel(), QLabel(), QLabel()
        self.title.setProperty("role", "title")
        self.about.setProperty("role", "muted")
        self.title.setAccessibleName("Chosen block")
        for label in (self.title, self.about, self.formula):
            rich = label is self.formula
            label.setTextFormat(Qt.TextFormat.RichText if rich else Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self._shapes_head, self._parameters_head, self._heads_head = map(
            _section, ("Shapes", "Parameters", "Its heads")
        )
        self._shapes, self._parameters = QGridLayout(), QGridLayout()
        self.heads = MapsView()
        self.heads.setAccessibleName("Maps of the chosen block")
        self.heads.map_opened.connect(self.head_chosen)
        self.large_button, self.open_button = QPushButton("Large map"), QPushButton("Open in Playground")
        self.large_button.setToolTip("Show the chosen head’s map large (Esc returns)")
        self.open_button.setToolTip("Open this layer in the playground with its real inputs and weights")
        self.large_button.clicked.connect(self.map_wanted)
        self.open_button.clicked.connect(self.playground_wanted)
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 14)
        column.setSpacing(6)
        for part in (self.heading, self.title, self.about, self.formula):
            column.addWidget(part)
        for head, grid in ((self._shapes_head, self._shapes), (self._parameters_head, self._parameters)):
            column.addSpacing(6)
            column.addWidget(head)
            column.addLayout(grid)
        column.addSpacing(6)
        column.addWidget(self._heads_head)
        column.addWidget(self.heads)
        row = FlowLayout(gap=6)
        row.addWidget(self.open_button)
        row.addWidget(self.large_button)
        column.addLayout(row)
        column.addStretch(1)

    def restyle(self) -> None:
        """Set the fonts."""
        self.title.setFont(font("title"))
        self.setMinimumWidth(px(180))

    def show_block(self, block: "Block", tree: "ModelTree", maps: "LayerMaps | None") -> None:
        """Show a block of a model, and the maps of its layer if it has one."""
        self.title.setText(_name(block))
        self.about.setText(block.about)
        self.formula.setText(write_html(keep_products(block.formula)))
        self.formula.setVisible(bool(block.formula))
        rows = [(name, said, name_shape(shape)) for name, said, shape in block.inputs]
        rows = rows or ([("Output", "for this input", name_shape(block.shape))] if block.shape else [])
        self._show_rows(self._shapes, rows)
        self._shapes_head.setVisible(bool(rows))
        share = f" of {tree.total:,}" if block.total else ""
        self._parameters_head.setText(f"Parameters: {block.total:,}{share}")
        tables = _list_tables(block)
        frozen = block.total - block.trainable
        if block.total:
            tables.append(("Trainable", "" if frozen else "all", f"{block.trainable:,}"))
        self._show_rows(self._parameters, tables)
        for part in (self._heads_head, self.heads, self.large_button, self.open_button):
            is_button = part in (self.large_button, self.open_button)
            part.setVisible(maps is not None and (self._opens or not is_button))
        if maps is not None:
            count = len(maps.weights)
            self._heads_head.setText(f"Its {count} heads" if count > 1 else "Its map")
            self.heads.show_maps([maps])

    @staticmethod
    def _show_rows(grid: QGridLayout, rows: list[tuple[str, str, str]]) -> None:
        """Show rows of three texts, in labels that are kept for the next block."""
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        for at in range(max(len(rows), grid.rowCount())):
            for column in range(3):
                item = grid.itemAtPosition(at, column)
                label = item.widget() if item is not None else None
                if label is None and at < len(rows):
                    label = FormulaLabel(role="caption" if column == 1 else "")
                    right = Qt.AlignmentFlag.AlignRight if column == 2 else Qt.AlignmentFlag.AlignLeft
                    label.setAlignment(right | Qt.AlignmentFlag.AlignVCenter)
                    label.setWordWrap(column == 1)
                    grid.addWidget(label, at, column)
                if isinstance(label, QLabel):
                    label.setText(rows[at][column] if at < len(rows) else "")
                    label.setVisible(at < len(rows))


def _list_tables(block: "Block") -> list[tuple[str, str, str]]:
    """Return the names, sizes and counts of a block's tables; neighbours of one shape share a row."""
    rows = []
    for shape, found in groupby(block.tables, key=lambda table: table.shape):
        tables = list(found)
        size = " × ".join(map(str, ([len(tables)] if len(tables) > 1 else []) + list(shape)))
        rows.append((" ".join(table.name for table in tables), size, f"{sum(t.count for t in tables):,}"))
    return rows


def _section(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def _name(block: "Block") -> str:
    """Return the full name of a block: its layer, then its title."""
    first = block.name.split(" ")
    where = " ".join(first[:2]) if len(first) > 1 and first[1].isdigit() else first[0] if block.title == "Norm" else ""
    return f"{where.capitalize()} · {block.title[:1].lower()}{block.title[1:]}" if where else block.title
