"""Which parts of the bar below have room: thumbnails or bars of the stages, the step's title, and figures."""

from typing import NamedTuple

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from attnlab.ui.base.theme import px
from attnlab.ui.playground.bar_message import BarMessage
from attnlab.ui.playground.computation_figures import ComputationFigures
from attnlab.ui.playground.progress import BARS, NAMES, THUMBNAILS, TICKS, Progress

ROOMY = 1240
"""The width in pixels at 100 % from which a step and the figures of the last computation both fit."""
TEXTS = 760
"""The width in pixels at 100 % that the thumbnails of the stages leave to buttons and texts."""
NARROW, AMPLE = 900, 2200
"""Below these widths only the check of the row sums fits: with all steps shown, and while a step is described."""
BRIEF = 540
"""Below this width the check of the row sums has no room for words."""


class Shown(NamedTuple):
    """The parts that are shown: how the stages are, the check of the row sums, other figures, and the step's title."""

    level: int
    sums: bool
    others: bool
    titled: bool


_LEAST = (Shown(BARS, False, False, True), Shown(BARS, False, False, False), Shown(TICKS, False, False, False))
"""What is shown beside a long message, in the order in which it is tried."""


class BarRoom:
    """Shows the parts of a bar that have room in its row."""

    def __init__(
        self, row: QHBoxLayout, progress: Progress, title: QLabel, message: BarMessage, figures: ComputationFigures
    ) -> None:
        self._row, self._progress, self._title = row, progress, title
        self._message, self._figures = message, figures

    def share(self, width: int, *, walking: bool, covered: bool) -> None:
        """Show what has room in a bar of this width in pixels, while a step is described or all are shown.

        The step's text comes before the last computation's figures, and a message before both: figures, thumbnails,
        title and the length of the bars are left out, in this order, as long as it would be cut. The sums of weights
        that are ``covered`` are left out too.
        """
        spare, brief = width - px(TEXTS), width < px(BRIEF)
        level = next((each for each in (NAMES, THUMBNAILS) if self._progress.measure_width(each) <= spare), BARS)
        sums = (not walking or width >= px(ROOMY)) and not covered
        shown = Shown(level, sums, width >= px(AMPLE if walking else NARROW), True)
        if self._message.sentence:
            choices = [shown, shown._replace(others=False), shown._replace(sums=False, others=False)]
            choices += _LEAST
            needs = self._message.whole_width
            shown = next((each for each in choices if self._measure(each, width, brief) >= needs), choices[-1])
        self._progress.show_level(shown.level)
        self._figures.show_parts(sums=shown.sums, others=shown.others, brief=brief)
        self._title.setVisible(shown.titled)

    def _measure(self, shown: Shown, width: int, brief: bool) -> int:
        """Return the width in pixels that is left to a message beside these parts."""
        row = self._row
        progress = 0 if self._progress.isHidden() else self._progress.measure_width(shown.level)
        widths: dict[QWidget, int] = {
            self._progress: progress,
            self._title: self._title.sizeHint().width() if shown.titled else 0,
            self._figures: self._figures.measure_width(sums=shown.sums, others=shown.others, brief=brief),
        }
        room = width - row.contentsMargins().left() - row.contentsMargins().right()
        for item in (row.itemAt(at) for at in range(row.count())):
            assert item is not None
            part, wide = item.widget(), item.sizeHint().width()
            if part is not None:
                wide = widths.get(part, 0 if part.isHidden() or row.stretch(row.indexOf(part)) else wide)
                wide += row.spacing() if wide else 0
            room -= wide
        return room
