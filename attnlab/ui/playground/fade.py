"""The short motion of a walk: what a step brought appears softly, unless a key or a click wants it at once."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QVariantAnimation, Slot
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.motion import motion_ms
from attnlab.ui.playground.card import StageCard


@guarded
class Fade(QObject):
    """Takes a veil away from the new numbers of cards, which are there from the first moment on."""

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
        """Whether something is just appearing."""
        return self.animation.state() == QVariantAnimation.State.Running

    def begin(self) -> None:
        """Let appear what the last step brought to cards that can be seen."""
        self.skip()
        duration_ms = motion_ms(self._canvas)
        if duration_ms and any(card.fresh and card.isVisible() for card in self._cards):
            self.animation.setDuration(duration_ms)
            _application().installEventFilter(self)
            self.animation.start()

    @Slot()
    def skip(self) -> None:
        """Let everything appear at once."""
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
