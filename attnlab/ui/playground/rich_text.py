"""Lines of arithmetic as rich text in the colours of their roles."""

from html import escape

from attnlab.attention.arithmetic import Line, Span
from attnlab.figures.palette import Palette
from attnlab.ui.theme import font

_TAGS = {"sub": "sub", "strong": "b"}


def html_of(line: Line, palette: Palette) -> str:
    """Return one line as HTML that QLabel shows; breaking is allowed between terms."""
    return "".join(_span(span, palette) for span in line)


def _span(span: Span, palette: Palette) -> str:
    text = escape(span.text)
    if span.style == "muted":
        return f'<span style="color:{palette.muted}">{text}</span>'
    if span.role:
        text = f'<span style="color:{palette.role_ink(span.role)}">{text}</span>'
    if span.style == "sup":  # QLabel's own <sup> is too small to be read from the last row
        return f'<span style="vertical-align:super; font-size:{font("caption").pixelSize()}px">{text}</span>'
    tag = _TAGS.get(span.style)
    return f"<{tag}>{text}</{tag}>" if tag else text
