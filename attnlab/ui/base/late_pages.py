"""The application's style sheet: replaced for what is shown, and for pages put to rest when they are shown again.

Qt restyles every widget of a program for a new style sheet. Once all lenses and workspaces were opened, two widgets of
three lie on pages that are hidden, and the window would stand still for them.
"""

from collections.abc import Iterator
from weakref import WeakSet

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from attnlab.ui.base.guard import guarded

_STYLED = Qt.WidgetAttribute.WA_WState_Polished  # a new style passes over widgets without it
_resting: WeakSet[QWidget] = WeakSet()
_late: WeakSet[QWidget] = WeakSet()
_waking: set[QWidget] = set()


def rest(page: QWidget) -> None:
    """Leave a page that is hidden as it is when the style sheet is replaced, until it is woken."""
    _resting.add(page)


def wake(page: QWidget) -> None:
    """Give a page that is about to be shown the current style sheet, except for pages at rest inside it."""
    _resting.discard(page)
    if page not in _late:
        return
    _late.discard(page)
    style = page.style()
    waiting = [each for each in _list_widgets(page) if not each.testAttribute(_STYLED)]
    for each in waiting:
        style.unpolish(each)
        style.polish(each)
        each.setAttribute(_STYLED)
    _waking.update(waiting)
    for each in waiting:
        QApplication.sendEvent(each, QEvent(QEvent.Type.StyleChange))
    _waking.clear()


def is_waking(widget: QWidget) -> bool:
    """Return whether a widget is being given the style sheet, which drops the fonts that it had set itself."""
    return widget in _waking


def replace_sheet(app: QApplication, sheet: str) -> None:
    """Replace the style sheet; remove the old one first, or Qt would restyle each widget once per ancestor."""
    waiting: set[QWidget] = set()
    for page in filter(isValid, _resting):
        waiting.update(_list_widgets(page))
        _late.add(page)
    for each in waiting:
        each.setAttribute(_STYLED, False)
    quiet = _WithoutStyleChange(waiting)
    app.installEventFilter(quiet)
    if app.styleSheet():
        app.setStyleSheet("")
    quiet.is_replacing = True
    app.setStyleSheet(sheet)
    app.removeEventFilter(quiet)


def _list_widgets(page: QWidget) -> Iterator[QWidget]:
    """Return a page and the widgets on it, without late pages inside it and without windows, such as dialogs."""
    yield page
    for child in page.children():
        if isinstance(child, QWidget) and child not in _late and not child.isWindow():
            yield from _list_widgets(child)


@guarded
class _WithoutStyleChange(QObject):
    """Blocks changes of style: all while there is no style sheet, else those of waiting widgets.

    Without it everything would be laid out twice.
    """

    def __init__(self, waiting: set[QWidget]) -> None:
        super().__init__()
        self._waiting = waiting
        self.is_replacing = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return event.type() == QEvent.Type.StyleChange and (not self.is_replacing or watched in self._waiting)
