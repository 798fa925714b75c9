"""A lesson as values: its steps, their states and questions, and the problems of its file."""

from dataclasses import dataclass, field
from pathlib import Path

DEPTHS = ("all", "stage", "row", "cell", "term")
"""How a step shows its stage: all at once, or first the text and then, one at a time, the stage, its rows, the cells
of a row, or the terms of a cell."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake in a lesson file: its line, counted from 1, and one sentence on how to correct it."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a step's state, as written in the file: ``causal: true`` or ``W_q[0, 1]: 0.5``."""

    key: str
    value: object
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Blank:
    """Cells to predict: a row and a column by number or by token, None for all; head None means the step's head."""

    stage: str
    row: int | str | None = None
    column: int | str | None = None
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question about blank cells of a step, with the tolerance of the answers and a hint.

    With ``choices`` one of these answers is chosen, ``right`` counted from 1; such a question needs no blank cells.
    """

    blanks: tuple[Blank, ...]
    ask: str = ""
    tolerance: float = 0.01
    hint: str = ""
    choices: tuple[str, ...] = ()
    right: int = 0
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One step as written in the file; a field that is None has the value of the step before.

    ``text`` is Markdown with unfilled ``{{placeholders}}``. ``preset`` or ``file`` (the name of a session in the
    lesson's folder) starts a new state, to which ``edits`` are applied; without them the edits are applied to the state
    of the step before, which is drawn as well if ``beside`` is "before". A ``cell`` is a row and a column, each a
    number from 0 or a token. ``answer`` is Markdown that appears when everything else of the step has been revealed.

    ``run`` is the name of a recorded run in the lesson's folder, ``moment`` the step of training that is shown,
    ``layer`` the name of the layer, ``probe`` the text that it reads; ``curves`` are drawn beside the text up to that
    moment.

    Steps compare equal wherever they are in their files: ``line`` is that of the heading, ``text_lines``,
    ``notes_lines`` and ``answer_lines`` are those of the text, the notes and the answer, ``at`` those of the keys of
    the state.
    """

    title: str
    text: str = ""
    notes: str = ""
    preset: str | None = None
    file: str | None = None
    edits: tuple[Edit, ...] = ()
    stage: str | None = None
    cell: tuple[int | str, int | str] | None = None
    head: int | str | None = None
    depth: str | None = None
    lens: str | None = None
    beside: str | None = None
    question: Question | None = None
    answer: str = ""
    run: str | None = None
    moment: int | None = None
    layer: str | None = None
    probe: str | None = None
    curves: tuple[str, ...] | None = None
    line: int = field(default=0, compare=False)
    text_lines: tuple[int, ...] = field(default=(), compare=False)
    notes_lines: tuple[int, ...] = field(default=(), compare=False)
    answer_lines: tuple[int, ...] = field(default=(), compare=False)
    at: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    @property
    def has_answer(self) -> bool:
        """Whether the step has an answer, in words or to choose."""
        return bool(self.answer) or (self.question is not None and bool(self.question.choices))

    @property
    def is_of_run(self) -> bool:
        """Whether its state is a moment of a recorded run: of its own, or of the run of the step before."""
        return any(each is not None for each in (self.run, self.moment, self.layer, self.probe))

    @property
    def begins_anew(self) -> bool:
        """Whether its state does not continue that of the step before."""
        return self.preset is not None or self.file is not None or self.is_of_run

    def line_of(self, key: str) -> int:
        """Return the line of a key of the state, or of the heading if the state does not have the key."""
        return dict(self.at).get(key, self.line)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson: ``name`` is the file's name without its ending, ``covers`` lists the systems that it teaches, such as
    "B1", and ``order`` is its rank among the shipped lessons. ``minutes`` is how long it takes, 0 if that is estimated.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    about: str = ""
    covers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    path: Path | None = None
    problems: tuple[Problem, ...] = ()
    order: int = 0
    minutes: int = 0
