"""A step's Markdown and an explanation's lines as the runs of text that a slide is made of."""

import re
from collections.abc import Sequence
from functools import lru_cache

from attnlab.attention.arithmetic import Line, Span, number
from attnlab.attention.explanation import Explanation
from attnlab.figures.slide_content import Paragraph, Run, Runs

_ITEM = re.compile(r"^\s*(?:([-*+])|(\d{1,3})[.)])\s+(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_MARKED = re.compile(
    r"\\(?P<plain>[\\`*_{}\[\]()#+.!-])"
    r"|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
    r"|\*(?P<italic>[^\s*](?:[^*]*[^\s*])?)\*"
    r"|(?<![A-Za-z0-9_])_(?P<slanted>[^\s_](?:[^_]*[^\s_])?)_(?![A-Za-z0-9_])"
)
_INDEXED = re.compile(r"(?<![A-Za-z_])([A-Za-z])_([A-Za-z]{1,2}|\d+)(?![A-Za-z0-9_])")
_STYLES = {"plain": "", "code": "code", "strong": "strong", "italic": "italic", "slanted": "italic"}


@lru_cache(maxsize=256)
def paragraphs(markdown: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs and items of a text in Markdown: bold, italics, code and lists; all else is plain text."""
    found: list[tuple[str, str]] = []
    after_blank = True
    for line in markdown.strip().splitlines():
        item = _ITEM.match(line)
        if not line.strip():
            after_blank = True
        elif item is not None:
            found.append((f"{item[2]}." if item[2] else "•", item[3]))
            after_blank = False
        elif after_blank or not found:
            heading = _HEADING.match(line)
            found.append(("", f"**{heading[1]}**" if heading else line.strip()))
            after_blank = False
        else:
            mark, text = found[-1]
            found[-1] = mark, f"{text} {line.strip()}"
    return tuple(Paragraph(runs_of(text), mark) for mark, text in found)


def runs_of(markdown: str) -> Runs:
    """Return one paragraph of Markdown as runs; ``W_q`` gets its index."""
    runs: list[Run] = []
    at = 0
    for found in _MARKED.finditer(markdown):
        runs += _indexed(markdown[at : found.start()], "")
        kind = found.lastgroup or "plain"
        text = found[kind]
        runs += [Run(text, style="code")] if kind == "code" else _indexed(text, _STYLES[kind])
        at = found.end()
    return (*runs, *_indexed(markdown[at:], ""))


def _indexed(text: str, style: str) -> list[Run]:
    """Return a text with its indices set low: only one letter before _ makes one."""
    runs: list[Run] = []
    at = 0
    for found in _INDEXED.finditer(text):
        runs += [Run(text[at : found.end(1)], style=style), Run(found[2], style="sub")]
        at = found.end()
    return [run for run in (*runs, Run(text[at:], style=style)) if run.text]


def written_out(explanations: Sequence[Explanation], role: str) -> tuple[tuple[Runs, ...], ...]:
    """Return ways of writing a cell's arithmetic, the fullest first, each ending in the cell's value."""
    ways: list[tuple[Runs, ...]] = []
    for each in explanations:
        chain = _chain(each)
        full = _ended(chain, each, role)
        brief = _ended(chain[:1], each, role)
        first = _ended(chain[:2], each, role)
        ways += [way for way in (full, first, brief) if way not in ways]
    return (*ways, (_value(explanations[-1], role),))


def as_far_as(explanation: Explanation) -> tuple[tuple[Runs, ...], ...]:
    """Return the arithmetic of a cell that is being added up, without an end: the value is not known yet."""
    lines = tuple(_runs(line) for line in _chain(explanation))
    return (lines, *((line,) for line in reversed(lines)))


def _chain(explanation: Explanation) -> tuple[Line, ...]:
    """Return the first line and those that go on from it with an equals sign; the rest derives what went in."""
    lines = explanation.lines
    count = next((i for i, line in enumerate(lines[1:], 1) if not _text(line).startswith("=")), len(lines))
    return lines[:count]


def _ended(lines: tuple[Line, ...], explanation: Explanation, role: str) -> tuple[Runs, ...]:
    """Return lines of which the last one ends in the value."""
    value, shown = number(explanation.value), tuple(_runs(line) for line in lines)
    last = _text(lines[-1]) if lines else ""
    if last in (f"= {value}", value) or any(span.text == value and span.style == "strong" for span in lines[-1]):
        ending = _value(explanation, role) if last == f"= {value}" else shown[-1]
        return (*shown[:-1], ending)
    if len(lines) == 1:
        return (shown[0] + (Run(" "),) + _value(explanation, role),)
    return (*shown, _value(explanation, role))


def _value(explanation: Explanation, role: str) -> Runs:
    return (Run("= "), Run(number(explanation.value), role if role != "neutral" else "", "strong"))


def _runs(line: Line) -> Runs:
    return tuple(Run(span.text, span.role, span.style) for span in line)


def _text(line: Sequence[Span]) -> str:
    return "".join(span.text for span in line).strip()


def plain(markdown: str) -> str:
    """Return Markdown as plain text, a paragraph or an item a line, for notes."""
    lines = []
    for each in paragraphs(markdown):
        text = "".join(run.text for run in each.runs)
        lines.append(f"{each.mark} {text}" if each.mark else text)
    return "\n".join(lines)
