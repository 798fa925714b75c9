"""A layout of one row: widgets without room have no size and no focus; a last widget, which then has, lists them."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QLayoutItem, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.layouts.items_layout import ItemsLayout


@guarded
class OverflowRow(FlowLayout):
    """Lays out its widgets in one row, in their least widths if they need it.

    It hides none: to show a widget in the middle of a layout lays out its window again, before the rest has its place.
    ``heightForWidth`` is that of as many rows as all of them would need, so that a layout around this one can tell
    whether they fit.
    """

    left_out_changed = Signal()

    def __init__(self, parent: QWidget | None = None, gap: int = 8) -> None:
        super().__init__(parent, gap, shrinks=True)
        self._more: QWidget | None = None
        self._first_out: tuple[QWidget, ...] = ()
        self._absent: set[QWidget] = set()
        self.left_out: tuple[QWidget, ...] = ()
        """The widgets without room, in the order of the row."""

    def set_more(self, more: QWidget, first_out: Sequence[QWidget]) -> None:
        """Set the widget that lists those without room, and which lose their place, the first one first."""
        self._more, self._first_out = more, tuple(first_out)
        self.addWidget(more)

    def set_present(self, widget: QWidget, present: bool) -> None:
        """Set whether a widget is in the row at all; use this in place of ``setVisible``."""
        if present == (widget not in self._absent):
            return
        (self._absent.discard if present else self._absent.add)(widget)
        widget.setVisible(present)
        self.invalidate()

    def _list_shown(self) -> list[QLayoutItem]:
        """Return the items of the widgets that are in the row or would be, if there were room."""
        return [item for item in self._items if item.widget() not in (*self._absent, self._more)]

    def _leave_out(self, width: int) -> tuple[QWidget, ...]:
        """Return the widgets that have no room in a width."""
        shown = self._list_shown()
        present = [item.widget() for item in shown]
        more = [item for item in self._items if item.widget() is self._more]
        out: list[QWidget] = []
        for widget in (None, *(each for each in self._first_out if each in present)):
            if widget is not None:
                out.append(widget)
            kept = [item for item in shown if item.widget() not in out] + (more if out else [])
            if self._is_one_row(kept, width):
                break
        return tuple(each for each in present if each in out)

    def _is_one_row(self, items: list[QLayoutItem], width: int) -> bool:
        return sum(place.x() == 0 for _, place in self._flow_items(items, width)) <= 1

    def setGeometry(self, rect: QRect) -> None:
        ItemsLayout.setGeometry(self, rect)
        before, self.left_out = self.left_out, self._leave_out(rect.width())
        kept = []
        for item in self._items:
            widget = item.widget()
            assert widget is not None
            seen = bool(self.left_out) if widget is self._more else widget not in (*self._absent, *self.left_out)
            if seen:
                kept.append(item)
            elif self._more is not None and widget.hasFocus():
                self._more.setFocus()
            if not seen:
                widget.setGeometry(QRect())
            if widget in (*self._first_out, self._more):
                widget.setFocusPolicy(Qt.FocusPolicy.TabFocus if seen else Qt.FocusPolicy.NoFocus)
        for item, place in self._flow_items(kept, rect.width()):
            item.setGeometry(place.translated(rect.topLeft()))
        if self.left_out != before:
            self.left_out_changed.emit()
