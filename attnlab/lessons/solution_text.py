"""Writes arithmetic and tokens as Markdown and LaTeX; the result is well-formed for every input."""

import re
import unicodedata
from itertools import groupby

from attnlab.attention.stages.arithmetic import Line, Span

_IN_MARKDOWN = str.maketrans({character: rf"\{character}" for character in r"\`*_[]<>#|~$&{}!^"})
_SPACE = re.compile(r"\s")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''",
    "−": "$-$", "→": r"$\to$", "·": r"$\cdot$", "×": r"$\times$", "÷": r"$\div$", "∞": r"$\infty$",
    "∅": r"$\emptyset$", "…": r"\dots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---",
    "√": r"$\surd$", "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}",
    "Œ": r"\OE{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "⟨": r"$\langle$", "⟩": r"$\rangle$",
    "[": "{[}", "]": "{]}", "`": r"\textasciigrave{}", "*": "{*}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u0304": "=", "\u0307": ".",
    "\u0306": "u", "\u030c": "v", "\u030b": "H", "\u0327": "c", "\u030a": "r",
}  # fmt: skip
_SYMBOLS = {
    "−": "-", "-": "-", "·": r"\cdot ", "×": r"\times ", "÷": r"\div ", "∞": r"\infty ", "√": r"\surd ",
    "→": r"\to ", "…": r"\dots ", "|": "|", "≥": r"\ge ", "≤": r"\le ", "≠": r"\ne ", "²": "^{2}", "Σ": r"\sum ",
    "∑": r"\sum ", "⟨": r"\langle ", "⟩": r"\rangle ", "%": r"\%", "<": "<", ">": ">",
    **{character: character for character in "+=()[]/.,:"},
}  # fmt: skip
_GREEK = {"θ": r"\theta ", "τ": r"\tau ", "λ": r"\lambda ", "α": r"\alpha ", "β": r"\beta ", "ε": r"\varepsilon ",
          "σ": r"\sigma ", "μ": r"\mu ", "π": r"\pi ", "γ": r"\gamma "}  # fmt: skip
_FUNCTIONS = {"tanh", "exp", "log", "max", "min", "cos", "sin"}
_PIECE = re.compile(
    r"√\d+(?:\.\d+)?"  # a root of a number
    r"|\d+(?:\.\d+)?e[−-]?\d+"  # a power of ten
    r"|\d+(?:\.\d+)?"
    r"|[A-Za-z]_[A-Za-z0-9](?![A-Za-z0-9_])"  # W_q
    r"|[^\W\d]+(?:['’][^\W\d]+)?|\s+|.",
    re.DOTALL,
)


def escape_markdown(text: str) -> str:
    """Return a text on one line, escaped so that Markdown shows it unchanged."""
    return _replace_spaces(text).translate(_IN_MARKDOWN)


def write_markdown_line(line: Line) -> str:
    """Return a line of arithmetic in Markdown; powers and indices are HTML, which all dialects support."""
    marks = {"sup": "<sup>{}</sup>", "sub": "<sub>{}</sub>", "strong": "**{}**"}
    text = "".join(marks.get(span.style, "{}").format(escape_markdown(span.text)) for span in line if span.text)
    return f"\\{text}" if text[:1] in ("+", "-") else text  # otherwise it would be an item of a list


def escape_latex(text: str) -> str:
    """Return an ASCII text for LaTeX's text mode; characters that the standard fonts lack are written as U+4F60."""
    return "".join(map(_escape_character, _replace_spaces(text)))


def _replace_spaces(text: str) -> str:
    return _SPACE.sub(" ", text)


def _escape_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    if " " <= character <= "~":
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return rf"\texttt{{U+{ord(character):04X}}}"


def write_latex_line(line: Line) -> str:
    """Return a line of arithmetic for LaTeX: words as text, the rest as mathematics with line breaks at operators."""
    parts: list[tuple[str, str]] = []
    for span in line:
        parts += _split(span)
    out = []
    for mode, group in groupby(_settle_modes(parts), key=lambda part: part[0]):
        text = "".join(part[1] for part in group)
        out.append(f"${text.strip()}$" if mode == "math" else text)
    return "".join(out).strip()


def _split(span: Span) -> list[tuple[str, str]]:
    """Return the pieces of a span with their mode: math, text or space."""
    if span.style in ("sup", "sub"):
        inside = "".join(_to_math(piece) or rf"\text{{{escape_latex(piece)}}}" for piece in _PIECE.findall(span.text))
        return [("math", f"{'^' if span.style == 'sup' else '_'}{{{inside}}}")]
    parts = []
    for piece in _PIECE.findall(span.text):
        math = _to_math(piece)
        if piece.isspace():
            parts.append(("space", " "))
        elif math is None:
            bold = span.style == "strong"
            parts.append(("text", rf"\textbf{{{escape_latex(piece)}}}" if bold else escape_latex(piece)))
        else:
            parts.append(("math", rf"\mathbf{{{math}}}" if span.style == "strong" and piece[0].isdigit() else math))
    return parts


def _to_math(piece: str) -> str | None:
    """Return a piece as mathematics; None for a word."""
    if piece in _SYMBOLS or piece in _GREEK:
        return _SYMBOLS.get(piece) or _GREEK[piece]
    if piece.startswith("√"):
        return rf"\sqrt{{{piece[1:]}}}"
    if (piece[0].isdigit() and piece.isascii()) or re.fullmatch(r"\d.*e[−-]?\d+", piece):
        mantissa, _, exponent = piece.replace("−", "-").partition("e")
        return rf"{mantissa} \cdot 10^{{{exponent}}}" if exponent else mantissa
    if piece in _FUNCTIONS:
        return rf"\{piece} "
    if len(piece) == 3 and piece[1] == "_":
        return piece.replace("_", "_{") + "}"
    return piece if len(piece) == 1 and piece.isascii() and piece.isalpha() and piece not in "aIA" else None


def _settle_modes(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give spaces and punctuation the mode of their neighbours: math only between pieces of math."""
    afters, after = [], "text"
    for mode, _ in reversed(parts):
        afters.append(after)
        after = after if mode == "space" else mode
    settled: list[tuple[str, str]] = []
    for (mode, text), after in zip(parts, reversed(afters), strict=True):
        before = settled[-1][0] if settled else "text"
        if mode == "space":
            mode = "math" if before == after == "math" else "text"
        elif text in (",", ".", ":") and (before == "text" or after == "text"):
            mode = "text"
        settled.append((mode, text))
    return settled
