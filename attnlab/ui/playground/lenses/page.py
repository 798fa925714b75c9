"""The scrolling page for the text and plots of a lens."""

from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget


def scrolling_column(lens: QWidget) -> QVBoxLayout:
    """Return the column that fills a lens; it scrolls if the window is too small for its contents."""
    area, body = QScrollArea(), QWidget()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setAccessibleName(f"{lens.accessibleName()}: text and plots")
    area.setWidget(body)
    outside, column = QVBoxLayout(lens), QVBoxLayout(body)
    outside.setContentsMargins(0, 0, 0, 0)
    outside.addWidget(area)
    column.setContentsMargins(16, 16, 16, 16)
    column.setSpacing(12)
    return column
