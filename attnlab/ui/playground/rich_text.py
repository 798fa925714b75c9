"""Lines of arithmetic as rich text in the colours of their roles, and lines of code with their indentation."""

from html import escape

from attnlab.attention.stages.arithmetic import Line, Span
from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import spans
from attnlab.ui.base.theme import font, px

_HANGING = 12
_RAISED = {"sub": "sub", "sup": "super"}


def html_of(line: Line, palette: Palette) -> str:
    """Return one line as HTML for a QLabel; it may break between terms."""
    return "".join(_span(span, palette) for span in line)


def html_of_code(code: str) -> str:
    """Return lines of code as HTML; a long line wraps with a hanging indent."""
    return "".join(_code_line(line) for line in code.splitlines())


def _code_line(line: str) -> str:
    """Return a line with its own spaces, so that copied text is still code."""
    left = px(4) * (len(line) - len(line.lstrip())) + px(_HANGING)
    style = f"margin:0; margin-left:{left}px; text-indent:-{left}px; white-space:pre-wrap"
    return f'<p style="{style}">{escape(line)}</p>'


def _span(span: Span, palette: Palette) -> str:
    if span.style in _RAISED:
        text = _raise(span.text, span.style)
    else:
        text = "".join(_raise(piece, "sub") if low else escape(piece) for piece, low in spans(span.text))
    if span.style == "muted":
        return f'<span style="color:{palette.muted}">{text}</span>'
    if span.role:
        text = f'<span style="color:{palette.role_ink(span.role)}">{text}</span>'
    return f"<b>{text}</b>" if span.style == "strong" else text


def _raise(text: str, style: str) -> str:
    """Return a text as HTML, raised or lowered."""
    size_px = round(font("caption").pixelSize() * 3 / 2)  # Qt draws it at two thirds of this
    return f'<span style="vertical-align:{_RAISED[style]}; font-size:{size_px}px">{escape(text)}</span>'
