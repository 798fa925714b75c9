"""Every view of the gallery in a small window with large type, and in a usual one: nothing is cut, covered or lost."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.app.main_window import MainWindow
from tests.ui.alike import ALIKE
from tests.ui.layout_faults import find_layout_faults
from tools import gallery
from tools.gallery_window import Variant, View, close, do_nothing, open_view, show

USUAL, SMALL = Variant((1366, 768), 100, "light"), Variant((1024, 640), 175, "light")
VIEWS = {view.name: view for view in gallery.list_views() if view.name not in ALIKE}


@pytest.fixture
def open_gallery(open_window: Callable[..., MainWindow], short_runs: None) -> Iterator[Callable[[View], MainWindow]]:
    """Open views as the gallery does; the fixture of windows restores the theme afterwards."""
    windows: list[MainWindow] = []

    def make(view: View) -> MainWindow:
        windows.append(open_view(view, USUAL))
        return windows[-1]

    yield make
    while windows:
        close(windows.pop())


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWS)
def test_no_view_has_texts_that_are_cut_or_parts_that_overlap(
    open_gallery: Callable[[View], MainWindow], name: str
) -> None:
    view = VIEWS[name]
    window = open_gallery(view)
    for variant in (USUAL, SMALL) if view.open is not do_nothing else (USUAL, SMALL, USUAL):
        top = show(view, window, variant)
        top.grab()  # which lays out what was asked for
        faults = find_layout_faults(top)
        if isinstance(top, QDialog):
            faults += _find_too_large(top, window)
        assert faults == [], f"{name} at {variant.name}"


def _find_too_large(dialog: QDialog, window: MainWindow) -> list[str]:
    if dialog.width() <= window.width() and dialog.height() <= window.height():
        return []
    return [f"{dialog.windowTitle()!r} is larger than its window: {dialog.width()} × {dialog.height()} px"]


# The search itself: each kind of fault is found, and none where there is none


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
