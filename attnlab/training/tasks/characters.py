"""The task of predicting the next character of a text: a small language model."""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import IGNORED, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import texts
from attnlab.training.tasks.data import Data, TokenData
from attnlab.training.tasks.task import Task

NAME = "characters"
HELD_OUT_SHARE = 10
"""One tenth of the text, at its end, is held out."""
MOST_WINDOWS = 128
MOST_CHARACTERS = 1000
"""The maximum number of different characters; a small model cannot learn a larger alphabet."""
OPTIONS = (
    Option("text", "Text", "Your own file, UTF-8, up to 2 MB; leave empty for Shakespeare’s sonnets", "file", ""),
    Option("context", "Context", "How many characters the model sees at once", "whole", 64, 8, 512),
)


class CharacterData(TokenData):
    """Windows of a text; see :class:`attnlab.training.tasks.data.Data`. The last tenth of the text is held out."""

    longest_source = 0
    causal = True
    held_out_lengths: tuple[int, ...] = ()

    def __init__(self, text: str, context: int) -> None:
        self.longest = context
        characters = sorted(set(text))
        self.vocabulary = (*SPECIAL, *characters)
        self._numbers = {character: number for number, character in enumerate(characters, len(SPECIAL))}
        whole = torch.tensor([self._numbers[character] for character in text])
        cut = len(whole) - max(len(whole) // HELD_OUT_SHARE, context + 1)
        self._learned = whole[:cut]
        self.held_out = self._cut_windows(whole[cut:])
        self.baselines: Mapping[str, float] = self._measure_baselines()
        start = text.find("\n", cut) + 1
        self.probe_text = text[start : start + min(context, 24)].split("\n")[0] or text[:8]

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` windows that begin at random positions of the training part."""
        start = torch.randint(len(self._learned) - self.longest, (n, 1), generator=g)
        rows = self._learned[start + torch.arange(self.longest + 1)]
        return Batch(rows[:, :-1], rows[:, 1:])

    def make_probe(self, text: str) -> Batch:
        """Return a text as a batch of one; each character's target is the next one, and the last has none."""
        strange = next((character for character in text if character not in self._numbers), "")
        if strange:
            raise TrainingError(
                f"{strange!r} does not occur in the training text; a probe can use only its characters."
            )
        if not 1 <= len(text) <= self.longest:
            raise TrainingError(f"The probe has {len(text)} characters; the model reads 1 to {self.longest} at once.")
        row = torch.tensor([[self._numbers[character] for character in text]])
        return Batch(row, torch.cat([row[:, 1:], torch.full((1, 1), IGNORED)], 1))

    def _cut_windows(self, part: Tensor) -> Batch:
        """Return evenly spaced windows of the held-out part that do not overlap."""
        count = min((len(part) - 1) // self.longest, MOST_WINDOWS)
        start = torch.linspace(0, len(part) - 1 - self.longest, count).long()
        rows = part[start[:, None] + torch.arange(self.longest + 1)]
        return Batch(rows[:, :-1], rows[:, 1:])

    def _measure_baselines(self) -> dict[str, float]:
        """Return the held-out losses of the unigram and bigram counts of characters, with add-one smoothing."""
        size = len(self.vocabulary) - len(SPECIAL)
        learned = self._learned.tolist()
        inputs, targets = self.held_out.inputs.flatten().tolist(), self.held_out.targets.flatten().tolist()
        single, pairs = Counter(learned), Counter(pairwise(learned))
        alone = [(single[b] + 1) / (len(learned) + size) for b in targets]
        after = [(pairs[a, b] + 1) / (single[a] + size) for a, b in zip(inputs, targets, strict=True)]
        return {"unigram": average_loss(alone), "bigram": average_loss(after)}


def average_loss(shares: list[float]) -> float:
    """Return the mean negative logarithm of probabilities."""
    return -sum(map(math.log, shares)) / len(shares)


def make(spec: RunSpec) -> Data:
    """Return the windows of a run's text."""
    return CharacterData(_read_text(spec), _get_context(spec))


def _read_text(spec: RunSpec) -> str:
    """Return the text of a run without the characters reserved for padding, begin and end."""
    return texts.read(str(spec.options.get("text", ""))).translate({ord(special): None for special in SPECIAL})


def _get_context(spec: RunSpec) -> int:
    return int(spec.options.get("context", OPTIONS[1].default))


def check(spec: RunSpec) -> str:
    """Return why the text is unsuitable for training, "" if it is suitable."""
    path, context = str(spec.options.get("text", "")), _get_context(spec)
    if not path:
        return ""
    try:
        text = _read_text(spec)
    except TrainingError as error:
        return str(error)
    needed = 4 * (context + 1)
    if len(text) < needed:
        return f"The text {path} has {len(text)} characters, and a context of {context} needs {needed} or more."
    if len(set(text)) > MOST_CHARACTERS:
        return f"The text {path} has {len(set(text))} different characters; the maximum is {MOST_CHARACTERS}."
    return ""


def choose_settings(kind: str) -> RunSpec:
    """Return settings that learn the task in about three minutes."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=2, heads=4, d_model=64, d_ff=256, dropout=0.1)
    return RunSpec(NAME, options, model, TrainSpec(rate=3e-3, batch=16, steps=3000, warmup=100, evaluate_every=200))


TASK = Task(
    name=NAME,
    title="Characters of a text",
    about="The model predicts each character of a text from the characters before it, as large language models do. It "
    "learns spaces and frequent letters first, then words, then lines.",
    look_for="The first layer shows a stripe just below the diagonal: a head that attends to the previous character, "
    "because the last few characters say most about the next one.",
    row="G2, G5",
    kinds=("decoder", "attention"),
    options=OPTIONS,
    settings=choose_settings,
    make=make,
    check=check,
)
