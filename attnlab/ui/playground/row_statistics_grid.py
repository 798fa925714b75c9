"""The statistics of a row of weights: a name and a number on each line."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from attnlab.attention.measures.statistics import RowStatistics, name_strongest
from attnlab.attention.stages.arithmetic import number
from attnlab.ui.base.theme import plain_tip

ROWS = (
    ("entropy", "entropy"),
    ("effective", "effective tokens"),
    ("strongest", "strongest"),
    ("largest", "largest"),
    ("distance", "distance"),
    ("total", "sum"),
)


class RowStatisticsGrid(QWidget):
    """Shows the statistics of a row, or nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        self._values: dict[str, QLabel] = {}
        for line, (key, title) in enumerate(ROWS):
            name, value = QLabel(title), QLabel()
            name.setProperty("role", "muted")
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setWordWrap(True)
            value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            grid.addWidget(name, line, 0)
            grid.addWidget(value, line, 1)
            self._values[key] = value
        grid.setColumnStretch(1, 1)

    def show_statistics(self, statistics: RowStatistics | None, keys: tuple[str, ...]) -> None:
        """Show the statistics of a row with these keys; hide without any."""
        self.setVisible(statistics is not None)
        if statistics is None:
            return
        for key, text in _write(statistics, keys).items():
            label, short = self._values[key], text if len(text) <= 28 else f"{text[:27]}…"
            if label.text() == short and label.toolTip() == plain_tip(text):
                continue
            label.setToolTip(plain_tip(text))
            label.setAccessibleName(f"Row: {dict(ROWS)[key]}: {text}")
            label.setText(short)


def _write(statistics: RowStatistics, keys: tuple[str, ...]) -> dict[str, str]:
    """Return each statistic as text."""
    entropy = f"{number(statistics.entropy)} of {number(statistics.most)}"
    return {
        "total": number(statistics.total),
        "entropy": "not defined" if statistics.entropy != statistics.entropy else entropy,
        "effective": "not defined" if statistics.effective != statistics.effective else f"{statistics.effective:.2f}",
        "largest": number(statistics.largest),
        "strongest": name_strongest(keys, statistics.strongest, statistics.tied),
        "distance": (
            "not defined" if statistics.distance != statistics.distance else f"{statistics.distance:.2f} tokens"
        ),
    }
