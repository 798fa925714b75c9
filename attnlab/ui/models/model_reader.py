"""Reads models and runs texts through them, in a thread of its own; gives values that the cards show."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import ArgumentError, AttnlabError
from attnlab.figures.raster import reduce_cells, reduce_maps
from attnlab.figures.scales import find_sinks
from attnlab.ui.models.capture_reader import describe_capture, read_captured
from attnlab.ui.models.diagram_reader import read_diagram
from attnlab.ui.models.effect_reader import EffectReader
from attnlab.ui.models.model_state import Edited, ModelState
from attnlab.ui.models.model_values import Facts, Floats, LayerMaps, Overview
from attnlab.ui.models.token_names import show_token

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment
    from attnlab.figures.diagram.diagram_data import DiagramData
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.layer_edits import LayerEdit
    from attnlab.pretrained.many_texts import ManyTexts
    from attnlab.pretrained.model import Model
    from attnlab.pretrained.model_run import Run
    from attnlab.pretrained.patterns import HeadPatterns
    from attnlab.pretrained.stack_pass import Part

SMALL = 96
"""Maps of the overview have at most so many rows and columns; longer ones keep the largest of each block."""


class ModelReader(EffectReader):
    """Reads overviews, layers, patterns and experiments; used by one thread only."""

    def read_overview(self, state: ModelState, part: "Part | None", *, fresh: bool = False) -> Overview:
        """Return all heads of a part; None is the first part. A ``fresh`` model that cannot read the text, which was
        that of another model, reads an example of its own.

        Raises:
            AttnlabError: the model cannot be read, or the text not run; says why.
        """
        asked = state
        capture = self._find_capture(state.source)
        run: Run | Capture
        read: Run | None = None
        edits: dict[Edited, tuple[LayerEdit, ...]] = {}
        if capture is not None:
            run, facts, signs = capture, describe_capture(capture), capture.specials()
            words, target = (" ".join(map(show_token, each)) for each in (capture.tokens, capture.target_tokens))
            state = replace(state, text=words, target=target)
        else:
            if fresh and not self._can_read(state):
                state = replace(state, text=self._read_model(state.source).folder.example)
            state, edits = self._read_edits(state)
            run = read = self._make_run(state)
            facts, signs = _find_facts(run.model), run.model.tokenizer.specials()
        part = part if part in facts.parts else facts.parts[0]
        queries, keys = run.label_pairs(part)
        specials = tuple(place for place, token in enumerate(keys) if token in signs)
        shown = tuple(map(show_token, keys))
        texts = find_words(shown, specials)
        maps, on_words = [], []
        for weights in run.walk(part):
            maps.append(reduce_maps(weights.numpy(), SMALL, SMALL))
            if texts:
                on_words.append(weights.mean(1)[:, texts].sum(-1).numpy())
            del weights  # before the next layer's are computed
        if read is not None:
            self._try_answer(read)  # after the layers, which are computed once with their maps
        hidden = _stack_hidden([run.hidden_pairs(layer, part) for layer in range(len(maps))], len(queries), len(keys))
        small = None if hidden is None else np.stack([reduce_cells(each, *maps[0].shape[1:]) for each in hidden])
        return Overview(
            state,
            asked,
            facts,
            part,
            np.stack(maps),
            small,
            tuple(map(show_token, queries)),
            shown,
            specials,
            np.stack(on_words) if texts else None,
            edits,
        )

    def _read_edits(self, state: ModelState) -> "tuple[ModelState, dict[Edited, tuple[LayerEdit, ...]]]":
        """Return the differences of every edited layer, and the state without layers that do not differ."""
        found: dict[Edited, tuple[LayerEdit, ...]] = {}
        for each in state.edited:
            if edits := self._make_run(state).list_edits(each.layer, each.part):
                found[each] = edits
            else:
                state = state.edit(each.part, each.layer, None)
        return state, found

    def read_layer(self, overview: Overview, layer: int) -> LayerMaps:
        """Return one layer in full, compared with what the playground computes."""
        if (found := self._find_capture(overview.state.source)) is not None:
            return read_captured(found, overview, layer)
        run, part = self._make_run(overview.state), overview.part
        weights, outputs, hidden = run.attention(layer, part), run.outputs(layer, part), run.hidden_pairs(layer, part)
        difference, why = None, ""
        try:
            difference = _compare(_read_block(run, layer, part), weights.numpy(), run.leaving(layer, part).numpy())
        except AttnlabError as error:
            why = str(error)
        return LayerMaps(
            overview,
            layer,
            weights.numpy(),
            outputs.moved.numpy(),
            None if hidden is None else hidden.numpy(),
            difference,
            why,
            outputs.difference,
        )

    def read_diagram(self, state: ModelState) -> "DiagramData":
        """Return what the diagram of the model is drawn from.

        Raises:
            AttnlabError: it is a capture, which has no weights.
        """
        return read_diagram(None if self._find_capture(state.source) is not None else self._make_run(state), state.off)

    def read_patterns(self, overview: Overview) -> "tuple[HeadPatterns, ...]":
        """Return the scores of every head of a part; () for cross-attention, whose texts differ."""
        if overview.part == "cross":
            return ()
        run = self._find_capture(overview.state.source) or self._make_run(overview.state)
        return tuple(run.patterns(overview.part))

    def read_words(
        self, state: ModelState, part: "Part", layer: int, tokens: Sequence[str]
    ) -> "tuple[ModelState, Experiment]":
        """Return the state and a layer as an experiment on other words than the state's.

        ``tokens`` are those of an experiment of the layer: names of the model's own tokens as people read them, and
        words that were typed, each of which begins after a space.

        Raises:
            AttnlabError: the model cannot read the words; says why.
        """
        from attnlab.pretrained.tokenizer import readable

        run = self._make_run(state)
        tokenizer = run.model.tokenizer
        known = {readable(name): name for name in run.label_pairs(part)[0]}
        specials, text = tokenizer.specials(), ""
        for token in tokens:
            name = known.get(token)
            if name is None:
                text = f"{text} {token.strip()}" if text else token.strip()
            elif name not in specials:
                text = tokenizer.append(text, name)
        written = "cross" in run.model.parts and part != run.model.parts[0]
        state = state.with_target(text) if written else state.with_text(text)
        return state, self.read_experiment(state, part, layer)

    def read_texts(self, state: ModelState, texts: Sequence[str], part: "Part") -> "ManyTexts":
        """Return what the model, with the heads of the state off, looks at in several texts, with what is edited.

        Raises:
            AttnlabError: it can read none of them, or it is a capture.
        """
        model = self._read_model(state.source)
        return model.read_texts(texts, part, state.list_off(heads=True), state.list_unmasked())

    def read_experiment(self, state: ModelState, part: "Part", layer: int) -> "Experiment":
        """Return a layer as an experiment that computes the model's attention, and what stands around it."""
        return _read_block(self._make_run(state), layer, part)


