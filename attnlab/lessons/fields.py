"""The keys of front matter, states and questions: each value is converted, or refused with one sentence."""

import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.stages.table import BY_NAME
from attnlab.base.errors import AttnlabError
from attnlab.base.near_names import find_near
from attnlab.lessons.cell_references import parse_blanks
from attnlab.lessons.lenses import LENSES
from attnlab.lessons.lesson import DEPTHS, Blank, Edit, Problem
from attnlab.lessons.yaml_block import Pair

MOST_MINUTES = 600
CHOICES = 2, 4
"""The least and the most answers to choose from: as many as keys a lecturer finds without looking."""
Take = Callable[[Pair], Any]


def suggest(name: str, known: Iterable[str]) -> str:
    """Return "did you mean NAME?", or else a list of the known names, as the end of a sentence."""
    names = tuple(known)
    near = find_near(name, names)
    return f"did you mean {near}?" if near else f"there are {', '.join(names)}."


def take_fields(
    pairs: tuple[Pair, ...], takes: Mapping[str, Take], what: str, problems: list[Problem]
) -> dict[str, Any]:
    """Return the converted values of the valid keys; each invalid one becomes a problem on its line."""
    found: dict[str, Any] = {}
    for pair in pairs:
        if pair.key not in takes:
            reason = f"There is no {reprlib.repr(pair.key)} in {what}; {suggest(pair.key, takes)}"
            problems.append(Problem(pair.line, reason))
        elif pair.key in found:
            problems.append(Problem(pair.line, f"{pair.key} occurs twice in {what}; the first one counts."))
        else:
            try:
                found[pair.key] = takes[pair.key](pair)
            except AttnlabError as error:
                problems.append(Problem(pair.line, str(error)))
    return found


def _refuse(pair: Pair, needs: str) -> AttnlabError:
    return AttnlabError(f"{pair.key} is {reprlib.repr(pair.value)}; it needs {needs}.")


def _take_text(pair: Pair) -> str:
    if isinstance(pair.value, list | dict):
        raise _refuse(pair, "a text, in quotes if it contains : or begins with a bracket")
    return "" if pair.value is None else str(pair.value).strip()


def _take_texts(pair: Pair) -> tuple[str, ...]:
    values = pair.value if isinstance(pair.value, list) else [pair.value]
    if any(isinstance(value, list | dict) or value is None for value in values):
        raise _refuse(pair, "a list of texts; one that contains : needs quotes")
    return tuple(str(value).strip() for value in values)


def _take_whole(pair: Pair) -> int:
    if isinstance(pair.value, bool) or not isinstance(pair.value, int):
        raise _refuse(pair, "a whole number, such as 3")
    return pair.value


def _take_minutes(pair: Pair) -> int:
    minutes = _take_whole(pair)
    if not 1 <= minutes <= MOST_MINUTES:
        raise _refuse(pair, f"the minutes that the lesson takes, 1 to {MOST_MINUTES}")
    return minutes


def _take_name(what: str, known: Iterable[str]) -> Take:
    def take(pair: Pair) -> str:
        names = tuple(known)
        if pair.value not in names:
            raise AttnlabError(f"There is no {what} {reprlib.repr(pair.value)}; {suggest(str(pair.value), names)}")
        return str(pair.value)

    return take


def _take_file(needs: str) -> Take:
    def take(pair: Pair) -> str:
        name = pair.value
        bare = isinstance(name, str) and name.isprintable() and not any(c in name for c in "/\\:")
        if not bare or not name.strip(" ."):
            raise _refuse(pair, needs)
        return str(name)

    return take


def _take_moment(pair: Pair) -> int:
    moment = _take_whole(pair)
    if moment < 0:
        raise _refuse(pair, "a step of training, from 0")
    return moment


def _take_cell(pair: Pair) -> tuple[int | str, int | str]:
    value = pair.value
    if isinstance(value, list) and len(value) == 2 and all(_is_place(each) for each in value):
        return value[0], value[1]
    raise _refuse(pair, 'a row and a column, numbers from 0 or tokens: [2, 1] or ["starts", "journey"]')


def _is_place(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _take_head(pair: Pair) -> int | str:
    if pair.value in ("mean", "all") or (_is_place(pair.value) and isinstance(pair.value, int)):
        return pair.value  # type: ignore[no-any-return]
    raise _refuse(pair, "a head, counted from 0, or mean, or all")


def _take_lens(pair: Pair) -> str:
    name, _, page = str(pair.value).partition("/")
    if name not in LENSES:
        raise AttnlabError(f"There is no lens {reprlib.repr(pair.value)}; {suggest(name, LENSES)}")
    pages = LENSES[name].pages
    if page and page not in pages:
        there = suggest(page, pages) if pages else "it has no pages."
        raise AttnlabError(f"The lens {name} has no page {reprlib.repr(page)}; {there}")
    return name + f"/{page}" * bool(page)


def _take_edits(pair: Pair) -> tuple[Edit, ...]:
    if pair.value is None or pair.value == []:
        return ()
    if not pair.parts:
        raise _refuse(pair, "a line for each change: - causal: true")
    return tuple(Edit(part.key, part.value, part.line) for part in pair.parts)


def _take_blanks(pair: Pair) -> tuple[Blank, ...]:
    values = pair.value if isinstance(pair.value, list) else [pair.value]
    if not values or not all(isinstance(value, str) for value in values):
        raise _refuse(pair, "cells such as weights[2, 1], or a line - weights[2, 1] for each")
    return tuple(blank for value in values for blank in parse_blanks(value))


def _take_choices(pair: Pair) -> tuple[str, ...]:
    texts = _take_texts(pair)
    least, most = CHOICES
    if not least <= len(texts) <= most or not all(texts):
        raise _refuse(pair, f"{least} to {most} answers, each on a line of its own: - about 0.5")
    return texts


def _take_tolerance(pair: Pair) -> float:
    if isinstance(pair.value, bool) or not isinstance(pair.value, int | float) or not 0 <= pair.value < float("inf"):
        raise _refuse(pair, "the accepted difference of an answer, such as 0.01")
    return float(pair.value)


FRONT: Mapping[str, Take] = {
    "title": _take_text,
    "about": _take_text,
    "order": _take_whole,
    "minutes": _take_minutes,
    "covers": _take_texts,
    "sources": _take_texts,
}
STATE: Mapping[str, Take] = {
    "preset": _take_name("preset", PRESETS),
    "file": _take_file("the name of a session in the lesson’s folder, such as mine.attnlab"),
    "run": _take_file("the name of a run in the lesson’s folder, such as my-run"),
    "moment": _take_moment,
    "layer": _take_text,
    "probe": _take_text,
    "curves": _take_texts,
    "edits": _take_edits,
    "stage": _take_name("stage", BY_NAME),
    "cell": _take_cell,
    "head": _take_head,
    "depth": _take_name("depth", DEPTHS),
    "lens": _take_lens,
    "beside": _take_name("state to show beside this one", ("before",)),
}
QUESTION: Mapping[str, Take] = {
    "ask": _take_text,
    "blank": _take_blanks,
    "tolerance": _take_tolerance,
    "hint": _take_text,
    "choices": _take_choices,
    "right": _take_whole,
}
