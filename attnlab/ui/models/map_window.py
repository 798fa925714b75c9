"""The part of a large map that is shown with its tokens: a window around a cell."""

from dataclasses import dataclass, replace

from attnlab.figures.map_data import MapData

MOST, SHOWN = 48, 24
"""Maps of more rows or columns than ``MOST`` are shown through a window of so many."""


@dataclass(frozen=True, slots=True)
class Window:
    """Queries ``query`` to ``last_query`` and keys ``key`` to ``last_key``, both inclusive."""

    query: int = 0
    last_query: int = 0
    key: int = 0
    last_key: int = 0

    @property
    def rows(self) -> slice:
        """The queries as a slice."""
        return slice(self.query, self.last_query + 1)

    @property
    def columns(self) -> slice:
        """The keys as a slice."""
        return slice(self.key, self.last_key + 1)

    def covers(self, shape: tuple[int, ...]) -> bool:
        """Return whether it shows all of a map [T_q, T_k]."""
        rows, columns = shape
        return (self.query, self.key) == (0, 0) and (self.last_query, self.last_key) == (rows - 1, columns - 1)


def find_window(t_q: int, t_k: int, row: int, centre: tuple[int, int] | None) -> Window:
    """Return the part of a map [t_q, t_k] to show: all of a small one; else around ``centre``, a row, or the end."""
    query, key = centre if centre is not None else (row, row) if row >= 0 else (t_q - 1, t_k - 1)
    if centre is not None and row >= 0 and abs(row - query) <= SHOWN // 2:
        query = row  # the chosen row stays in the middle while the keys move
    return Window(*_place(query, t_q), *_place(key, t_k))


def _place(middle: int, count: int) -> tuple[int, int]:
    if count <= MOST:
        return 0, count - 1
    first = min(max(middle - SHOWN // 2, 0), count - SHOWN)
    return first, first + SHOWN - 1


def describe_window(window: Window, t_k: int) -> str:
    """Return which tokens are shown of a map with ``t_k`` keys; its queries and keys where these are not the same."""
    if (window.query, window.last_query) == (window.key, window.last_key):
        return f"tokens {window.query} to {window.last_query} of {t_k}"
    return f"queries {window.query}–{window.last_query}, keys {window.key}–{window.last_key}"


def cut_window(data: MapData, window: Window) -> MapData:
    """Return the part of a map in a window."""
    if window.covers(data.values.shape[1:]):
        return data
    muted = tuple(place - window.key for place in data.muted if window.key <= place <= window.last_key)
    return replace(
        data,
        values=data.values[:, window.rows, window.columns],
        masked=None if data.masked is None else data.masked[window.rows, window.columns],
        row_labels=data.row_labels[window.rows],
        column_labels=data.column_labels[window.columns],
        muted=muted,
    )
