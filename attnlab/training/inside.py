"""What a model does with one probe, as its diagram shows it: its blocks, masks, states and answers."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attnlab.training.answers import read_places
from attnlab.training.batch import PAD, Batch
from attnlab.training.model_view import Guess, Inside, MaskPicture, Numbers, States
from attnlab.training.models.base_model import Model, hide_keys
from attnlab.training.models.blocks import Positions
from attnlab.training.models.describe import BOTH, PADDING, describe_model
from attnlab.training.models.recurrent import Recurrent
from attnlab.training.models.transformers import EncoderDecoder
from attnlab.training.specs import ModelSpec
from attnlab.training.tasks.data import Data

PADDED = 2
"""The tokens of padding in the row for which the masks are drawn."""
MOST_COLUMNS = 24
"""The columns of the positions that are drawn."""


@torch.no_grad()
def look_inside(model: Model, spec: ModelSpec, data: Data, batch: Batch) -> Inside:
    """Return what a model does with the only row of a batch, with the right tokens before each place."""
    tree = describe_model(model, spec, batch)
    with _collect_states(model) as states:
        memory = None if batch.source is None else model.encode(batch.source)
        outputs = model.decode(batch.inputs, memory)
    given = None
    if memory is not None and memory.summary is not None:
        given = States(_to_array(memory.states[0]), _to_array(torch.cat(states, 1)[0]), _to_array(memory.summary[0]))
    source = () if batch.source is None else data.decode(batch.source[0])
    numbers = batch.inputs.is_floating_point()
    inputs = tuple(f"{float(row[0]):.1f}" for row in batch.inputs[0]) if numbers else data.decode(batch.inputs[0])
    masks = _draw_masks(model, batch)
    padded = (batch.inputs if batch.source is None else batch.source).shape[1] + PADDED
    guesses = () if numbers else _guess(data, batch.inputs[0], batch.targets[0], outputs[0])
    return Inside(tree, source, inputs, guesses, masks, padded, _read_positions(model, batch), given, model.onward)


@contextmanager
def _collect_states(model: Model) -> Iterator[list[Tensor]]:
    """Provide the outputs [1, …, d] of a recurrent model's decoder, which may run step by step."""
    found: list[Tensor] = []
    if not isinstance(model, Recurrent):
        yield found
        return
    handle = model.decoder.register_forward_hook(lambda _module, _given, made: found.append(made[0]))
    try:
        yield found
    finally:
        handle.remove()


def _guess(data: Data, inputs: Tensor, targets: Tensor, logits: Tensor) -> tuple[Guess, ...]:
    """Return the answers at all places of a row, from its inputs and targets [T] and the logits [T, V]."""
    places = read_places(data, inputs, targets, logits, torch.ones_like(inputs, dtype=torch.bool))
    return tuple(Guess(each.wanted, each.likeliest, each.probability if each.wanted else 0.0) for each in places)


def _draw_masks(model: Model, batch: Batch) -> tuple[MaskPicture, ...]:
    """Return the masks of a model for the same row, padded as in a batch of longer ones."""
    inputs = _pad(batch.inputs)
    t = inputs.shape[1]
    if inputs.is_floating_point():
        return ()  # a row of numbers has no padding
    if batch.source is None:
        causal = bool(getattr(model, "causal", False))
        return (MaskPicture(BOTH if causal else PADDING, _hide(inputs, t, causal)),)
    source = _pad(batch.source)
    across = MaskPicture("source for target", _hide(source, t, False))
    if not isinstance(model, EncoderDecoder):
        return (across,) if model.layers else ()
    reads = MaskPicture("source padding", _hide(source, source.shape[1], False))
    return reads, MaskPicture("causal + target padding", _hide(inputs, t, True)), across


def _pad(rows: Tensor) -> Tensor:
    return nn.functional.pad(rows, (0, PADDED), value=PAD)


def _hide(keys: Tensor, queries: int, causal: bool) -> NDArray[np.bool_]:
    """Return the cells [queries, keys] that a mask hides."""
    hidden = hide_keys(keys, queries, causal)
    if hidden is None:
        return np.zeros((queries, keys.shape[1]), bool)
    cells = hidden.cells
    return (cells[0, 0] if cells.ndim == 4 else cells).cpu().numpy()


def _read_positions(model: Model, batch: Batch) -> dict[str, Numbers]:
    """Return the first columns of the positions of each embedding, where the model adds any."""
    found: dict[str, Numbers] = {}
    names = {
        "source_embedding": "encoder embedding",
        "embedding": "embedding" if batch.source is None else "decoder embedding",
    }
    for key, name in names.items():
        module = getattr(getattr(model, key, None), "positions", None)
        length = (batch.source if key.startswith("source") and batch.source is not None else batch.inputs).shape[1]
        if isinstance(module, Positions):
            table = getattr(module, "P", getattr(module, "encoding", None))
            if table is not None:
                found[name] = _to_array(table[:length, :MOST_COLUMNS])
    return found


def _to_array(tensor: Tensor) -> Numbers:
    return tensor.detach().to("cpu", torch.float32).numpy().copy()
