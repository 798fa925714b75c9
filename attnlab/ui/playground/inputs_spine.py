"""The narrow strip that stands for the inputs where the canvas needs their room: the text and each table."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QScrollArea, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground import input_tables as tables
from attnlab.ui.playground.tab_button import TabButton

if TYPE_CHECKING:
    from attnlab.document.document import Document

WIDTH, AIR = 52, 5
"""The width of the strip and the air beside a text on it, which leave room for a scroll bar."""


@guarded
class InputsSpine(FollowsTheme, QScrollArea):
    """Emits the table to open in the inputs, "" for the one that was open, or that the sentence is to be edited.

    It scrolls where a low window with large type has no room for every button.
    """

    table_requested = Signal(str)
    sentence_requested = Signal()

    def __init__(self, document: "Document", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setAccessibleName("Folded inputs")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # Tab goes to its buttons, and it scrolls to them
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget(self.viewport())
        body.setProperty("ground", "surface")
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 12, 0, 12)
        self._column.setSpacing(4)
        self.unfold_button = QToolButton()
        self.unfold_button.setAutoRaise(True)
        self.unfold_button.setAccessibleName("Show the inputs")
        self.unfold_button.setToolTip("Show the sentence, the numbers and the shape")
        self.unfold_button.clicked.connect(self._on_unfold)
        self._column.addWidget(self.unfold_button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.text_button = TabButton("Text", "Edit the sentence (Ctrl+L)", air=AIR)
        self.text_button.setAccessibleName("Edit the sentence")
        self.text_button.setCheckable(False)
        self.text_button.clicked.connect(self.sentence_requested)
        self._column.addWidget(self.text_button, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addStretch(1)
        self.buttons: dict[str, TabButton] = {}
        document.scene_changed.connect(self._on_scene_changed)
        self.setWidget(body)
        self._show_tables()

    def _show_tables(self) -> None:
        e = self._document.experiment
        there = tables.list_tables(e)
        for name in there:
            if name not in self.buttons:
                button = self.buttons[name] = TabButton(tables.title(name), f"Show {tables.title(name)}", air=AIR)
                button.setCheckable(False)
                button.setProperty("table", name)
                button.clicked.connect(self._on_table)
                self._column.insertWidget(self._column.count() - 1, button, 0, Qt.AlignmentFlag.AlignHCenter)
                self.setTabOrder([self.text_button, *self.buttons.values()][-2], button)  # one added later too
        for name, button in self.buttons.items():
            button.setVisible(name in there)

    def restyle(self) -> None:
        """Set the icon and the width."""
        self.unfold_button.setIcon(icon("panel", palette_of(self), px(20)))
        self.unfold_button.setIconSize(QSize(px(20), px(20)))
        self.setFixedWidth(px(WIDTH))

    @Slot(object)
    def _on_scene_changed(self, _scene: object) -> None:
        self._show_tables()

    @Slot()
    def _on_unfold(self) -> None:
        self.table_requested.emit("")

    @Slot()
    def _on_table(self) -> None:
        self.table_requested.emit(str(self.sender().property("table")))
