"""The short fade after a step of a walk: new cards appear gradually, unless a key or a click skips it."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QVariantAnimation, Slot
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.motion import motion_ms
from attnlab.ui.playground.card import StageCard


@guarded
class Fade(QObject):
    """Fades out a veil over the cards' new numbers, which are there from the start."""

    def __init__(self, canvas: QWidget, cards: Sequence[StageCard]) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._cards = cards
        self.animation = QVariantAnimation(self)
        self.animation.setStartValue(1.0)
        self.animation.setEndValue(0.0)
        self.animation.valueChanged.connect(self._on_value_changed)
        self.animation.finished.connect(self.skip)
        canvas.installEventFilter(self)

    @property
    def running(self) -> bool:
        """Whether a fade is running."""
        return self.animation.state() == QVariantAnimation.State.Running

    def begin(self) -> None:
        """Fade in the last step's results on visible cards."""
        self.skip()
        duration_ms = motion_ms(self._canvas)
        if duration_ms and any(card.fresh and card.isVisible() for card in self._cards):
            self.animation.setDuration(duration_ms)
            _application().installEventFilter(self)
            self.animation.start()

    @Slot()
    def skip(self) -> None:
        """Show everything at once."""
        self.animation.stop()
        _application().removeEventFilter(self)
        for card in self._cards:
            card.set_veil(0.0)

    @Slot(object)
    def _on_value_changed(self, strength: object) -> None:
        assert isinstance(strength, float)
        for card in self._cards:
            if card.fresh:
                card.set_veil(strength)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        wants_it = event.type() in (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress)
        if self.running and (wants_it or (watched is self._canvas and event.type() == QEvent.Type.Hide)):
            self.skip()
        return False


def _application() -> QApplication:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application
