"""The cells of painted widgets, for screen readers: each is an element with a name, created when it is asked for.

A widget that paints a table or a list derives from :class:`HasCells` and says how many cells it has, and the name and
place of each. Qt asks for the interfaces of a widget only while a screen reader is active; without one nothing here
runs. PySide wraps no interface of tables, so a cell's name contains its row, its column and its value; no reader needs
its description.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any
from weakref import ref

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QFocusEvent, QTextDocumentFragment
from PySide6.QtWidgets import QAccessibleWidget, QLabel, QWidget
from shiboken6 import Shiboken

from attnlab.ui.base.guard import guarded

KEPT = 4096
"""The number of cells of a widget whose elements are kept; a map of 512 tokens has 262,144 cells."""
Role, Text = QAccessible.Role, QAccessible.Text
_LOWERED = re.compile(r"<sub>(.*?)</sub>")
_MARKUP = re.compile(r"</?[a-z]+[^<>]*>|&[a-z]+;")
Element = Any
"""An object of Qt or None, which Qt accepts and the types of PySide do not know."""
_TELL = QEvent.Type(QEvent.registerEventType())


@guarded
class HasCells:
    """Base, before the Qt class, of widgets that paint cells. ``place`` is the index of a cell, row by row."""

    cells_role, cell_role = Role.Table, Role.Cell

    def count_cells(self) -> int:
        """Return the number of cells."""
        raise NotImplementedError

    def name_cell(self, place: int) -> str:
        """Return the row, the column and the value of a cell in words: "weights, starts to journey, 0.3791"."""
        raise NotImplementedError

    def locate_cell(self, place: int) -> QRectF:
        """Return the rectangle of a cell in :meth:`cells_area`."""
        raise NotImplementedError

    def find_cell(self, at: QPointF) -> int | None:
        """Return the cell at a point of :meth:`cells_area`."""
        raise NotImplementedError

    @property
    def current_cell(self) -> int | None:
        """The cell that the keyboard is at."""
        raise NotImplementedError

    def cells_area(self) -> QWidget:
        """Return the widget that paints the cells: this one, or its viewport."""
        assert isinstance(self, QWidget)
        return self

    def tell_cell(self) -> None:
        """Have a screen reader read the current cell, if the keyboard is here."""
        if not QAccessible.isActive():
            return
        assert isinstance(self, QWidget)
        place = self.current_cell
        if place is not None and self.hasFocus():
            event = QAccessibleEvent(self, QAccessible.Event.Focus)
            event.setChild(place)
            QAccessible.updateAccessibility(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and event.gotFocus() and QAccessible.isActive():
            assert isinstance(self, QWidget)
            QCoreApplication.postEvent(self, QEvent(_TELL))  # Qt tells of the widget itself after this event
        return bool(super().event(event))  # type: ignore[misc]

    def customEvent(self, event: QEvent) -> None:
        if event.type() == _TELL:
            self.tell_cell()
        else:
            super().customEvent(event)  # type: ignore[misc]


@guarded
class _Cells(QAccessibleWidget):
    """A widget as a screen reader sees it: its cells, then the widgets inside it."""

    def __init__(self, widget: Any, role: QAccessible.Role) -> None:
        super().__init__(widget, role)
        self._widget = ref(widget)  # PySide never releases this object; so it must not keep the widget
        self._cells: OrderedDict[int, _Cell] = OrderedDict()
        widget.destroyed.connect(self._forget)

    def source(self) -> Any:
        """Return the widget; None once it is deleted."""
        widget = self._widget()
        return widget if widget is not None and Shiboken.isValid(widget) else None

    def _count(self) -> int:
        source = self.source()
        return source.count_cells() if source is not None else 0

    def _cell(self, place: int) -> "_Cell":
        cell = self._cells.get(place)
        if cell is None:
            cell = self._cells[place] = _Cell(self, place)
            if len(self._cells) > KEPT:
                _delete(self._cells.popitem(last=False)[1])
        else:
            self._cells.move_to_end(place)
        return cell

    def _forget(self) -> None:
        while self._cells:
            _delete(self._cells.popitem()[1])

    def childCount(self) -> int:
        return self._count() + super().childCount()

    def child(self, index: int) -> Element:
        count = self._count()
        if 0 <= index < count:
            return self._cell(index)
        return super().child(index - count) if index >= count else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        if isinstance(child, _Cell):
            return child.place
        index = super().indexOfChild(child)
        return index if index < 0 else index + self._count()

    def childAt(self, x: int, y: int) -> Element:
        source = self.source()
        if source is None:
            return None
        area: QWidget = source.cells_area()
        at = area.mapFromGlobal(QPoint(x, y))
        place = source.find_cell(QPointF(at)) if area.rect().contains(at) else None
        return self._cell(place) if place is not None else self._widget_at(x, y)

    def _widget_at(self, x: int, y: int) -> Element:
        """Return the widget inside at a point of the screen; Qt would ask every cell for its place too."""
        inside: Iterator[Element] = (super(_Cells, self).child(index) for index in range(super().childCount()))
        return next((each for each in inside if each is not None and each.rect().contains(x, y)), None)

    def focusChild(self) -> Element:
        source = self.source()
        place = source.current_cell if source is not None and source.hasFocus() else None
        return self._cell(place) if place is not None and place < self._count() else super().focusChild()


@guarded
class _Cell(QAccessibleInterface):
    """One cell as a screen reader sees it."""

    def __init__(self, cells: _Cells, place: int) -> None:
        super().__init__()
        self._cells, self.place = cells, place

    @property
    def _source(self) -> Any:
        """The widget; None once it is deleted or no longer has this cell."""
        source = self._cells.source()
        return source if source is not None and self.place < source.count_cells() else None

    def isValid(self) -> bool:
        return self._source is not None

    def object(self) -> Element:
        return None

    def parent(self) -> Element:
        return self._cells

    def child(self, index: int) -> Element:
        return None

    def childCount(self) -> int:
        return 0

    def childAt(self, x: int, y: int) -> Element:
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def role(self) -> QAccessible.Role:
        source = self._source
        return source.cell_role if source is not None else Role.NoRole

    def text(self, kind: QAccessible.Text) -> str:
        source = self._source
        return source.name_cell(self.place) if source is not None and kind == Text.Name else ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Change nothing: numbers are typed with the keyboard."""

    def state(self) -> QAccessible.State:
        state, source = QAccessible.State(), self._source
        if source is None:
            state.invalid = 1
            return state
        state.focusable = state.selectable = state.readOnly = 1
        current = source.current_cell == self.place
        state.selected, state.focused = int(current), int(current and source.hasFocus())
        area: QWidget = source.cells_area()
        state.invisible = int(not area.isVisible())
        seen = QRectF(area.rect()).intersects(source.locate_cell(self.place))
        state.offscreen = int(not seen)
        return state

    def rect(self) -> QRect:
        source = self._source
        if source is None:
            return QRect()
        rect = source.locate_cell(self.place).toAlignedRect()
        return QRect(source.cells_area().mapToGlobal(rect.topLeft()), rect.size())

    def window(self) -> Element:
        source = self._source
        return source.window().windowHandle() if source is not None else None


