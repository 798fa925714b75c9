"""Everything the contributions lens shows for one pair, computed in the background, and its sentences."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.measures.contributions import (
    BIAS,
    Contributions,
    Floats,
    choose_largest,
    find_reason_against,
    measure_contributions,
)
from attnlab.attention.measures.head_matrices import (
    HeadMatrix,
    OutputParts,
    measure_output,
    multiply_output,
    multiply_scores,
)
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.arithmetic import number, short
from attnlab.attention.stages.presence import source
from attnlab.base.counted import PERCENT, format_percent, format_whole
from attnlab.base.errors import AttnlabError
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.ui.playground.head_titles import name_head

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace

MOST = 12
"""How many rows and columns of a large table are shown."""
_IN_WORDS = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """What the lens shows: a head, a query, a key, and a column of the output."""

    head: int
    query: int
    key: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The numbers of a pair; ``score`` or ``output`` is a sentence if there are none."""

    experiment: "Experiment"
    pair: Pair
    score: Contributions | str
    output: OutputParts | str
    scores_matrix: HeadMatrix
    output_matrix: HeadMatrix


def find_contributions(trace: "Trace", pair: Pair) -> Found:
    """Return what the lens shows for a pair. Runs on any thread."""
    e = trace.experiment
    score: Contributions | str = find_reason_against(e)
    output: OutputParts | str
    try:
        score = score or measure_contributions(trace, pair.head, pair.query, pair.key)
    except AttnlabError as error:
        score = str(error)
    try:
        output = measure_output(trace, pair.head, pair.query, pair.column)
    except AttnlabError as error:
        output = str(error)
    return Found(
        e, pair, score, output, multiply_scores(e, pair.head, pair.query, pair.key), multiply_output(e, pair.head)
    )


def make_table(values: Floats, rows: tuple[str, ...], columns: tuple[str, ...]) -> tuple[MapData, float]:
    """Return a table as a map, at most its largest rows and columns, and their share of all absolute values."""
    down, across = choose_largest(values, MOST)
    cut = values[np.ix_(down, across)]
    whole = np.abs(values).sum()
    data = MapData(
        cut[None], "signed", find_scale(cut, "signed"), None, [rows[i] for i in down], [columns[i] for i in across]
    )
    return data, float(np.abs(cut).sum() / whole) if whole else 1.0


def describe_cut(shape: tuple[int, int], share: float, unit: str = "contributions") -> str:
    """Return which part of a table is shown, "" for all of it."""
    if max(shape) <= MOST:
        return ""
    down, across = (
        f"all {size} {name}" if size <= MOST else f"the {MOST} largest of {size} {name}"
        for size, name in zip(shape, ("rows", "columns"), strict=True)
    )
    text = f"{down} and {across}; they hold {format_percent(share, 0)} of the sum of all absolute {unit}."
    return text[0].upper() + text[1:]


def describe_sum(found: Found) -> str:
    """Return the sentence on the score: the sum, the engine's number, and what the layer does with it next."""
    e, c, pair = found.experiment, found.score, found.pair
    if isinstance(c, str):
        return c
    names = f"“{e.tokens[pair.query] or '∅'}” → “{e.key_tokens[pair.key] or '∅'}”"
    head = f", {name_head(pair.head)}" if e.n_heads > 1 else ""
    count = format_whole(c.values.size)
    scaled = "" if e.divisor is None else f"{short(e.divisor)}: {number(c.engine / e.divisor)}"
    then = f" The scale then divides it by {scaled}." if scaled else ""
    return (
        f"{names}{head}: {'the contribution is' if c.values.size == 1 else f'{count} contributions sum to'} "
        f"{number(c.total)}; the score of the layer is {number(c.engine)}.{then}"
    )


def describe_matrix(found: Found) -> str:
    """Return which matrix stands between the two tokens: its rotation, its extra matrix, its biases."""
    e, pair = found.experiment, found.pair
    said = f"Each cell is x_i,a · M_a,b · x_j,b, with M = {name_matrix(e)} of this head."
    if normed := _name_normed(e):
        said += f" {normed}"
    if POSITIONS[e.config.positions].rotate is not None:
        distance = pair.key - pair.query
        alone = (
            ""
            if e.config.score == "general"
            else f", which depends on the distance alone (here {distance:+d})".replace("-", "−")
        )
        said += f" R is the rotation of RoPE between positions {pair.query} and {pair.key}{alone}."
    if POSITIONS[e.config.positions].bias is not None:
        said += " The bias of the positions is added after the score and is not part of it."
    if e.weights.b_q is not None or e.weights.b_k is not None:
        said += " The row and the column “bias” belong to b_q and b_k, with a factor of 1."
    if e.n_kv_heads < e.n_heads:
        said += f" W_k is that of key {name_head(pair.head // (e.n_heads // e.n_kv_heads))}, which several heads share."
    return said


