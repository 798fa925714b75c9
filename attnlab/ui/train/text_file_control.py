"""The control of a setting that is a text file: one of the user's, or the shipped one."""

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.form_style import PANEL, FormStyle
from attnlab.ui.widgets.fields.option_controls import Control
from attnlab.ui.widgets.fields.option_field import Field

NAMES = "Text or pairs (*.txt *.tsv *.md);;All (*)"


@guarded
class TextFileControl(Control):
    """Shows the name of a text file, opens another, and returns to the shipped text."""

    def __init__(self, field: Field, style: FormStyle = PANEL, parent: QWidget | None = None) -> None:
        super().__init__(field, style, parent)
        self.file_name = ElidedLabel()
        self.open, self.back = QPushButton("Open…"), QToolButton()
        self.open.setProperty("small", "true")
        self.open.setAccessibleName(f"Open a file for {field.title}")
        self.open.setToolTip("Train on a file of your own; it can also be dropped on the window")
        self.open.clicked.connect(self._on_open)
        self.back.setText("↺")
        self.back.setAccessibleName("Use the included data")
        self.back.setToolTip("Use the included data")
        self.back.clicked.connect(self._on_back)
        buttons, column = QHBoxLayout(), QVBoxLayout()
        buttons.addWidget(self.open)
        buttons.addWidget(self.back)
        buttons.addStretch(1)
        column.setSpacing(2)
        column.addWidget(self.file_name)  # above the buttons, where most names are seen whole
        column.addLayout(buttons)
        self._row.addLayout(column, 1)
        self.show_field(field)
        self.restyle()

    def restyle(self) -> None:
        super().restyle()
        self.setMinimumHeight(0)  # its two lines need their own height, not that of one

    def show_field(self, field: Field) -> None:
        self.field = field
        path = str(field.value or "")
        self.file_name.setText(Path(path).name if path else "included data")
        self.file_name.setToolTip(plain_tip(path) if path else "")
        self.back.setVisible(bool(path))

    def stops(self) -> list[QWidget]:
        return [self.open, self.back]

    @Slot()
    def _on_open(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Choose a file to train on", "", NAMES)
        if path:
            self.taken.emit(path)

    @Slot()
    def _on_back(self) -> None:
        self.taken.emit("")
