"""The columns of the playground: the inputs, the canvas and the explanation side by side."""

from typing import Protocol

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, scale

ROOMY, NARROW = 1200, 700
"""Widths in pixels at 100 % type: from the first on, the sides stay open even if the canvas then scrolls; below the
second, the explanation folds as well as the inputs."""
LEAST_CANVAS = 560
"""The width in pixels at 100 % type below which the canvas is too narrow, whatever it shows."""
FOLDS = ((False, False), (True, False), (True, True))
"""Whether the inputs and the explanation are folded, in the order in which they fold."""


class Middle(Protocol):
    """What stands between the inputs and the explanation."""

    def suits_canvas(self, width: int) -> bool | None:
        """Tell whether a width in pixels is enough for the canvas; None if that is not known yet."""

    def suits_lens(self, width: int) -> bool:
        """Tell whether a width in pixels is enough for the lens in the place of the canvas, if there is one."""


@guarded
class Columns(QSplitter):
    """Divides its width among the columns, until the user moves a border; a side that is dragged shut is folded.

    The inputs fold to a strip if the canvas would otherwise have to scroll. A lens may fold them, and then the
    explanation too, but it unfolds nothing: so the tabs above it seldom move.
    """

    folded = Signal(bool, bool)
    """Whether the inputs and the explanation are folded, when one of the two changes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(True)
        self.setHandleWidth(1)
        self._moved, self._width, self._inputs_hint = False, 0, 0
        self._folded = (False, False)
        self._open: dict[int, bool] = {}
        self._spine: QWidget
        self._inputs: QWidget
        self._canvas: QWidget
        self._explanation: QWidget
        self._middle: Middle
        self.splitterMoved.connect(self._on_splitter_moved)

    def fill(
        self,
        spine: QWidget,
        inputs: QWidget,
        canvas: QWidget,
        explanation: QWidget,
        middle: Middle,
    ) -> None:
        """Add the columns; the canvas takes the extra width of a wider window.

        ``spine`` takes the place of folded inputs; ``middle`` is the canvas, asked what it needs.
        """
        self._spine, self._inputs, self._canvas = spine, inputs, canvas
        self._explanation, self._middle = explanation, middle
        for widget in (spine, inputs, canvas, explanation):
            self.addWidget(widget)
        spine.hide()
        for index, stretch in enumerate((0, 0, 1, 0)):  # after all are added: adding a child moves it to the end
            self.setStretchFactor(index, stretch)

    def replace_explanation(self, column: QWidget) -> None:
        """Put another widget in the place of the explanation, such as one that holds it."""
        sizes, place = self.sizes(), self.indexOf(self._explanation)
        self.replaceWidget(place, column)
        self._explanation = column
        self.setStretchFactor(place, 0)
        column.setHidden(self._folded[1])
        self.setSizes(sizes)

    def arrange(self, width: int = 0) -> None:
        """Divide a width in pixels, or the last one with 0 (if there was one), for the current font size."""
        self._width = width or self._width
        if not self._width:
            return
        hint = self._inputs.sizeHint().width()
        self._fold(self._choose_folds())
        if not self._moved:
            spine, inputs, explanation = self._widths(self._folded)
            self.setSizes([spine, inputs, max(self._width - spine - inputs - explanation, 100), explanation])
        self._inputs_hint = hint

    def make_room(self) -> None:
        """Divide the width again when the inputs need more or less of it, or the canvas needs the inputs' room."""
        if self._inputs.sizeHint().width() != self._inputs_hint or self._choose_folds() != self._folded:
            self.arrange()

    def unfold(self, place: int, on: bool = True) -> None:
        """Show the inputs (0) or the explanation (1) until they are folded by hand; or fold them, without ``on``.

        If the two do not fit beside each other, the other one, which the user opened before, may fold again.
        """
        self._open[place] = on
        if on and self._room((False, False)) < self._canvas.minimumSizeHint().width():
            self._open.pop(1 - place, None)
        self._moved = False
        self.arrange()

    def let_fold(self, place: int) -> None:
        """Let the inputs (0) or the explanation (1) fold by themselves again."""
        self._open.pop(place, None)
        self.arrange()

    def _widths(self, folds: tuple[bool, bool]) -> tuple[int, int, int]:
        """Return the widths of the strip, the inputs and the explanation, 0 for what is hidden."""
        spine, inputs, explanation = self._open_widths()
        right = 0 if folds[1] else explanation
        return (spine, 0, right) if folds[0] else (0, inputs, right)

    def _open_widths(self) -> tuple[int, int, int]:
        inputs = max(min(round(self._width * 0.22), px(300)), self._inputs.sizeHint().width())
        explanation = min(max(round(self._width * 0.2), px(216)), px(304))
        return self._spine.minimumWidth(), inputs, explanation

    def _choose_folds(self) -> tuple[bool, bool]:
        """Return whether to fold the inputs and the explanation; what the user opened or folded stays so.

        A column with the keyboard focus does not fold by itself: somebody may be typing in it.
        """
        room = self._room(self._folded)
        if not self._width or (self._middle.suits_canvas(room) is None and room >= px(LEAST_CANVAS)):
            return self._folded
        wide = self._width / scale()
        chosen = next(filter(self._fits, FOLDS[:2]), (wide < ROOMY, wide < NARROW))
        more = FOLDS[FOLDS.index(chosen) :]
        chosen = next((folds for folds in more if self._middle.suits_lens(self._room(folds))), chosen)
        in_lesson = self.indexOf(self._explanation) < 0  # then the text of the lesson stands above the explanation
        busy = _has_focus(self._inputs), in_lesson or _has_focus(self._explanation)
        return (
            not self._open.get(0, busy[0] or not chosen[0]),
            not self._open.get(1, busy[1] or not chosen[1]),
        )

    def _room(self, folds: tuple[bool, bool]) -> int:
        return self._width - sum(self._widths(folds))

    def _fits(self, folds: tuple[bool, bool]) -> bool:
        room = self._room(folds)
        return self._middle.suits_canvas(room) is not False and room >= px(LEAST_CANVAS)

    def _fold(self, folds: tuple[bool, bool]) -> None:
        if folds == self._folded:
            return
        self._folded = folds
        self._spine.setVisible(folds[0])
        self._inputs.setHidden(folds[0])
        self._explanation.setHidden(folds[1])
        self._moved = False
        self.folded.emit(*folds)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._width and event.size().height() != event.oldSize().height():
            self.make_room()

    @Slot(int, int)
    def _on_splitter_moved(self, *_: int) -> None:
        self._moved = True
        for place, side in enumerate((self._inputs, self._explanation)):
            if side.isVisible() and self.indexOf(side) >= 0 and not self.sizes()[self.indexOf(side)]:
                self.unfold(place, on=False)  # else nothing would be left that opens it again


def _has_focus(column: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return focus is not None and column.isAncestorOf(focus)