@guarded
class _Label(QAccessibleWidget):
    """A label as a screen reader sees it: Qt would leave out the text of one that has a name, such as "Notes"."""

    def __init__(self, label: QLabel) -> None:
        super().__init__(label, Role.StaticText)

    def text(self, kind: QAccessible.Text) -> str:
        label = self.object()  # Python may have forgotten the label, which its layout keeps
        if kind != Text.Name or not isinstance(label, QLabel):
            return super().text(kind)
        name, text = label.accessibleName(), label.text()
        if label.textFormat() != Qt.TextFormat.PlainText and _MARKUP.search(text):
            text = QTextDocumentFragment.fromHtml(_LOWERED.sub(r"_\1", text)).toPlainText()
        if not name or not text or ": " in name or text in name:
            return name or text
        return f"{name}: {text}"


def _delete(cell: _Cell) -> None:
    """Take a cell from Qt's list of interfaces, which deletes it; the platform may know it by its number."""
    QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(cell))


def _make_interface(_: str, of: Any) -> Element:
    """Return the interface of a widget with cells, of a label, or of a widget that says its role as ``spoken_role``;
    None lets Qt make its own."""
    if isinstance(of, HasCells):
        return _Cells(of, of.cells_role)
    if isinstance(of, QLabel):
        return _Label(of)
    role = getattr(of, "spoken_role", None)
    return QAccessibleWidget(of, role) if role is not None else None


def install_interfaces() -> None:
    """Let screen readers see cells and labels as described here; the application must exist.

    Qt asks the factory first that was installed last: one installed before the application's own is not asked for
    labels.
    """
    if not _installed:
        _installed.append(_make_interface)
        QAccessible.installFactory(_make_interface)


_installed: list[object] = []
