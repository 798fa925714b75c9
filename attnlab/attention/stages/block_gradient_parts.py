"""What the gradient of each number of a block, of the output and of the inputs is the sum of."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS, activate
from attnlab.attention.registries.losses import CLASS, find_pair
from attnlab.attention.stages import backward
from attnlab.attention.stages import block_gradients as gradients
from attnlab.attention.stages.arithmetic import Span, line, short
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explain_block import find_normed
from attnlab.attention.stages.explanation import Cell, numbers_of, value_of
from attnlab.attention.stages.part import Part, make_single, make_sum, name_tokens, read_column, read_row, to_floats

Finder = Callable[[Computed, Cell], tuple[Part, ...]]


def make_stream(name: str) -> Finder:
    """Return the function that finds the parts of the gradient of a stage: those of every stage that reads it."""

    def find(t: Computed, cell: Cell) -> tuple[Part, ...]:
        readers = [source.removeprefix("d_") for source in t.sources(cell.stage)]
        if readers[:1] == ["loss"]:
            return (_of_last(t, cell),)
        return tuple(part for reader in readers for part in _of_reader(t, cell, name, reader))

    return find


def _of_last(t: Computed, cell: Cell) -> Part:
    e = t.experiment
    if e.config.option("loss") == CLASS:
        if cell.row != find_pair(e)[1]:
            return make_single("Another token", line("only the token in question counts"), 0.0, 0.0)
        note = line("(probability − 1 for the wanted class) × W_read")
        weights = numbers_of(t, e.weights.extra["W_read"][cell.column])
        return Part("Each class", note, to_floats(backward.miss_class(t)), weights)
    missed = float(backward.miss_output(t)[cell.row, cell.column])
    count = e.T_q * e.d_out
    return make_single("Slope of the square", line(f"2 ÷ {count} × (output − wanted)"), 2 / count, missed)


def _of_reader(t: Computed, cell: Cell, name: str, reader: str) -> tuple[Part, ...]:
    """Return the parts that come from one of the stages computed from a stage."""
    if reader in backward.PROJECTIONS:
        return (_through_projection(t, cell, reader),)
    if reader.startswith("normed"):
        return _through_norm(t, cell, reader)
    title, d = t.stage(f"d_{reader}").title, read_row(t, f"d_{reader}", None, cell.row)
    if reader in gradients.MATRICES:
        matrix = gradients.MATRICES[reader]
        weights = numbers_of(t, t.experiment.weights.extra[matrix][cell.column])
        return (Part(f"Through {matrix}", line(f"{title} × {matrix}, row {cell.column}"), d, weights),)
    if reader == "activated":
        return _through_activation(t, cell, name, float(d[cell.column]))
    return (make_single("Through the sum", line(f"{title}: a sum passes it unchanged"), float(d[cell.column]), 1.0),)


def _through_projection(t: Computed, cell: Cell, of: str) -> Part:
    weight, role = getattr(t.experiment.weights, backward.PROJECTIONS[of]), t.stage(of).role
    d = to_floats(backward.merge_gradient(t, of)[cell.row])
    if weight is None:
        return make_single(f"Through the {of}", line("they are the inputs"), float(d[cell.column]), 1.0)
    note = line(Span(t.stage(f"d_{of}").title, role), f" × {backward.PROJECTIONS[of]}, row {cell.column}")
    return Part(f"Through the {of}", note, d, numbers_of(t, weight[cell.column]), (role, ""))


def _through_norm(t: Computed, cell: Cell, normed: str) -> tuple[Part, ...]:
    """Return the parts of a number before a norm: what the mean and the size of its row take back, and the quotient."""
    found = find_normed(t, Cell(normed, cell.row, cell.column))
    d, title, column = read_row(t, f"d_{normed}", None, cell.row), t.stage(f"d_{normed}").title, cell.column
    is_centred = BLOCK_NORMS[t.experiment.config.block_norm].is_centred
    gains = numbers_of(t, t.experiment.weights.extra[f"gamma_{found.place}"])
    with np.errstate(all="ignore"):
        units, per = (found.row - found.mean) / found.size, 1 / float(np.float64(found.size))
    gain, count = Span(str(found.place), style="sub"), len(d)
    note = line(f"{title} × γ", gain, f" ÷ {count}")
    mean = Part("Mean of the row", note, d, gains / count, is_added=False)
    note = line(f"{title} × γ", gain, f" × normalised ÷ {count}")
    along = Part("Mean along the row", note, d, gains * units / count, is_added=False)
    left, right = [float(d[column]), along.total], [float(gains[column]), -float(units[column])]
    taken = " − normalised × mean along the row"
    if is_centred:
        left, right, taken = [*left, mean.total], [*right, -1.0], f"{taken} − mean of the row"
    note = line(f"{title} × γ", gain, f", column {column},{taken}")
    rest = Part("What is left", note, np.array(left), np.array(right), is_added=False)
    size = "standard deviation" if is_centred else "root mean square"
    end = make_single("Through the norm", line(f"what is left ÷ {size} {short(found.size)}"), rest.total, per)
    return (mean, along, rest, end) if is_centred else (along, rest, end)


def _through_activation(t: Computed, cell: Cell, name: str, d: float) -> tuple[Part, ...]:
    """Return the parts of a hidden number or of a gate: the slope of the activation, and the product with it."""
    feed_forward = FEED_FORWARDS[t.experiment.config.feed_forward]
    title = t.stage("d_activated").title
    if feed_forward.is_gated and name == "hidden":
        gate = torch.tensor([value_of(t, cell, "gates")], dtype=torch.float64, device="cpu")
        active = float(activate(feed_forward, gate)[0])
        return (make_single("Through the product", line(f"{title} × activation of the gate"), d, active),)
    x = value_of(t, cell, name)
    assert feed_forward.find_share is not None
    share, bend = (float(each) for each in feed_forward.find_share(torch.tensor(x, dtype=torch.float64, device="cpu")))
    note = line(f"{feed_forward.slope}, at x = {short(x)}")
    left, right = (np.array([1.0, x]), np.array([share, bend])) if bend else (np.array([1.0]), np.array([share]))
    slope = Part("Slope of the activation", note, left, right, is_added=False)
    if not feed_forward.is_gated:
        return slope, make_single("Through the activation", line(f"{title} × slope"), d, slope.total)
    hidden = value_of(t, cell, "hidden")
    times = replace(make_single("Times hidden", line("hidden × slope"), hidden, slope.total), is_added=False)
    return slope, times, make_single("Through the gate", line(f"{title} × hidden × slope"), d, times.total)


def _make_matrix(of: str) -> Finder:
    def find(t: Computed, cell: Cell) -> tuple[Part, ...]:
        name = t.sources(cell.stage)[0]
        x, d = read_column(t, name, None, cell.row), read_column(t, f"d_{of}", None, cell.column)
        note = line(f"{t.stage(name).title.lower()}, column {cell.row} × {t.stage(f'd_{of}').title}")
        return (Part("Each token’s part", note, x, d, labels=name_tokens(t.experiment.tokens)),)

    return find


def _of_added(t: Computed, cell: Cell) -> tuple[Part, ...]:
    """Return the parts of a table that is added to every token."""
    name = t.sources(cell.stage)[-1]
    note = line(f"{t.stage(name).title}, column {cell.column}: it is added to every token")
    terms = read_column(t, name, None, cell.column)
    return (make_sum("Each token’s part", note, terms, name_tokens(t.experiment.tokens)),)


def _of_gain(t: Computed, cell: Cell) -> tuple[Part, ...]:
    x, normed = t.sources(cell.stage)
    units = to_floats(gradients.find_units(t, cell.stage.removeprefix("d_"))[:, cell.column])
    note = line(
        f"{t.stage(normed).title} × {t.stage(x).title.lower()} normalised, before the gain, column {cell.column}"
    )
    d = read_column(t, normed, None, cell.column)
    return (Part("Each token’s part", note, d, units, labels=name_tokens(t.experiment.tokens)),)


BLOCK_PARTS: dict[str, Finder] = {
    **{f"d_{matrix}": _make_matrix(of) for of, matrix in gradients.MATRICES.items()},
    **{f"d_{table}": _of_added for table in ("b_1", "b_2", "beta_1", "beta_2")},
    **{f"d_{table}": _of_gain for table in ("gamma_1", "gamma_2")},
}
