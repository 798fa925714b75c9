"""Numbers in a lesson's text: ``{{weights[2, 1]}}`` is filled from what was computed, so that none can be wrong.

An expression is arithmetic over stages, tables, sizes and tokens. Python's :mod:`ast` reads it; nothing of it is run.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from attnlab.attention.stages.arithmetic import number
from attnlab.base.errors import AttnlabError
from attnlab.lessons.expressions import Scope, value_of
from attnlab.lessons.lookup import Value

LONGEST = 200
"""Characters of one placeholder."""
UNKNOWN = "?"
"""What stands where a placeholder cannot be filled: never a wrong number."""

_PLACEHOLDER = re.compile(r"\{\{(?:(?P<content>[^{}]*)\}\})?")
_IN_MARKDOWN = re.compile(rf"\\[\\`]|(?P<ticks>`+)|{_PLACEHOLDER.pattern}")
_MEANS_MORE = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|~&=]")
"""What Markdown may read as more than itself; a backslash before it takes that away."""
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MINUS_ZERO = re.compile(r"-(?=[0.]*(?:e[+-]?0+)?%?\Z)")
_FORMAT = re.compile(r"\s*\+?(?:\.[0-9]{1,2})?[fe%g]\s*")
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')""")
_SIGNS = str.maketrans({"−": "-", "×": "*", "·": "*", "÷": "/"})
_QUOTES = str.maketrans({"“": '"', "”": '"'})


@dataclass(frozen=True, slots=True)
class Wrong:
    """A placeholder that cannot be filled: the line of the text, from 0, and one sentence."""

    line: int
    reason: str


def fill(text: str, scope: Callable[[], Scope], markdown: bool = False) -> tuple[str, tuple[Wrong, ...]]:
    """Return a text with its placeholders filled, "?" where that cannot be, and what is wrong with those.

    ``scope`` is asked for only where there is something to fill. In ``markdown`` tokens are shown as they are, whatever
    stands in them: outside of code they are escaped.
    """
    if "{{" not in text:
        return text, ()
    wrong: list[tuple[int, str]] = []
    there, code = scope(), 0

    def filled(found: re.Match[str]) -> str:
        nonlocal code
        if markdown and (ticks := len(found["ticks"] or "")):
            code = 0 if code == ticks else code or ticks
        if not found[0].startswith("{{"):
            return found[0]
        try:
            return _filled(found["content"], there, markdown and not code)
        except AttnlabError as error:
            wrong.append((found.start(), str(error)))
            return found[0] if found["content"] is None else UNKNOWN

    return (_IN_MARKDOWN if markdown else _PLACEHOLDER).sub(filled, text), tuple(_lined(text, wrong))


def _lined(text: str, wrong: Sequence[tuple[int, str]]) -> Iterator[Wrong]:
    """Yield what is wrong with the line it stands on, given where it begins, in order."""
    line = last = 0
    for at, reason in wrong:
        line += text.count("\n", last, at)
        last = at
        yield Wrong(line, reason)


def _filled(content: str | None, scope: Scope, escaped: bool) -> str:
    if content is None:
        raise AttnlabError("What {{ opens is not closed; a placeholder is {{weights[2, 1]}}.")
    try:
        tree, spec = read(content)
        value = value_of(tree, scope)
        text = shown(value, spec)
    except AttnlabError as error:
        raise AttnlabError(f"{{{{{' '.join(content.split())[:80]}}}}} cannot be filled: {error}") from None
    return _MEANS_MORE.sub(r"\\\g<0>", text) if escaped and isinstance(value, str) else text


def shown(value: Value, spec: str) -> str:
    """Return a value as it stands in a text: whole numbers plain, others with four decimals or as ``spec`` says."""
    if isinstance(value, str):
        return _UNSEEN.sub(" ", value) or "∅"
    if not isinstance(value, int | float):
        raise AttnlabError("this is more than one number; sum, max, mean or an index makes one of it.")
    if isinstance(value, int) and not spec:
        return str(value).replace("-", "−")
    if not spec or value != value or abs(value) == float("inf"):
        return number(value)
    return _MINUS_ZERO.sub("", f"{value:{spec}}").replace("-", "−")


@lru_cache(maxsize=4096)
def read(content: str) -> tuple[ast.expr, str]:
    """Return the tree of an expression and its format; AttnlabError where it is not one."""
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
    return tree, spec or _rounded(tree)


def _rounded(tree: ast.expr) -> str:
    """Return the format of what is rounded to so many decimals: more of them would not be true."""
    match tree:
        case ast.Call(func=ast.Name(id="round"), args=[_, ast.Constant(value=int() as digits)]) if 0 <= digits < 10:
            return f".{digits}f"
    return ""


def _split(content: str) -> tuple[str, str]:
    """Return expression and format: what follows the last colon that stands outside of brackets and quotes."""
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
        raise AttnlabError(f"{spec.strip()!r} is no format; .2f is one, as are .1e, .0% and .3g.")
    return content[:colon], spec.strip()
