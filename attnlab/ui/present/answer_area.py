"""The fields for answers on a slide: in large type, and scrolled if they do not all fit."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QApplication, QFrame, QLayout, QScrollArea, QWidget

from attnlab.ui.base.theme import BASE_PX, scale
from attnlab.ui.predict.answer_sheet import AnswerSheet

if TYPE_CHECKING:
    from attnlab.figures.slides.slide_layout import Box

SHARES = (1.0, 0.9, 0.8)
"""Sizes of type tried for answers, relative to the slide's; below the least they are scrolled."""


class AnswerArea(QScrollArea):
    """Scrolls so that the focused field is visible."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.sheet = AnswerSheet()
        self.setWidget(self.sheet)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Answers")
        for widget in (self.viewport(), self.sheet):
            widget.setAutoFillBackground(False)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    def place(self, box: "Box", size_px: float) -> None:
        """Fill a part of the slide with type of its size, or of the largest size that fits."""
        self.setGeometry(round(box.x), round(box.y), round(box.width), round(box.height))
        for share in SHARES:
            self.sheet.set_zoom(share * size_px / (BASE_PX * scale()))
            if self._measure_height(round(box.width)) <= box.height:
                break

    def _measure_height(self, width: int) -> int:
        """Return the height of all answers; the layouts have cached that of the earlier font."""
        for layout in self.sheet.findChildren(QLayout):
            layout.invalidate()
        return self.sheet.heightForWidth(width)

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self.sheet.isAncestorOf(now):
            self.ensureWidgetVisible(now)
