"""A card with a title and a chart of curves below it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.surface import Surface

LEAST = 150
"""The least height of the chart, in pixels at 100 %."""


@guarded
class ChartCard(FollowsTheme, Surface):
    """Shows a chart on a rounded background."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(title)
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._title.setProperty("role", "caption_strong")
        self.chart = LineChart(title)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        column.addWidget(self._title)
        column.addWidget(self.chart, 1)

    def restyle(self) -> None:
        """Set the least height."""
        self.chart.setMinimumHeight(px(LEAST))
