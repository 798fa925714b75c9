"""Finds the faults of a layout that a person sees: text that is cut, indices not lowered, widgets that overlap."""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollBar,
    QSplitterHandle,
    QStyle,
    QStyleOptionComboBox,
    QTextBrowser,
    QToolButton,
    QWidget,
)

from attnlab.figures.subscripts import spans
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.subscripts import FormulaLabel

SLACK_PX = 2
"""Differences of so few pixels are no fault: nothing is lost by them."""
OVERLAYS = ("CommandPalette", "Cover", "RailFrame", "SlideView")
"""Widgets that are meant to lie over others, by the names of their classes."""
OF_FILES = ("Arrays of the file",)
"""Lists of names that are written as in files, by their accessible names."""
OF_CODE = "The same in PyTorch"
"""How the accessible name of a label with code begins."""


def find_layout_faults(top: QWidget) -> list[str]:
    """Return a sentence for each fault in a window that is laid out, without what is hidden or scrolled away."""
    return [fault for find in _FINDERS for fault in find(top)]


def _list_visible(top: QWidget) -> list[QWidget]:
    inside = [each for each in top.findChildren(QWidget) if each.isVisibleTo(top) and each.window() is top]
    return [top, *inside]


def _find_cut_texts(top: QWidget) -> Iterator[str]:
    for widget in _list_visible(top):
        text, room = _measure_text(widget)
        if text is None or widget.size().isEmpty():
            continue
        wide, high = room
        if (wide < -SLACK_PX or high < -SLACK_PX) and not _tells_whole_text(widget, text):
            yield f"{_name(widget)} is cut by {max(-wide, -high)} px: {text[:60]!r}"


def _measure_text(widget: QWidget) -> tuple[str | None, tuple[int, int]]:
    """Return the text of a widget, None if it shows none, and the width and height that it leaves free."""
    if isinstance(widget, ElidedLabel):
        return (None, (0, 0)) if not widget.text() else (widget.text(), (0, _free_height(widget)))
    if isinstance(widget, QLabel):
        if not widget.text():
            return None, (0, 0)
        if widget.wordWrap():
            return widget.text(), (0, widget.height() - widget.heightForWidth(widget.width()))
        needed = widget.sizeHint()
        return widget.text(), (widget.width() - needed.width(), widget.height() - needed.height())
    if isinstance(widget, QAbstractButton):
        if not widget.text():
            return None, (0, 0)
        return widget.text(), (widget.width() - _measure_button(widget), _free_height(widget))
    if isinstance(widget, QComboBox):
        option = QStyleOptionComboBox()
        widget.initStyleOption(option)
        style = QStyle.SubControl.SC_ComboBoxEditField
        field = widget.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, style, widget)
        width = widget.fontMetrics().horizontalAdvance(widget.currentText())
        return widget.currentText(), (field.width() - width, _free_height(widget))
    if isinstance(widget, QAbstractSpinBox):
        field = widget.lineEdit()
        width = field.fontMetrics().horizontalAdvance(field.displayText())
        return field.displayText(), (field.width() - width, _free_height(field))
    return None, (0, 0)


def _measure_button(button: QAbstractButton) -> int:
    """Return the width of a button's text and icon; of one that draws itself, the width that it asks for."""
    if type(button).__module__.startswith("attnlab"):
        return button.sizeHint().width()
    lines = button.text().replace("&", "").split("\n")
    text = max(QFontMetrics(button.font()).horizontalAdvance(line) for line in lines)
    beside = button.iconSize().width() if not button.icon().isNull() and type(button).__name__ != "QToolButton" else 0
    return text + beside


def _free_height(widget: QWidget) -> int:
    return widget.height() - QFontMetrics(widget.font()).tightBoundingRect("Åg").height()


def _tells_whole_text(widget: QWidget, text: str) -> bool:
    """Return whether the tool tip has all words of the text: then it is shortened on purpose."""
    return all(word in widget.toolTip() for word in text.split())


def _find_raw_indices(top: QWidget) -> Iterator[str]:
    """Yield the texts with an underscore where the view should lower an index, as in W_q."""
    for widget in _list_visible(top):
        is_label = isinstance(widget, QLabel) and not isinstance(widget, FormulaLabel)
        is_label = is_label and not getattr(widget, "lowers_indices", False)
        is_plain = is_label and widget.textFormat() != Qt.TextFormat.RichText
        if not is_plain and type(widget) not in (QCheckBox, QPushButton, QRadioButton, QToolButton):
            continue
        if _has_index(widget.text()):
            yield f"{_name(widget)} has indices that are not lowered: {widget.text()[:60]!r}"


