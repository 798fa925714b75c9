"""What each number of the backward pass is the sum of: a gradient from the stage after it, times a slope.

A gradient is always such a sum, by the chain rule, so one kind of table explains every stage of every layer.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from attnlab.attention.registries.losses import CLASS, OUTPUT, find_class, find_pair
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages import backward
from attnlab.attention.stages.arithmetic import Floats, Line, Span, line, number, short
from attnlab.attention.stages.block_gradient_parts import BLOCK_PARTS, make_stream
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explanation import Cell, numbers_of
from attnlab.attention.stages.parameter_parts import PARAMETER_PARTS, SOFTMAX
from attnlab.attention.stages.part import Part, make_single, name_tokens, read_column, read_row, to_floats
from attnlab.attention.stages.presence import BLOCK, CHAINS, find_consumer, find_last, source


def find_parts(t: Computed, cell: Cell) -> tuple[Part, ...]:
    """Return the parts of a number of the backward pass; () if it is better said in words."""
    if cell.head is None and t.stage(cell.stage).has_heads:
        cell = replace(cell, head=0)
    name = cell.stage
    if name in _PARTS:
        return _PARTS[name](t, cell)
    of = name.removeprefix("d_")
    return _of_map(t, cell, of) if of in CHAINS[0] else _of_vector(t, cell, of)


def _number(t: Computed, name: str, cell: Cell) -> float:
    return float(read_row(t, name, cell.head, cell.row)[cell.column])


def _of_loss(t: Computed, cell: Cell) -> tuple[Part, ...]:
    e = t.experiment
    match e.config.option("loss"):
        case kind if kind == CLASS:
            return ()
        case kind if kind == OUTPUT:
            missed = to_floats(backward.miss_output(t)).ravel()
            note = line(f"(output − wanted) squared, ÷ {len(missed)}")
            return (Part("Squared distances", note, missed, missed / len(missed)),)
    missed = float(t.array("weights")[find_pair(e)]) - e.config.option("loss_wanted")
    return (make_single("Squared distance", line("weight − wanted, times itself"), missed, missed),)


def _of_context(t: Computed, cell: Cell) -> tuple[Part, ...]:
    e, head = t.experiment, cell.head or 0
    d, column = read_row(t, "d_output", None, cell.row), head * e.d_v + cell.column
    if e.weights.W_o is None:
        return (make_single("The output is the context", line(f"dOutput, column {column}"), d[column], 1.0),)
    note = line(f"dOutput × W_o, row {column}")
    return (Part("Through W_o", note, d, numbers_of(t, e.weights.W_o[column])),)


_OFF = line("this head is switched off: nothing passes")


def _of_value(t: Computed, cell: Cell) -> tuple[Part, ...]:
    e = t.experiment
    if (cell.head or 0) in e.config.ablated:
        return (make_single("Switched off", _OFF, 0.0, 0.0),)
    weights = read_column(t, source(e, "context"), cell.head, cell.row)
    d = read_column(t, "d_context", cell.head, cell.column)
    note = line(Span("weight", "attention"), f" × dContext, column {cell.column}")
    return (Part("Each query’s part", note, weights, d, ("attention", ""), name_tokens(e.tokens)),)


def _of_jacobian(t: Computed, cell: Cell) -> tuple[Part, ...]:
    e = t.experiment
    row = t.array("weights")[cell.head or 0, find_pair(e)[1]].astype(np.float64)
    warmth = e.config.option("temperature") if NORMALIZERS[e.config.normalizer].tempered else 1.0
    own, other = float(row[cell.row]), float(row[cell.column])
    per = "" if warmth == 1 else f", ÷ {short(warmth)}"
    same = cell.row == cell.column
    if e.config.normalizer in SOFTMAX:
        note = line(f"w (1 − w){per}" if same else f"−w of {name_tokens(e.key_tokens)[cell.row]} × w of the other{per}")
        return (make_single("Softmax", note, own / warmth, float(same) - other),)
    if e.config.normalizer == "sigmoid":
        note = line(f"w (1 − w){per}" if same else "each weight depends on its own score only")
        return (make_single("Sigmoid", note, own / warmth, (1 - own) * same),)
    slope = _number(t, "jacobian", cell)
    return (make_single("Slope", line(f"how {NORMALIZERS[e.config.normalizer].title} moves"), slope, 1.0),)


def _of_map(t: Computed, cell: Cell, of: str) -> tuple[Part, ...]:
    e, consumer = t.experiment, find_consumer(t.experiment, of)
    if consumer == "loss":
        place, wanted = find_pair(e), e.config.option("loss_wanted")
        if (cell.head or 0, cell.row, cell.column) != place:
            return (make_single("Another weight", line("the loss is about one weight only"), 0.0, 0.0),)
        missed = float(t.array("weights")[place]) - wanted
        return (make_single("Slope of the square", line("2 × (weight − wanted)"), 2.0, missed),)
    if consumer == "context":
        if (cell.head or 0) in e.config.ablated:
            return (make_single("Switched off", _OFF, 0.0, 0.0),)
        note = line("dContext × ", Span("value", "value"))
        d, values = read_row(t, "d_context", cell.head, cell.row), read_row(t, "values", cell.head, cell.column)
        return (Part("Each column’s part", note, d, values, ("", "value")),)
    if consumer == "weights":
        return _of_scores(t, cell)
    received = _number(t, f"d_{consumer}", cell)
    slopes = backward.find_slopes(t, consumer).expand(t["weights"].shape)
    slope = float(slopes[cell.head or 0, cell.row, cell.column])
    return (make_single(t.stage(f"d_{consumer}").title, _describe_slope(t, consumer, slope), received, slope),)


def _describe_slope(t: Computed, consumer: str, slope: float) -> Line:
    e = t.experiment
    match consumer:
        case "masked" | "zeroed":
            return line("this pair is masked: nothing passes" if slope == 0 else "not masked: it passes unchanged")
        case "dropped":
            return line("dropped: nothing passes" if slope == 0 else f"÷ {short(1 - e.config.option('dropout'))}")
        case "capped":
            return line("× 1 − (capped ÷ cap)²")
        case "scaled":
            return line(f"÷ {short(float(e.divisor or 1))}, that is × {number(slope)}")
    return line("a bias only adds: it passes unchanged")


def _of_scores(t: Computed, cell: Cell) -> tuple[Part, ...]:
    """Return the parts of the gradient of a score that the normaliser receives."""
    e, tokens = t.experiment, name_tokens(t.experiment.key_tokens)
    d = read_row(t, "d_weights", cell.head, cell.row)
    weights = read_row(t, "weights", cell.head, cell.row)
    if e.config.normalizer in SOFTMAX:
        note = line(Span("weight", "attention"), " × dWeights")
        mean = Part("Mean of the row", note, weights, d, ("attention", ""), tokens, is_added=False)
        warmth = e.config.option("temperature")
        per = "" if warmth == 1 else f", ÷ {short(warmth)}"
        note = line(Span("weight", "attention"), f" × (dWeights {number(d[cell.column])} − the mean){per}")
        above = float(d[cell.column] - mean.total)
        return mean, make_single("Above the mean", note, float(weights[cell.column]) / warmth, above)
    slopes = to_floats(backward.find_jacobian(t, cell.row)[cell.head or 0, :, cell.column])
    note = line("dWeights × how the weight moves with this score")
    return (Part("Each weight’s part", note, d, slopes, ("", "attention"), tokens),)


def _of_vector(t: Computed, cell: Cell, of: str) -> tuple[Part, ...]:
    """Return the parts of the gradient of a query or key, before or after norm and rotation."""
    e, consumer, is_key = t.experiment, find_consumer(t.experiment, of), of.endswith("keys")
    head = cell.head or 0
    if consumer != "scores":
        d = read_row(t, f"d_{consumer}", cell.head, cell.row)
        slopes = _find_vector_slopes(t, of, consumer, cell)
        how = "turned back" if consumer.startswith("rotated") else "how the normalised number moves"
        kept = np.flatnonzero(slopes) if np.any(slopes) else np.arange(len(d))
        note = line(f"{t.stage(f'd_{consumer}').title} × {how}")
        return (Part("Each column’s part", note, d[kept], slopes[kept], labels=tuple(f"{i}" for i in kept)),)
    queries, keys = t[source(e, "scores")][head], t[source(e, "scores", 1)][head]
    own = (keys if is_key else queries)[None, None, cell.row]
    others = queries if is_key else keys
    count = len(others)
    own, others = own.expand(count, -1, -1), others.expand(count, -1, -1)
    eye = torch.eye(count, dtype=t.dtype, device=t.device)
    if is_key:
        slopes = to_floats(backward.pull_score(t, others, own, eye[:, :, None])[1][:, 0, cell.column])
        d, tokens, role, whose = read_column(t, "d_scores", head, cell.row), e.tokens, "query", "query"
    else:
        slopes = to_floats(backward.pull_score(t, own, others, eye[:, None])[0][:, 0, cell.column])
        d, tokens, role, whose = read_row(t, "d_scores", head, cell.row), e.key_tokens, "key", "key"
    slope = line(Span(whose, role), f", column {cell.column}")
    if e.config.score != "dot":
        slope = line("how the score moves with this number")
    title = "Each query’s part" if is_key else "Each key’s part"
    return (Part(title, line("dScores × ", slope), d, slopes, ("", role), name_tokens(tokens)),)


def _find_vector_slopes(t: Computed, of: str, consumer: str, cell: Cell) -> Floats:
    """Return how much each number of the rotated or normalised row moves with a number of the row, [d_k]."""
    count = t.experiment.d_k
    eye = torch.eye(count, dtype=t.dtype, device=t.device)
    if consumer.startswith("rotated"):
        each = torch.zeros(count, cell.row + 1, count, dtype=t.dtype, device=t.device)
        each[:, cell.row] = eye
        return to_floats(backward.pull_rotation(t, each)[:, cell.row, cell.column])
    x = t[of][cell.head or 0, cell.row].expand(count, 1, -1)
    return to_floats(backward.pull_norm(t, x, eye[:, None], int(of.endswith("keys")))[:, 0, cell.column])


def _make_weight(of: str) -> Callable[[Computed, Cell], tuple[Part, ...]]:
    def find(t: Computed, cell: Cell) -> tuple[Part, ...]:
        x_name = t.sources(cell.stage)[0]
        x = read_column(t, x_name, None, cell.row)
        d = to_floats(backward.merge_gradient(t, of)[:, cell.column])
        tokens = t.experiment.tokens if of == "queries" else t.experiment.key_tokens
        role = t.stage(of).role
        note = line(f"{t.stage(x_name).title.lower()}, column {cell.row} × ", Span(t.stage(f"d_{of}").title, role))
        return (Part("Each token’s part", note, x, d, ("", role), name_tokens(tokens)),)

    return find


def _of_output_weight(t: Computed, cell: Cell) -> tuple[Part, ...]:
    head, column = divmod(cell.row, t.experiment.d_v)
    x, d = read_column(t, "context", head, column), read_column(t, "d_output", None, cell.column)
    whose = f"head {head}, " if t.experiment.n_heads > 1 else ""
    note = line(f"context, {whose}column {column} × dOutput")
    return (Part("Each token’s part", note, x, d, ("attention", ""), name_tokens(t.experiment.tokens)),)


_PARTS: dict[str, Callable[[Computed, Cell], tuple[Part, ...]]] = {
    "loss": _of_loss,
    "readout": lambda t, cell: (),
    "d_context": _of_context,
    "d_values": _of_value,
    "jacobian": _of_jacobian,
    "d_W_q": _make_weight("queries"),
    "d_W_k": _make_weight("keys"),
    "d_W_v": _make_weight("values"),
    "d_W_o": _of_output_weight,
    **{f"d_{name}": make_stream(name) for name in (*BLOCK, "output", "inputs", "normed_inputs", "memory")},
    **PARAMETER_PARTS,
    **BLOCK_PARTS,
}


def write_words(t: Computed, cell: Cell) -> tuple[Line, ...]:
    """Return the arithmetic of a number that is no sum of products: a probability, and the loss that is its log."""
    e = t.experiment
    row, column = (cell.row, cell.column) if cell.stage == "readout" else (find_pair(e)[1], find_class(e))
    if cell.stage == "loss":
        p = _number(t, "readout", Cell("readout", row, column))
        what = f"the probability of class {column} for “{e.tokens[row] or '∅'}”"
        return (line(what), line(f"−log {number(p)}"))
    scores = read_row(t, find_last(e), None, row) @ numbers_of(t, e.weights.extra["W_read"])
    softmax = NORMALIZERS["softmax"]
    given = ", ".join(short(each) for each in scores)
    return (line(f"output of “{e.tokens[row] or '∅'}” × W_read = {given}"), *softmax.explain(scores, column, {}, 6))
