"""A page that is hidden while the theme or the size of type changes follows when it is shown."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from attnlab.ui.base.theme import font
from attnlab.ui.base.themed import FollowsTheme

if TYPE_CHECKING:
    from tests.ui.conftest import Person


class Restyled(FollowsTheme, QWidget):
    """Counts how often it was restyled."""

    times = 0

    def restyle(self) -> None:
        self.times += 1


class Headed(FollowsTheme, QWidget):
    """Has a title with a font of a role."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.title = QLabel("Title", self)

    def restyle(self) -> None:
        self.title.setFont(font("caption_strong"))


class Changes(QObject):
    """Counts the changes of style of a widget."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__(watched)
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.StyleChange
        return False


def caption_of(page: QWidget) -> QLabel:
    """Return a label with a font size of the style sheet: 11 pixels at 100 %."""
    return next(each for each in page.findChildren(QLabel) if each.font().pixelSize() == 11)


def test_a_hidden_lens_is_restyled_once_when_it_is_shown(person: "Person") -> None:
    area = person.playground.lenses
    area.open_lens("contributions")
    person.settle()
    lens = area.stack.currentWidget()
    assert lens is not None
    caption, inside = caption_of(lens), Restyled(lens)
    inside.show()
    area.open_lens("canvas")
    person.settle()
    changes = Changes(caption)
    person.window.change_settings(type_size=150)
    person.window.change_settings(type_size=200)
    person.settle()
    assert (changes.count, inside.times) == (0, 1)
    area.open_lens("contributions")
    person.settle()
    assert (changes.count, inside.times) == (1, 2)
    assert caption.font().pixelSize() == 22


def read_look(window: QWidget) -> list[tuple[str, int, QSize, QSize]]:
    """Return the text, font size, size and preferred size of each visible button of a window."""
    shown = [each for each in window.findChildren(QAbstractButton) if each.isVisible()]
    return [(each.text(), each.font().pixelSize(), each.size(), each.sizeHint()) for each in shown]


@pytest.mark.parametrize("place", ["lessons", "train", "models"])
def test_a_hidden_workspace_looks_as_if_it_had_been_shown_all_the_time(person: "Person", place: str) -> None:
    window = person.window
    window.show_workspace(place)
    person.settle()
    window.show_workspace("playground")
    window.change_settings(theme="dark", type_size=150)
    window.show_workspace(place)
    person.settle()
    found = read_look(window)
    assert found
    window.change_settings(theme="light", type_size=100)
    person.settle()
    window.change_settings(theme="dark", type_size=150)
    person.wait_for(lambda: read_look(window) == found)


def test_fonts_that_a_page_sets_last_where_the_size_is_back_when_it_is_shown(person: "Person") -> None:
    area = person.playground.lenses
    area.open_lens("contributions")
    person.settle()
    titled = Headed(area.stack.currentWidget())
    titled.show()
    person.window.change_settings(type_size=150)
    person.settle()
    area.open_lens("canvas")
    for size in (100, 150):
        person.window.change_settings(type_size=size)
    area.open_lens("contributions")
    assert (titled.title.font().weight(), titled.title.font().pixelSize()) == (QFont.Weight.DemiBold, 17)


def test_a_lens_of_a_hidden_workspace_follows_with_it(person: "Person") -> None:
    area, window = person.playground.lenses, person.window
    area.open_lens("contributions")
    person.settle()
    lens = area.stack.currentWidget()
    assert lens is not None
    caption = caption_of(lens)
    window.show_workspace("train")
    window.change_settings(type_size=200)
    person.settle()
    window.show_workspace("playground")
    person.settle()
    assert caption.font().pixelSize() == 22


def test_the_window_of_a_hidden_page_follows_at_once(person: "Person") -> None:
    person.window.show_workspace("train")
    person.settle()
    page = person.playground.step_bar
    assert not page.isVisible()
    dialog = Restyled(page)
    dialog.setWindowFlag(dialog.windowFlags().Window)
    dialog.show()
    before = dialog.times
    person.window.change_settings(theme="dark")
    person.settle()
    assert dialog.times == before + 1
    dialog.close()
    dialog.deleteLater()
