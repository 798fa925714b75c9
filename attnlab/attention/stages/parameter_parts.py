"""What the gradient of each number of a bias or of a table of an entry is the sum of."""

from collections.abc import Callable

import numpy as np

from attnlab.attention.registries.losses import find_pair
from attnlab.attention.registries.position_functions import find_buckets
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages import backward
from attnlab.attention.stages import parameter_gradients as gradients
from attnlab.attention.stages.arithmetic import Span, line
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.part import (
    Part,
    make_single,
    make_sum,
    name_tokens,
    read_column,
    read_row,
    to_floats,
)
from attnlab.attention.stages.presence import GAINS, SCORE_TABLES, find_last

Finder = Callable[[Computed, Cell], tuple[Part, ...]]
SOFTMAX = ("softmax", "softmax-unshifted")


def _make_bias(of: str) -> Finder:
    def find(t: Computed, cell: Cell) -> tuple[Part, ...]:
        d, e = t.stage(f"d_{of}"), t.experiment
        tokens = e.tokens if of == "queries" else e.key_tokens
        note = line(Span(d.title, d.role), f", column {cell.column}: the bias is added to every token")
        terms = to_floats(backward.merge_gradient(t, of)[:, cell.column])
        return (make_sum("Each token’s part", note, terms, name_tokens(tokens), d.role),)

    return find


def _of_output_bias(t: Computed, cell: Cell) -> tuple[Part, ...]:
    note = line(f"dOutput, column {cell.column}: the bias is added to every token")
    terms = read_column(t, "d_output", None, cell.column)
    return (make_sum("Each token’s part", note, terms, name_tokens(t.experiment.tokens)),)


def _make_score_table(name: str) -> Finder:
    """Return the parts of the gradient of a table of a score: one for each head, of the pairs with a gradient."""

    def find(t: Computed, cell: Cell) -> tuple[Part, ...]:
        e = t.experiment
        known = SCORES[e.config.score].table_gradients.get(name)
        slope = "how the score moves" if known is None else known.slope.format(row=cell.row, column=cell.column)
        note, parts = line(f"dScores × {slope}"), []
        slopes = to_floats(gradients.find_score_slopes(t, name, cell.row, cell.column))
        for head, d in enumerate(t.array("d_scores").astype(np.float64)):
            queries, keys = np.nonzero(d)
            labels = tuple(
                f"{e.tokens[query] or '∅'} → {e.key_tokens[key] or '∅'}"
                for query, key in zip(queries.tolist(), keys.tolist(), strict=True)
            )
            title = f"Head {head}" if e.n_heads > 1 else "Each pair’s part"
            if labels:
                parts.append(Part(title, note, d[queries, keys], slopes[head][queries, keys], labels=labels))
        return tuple(parts) or (make_single("Every pair", line("dScores is 0 everywhere"), 0.0, 0.0),)

    return find


def _make_gain(of: str) -> Finder:
    def find(t: Computed, cell: Cell) -> tuple[Part, ...]:
        e, role, units = t.experiment, t.stage(of).role, to_floats(gradients.find_units(t, of))
        tokens = name_tokens(e.tokens if of == "queries" else e.key_tokens)
        title = t.stage(f"d_normed_{of}").title
        note = line(title, " × ", Span(f"{of} before the gain", role), f", column {cell.column}")
        return tuple(
            Part(
                f"Head {head}" if e.n_heads > 1 else "Each token’s part",
                note,
                read_column(t, f"d_normed_{of}", head, cell.column),
                units[head, :, cell.column],
                ("", role),
                tokens,
            )
            for head in range(e.n_heads)
        )

    return find


def _of_sink(t: Computed, cell: Cell) -> tuple[Part, ...]:
    e, head = t.experiment, cell.column
    tokens, title = name_tokens(e.tokens), "Each query’s part"
    if e.config.normalizer not in SOFTMAX:
        note = line("dWeights × how the weights of the row move with the sink")
        return (make_sum(title, note, to_floats(gradients.pull_sinks(t)[head]), tokens, "attention"),)
    weights = to_floats(backward.find_all_weights(t)[head])
    mean = (weights[:, :-1] * t.array("d_weights")[head]).sum(-1)
    note = line(Span("−weight of the sink", "attention"), " × the mean of dWeights by the weights of the row")
    return (Part(title, note, -weights[:, -1], mean, ("attention", ""), tokens),)


def _of_distance_bias(t: Computed, cell: Cell) -> tuple[Part, ...]:
    e = t.experiment
    p = t.parameters(POSITIONS[e.config.positions])
    queries, keys = np.nonzero(find_buckets(e.T_q, e.T_k, p).numpy() == cell.row)
    if not len(queries):
        return (make_single("No pair", line("no two tokens are at this distance"), 0.0, 0.0),)
    tokens, others = name_tokens(e.tokens), name_tokens(e.key_tokens)
    labels = tuple(f"{tokens[query]} → {others[key]}" for query, key in zip(queries, keys, strict=True))
    terms = t.array("d_biased")[cell.column][queries, keys].astype(np.float64)
    return (make_sum("Each pair’s part", line("dBiased of the pairs at this distance"), terms, labels),)


def _of_position(t: Computed, cell: Cell) -> tuple[Part, ...]:
    found = [name for name in t.sources("d_P") if cell.row < len(t[name])]
    terms = np.array([read_row(t, name, None, cell.row)[cell.column] for name in found])
    note = line(f"row {cell.row} is added at position {cell.row}, so it moves the loss as much")
    return (make_sum("The same position", note, terms, tuple(t.stage(name).title for name in found)),)


def _of_read_out(t: Computed, cell: Cell) -> tuple[Part, ...]:
    output = read_row(t, find_last(t.experiment), None, find_pair(t.experiment)[1])[cell.row]
    missed = float(backward.miss_class(t)[cell.column])
    note = line(f"output, column {cell.row} × (probability, − 1 for the wanted class)")
    return (make_single("What the class missed", note, float(output), missed),)


PARAMETER_PARTS: dict[str, Finder] = {
    "d_b_q": _make_bias("queries"),
    "d_b_k": _make_bias("keys"),
    "d_b_v": _make_bias("values"),
    "d_b_o": _of_output_bias,
    **{f"d_{table.name}": _make_score_table(table.name) for table in SCORE_TABLES},
    **{f"d_{table.name}": _make_gain(("queries", "keys")[place]) for table, place in GAINS},
    "d_sinks": _of_sink,
    "d_B": _of_distance_bias,
    "d_P": _of_position,
    "d_W_read": _of_read_out,
}
