"""Layout of the training's panels: settings, maps and curves side by side, or the curves below the maps."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.ui.base.dialog_parts import make_scroll_area
from attnlab.ui.base.theme import px
from attnlab.ui.train.control_bar import ControlBar
from attnlab.ui.train.maps_panel import MapsPanel
from attnlab.ui.train.predictions_panel import PredictionsPanel
from attnlab.ui.train.settings_panel import SettingsPanel
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.layouts.body_splitter import BodySplitter

LEFT, RIGHT = 272, 330
"""Widths of the panels at the sides, in pixels at 100 %."""
WIDE = 1000
"""In a window narrower than this, in pixels at 100 %, curves are below the maps."""
TIGHT = 640
"""In a window narrower than this, in pixels at 100 %, the settings take the place of the maps while they are shown."""


class PanelLayout:
    """Owns the splitter ``body``, its panel at the ``left`` and the ``side`` at the right, and arranges them for the
    width; the panels are created inside these.
    """

    _header: ControlBar
    _maps: MapsPanel
    _question: QWidget

    def __init__(self, page: QWidget) -> None:
        self.body = BodySplitter(page)
        self.left, self.side = QWidget(self.body), QWidget()
        self.side.setProperty("ground", "surface")
        self._above = QVBoxLayout(self.left)
        self._above.setContentsMargins(0, 0, 0, 0)
        self._above.setSpacing(0)
        self._right = make_scroll_area(self.side, "Curves and predictions", self.body)
        self._right.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._width, self.narrow, self._tight = 0, False, False
        self._arranged: tuple[bool, bool, int] | None = None

    def fill(self, header: ControlBar, settings: SettingsPanel, maps: MapsPanel, question: QWidget) -> None:
        """Put the panels into their places."""
        self._header, self._maps, self._question = header, maps, question
        self._above.addWidget(settings)
        self.body.restyled.connect(
            self.arrange, Qt.ConnectionType.QueuedConnection
        )  # once the panels are restyled, too
        for part in (self.left, maps, self._right):
            self.body.addWidget(part)
        self.body.setStretchFactor(1, 1)  # after all are added: adding a child moves it to the end

    def arrange(self, width: int | None = None) -> None:
        """Lay the panels out for a width, or for the current one; only a change of its class or font size moves them.

        The settings are shown the first time, and whenever narrow changes to wide or back, if there is room for both.
        """
        self._width = self._width if width is None else width
        narrow, tight = self._width < px(WIDE), self._width < px(TIGHT)
        if (narrow, tight, px(WIDE)) == self._arranged:
            return
        same = self._arranged is not None and self._arranged[:2] == (narrow, tight)
        self._arranged, self.narrow, self._tight = (narrow, tight, px(WIDE)), narrow, tight
        column = self._maps.overview.column
        if narrow:
            self._right.takeWidget()
            column.insertWidget(column.count() - 1, self.side)
        else:
            column.removeWidget(self.side)
            self._right.setWidget(self.side)
        self.side.show()
        self._right.setVisible(self._side_shown and not narrow)
        self._maps.head.put_pages(at_right=narrow)  # the end that neither the settings nor the curves move
        self._header.offer_settings(narrow)
        shown = self._header.settings.isChecked() if same else not tight
        self._header.settings.setChecked(shown)
        self.show_settings(shown)
        left, right = px(LEFT), 0 if narrow else px(RIGHT)
        self._side_width = right
        middle = len(self._list_middle())
        self.body.setSizes([left, *[max((self._width - left - right) // middle, px(200))] * middle, right])

    def show_settings(self, on: bool) -> None:
        """Show or hide the settings, beside the maps or in their place; the question is above what is shown."""
        self.left.setVisible(on)
        above = self._above if on and self._tight else self._maps.whole.rows
        if above.indexOf(self._question) < 0:
            above.insertWidget(0, self._question)
        for panel in self._list_middle():
            panel.setVisible(not (on and self._tight))

    def close_settings(self) -> bool:
        """Hide the settings if they are in the place of the maps; return whether they were."""
        hides = self._tight and self._header.settings.isChecked()
        if hides:
            self._header.settings.setChecked(False)
        return hides

    def _list_middle(self) -> list[QWidget]:
        """Return the panel of the maps, and that of a second run."""
        panels = map(self.body.widget, range(1, self.body.count() - 1))
        return [panel for panel in panels if panel is not None]

    def show_side(self, on: bool) -> None:
        """Show the curves at the side, as wide as they were, if there is room for them, or give it to the middle."""
        if on == self._side_shown:
            return
        self._side_shown = on
        if on:
            self._right.setVisible(not self.narrow)
            left, *middle, right = self.body.sizes()
            if not self.narrow and self._side_width:
                each = (sum(middle) + right - self._side_width) // len(middle)
                self.body.setSizes([left, *[each] * len(middle), self._side_width])
        else:
            self._side_width = self.body.sizes()[-1]
            self._right.hide()

    _side_shown, _side_width = True, 0

    def make_room_for_maps(self) -> None:
        """Hide the settings if the window is narrow."""
        if self.narrow:
            self._header.settings.setChecked(False)


def fill_side(side: QWidget, curves: QWidget, written: PredictionsPanel, text: QWidget) -> QLabel:
    """Fill the panel at the right, from above: curves, expected and predicted tokens, the model's text.

    Returns the heading of the tokens.
    """
    column = QVBoxLayout(side)
    column.setContentsMargins(16, 12, 16, 14)
    column.setSpacing(6)
    heading = QLabel("Expected and predicted")
    heading.setProperty("role", "section")
    how = ElidedLabel()
    how.setProperty("role", "caption")
    how.setAccessibleName("How the examples are predicted")
    how.hide()
    written.described.connect(how.setText)
    written.described.connect(lambda told: how.setVisible(bool(told)))
    column.addWidget(curves)
    column.addSpacing(10)
    column.addWidget(heading)
    column.addWidget(how)
    column.addWidget(written)
    column.addSpacing(10)
    column.addWidget(text)
    column.addStretch(1)
    return heading
