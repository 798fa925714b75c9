"""What part of a plane is seen, and how much it is magnified: the zoom and the pan of the canvas."""

from PySide6.QtCore import QPointF, QRectF, QSizeF

ZOOM_RANGE = (0.5, 12.0)


class Viewport:
    """A magnification, 1 at first, and the place of the plane's top left corner in the window, in pixels."""

    def __init__(self) -> None:
        self.zoom, self.offset = 1.0, QPointF(0, 0)

    def reset(self) -> None:
        """Show the plane unmagnified from its top left corner."""
        self.zoom, self.offset = 1.0, QPointF(0, 0)

    def zoom_at(self, factor: float, point: QPointF) -> None:
        """Magnify about a point of the window, which stays fixed, within the limits of the zoom."""
        zoom = min(max(self.zoom * factor, ZOOM_RANGE[0]), ZOOM_RANGE[1])
        self.offset = point - (point - self.offset) * (zoom / self.zoom)
        self.zoom = zoom

    def stay_within(self, window: QSizeF, plane: QSizeF) -> None:
        """Correct the offset: a smaller plane stays in the window, and a larger one fills it."""
        spare = window - plane * self.zoom
        self.offset = QPointF(
            _keep_within(self.offset.x(), spare.width()), _keep_within(self.offset.y(), spare.height())
        )

    def find_place(self, rect: QRectF) -> QRectF:
        """Return where a rectangle of the plane is in the window."""
        return QRectF(rect.topLeft() * self.zoom + self.offset, rect.size() * self.zoom)


def _keep_within(offset: float, spare: float) -> float:
    """Return an offset between 0 and the room that is spare, which is negative where the plane is larger."""
    return min(max(offset, min(spare, 0.0)), max(spare, 0.0))
