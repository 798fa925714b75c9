"""The bar that shows a fault at the bottom of a window: one sentence, "Copy details" and "Dismiss"."""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from attnlab.base.fault_log import Fault, log_path
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px

MARGIN, WIDEST, NEAR = 12, 760, 40
"""Pixels at 100 %: the margin around the bar, its greatest width, and how close to the bottom a button row may be."""


@guarded
class FaultBar(QFrame):
    """A bar over the bottom of a window; it takes neither space in the layout nor the focus."""

    dismissed = Signal()
    left_behind = Signal()
    """The window was closed or hidden, and the bar with it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("fault-bar")
        self._faults: list[Fault] = []
        self._over = window
        self.sentence = QLabel()
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setWordWrap(True)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.copy = QPushButton("Copy details")
        self.close_button = QPushButton("Dismiss")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(self.sentence, 1)
        for button in (self.copy, self.close_button):
            button.setProperty("small", "true")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setAutoDefault(False)  # Return in a dialog still means the dialog's own button
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.copy.clicked.connect(self._on_copy)
        self.close_button.clicked.connect(self.dismissed)
        window.installEventFilter(self)

    def show_faults(self, faults: list[Fault]) -> None:
        """Show the newest of some faults, how often it happened, and how many others there are."""
        self._faults = faults
        newest = faults[-1]
        parts = [newest.sentence]
        if newest.times > 1:
            parts.append(f"It has happened {newest.times:,} times.")
        if len(faults) > 1:
            parts.append(f"The details list {len(faults) - 1} more.")
        self.sentence.setText(" ".join(parts))
        self.setAccessibleName(self.sentence.text())
        announce(self.sentence.text(), self)
        self.copy.setText("Copy details")
        self.copy.setToolTip(f"The details are also in {log_path()}")
        self._place()
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._place()
        elif event.type() == QEvent.Type.Hide:
            self.left_behind.emit()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        window = self._over
        width = max(1, min(window.width() - 2 * MARGIN, px(WIDEST)))
        height = max(self.heightForWidth(width), self.minimumSizeHint().height())
        top = max(0, window.height() - _foot(window) - height - MARGIN)
        self.setGeometry((window.width() - width) // 2, top, width, height)

    @Slot()
    def _on_copy(self) -> None:
        newest_first = (f"{each.sentence}\n{each.details}" for each in reversed(self._faults))
        QGuiApplication.clipboard().setText("\n".join(newest_first))
        self.copy.setText("Copied")


def _foot(window: QWidget) -> int:
    """Return the height of the status bar or the buttons at the bottom of a window, which must not be covered."""
    bars = (each for each in window.findChildren(QFrame) if each.property("ground") == "bottom")
    buttons = (each for each in window.findChildren(QPushButton) if not isinstance(each.parent(), FaultBar))
    heights = [0]
    for each in (*bars, *buttons):
        top = each.mapTo(window, QPoint()).y()
        if each.isVisible() and window.height() - px(NEAR) < top + each.height() <= window.height():
            heights.append(window.height() - top)
    return max(heights)
