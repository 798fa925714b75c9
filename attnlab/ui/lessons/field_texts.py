"""Sets the texts of the editor's fields: after an undo in the field being edited, its cursor is at the change."""

from itertools import takewhile

from PySide6.QtWidgets import QLineEdit, QPlainTextEdit


def set_line(field: QLineEdit, text: str) -> None:
    """Set the text of a line, if it is another one."""
    before = field.text()
    if before != text:
        field.setText(text)
        field.setCursorPosition(_find_change(before, text) if field.hasFocus() else 0)


def set_area(field: QPlainTextEdit, text: str) -> None:
    """Set the text of an area without telling about it, if it is another one."""
    before = field.toPlainText()
    if before == text:
        return
    field.blockSignals(True)
    field.setPlainText(text)
    field.blockSignals(False)
    if field.hasFocus():
        cursor = field.textCursor()
        cursor.setPosition(_find_change(before, text))
        field.setTextCursor(cursor)


def _find_change(before: str, text: str) -> int:
    """Return the position behind what differs from an earlier text, as Qt counts characters."""
    first = _count_same(before, text)
    last = _count_same(before[first:][::-1], text[first:][::-1])
    return len(text[: len(text) - last].encode("utf-16-le")) // 2


def _count_same(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
