"""The tables of numbers that can be opened: their titles, their row labels, and the cells that a result depends on."""

from typing import TYPE_CHECKING

from attnlab.attention import edits
from attnlab.attention.registries import registry
from attnlab.attention.stages import links
from attnlab.attention.stages.evaluate_block import find_norm_tables
from attnlab.attention.stages.explain_block import MAPS, list_unused_tables
from attnlab.attention.stages.table import plan

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.explain import Cell

TITLES = {"embeddings": "X", "memory_embeddings": "M"}
"""The titles of tables that have another name in the layer."""
ABOUT = {
    "embeddings": "The embeddings, one row per token",
    "memory_embeddings": "The embeddings of the second sequence, one row per token",
    "W_q": "From embeddings to queries",
    "W_k": "From embeddings to keys",
    "W_v": "From embeddings to values",
    "W_o": "From the concatenated heads to the output",
    "b_q": "Added to the queries",
    "b_k": "Added to the keys",
    "b_v": "Added to the values",
    "b_o": "Added to the output",
}
_STAGES = {"W_q": "queries", "W_k": "keys", "W_v": "values", "b_q": "queries", "b_k": "keys", "b_v": "values"}
_LETTERS = {"W_o": "z", "W_2": "h", "W_1": "r", "W_gate": "r"}
"""The letters of the rows of matrices that do not multiply the embeddings."""
MULTIPLIED = {"output": ("W_o", "b_o"), **MAPS}
"""The matrix and the bias of each stage whose columns are those of a matrix without heads."""
ROLES = ("query", "key", "value", "attention", "neutral")
_ROLES = {"queries": "query", "keys": "key", "values": "value"}


def list_tables(e: "Experiment") -> tuple[str, ...]:
    """Return the tables to show: those that can be edited, without gains and shifts of a norm that the block lacks."""
    if e.config.block == "none":
        return edits.tables(e)
    unused = list_unused_tables(e, plan(e).stages)
    return tuple(name for name in edits.tables(e) if name not in unused)


def title(name: str) -> str:
    """Return the title of a table."""
    return TITLES.get(name, name).replace("gamma", "γ").replace("beta", "β")


def about(e: "Experiment", name: str) -> str:
    """Return a description of a table in one line."""
    return ABOUT[name] if name in ABOUT else registry.tables(e.config)[name].about


def role(e: "Experiment", name: str) -> str:
    """Return the role that colours a table's outlines."""
    known = registry.tables(e.config).get(name)
    return known.role if known is not None else _ROLES.get(_STAGES.get(name, ""), "neutral")


def head_width(e: "Experiment", name: str) -> int:
    """Return how many columns of a table belong to one head, or 0."""
    return 0 if name not in _STAGES else e.d_v if _STAGES[name] == "values" else e.d_k


def row_labels(e: "Experiment", name: str) -> list[str]:
    """Return the row labels of a table: tokens, positions, or components of a vector."""
    known = registry.tables(e.config).get(name)
    if name == "embeddings":
        return list(e.tokens)
    if name == "memory_embeddings":
        return list(e.key_tokens)
    if name in edits.BIASES:
        return ["bias"]
    if known is not None and len(known.axes) == 1:
        return [title(name).partition("_")[0]]
    letter = "m" if name in ("W_k", "W_v") and e.memory_tokens is not None else _LETTERS.get(name, "x")
    letter = "" if known is not None and known.axes[0] in ("position", "bucket") else letter
    return [f"{letter}{i}" for i in range(edits.shape(e, name)[0])]


def find_origins(e: "Experiment", name: str, cell: "Cell | None") -> dict[str, tuple[list[int], list[int]]]:
    """Return the rows and columns of a table that a cell of a stage is computed from, by the role that colours them."""
    if cell is None:
        return {}
    at, known = links.coordinates(e, cell), registry.tables(e.config).get(name)
    if name in TITLES or (known is not None and known.axes[0] == "position"):
        keys_elsewhere = name in TITLES and (e.memory_tokens is not None) != (name == "memory_embeddings")
        query = None if name == "memory_embeddings" else at.query
        key = None if keys_elsewhere or at.key == query else at.key
        return {r: ([row], []) for r, row in (("query", query), ("key", key)) if row is not None}
    column = None
    if _STAGES.get(name) == cell.stage and cell.head is not None:
        heads = e.n_heads if cell.stage == "queries" else e.n_kv_heads
        column = cell.head * heads // e.n_heads * head_width(e, name) + cell.column
    elif name in MULTIPLIED.get(cell.stage, ()) or name in find_norm_tables(e, cell.stage):
        column = cell.column
    elif known is not None and known.axes[-1] == "head":
        column = at.head
    return {} if column is None else {role(e, name): ([], [column])}
