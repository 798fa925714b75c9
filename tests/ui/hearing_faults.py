"""Finds what a screen reader would not tell: controls without a name, maps without cells, labels that are not read."""

from collections.abc import Iterator

from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.ui.base.cells import HasCells
from attnlab.ui.playground.canvas_card import CanvasCard
from tests.ears import NAME

Role = QAccessible.Role
ACTIONABLE = {
    *(Role.Button, Role.ButtonDropDown, Role.ButtonMenu, Role.CheckBox, Role.RadioButton, Role.ComboBox, Role.Link),
    *(Role.EditableText, Role.Slider, Role.SpinBox, Role.Dial, Role.PageTab, Role.MenuItem, Role.ScrollBar),
    *(Role.List, Role.ListItem, Role.Table, Role.Tree, Role.TreeItem, Role.Cell, Role.Graphic, Role.Chart),
}
INSIDE = {Role.SpinBox: {Role.EditableText}, Role.ComboBox: {Role.EditableText, Role.List, Role.ListItem}}
"""Parts that Qt makes inside others, whose names the reader says."""
FEW = 40
"""Of more cells than this, only the first and last are looked at."""


def children(of: QAccessibleInterface) -> Iterator[QAccessibleInterface]:
    count = of.childCount()
    places = range(count) if count <= FEW else [*range(FEW // 2), *range(count - FEW // 2, count)]
    for place in places:
        child = of.child(place)
        if child is not None and child.isValid():
            yield child


def walk(of: QAccessibleInterface, path: str = "") -> Iterator[tuple[str, QAccessibleInterface, QAccessible.Role]]:
    """Yield each visible element inside with the path to it, and its parent's role."""
    here = f"{path}/{of.role().name} {of.text(NAME)[:40]!r}"
    for child in children(of):
        if not child.state().invisible:
            yield here, child, of.role()
            yield from walk(child, here)


def find_nameless(top: QWidget) -> list[str]:
    element = QAccessible.queryAccessibleInterface(top)
    assert element is not None
    found = []
    for path, each, above in walk(element):
        role, state = each.role(), each.state()
        inside = role in INSIDE.get(above, ())
        acts = role in ACTIONABLE or (state.focusable and role not in (Role.Window, Role.Pane))
        if acts and not inside and not each.text(NAME).strip() and role != Role.ScrollBar:
            owner = each.object()
            found.append(f"{role.name} of {type(owner).__name__} {owner.objectName() if owner else ''!r} in {path}")
    return found


def find_without_cells(top: QWidget) -> list[str]:
    """Return the painted maps and lists without children, although they show something."""
    found = []
    for widget in [top, *top.findChildren(QWidget)]:
        if not isinstance(widget, HasCells) or not widget.isVisible():
            continue
        if isinstance(widget, CanvasCard) and (widget.folded or widget.data is None):
            continue  # its name says so
        element = QAccessible.queryAccessibleInterface(widget)
        if not widget.count_cells() and ":" not in widget.accessibleName():  # or it says what there is instead
            found.append(f"{type(widget).__name__} {widget.accessibleName()!r} is empty")
        elif element.childCount() < widget.count_cells():
            found.append(f"{type(widget).__name__} {widget.accessibleName()!r}")
        elif widget.count_cells() and not element.child(widget.count_cells() - 1).text(NAME):
            found.append(f"the last cell of {type(widget).__name__}")
    return found


def find_silent(top: QWidget) -> list[str]:
    """Return the labels whose text a screen reader would not say, because they have a name instead."""
    silent = []
    for label in top.findChildren(QLabel):
        text = label.text()
        if not label.isVisible() or not label.accessibleName() or not text or "<" in text:
            continue
        said = QAccessible.queryAccessibleInterface(label).text(NAME)
        if text not in said and not label.accessibleName().partition(": ")[2]:
            silent.append(f"{said!r} for {text!r}")
    return silent
