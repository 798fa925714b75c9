"""The attention of a layer as a table of labelled numbers, for files, terminals and figures."""

import numpy as np

from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError
from attnlab.files.export.stage_tables import Table
from attnlab.pretrained.run import Run
from attnlab.pretrained.stack_pass import Part
from attnlab.pretrained.tokenizer import readable


def make_table(run: Run, layer: int, part: Part | None, head: int | str) -> Table:
    """Return the weights of one head of a layer, of all heads, or their mean.

    Raises:
        ArgumentError: there is no such layer, part or head.
    """
    weights = run.attention(layer, part).numpy()
    axes: tuple[str, ...] = ("head", "query", "key")
    if head != "all":
        if isinstance(head, int) and not 0 <= head < len(weights):
            raise ArgumentError(f"There is no head {head}; it needs {format_bounds(0, len(weights) - 1)}, all or mean.")
        weights = weights.mean(0, dtype=np.float32) if isinstance(head, str) else weights[head]
        axes = axes[1:]
    queries, keys = (tuple(map(readable, tokens)) for tokens in run.label_pairs(part))
    hidden = run.hidden_pairs(layer, part)
    where = f"of the {part}, " if part is not None and len(run.model.parts) > 1 else ""
    return Table(
        stage=f"layer {layer}",
        about=f"the attention weights {where}of layer {layer} of {run.model.name}",
        axes=axes,
        values=weights,
        masked=None if hidden is None else hidden.numpy(),
        row_labels=queries,
        column_labels=keys,
        query_tokens=queries,
        key_tokens=keys,
    )