def _read_block(run: "Run", layer: int, part: "Part") -> "Experiment":
    """Return a layer as a whole block, or its attention alone if the playground has no such norms or feed-forward."""
    try:
        return run.experiment(layer, part, block=True)
    except ArgumentError:
        return run.experiment(layer, part)


def _find_facts(model: "Model") -> Facts:
    return Facts(
        model.name,
        model.architecture.about,
        model.n_layers,
        model.n_heads,
        model.d_model,
        model.n_parameters,
        model.parts,
        model.architecture.predicts,
        model.tokenizer.mask,
        model.limit,
    )


def find_words(keys: Sequence[str], specials: Sequence[int]) -> list[int]:
    """Return the keys that are text: neither special tokens nor the first, which often is a sink."""
    return sorted({*range(len(keys))} - {*find_sinks(keys), *specials})


def _stack_hidden(hidden: "list[Tensor | None]", t_q: int, t_k: int) -> list[NDArray[np.bool_]] | None:
    """Return the masked cells of every layer; None if there are none."""
    if all(each is None for each in hidden):
        return None
    return [np.zeros((t_q, t_k), bool) if each is None else each.numpy() for each in hidden]


def _compare(e: "Experiment", weights: Floats, leaving: Floats) -> float:
    """Return the largest difference between the weights of an experiment, computed, and others.

    Of a whole block, what leaves it counts too: its difference relative to the largest number of ``leaving``.
    """
    from attnlab.attention.stages.presence import find_last
    from attnlab.compute.engine import compute

    trace = compute(e)
    difference = float(np.abs(trace.array("weights").reshape(weights.shape) - weights).max(initial=0.0))
    if e.config.block == "none":
        return difference
    gap = np.abs(trace.array(find_last(e)) - leaving).max(initial=0.0)
    return max(difference, float(gap / max(np.abs(leaving).max(initial=0.0), 1e-12)))
