"""The probe, the answer and a page of maps below each other, which share a height or are scrolled as a whole."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.train.answer_card import AnswerCard, frame_answer
from attnlab.ui.train.maps_head import MapsHead
from attnlab.ui.widgets.layouts.low_scroll import LowScroll

LEAST_PAGE = 120
"""The least height of the maps, the diagram or the inside, in pixels at 100 %, without which the whole scrolls."""


@guarded
class MapsColumn(LowScroll):
    """Gives the page what is left below the head and the answer; others may add ``rows`` above these."""

    def __init__(self, head: MapsHead, answer: AnswerCard, page: QWidget) -> None:
        inside = QWidget()
        super().__init__(inside, "Input, answer and maps, scrolled")
        inside.setProperty("ground", "ground")
        self._head, self._answer, self._page = head, answer, page
        self._answer_frame = frame_answer(answer)
        self.rows = QVBoxLayout(inside)
        self.rows.setContentsMargins(0, 0, 0, 0)
        self.rows.setSpacing(0)
        self.rows.addWidget(head)
        self.rows.addLayout(self._answer_frame)
        self.rows.addWidget(page, 1)
        answer.fold_changed.connect(self._fit_rows)

    def arrange(self, least: int, legible: int) -> None:
        """Fold the answer to one line where the page needs its height, see :meth:`AnswerCard.arrange`."""
        self._answer.arrange(self.height() - self._measure_above(), least, legible)
        self._fit_rows()

    def _measure_above(self) -> int:
        """Return the height of what is above the answer."""
        items, width = map(self.rows.itemAt, range(self.rows.count())), self.viewport().width()
        found = [widget for item in items if item is not None and (widget := item.widget()) is not None]
        above = [widget for widget in found if widget is not self._page and not widget.isHidden()]
        return sum(max(_measure_height(each, width), each.minimumHeight()) for each in above)

    @Slot()
    def _fit_rows(self) -> None:
        """Scroll the whole where too little is left for the page, which then gets the height of the room."""
        answer = 0 if self._answer.isHidden() else self._answer_frame.sizeHint().height()
        above, room = self._measure_above() + answer, self.height()
        self.set_wanted(above + room if room - above < px(LEAST_PAGE) else 0)
        scrolls = self.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOn
        self._head.set_room_at_right(self.verticalScrollBar().sizeHint().width() if scrolls else 0)


def _measure_height(widget: QWidget, width: int) -> int:
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
