"""Reads what becomes of a model's answer: predicted tokens, or the similarity of sentences, before and after."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError
from attnlab.ui.models.model_state import ModelState
from attnlab.ui.models.model_values import Effect, Prediction
from attnlab.ui.models.run_keeper import RunKeeper, find_last
from attnlab.ui.models.token_names import show_token

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.pretrained.model import Model
    from attnlab.pretrained.model_run import Run
    from attnlab.pretrained.stack_pass import Part


class EffectReader(RunKeeper):
    """Answers with nothing off, and with what is off."""

    def __init__(self) -> None:
        super().__init__()
        self._words: tuple[Model, tuple[str, ...]] | None = None
        self._answered: Model | None = None

    def read_effect(self, state: ModelState, place: int, most: int, wanted: str = "") -> Effect:
        """Return the answer with nothing off and with what is off; ``place`` is the token at which a model predicts.

        Of the tokens whose names contain ``wanted``, the ``most`` likeliest are listed.
        """
        after, before = self._make_run(state), self._make_plain(state)
        prediction = None
        if after.model.architecture.predict is not None:
            at = min(place, len(after.target_tokens or after.tokens) - 1)
            one, other = before.probabilities(at), after.probabilities(at)
            tokenizer = after.model.tokenizer
            likely = one.maximum(other)
            if wanted:
                likely = likely.where(self._find_named(after.model, wanted, len(likely)), -1.0)
            order = [i for i in likely.topk(min(most, len(one))).indices.tolist() if likely[i] >= 0]
            order.sort(key=lambda i: -float(one[i]))
            best = int(one.argmax()), int(other.argmax())
            names = [tokenizer.name(i) for i in (*best, *order)]
            rows = tuple(
                (show_token(n), float(one[i]), float(other[i])) for n, i in zip(names, (*best, *order), strict=True)
            )
            where = show_token((after.target_tokens or after.tokens)[at])
            prediction = Prediction(
                where, rows[0], rows[1], rows[2:], lambda text, row: tokenizer.append(text, names[row + 2])
            )
        vectors = find_last(before), find_last(after)
        own = [each.mean(0) for each in vectors]
        texts = []
        for text in state.others if prediction is None else ():
            elsewhere = replace(state, text=text, target="")
            pair = [find_last(self._run_model(elsewhere, changed)).mean(0) for changed in (False, True)]
            texts.append((text, _cosine(own[0], pair[0]), _cosine(own[1], pair[1])))
        apart = [(show_token(t), 1 - _cosine(a, b)) for t, a, b in zip(_names(after), *vectors, strict=True)]
        apart.sort(key=lambda each: -each[1])
        return Effect(state, prediction, _cosine(*own), tuple(texts), tuple(apart[:3]))

    def read_head_changes(
        self, state: ModelState, part: "Part", layer: int, count: int, place: int
    ) -> NDArray[np.float64]:
        """Return how much the answer changes when each of the ``count`` heads of a layer alone is off [heads].

        Everything else is on, whatever the state has off.
        """
        plain = self._make_plain(state)
        predicts = plain.model.architecture.predict is not None
        at = min(place, len(plain.target_tokens or plain.tokens) - 1)
        before = plain.probabilities(at) if predicts else find_last(plain).mean(0)
        best = int(before.argmax())
        found = []
        for head in range(count):
            run = plain.change(heads_off={part: [(layer, head)]})
            if predicts:
                found.append(abs(float(run.probabilities(at)[best] - before[best])))
            else:
                found.append(1 - _cosine(before, find_last(run).mean(0)))
        return np.array(found)

    def _try_answer(self, run: "Run") -> None:
        """Answer once with a model that was just read, so that one that cannot is refused before any of it is shown.

        Raises:
            AttnlabError: a tensor behind the layers, or of the decoder, is missing or damaged.
        """
        if run.model is not self._answered:
            if run.model.architecture.predict is not None:
                run.probabilities(-1)
            self._answered = run.model

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

    def _find_named(self, model: "Model", wanted: str, count: int) -> "Tensor":
        """Return which of ``count`` tokens have names that contain a text, in capitals or not, bool [count]."""
        import torch

        if self._words is None or self._words[0] is not model:
            self._words = model, tuple(show_token(model.tokenizer.name(i)).casefold() for i in range(count))
        return torch.tensor([wanted.casefold() in name for name in self._words[1]])


def _names(run: "Run") -> Sequence[str]:
    return run.target_tokens or run.tokens


def _cosine(one: Any, other: Any) -> float:
    import torch

    return float(torch.nn.functional.cosine_similarity(one, other, dim=0))
