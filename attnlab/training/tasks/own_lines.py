"""The task of predicting the next token in lines of the user's own text: words, characters or pieces."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import torch

from attnlab.attention.registries.entries import Option
from attnlab.base import assets
from attnlab.training.batch import END, IGNORED, PAD, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import own_data, texts
from attnlab.training.tasks.characters import average_loss, cut_at_word, predict_after
from attnlab.training.tasks.data import Data, TokenData
from attnlab.training.tasks.own_data import Cutter, Tokens
from attnlab.training.tasks.pieces import PIECE, VOCABULARY
from attnlab.training.tasks.rows import pad
from attnlab.training.tasks.task import Task

NAME = "lines"
INCLUDED = "the included sonnets"
DATA = Option(
    "data", "Lines", "Your own text, UTF-8, up to 2 MB; each line is an example; leave empty for sonnets", "file", ""
)
OPTIONS = (DATA, own_data.LEVEL, VOCABULARY, own_data.WORDS, own_data.LONGEST, own_data.HELD_OUT)
LONGEST_PROBE = {own_data.WORD: 10, own_data.CHARACTER: 24, PIECE: 12}

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """The lines of a file as tokens: those to learn from, the held-out ones, what cuts them, and the file's name."""

    learned: tuple[Row, ...]
    away: tuple[Row, ...]
    vocabulary: tuple[str, ...]
    cutter: Cutter
    name: str


@lru_cache(maxsize=4)
def _read_file(path: str, _stamp: tuple[int, int], tokens: Tokens, share: int) -> _File:
    """Return the lines of a file; equal ones count once.

    Raises:
        TrainingError: it is no text, or it has too few or too many lines or tokens.
    """
    name = own_data.name_file(path, INCLUDED)
    included = "" if path else assets.read_text(texts.SHIPPED)
    lines = [line for _, line in own_data.read_lines(path, included, name)]
    cutter = own_data.make_cutter(tokens, lines, name)
    rows = map(cutter.split, lines)
    found = list(dict.fromkeys(row for row in rows if row))
    learned, away = own_data.hold_out(found, share, name, "line")
    return _File(tuple(learned), tuple(away), own_data.number_tokens(found, cutter, name), cutter, name)


def _read_spec(spec: RunSpec) -> _File:
    path = str(spec.options.get(DATA.name, ""))
    stamp = texts.stamp(path) if path else (0, 0)
    return _read_file(path, stamp, own_data.get_tokens(spec), own_data.get(spec, own_data.HELD_OUT))


class LineData(TokenData):
    """Lines of a text; see :class:`attnlab.training.tasks.data.Data`. A longer line is cut into several rows."""

    longest_source = 0
    causal = True
    held_out_lengths: tuple[int, ...] = ()

    def __init__(self, file: _File, longest: int) -> None:
        self._cutter, self._name = file.cutter, file.name
        self.unknown_share = file.cutter.unknown_share
        self.vocabulary = file.vocabulary
        self._numbers = {token: number for number, token in enumerate(file.vocabulary) if number >= len(SPECIAL)}
        self.longest = min(longest, max(map(len, (*file.learned, *file.away))))
        self._rows = pad(self._cut(file.learned), self.longest + 1)
        away = self._cut(file.away)[: own_data.MOST_HELD_OUT]
        self.held_out = _lay_out(pad(away, self.longest + 1))
        self.baselines: Mapping[str, float] = self._measure_baselines(away)
        most = min(LONGEST_PROBE[file.cutter.tokens.level], self.longest)
        line, join = max(file.away[:20], key=len), file.cutter.join
        self.probe_text = cut_at_word(join(line), len(join(line[:most]))).strip()

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` random training lines, as wide as the longest of them."""
        rows = self._rows[torch.randint(len(self._rows), (n,), generator=g)]
        return _lay_out(rows[:, : int((rows != PAD).sum(1).max())])

    def make_probe(self, text: str) -> Batch:
        """Return a text as a batch of one; each token's target is the next one, and the last has none."""
        row = torch.tensor([own_data.read_probe(text, self._cutter, self._numbers, self.longest, self._name)])
        return Batch(row, torch.cat([row[:, 1:], torch.full((1, 1), IGNORED)], 1))

    def _cut(self, lines: Iterable[Row]) -> list[list[int]]:
        """Return lines as token numbers with END; a long one as rows that share one token with the next."""
        rows = []
        for line in lines:
            whole = [*(self._numbers[token] for token in line), END]
            rows += [whole[start : start + self.longest + 1] for start in range(0, len(whole) - 1, self.longest)]
        return rows

    def _measure_baselines(self, away: list[list[int]]) -> dict[str, float]:
        """Return the held-out losses of add-one counts of tokens (unigram) and of smoothed counts of pairs (bigram)."""
        size = len(self.vocabulary) - len(SPECIAL) + 1  # with END
        learned = [[number for number in row if number != PAD] for row in self._rows.tolist()]
        single = Counter(number for row in learned for number in row[1:])
        pairs = Counter(pair for row in learned for pair in pairwise(row))
        asked = [pair for row in away for pair in pairwise(row)]
        total = single.total()
        alone = [(single[b] + 1) / (total + size) for _, b in asked]
        return {"unigram": average_loss(alone), "bigram": average_loss(predict_after(pairs, asked, alone))}


def _lay_out(rows: torch.Tensor) -> Batch:
    """Return rows [n, T + 1] as inputs and targets [n, T]."""
    return Batch(
        rows[:, :-1].masked_fill(rows[:, :-1] == END, PAD), rows[:, 1:].masked_fill(rows[:, 1:] == PAD, IGNORED)
    )


def make(spec: RunSpec) -> Data:
    """Return the lines of a run's text."""
    return LineData(_read_spec(spec), own_data.get(spec, own_data.LONGEST))


def check(spec: RunSpec) -> str:
    """Return why the text is unsuitable, "" if it is suitable."""
    return own_data.find_fault(_read_spec, spec)


def choose_settings(kind: str) -> RunSpec:
    """Return settings for the included sonnets, of some minutes."""
    model = ModelSpec(kind, layers=2, heads=4, d_model=64, d_ff=128, dropout=0.1)
    train = TrainSpec(rate=2e-3, batch=16, steps=2000, warmup=100, evaluate_every=200)
    return RunSpec(NAME, {option.name: option.default for option in OPTIONS}, model, train)


TASK = Task(
    name=NAME,
    title="Own lines",
    about="The model predicts the next word, character or piece in each line of your own text, and where the line "
    "ends. Whole lines are held out. Without a file it learns the lines of Shakespeare’s sonnets.",
    look_for="With characters as tokens, a stripe just below the diagonal: a head that attends to the previous one. "
    "With words, a short text gives no clear pattern, because most of them are rare.",
    row="G3, G5",
    kinds=("decoder", "attention"),
    options=OPTIONS,
    settings=choose_settings,
    make=make,
    check=check,
)
