"""The answers of two runs side by side: equally high, so that their maps are level, and of one kind."""

from PySide6.QtCore import QEvent, QObject

from attnlab.ui.base.guard import guarded
from attnlab.ui.train.answer_card import AnswerCard

_LAYOUT = (QEvent.Type.LayoutRequest, QEvent.Type.Show, QEvent.Type.Hide)


@guarded
class AnswerPair(QObject):
    """Keeps two cards equally high; folding one, or choosing the tokens that its model reads, changes both."""

    def __init__(self, first: AnswerCard, second: AnswerCard, parent: QObject) -> None:
        super().__init__(parent)
        self._cards = first, second
        second.set_mode(first.mode)
        second.copy_fold(first)
        first.mode_changed.connect(second.set_mode)
        second.mode_changed.connect(first.set_mode)
        first.fold_changed.connect(second.copy_fold)
        second.fold_changed.connect(first.copy_fold)
        for card in self._cards:
            card.installEventFilter(self)
        self._match()

    def part(self) -> None:
        """Let the first card have its own height again; the second is about to be deleted."""
        first, second = self._cards
        for card in self._cards:
            card.removeEventFilter(self)
        first.mode_changed.disconnect(second.set_mode)
        second.mode_changed.disconnect(first.set_mode)
        first.fold_changed.disconnect(second.copy_fold)
        second.fold_changed.disconnect(first.copy_fold)
        _keep_height(first, 0)
        self.deleteLater()

    def _match(self) -> None:
        tall = max((card.sizeHint().height() for card in self._cards if not card.isHidden()), default=0)
        for card in self._cards:
            _keep_height(card, tall)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _LAYOUT:
            self._match()
        return super().eventFilter(watched, event)


def _keep_height(card: AnswerCard, tall: int) -> None:
    """Give a card a least height, which it keeps while it has nothing to show."""
    card.setMinimumHeight(tall)
    policy = card.sizePolicy()
    if policy.retainSizeWhenHidden() != bool(tall):
        policy.setRetainSizeWhenHidden(bool(tall))
        card.setSizePolicy(policy)
