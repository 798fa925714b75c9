"""Recognises imported weights as those of a layer of a known model, and gives the layer its settings of config.json."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.experiment import PROJECTIONS, AttentionConfig, Experiment, Weights
from attnlab.base.errors import ArgumentError, ExperimentError, FileError
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.pretrained.block_in import find_surroundings, list_block, with_block
from attnlab.pretrained.families.families import FAMILIES, build
from attnlab.pretrained.find_model import find_folder
from attnlab.pretrained.folder import CONFIG, ModelFolder, list_tensors, read_json
from attnlab.pretrained.layer_in import list_settings
from attnlab.pretrained.layers import AttentionLayer, Layer
from attnlab.pretrained.stack_pass import Part

LONGEST = 512
"""The tokens of the longest sentence; a longer window hides nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownLayer:
    """The attention of one layer of a model, and the layer that it is part of; ``title`` names both.

    The norms and the feed-forward of the layer are zeros unless it was read as a whole ``block``.
    """

    title: str
    part: Part
    attention: AttentionLayer
    layer: Layer
    block: bool = False

    @property
    def is_last(self) -> bool:
        """Whether the feed-forward of the layer follows this attention."""
        return self.part == "cross" or self.layer.cross is None

    @property
    def has_block(self) -> bool:
        """Whether the playground has a block with the norms and the feed-forward of the layer."""
        try:
            list_block(find_surroundings(self.layer), self.part == "cross", self.is_last)
        except ArgumentError:
            return False
        return True

    def clear(self, e: Experiment) -> Experiment:
        """Return the sentence of an experiment without weights and settings, into which the layer is imported.

        Raises:
            ExperimentError: the layer is cross-attention, and there is no second sequence.
        """
        if self.part == "cross":
            if e.memory_embeddings is None:
                raise ExperimentError(
                    f"{self.title} is cross-attention, which reads a second sequence; this scene has none."
                )
            return replace(e, weights=Weights(), config=AttentionConfig())
        others = tuple(replace(other, memory_tokens=None, memory_embeddings=None) for other in e.others)
        return Experiment(e.tokens, e.embeddings, others=others, item=e.item)

    def set_up(self, e: Experiment) -> Experiment:
        """Return an experiment that has the weights of this layer with its settings too; as a block if it is one.

        Raises:
            ArgumentError: the playground has no block with such norms or such a feed-forward.
            ExperimentError: its weights or heads are not those of this layer; the sentence names the first.
        """
        tables, settings = list_settings(self.attention, e.T_q)
        for count in ("n_heads", "n_kv_heads"):
            if getattr(e, count) != getattr(self.attention, count):
                raise ExperimentError(
                    f"{CONFIG} gives {self.title} {count} {getattr(self.attention, count)}, "
                    f"but {getattr(e, count)} is chosen here."
                )
        for field in PROJECTIONS:
            if not _is_same(getattr(e.weights, field), self._find_weight(field)):
                raise ExperimentError(f"{field} is not that of {self.title} as it is chosen here.")
        window = self.attention.window
        masks = {"window": window} if window is not None and window <= LONGEST else {}
        weights, config = replace(e.weights, extra=tables), AttentionConfig(masks=masks, **settings)
        if self.block:
            around = find_surroundings(self.layer)
            weights, config = with_block(weights, config, around, self.part == "cross", self.is_last)
        return replace(e, weights=weights, config=config)

    def _find_weight(self, field: str) -> Tensor | None:
        part = getattr(self.attention, field[-1])
        found: Tensor | None = part.weight if field[0] == "W" else part.bias
        return found


class KnownModel:
    """The layers of the model around files of weights. Only the layer that is asked for is read."""

    def __init__(self, path: Path, name: str, config: Mapping[str, Any], arrays: Mapping[str, NamedArray]) -> None:
        self.name = name
        self._folder = ModelFolder(path, name, config, arrays)
        self._empty = {name: torch.zeros(()).expand(array.shape) for name, array in arrays.items()}
        self._names = {each.untyped_storage().data_ptr(): name for name, each in self._empty.items()}
        self._places: dict[str, tuple[int, int, bool]] = {}
        self._several = False
        self._index()

    def find(self, name: str, block: bool = False) -> KnownLayer | None:
        """Return the layer that has an array as its W_q, read from the files; None if there is none.

        With ``block`` its norms and its feed-forward are read too.

        Raises:
            FileError: a tensor cannot be read, or holds a number that is not finite.
        """
        if name not in self._places:
            return None
        stack, index, cross = self._places[name]
        needed = set(self._list_names(_choose(build(self._make_folder(())).stacks[stack].layer(index), cross)))
        folder = replace(self._folder, held={}) if block else self._make_folder(needed)
        found = build(folder).stacks[stack]
        part: Part = "cross" if cross else found.name
        said = f"{part} layer {index}" if self._several else f"layer {index}"
        layer = found.layer(index)
        return KnownLayer(f"{said} of {self.name}", part, _choose(layer, cross), layer, block)

    def knows(self, names: Iterable[str]) -> bool:
        """Return whether one of these arrays is the W_q of a layer."""
        return any(name in self._places for name in names)

    def _index(self) -> None:
        """Note which layer each W_q belongs to; layers that these files do not have are left out."""
        stacks = build(self._make_folder(())).stacks
        self._several = len(stacks) > 1
        for place, stack in enumerate(stacks):
            for index in range(stack.n_layers):
                with suppress(FileError):
                    layer = stack.layer(index)
                    for cross, attention in ((False, layer.attention), (True, layer.cross)):
                        if attention is not None:
                            self._places[next(self._list_names(attention))] = place, index, cross

    def _make_folder(self, needed: Collection[str]) -> ModelFolder:
        """Return the folder with zeros in place of all tensors but those that are needed."""
        held = {name: empty for name, empty in self._empty.items() if name not in needed}
        return replace(self._folder, held=held)

    def _list_names(self, layer: AttentionLayer) -> Iterator[str]:
        """Return the names of the tensors that a layer is a view of, that of W_q first."""
        tensors = [getattr(layer, each) for each in "qkvo"]
        found = [tensor for each in tensors for tensor in (each.weight, each.bias) if tensor is not None]
        found += [norm.gain for norm in (layer.norm_q, layer.norm_k) if norm is not None]
        found += [layer.bias.table] if layer.bias is not None else []
        return (self._names[tensor.untyped_storage().data_ptr()] for tensor in found)


def find_known_model(path: Path, arrays: Mapping[str, NamedArray]) -> KnownModel:
    """Return the model in a folder, some or all of whose weights are ``arrays``; no tensor is read yet.

    Raises:
        FileError: its family is unknown, or attnlab cannot run it; the sentence names what is unknown.
    """
    where, name = find_folder(path)
    name, config = shorten_name(name), read_json(where / CONFIG)
    family = config.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        said = f"does not know the family {shorten_name(str(family))}" if family else "finds no model_type"
        raise FileError(f"attnlab {said} in the {CONFIG} of {name}.")
    whole: Mapping[str, NamedArray] = {}
    with suppress(FileError):
        whole = list_tensors(where)  # the files may be parts of a model
    found = KnownModel(where, name, config, {**whole, **arrays})
    return found if found.knows(arrays) else KnownModel(where, name, config, arrays)


def _choose(layer: Any, cross: bool) -> AttentionLayer:
    found: AttentionLayer = layer.cross if cross else layer.attention
    return found


def _is_same(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and bool((one.to(torch.float32) == other).all())
