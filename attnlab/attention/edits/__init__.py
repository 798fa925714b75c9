"""Edits: pure functions from one Experiment to the next, which share all unchanged tensors. Import them from here."""

from attnlab.attention.edits.assemble import free_sizes
from attnlab.attention.edits.layer_edits import (
    configure,
    fitting_heads,
    has_biases,
    paint_mask,
    setting,
    toggle_biases,
    toggle_head,
    toggle_output,
    with_setting,
)
from attnlab.attention.edits.layer_tables import (
    BIASES,
    MATRICES,
    array,
    dtype,
    identity,
    shape,
    table,
    tables,
    with_table,
    with_weights,
    zeros,
)
from attnlab.attention.edits.size_edits import MAX_COLUMNS, resize, resize_free, resize_matrix
from attnlab.attention.edits.table_edits import FILLS, fill, round_table, scale, set_block, transpose

__all__ = [
    "BIASES",
    "FILLS",
    "MATRICES",
    "MAX_COLUMNS",
    "array",
    "configure",
    "dtype",
    "fill",
    "fitting_heads",
    "free_sizes",
    "has_biases",
    "identity",
    "paint_mask",
    "resize",
    "resize_free",
    "resize_matrix",
    "round_table",
    "scale",
    "set_block",
    "setting",
    "shape",
    "table",
    "tables",
    "toggle_biases",
    "toggle_head",
    "toggle_output",
    "transpose",
    "with_setting",
    "with_table",
    "with_weights",
    "zeros",
]
