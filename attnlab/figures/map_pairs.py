"""Maps of two states side by side, on the screen and in figures."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from attnlab.figures.map_data import STATES, MapData

T = TypeVar("T", bound=np.generic)


def pair_maps(then: MapData, now: MapData, names: tuple[str, str] = STATES) -> MapData:
    """Return the maps of two states in pairs, each map of ``then`` before the same map of ``now``.

    Both have the same sizes and scale. If one has signed numbers, both have the colours of these. They are written in
    the larger power of ten.
    """

    def pair(name: str) -> NDArray[np.bool_] | None:
        cells = [getattr(each, name) for each in (then, now)]
        if cells[0] is None and cells[1] is None:
            return None
        shape = now.values.shape
        return _interleave([np.zeros(shape, bool) if each is None else np.broadcast_to(each, shape) for each in cells])

    values = _interleave([then.values, now.values])
    titles: tuple[str, ...] = names
    if len(now.values) > 1:
        last = "" if names[1] == STATES[1] else f", {names[1]}"  # a head as it is now needs no word
        titles = tuple(text for title in now.titles for text in (f"{title}, {names[0]}", f"{title}{last}"))
    return replace(
        now,
        exponent=None if then.exponent is None or now.exponent is None else max(then.exponent, now.exponent),
        kind="signed" if "signed" in (then.kind, now.kind) else now.kind,
        values=values,
        titles=titles,
        masked=pair("masked"),
        unknown=pair("unknown"),
        filled=pair("filled"),
        dropped=pair("dropped"),
    )


def _interleave(maps: Sequence[NDArray[T]]) -> NDArray[T]:
    return np.stack(maps, 1).reshape(-1, *maps[0].shape[1:])
