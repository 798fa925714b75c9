"""Every view of the gallery, opened once: nothing is cut, covered or lost, and all of it can be heard and reached.

The views are those of ``tools/gallery.py``, so that a new view is drawn there, and measured and listened to here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QListWidget,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from attnlab.document.settings import Settings
from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.widgets.formula_items import FormulaChoice, FormulaItems
from tests.quick import slow_but
from tests.ui.alike import ALIKE
from tests.ui.hearing_faults import find_nameless, find_silent, find_without_cells
from tests.ui.layout_faults import find_layout_faults
from tests.ui.reach import LEFT_OUT, find_out_of_reach
from tools import gallery
from tools.gallery_window import Variant, View, do_nothing, list_others, show

if TYPE_CHECKING:
    from tests.ui.conftest import Person

USUAL, SMALL = Variant((1366, 768), 100, "light"), Variant((1024, 640), 175, "light")
VIEWS = {view.name: view for view in gallery.list_views() if view.name not in ALIKE}
QUICK = ("state-causal", "popup-masks", "lens-positions", "lessons-walk", "dialog-export", "lessons-question")


@pytest.mark.parametrize("name", slow_but(QUICK, VIEWS))
def test_every_view_can_be_read_heard_and_reached_by_tab(
    name: str, sit_down: Callable[..., "Person"], listening: None, short_runs: None
) -> None:
    view = VIEWS[name]
    settings = Settings(theme=USUAL.theme, reduced_motion=True)
    person = sit_down(view.preset, remember=view.remember, size=USUAL.size, settings=settings)
    view.prepare(person.playground, person.window)
    check_layout(view, person, USUAL)
    tops = [person.window, *list_others(person.window)]
    finders = (find_nameless, find_without_cells, find_silent)
    unheard = [fault for top in tops for find in finders for fault in find(top)]
    assert not unheard, "\n".join(["A screen reader does not tell:", *unheard])
    missed = [] if name.startswith(LEFT_OUT) else find_out_of_reach(tops[-1], person)
    assert not missed, "\n".join(["Tab does not reach:", *missed])
    check_layout(view, person, SMALL)
    if view.open is do_nothing and name in QUICK:  # back to the first size: a look at some views is enough
        check_layout(view, person, USUAL)
    leave(person)


def check_layout(view: View, person: "Person", variant: Variant) -> None:
    """Show a view in a variant and look for faults of its layout."""
    top = show(view, person.window, variant)
    top.grab()  # which lays out what was asked for
    faults = find_layout_faults(top)
    if isinstance(top, QDialog):
        faults += _find_too_large(top, person.window)
    assert faults == [], f"{view.name} at {variant.name}"


def _find_too_large(dialog: QDialog, window: QWidget) -> list[str]:
    if dialog.width() <= window.width() and dialog.height() <= window.height():
        return []
    return [f"{dialog.windowTitle()!r} is larger than its window: {dialog.width()} × {dialog.height()} px"]


def leave(person: "Person") -> None:
    """Close what a view opened, and what the window itself would not."""
    for other in list_others(person.window):
        other.close()
    if person.window.lessons is not None:
        person.window.lessons.close()
    person.playground.comparison.pin(None)
    person.document.show(alone=None, at=None, step=None, head=0)


# The search itself: each kind of fault is found, and none where there is none


Items = QComboBox | QListWidget


def make_list(page: QWidget) -> QListWidget:
    items = QListWidget(page)
    items.setItemDelegate(FormulaItems(items))
    return items


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(300, 200)
    page.show()
    return page


def _add_label(page: QWidget, text: str, place: QRect) -> QLabel:
    label = QLabel(text, page)
    label.setGeometry(place)
    label.show()
    return label


def test_texts_that_are_cut_are_found(page: QWidget) -> None:
    label = _add_label(page, "A sentence that is longer than its label", QRect(0, 0, 60, 20))
    assert ["is cut by" in fault for fault in find_layout_faults(page)] == [True]
    label.setToolTip("A sentence that is longer than its label")
    assert find_layout_faults(page) == []
    label.setToolTip("")
    label.setWordWrap(True)
    assert len(find_layout_faults(page)) == 1  # there is one line for many
    label.setGeometry(0, 0, 60, 150)
    assert find_layout_faults(page) == []
    button = QPushButton("A button that is too narrow", page)
    button.setGeometry(100, 0, 40, 30)
    button.show()
    assert [fault.split("'")[1] for fault in find_layout_faults(page)] == ["A button that is too narrow"]


def test_indices_that_are_not_lowered_are_found(page: QWidget) -> None:
    label = _add_label(page, "W_q and d_k of the_cat", QRect(0, 0, 250, 20))
    assert [" not lowered: 'W_q" in fault for fault in find_layout_faults(page)] == [True]
    label.setText("the_cat")
    assert find_layout_faults(page) == []


def test_prose_with_indices_that_are_not_lowered_is_found(page: QWidget) -> None:
    label = MarkdownLabel(page)
    label.resize(280, 150)
    label.show()
    label.show_markdown("Of W_q, √d_k and `W_q` in code")
    assert find_layout_faults(page) == []
    assert label.words == "Of W_q, √d_k and W_q in code"
    label.setText("Of <b>W_q</b>")
    assert [" not lowered: 'Of W_q" in fault for fault in find_layout_faults(page)] == [True]


@pytest.mark.parametrize(("plain", "lowered"), [(QComboBox, FormulaChoice), (QListWidget, make_list)])
def test_items_with_indices_that_are_not_lowered_are_found(
    page: QWidget, plain: Callable[[QWidget], Items], lowered: Callable[[QWidget], Items]
) -> None:
    for make, found in ((plain, [True]), (lowered, [])):
        items = make(page)
        items.addItems(["the_list", "Output W_o"])
        items.resize(280, 100)
        items.show()
        assert [" not lowered: 'Output W_o" in fault for fault in find_layout_faults(page)] == found
        items.clear()
        items.addItems(["the_list", "Output"])
        assert find_layout_faults(page) == []
        items.hide()


def test_parts_that_overlap_or_lie_outside_are_found(page: QWidget) -> None:
    one, other = _add_label(page, "one", QRect(0, 0, 90, 30)), _add_label(page, "other", QRect(100, 0, 90, 30))
    assert find_layout_faults(page) == []
    other.move(80, 0)
    assert [fault.split(" by ")[1] for fault in find_layout_faults(page)] == ["10 × 30 px"]
    other.move(250, 0)
    assert [" lies outside " in fault for fault in find_layout_faults(page)] == [True]
    other.hide()
    one.move(-20, 0)
    assert [" lies outside " in fault for fault in find_layout_faults(page)] == [True]


def test_what_a_scroll_area_hides_without_a_scroll_bar_is_found(page: QWidget) -> None:
    area, inside = QScrollArea(), QWidget()
    column = QVBoxLayout(page)
    column.addWidget(area)
    inside.setFixedSize(600, 900)
    area.setWidget(inside)
    area.show()
    QApplication.processEvents()
    assert find_layout_faults(page) == []
    area.setHorizontalScrollBarPolicy(area.horizontalScrollBarPolicy().ScrollBarAlwaysOff)
    QApplication.processEvents()
    assert [" wider than its scroll area" in fault for fault in find_layout_faults(page)] == [True]
