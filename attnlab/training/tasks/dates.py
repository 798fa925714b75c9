"""The task of rewriting dates in many spellings as ISO 8601: a small translation."""

import random
from functools import lru_cache

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import PAD, SPECIAL
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import calendar_spellings as calendar
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.pair_data import PairData, Pairs
from attnlab.training.tasks.rows import HELD_OUT_SHARE
from attnlab.training.tasks.task import RECURRENT, WITH_SOURCE, Task

NAME = "dates"
HELD_OUT, SEED = 512, 21
OPTIONS = (Option("pairs", "Pairs", "The number of training dates", "whole", 20_000, 1000, 50_000),)
CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz ,-./'"
LONGEST, TARGET = 37, len("2024-12-31")
PROBE = "the 3rd of march, 2019"


_NUMBERS = {ord(character): chr(number) for number, character in enumerate(CHARACTERS, len(SPECIAL))}


def encode(text: str) -> list[int]:
    """Return the token numbers of a text's characters."""
    return [ord(number) for number in text.translate(_NUMBERS)]


def read(text: str) -> tuple[list[int], list[int]]:
    """Return the token numbers of a date that the user wrote, and those of its ISO form."""
    written = " ".join(text.lower().split())
    found = calendar.read(written)
    if found is None:
        raise TrainingError(
            f"{text.strip()!r} is not a date from 1950 to 2049 in a spelling of this task; "
            f"examples are “{PROBE}”, “3 mar 2019”, “3/31/19” and “31.3.19”."
        )
    return encode(written), encode(found[0].isoformat())


class _Pool:
    """A fixed set of spelled dates; a held-out day is held out in every spelling."""

    def __init__(self, pairs: int) -> None:
        g = random.Random(SEED)
        learned: list[tuple[str, str]] = []
        away: list[tuple[str, str]] = []
        while len(learned) < pairs or len(away) < HELD_OUT:
            day, spelling = calendar.draw_day(g), g.choice(calendar.SPELLINGS)
            part = away if day.toordinal() * 0x9E3779B1 >> 16 & 0xFFFF < 0x10000 // HELD_OUT_SHARE else learned
            part.append((calendar.spell(day, spelling), day.isoformat()))
        self._learned, self._held_out = _pad_rows(learned[:pairs]), _pad_rows(away[:HELD_OUT])

    def draw(self, g: torch.Generator, n: int, held_out: bool) -> tuple[Tensor, Tensor]:
        """Return the first ``n`` held-out pairs, or ``n`` random training pairs."""
        if held_out:
            return self._held_out[0][:n], self._held_out[1][:n]
        taken = torch.randint(len(self._learned[0]), (n,), generator=g)
        source = self._learned[0][taken]
        return source[:, : int((source != 0).sum(1).max())], self._learned[1][taken]


def _pad_rows(pairs: list[tuple[str, str]]) -> tuple[Tensor, Tensor]:
    return _pad([source for source, _ in pairs], LONGEST), _pad([target for _, target in pairs], TARGET)


def _pad(texts: list[str], width: int) -> Tensor:
    """Return the token numbers of texts as [n, width], PAD after the end of each."""
    padded = "".join(text.ljust(width, chr(PAD)) for text in texts).translate(_NUMBERS)
    return torch.frombuffer(bytearray(padded, "latin-1"), dtype=torch.uint8).long().view(len(texts), width)


@lru_cache(maxsize=2)
def _make_pool(pairs: int) -> _Pool:
    return _Pool(pairs)


def make(spec: RunSpec) -> Data:
    """Return the spelled dates of a run."""
    pool = _make_pool(int(spec.options.get("pairs", OPTIONS[0].default)))
    pairs = Pairs((*SPECIAL, *CHARACTERS), (LONGEST, TARGET), pool.draw, read, PROBE)
    return PairData(pairs, spec.model.kind, HELD_OUT)


def choose_settings(kind: str) -> RunSpec:
    """Return settings that learn the task in a few minutes."""
    options = {option.name: option.default for option in OPTIONS}
    recurrent = kind in RECURRENT
    model = ModelSpec(kind, layers=1 if recurrent else 2, heads=1 if recurrent else 4, d_model=64, d_ff=128)
    train = TrainSpec(rate=2e-3, batch=32, steps=2000 if recurrent else 3000, warmup=200, evaluate_every=200)
    return RunSpec(NAME, options, model, train)


TASK = Task(
    name=NAME,
    title="Dates",
    about="The model rewrites dates in eighteen spellings as ISO 8601, such as 2019-03-31, so year, month and day "
    "change places. Dates with slashes put the month first, dates with dots the day; the years are 1950 to 2049.",
    look_for="In the alignment (“cross”, “alignment”), the first four rows attend to the year, then two to the month "
    "and two to the day, wherever these are in the source.",
    row="G3, G6",
    kinds=(*WITH_SOURCE, "decoder"),
    options=OPTIONS,
    settings=choose_settings,
    make=make,
)
