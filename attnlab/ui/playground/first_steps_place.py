"""The place of the first steps: a card at the foot of the inputs, or a link above the canvas if there is no room, while
no state is pinned."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.playground.first_steps import FirstSteps
from attnlab.ui.playground.first_steps_card import FirstStepsCard
from attnlab.ui.widgets.popup import Popup

if TYPE_CHECKING:
    from attnlab.ui.playground.inputs_panel import InputsPanel
    from attnlab.ui.playground.lens_area import LensArea

MARGIN = 12
LEAST_WIDTH = 200
"""The least width of the card, in pixels at 100 %."""
_ARRANGED_ON = (
    QEvent.Type.Resize,
    QEvent.Type.Move,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.StyleChange,
    QEvent.Type.LayoutRequest,
)


@guarded
class FirstStepsPopup(FollowsTheme, Popup):
    """The card in a popup, opened by the link."""

    def __init__(self, steps: FirstSteps, parent: QWidget) -> None:
        super().__init__(parent)
        self.card = FirstStepsCard(steps, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self.card)

    def restyle(self) -> None:
        """Set the size."""
        self.setFixedWidth(px(280))

    def open_below(self, link: QWidget) -> None:
        """Show the popup below a widget, their right edges aligned."""
        self.card.refresh()
        self.setFixedHeight(self.card.heightForWidth(self.width() - 16) + 16)
        corner = link.mapToGlobal(QPoint(link.width() - self.width(), link.height() + 4))
        self.move(max(corner.x(), link.window().x()), corner.y())
        self.show()


@guarded
class FirstStepsPlace(QObject):
    """Shows the card or the link, as there is room."""

    def __init__(self, steps: FirstSteps, inputs: "InputsPanel", lenses: "LensArea") -> None:
        super().__init__(steps)
        self._steps, self._inputs = steps, inputs
        self.foot = QWidget(inputs)
        self.foot.setProperty("ground", "surface")
        self.foot.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.foot.hide()
        self.card = FirstStepsCard(steps, self.foot)
        self.link = QToolButton()
        self.link.setProperty("link", True)
        self.link.setToolTip("Three things to try first")
        self.link.clicked.connect(self._on_link_clicked)
        lenses.add_to_bar(self.link)
        self._looks = lenses.bar.looks
        self.popup: FirstStepsPopup | None = None
        self._frame: object = None
        self._least_height = 0
        # the second is narrower beside a scroll bar
        for watched in (inputs, inputs.viewport(), inputs.body, self._looks):
            watched.installEventFilter(self)
        steps.refreshed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the present state of the steps, where there is room."""
        steps = self._steps
        fits = steps.is_shown and self._has_room()
        if fits:
            self.card.refresh()
            height = self.card.heightForWidth(self._width())
            foot = height + 2 * MARGIN
            self._inputs.reserve_foot(foot)
            self.foot.setGeometry(0, self._inputs.height() - foot, self._inputs.viewport().width(), foot)
            self.card.setGeometry(MARGIN, MARGIN, self._width(), height)
        else:
            self._inputs.reserve_foot(0)
        self.foot.setVisible(fits)
        self.link.setText(f"First steps {len(steps.done)}/{len(self.card.rows)}")
        is_pinned = not self._looks.isHidden()  # the switches between two states need the room
        self.link.setVisible(steps.is_shown and not fits and not is_pinned)
        if self.popup is not None and self.popup.isVisible():
            self.popup.card.refresh()
            if not steps.is_shown:
                self.popup.hide()

    def _width(self) -> int:
        return self._inputs.viewport().width() - 2 * MARGIN

    def _has_room(self) -> bool:
        inputs = self._inputs
        # beside a scroll bar, even if there is none: the card may add one, and must not go because of it
        width = inputs.width() - inputs.verticalScrollBar().sizeHint().width() - 2 * MARGIN
        if inputs.isHidden() or inputs.geometry().right() < 0 or width < px(LEAST_WIDTH):
            return False
        return inputs.height() - self.card.heightForWidth(width) - 2 * MARGIN >= inputs.measure_least_height()

    def open(self) -> None:
        """Show the card in a popup if it has no room in the window."""
        if self.foot.isHidden():
            self._open_popup(self._looks if self.link.isHidden() else self.link)

    @Slot()
    def _on_link_clicked(self) -> None:
        self._open_popup(self.link)

    def _open_popup(self, above: QWidget) -> None:
        if self.popup is None:
            self.popup = FirstStepsPopup(self._steps, self.link)
        self.popup.open_below(above)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in _ARRANGED_ON and (self._steps.is_shown or not self.foot.isHidden()):
            inputs = self._inputs
            frame = inputs.isHidden(), inputs.geometry(), inputs.viewport().width(), self._looks.isHidden()
            same = frame == self._frame and kind != QEvent.Type.StyleChange
            if not same or kind == QEvent.Type.LayoutRequest:  # Qt sends several events for each change
                least = inputs.measure_least_height()
                same = same and least == self._least_height
                self._frame, self._least_height = frame, least
            if not same:
                self.refresh()
        return False
