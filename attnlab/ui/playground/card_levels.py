"""What cards side by side have in common: the height of column labels and the size of formulas."""

from collections.abc import Sequence

from attnlab.ui.playground.card import StageCard

ALIKE = 1.5
"""Cards of about one width are at most this much wider than one another."""
_TRIOS = (("queries", "keys", "values"), ("d_queries", "d_keys", "d_values"))


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
    """Write the formulas of cards of about one width side by side in the size at which the longest fits.

    Those of queries, keys and values are alike, so that none of them is written where one has no room.
    """
    shares = {card: card.measure_formula() for card in cards}
    for card, own in shares.items():
        beside = {other: share for other, share in shares.items() if other.y() == card.y()}
        alike = [share for other, share in beside.items() if share and _are_alike(card.width(), other.width())]
        trio = next((trio for trio in _TRIOS if card.stage.name in trio), ())
        is_whole = all(share for other, share in beside.items() if other.stage.name in trio)
        card.set_formula_share(min(alike, default=own) if is_whole else 0.0)


def _are_alike(one: int, other: int) -> bool:
    return max(one, other) <= ALIKE * min(one, other)
