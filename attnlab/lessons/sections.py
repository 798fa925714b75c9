"""Splits the Markdown of a lesson into front matter and steps, and each step into its text and its blocks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from attnlab.base.errors import FileError
from attnlab.base.near_names import find_near
from attnlab.files.bounded import read_bytes
from attnlab.lessons.lesson import Problem

BLOCKS = ("state", "notes", "question", "answer")
"""The kinds of fenced blocks; any other fenced block is code, which stays in the text."""
FRONT = "---"
LIMIT = 1 << 20
"""The maximum size of a lesson's file in bytes."""
MOST_STEPS = 500

_HEADING = re.compile(r"##(?:[ \t]+(.*))?")
_OPENER = re.compile(rf"(`{{3,}})[ \t]*({'|'.join(BLOCKS)})[ \t]*")
_FENCE = re.compile(r"`{3,}[ \t]*(\w+)[ \t]*")
_MEANS_MORE = re.compile(rf"\\*(?:##(?:[ \t].*)?|`{{3,}}[ \t]*(?:{'|'.join(BLOCKS)})[ \t]*)")

Line = tuple[int, str]
"""A line number, counted from 1, and the line."""


@dataclass(slots=True)
class Block:
    """The lines between two fences; ``line`` is the number of the first fence."""

    kind: str
    line: int
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Section:
    """One unparsed step: its heading, its text without the blocks, and the blocks."""

    line: int
    title: str
    text: list[Line] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def read_text(path: Path) -> str:
    """Return the text of a lesson's file.

    Raises:
        FileError: the file does not exist, is no regular file, larger than 1 MiB, or not UTF-8.
    """
    data = read_bytes(path, LIMIT, "a lesson")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(f"{path} is not UTF-8 (line {line}); save it in that encoding.") from None


def escape(text: str) -> str:
    """Return a text with a backslash before each line that would begin a step or a block."""
    return "\n".join("\\" + line if _MEANS_MORE.fullmatch(line) else line for line in text.split("\n"))


def _unescape(line: str) -> str:
    return line[1:] if line.startswith("\\") and _MEANS_MORE.fullmatch(line) else line


def trim(lines: Sequence[Line]) -> list[Line]:
    """Return lines without the blank ones at both ends."""
    full = [i for i, (_, line) in enumerate(lines) if line.strip()]
    return list(lines[full[0] : full[-1] + 1]) if full else []


def split(text: str, problems: list[Problem]) -> tuple[list[Line], list[Section]]:
    """Return the lines of the front matter and the steps; other text becomes a problem."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = list(enumerate(plain.split("\n"), 1))
    starts = [i for i, (_, line) in enumerate(lines) if _HEADING.fullmatch(line)]
    first = starts[0] if starts else len(lines)
    if len(starts) > MOST_STEPS:
        end = starts[MOST_STEPS]
        reason = f"There are {len(starts)} steps, and the maximum is {MOST_STEPS}; the steps from here on are ignored."
        problems.append(Problem(lines[end][0], reason))
        lines, starts = lines[:end], starts[:MOST_STEPS]
    front = _read_front(lines[:first], problems)
    return front, [_read_section(lines[start:end], problems) for start, end in pairwise([*starts, len(lines)])]


def _read_front(lines: list[Line], problems: list[Problem]) -> list[Line]:
    """Return the front matter; other text before the first step becomes a problem."""
    full = trim(lines)
    if not full or full[0][1].rstrip() != FRONT:
        line = full[0][0] if full else 1
        problems.append(Problem(line, "A lesson begins with a line --- and its title: title: Causal masks, then ---."))
        return []
    end = next((i for i, (_, line) in enumerate(full[1:], 1) if line.rstrip() == FRONT), None)
    if end is None:
        problems.append(Problem(full[0][0], "This --- is not closed by another --- before the first step."))
        return full[1:]
    rest = trim(full[end + 1 :])
    if rest:
        reason = "This text is before the first step and is not shown; a step begins with ## and its title."
        problems.append(Problem(rest[0][0], reason))
    return full[1:end]


def _read_section(lines: list[Line], problems: list[Problem]) -> Section:
    number, heading = lines[0]
    found = _HEADING.fullmatch(heading)
    section = Section(number, (found[1] or "").strip() if found else "")
    if not section.title:
        problems.append(Problem(number, "The step has no title; write it after ##."))
    pieces: list[list[Line]] = [[]]
    rest = iter(lines[1:])
    for place, line in rest:
        opener = _OPENER.fullmatch(line)
        if opener is None:
            _check_fence(place, line, problems)
            pieces[-1].append((place, _unescape(line)))
            continue
        block = Block(opener[2], place)
        closer = re.compile(rf"`{{{len(opener[1])},}}[ \t]*")
        for inner, content in rest:
            if closer.fullmatch(content):
                break
            block.lines.append((inner, _unescape(content)))
        else:
            problems.append(Problem(place, f"The block {block.kind} is not closed; close it with a line ```."))
        section.blocks.append(block)
        pieces.append([])
    section.text = _join([trim(piece) for piece in pieces])
    return section


def _join(pieces: list[list[Line]]) -> list[Line]:
    """Return pieces of text joined with empty lines, none of them at the ends."""
    text: list[Line] = []
    for piece in filter(None, pieces):
        text += [(text[-1][0], "")] if text else []
        text += piece
    return text


def _check_fence(place: int, line: str, problems: list[Problem]) -> None:
    fence = _FENCE.fullmatch(line)
    near = find_near(fence[1], BLOCKS, cutoff=0.7) if fence else ""
    if fence and near:
        problems.append(Problem(place, f"There is no block {fence[1]!r}, so it is shown as code; did you mean {near}?"))
