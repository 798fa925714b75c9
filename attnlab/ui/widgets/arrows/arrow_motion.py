"""The short motion of arrows from one picture to the next: from tokens to queries and keys, or to another plane."""

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation, Signal, Slot
from PySide6.QtWidgets import QWidget

from attnlab.figures.arrows.arrow_blend import blend_arrows, find_starts
from attnlab.figures.arrows.arrow_data import ArrowsData, Point
from attnlab.ui.base.motion import motion_ms


class ArrowMotion(QObject):
    """Moves every tip on a straight line; ``moved`` says that ``data`` is another picture."""

    moved = Signal()

    def __init__(self, plane: QWidget) -> None:
        super().__init__(plane)
        self._plane = plane
        self._starts: tuple[Point, ...] = ()
        self._end: ArrowsData | None = None
        self._share = 1.0
        self.animation = QVariantAnimation(self)
        self.animation.setStartValue(0.0)
        self.animation.setEndValue(1.0)
        self.animation.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self.animation.valueChanged.connect(self._on_value_changed)
        self.animation.finished.connect(self.skip)

    @property
    def data(self) -> ArrowsData | None:
        """What to paint while arrows move; None at rest."""
        return None if self._end is None else blend_arrows(self._starts, self._end, self._share)

    def begin(self, before: ArrowsData, after: ArrowsData) -> None:
        """Move from one picture to another, unless motion is reduced or the plane is hidden."""
        self.skip()
        duration_ms = 2 * motion_ms(self._plane)
        if not duration_ms or not self._plane.isVisible():
            return
        self._starts = find_starts(before, after)
        self._end, self._share = after, 0.0
        self.animation.setDuration(duration_ms)
        self.animation.start()

    @Slot()
    def skip(self) -> None:
        """Show all arrows where they belong."""
        self.animation.stop()
        if self._end is not None:
            self._end = None
            self.moved.emit()

    @Slot(object)
    def _on_value_changed(self, share: object) -> None:
        assert isinstance(share, float)
        self._share = share
        self.moved.emit()
