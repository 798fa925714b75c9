"""Reads models and runs texts through them, in a thread of its own; gives values that the cards show."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import ArgumentError, AttnlabError
from attnlab.figures.raster import reduce_cells, reduce_maps
from attnlab.figures.scales import find_sinks
from attnlab.ui.models.capture_reader import describe_capture, read_captured
from attnlab.ui.models.model_state import ModelState
from attnlab.ui.models.model_values import Effect, Facts, Floats, LayerMaps, Overview, Prediction
from attnlab.ui.widgets.tokens.token_chips import visible

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.many_texts import ManyTexts
    from attnlab.pretrained.model import Model
    from attnlab.pretrained.model_run import Run
    from attnlab.pretrained.patterns import HeadPatterns
    from attnlab.pretrained.stack_pass import Part

SMALL = 96
"""Maps of the overview have at most so many rows and columns; longer ones keep the largest of each block."""


class ModelReader:
    """Keeps the model and the text that were read last; used by one thread only."""

    def __init__(self) -> None:
        self._model: tuple[str, Model] | None = None
        self._plain: tuple[tuple[object, ...], Run] | None = None
        self._run: tuple[tuple[object, ...], Run] | None = None
        self._capture: tuple[str, Capture] | None = None

    def read_overview(self, state: ModelState, part: "Part | None", *, fresh: bool = False) -> Overview:
        """Return all heads of a part; None is the first part. A ``fresh`` model that cannot read the text, which was
        that of another model, reads an example of its own.

        Raises:
            AttnlabError: the model cannot be read, or the text not run; says why.
        """
        asked = state
        capture = self._find_capture(state.source)
        run: Run | Capture
        if capture is not None:
            run, facts, signs = capture, describe_capture(capture), capture.specials()
            words, target = (" ".join(map(show_token, each)) for each in (capture.tokens, capture.target_tokens))
            state = replace(state, text=words, target=target)
        else:
            if fresh and not self._can_read(state):
                state = replace(state, text=self._read_model(state.source).folder.example)
            run = self._make_run(state)
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
        )

    def read_layer(self, overview: Overview, layer: int) -> LayerMaps:
        """Return one layer in full, compared with what the playground computes."""
        if (found := self._find_capture(overview.state.source)) is not None:
            return read_captured(found, overview, layer)
        run, part = self._make_run(overview.state), overview.part
        weights, outputs, hidden = run.attention(layer, part), run.outputs(layer, part), run.hidden_pairs(layer, part)
        difference, why = None, ""
        try:
            difference = _compare(run.experiment(layer, part), weights.numpy())
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

    def read_patterns(self, overview: Overview) -> "tuple[HeadPatterns, ...]":
        """Return the scores of every head of a part; () for cross-attention, whose texts differ."""
        if overview.part == "cross":
            return ()
        run = self._find_capture(overview.state.source) or self._make_run(overview.state)
        return tuple(run.patterns(overview.part))

    def read_answers(self, state: ModelState, place: int) -> str:
        """Return the probability of every token, with everything on and as it is, and the change, as CSV.

        Raises:
            AttnlabError: the model predicts no tokens.
        """
        from attnlab.pretrained.pattern_tables import encode_rows

        words = self._make_run(state).model.architecture.words
        found = self.read_effect(replace(state, others=()), place, words).prediction
        if found is None:
            raise AttnlabError("This model predicts no tokens, so there are no probabilities to save.")
        rows = ((token, before, after, after - before) for token, before, after in found.rows)
        return encode_rows([("token", "before", "after", "change"), *rows])

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
        state = replace(state.plain(), target=text) if written else replace(state.plain(), text=text)
        return state, self.read_experiment(state, part, layer)

    def read_texts(self, state: ModelState, texts: Sequence[str], part: "Part") -> "ManyTexts":
        """Return what the model, with the heads of the state off, looks at in several texts, with what is edited.

        Raises:
            AttnlabError: it can read none of them, or it is a capture.
        """
        model = self._read_model(state.source)
        return model.read_texts(texts, part, state.list_off(heads=True), state.list_unmasked())

    def read_effect(self, state: ModelState, place: int, most: int) -> Effect:
        """Return the answer with nothing off and with what is off; ``place`` is the token at which a model predicts."""
        after, before = self._make_run(state), self._make_plain(state)
        prediction = None
        if after.model.architecture.predict is not None:
            at = min(place, len(after.target_tokens or after.tokens) - 1)
            one, other = before.probabilities(at), after.probabilities(at)
            order = one.maximum(other).topk(min(most, len(one))).indices.tolist()
            order.sort(key=lambda i: -float(one[i]))
            tokenizer = after.model.tokenizer
            names = [tokenizer.name(i) for i in order]
            rows = [(show_token(n), float(one[i]), float(other[i])) for n, i in zip(names, order, strict=True)]
            where = show_token((after.target_tokens or after.tokens)[at])
            prediction = Prediction(where, tuple(rows), lambda text, row: tokenizer.append(text, names[row]))
        vectors = _last(before), _last(after)
        own = [each.mean(0) for each in vectors]
        texts = []
        for text in state.others if prediction is None else ():
            elsewhere = replace(state, text=text, target="")
            pair = [_last(self._run_model(elsewhere, changed)).mean(0) for changed in (False, True)]
            texts.append((text, _cosine(own[0], pair[0]), _cosine(own[1], pair[1])))
        apart = [(show_token(t), 1 - _cosine(a, b)) for t, a, b in zip(_names(after), *vectors, strict=True)]
        apart.sort(key=lambda each: -each[1])
        return Effect(state, prediction, _cosine(*own), tuple(texts), tuple(apart[:3]))

    def read_experiment(self, state: ModelState, part: "Part", layer: int) -> "Experiment":
        """Return a layer as an experiment that computes the model's attention."""
        return self._make_run(state).experiment(layer, part)

    def _can_read(self, state: ModelState) -> bool:
        """Return whether a model has tokens for a text."""
        try:
            self._run_model(state, False)
        except ArgumentError:
            return False
        return True

    def run_to_end(self, state: ModelState) -> None:
        """Compute the last hidden states of a state."""
        _last(self._make_run(state))

    def _find_capture(self, source: str) -> "Capture | None":
        """Return the capture in a file; None if the source is none."""
        from attnlab.pretrained.capture_file import is_capture, read_capture

        if self._capture is None or self._capture[0] != source:
            if (self._model is not None and self._model[0] == source) or not is_capture(Path(source)):
                return None
            self._model = self._plain = self._run = None
            self._capture = source, read_capture(Path(source))
        return self._capture[1]

    def _read_model(self, source: str) -> "Model":
        from attnlab.pretrained.model import open_model

        if self._model is None or self._model[0] != source:
            self._plain = self._run = self._capture = None
            self._model = source, open_model(source)
        return self._model[1]

    def _run_model(self, state: ModelState, changed: bool) -> "Run":
        model = self._read_model(state.source)
        target = state.target if "cross" in model.parts else None
        off: dict[str, Any] = {"heads_off": state.list_off(heads=True), "layers": state.list_unmasked()}
        return model.run(state.text, target, **(off if changed else {}))

    def _make_plain(self, state: ModelState) -> "Run":
        """Return the run with nothing switched off."""
        key = state.source, state.text, state.target
        self._read_model(state.source)
        if self._plain is None or self._plain[0] != key:
            self._plain = self._run = None
            self._plain = key, self._run_model(state, False)
        return self._plain[1]

    def _make_run(self, state: ModelState) -> "Run":
        """Return the run with what is off; layers before the first that differs are not computed again."""
        plain = self._make_plain(state)
        if not state.is_changed:
            return plain
        key = (state.source, state.text, state.target, state.off, state.edited)
        if self._run is None or self._run[0] != key:
            before = self._run[1] if self._run is not None else plain
            off = state.list_off(heads=True), state.list_off(heads=False), state.list_edited()
            self._run = key, before.change(*off)
        return self._run[1]


@lru_cache(4096)
def show_token(token: str) -> str:
    """Return a token as people read it, with signs for one that is white space only."""
    from attnlab.pretrained.tokenizer import readable

    text = readable(token)
    return text if text.strip() else visible(text)


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


def _compare(e: "Experiment", weights: Floats) -> float:
    """Return the largest difference between the weights of an experiment, computed, and others."""
    from attnlab.compute.engine import compute

    found = compute(e).array("weights")
    return float(np.abs(found.reshape(weights.shape) - weights).max(initial=0.0))


def _last(run: "Run") -> Any:
    """Return the last hidden states of the text that the answer is made from."""
    part = run.model.parts[0 if not run.target_tokens else 1]
    return run.hidden(run.model.stack(part).n_layers, part)


def _names(run: "Run") -> Sequence[str]:
    return run.target_tokens or run.tokens


def _cosine(one: Any, other: Any) -> float:
    import torch

    return float(torch.nn.functional.cosine_similarity(one, other, dim=0))
