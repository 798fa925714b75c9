"""Parts of the pages of the positions explorer: named boxes, sentences, panels that can be enlarged."""

from collections.abc import Callable, Hashable
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.subscripts import FormulaLabel
from attnlab.ui.widgets.surface import Surface


class Page(QScrollArea):
    """One page of the explorer: it names the job it needs, and shows the result when it arrives.

    It is blank until the first result, because charts without curves have no axes.
    """

    changed = Signal()
    """The page needs another result now."""
    name = ""
    title = ""
    about = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(self.title)
        self._body = QWidget()
        self._body.setProperty("ground", "ground")
        self._column = QVBoxLayout(self._body)
        self._column.setContentsMargins(16, 8, 16, 16)
        self._column.setSpacing(16)
        self.setWidget(self._body)
        self._body.hide()

    def reveal(self) -> None:
        """Show the page's widgets, as its first result has arrived or it has something to say without one."""
        self._body.show()

    def describe_request(self) -> Hashable:
        """Return the parameters of the page's result, as a value to compare; None when there is nothing to compute."""
        raise NotImplementedError

    def job(self) -> Callable[[], Any]:
        """Return the function that computes the result, for the worker."""
        raise NotImplementedError

    def show_result(self, result: Any) -> None:
        """Show the result of the job."""
        raise NotImplementedError


class Fields(QWidget):
    """Whole numbers with their names, wrapped into rows, and a message when one is invalid."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = FlowLayout()
        self._message = QLabel()
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setWordWrap(True)
        self._message.setProperty("role", "error")
        self._message.setAccessibleName("Message about the numbers")
        self._message.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(self._row)
        column.addWidget(self._message)

    def add(self, name: str, title: str, tip: str, ends: tuple[int, int], value: int) -> NumberBox:
        """Add a box for a number between two ends; ``name`` is its accessible name, ``title`` the visible one."""
        box, label = NumberBox(), QLabel(title)
        box.setRange(*ends)
        box.setValue(value)
        box.setKeyboardTracking(False)
        box.setAlignment(Qt.AlignmentFlag.AlignRight)
        box.setAccessibleName(name)
        box.setToolTip(tip)
        box.valueChanged.connect(self._on_value_changed)
        box.refused.connect(self._on_refused)
        label.setProperty("role", "muted")
        label.setBuddy(box)
        pair = QWidget()  # keeps a name beside its number
        line = QHBoxLayout(pair)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        line.addWidget(label)
        line.addWidget(box)
        self._row.addWidget(pair)
        return box

    @property
    def message(self) -> str:
        """The message about an invalid number, "" for none."""
        return self._message.text()

    @Slot()
    def _on_value_changed(self) -> None:
        self._say("")
        self.changed.emit()

    @Slot(str)
    def _on_refused(self, sentence: str) -> None:
        sender = self.sender()
        self._say(f"{sender.accessibleName()}: {sentence}" if isinstance(sender, NumberBox) else sentence)

    def _say(self, sentence: str) -> None:
        show_text(self._message, sentence)
        self._message.setVisible(bool(sentence))


class Card(Surface):
    """A surface with a column of widgets on it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(12, 12, 12, 12)
        self.column.setSpacing(4)


@guarded
class Panel(FollowsTheme, Card):
    """A card with a picture and its title; a click on it, or on its button, enlarges it or shows all again."""

    clicked = Signal()

    def __init__(self, name: str, content: QWidget, inset: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self.content, self._large = name, content, False
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(True)
        self.button = QToolButton()
        self.button.clicked.connect(self.clicked)
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 8, 0)
        head.addWidget(self.title, 1)
        head.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        body = QVBoxLayout()
        body.setContentsMargins(inset, 0, inset, inset)
        body.addWidget(content)
        self.column.setContentsMargins(0, 8, 0, 0)
        self.column.setSpacing(0)
        self.column.addLayout(head)
        self.column.addLayout(body, 1)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        for area in content.findChildren(QAbstractScrollArea):  # a plot does not pass clicks on
            area.viewport().installEventFilter(self)
        self.set_large(False)

    def restyle(self) -> None:
        """Set the button's icon."""
        self.button.setIcon(icon("shrink" if self._large else "expand", palette_of(self), px(16)))
        self.button.setIconSize(QSize(px(16), px(16)))

    def set_large(self, large: bool) -> None:
        """Set whether the panel is enlarged."""
        self._large = large
        text = "Show all plots" if large else "Enlarge this plot"
        self.button.setToolTip(text)
        self.button.setAccessibleName(f"{text}: {self._name}")
        self.restyle()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonRelease and isinstance(event, QMouseEvent):
            if event.button() == Qt.MouseButton.LeftButton:
                self.clicked.emit()
            return True
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.setAccepted(event.button() == Qt.MouseButton.LeftButton)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


def sentence_label(text: str = "", role: str = "") -> FormulaLabel:
    """Return a label for sentences, which may contain the user's tokens: plain text, wrapped, selectable."""
    return FormulaLabel(text, role)
