"""The legend of a chart: a sample and the name of each curve and band, in rows as wide as the chart."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from attnlab.figures.palette import mix
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.charts.bands import EDGE, FILL
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.line_painting import FAINT
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

SAMPLE = 18, 10
"""Width and height of a sample, in pixels at 100 %."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A name with the look of its curve, or of its band if ``is_band``."""

    name: str
    colour: str
    width: float = 1.75
    faint: bool = False
    is_band: bool = False
    is_dashed: bool = False


def list_entries(chart: LineChart) -> tuple[LegendEntry, ...]:
    """Return the entries of the curves and bands that a chart shows: its own curve first, as it is drawn last."""
    lines = [
        LegendEntry(line.name, line.colour, line.width, line.faint, is_dashed=line.is_dashed)
        for line in chart.lines
        if line.listed
    ]
    bands = [LegendEntry(band.name, band.colour, is_band=True) for band in chart.bands]
    return (*reversed(lines), *bands)


class ChartLegend(QWidget):
    """Shows the legend of a chart; hidden while the chart has a single curve, which its heading names."""

    def __init__(self, chart: LineChart, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chart = chart
        self._entries: tuple[LegendEntry, ...] = ()
        self._cells: list[tuple[QWidget, _Sample, QLabel]] = []
        self._flow = FlowLayout(self, gap=4)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.hide()

    @property
    def names(self) -> list[str]:
        """The names that are shown."""
        return [entry.name for entry in self._entries] if not self.isHidden() else []

    def refresh(self) -> None:
        """Show what the chart shows now."""
        entries = list_entries(self._chart)
        if entries != self._entries:
            self._entries = entries
            self._show(entries)
        self.setVisible(len(entries) > 1 and not self._chart.isHidden())

    def _show(self, entries: Sequence[LegendEntry]) -> None:
        while len(self._cells) < len(entries):
            cell, sample, label = QWidget(), _Sample(), QLabel()
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setProperty("role", "caption")
            row = QHBoxLayout(cell)
            row.setContentsMargins(0, 0, 6, 0)
            row.setSpacing(5)
            row.addWidget(sample)
            row.addWidget(label)
            self._flow.addWidget(cell)
            self._cells.append((cell, sample, label))
        for place, (cell, sample, label) in enumerate(self._cells):
            cell.setVisible(place < len(entries))
            if place < len(entries):
                sample.show_entry(entries[place])
                label.setText(entries[place].name)


@guarded
class _Sample(FollowsTheme, QWidget):
    """A short piece of a curve or of a band."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: LegendEntry | None = None

    def restyle(self) -> None:
        """Set the size."""
        self.setFixedSize(QSize(px(SAMPLE[0]), px(SAMPLE[1])))

    def show_entry(self, entry: LegendEntry) -> None:
        """Show the look of an entry."""
        self._entry = entry
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._entry is None:
            return
        entry, p, painter = self._entry, palette_of(self), QPainter(self)
        colour: str = getattr(p, entry.colour)
        middle, wide = self.height() / 2, float(self.width())
        if entry.is_band:
            painter.setPen(QPen(QColor(mix(p.surface, colour, EDGE)), 1))
            painter.setBrush(QColor(mix(p.surface, colour, FILL)))
            painter.drawRect(QRectF(0.5, 0.5, wide - 1, self.height() - 1.0))
        else:
            style = Qt.PenStyle.DashLine if entry.is_dashed else Qt.PenStyle.SolidLine
            painter.setPen(QPen(QColor(mix(colour, p.surface, FAINT) if entry.faint else colour), entry.width, style))
            painter.drawLine(QPointF(0, middle), QPointF(wide, middle))
        painter.end()
