"""Reads worked solutions: Markdown and LaTeX become the same plain blocks, for comparison."""

import re
import unicodedata
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Heading:
    level: int
    title: str


@dataclass(frozen=True)
class Formula:
    latex: str


@dataclass(frozen=True)
class Said:
    text: str


@dataclass(frozen=True)
class Table:
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Computed:
    """A cell: its title ``row → column: value``, and the lines below."""

    title: str
    lines: tuple[str, ...]


Block: TypeAlias = Heading | Formula | Said | Table | Computed


def alike(text: str) -> str:
    """Return a text without differences that LaTeX loses: spaces, the kinds of quotation marks, dashes."""
    for dash in ("−", "–", "—"):
        text = text.replace(dash, "-")
    return re.sub(r"[\s“”‘’'\"`]", "", text)


# Markdown


def of_markdown(text: str) -> list[Block]:
    return [_markdown_block(block) for block in text.strip("\n").split("\n\n")]


def _markdown_block(block: str) -> Block:
    if found := re.fullmatch(r"(#+) (.*)", block):
        return Heading(len(found[1]), _plain_markdown(found[2]))
    if block.startswith("$$"):
        return Formula(block.removeprefix("$$").removesuffix("$$"))
    if block.startswith("|"):
        first, rule, *rest = ([_plain_markdown(c) for c in _cells(line, "|")[1:-1]] for line in block.split("\n"))
        assert set("".join(rule)) <= set("-:"), rule
        return _table(first, rest)
    if block.startswith("**"):
        title, *lines = block.split("\n")
        assert title.rstrip().endswith("**"), title
        return Computed(_plain_markdown(title), tuple(map(_plain_markdown, lines)))
    return Said(_plain_markdown(block))


def _plain_markdown(line: str) -> str:
    line = re.sub(r"<sup>(.*?)</sup>", r"^{\1}", line)
    line = re.sub(r"(?<!\\)\*\*", "", re.sub(r"<sub>(.*?)</sub>", r"_\1", line))
    return alike(re.sub(r"\\(.)", r"\1", line))


def _cells(line: str, mark: str) -> list[str]:
    return [cell.strip() for cell in re.split(rf"(?<!\\){re.escape(mark)}", line)]


def _table(first: list[str], rest: list[list[str]]) -> Table:
    assert first[0] == ""
    assert {len(row) for row in rest} == {len(first)}
    return Table(tuple(row[0] for row in rest), tuple(first[1:]), tuple(tuple(row[1:]) for row in rest))


# LaTeX


def of_latex(text: str) -> list[Block]:
    body = text.split(r"\begin{document}", 1)[1].rsplit(r"\end{document}", 1)[0]
    return [_latex_block(block) for block in body.strip("\n").split("\n\n")]


_LEVELS = {"section": 1, "subsection": 2, "subsubsection": 3}


def _latex_block(block: str) -> Block:
    block = re.sub(r"^\{\\(?:tiny|scriptsize)\n(.*)\n\}$", r"\1", block, flags=re.DOTALL)
    if found := re.fullmatch(r"\\((?:sub)*section)\*\{(.*)\}", block):
        return Heading(_LEVELS[found[1]], _plain_latex(found[2]))
    if found := re.fullmatch(r"\\\[\n\\begin\{array\}\{l\|(r+)\}\n(.*)\n\\end\{array\}\n\\\]", block, re.DOTALL):
        body = found[2].replace(r" \hline \rule{0pt}{11pt}", "").removesuffix("\\\\")
        first, *rest = ([_plain_latex(c) for c in _cells(f" {row}", "&")] for row in body.split("\\\\\n"))
        assert len(found[1]) == len(first) - 1
        return _table(first, rest)
    if block.startswith("\\["):
        return Formula(block.removeprefix("\\[").removesuffix("\\]").strip())
    if block.startswith(r"\textbf{"):
        title, *lines = block.split("\\\\\n")
        return Computed(_plain_latex(title), tuple(map(_plain_latex, lines)))
    return Said(_plain_latex(block))


_WORDS = {
    "cdot": "·", "times": "×", "div": "÷", "infty": "∞", "surd": "√", "to": "→", "dots": "…", "ge": "≥", "le": "≤",
    "ne": "≠", "sum": "Σ", "langle": "⟨", "rangle": "⟩", "emptyset": "∅", "theta": "θ", "tau": "τ", "lambda": "λ",
    "alpha": "α", "beta": "β", "varepsilon": "ε", "sigma": "σ", "mu": "μ", "pi": "π", "gamma": "γ", "tanh": "tanh",
    "exp": "exp", "log": "log", "max": "max", "min": "min", "cos": "cos", "sin": "sin", "textbackslash": "\\",
    "textasciicircum": "^", "textasciitilde": "~", "textasciigrave": "`", "ss": "ß",
}  # fmt: skip
_ACCENTS = {"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307"}
_PLAIN = {"text", "textbf", "mathbf", "textit"}


def _plain_latex(text: str) -> str:
    text = re.sub(r"(\d) \\cdot 10\^\{(-?\d+)\}", r"\1e\2", text).replace("--", "-")
    plain, end = _read(text, 0)
    assert end == len(text), text
    return alike(plain)


def _read(text: str, at: int) -> tuple[str, int]:
    """Return the text up to the closing brace or the end, and its position."""
    out: list[str] = []
    while at < len(text) and text[at] != "}":
        piece, at = _piece(text, at)
        out.append(piece)
    return "".join(out), at


def _group(text: str, at: int) -> tuple[str, int]:
    assert text[at] == "{", text[at:]
    inside, at = _read(text, at + 1)
    return inside, at + 1


def _piece(text: str, at: int) -> tuple[str, int]:
    character = text[at]
    if character == "$":
        return "", at + 1
    if character == "{":
        return _group(text, at)
    if character in "^_":
        inside, at = _group(text, at + 1)
        return (f"^{{{inside}}}" if character == "^" else f"_{inside}"), at
    if character != "\\":
        return character, at + 1
    if text[at + 1] in _ACCENTS:
        accent = _ACCENTS[text[at + 1]]
        inside, at = _group(text, at + 2)
        return unicodedata.normalize("NFC", inside + accent), at
    if not text[at + 1].isalpha():
        return text[at + 1], at + 2
    found = re.compile(r"\\([a-zA-Z]+)").match(text, at)
    assert found is not None
    word, at = found[1], found.end()
    if word in _PLAIN:
        return _group(text, at)
    if word == "texttt":
        inside, at = _group(text, at)
        return chr(int(inside.removeprefix("U+"), 16)), at
    if word == "sqrt":
        inside, at = _group(text, at)
        return f"√{inside}", at
    return _WORDS[word], at
