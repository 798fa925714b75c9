"""An exercise: a state with blank cells, and the variant of each student. Its files are JSON."""

import base64
import hashlib
import json
import os
import reprlib
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from attnlab.attention import edits
from attnlab.attention.axes import TOKENS, size
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries import registry
from attnlab.attention.stages.explanation import Cell, find_shown_value
from attnlab.attention.stages.table import BY_NAME, kind_of
from attnlab.attention.stages.trace import Trace
from attnlab.base.counted import format_count, format_has
from attnlab.base.errors import AttnlabError, ExperimentError, FileError
from attnlab.files.atomic import format_reason, write_bytes
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions import session_json
from attnlab.files.sessions.session_file import load, save

FORMAT, VERSION = "attnlab exercise", 1
LIMIT = 32 << 20
"""The maximum size of a file in bytes."""
MOST_BLANKS, MOST_STUDENTS = 200, 1000
LONGEST = 200
"""The maximum length of a title and of a student's name in characters."""
SCHEME = "attnlab exercise 1"
"""The name of the method that draws the students' numbers; a new method needs a new name."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Exercise:
    """A state and its blank cells; answers within ``tolerance`` are accepted.

    With a ``seed`` each of the ``students`` has their own numbers, without one all have those of the state.
    ``given`` says which numbers are printed: the "inputs", or the stages "before" the blank cells.

    Raises:
        ExperimentError: there are no or too many blanks, a cell does not exist, or the tolerance is not valid.
    """

    experiment: Experiment
    blanks: tuple[Cell, ...]
    tolerance: float = 0.01
    title: str = "Exercise"
    seed: int | None = None
    students: tuple[str, ...] = ()
    given: str = "inputs"

    def __post_init__(self) -> None:
        if not isfinite(self.tolerance) or self.tolerance < 0:
            raise ExperimentError(f"tolerance is {self.tolerance}; it needs a number of 0 or more, such as 0.01.")
        if not 0 < len(self.blanks) <= MOST_BLANKS:
            raise ExperimentError(f"The exercise has {len(self.blanks)} blank cells; it needs 1 to {MOST_BLANKS}.")
        if len(self.students) > MOST_STUDENTS:
            raise ExperimentError(f"There are {len(self.students)} students; the maximum is {MOST_STUDENTS}.")
        if self.given not in ("inputs", "before"):
            raise ExperimentError(f'given is {self.given[:60]!r}; it needs "inputs" or "before".')
        if len(self.title) > LONGEST:
            raise ExperimentError(f"The title has {len(self.title)} characters; the maximum is {LONGEST}.")
        for student in self.students:
            _check_name(student)
        for cell in self.blanks:
            check_cell(self.experiment, cell)


@dataclass(frozen=True, slots=True)
class Answer:
    """The correct answer in a blank cell. ``label`` is the letter of its box; ``masked``: a mask hides the cell."""

    cell: Cell
    label: str
    value: float
    masked: bool


def _check_name(student: str) -> None:
    if not 0 < len(student) <= LONGEST or student != " ".join(student.split()) or any(c < " " for c in student):
        name = repr(student[:40])
        raise ExperimentError(
            f"The student’s name {name} needs 1 to {LONGEST} characters on one line, without double spaces."
        )


def check_cell(e: Experiment, cell: Cell) -> None:
    """Check that a cell exists.

    Raises:
        ExperimentError: it does not exist; the sentence says what exists.
    """
    stage = BY_NAME.get(cell.stage)
    if stage is None or not stage.present(e):
        names = ", ".join(name for name, each in BY_NAME.items() if each.present(e))
        raise ExperimentError(f"There is no stage {cell.stage[:60]!r} here; there are {names}.")
    rows, columns = (size(e, axis) for axis in stage.axes[-2:])
    if not (0 <= cell.row < rows and 0 <= cell.column < columns):
        raise ExperimentError(
            f"{write_cell(cell)} is not there; {cell.stage} has {format_count(rows, 'row')} "
            f"and {format_count(columns, 'column')}."
        )
    if cell.head is not None and not (stage.has_heads and 0 <= cell.head < e.n_heads):
        there = format_has("head", 0, e.n_heads - 1 if stage.has_heads else -1)
        raise ExperimentError(f"{write_cell(cell)} names head {cell.head}; {cell.stage} {there}.")


def write_cell(cell: Cell) -> str:
    """Return the text of a cell, as lessons write it: ``weights[2, 1]``, with a head ``weights[0, 2, 1]``."""
    head = "" if cell.head is None else f"{cell.head}, "
    return f"{cell.stage}[{head}{cell.row}, {cell.column}]"


def to_letter(index: int) -> str:
    """Return the label of the box of a blank: a to z, then aa, ab, and so on."""
    first, last = divmod(index, 26)
    return (to_letter(first - 1) if first else "") + "abcdefghijklmnopqrstuvwxyz"[last]


def describe_cell(e: Experiment, cell: Cell) -> str:
    """Return a cell in words: ``starts → journey``, or ``starts → journey, head 1`` if there are several heads.

    No line breaks before a number.
    """
    stage = BY_NAME[cell.stage]
    rows, columns = stage.axes[-2:]
    if rows == "one":
        return "the number" if columns == "one" else f"column\u00a0{cell.column}"
    row = _write_token(e, rows, cell.row) if rows in TOKENS else f"row\u00a0{cell.row}"
    column = _write_token(e, columns, cell.column) if columns in TOKENS else f"column\u00a0{cell.column}"
    which = "" if not stage.has_heads or e.n_heads == 1 else "mean of the heads" if cell.head is None else None
    return f"{row} → {column}" + (f", head\u00a0{cell.head}" if which is None else f", {which}" if which else "")


def _write_token(e: Experiment, axis: str, index: int) -> str:
    """Return a token, with its position, counted from 0, if it occurs more than once."""
    tokens = e.key_tokens if axis == "key" else e.tokens
    text = tokens[index] or "∅"
    return f"{text} [{index}]" if tokens.count(tokens[index]) > 1 else text


def trace_exactly(e: Experiment) -> Trace:
    """Return the trace of an experiment in float64 on the CPU, with which answers are compared."""
    return Trace(e, torch.device("cpu"), torch.float64)


def list_row(e: Experiment, cell: Cell) -> tuple[Cell, ...]:
    """Return the unmasked cells in the row of a cell, or the whole row if every cell is masked."""
    hidden = trace_exactly(e).find_shown_mask(cell.stage)
    columns = range(size(e, BY_NAME[cell.stage].axes[-1]))
    open_ = [j for j in columns if hidden is None or not hidden[cell.row, j]]
    return tuple(Cell(cell.stage, cell.row, j, cell.head) for j in open_ or columns)


def draw_cells(e: Experiment, stage: str, count: int, seed: int, head: int | None = None) -> tuple[Cell, ...]:
    """Return up to ``count`` random unmasked cells of a stage, in the order of rows; the seed chooses them."""
    hidden = trace_exactly(e).find_shown_mask(stage)
    rows, columns = (size(e, axis) for axis in BY_NAME[stage].axes[-2:])
    open_ = [divmod(i, columns) for i in range(rows * columns)]
    open_ = [(i, j) for i, j in open_ if hidden is None or not hidden[i, j]]
    raw = _draw_raw(f"{seed}\0cells\0{stage}", len(open_))
    chosen = sorted(np.argsort(raw, kind="stable")[: max(count, 0)].tolist())
    which = head if BY_NAME[stage].has_heads else None
    return tuple(Cell(stage, open_[i][0], open_[i][1], which) for i in chosen)


def make_variant(exercise: Exercise, student: str | int, seed: int | None = None) -> Experiment:
    """Return the state with the student's own numbers; without a seed, here or in the exercise, the state itself.

    The numbers are tenths from −1 to 1. Only tables of the state are drawn (an implied identity stays), and tokens
    with equal embeddings keep equal ones. The numbers of a table come from NumPy's PCG64, whose raw stream is the same
    on every machine and in every version, seeded with the SHA-256 of scheme, seed, student and the table's name.
    """
    seed = exercise.seed if seed is None else seed
    e = exercise.experiment
    if seed is None:
        return e
    for name in edits.tables(e):
        if name.startswith("W_") and name not in e.weights.extra and getattr(e.weights, name) is None:
            continue
        e = edits.with_table(e, name, _draw_numbers(e, name, f"{seed}\0{student}\0{name}"))
    return e


def _draw_numbers(e: Experiment, name: str, key: str) -> torch.Tensor:
    old = edits.table(e, name)
    tenths = (_draw_raw(key, old.numel()) % np.uint64(21)).astype(np.float64) - 10
    table = registry.all_tables().get(name)
    if table is not None and table.fill == "ones":  # gains lie around 1, and above 0
        tenths = 10 + np.trunc(tenths / 2)
    numbers = (tenths / 10).reshape(tuple(old.shape))
    if name in ("embeddings", "memory_embeddings"):
        first: dict[tuple[float, ...], int] = {}
        numbers = numbers[[first.setdefault(tuple(row), i) for i, row in enumerate(old.tolist())]]
    return torch.from_numpy(numbers).to(old.dtype)


def _draw_raw(key: str, count: int) -> NDArray[np.uint64]:
    digest = hashlib.sha256(f"{SCHEME}\0{key}".encode("utf-8", "surrogatepass")).digest()
    return np.atleast_1d(np.random.PCG64(int.from_bytes(digest[:16], "big")).random_raw(count))


def compute_answers(exercise: Exercise, e: Experiment) -> tuple[Answer, ...]:
    """Return the correct answers of a student's state, in the order of the boxes."""
    return read_answers_of(trace_exactly(e), exercise.blanks)


