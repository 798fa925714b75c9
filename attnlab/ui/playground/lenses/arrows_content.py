"""What the Arrows lens shows of one head: the chosen plane, the arrows in it, and what they say in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.edits.vector_edits import find_table
from attnlab.attention.measures.planes import (
    Plane,
    find_hull,
    make_column_plane,
    make_principal_plane,
    make_query_plane,
)
from attnlab.attention.stages import walk
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.table import BY_NAME
from attnlab.base.spoken_text import speak_number, speak_token
from attnlab.figures.arrows.arrow_data import Arrow, ArrowsData, Mixture, Projection
from attnlab.ui.playground.example_cell import find_example_pair

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

Floats = NDArray[np.floating[Any]]
_QUERY_STAGES = ("inputs", "queries", "normed_queries", "rotated_queries", "context", "merged", "output")
_KEY_STAGES = ("memory", "keys", "normed_keys", "rotated_keys", "values")
_NOUN = {"inputs": "token", "memory": "token", "queries": "query", "keys": "key", "values": "value"}
_ROLE = {"inputs": "neutral", "memory": "neutral", "queries": "query", "keys": "key", "values": "value"}


@dataclass(frozen=True, slots=True)
class Held:
    """The head, query and key that the lens shows strongest."""

    head: int
    query: int
    key: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What the reader chose: the kind of plane ("columns", "principal", "query"), two columns, and whether the arrows
    are drawn after the rotation by positions."""

    kind: str
    across: int = 0
    up: int = 1
    rotated: bool = True


def find_held(trace: "Trace", view: "View") -> Held:
    """Return the pair of the selected cell, which may lack a key, that of the largest weight, or a query; without a
    cell the pair of the example."""
    e, cell = trace.experiment, view.subject
    head = view.head if isinstance(view.head, int) else (cell.head or 0) if cell is not None else 0
    query, key = find_example_pair(trace, view)
    if cell is not None and BY_NAME[cell.stage].is_map:
        query, key = cell.row, cell.column
    elif cell is not None and cell.stage in _QUERY_STAGES:
        query = min(cell.row, e.T_q - 1)
        key = int(np.nan_to_num(trace.array("weights")[head, query], nan=-np.inf).argmax())
    elif cell is not None and cell.stage in _KEY_STAGES:
        key = cell.row
    return Held(head, min(query, e.T_q - 1), min(key, e.T_k - 1))


def find_stages(trace: "Trace", choices: Choices) -> tuple[str, str]:
    """Return the stages whose vectors are drawn as queries and keys."""
    queries, keys = trace.sources("scores")
    if not choices.rotated and queries == "rotated_queries":
        return trace.sources(queries)[0], trace.sources(keys)[0]
    return queries, keys


def choose_plane(choices: Choices, vectors: Floats, query: Floats | None = None, best: Floats | None = None) -> Plane:
    """Return the plane that the reader chose for vectors [n, d]; one or two columns are drawn as they are."""
    d = vectors.shape[1]
    if d <= 2:
        return make_column_plane(d)
    if choices.kind == "columns":
        across, up = min(choices.across, d - 1), min(choices.up, d - 1)
        return make_column_plane(d, across, up if up != across else (across + 1) % d)
    if choices.kind == "query" and query is not None and best is not None:
        return make_query_plane(query, best)
    return make_principal_plane(vectors)


