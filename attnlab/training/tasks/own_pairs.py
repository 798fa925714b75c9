"""The task of the user's own pairs: a file with a source, a tab and a target in each line."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import BEGIN, IGNORED, PAD, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import own_data, texts
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.own_data import Cutter, Tokens
from attnlab.training.tasks.pair_data import PairData, Pairs
from attnlab.training.tasks.pieces import VOCABULARY
from attnlab.training.tasks.rows import pad
from attnlab.training.tasks.short_questions import QUESTIONS, translate
from attnlab.training.tasks.task import RECURRENT, WITH_SOURCE, Task

NAME = "pairs"
INCLUDED = "the included pairs"
DATA = Option(
    "data",
    "Pairs",
    "Your own file, UTF-8, up to 2 MB: in each line a source, a tab and a target; leave empty for short questions",
    "file",
    "",
)
OPTIONS = (DATA, own_data.LEVEL, VOCABULARY, own_data.WORDS, own_data.LONGEST, own_data.HELD_OUT)
_FORM = "each line needs a source, a tab and a target"

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """The pairs of a file: those to learn from, the held-out ones, what cuts them, and the file's name."""

    learned: tuple[tuple[Row, Row], ...]
    away: tuple[tuple[Row, Row], ...]
    vocabulary: tuple[str, ...]
    cutter: Cutter
    name: str


@lru_cache(maxsize=4)
def _read_file(path: str, _stamp: tuple[int, int], tokens: Tokens, longest: int, share: int) -> _File:
    """Return the pairs of a file. A source is held out with all its targets.

    Raises:
        TrainingError: the first line that is no pair, with its number; or too few or too many of something.
    """
    name = own_data.name_file(path, INCLUDED)
    included = "".join(f"{' '.join(question)}\t{' '.join(translate(question))}\n" for question in QUESTIONS)
    targets: dict[Row, dict[Row, None]] = {}
    lines = own_data.read_lines(path, included, name)
    cutter = own_data.make_cutter(tokens, (side for _, line in lines for side in line.split("\t")), name)
    for number, line in lines:
        source, target = _read_pair(line, f"Line {number:,} of {name}", cutter, longest)
        targets.setdefault(source, {})[target] = None
    parts = own_data.hold_out(list(targets), share, name, "source")
    learned, away = (tuple((source, target) for source in part for target in targets[source]) for part in parts)
    words = own_data.number_tokens((row for pair in (*learned, *away) for row in pair), cutter, name)
    return _File(learned, away[: own_data.MOST_HELD_OUT], words, cutter, name)


def _read_pair(line: str, where: str, cutter: Cutter, longest: int) -> tuple[Row, Row]:
    columns = line.split("\t")
    if len(columns) == 1:
        raise TrainingError(f"{where} has one column; {_FORM}.")
    if len(columns) > 2:
        raise TrainingError(f"{where} has {len(columns)} columns; {_FORM}, and nothing else.")
    rows = cutter.split(columns[0]), cutter.split(columns[1])
    for row, what in zip(rows, ("source", "target"), strict=True):
        if not row:
            raise TrainingError(f"{where} has an empty {what}; {_FORM}.")
        if len(row) > longest:
            told = f"{where} has a {what} of {len(row):,} {cutter.tokens.things}; the maximum is {longest}"
            raise TrainingError(f"{told}. Shorten it, or raise “longest”.")
    return rows


def _read_spec(spec: RunSpec) -> _File:
    path = str(spec.options.get(DATA.name, ""))
    longest, share = own_data.get(spec, own_data.LONGEST), own_data.get(spec, own_data.HELD_OUT)
    return _read_file(path, texts.stamp(path) if path else (0, 0), own_data.get_tokens(spec), longest, share)


class OwnPairData(PairData):
    """Pairs of a file; a probe may be a source that the file does not have, whose answer is then unknown."""

    def __init__(self, file: _File, kind: str) -> None:
        self._file = file
        self.unknown_share = file.cutter.unknown_share
        self._numbers = {token: number for number, token in enumerate(file.vocabulary) if number >= len(SPECIAL)}
        self._answers = dict(reversed((*file.away, *file.learned)))
        every = (*file.learned, *file.away)
        self._widths = max(len(source) for source, _ in every), max(len(target) for _, target in every)
        self._learned, self._away = self._pad_rows(file.learned), self._pad_rows(file.away)
        probe = file.cutter.join(min((source for source, _ in file.away), key=lambda row: abs(len(row) - 8)))
        pairs = Pairs(file.vocabulary, self._widths, self._draw, self._read, probe)
        super().__init__(pairs, kind, len(file.away))

    def make_probe(self, text: str) -> Batch:
        """Return a source as a batch of one, with its target if the file has it."""
        source, target = self._read(text)
        if target:
            return super().make_probe(text)
        row = torch.tensor([source])
        if self.longest_source:
            begin = torch.full((1, 1), BEGIN)
            return Batch(begin, torch.full_like(begin, IGNORED), row)
        row = torch.cat([row, torch.full((1, 1), BEGIN)], 1)
        return Batch(row, torch.full_like(row, IGNORED))

    def _encode(self, row: Row) -> list[int]:
        return [self._numbers[token] for token in row]

    def _pad_rows(self, pairs: tuple[tuple[Row, Row], ...]) -> tuple[Tensor, Tensor]:
        sources, targets = ([self._encode(pair[side]) for pair in pairs] for side in (0, 1))
        return pad(sources, self._widths[0]), pad(targets, self._widths[1])

    def _draw(self, g: torch.Generator, n: int, held_out: bool) -> tuple[Tensor, Tensor]:
        if held_out:
            return self._away[0][:n], self._away[1][:n]
        taken = torch.randint(len(self._learned[0]), (n,), generator=g)
        source, target = self._learned[0][taken], self._learned[1][taken]
        widths = (int((side != PAD).sum(1).max()) for side in (source, target))
        return source[:, : next(widths)], target[:, : next(widths)]

    def _read(self, text: str) -> tuple[list[int], list[int]]:
        source = own_data.read_probe(text, self._file.cutter, self._numbers, self._widths[0], self._file.name)
        target = self._answers.get(self._file.cutter.split(text), ())
        return source, self._encode(target)


def make(spec: RunSpec) -> Data:
    """Return the pairs of a run."""
    return OwnPairData(_read_spec(spec), spec.model.kind)


def check(spec: RunSpec) -> str:
    """Return why the file is unsuitable, "" if it is suitable."""
    return own_data.find_fault(_read_spec, spec)


def choose_settings(kind: str) -> RunSpec:
    """Return settings that learn the included pairs in less than a minute."""
    recurrent = kind in RECURRENT
    model = ModelSpec(kind, layers=1 if recurrent else 2, heads=1 if recurrent else 4, d_model=64, d_ff=128)
    train = TrainSpec(rate=2e-3, batch=32, steps=1000, warmup=50, evaluate_every=50)
    return RunSpec(NAME, {option.name: option.default for option in OPTIONS}, model, train)


TASK = Task(
    name=NAME,
    title="Own pairs",
    about="The model learns pairs from your own file: each line has a source, a tab and a target, such as a word and "
    "its plural. Tokens are words, characters or pieces. Without a file it learns the pairs of Short questions.",
    look_for="In the alignment (“cross”, “alignment”), each row attends to the part of the source from which it "
    "writes: a diagonal, if both sides have the same order.",
    row="G3, G4",
    kinds=(*WITH_SOURCE, "decoder"),
    options=OPTIONS,
    settings=choose_settings,
    make=make,
    check=check,
)