def read_answers_of(trace: Trace, blanks: Sequence[Cell]) -> tuple[Answer, ...]:
    """Return the correct answers for cells of a trace."""
    masks = {cell.stage: trace.find_shown_mask(cell.stage) for cell in blanks}
    return tuple(
        Answer(
            cell,
            to_letter(i),
            find_shown_value(trace, cell),
            (mask := masks[cell.stage]) is not None and _is_masked(mask, cell),
        )
        for i, cell in enumerate(blanks)
    )


def _is_masked(mask: NDArray[np.bool_], cell: Cell) -> bool:
    return bool(mask[cell.row, cell.column])


def has_rows_of_sum_1(trace: Trace, stage: str) -> bool:
    """Return whether each row of a stage sums to 1, so that one cell follows from the others."""
    return kind_of(trace.stage(stage), trace.experiment) == "probability"


def parse_students(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the different names of a list, one name per line; a single whole number n means students 1 to n.

    Raises:
        ExperimentError: there are more than an exercise can hold.
    """
    names = tuple(dict.fromkeys(" ".join(line.split()) for line in lines if line.strip()))
    if len(names) == 1 and names[0].isdecimal():
        count = int(names[0][:6])
        names = tuple(f"Student {i}" for i in range(1, min(count, MOST_STUDENTS + 1) + 1))
    if len(names) > MOST_STUDENTS:
        raise ExperimentError(f"There are more than {MOST_STUDENTS} students, which is the maximum.")
    return names


def save_exercise(exercise: Exercise, path: str | os.PathLike[str]) -> None:
    """Write an exercise to a JSON file atomically; its state is stored as a session.

    Raises:
        FileError: the file cannot be written, or would be too large to be read.
    """
    plain = {name: getattr(exercise, name) for name in _SETTINGS}
    blanks = [asdict(cell) for cell in exercise.blanks]
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "state.attnlab"
        save(exercise.experiment, session)
        state = base64.b64encode(read_bytes(session, LIMIT, "the state of an exercise")).decode("ascii")
    whole = {"format": FORMAT, "version": VERSION, **plain, "blanks": blanks, "state": state}
    data = (json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode("utf-8", "surrogatepass")
    if len(data) > LIMIT:
        raise FileError(f"{os.fspath(path)} would be larger than {LIMIT >> 20} MiB, the maximum for an exercise.")
    write_bytes(path, data)


_SETTINGS = ("tolerance", "title", "seed", "students", "given")
_KINDS: dict[str, Any] = {
    "tolerance": int | float,
    "title": str,
    "seed": int | None,
    "students": list,
    "given": str,
    "blanks": list,
    "state": str,
}


def read_exercise(path: str | os.PathLike[str]) -> Exercise:
    """Read an exercise from a file.

    Raises:
        FileError: the file does not exist, is too large, no exercise, damaged, or from a newer attnlab.
    """
    name, data = os.fspath(path), read_bytes(path, LIMIT, "an exercise")
    try:
        return _to_exercise(_check(session_json.parse(data), name))
    except FileError:
        raise
    except (AttnlabError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise FileError(f"{name} is damaged or not an exercise of attnlab: {format_reason(error)}.") from None


def _check(plain: Any, name: str) -> dict[str, Any]:
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise FileError(f"{name} is not an exercise of attnlab: it does not say that its format is {FORMAT!r}.")
    version = plain.get("version")
    if type(version) is int and version > VERSION:
        raise FileError(
            f"{name} was saved by a newer attnlab (version {reprlib.repr(version)}; this reads {VERSION}): update it."
        )
    if type(version) is not int or version != VERSION:
        raise ValueError(f"its version is {reprlib.repr(version)}, not {VERSION}")
    for key, kind in _KINDS.items():
        if key not in plain or not isinstance(plain[key], kind) or isinstance(plain[key], bool):
            raise ValueError(f"{key} is missing or of the wrong kind")
    if not all(isinstance(student, str) for student in plain["students"]):
        raise ValueError("its students need to be names")
    return plain


def _to_exercise(plain: dict[str, Any]) -> Exercise:
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "state.attnlab"
        session.write_bytes(base64.b64decode(plain["state"], validate=True))
        try:
            experiment = load(session)
        except FileError as error:
            raise ValueError(str(error).replace(str(session), "the state in it").rstrip(".")) from None
    blanks = tuple(_to_cell(blank) for blank in plain["blanks"])
    settings = {key: plain[key] for key in _SETTINGS} | {"students": tuple(plain["students"])}
    return Exercise(experiment, blanks, **settings)


def _to_cell(blank: Any) -> Cell:
    needed = {field.name for field in fields(Cell)}
    if not isinstance(blank, dict) or set(blank) != needed or not isinstance(blank["stage"], str):
        raise ValueError(f"a blank cell needs {', '.join(sorted(needed))}")
    numbers = (blank["row"], blank["column"], blank["head"])
    if not all(type(n) is int for n in numbers[:2]) or not (numbers[2] is None or type(numbers[2]) is int):
        raise ValueError("row, column and head of a blank cell need to be whole numbers")
    return Cell(blank["stage"], *numbers)
