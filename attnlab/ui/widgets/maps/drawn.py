"""Base of widgets that paint data: colours, a cached picture of the static parts, and a tool tip at each point."""

from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QColor, QHelpEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.figures.palette import Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.base.themed import FollowsTheme, palette_of


@guarded
class Drawn(FollowsTheme, QWidget):
    """Repeats its layout whenever the theme, the size of type, its size or the screen's resolution change."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._still: QPixmap | None = None

    @property
    def _palette(self) -> Palette:
        return palette_of(self)

    def restyle(self) -> None:
        """Repeat the layout with the present size of type."""
        self._arrange()

    def tool_tip(self, at: QPointF) -> str:
        """Return the tool tip at a point, "" for none."""
        raise NotImplementedError

    def _arrange(self) -> None:
        """Discard the cached picture; subclasses that compute a layout do so first."""
        self._still = None
        self.update()

    def _make_picture(self, colour: str) -> QPixmap:
        """Return a picture of one colour, with the size and resolution of the widget."""
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(QColor(colour))
        return picture

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self.tool_tip(QPointF(event.pos()))), self)
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._arrange()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