def _name_normed(e: "Experiment") -> str:
    """Return the sentence on the norm before attention, "" without one."""
    sources = source(e, "queries"), source(e, "keys")
    if "normed_inputs" not in sources:
        return ""
    said = "x_i and x_j are tokens" if sources[0] == sources[1] else "x_i is a token"
    return f"{said} after the norm before attention."


def name_matrix(e: "Experiment") -> str:
    """Return the name of the matrix between two tokens, with what stands between W_q and W_kᵀ."""
    between = " W_a" if e.config.score == "general" else ""
    if POSITIONS[e.config.positions].rotate is not None:
        between = f" R_i{between} R_jᵀ" if between else " R"
    return f"W_q{between} W_kᵀ"


def name_output_matrix(e: "Experiment") -> str:
    """Return the name of the matrix between a token and the output; without W_o it is W_v alone."""
    return "W_v" if e.weights.W_o is None else "W_v W_o"


def describe_largest(found: Found) -> str:
    """Return the largest contributions, each written out."""
    c = found.score
    if isinstance(c, str):
        return ""
    order = np.argsort(-np.abs(c.values), axis=None, kind="stable")[:_IN_WORDS].tolist()
    places = [divmod(place, c.values.shape[1]) for place in order]
    lines = [
        f"{_name('x_i', c.row_labels[a])}\u00a0·\u00a0M\u00a0·\u00a0{_name('x_j', c.column_labels[b])} = "
        f"{short(float(c.query[a]))} · {_bracket(c.matrix[a, b])} · {_bracket(c.key[b])} = "
        f"{number(float(c.values[a, b]))}"
        for a, b in places
        if c.values[a, b]
    ]
    return "Largest: " + ";  ".join(lines) + "." if lines else "All contributions are 0."


def describe_blocks(c: Contributions) -> str:
    """Return the sums of content and position as one sum."""
    terms = [
        f"{a}·{b} {number(c.blocks[i, j])}" for i, a in enumerate(c.query_parts) for j, b in enumerate(c.key_parts)
    ]
    return f"{', '.join(terms[:-1])} and {terms[-1]} sum to {number(float(c.blocks.sum()))}, the score."


def describe_output(found: Found) -> str:
    """Return the sentence on one number of the output: this head's part, the others', the bias, the engine's number."""
    e, o, pair = found.experiment, found.output, found.pair
    if isinstance(o, str):
        return o
    own = float(o.heads[pair.head])
    terms = [f"this head adds {number(own)}"]
    if e.n_heads > 1:
        terms.append(f"the other heads {number(float(o.heads.sum()) - own)}")
    if e.weights.b_o is not None:
        terms.append(f"b_o {number(o.bias)}")
    off = " This head is switched off." if pair.head in e.config.ablated else ""
    return (
        f"Column {pair.column} of the output of “{e.tokens[pair.query] or '∅'}”: {', '.join(terms)}; together "
        f"{number(o.total)}. The output of the layer is {number(o.engine)}.{off}"
    )


def describe_singular(matrix: HeadMatrix) -> str:
    """Return the size of a matrix, and how many of its singular values hold most of it."""
    rows, columns = len(matrix.left), matrix.right.shape[1]
    largest = float(matrix.singular_values[0])
    if not largest:
        return f"{rows} × {columns}; all singular values are 0."
    count, most = min(rows, columns, len(matrix.singular_values)), matrix.rank_for_most
    held = f"The first {most} hold" if most > 1 else "The first one holds"
    return (
        f"{rows} × {columns}, with at most {count} singular value{'s' * (count > 1)} above 0; "
        f"the largest is {number(largest)}. {held} 90{PERCENT} of the sum of squares."
    )


def _name(token: str, label: str) -> str:
    return "1" if label == BIAS else f"{token},{label}"


def _bracket(value: float) -> str:
    text = short(float(value))
    return f"({text})" if text.startswith("−") else text
