"""Planes through the origin in which vectors are drawn as arrows, and how much of the vectors' lengths they show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnlab.attention.products import in_one_thread
from attnlab.base.counted import PERCENT

Floats = NDArray[np.floating[Any]]
MANY, LEAST_SHARE = 128, 1e-12
"""Of more vectors or columns than this, the strongest directions are found in a faster way, if the second one has at
least this share of the squared lengths that the first one has; otherwise it would be inexact."""


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Two orthonormal directions ``axes`` [d, 2], and the names of its horizontal and vertical axis.

    With one column the second direction is 0.
    """

    axes: Floats
    names: tuple[str, str]

    def draw(self, vectors: Floats) -> Floats:
        """Return the tips of vectors [n, d] in the plane, [n, 2]."""
        drawn: Floats = np.asarray(vectors, dtype=np.float64) @ self.axes
        return drawn

    def lift(self, step: Floats) -> Floats:
        """Return the smallest vector [d] whose drawn tip is ``step`` [2]."""
        lifted: Floats = self.axes @ np.asarray(step, dtype=np.float64)
        return lifted


def make_column_plane(columns: int, across: int = 0, up: int = 1) -> Plane:
    """Return the plane of two of a number of columns; ``up`` is left empty if there is only one column."""
    axes = np.zeros((columns, 2))
    axes[across, 0] = 1
    if columns == 1:
        return Plane(axes, (f"column {across}", ""))
    axes[up, 1] = 1
    return Plane(axes, (f"column {across}", f"column {up}"))


def make_principal_plane(vectors: Floats) -> Plane:
    """Return the plane that shows the most of the squared lengths of vectors [n, d]: their two strongest directions.

    The vectors are not centred, because arrows start at the origin. Each direction points to where its largest entry
    is positive, so that the picture does not flip between edits.
    """
    axes = np.zeros((vectors.shape[1], 2))
    for place, row in enumerate(_find_strongest(np.asarray(vectors, dtype=np.float64))):
        axes[:, place] = row * (1 if row[np.abs(row).argmax()] > 0 else -1)
    return Plane(axes, ("strongest direction", "second strongest"))


def _find_strongest(vectors: Floats) -> Floats:
    """Return the first two right singular vectors of vectors [n, d], [2, d], or the only one, [1, d].

    Of large matrices they are the eigenvectors of the smaller of the two products with the transpose, because all
    singular vectors of 512 tokens take seconds. So do numpy's eigenvectors at times; torch's, in one thread, do not.
    """
    n, d = vectors.shape
    if max(n, d) > MANY and min(n, d) > 1:
        product = torch.from_numpy(vectors.T @ vectors if d <= n else vectors @ vectors.T)
        values, found = (each.numpy() for each in in_one_thread(torch.linalg.eigh, product))
        first, second = (found[:, place] for place in (-1, -2))
        rows = np.stack((first, second))
        if d <= n:
            return rows
        if values[-2] > LEAST_SHARE * values[-1]:
            rows = rows @ vectors
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            return rows
    strongest: Floats = np.linalg.svd(vectors, full_matrices=True)[2][:2]
    return strongest


def make_query_plane(query: Floats, keys: Floats) -> Plane:
    """Return the plane that contains a query [d] and lies closest to keys [n, d], usually its best two.

    The query points up. Its length, and the length of every key along it, are shown without loss, so the scores can be
    read as projections. A query of 0 gives the principal plane of the keys, a single number its own axis.
    """
    query, keys = np.asarray(query, dtype=np.float64), np.asarray(keys, dtype=np.float64)
    length = np.linalg.norm(query)
    if len(query) == 1:
        return make_column_plane(1)
    if not length:
        return make_principal_plane(keys)
    along = query / length
    beside = make_principal_plane(keys - np.outer(keys @ along, along)).axes[:, 0]
    beside = beside - along * (along @ beside)  # where no key differs from the query, any direction could result
    size = np.linalg.norm(beside)
    if size < 1e-9:
        beside = np.eye(len(query))[np.abs(along).argmin()]
        beside = beside - along * (along @ beside)
        size = np.linalg.norm(beside)
    side = beside / size if size > 1e-9 else np.zeros_like(along)
    return Plane(np.stack((side, along), 1), ("across the query", "along the query"))


def measure_shown(vectors: Floats, plane: Plane) -> float:
    """Return the share of the lengths of vectors [n, d] that a plane shows, 0 to 1: the mean of drawn ÷ true length.

    Vectors of 0 do not count; without any other the share is 1.
    """
    lengths = np.linalg.norm(np.asarray(vectors, dtype=np.float64), axis=1)
    drawn = np.linalg.norm(plane.draw(vectors), axis=1)
    some = lengths > 0
    return min(float((drawn[some] / lengths[some]).mean()), 1.0) if some.any() else 1.0


def describe_shown(share: float) -> str:
    """Return one sentence on a share of the lengths; it says "all" only if nothing is lost."""
    if share > 1 - 1e-9:
        return "Shows all lengths in full."
    percent = round(100 * share)
    if percent == 100:
        return f"Shows over 99{PERCENT} of the lengths."
    return f"Shows {percent or 'less than 1'}{PERCENT} of the lengths."


def find_hull(points: Floats) -> list[int]:
    """Return the indices of the corners of the convex hull of points [n, 2], counter-clockwise.

    Points on an edge are no corners. Points on one line give their two ends, equal points one index.
    """
    order = sorted(range(len(points)), key=lambda i: (float(points[i][0]), float(points[i][1])))
    order = [i for n, i in enumerate(order) if n == 0 or not np.array_equal(points[i], points[order[n - 1]])]
    if len(order) < 3:
        return order
    lower, upper = _half_hull(points, order), _half_hull(points, order[::-1])
    return lower[:-1] + upper[:-1]


def _half_hull(points: Floats, order: list[int]) -> list[int]:
    half: list[int] = []
    for i in order:
        while len(half) > 1 and _turn(points[half[-2]], points[half[-1]], points[i]) <= 0:
            half.pop()
        half.append(i)
    return half


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    """Return twice the signed area of a triangle: positive if it turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
