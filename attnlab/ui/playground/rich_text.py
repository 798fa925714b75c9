"""Lines of arithmetic as rich text in the colours of their roles."""

from html import escape

from attnlab.attention.arithmetic import Line, Span
from attnlab.figures.palette import Palette
from attnlab.ui.theme import font

_RAISED = {"sub": "sub", "sup": "super"}


def html_of(line: Line, palette: Palette) -> str:
    """Return one line as HTML that QLabel shows; breaking is allowed between terms."""
    return "".join(_span(span, palette) for span in line)


def _span(span: Span, palette: Palette) -> str:
    text = escape(span.text)
    if span.style == "muted":
        return f'<span style="color:{palette.muted}">{text}</span>'
    if span.role:
        text = f'<span style="color:{palette.role_ink(span.role)}">{text}</span>'
    if span.style in _RAISED:  # Qt draws these at two thirds of their size, too small to be read from the last row
        size_px = round(font("caption").pixelSize() * 3 / 2)
        return f'<span style="vertical-align:{_RAISED[span.style]}; font-size:{size_px}px">{text}</span>'
    return f"<b>{text}</b>" if span.style == "strong" else text
