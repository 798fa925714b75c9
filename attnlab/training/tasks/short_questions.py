"""The task of translating short English questions into French, in which an article depends on the noun after it."""

from itertools import product

import torch
from torch import Tensor

from attnlab.base.errors import TrainingError
from attnlab.training.batch import SPECIAL
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.pair_data import PairData, Pairs
from attnlab.training.tasks.rows import pad
from attnlab.training.tasks.task import RECURRENT, WITH_SOURCE, Task

NAME = "questions"
ASKING = {"how": "comment", "where": "où", "when": "quand", "why": "pourquoi"}
VERBS = {"was": "était", "is": "est", "becomes": "devient"}
ARTICLES = {"your": ("ta", "ton"), "the": ("la", "le"), "my": ("ma", "mon")}
"""Each article before a feminine noun and before a masculine one."""
FEMININE = {"day": "journée", "car": "voiture", "house": "maison", "city": "ville", "door": "porte", "song": "chanson"}
MASCULINE = {"dog": "chien", "book": "livre", "garden": "jardin", "train": "train", "cat": "chat", "king": "roi"}
NOUNS = {**FEMININE, **MASCULINE}
WORDS = 4
HELD_OUT, SEED = 61, 23
PROBE = "how was your day"


def translate(question: tuple[str, ...]) -> tuple[str, ...]:
    """Return the French words of a question of four English words; KeyError for an unknown one."""
    asking, verb, article, noun = question
    return ASKING[asking], VERBS[verb], ARTICLES[article][noun in MASCULINE], NOUNS[noun]


QUESTIONS = tuple(product(ASKING, VERBS, ARTICLES, NOUNS))
"""All 432 questions in English."""
_VOCABULARY = tuple(
    dict.fromkeys(
        (*SPECIAL, *ASKING, *VERBS, *ARTICLES, *NOUNS, *(word for each in QUESTIONS for word in translate(each)))
    )
)
_NUMBERS = {word: number for number, word in enumerate(_VOCABULARY)}


def read(text: str) -> tuple[list[int], list[int]]:
    """Return the token numbers of a question that the user wrote, and those of its translation."""
    words = tuple(text.lower().replace("?", " ").split())
    known = tuple(ASKING), tuple(VERBS), tuple(ARTICLES), tuple(NOUNS)
    if len(words) != WORDS or any(word not in part for word, part in zip(words, known, strict=True)):
        lists = "; ".join(", ".join(part) for part in known)
        raise TrainingError(f"{text.strip()!r} is not a question of this task: it needs one word of each of {lists}.")
    return _encode(words), _encode(translate(words))


def _encode(words: tuple[str, ...]) -> list[int]:
    return [_NUMBERS[word] for word in words]


class _Pool:
    """All pairs in a fixed random order, the first ones held out. No two are equal."""

    def __init__(self) -> None:
        order = torch.randperm(len(QUESTIONS), generator=torch.Generator().manual_seed(SEED)).tolist()
        found = [QUESTIONS[index] for index in order]
        self._sources = pad([_encode(each) for each in found], WORDS)
        self._targets = pad([_encode(translate(each)) for each in found], WORDS)

    def draw(self, g: torch.Generator, n: int, held_out: bool) -> tuple[Tensor, Tensor]:
        """Return the first ``n`` held-out pairs, or ``n`` random training pairs."""
        if held_out:
            return self._sources[:HELD_OUT][:n], self._targets[:HELD_OUT][:n]
        taken = torch.randint(HELD_OUT, len(QUESTIONS), (n,), generator=g)
        return self._sources[taken], self._targets[taken]


def make(spec: RunSpec) -> Data:
    """Return the questions of a run."""
    pairs = Pairs(_VOCABULARY, (WORDS, WORDS), _Pool().draw, read, PROBE)
    return PairData(pairs, spec.model.kind, HELD_OUT)


def choose_settings(kind: str) -> RunSpec:
    """Return settings that learn the task in a few seconds."""
    recurrent = kind in RECURRENT
    model = ModelSpec(kind, layers=1, heads=1 if recurrent else 4, d_model=32, d_ff=64)
    train = TrainSpec(rate=3e-3, batch=32, steps=400, warmup=20, evaluate_every=20)
    return RunSpec(NAME, {}, model, train)


TASK = Task(
    name=NAME,
    title="Short questions",
    about="The model translates questions of four English words into French, word by word; some of the 432 sound odd. "
    "Whether it is la or le, ta or ton, ma or mon depends on the noun, which comes after it.",
    look_for="In the alignment (“alignment”) a diagonal: each row attends to the word that it translates. The row that "
    "writes ta or ton attends to “your”: its state knows the noun, as the encoder reads in both directions. "
    "Without attention one vector holds all.",
    row="K1, K2",
    kinds=("luong", *(kind for kind in WITH_SOURCE if kind != "luong")),
    settings=choose_settings,
    make=make,
)
