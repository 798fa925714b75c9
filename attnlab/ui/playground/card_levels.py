"""What cards side by side have in common: the height of column labels and the size of formulas."""

from collections.abc import Sequence

from attnlab.ui.playground.card import StageCard


def level_cards(cards: Sequence[StageCard]) -> None:
    """Level the rows of cards side by side, and write the formulas of their headers in one size."""
    _level_rows(cards)
    _level_formulas(cards)


def _level_rows(cards: Sequence[StageCard]) -> None:
    """Give maps of as many rows on cards side by side column labels of one height."""
    tops = {card: (card.y(), card.height(), *card.measure_top()) for card in cards}
    for card, (*line, rows, _) in tops.items():
        beside = [top for (*other, count, top) in tops.values() if (other, count) == (line, rows)]
        card.set_least_top(max(beside) if rows else 0.0)


def _level_formulas(cards: Sequence[StageCard]) -> None:
    """Write the formulas of cards side by side in the size at which the longest one fits."""
    shares = [(card.y(), share) for card in cards if (share := card.measure_formula())]
    for card in cards:
        card.set_formula_share(min((share for y, share in shares if y == card.y()), default=1.0))
