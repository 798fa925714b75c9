"""The contents of an exercise on paper: the tables and the blanks of one student's sheet."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table [rows, columns] of texts. ``boxes`` maps the row and column of blank cells to their letters; ``secret``
    are cells that would give a blank away. Both show numbers only on answer sheets. ``masked`` cells are grey."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    boxes: Mapping[tuple[int, int], str] = field(default_factory=dict)
    masked: frozenset[tuple[int, int]] = frozenset()
    secret: frozenset[tuple[int, int]] = frozenset()
    role: str = "neutral"


@dataclass(frozen=True, slots=True)
class Blanked:
    """One box: its letter, the cell in words, the correct answer, the arithmetic as lines of HTML, and what the number
    is: only this has subscripts, as the cell may be named by tokens such as x_i."""

    letter: str
    place: str
    value: str
    html: str
    noun: str = ""

    @property
    def lead(self) -> str:
        """What stands before the cell: ``dW_q, ``."""
        return f"{self.noun}, " if self.noun else ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One student's exercise: sentences, formulas (title, LaTeX), given tables and tables to fill in."""

    title: str
    student: str
    task: tuple[str, ...]
    formulas: tuple[tuple[str, str], ...]
    given: tuple[SheetTable, ...]
    wanted: tuple[SheetTable, ...]
    blanks: tuple[Blanked, ...]
