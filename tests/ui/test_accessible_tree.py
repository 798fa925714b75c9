"""The accessible tree of every view: whatever a person can act on has a name, and painted maps have cells.

The views are those of the gallery (``tools/gallery.py``), so that a new view is drawn there and listened to here.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from attnlab.ui.base.cells import HasCells
from attnlab.ui.playground.canvas_card import CanvasCard
from tests.ears import NAME
from tests.ui.alike import ALIKE
from tests.ui.reach import LEFT_OUT, find_out_of_reach
from tools.gallery import list_views
from tools.gallery_window import View, list_others, settle

if TYPE_CHECKING:
    from tests.ui.conftest import Person

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
QUICK = ("state-causal", "popup-masks", "lens-positions", "lessons-walk", "dialog-export", "lessons-question")
VIEWS = {view.name: view for view in list_views() if view.name not in ALIKE}


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


def show(view: View, person: "Person") -> None:
    view.prepare(person.playground, person.window)
    person.settle()
    view.open(person.playground, person.window)
    settle(person.window)
    QApplication.processEvents()


def leave(person: "Person") -> None:
    """Close what a view opened, and what the window itself would not."""
    for other in list_others(person.window):
        other.close()
    if person.window.lessons is not None:
        person.window.lessons.close()
    person.playground.comparison.pin(None)
    person.document.show(alone=None, at=None, step=None, head=0)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in VIEWS])
def test_everything_to_act_on_has_a_name_and_is_reached_by_tab(
    name: str, sit_down: Callable[..., "Person"], listening: None, short_runs: None
) -> None:
    view = VIEWS[name]
    person = sit_down(view.preset, remember=view.remember)
    show(view, person)
    tops = [person.window, *list_others(person.window)]
    nameless = [each for top in tops for each in find_nameless(top)]
    without = [each for top in tops for each in find_without_cells(top)]
    silent = [each for top in tops for each in find_silent(top)]
    missed = [] if name.startswith(LEFT_OUT) else find_out_of_reach(tops[-1], person)
    leave(person)
    assert not nameless, "\n".join(nameless)
    assert not without, "\n".join(without)
    assert not silent, "\n".join(silent)
    assert not missed, "\n".join(["Tab does not reach:", *missed])
