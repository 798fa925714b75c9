"""Grading: typed answers, one at a time or from a CSV file, are compared with the correct ones."""

import csv
import io
import math
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.arithmetic import number
from attnlab.base.counted import format_count
from attnlab.base.errors import AttnlabError, FileError
from attnlab.files.atomic import format_name
from attnlab.files.bounded import read_bytes
from attnlab.lessons.exercise import MOST_STUDENTS, Answer, Exercise, compute_answers, write_cell
from attnlab.lessons.lesson import Problem

CSV_LIMIT = 4 << 20
"""The maximum size of a file of answers in bytes."""
HEADERS = ("student", "cell"), ("student", "letter")
"""The beginnings of a header; hand-outs ask for a student, a letter and a value."""
MASKED = ("masked", "mask")
ROUNDING = 5e-7
"""How far a correct answer may be off because its inputs and weights are in float32."""
_SAME = str.maketrans({"−": "-", "–": "-", "－": "-", "＋": "+", "⁄": "/", "∕": "/", "÷": "/", "％": "%", "٫": "."})
_DECIMAL = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"({_DECIMAL})\s*(?:/\s*({_DECIMAL})|(%))?")
_SEPARATOR = re.compile(r'"?sep=([,;\t])"?\r?(?:\n|$)', re.IGNORECASE)
_VULGAR = re.compile(r"([+-]?)\s*(\d*)\s*(\D)")
_INFINITE = re.compile(r"([+-]?)\s*(∞|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of one answer: "right", "wrong", "missing", or "unreadable" with the reason.

    ``gap`` is the distance from the correct answer; ``said`` is one sentence about it.
    """

    answer: Answer
    given: str
    result: str
    gap: float
    said: str

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.result == "right"


@dataclass(frozen=True, slots=True)
class Grade:
    """All marks of one student, in the order of the boxes.

    Each cell is compared with the correct answer, not with what follows from an earlier wrong one. Blanks of one stage
    do not depend on each other, so no mistake is counted twice.
    """

    student: str
    marks: tuple[Mark, ...]

    @property
    def right(self) -> int:
        """The number of right answers."""
        return sum(mark.right for mark in self.marks)

    @property
    def total(self) -> int:
        """The number of blanks."""
        return len(self.marks)


@dataclass(frozen=True, slots=True)
class Given:
    """One line of a file of answers: the student, the box (its letter or its cell, ``weights[2, 1]``) and the value."""

    student: str
    cell: str
    value: str
    line: int


def read_number(text: str) -> float:
    """Parse a typed answer: ``0.38``, ``0,38``, ``3/8``, ``½``, ``38 %``, ``−∞``.

    Raises:
        AttnlabError: it is not a number; the sentence shows one.
    """
    plain = " ".join(text.split()).translate(_SAME)
    said = format_name(plain if len(plain) <= 24 else f"{plain[:23]}…")
    if found := _NUMBER.fullmatch(plain):
        value, below = float(found[1].replace(",", ".")), float((found[2] or "1").replace(",", "."))
        if below == 0:
            raise AttnlabError(f"“{said}” divides by 0; use a number such as 0.38 or 3/8.")
        if not (math.isfinite(value) and math.isfinite(below) and math.isfinite(value / below)):
            raise AttnlabError(f"“{said}” is too large; use a number such as 0.38, or −∞.")
        return value / below / (100 if found[3] else 1)
    if found := _INFINITE.fullmatch(plain):
        return -math.inf if found[1] == "-" else math.inf
    found = _VULGAR.fullmatch(plain)
    if found and unicodedata.decomposition(found[3]).startswith("<fraction>"):  # 3½ is a sum; 3² and 三五 are not
        return (float(found[2] or 0) + unicodedata.numeric(found[3])) * (-1 if found[1] == "-" else 1)
    if not plain:
        raise AttnlabError("This answer is empty; type a number such as 0.38 or 3/8.")
    raise AttnlabError(f"“{said}” is not a number; use one such as 0.38 or 3/8, −∞, or the word masked.")


def mark(answer: Answer, text: str, tolerance: float) -> Mark:
    """Mark one answer; "masked" is right if a mask hides the cell, whether its number is 0 or −∞."""
    if not text.strip():
        return Mark(answer, "", "missing", math.inf, "Nothing was answered.")
    if text.strip().casefold() in MASKED:
        said = "It is masked." if answer.masked else "No mask hides it; it has a number."
        return Mark(
            answer, text.strip(), "right" if answer.masked else "wrong", 0.0 if answer.masked else math.inf, said
        )
    try:
        value = read_number(text)
    except AttnlabError as error:
        return Mark(answer, text.strip(), "unreadable", math.inf, str(error))
    gap = 0.0 if value == answer.value else abs(value - answer.value)
    right = gap <= tolerance + ROUNDING  # the edge is included
    return Mark(answer, text.strip(), "right" if right else "wrong", gap, _describe_gap(answer, value, gap, right))


def _describe_gap(answer: Answer, value: float, gap: float, right: bool) -> str:
    if math.isnan(gap):
        return "The correct result is not a number."
    if right:
        return "Exactly." if gap < 5e-5 else f"Within {number(gap)}."
    if math.isinf(gap):
        return "It is −∞." if answer.value == -math.inf else "It is a finite number."
    return f"Too {'large' if value > answer.value else 'small'} by {number(gap)}."


def grade(exercise: Exercise, experiment: Experiment, given: Mapping[str, str], student: str = "") -> Grade:
    """Grade one student's answers by the letter of the box or by its cell, as in ``weights[2, 1]``."""
    by_box = {_simplify(box): value for box, value in given.items()}
    marks = []
    for answer in compute_answers(exercise, experiment):
        text = by_box.get(answer.label, by_box.get(_simplify(write_cell(answer.cell)), ""))
        marks.append(mark(answer, text, exercise.tolerance))
    return Grade(student, tuple(marks))


def _simplify(name: str) -> str:
    return "".join(unicodedata.normalize("NFC", name).split()).casefold()


def read_answers(text: str) -> tuple[tuple[Given, ...], tuple[Problem, ...]]:
    """Read a CSV of student, cell and value, separated by commas, semicolons or tabs, with or without a header.

    A first line such as "sep=;", which Excel reads and writes, names the separator. Lines that cannot be read become
    problems with their line number; the others are still read.
    """
    lines: list[Given] = []
    problems: list[Problem] = []
    text = text.removeprefix("\ufeff")
    named = _SEPARATOR.match(text)
    delimiter = named[1] if named else _find_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    if named:
        next(reader)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            problems.append(Problem(reader.line_num, f"The line cannot be read: {error}."))
            continue
        fields = [field.strip() for field in fields]
        while len(fields) > 3 and not fields[-1]:
            del fields[-1]  # spreadsheets fill lines up to their widest one
        first = tuple(field.casefold() for field in fields[:2])
        if not any(fields) or (not lines and first in HEADERS):
            continue
        if len(fields) != 3 or not all(fields[:2]):
            problems.append(Problem(reader.line_num, _find_problem(fields)))
            continue
        lines.append(Given(fields[0], fields[1], fields[2], reader.line_num))
    return tuple(lines), tuple(problems)


def _find_delimiter(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return "\t" if "\t" in first else ";" if ";" in first else ","


def _find_problem(fields: Sequence[str]) -> str:
    if len(fields) == 3:
        return f"The {'student' if not fields[0] else 'cell'} is missing; a line is student, cell, value."
    more = "; a decimal comma or a cell such as weights[2, 1] needs quotation marks" if len(fields) > 3 else ""
    return f"The line has {format_count(len(fields), 'field')}; it needs 3: student, cell, value{more}."


def read_answer_file(path: str | os.PathLike[str]) -> tuple[tuple[Given, ...], tuple[Problem, ...]]:
    """Read a CSV file of answers.

    Raises:
        FileError: the file does not exist, is too large, or not UTF-8.
    """
    data = read_bytes(path, CSV_LIMIT, "answers")
    try:
        return read_answers(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"{os.fspath(path)} is not text in UTF-8; save it as “CSV UTF-8”.") from None


def sort_answers(exercise: Exercise, lines: Sequence[Given]) -> tuple[dict[str, dict[str, str]], tuple[Problem, ...]]:
    """Return the answers by student and box, and the problems: unknown students and boxes, and boxes answered twice.

    Without a list of students, every name in the file is a student. The last of two answers to a box counts.
    """
    students: dict[str, list[str]] = {}
    for name in exercise.students:
        students.setdefault(_simplify(name), []).append(name)
    e = exercise.experiment
    boxes = {name: answer.label for answer in compute_answers(exercise, e) for name in _name_box(answer, e)}
    found: dict[str, dict[str, str]] = {student: {} for student in exercise.students}
    problems: list[Problem] = []
    for each in lines:
        alike = students.get(_simplify(each.student), []) if students else [each.student]
        student = each.student if each.student in alike else alike[0] if len(alike) == 1 else None
        box = boxes.get(_simplify(each.cell))
        if student is None:
            which = f"could be {' or '.join(alike)}" if alike else "is not on the list of students"
            problems.append(Problem(each.line, f"“{each.student}” {which}."))
        elif box is None:
            known = ", ".join(dict.fromkeys(list(boxes.values())[:12]))
            problems.append(Problem(each.line, f"The exercise has no blank “{each.cell}”, only {known}."))
        elif student not in found and len(found) >= MOST_STUDENTS:
            problems.append(
                Problem(each.line, f"There are more than {MOST_STUDENTS} students; the lines from here on are ignored.")
            )
            break
        else:
            if box in found.setdefault(student, {}):
                problems.append(Problem(each.line, f"{student} answers {box} again; the last answer counts."))
            found[student][box] = each.value
    return found, tuple(problems)


def _name_box(answer: Answer, e: Experiment) -> tuple[str, ...]:
    """Return what a student may call a box: a single head may be left out."""
    cells = [answer.cell] if e.n_heads > 1 else [answer.cell, replace(answer.cell, head=None)]
    return (answer.label, *(_simplify(write_cell(cell)) for cell in cells))
