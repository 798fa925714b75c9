"""Buttons that change a whole table: fill, new random numbers, scale, transpose, round."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPushButton, QSizePolicy, QWidget, QWidgetAction

from attnlab.base.number_text import NumberError, parse_number
from attnlab.ui.widgets.fields.form_parts import pair
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

KINDS = (
    ("zeros", "Zeros"),
    ("identity", "Identity"),
    ("normal", "Normal (0, 1)"),
    ("uniform", "Uniform (−1, 1)"),
    ("xavier", "Xavier"),
)
RANDOM = ("normal", "uniform", "xavier")


class FillBar(QWidget):
    """Emits the requested change of the open table; the seed is always shown."""

    fill_requested = Signal(str, int)
    scale_requested = Signal(float)
    transpose_requested = Signal()
    round_requested = Signal(int)
    message_raised = Signal(str)
    """One sentence about an invalid factor or seed; "" when the next factor is valid."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = "normal"
        flow = FlowLayout(self)
        flow.setContentsMargins(0, 0, 0, 0)
        self.fill_button = QPushButton("Fill")
        self.fill_button.setToolTip("Fill the table, or the selected block")
        self.fill_button.setMenu(self._make_fill_menu())
        self.random_button = QPushButton("Random")
        self.random_button.setToolTip("Fill with new random numbers, from the next seed")
        self.random_button.clicked.connect(self._on_random)
        self.seed = NumberBox()
        self.seed.setRange(0, 99_999)
        self.seed.setAccessibleName("Seed")
        self.seed.refused.connect(self._on_seed_refused)
        self.seed.setToolTip("The same seed gives the same numbers")
        self.seed.setKeyboardTracking(False)
        self.seed.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.seed.setMinimumWidth(64)
        self.seed.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.change_button = QPushButton("Change")
        self.change_button.setToolTip("Scale, transpose or round the table")
        self.change_button.setMenu(self._make_change_menu())
        seed = pair(QLabel("seed"), self.seed, (0, 0))  # as a prefix of the number it would be heard twice
        for widget in (self.fill_button, self.change_button, self.random_button, seed):
            flow.addWidget(widget)

    def _make_fill_menu(self) -> QMenu:
        menu = QMenu(self)
        for kind, title in KINDS:
            action = menu.addAction(title)
            action.setData(kind)
        menu.triggered.connect(self._on_fill)
        return menu

    def _make_change_menu(self) -> QMenu:
        menu = QMenu(self)
        self.factor = QLineEdit("0.5")
        self.factor.setAccessibleName("Factor to scale by")
        self.factor.setPlaceholderText("scale by …")
        self.factor.setToolTip("A number to multiply the table by; press Enter to scale")
        self.factor.returnPressed.connect(self._on_scale)
        holder = QWidgetAction(menu)
        holder.setDefaultWidget(self.factor)
        for title, factor in (("Double", 2.0), ("Halve", 0.5), ("Negate", -1.0)):
            menu.addAction(title).setData(("scale", factor))
        menu.addSection("Scale by")
        menu.addAction(holder)
        menu.addSeparator()
        self.transpose_action = menu.addAction("Transpose")
        self.transpose_action.setData(("transpose", 0))
        for decimals in (0, 1, 2, 4):
            menu.addAction(f"Round to {decimals} decimals").setData(("round", decimals))
        menu.triggered.connect(self._on_change)
        return menu

    def set_square(self, square: bool) -> None:
        """Set whether the open table is square: only a square one can be transposed in place."""
        self.transpose_action.setEnabled(square)
        self.transpose_action.setToolTip("" if square else "Only a square table can be transposed in place")

    @Slot(QAction)
    def _on_fill(self, action: QAction) -> None:
        kind = str(action.data())
        self._kind = kind if kind in RANDOM else self._kind
        self.fill_requested.emit(kind, self.seed.value())

    @Slot()
    def _on_random(self) -> None:
        self.seed.setValue(self.seed.value() + 1)
        self.fill_requested.emit(self._kind, self.seed.value())

    @Slot(str)
    def _on_seed_refused(self, sentence: str) -> None:
        self.message_raised.emit(f"Seed: {sentence}")

    @Slot(QAction)
    def _on_change(self, action: QAction) -> None:
        if action.data() is None:
            return
        what, amount = action.data()
        if what == "scale":
            self.scale_requested.emit(amount)
        elif what == "transpose":
            self.transpose_requested.emit()
        else:
            self.round_requested.emit(amount)

    @Slot()
    def _on_scale(self) -> None:
        try:
            factor = parse_number(self.factor.text())
        except NumberError as error:
            self.message_raised.emit(f"Scale by: {error}.")
            self.factor.selectAll()
            return
        self.message_raised.emit("")
        menu = self.change_button.menu()
        if menu is not None:
            menu.hide()
        self.scale_requested.emit(factor)
