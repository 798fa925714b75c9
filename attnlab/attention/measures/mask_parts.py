"""The masks of an experiment, one by one and together, or the three masks of an encoder and a decoder."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.edits.batches import count_tokens
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.masks import MASKS, active, find_hidden

TOGETHER, PAINTED, NONE = "Together", "Painted", "No mask"


@dataclass(frozen=True, slots=True, eq=False)
class MaskPart:
    """One mask: ``hidden`` [rows, columns] is True for pairs that it hides; the tokens of rows and columns."""

    name: str
    title: str
    about: str
    hidden: NDArray[np.bool_]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of pairs that are hidden, from 0 to 1."""
        return float(self.hidden.mean())


def list_mask_parts(e: Experiment) -> tuple[MaskPart, ...]:
    """Return the masks to draw side by side.

    With a second sequence these are the three masks of an encoder and a decoder: source by source, target by target,
    and source for target, which is this experiment's own. Otherwise they are the active masks, one by one and together.
    """
    return _list_three(e) if e.memory_tokens is not None else _list_own(e)


def _list_own(e: Experiment) -> tuple[MaskPart, ...]:
    tokens = e.tokens, e.key_tokens
    on = active(e.config.causal, e.config.masks)
    parts = [
        MaskPart(name, MASKS[name].title, f"{MASKS[name].about}.", _hide(e, name == "causal", {name: n}), *tokens)
        for name, n in on
    ]
    if e.config.mask is not None:
        hidden = ~e.config.mask.numpy().astype(bool)
        parts.append(MaskPart("painted", PAINTED, "Pairs hidden one by one with the brush.", hidden, *tokens))
    if len(parts) == 1:
        return tuple(parts)
    whole = find_hidden(e.T_q, e.T_k, e.config.causal, e.config.masks, e.config.mask)
    if whole is None:
        nothing = np.zeros((e.T_q, e.T_k), bool)
        return (MaskPart("none", NONE, "Every query sees every key.", nothing, *tokens),)
    opened = "; the prefix overrides the causal mask" if e.config.causal and "prefix" in e.config.masks else ""
    about = f"A pair is hidden if any mask hides it{opened}."
    return (*parts, MaskPart("together", TOGETHER, about, whole.cells.numpy().copy(), *tokens))


def _hide(e: Experiment, causal: bool, masks: dict[str, int]) -> NDArray[np.bool_]:
    rules = {name: n for name, n in masks.items() if name != "causal"}
    found = find_hidden(e.T_q, e.T_k, causal, rules, None)
    assert found is not None
    return found.cells.numpy().copy()


def _list_three(e: Experiment) -> tuple[MaskPart, ...]:
    """Return the masks of the encoder's attention, of the decoder's own, and of the decoder's to the source."""
    source, target = e.key_tokens, e.tokens
    n_source, n_target = e.config.masks.get("padding", len(source)), count_tokens(e)
    past = np.tri(len(target), dtype=bool)
    own = e.hidden_cells()
    cross = np.zeros((len(target), len(source)), bool) if own is None else own.cells.numpy().copy()
    return (
        MaskPart(
            "source",
            "Source by source",
            "In the encoder every word sees every word; only padding is hidden.",
            np.broadcast_to(np.arange(len(source)) >= n_source, (len(source), len(source))).copy(),
            source,
            source,
        ),
        MaskPart(
            "target",
            "Target by target",
            "In the decoder a word sees only itself and earlier words, and no padding.",
            ~past | (np.arange(len(target)) >= n_target),
            target,
            target,
        ),
        MaskPart(
            "source-for-target",
            "Source for target",
            "From the decoder to the source: the masks of this layer.",
            cross,
            target,
            source,
        ),
    )
