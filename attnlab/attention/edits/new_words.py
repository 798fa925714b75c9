"""The words of a sequence that still have the random vectors of new words."""

from functools import lru_cache

import torch
from torch import Tensor

from attnlab.attention.edits.batches import Side
from attnlab.attention.edits.token_edits import word_vector
from attnlab.attention.experiment import Experiment


def find_new_words(e: Experiment, side: Side = "query") -> tuple[str, ...]:
    """Return the distinct words of one side whose vectors are the random ones that a new word gets, in order."""
    tokens, numbers = (e.tokens, e.embeddings) if side == "query" else (e.memory_tokens, e.memory_embeddings)
    if tokens is None or numbers is None:
        return ()
    is_random = (numbers == _stack_vectors(tokens, numbers.shape[1], numbers.dtype)).all(-1).tolist()
    return tuple(dict.fromkeys(token for token, random in zip(tokens, is_random, strict=True) if random))


@lru_cache(maxsize=4)
def _stack_vectors(tokens: tuple[str, ...], d_model: int, dtype: torch.dtype) -> Tensor:
    return torch.stack([word_vector(token, d_model).to(dtype) for token in tokens])
