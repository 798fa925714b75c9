"""The columns of the playground: the inputs, the canvas and the explanation side by side."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QWidget

from attnlab.ui.base.theme import px


class Columns(QSplitter):
    """Divides its width among the three columns, until the user moves a border."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(True)
        self.setHandleWidth(1)
        self._moved, self._width, self._inputs_hint = False, 0, 0
        self._inputs: QWidget
        self.splitterMoved.connect(self._on_splitter_moved)

    def fill(self, inputs: QWidget, canvas: QWidget, explanation: QWidget) -> None:
        """Add the columns; the canvas takes the extra width of a wider window."""
        self._inputs = inputs
        for widget in (inputs, canvas, explanation):
            self.addWidget(widget)
        for index, stretch in enumerate((0, 1, 0)):  # after all are added: adding a child moves it to the end
            self.setStretchFactor(index, stretch)

    def arrange(self, width: int = 0) -> None:
        """Divide a width in pixels, or the last one with 0 (if there was one), for the current font size."""
        self._width = width or self._width
        if not self._width:
            return
        hint = self._inputs.sizeHint().width()
        if not self._moved:
            inputs = max(min(round(self._width * 0.22), px(300)), hint)
            explanation = min(max(round(self._width * 0.2), px(216)), px(276))
            self.setSizes([inputs, max(self._width - inputs - explanation, 100), explanation])
        self._inputs_hint = hint

    def make_room(self) -> None:
        """Divide the width again when the inputs need more or less of it: a second sequence, a batch."""
        if self._inputs.sizeHint().width() != self._inputs_hint:
            self.arrange()

    @Slot(int, int)
    def _on_splitter_moved(self, *_: int) -> None:
        self._moved = True
