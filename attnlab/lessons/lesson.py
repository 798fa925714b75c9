"""A lesson as values: its steps, what each shows and asks, and what is wrong with the file it came from."""

from dataclasses import dataclass, field
from pathlib import Path

DEPTHS = ("all", "stage", "row", "cell", "term")
"""How a step shows its stage: all at once, or text first and then, key by key, the stage, its rows, the cells of a
row, the terms of a cell."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a lesson file: the line, counted from 1, and one sentence that says what would be right."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a step's state, as it stands in the file: ``causal: true`` or ``W_q[0, 1]: 0.5``."""

    key: str
    value: object
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Blank:
    """Cells to predict: a row and a column by number or by token, None for all; a head of None is the step's."""

    stage: str
    row: int | str | None = None
    column: int | str | None = None
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before it is revealed: the cells that are blank, how far an answer may be off, and a hint."""

    blanks: tuple[Blank, ...]
    ask: str = ""
    tolerance: float = 0.01
    hint: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One step as it is written; what it leaves open is as in the step before it.

    ``text`` is Markdown whose ``{{placeholders}}`` are not filled yet. ``preset`` or ``file`` (a session beside the
    lesson, by its name) begins a state, to which ``edits`` are then made; with neither, the edits are made to the state
    of the step before. A ``cell`` is a row and a column, each a number from 0 or a token.

    Where a step stood in its file is no part of what it is: ``line`` is that of its heading, ``text_lines`` and
    ``notes_lines`` those of each line of text and notes, ``at`` those of the keys of its state.
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
    question: Question | None = None
    line: int = field(default=0, compare=False)
    text_lines: tuple[int, ...] = field(default=(), compare=False)
    notes_lines: tuple[int, ...] = field(default=(), compare=False)
    at: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    def line_of(self, key: str) -> int:
        """Return the line of a key of the state, or that of the heading."""
        return dict(self.at).get(key, self.line)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson: ``name`` is that of its file without ending; ``covers`` lists the systems it shows, such as "B1",
    and ``order`` is its place among the lessons that ship."""

    name: str
    title: str
    steps: tuple[Step, ...]
    about: str = ""
    covers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    path: Path | None = None
    problems: tuple[Problem, ...] = ()
    order: int = 0
