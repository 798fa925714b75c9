"""The task of predicting the next character, or piece, of a text: a small language model."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import IGNORED, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import pieces, texts
from attnlab.training.tasks.data import Data, TokenData
from attnlab.training.tasks.pieces import Pieces
from attnlab.training.tasks.task import Task, Variant

NAME = "characters"
HELD_OUT_SHARE = 10
"""One tenth of the text, at its end, is held out."""
MOST_WINDOWS = 128
MOST_CHARACTERS = 1000
"""The maximum number of different characters; a small model cannot learn a larger alphabet."""
LONGEST_PROBE = 24
OPTIONS = (
    Option("text", "Text", "Your own file, UTF-8, up to 2 MB; leave empty for Shakespeare’s sonnets", "file", ""),
    Option("context", "Context", "How many characters or pieces the model sees at once", "whole", 64, 8, 512),
    Option(
        "level",
        "Tokens",
        "Single characters, or pieces of words",
        "choice",
        "character",
        choices=(("character", "characters", "Each character is a token"), pieces.CHOICE),
    ),
    pieces.VOCABULARY,
)


class CharacterData(TokenData):
    """Windows of a text; see :class:`attnlab.training.tasks.data.Data`. The last tenth of the text is held out."""

    longest_source = 0
    causal = True
    held_out_lengths: tuple[int, ...] = ()

    def __init__(self, text: str, context: int, cutter: Pieces | None = None) -> None:
        self.longest, self._cutter = context, cutter
        tokens = self._split(text)
        self.vocabulary = cutter.vocabulary if cutter is not None else (*SPECIAL, *sorted(set(text)))
        self._numbers = {token: number for number, token in enumerate(self.vocabulary) if number >= len(SPECIAL)}
        whole = torch.tensor([self._numbers[token] for token in tokens])
        cut = len(whole) - max(len(whole) // HELD_OUT_SHARE, context + 1)
        self._learned = whole[:cut]
        self.held_out = self._cut_windows(whole[cut:])
        self.baselines: Mapping[str, float] = self._measure_baselines()
        start = text.find("\n", sum(map(len, tokens[:cut]))) + 1
        self.probe_text = cut_at_word(text[start:].split("\n", 1)[0], min(context, LONGEST_PROBE)) or text[:8]

    def _split(self, text: str) -> Sequence[str]:
        return text if self._cutter is None else self._cutter.split(text)

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` windows that begin at random positions of the training part."""
        start = torch.randint(len(self._learned) - self.longest, (n, 1), generator=g)
        rows = self._learned[start + torch.arange(self.longest + 1)]
        return Batch(rows[:, :-1], rows[:, 1:])

    def make_probe(self, text: str) -> Batch:
        """Return a text as a batch of one; each token's target is the next one, and the last has none."""
        tokens = self._split(text)
        strange = next((token for token in tokens if token not in self._numbers), "")
        if strange:
            raise TrainingError(
                f"{strange!r} does not occur in the training text; an input can use only its characters."
            )
        if not 1 <= len(tokens) <= self.longest:
            what = "characters" if self._cutter is None else "pieces"
            raise TrainingError(f"The input has {len(tokens)} {what}; the model reads 1 to {self.longest} at once.")
        row = torch.tensor([[self._numbers[token] for token in tokens]])
        return Batch(row, torch.cat([row[:, 1:], torch.full((1, 1), IGNORED)], 1))

    def _cut_windows(self, part: Tensor) -> Batch:
        """Return evenly spaced windows of the held-out part that do not overlap."""
        count = min((len(part) - 1) // self.longest, MOST_WINDOWS)
        start = torch.linspace(0, len(part) - 1 - self.longest, count).long()
        rows = part[start[:, None] + torch.arange(self.longest + 1)]
        return Batch(rows[:, :-1], rows[:, 1:])

    def _measure_baselines(self) -> dict[str, float]:
        """Return the held-out losses of add-one counts of tokens (unigram) and of smoothed counts of pairs (bigram)."""
        size = len(self.vocabulary) - len(SPECIAL)
        learned = self._learned.tolist()
        inputs, targets = self.held_out.inputs.flatten().tolist(), self.held_out.targets.flatten().tolist()
        single, pairs = Counter(learned), Counter(pairwise(learned))
        alone = [(single[b] + 1) / (len(learned) + size) for b in targets]
        asked = list(zip(inputs, targets, strict=True))
        return {"unigram": average_loss(alone), "bigram": average_loss(predict_after(pairs, asked, alone))}


def predict_after(
    pairs: Counter[tuple[int, int]], asked: Sequence[tuple[int, int]], alone: Sequence[float]
) -> list[float]:
    """Return the probability of the second token of each pair after the first, from counted pairs.

    ``alone`` are the probabilities of the second tokens without the first. Each distinct follower of a token adds one
    count, which is shared out in proportion to ``alone`` (Witten and Bell 1991).
    """
    total, different = Counter[int](), Counter[int]()
    for (first, _), count in pairs.items():
        total[first] += count
        different[first] += 1
    shares = []
    for pair, share in zip(asked, alone, strict=True):
        more = different[pair[0]] or 1  # a token never seen
        shares.append((pairs[pair] + more * share) / (total[pair[0]] + more))
    return shares


def cut_at_word(line: str, most: int) -> str:
    """Return the beginning of a line with at most so many characters, at the end of a word if it has several."""
    if len(line) <= most:
        return line
    return line[: most + 1].rpartition(" ")[0].rstrip() or line[:most]


def average_loss(shares: list[float]) -> float:
    """Return the mean negative logarithm of probabilities."""
    return -sum(map(math.log, shares)) / len(shares)


def make(spec: RunSpec) -> Data:
    """Return the windows of a run's text."""
    return CharacterData(_read_text(spec), _get_context(spec), _find_pieces(spec))


def _find_pieces(spec: RunSpec) -> Pieces | None:
    """Return the pieces of a run's text; None if its tokens are characters."""
    if spec.options.get("level", "character") != pieces.PIECE:
        return None
    path = str(spec.options.get("text", ""))
    size = int(spec.options.get(pieces.VOCABULARY.name, pieces.VOCABULARY.default))
    return _cut_text(_read_text(spec), size, f"The text {path}" if path else "The included text")


@lru_cache(maxsize=2)
def _cut_text(text: str, size: int, name: str) -> Pieces:
    return Pieces([text], size, name)


def _read_text(spec: RunSpec) -> str:
    """Return the text of a run without the characters reserved for padding, begin and end."""
    return texts.read(str(spec.options.get("text", ""))).translate({ord(special): None for special in SPECIAL})


def _get_context(spec: RunSpec) -> int:
    return int(spec.options.get("context", OPTIONS[1].default))


def check(spec: RunSpec) -> str:
    """Return why the text is unsuitable for training, "" if it is suitable."""
    path, context = str(spec.options.get("text", "")), _get_context(spec)
    try:
        cutter = _find_pieces(spec)
        if not path:
            return ""
        text = _read_text(spec)
    except TrainingError as error:
        return str(error)
    needed, count = 4 * (context + 1), len(text if cutter is None else cutter.split(text))
    if count < needed:
        what = "characters" if cutter is None else "pieces"
        return f"The text {path} has {count:,} {what}, and a context of {context:,} needs {needed:,} or more."
    if len(set(text)) > MOST_CHARACTERS:
        return f"The text {path} has {len(set(text))} different characters; the maximum is {MOST_CHARACTERS}."
    return ""


def choose_settings(kind: str) -> RunSpec:
    """Return settings that learn the task in about three minutes."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=2, heads=4, d_model=64, d_ff=256, dropout=0.1)
    return RunSpec(NAME, options, model, TrainSpec(rate=3e-3, batch=16, steps=3000, warmup=100, evaluate_every=200))


def choose_pieces() -> RunSpec:
    """Return the settings of a small language model as courses build it: 1,000 pieces, 128 positions, norms after."""
    spec = choose_settings("decoder")
    return replace(
        spec,
        options={**spec.options, "context": 128, "level": pieces.PIECE, pieces.VOCABULARY.name: 1000},
        model=replace(spec.model, norm="after"),
        train=replace(spec.train, rate=2e-3, steps=1500),
    )


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
    variants=(
        Variant(
            "pieces",
            "Pieces of words",
            "Tokens are the 1,000 most frequent pieces of words, found by byte-pair encoding, as in large models. The "
            "model reads 128 of them, has its norms after each part, and uses ReLU.",
            choose_pieces(),
        ),
    ),
)
