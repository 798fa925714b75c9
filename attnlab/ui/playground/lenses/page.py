"""The page that a lens of text and plots is laid out on."""

from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget


def scrolling_column(lens: QWidget) -> QVBoxLayout:
    """Return the column that fills a lens; it scrolls where the window is too small for what stands in it."""
    area, body = QScrollArea(), QWidget()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setWidget(body)
    outside, column = QVBoxLayout(lens), QVBoxLayout(body)
    outside.setContentsMargins(0, 0, 0, 0)
    outside.addWidget(area)
    column.setContentsMargins(16, 16, 16, 16)
    column.setSpacing(12)
    return column
