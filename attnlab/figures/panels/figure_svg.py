"""Improves Qt's SVG: text that keeps its position in other typefaces, crisp cells, no empty groups."""

import re
from collections import Counter

from PySide6.QtGui import QFont, QFontMetricsF

from attnlab.figures.panels.figure_type import TITLE_PX, make_figure_font

_EMPTY = re.compile(r"<g [^>]*>\s*</g>\s*")
_TEXT = re.compile(
    r'<text fill="(?P<fill>[^"]*)"[^>]*? x="(?P<x>[^"]*)" y="(?P<y>[^"]*)" font-family="[^"]*"'
    r' font-size="(?P<size>\d+)" font-weight="(?P<weight>\d+)"[^>]*>(?P<text>[^<]*)</text>'
)
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain, even escaped, but tokens can."""
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_FAMILIES = "Inter, Helvetica, Arial, sans-serif"


def improve_svg(svg: str) -> str:
    """Return Qt's SVG changed so that browsers, editors and typesetters draw it in the same way.

    Each text has its width, so that another typeface is fitted to it if ours is not installed. Pictures of cells are
    not smoothed, which is written both for current renderers and for SVG 1.1.
    """
    svg = _FORBIDDEN.sub("�", _EMPTY.sub("", svg))
    places = {_find_ends(found) for found in _TEXT.finditer(svg)}
    ends, starts = Counter(end for end, _ in places), Counter(start for _, start in places)
    svg = _TEXT.sub(lambda found: _anchor(found, ends, starts), svg)
    svg = re.sub(r'font-family="[^"]*,[^"]*"', f'font-family="{_FAMILIES}"', svg)
    svg = svg.replace(' version="1.2" baseProfile="tiny"', ' version="1.1"')
    crisp = 'image-rendering="optimizeSpeed" style="image-rendering:crisp-edges;image-rendering:pixelated"'
    return svg.replace('image-rendering="optimizeSpeed"', crisp)


def _measure_width(found: re.Match[str]) -> float:
    """Return the width of a text in its own typeface."""
    text = found["text"]
    for entity, letter in _ENTITIES.items():
        text = text.replace(entity, letter)
    return QFontMetricsF(make_figure_font(int(found["size"]), QFont.Weight(int(found["weight"])))).horizontalAdvance(
        text
    )


def _find_ends(found: re.Match[str]) -> tuple[int, int]:
    """Return the end and the start of a text in whole units."""
    x = float(found["x"])
    return round(x + _measure_width(found)), round(x)


def _anchor(found: re.Match[str], ends: Counter[int], starts: Counter[int]) -> str:
    """Return a text anchored at its start if several others start there, or it is 0; else at its end or its middle.

    ``ends`` and ``starts`` are the numbers of different texts that end or start at a place.
    """
    width, x, size = _measure_width(found), float(found["x"]), int(found["size"])
    end, start = _find_ends(found)
    from_left = x == 0 or size >= TITLE_PX or starts[start] > max(ends[end], 2)
    anchor, share = ("start", 0.0) if from_left else ("end", 1.0) if ends[end] > 1 else ("middle", 0.5)
    fitted = f' textLength="{width:.2f}" lengthAdjust="spacingAndGlyphs"' if width > size else ""
    return (
        f'<text fill="{found["fill"]}" stroke="none" xml:space="preserve" x="{x + share * width:.2f}" y="{found["y"]}"'
        f' text-anchor="{anchor}"{fitted} font-family="{_FAMILIES}" font-size="{size}" font-weight="{found["weight"]}">'
        f"{found['text']}</text>"
    )