def find_best_keys(scores: Floats, hidden: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """Return the two keys with the largest of some scores [T_k] that are not hidden; fewer if there are fewer."""
    seen = np.nan_to_num(scores.astype(np.float64), nan=-np.inf)
    if hidden is not None:
        seen = np.where(hidden, -np.inf, seen)
    return np.argsort(-seen, kind="stable")[:2]


def find_hidden(trace: "Trace", query: int) -> NDArray[np.bool_] | None:
    """Return which keys the mask hides from a query [T_k], None without a mask."""
    return None if trace.hidden is None else trace.hidden[query].cpu().numpy()


def find_unknown(trace: "Trace", view: "View", stage: str, row: int) -> NDArray[np.bool_]:
    """Return which numbers in a row of a stage the walk has not reached [columns]."""
    e = trace.experiment
    unknown = walk.unknown_cells(e, walk.fit_place(e, view.at), stage)
    return np.zeros(walk.shape(e, stage)[1], bool) if unknown is None else unknown[row]


def make_arrows(
    kind: str,
    tips: Floats,
    vectors: Floats,
    tokens: Sequence[str],
    held: int,
    *,
    hidden: NDArray[np.bool_] | None = None,
    sizes: Floats | None = None,
    noun: bool = True,
    table: str = "embeddings",
) -> list[Arrow]:
    """Return the arrows of one kind of vector [n, d] with their tips [n, 2]; ``table`` has the rows of its tokens."""
    lengths = np.linalg.norm(vectors, axis=1)
    arrows = []
    for i, (x, y) in enumerate(tips.tolist()):
        covered = hidden is not None and bool(hidden[i])
        spoken = (
            f"{_NOUN[kind]} of {speak_token(tokens[i])}, {speak_number(x)} across, {speak_number(y)} up, "
            f"length {speak_number(float(lengths[i]))}{', hidden by the mask' if covered else ''}"
        )
        label = f"{tokens[i] or '∅'} {_NOUN[kind]}" if i == held and noun else tokens[i] or "∅"
        if kind in ("inputs", "memory"):
            spoken = spoken.removeprefix("token of ")
        if kind == "memory":
            label, spoken = f"M: {label}", f"second sequence: {spoken}"
        size = 0.0 if sizes is None else float(sizes[i])
        arrows.append(Arrow((kind, i), (x, y), _ROLE[kind], label, spoken, i == held, covered, size, (table, i)))
    return arrows


def make_pairs_data(
    trace: "Trace", held: Held, stages: tuple[str, str], plane: Plane, *, movable: bool, known: bool = True
) -> ArrowsData:
    """Return the queries and keys of a head, and the held query's projections if they show the scores.

    The projection of the held key has no number if its score is not ``known`` yet.
    """
    e = trace.experiment
    queries, keys = (trace.array(name)[held.head].astype(np.float64) for name in stages)
    hidden = find_hidden(trace, held.query)
    arrows = make_arrows("queries", plane.draw(queries), queries, e.tokens, held.query)
    arrows += make_arrows(
        "keys", plane.draw(keys), keys, e.key_tokens, held.key, hidden=hidden, table=find_table(e, "keys")
    )
    projection = None
    if shows_scores(trace, stages) and shows_whole(plane, queries[held.query]):
        others = tuple(e.T_q + k for k in range(e.T_k) if k != held.key) if e.T_k <= 12 else ()
        length = float(np.linalg.norm(queries[held.query]))
        along = float(queries[held.query] @ keys[held.key]) / length
        projection = Projection(held.query, e.T_q + held.key, others, number(length), number(along) if known else "?")
    return ArrowsData(tuple(arrows), plane.names, projection, movable=movable)


def shows_scores(trace: "Trace", stages: tuple[str, str]) -> bool:
    """Return whether the scores are the dot products of these stages."""
    return trace.experiment.config.score == "dot" and stages == trace.sources("scores")


def shows_whole(plane: Plane, vector: Floats) -> bool:
    """Return whether a plane contains a vector that is not 0."""
    length = float(np.linalg.norm(vector))
    return length > 0 and abs(float(np.linalg.norm(plane.draw(vector[None]))) - length) <= 1e-6 * length


def make_tokens_data(trace: "Trace", held: Held, plane: Plane) -> ArrowsData:
    """Return the rows of the inputs, and those of a second sequence, as arrows."""
    e = trace.experiment
    x, m = np.split(stack_tokens(trace), [e.T_q])
    arrows = make_arrows("inputs", plane.draw(x), x, e.tokens, held.query, noun=False)
    if len(m):
        table = find_table(e, "memory")
        arrows += make_arrows("memory", plane.draw(m), m, e.key_tokens, held.key, noun=False, table=table)
    return ArrowsData(tuple(arrows), plane.names)


def stack_tokens(trace: "Trace") -> Floats:
    """Return the rows of the inputs, and below them those of a second sequence, [T_q, d_model] or [T_q + T_k, d].

    d is the larger width of the two; the columns that shorter rows lack are 0.
    """
    tables = [trace.array(name).astype(np.float64) for name in ("inputs", "memory") if name in trace]
    width = max(each.shape[1] for each in tables)
    return np.concatenate([np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in tables])


def make_values_data(trace: "Trace", held: Held, plane: Plane, *, mixed: bool = True) -> ArrowsData:
    """Return the values and, if they are ``mixed``, the hull of the visible ones and the held query's context at its
    weights."""
    e, (mixing, _) = trace.experiment, trace.sources("context")
    values = trace.array("values")[held.head].astype(np.float64)
    weights = trace.array(mixing)[held.head, held.query].astype(np.float64)
    tips, hidden = plane.draw(values), find_hidden(trace, held.query)
    seen = np.flatnonzero(~hidden) if hidden is not None else np.arange(e.T_k)
    sizes = 3.5 + 9 * np.sqrt(np.clip(weights, 0, 1)) if mixed else None
    table = find_table(e, "values")
    arrows = make_arrows(
        "values", tips, values, e.key_tokens, held.key, hidden=hidden, sizes=sizes, noun=False, table=table
    )
    mixture = None
    if mixed and len(seen):
        context = plane.draw(trace.array("context")[held.head, held.query][None])[0]
        corners = tuple(int(seen[i]) for i in find_hull(tips[seen]))
        equal = tips[seen].mean(0)
        parts = tuple((int(i), float(weights[i])) for i in seen)
        mixture = Mixture(corners, parts, _point(context), _point(equal), "context")
    return ArrowsData(tuple(arrows), plane.names, mixture=mixture)


def _point(xy: Floats) -> tuple[float, float]:
    return float(xy[0]), float(xy[1])


def find_unusable(trace: "Trace", held: Held) -> str:
    """Return why nothing can be drawn, "" if all vectors of a head are finite."""
    tokens = tuple(name for name in ("inputs", "memory") if name in trace)
    names = (*tokens, *find_stages(trace, Choices("columns")), "values", "context")
    for name in names:
        numbers = trace.array(name)
        if not np.isfinite(numbers if name in tokens else numbers[held.head]).all():
            contain = "contains" if name in ("memory", "context") else "contain"
            return f"{trace.stage(name).title} {contain} NaN or ∞, which cannot be drawn as arrows."
    return ""
