"""Which maps of scores equal their transpose, whatever the tokens are."""

from collections.abc import Iterable
from itertools import chain

import torch

from attnlab.attention.edits.layer_tables import table
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES

_BEFORE_BIAS = ("scores", "scaled")


def is_symmetric(e: Experiment, stage: str) -> bool:
    """Return whether a stage's number for a query and a key is the same when the two tokens swap places.

    So it is if a token's query and key are the same vector, and positions add nothing to the scores.
    """
    if stage not in _BEFORE_BIAS and (stage != "capped" or POSITIONS[e.config.positions].bias is not None):
        return False
    if e.memory_embeddings is not None or not SCORES[e.config.score].is_symmetric:
        return False
    gains = [each.name for each in NORMS[e.config.qk_norm].tables]
    pairs = chain((("W_q", "W_k"), ("b_q", "b_k")), zip(gains[::2], gains[1::2], strict=True))
    return all(torch.equal(table(e, query), table(e, key)) for query, key in pairs)


def add_mirrored(e: Experiment, stage: str, cells: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return cells [row, column] of a stage, and those that show the same numbers because the stage is symmetric."""
    cells = list(cells)
    return cells + [(column, row) for row, column in cells] if is_symmetric(e, stage) else cells
