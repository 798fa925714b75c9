"""Moves a part of a window in the Tab order."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def move_tab_stops(part: QWidget, after: QWidget) -> None:
    """Make Tab reach everything in a part of a window right after another widget.

    Qt appends new widgets to the end of the window. It moves a widget with all that it holds only if its focus proxy is
    inside it, so the part gets such a proxy meanwhile, which would take its focus if it had it. Walking the chain
    instead would make wrappers of Qt’s own widgets, which outlive them.
    """
    policy, proxy = part.focusPolicy(), QWidget(part)
    part.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # without it nothing is moved
    part.setFocusProxy(proxy)
    QWidget.setTabOrder(after, part)
    part.setFocusProxy(None)  # type: ignore[arg-type]
    part.setFocusPolicy(policy)
    proxy.setParent(None)
    proxy.deleteLater()
