"""The layout of the cards: two columns side by side, or one below the other in a narrow window, which scrolls."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QScrollArea, QVBoxLayout, QWidget

from attnlab.ui.base.theme import px
from attnlab.ui.widgets.layouts.body_splitter import BodySplitter

PANEL = 264
"""The width of the panel, in pixels at 100 %."""
WIDE, ROOMY = 880, 1180
"""From these widths, in pixels at 100 %, the panel is beside the cards, and the cards are in two columns."""


class BodyLayout:
    """Owns the splitter ``body``; ``first`` are the cards of the first column from above, ``second`` of the second.

    ``diagram`` takes the place of the first column when it is shown.
    """

    def __init__(
        self,
        panel: QWidget,
        overview: QWidget,
        below: tuple[QWidget, ...],
        second: tuple[QWidget, ...],
        diagram: QWidget,
    ) -> None:
        self._panel, self._width = panel, 0
        self.narrow = False
        self.body = BodySplitter()
        self.body.restyled.connect(self.arrange, Qt.ConnectionType.QueuedConnection)
        inside = QWidget()
        inside.setProperty("ground", "ground")
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, inside)
        self._columns.setContentsMargins(14, 14, 14, 14)
        self._columns.setSpacing(14)
        left, right = QVBoxLayout(), QVBoxLayout()
        self._pair = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        for each in (left, right, self._pair):
            each.setSpacing(14)
        left.addWidget(overview, 3)
        for card in below:
            self._pair.addWidget(card, 1)
        left.addLayout(self._pair, 2)
        left.addWidget(diagram, 5)
        diagram.hide()
        self._left, self._maps, self._diagram = left, (overview, *below), diagram
        right.addWidget(second[0], 3)
        right.addWidget(second[1], 2)
        self._columns.addLayout(left, 1)
        self._columns.addLayout(right, 1)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setAccessibleName("Heads")
        self.area.setWidget(inside)
        self.body.addWidget(panel)
        self.body.addWidget(self.area)
        self.body.setStretchFactor(1, 1)
        self._arranged: tuple[bool, bool, int] | None = None

    def show_diagram(self, on: bool) -> None:
        """Show the diagram in place of the first column, or the column again, from the top."""
        for card in self._maps:
            card.setVisible(not on)
        self._left.setStretchFactor(self._pair, 0 if on else 2)
        for column, stretch in enumerate((2, 1) if on else (1, 1)):
            self._columns.setStretch(column, stretch)
        self._diagram.setVisible(on)
        self.area.verticalScrollBar().setValue(0)  # Qt scrolls to what gets the focus of a hidden card

    def arrange(self, width: int | None = None) -> bool:
        """Lay the cards out for a width, or for the current one; return whether the panel needs a button."""
        self._width = self._width if width is None else width
        beside, roomy = self._width >= px(WIDE), self._width >= px(ROOMY)
        if (beside, roomy, px(100)) != self._arranged:
            self._arranged = (beside, roomy, px(100))
            direction = QBoxLayout.Direction
            self._columns.setDirection(direction.LeftToRight if roomy else direction.TopToBottom)
            pair_wide = roomy or self._width - (px(PANEL) if beside else 0) >= px(560)
            self._pair.setDirection(direction.LeftToRight if pair_wide else direction.TopToBottom)
            self.body.setSizes([px(PANEL), max(self._width - px(PANEL), px(200))])
            self.narrow = not beside
        return not beside