def _find_raw_prose(top: QWidget) -> Iterator[str]:
    """Yield the rich texts and pages with an index that is not lowered, outside code."""
    for widget in _list_visible(top):
        if isinstance(widget, QTextBrowser):
            document = widget.document()
        elif isinstance(widget, QLabel) and widget.textFormat() == Qt.TextFormat.RichText:
            if widget.accessibleName().startswith(OF_CODE):
                continue
            (document := QTextDocument()).setHtml(widget.text())
        else:
            continue
        raw = next((line for line in _list_prose(document) if _has_index(line)), None)
        if raw is not None and not isinstance(widget, FormulaLabel):
            yield f"{_name(widget)} has indices that are not lowered: {raw[:60]!r}"


def _list_prose(document: QTextDocument) -> Iterator[str]:
    """Yield the lines of a document without its code."""
    block = document.begin()
    while block.isValid():
        pieces = [(place.fragment().text(), place.fragment().charFormat()) for place in block]
        yield "".join("…" if _is_code(style) else text for text, style in pieces)
        block = block.next()


def _is_code(style: QTextCharFormat) -> bool:
    return style.fontFixedPitch() or any("mono" in family.lower() for family in style.fontFamilies() or ())


def _find_raw_items(top: QWidget) -> Iterator[str]:
    """Yield the items of lists, tables and combo boxes with an index that is not lowered."""
    for widget in _list_visible(top):
        if isinstance(widget, QComboBox):
            titles = [widget.itemText(at) for at in range(widget.count())]
            lowered = getattr(widget.itemDelegate(), "lowers_indices", False) and hasattr(widget, "lowers_indices")
        elif isinstance(widget, QHeaderView):  # its model's items are those of the view beside it
            continue
        elif isinstance(widget, QAbstractItemView) and widget.accessibleName() not in OF_FILES:
            titles = list(_list_items(widget.model()))
            lowered = getattr(widget.itemDelegate(), "lowers_indices", False)
        else:
            continue
        raw = next((title for title in titles if _has_index(title)), None)
        if raw is not None and not lowered:
            yield f"{_name(widget)} has indices that are not lowered: {raw[:60]!r}"


def _list_items(model: QAbstractItemModel | None) -> Iterator[str]:
    """Yield the texts of a model's cells, of the first thousand rows."""
    top = QModelIndex()
    if model is not None:
        for row in range(min(model.rowCount(top), 1000)):
            columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(top)
            yield from (str(model.index(row, column).data() or "") for column in range(columns))


def _has_index(text: str) -> bool:
    return any(low for _, low in spans(text))


def _find_overlaps(top: QWidget) -> Iterator[str]:
    for parent in _list_visible(top):
        children = [each for each in parent.children() if isinstance(each, QWidget) and _takes_room(each, top)]
        for one, other in combinations(children, 2):
            shared = one.geometry() & other.geometry()
            if min(shared.width(), shared.height()) > SLACK_PX:
                yield f"{_name(one)} and {_name(other)} overlap by {shared.width()} × {shared.height()} px"


def _takes_room(widget: QWidget, top: QWidget) -> bool:
    if isinstance(widget, QSplitterHandle | QScrollBar) or type(widget).__name__ in OVERLAYS:
        return False
    return widget.isVisibleTo(top) and not widget.isWindow()


def _scrolls(parent: QWidget) -> bool:
    """Return whether a widget moves its children by a scroll bar of its own."""
    return any(isinstance(each, QScrollBar) and each.isVisible() for each in parent.children())


def _find_outside(top: QWidget) -> Iterator[str]:
    for widget in _list_visible(top):
        parent = widget.parentWidget()
        if widget is top or parent is None or widget.size().isEmpty():
            continue
        area = parent.parentWidget()
        if isinstance(area, QAbstractScrollArea) and area.viewport() is parent:
            over = widget.width() - parent.width()
            if over > SLACK_PX and not area.horizontalScrollBar().isVisible():
                yield f"{_name(widget)} is {over} px wider than its scroll area, which has no scroll bar"
            continue
        if _scrolls(parent):
            continue
        place = widget.geometry()
        shown = place & parent.rect()
        if place.width() - shown.width() > SLACK_PX or place.height() - shown.height() > SLACK_PX:
            yield f"{_name(widget)} lies outside {_name(parent)}: {_write(place)} in {_write(parent.rect())}"


def _write(place: QRect) -> str:
    corner: QPoint = place.topLeft()
    return f"{corner.x()}, {corner.y()}, {place.width()} × {place.height()}"


def _name(widget: QWidget) -> str:
    """Return the class of a widget with what it is called, and its parent's class."""
    called = widget.accessibleName() or getattr(widget, "text", str)()
    inside = type(widget.parentWidget()).__name__ if widget.parentWidget() is not None else "nothing"
    return f"{type(widget).__name__} {str(called)[:40]!r} in {inside}"


_FINDERS = (_find_cut_texts, _find_raw_indices, _find_raw_prose, _find_raw_items, _find_overlaps, _find_outside)
