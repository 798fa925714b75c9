"""The attention of a layer as a table of labelled numbers, for files, terminals and figures."""

from typing import Any

import numpy as np

from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError
from attnlab.files.export.stage_tables import Table
from attnlab.pretrained.captured import Capture
from attnlab.pretrained.model_run import Run
from attnlab.pretrained.tokenizer import readable


def make_table(run: Run | Capture, layer: int, part: str | None, head: int | str) -> Table:
    """Return the weights of one head of a layer, of all heads, or their mean.

    Raises:
        ArgumentError: there is no such layer, part or head.
    """
    made: Any = run  # both have the same methods; only the names of their parts differ
    weights = made.attention(layer, part).numpy()
    axes: tuple[str, ...] = ("head", "query", "key")
    if head != "all":
        if isinstance(head, int) and not 0 <= head < len(weights):
            raise ArgumentError(f"There is no head {head}; it needs {format_bounds(0, len(weights) - 1)}, all or mean.")
        weights = weights.mean(0, dtype=np.float32) if isinstance(head, str) else weights[head]
        axes = axes[1:]
    queries, keys = (tuple(map(readable, tokens)) for tokens in made.label_pairs(part))
    hidden = made.hidden_pairs(layer, part)
    model = run if isinstance(run, Capture) else run.model
    where = "" if part is None or len(model.parts) == 1 else " cross-attention" if part == "cross" else f" {part}"
    return Table(
        stage=f"layer {layer}",
        about=f"the attention weights of{where} layer {layer} of {model.name}",
        axes=axes,
        values=weights,
        masked=None if hidden is None else hidden.numpy(),
        row_labels=queries,
        column_labels=keys,
        query_tokens=queries,
        key_tokens=keys,
    )
