"""The task of predicting hidden words from the words around them, as BERT does."""

import math
import random
import re
from collections import Counter
from collections.abc import Mapping

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import IGNORED, PAD, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import sentences
from attnlab.training.tasks.data import Data, TokenData
from attnlab.training.tasks.rows import is_held_out, pad
from attnlab.training.tasks.task import Task

NAME = "masked"
MASK = len(SPECIAL)
"""The number of the token that stands for a hidden word."""
WRITTEN = "▢"
POOL, HELD_OUT, SEED = 20_000, 512, 20
LONGEST = 12
"""The maximum number of words in a sentence."""
OPTIONS = (Option("share", "Hidden", "The fraction of the words that is hidden", "number", 0.2, 0.05, 0.8),)


class MaskedData(TokenData):
    """Sentences of the grammar, each with some words hidden; see :class:`attnlab.training.tasks.data.Data`.

    A held-out sentence is never trained on, whichever of its words are hidden.
    """

    longest_source = 0
    longest = LONGEST
    causal = False
    probe_text = "the girl near the old kings [sees] [herself] ."

    def __init__(self, share: float) -> None:
        self._share = share
        self.vocabulary = (*SPECIAL, WRITTEN, *sentences.list_words())
        self._numbers = {word: number for number, word in enumerate(self.vocabulary)}
        g = random.Random(SEED)
        made = dict.fromkeys(sentences.draw_sentence(g) for _ in range(POOL))
        rows = pad([[self._numbers[word] for word in sentence] for sentence in made], LONGEST)
        away = is_held_out(rows)
        self._learned, kept = rows[~away], rows[away][:HELD_OUT]
        self.held_out = self._hide(torch.Generator().manual_seed(SEED), kept)
        lengths = [int(length) for length in (kept != PAD).sum(1)]
        self.held_out_lengths = tuple(lengths)
        self.baselines: Mapping[str, float] = {"unigram": self._measure_unigram()}

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` sentences with randomly hidden words."""
        return self._hide(g, self._learned[torch.randint(len(self._learned), (n,), generator=g)])

    def make_probe(self, text: str) -> Batch:
        """Return a sentence; words in brackets are hidden and are the targets, ▢ is a hidden word without a target."""
        words = re.findall(r"\[[^\[\]]*\]|[^\s.\[\]]+|\.", text.lower())
        if not 1 <= len(words) <= LONGEST:
            raise TrainingError(f"The input has {len(words)} words; this task reads 1 to {LONGEST}.")
        inputs, targets = [], []
        for word in words:
            bare = word.strip("[] ") or WRITTEN
            if bare not in self._numbers or bare in SPECIAL:
                raise TrainingError(
                    f"{bare!r} is not a word of this task; its words are {', '.join(self.vocabulary[4:])}."
                )
            is_hidden = word.startswith("[") or bare == WRITTEN
            inputs.append(MASK if is_hidden else self._numbers[bare])
            targets.append(self._numbers[bare] if is_hidden and bare != WRITTEN else IGNORED)
        return Batch(torch.tensor([inputs]), torch.tensor([targets]))

    def _hide(self, g: torch.Generator, rows: Tensor) -> Batch:
        """Return rows with words hidden at random, at least one in each."""
        chance = torch.rand(rows.shape, generator=g).masked_fill(rows == PAD, 1.0)
        hidden = (chance < self._share) | (chance == chance.min(1, keepdim=True).values)
        return Batch(rows.masked_fill(hidden, MASK), rows.masked_fill(~hidden, IGNORED))

    def _measure_unigram(self) -> float:
        """Return the loss of predicting each hidden word from the frequencies of words alone."""
        asked = self.held_out.targets[self.held_out.targets != IGNORED].tolist()
        learned = Counter(self._learned[self._learned != PAD].tolist())
        total = learned.total()
        return -sum(math.log(learned[word] / total) for word in asked) / len(asked)


def make(spec: RunSpec) -> Data:
    """Return the sentences of a run."""
    return MaskedData(float(spec.options.get("share", OPTIONS[0].default)))


def choose_settings(kind: str) -> RunSpec:
    """Return settings that learn the task."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=2, heads=4, d_model=48, d_ff=96)
    return RunSpec(NAME, options, model, TrainSpec(rate=2e-3, batch=32, steps=3000, evaluate_every=100))


TASK = Task(
    name=NAME,
    title="Masked words",
    about="Some words of a sentence are hidden, and the model predicts each from the words around it. Many can only be "
    "guessed, but a verb agrees with its subject in number, and himself, herself, itself or themselves refers to the "
    "subject.",
    look_for="In the rows of hidden words, an object attends to its verb. In some runs one head lets himself, herself, "
    "itself and themselves attend to their subject; in others the weight on it is divided among heads.",
    row="G4",
    kinds=("encoder", "attention"),
    options=OPTIONS,
    settings=choose_settings,
    make=make,
)
