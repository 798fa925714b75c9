"""Fuzzy matching of typed text with titles: letters in order, ranked by where they match."""

from dataclasses import dataclass

_START, _RUN, _GAP, _LATE = 10.0, 6.0, 0.6, 0.15
_WHOLE = 5.0
"""For the query as it is: "pin" means "Unpin", not "Positions: none", and "heads" no S of "Heads: Soft cap"."""
_NEVER = float("-inf")
_PIECE = 3  # this many letters in a row match anywhere in a word


@dataclass(frozen=True, slots=True)
class Match:
    """How well a query fits a text (a greater score is better), and which characters of the text match."""

    score: float
    places: tuple[int, ...]


def match(query: str, text: str) -> Match | None:
    """Return the best way to find the query's letters in order in the text, or None; case and spaces do not count."""
    wanted = [c.lower() for c in query if not c.isspace()]
    letters = [c.lower() for c in text]
    if not wanted:
        return Match(0.0, ())
    remaining = iter(letters)
    if not all(letter in remaining for letter in wanted):
        return None
    if (whole := _find_whole(wanted, letters, text)) is not None:
        return whole
    best, came_from = _table(wanted, letters, [_at_start(text, i) for i in range(len(text))])
    end = max(range(len(letters)), key=best[-1].__getitem__)
    places = [end]
    for row in range(len(wanted) - 1, 0, -1):
        places.append(came_from[row][places[-1]])
    return Match(best[-1][end] - _LATE * len(letters), tuple(reversed(places)))


def _find_whole(wanted: list[str], letters: list[str], text: str) -> Match | None:
    """Return the place of the whole query in a text, preferably where a word begins; None if it has none."""
    count = len(wanted)
    found = [at for at in range(len(letters) - count + 1) if letters[at : at + count] == wanted]
    if not found:
        return None
    at = max(found, key=lambda at: (_at_start(text, at), -at))
    first = (_START if _at_start(text, at) else 1.0) - _GAP * min(at, 10)
    score = first + (count - 1) * (_RUN + 1.0) + _WHOLE - _LATE * len(letters)
    return Match(score, tuple(range(at, at + count)))


def close(query: str, text: str) -> Match | None:
    """Return a match as :func:`match` does, but None if its letters are scattered: such a text is hardly meant.

    A letter counts if it begins a word, follows another match, or belongs to a word whose first letter matches;
    three in a row count anywhere.
    """
    found = match(query, text)
    if found is None or not found.places:
        return found
    begun, run = False, 0
    met = set(found.places)
    for i in range(len(text)):
        if _at_start(text, i):
            begun, run = i in met, 0
        run = run + 1 if i in met else 0
        ends = i + 1 not in met or _at_start(text, i + 1)
        if run and ends and not begun and run < _PIECE:
            return None
    return found


def _table(wanted: list[str], letters: list[str], starts: list[bool]) -> tuple[list[list[float]], list[list[int]]]:
    """Return best[i][j], the best score with letter i of the query matched at j, and the place of letter i - 1 then."""
    best: list[list[float]] = []
    came_from: list[list[int]] = []
    for row, letter in enumerate(wanted):
        scores, origins = [_NEVER] * len(letters), [-1] * len(letters)
        reach, reach_at = _NEVER, -1  # the best of the row above before j, minus the cost of the gap
        for j, candidate in enumerate(letters):
            if row and j:
                reach -= _GAP
                if best[row - 1][j - 1] > reach:
                    reach, reach_at = best[row - 1][j - 1], j - 1
            if candidate != letter:
                continue
            worth = _START if starts[j] else 1.0
            if not row:
                scores[j] = worth - _GAP * min(j, 10)
                continue
            run = best[row - 1][j - 1] + _RUN if j else _NEVER
            scores[j], origins[j] = (run + worth, j - 1) if run >= reach else (reach + worth, reach_at)
        best.append(scores)
        came_from.append(origins)
    return best, came_from


def _at_start(text: str, index: int) -> bool:
    return index == 0 or not text[index - 1].isalnum() or (text[index].isupper() and text[index - 1].islower())
