"""Placeholders in a lesson's text: ``{{weights[2, 1]}}`` is filled from the computation, so no number can be wrong.

An expression is arithmetic over stages, tables, sizes and tokens. Python's :mod:`ast` parses it; it is never executed.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from attnlab.attention.stages.arithmetic import number
from attnlab.base.errors import AttnlabError
from attnlab.base.text_marks import mark_number
from attnlab.lessons.expressions import Scope, evaluate
from attnlab.lessons.lookup import Value

if TYPE_CHECKING:
    from attnlab.lessons.covering import Covering

LONGEST = 200
"""The maximum length of a placeholder in characters."""
UNKNOWN = "?"
"""The text of a placeholder that cannot be filled."""

_PLACEHOLDER = re.compile(r"\{\{(?:(?P<content>[^{}]*)\}\})?")
_IN_MARKDOWN = re.compile(rf"\\[\\`]|(?P<ticks>`+)|{_PLACEHOLDER.pattern}")
_MEANS_MORE = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|~&=]")
"""Characters with a meaning in Markdown, which a backslash escapes."""
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MINUS_ZERO = re.compile(r"-(?=[0.]*(?:e[+-]?0+)?%?\Z)")
_FORMAT = re.compile(r"\s*\+?(?:\.[0-9]{1,2})?[fe%g]\s*")
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')""")
_SIGNS = str.maketrans({"−": "-", "×": "*", "·": "*", "÷": "/"})
_QUOTES = str.maketrans({"“": '"', "”": '"'})


@dataclass(frozen=True, slots=True)
class Wrong:
    """A placeholder that cannot be filled: its line in the text, from 0, and one sentence."""

    line: int
    reason: str


def fill(
    text: str, scope: Callable[[], Scope], markdown: bool = False, covering: "Covering | None" = None
) -> tuple[str, tuple[Wrong, ...]]:
    """Return a text with its placeholders filled, and a :class:`Wrong` for each "?" that could not be filled.

    ``scope`` is called only if there are placeholders. With ``markdown``, tokens and the full stop after a whole number
    are escaped outside of code, so that Markdown shows them unchanged and begins no list. With ``covering``, numbers
    that a reveal uncovers are marked, as in ``base/text_marks.py``.
    """
    if "{{" not in text:
        return text, ()
    wrong: list[tuple[int, str]] = []
    there, code = scope(), 0

    def fill(found: re.Match[str]) -> str:
        nonlocal code
        if markdown and (ticks := len(found["ticks"] or "")):
            code = 0 if code == ticks else code or ticks
        if not found[0].startswith("{{"):
            return found[0]
        try:
            filled = _fill(found["content"], there, markdown and not code, covering)
            begins_list = (
                markdown and not code and filled.isdecimal() and text[found.end() : found.end() + 1] in (".", ")")
            )
            return f"{filled}\\" if begins_list else filled
        except AttnlabError as error:
            wrong.append((found.start(), str(error)))
            return found[0] if found["content"] is None else UNKNOWN

    return (_IN_MARKDOWN if markdown else _PLACEHOLDER).sub(fill, text), tuple(_find_lines(text, wrong))


def _find_lines(text: str, wrong: Sequence[tuple[int, str]]) -> Iterator[Wrong]:
    """Yield the problems with their lines; ``wrong`` holds their offsets in the text, in order."""
    line = last = 0
    for at, reason in wrong:
        line += text.count("\n", last, at)
        last = at
        yield Wrong(line, reason)


def _fill(content: str | None, scope: Scope, escaped: bool, covering: "Covering | None") -> str:
    if content is None:
        raise AttnlabError("A {{ is not closed; a placeholder is {{weights[2, 1]}}.")
    try:
        tree, spec = read(content)
        value = evaluate(tree, scope)
        text = format_value(value, spec)
    except AttnlabError as error:
        raise AttnlabError(f"{{{{{' '.join(content.split())[:80]}}}}} cannot be filled: {error}") from None
    text = _MEANS_MORE.sub(r"\\\g<0>", text) if escaped and isinstance(value, str) else text
    role = None if covering is None else covering.find_role(tree)
    return text if role is None or covering is None else mark_number(text, role, covered=covering.covers(tree))


def format_value(value: Value, spec: str) -> str:
    """Return a value as text: whole numbers plain, others with four decimals or in the format ``spec``."""
    if isinstance(value, str):
        return _UNSEEN.sub(" ", value) or "∅"
    if not isinstance(value, int | float):
        raise AttnlabError("this is more than one number; use sum, max, mean or an index.")
    if isinstance(value, int) and not spec:
        return str(value).replace("-", "−")
    if not spec or value != value or abs(value) == float("inf"):
        return number(value)
    return _MINUS_ZERO.sub("", f"{value:{spec}}").replace("-", "−")


@lru_cache(maxsize=4096)
def read(content: str) -> tuple[ast.expr, str]:
    """Return the syntax tree of an expression and its format; AttnlabError if it is invalid."""
    if len(content) > LONGEST:
        raise AttnlabError(f"it is longer than {LONGEST} characters.")
    expression, spec = _split(content.translate(_QUOTES))
    pieces = _QUOTED.split(expression)
    plain = "".join(piece if i % 2 else piece.translate(_SIGNS) for i, piece in enumerate(pieces)).strip()
    if "\\" in plain or "\0" in plain:
        raise AttnlabError("a backslash has no meaning in it.")
    try:
        tree = ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise AttnlabError("it is not an expression such as weights[2, 1] or d_k / 2.") from None
    return tree, spec or _find_rounding(tree)


def _find_rounding(tree: ast.expr) -> str:
    """Return a format with the decimals of a ``round``, because further decimals would be wrong; else ""."""
    match tree:
        case ast.Call(func=ast.Name(id="round"), args=[_, ast.Constant(value=int() as digits)]) if 0 <= digits < 10:
            return f".{digits}f"
    return ""


def _split(content: str) -> tuple[str, str]:
    """Return the expression and its format, which follows the last colon outside of brackets and quotes."""
    bare = _QUOTED.sub(lambda found: "_" * len(found[0]), content)
    depth, colon = 0, -1
    for i, character in enumerate(bare):
        depth += (character in "[(") - (character in "])")
        if character == ":" and depth == 0:
            colon = i
    if colon < 0:
        return content, ""
    spec = content[colon + 1 :]
    if not _FORMAT.fullmatch(spec):
        raise AttnlabError(f"{spec.strip()!r} is not a format; examples are .2f, .1e, .0% and .3g.")
    return content[:colon], spec.strip()
