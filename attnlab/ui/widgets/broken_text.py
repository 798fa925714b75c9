"""Text broken into lines, for painters that lower its indices."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout, QTextOption


def break_text(text: str, face: QFont, width: float, most: int) -> list[str]:
    """Break a text into at most this many lines; the last one ends in … if the text is cut."""
    layout = QTextLayout(text, face)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    found: list[tuple[int, int]] = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(width, 40))
        found.append((line.textStart(), line.textLength()))
    layout.endLayout()
    shown = [text[start : start + length].rstrip() for start, length in found[:most]]
    if len(found) > most:
        rest = text[found[most - 1][0] :]
        shown[-1] = QFontMetricsF(face).elidedText(rest, Qt.TextElideMode.ElideRight, max(width, 40))
    return shown
