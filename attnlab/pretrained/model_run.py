"""What a model makes of one text: tokens, hidden states, attention, predictions, and the experiment of a layer."""

from collections.abc import Iterator
from dataclasses import replace
from operator import index
from reprlib import repr
from typing import TYPE_CHECKING, Any, SupportsIndex

import torch
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.shares import find_after
from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.attend import find_hidden
from attnlab.pretrained.block_in import find_surroundings, with_block
from attnlab.pretrained.changes import NOTHING_CHANGED, Changes
from attnlab.pretrained.edited import find_edited_hidden
from attnlab.pretrained.layer_edits import LayerEdit, list_edits
from attnlab.pretrained.layer_in import read_definition, to_experiment
from attnlab.pretrained.outputs import HeadOutputs
from attnlab.pretrained.patterns import HeadPatterns, Repeated, find_kinds, find_patterns
from attnlab.pretrained.stack_pass import Part, StackPass

if TYPE_CHECKING:
    from attnlab.pretrained.model import Model

MOST = 1 << 24
"""The largest number of predictions to ask for."""


class Run:
    """A text in a model, from :meth:`attnlab.Model.run`. Layers are computed when they are asked for, then kept.

    ``tokens`` are the names of the tokens as the model's tokenizer cuts the text; ``target_tokens`` those of a decoder
    behind an encoder, () without one. The parts of an encoder–decoder are "encoder", "decoder" and "cross", the
    attention of the decoder to the encoder; a ``part`` that is not given is the first, or the only one.
    """

    def __init__(
        self,
        model: "Model",
        text: str,
        ids: list[int],
        tokens: tuple[str, ...],
        target: tuple[list[int], tuple[str, ...]] | None,
        changes: Changes = NOTHING_CHANGED,
        before: "Run | None" = None,
    ) -> None:
        self.model, self.text, self.tokens = model, text, tokens
        self._ids, self._target = ids, target
        self.target_tokens: tuple[str, ...] = target[1] if target is not None else ()
        self.changes = changes
        self._passes = self._make_passes()
        if before is not None:
            self._share(before)

    def _make_passes(self) -> list[StackPass]:
        """Return the passes through the stacks; a decoder behind an encoder reads what leaves the encoder."""
        stacks, changes = self.model.architecture.stacks, self.changes
        first = StackPass(stacks[0], torch.tensor(self._ids), off=changes.of(self.model.parts[0]))
        if self._target is None:
            return [first]

        def remember() -> Tensor:
            return first.hidden(stacks[0].n_layers)

        ids = torch.tensor(self._target[0])
        return [first, StackPass(stacks[1], ids, remember, changes.of("decoder"), changes.of("cross"))]

    def _share(self, before: "Run") -> None:
        """Take over the hidden states of another run of the same text, up to the first layer that differs."""
        parts: tuple[tuple[Part, ...], ...] = ((self.model.parts[0],), ("decoder", "cross"))
        for made, old, of in zip(self._passes, before._passes, parts, strict=False):
            first = _find_change(self.changes, before.changes, of, made.stack.n_layers)
            made.share(old, first)
            if first < made.stack.n_layers:
                return  # the decoder reads what leaves the encoder

    def __repr__(self) -> str:
        """Return one line with the sizes."""
        return f"<Run of {self.model.name} on {len(self.tokens)} tokens>"

    def change(self, heads_off: Any = (), pairs_off: Any = (), layers: Any = None) -> "Run":
        """Return the same text with only these heads and arrows off and layers edited, see :meth:`attnlab.Model.run`.

        Layers before the first that differs are not computed again.
        """
        changes = self.model.take_changes(heads_off, pairs_off, self._sizes(), layers or ())
        return Run(self.model, self.text, self._ids, self.tokens, self._target, changes, self)

    def attention(self, layer: SupportsIndex, part: Part | None = None) -> Tensor:
        """Return the softmax weights of a layer, [h, T_q, T_k], float32."""
        part = self._take_part(part)
        return self._pass(part).weights(self._take_layer(layer, part), part == "cross")

    def walk(self, part: Part | None = None) -> Iterator[Tensor]:
        """Yield the softmax weights of every layer [h, T_q, T_k], first to last, in one pass through the model."""
        part = self._take_part(part)
        return self._pass(part).walk(part == "cross")

    def outputs(self, layer: SupportsIndex, part: Part | None = None) -> HeadOutputs:
        """Return what the attention of a layer writes, head by head and key by key; the parts sum to its output."""
        part = self._take_part(part)
        return self._pass(part).outputs(self._take_layer(layer, part), part == "cross")

    def hidden(self, layer: SupportsIndex, part: Part | None = None) -> Tensor:
        """Return what enters a layer [T, d_model], float32; ``n_layers`` gives what leaves the last, after its norm.

        Read-only: later layers are computed from this tensor.
        """
        part = self._take_part(part)
        return self._pass(part).hidden(self._take_layer(layer, part, 1))

    def hidden_pairs(self, layer: SupportsIndex, part: Part | None = None) -> Tensor | None:
        """Return the pairs that the masks of a layer hide, bool [T_q, T_k]; None if it has none."""
        part = self._take_part(part)
        which = self._take_layer(layer, part)
        attention = self.model.find_attention(which, part)
        t_q, t_k = self._sizes()[part]
        off = self.changes.of(part).get(which)
        if off is not None and off.edited is not None:
            return find_edited_hidden(off.edited, attention, t_q, t_k)
        hidden = None if part == "cross" else find_hidden(attention, t_q, t_k)
        return None if hidden is None else hidden.clone()

    def list_edits(self, layer: SupportsIndex, part: Part | None = None) -> tuple[LayerEdit, ...]:
        """Return what was edited in a layer, each in words and with the layer without it; () in the model's own."""
        part = self._take_part(part)
        which = self._take_layer(layer, part)
        off = self.changes.of(part).get(which)
        if off is None or off.edited is None:
            return ()
        e = off.edited
        own = read_definition(self.model.find_attention(which, part), e.T_q, e.T_k)
        if e.config.block != "none":
            whole, cross = self.model.stack(part).layer(which), part == "cross"
            own = with_block(*own, find_surroundings(whole), cross, cross or whole.cross is None)
        return list_edits(own, e)

    def label_pairs(self, part: Part | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tokens of the queries and of the keys of a part."""
        part = self._take_part(part)
        own = self.tokens if part == self.model.parts[0] else self.target_tokens
        return own, self.tokens if part == "cross" else own

    def experiment(self, layer: SupportsIndex, part: Part | None = None, block: bool = False) -> Experiment:
        """Return a layer as an experiment, with the model's weights and hidden states, that computes its attention.

        With ``block`` it has the norms and feed-forward around it too, and its embeddings are what enters the layer.

        Raises:
            ArgumentError: there is no such layer, arrows are off in some of its heads, which masks cannot say, or a
                block of the playground has no such norms or feed-forward.
            ExperimentError: the text has more tokens than an experiment can have.
        """
        part = self._take_part(part)
        which = self._take_layer(layer, part)
        attention, x, memory = self._pass(part).read(which, part == "cross")
        queries, keys = self.label_pairs(part)
        across = (keys, memory) if part == "cross" else None
        e = to_experiment(attention, queries, x, across, self.changes.of(part).get(which))
        if not block:
            return e
        around, residual, _, is_last = self._pass(part).read_block(which, part == "cross")
        weights, config = with_block(e.weights, e.config, around, part == "cross", is_last)
        return replace(e, embeddings=residual, weights=weights, config=config)

    def leaving(self, layer: SupportsIndex, part: Part | None = None) -> Tensor:
        """Return what leaves a part of a layer [T, d_model]: what the last stage of its block computes.

        That is before the last norm of the model, and in a decoder with cross-attention before or after that.
        """
        part = self._take_part(part)
        return self._pass(part).read_block(self._take_layer(layer, part), part == "cross")[2]

    def predictions(self, position: SupportsIndex = -1, k: SupportsIndex = 5) -> list[tuple[str, float]]:
        """Return the ``k`` likeliest tokens with their probabilities, the likeliest first.

        A decoder predicts the token after ``position``. An encoder predicts the token at the position; for −1, if the
        text contains masked tokens, that is the first of them.

        Raises:
            ArgumentError: the model predicts no tokens, or there is no such position.
        """
        probabilities = self.probabilities(position)
        best = probabilities.topk(min(_take_whole("k", k, 1, MOST), len(probabilities)))
        name = self.model.tokenizer.name
        return [(name(int(i)), float(p)) for p, i in zip(best.values, best.indices, strict=True)]

    def probabilities(self, position: SupportsIndex = -1) -> Tensor:
        """Return the probability of every token of the vocabulary at a position, [words]; as ``predictions``."""
        architecture = self.model.architecture
        if architecture.predict is None:
            raise ArgumentError(f"{self.model.name} predicts no tokens: its folder has no output layer for them.")
        place = self.find_position(position)
        last = self._passes[-1]
        with torch.no_grad():
            hidden = last.hidden(last.stack.n_layers)[place]
            return architecture.predict(hidden[None])[0].softmax(-1)

    def find_position(self, position: SupportsIndex = -1) -> int:
        """Return the position that ``predictions`` means, counted from 0 among the tokens that the last stack reads.

        Raises:
            ArgumentError: there is no such position.
        """
        tokens = self.target_tokens or self.tokens
        place = _take_whole("position", position, -len(tokens), len(tokens) - 1)
        mask = self.model.tokenizer.mask
        if self.model.architecture.predicts == "masked" and place == -1 and mask is not None and mask in tokens:
            return tokens.index(mask)
        return place % len(tokens)

    def patterns(self, part: Part | None = None) -> list[HeadPatterns]:
        """Return what each head looks at, for every layer of a part: a table with one row for each head.

        The formulas are those of :class:`attnlab.pretrained.patterns.HeadPatterns`. "induction" is measured on random
        tokens that the model reads twice, the same each time; arrows that are off and painted masks, which belong to
        the tokens of this text, do not count there.

        Raises:
            ArgumentError: the part is cross-attention, whose queries and keys are different texts.
        """
        return self.measure(self.read_repeated(part), part)

    def read_repeated(self, part: Part | None = None) -> Repeated:
        """Return what each layer makes of random tokens read twice, which does not depend on the text.

        Raises:
            ArgumentError: as ``patterns``.
        """
        part = self._take_part(part)
        if part == "cross":
            raise ArgumentError("Patterns compare a text with itself; choose the part encoder or decoder.")
        made, ids = self._pass(part), self.model.draw_repeated()
        changes = self.changes.without_tokens()
        repeated = StackPass(made.stack, torch.tensor(ids), made.memory, changes.of(part), changes.of("cross"))
        return Repeated(tuple(map(repeated.weights, range(made.stack.n_layers))), find_after(ids))

    def measure(self, repeated: Repeated, part: Part | None = None) -> list[HeadPatterns]:
        """Return the scores of ``patterns``, of which "induction" is that of ``read_repeated``."""
        part = self._take_part(part)
        made = self._pass(part)
        tokens, _ = self.label_pairs(part)
        causal = made.stack.name == "decoder"
        kinds = find_kinds(tokens, self.model.tokenizer.specials(), causal)
        rows = []
        for layer, random in enumerate(repeated.weights):
            rows += find_patterns(made.weights(layer), kinds, layer, random, repeated.after)
        return rows

    def _sizes(self) -> dict[Part, tuple[int, int]]:
        t, u = len(self.tokens), len(self.target_tokens)
        whole: dict[Part, tuple[int, int]] = {"encoder": (t, t), "decoder": (u or t, u or t), "cross": (u, t)}
        return {part: whole[part] for part in self.model.parts}

    def _pass(self, part: Part) -> StackPass:
        return self._passes[0 if part == self.model.parts[0] else -1]

    def _take_part(self, part: Part | None) -> Part:
        if part is not None and part not in self.model.parts:
            raise ArgumentError(f"part is {part!r}; the parts of this model are {', '.join(self.model.parts)}.")
        return part or self.model.parts[0]

    def _take_layer(self, layer: SupportsIndex, part: Part, beyond: int = 0) -> int:
        return _take_whole("layer", layer, 0, self.model.stack(part).n_layers + beyond - 1)


def _find_change(changes: Changes, before: Changes, parts: tuple[Part, ...], n_layers: int) -> int:
    """Return the first layer in which something else is off; ``n_layers`` if there is none."""
    for layer in range(n_layers):
        if any(changes.of(part).get(layer) != before.of(part).get(layer) for part in parts):
            return layer
    return n_layers


def _take_whole(name: str, value: object, first: int, last: int) -> int:
    """Return a whole number between two bounds, both inclusive; ArgumentError for anything else."""
    if isinstance(value, SupportsIndex) and first <= index(value) <= last:
        return index(value)
    raise ArgumentError(f"{name} is {repr(value)}; it needs {format_bounds(first, last, 'a whole number')}.")
