"""Help in the rail: a guide that works offline, the keys as they are, first steps, lessons, a report and about."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListWidget, QMenu, QPlainTextEdit, QToolButton, QWidget

from attnlab import __version__
from attnlab.base import fault_log
from attnlab.lessons.library import list_lessons
from attnlab.lessons.titles import list_titles
from attnlab.ui.app.help_texts import read_topics
from attnlab.ui.app.help_window import HelpWindow

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow
    from tests.ui.conftest import Person

Key, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier


def menu_of(window: "MainWindow", name: str) -> QMenu:
    (button,) = (one for one in window.rail.findChildren(QToolButton) if one.text() == name)
    assert button.isVisible()
    menu = button.menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    return menu


def choose(window: "MainWindow", name: str, entry: str) -> None:
    """Choose an entry of a menu in the rail."""
    (action,) = (one for one in menu_of(window, name).actions() if one.text() == entry)
    action.trigger()


def help_window(window: "MainWindow") -> HelpWindow:
    (found,) = (one for one in window.findChildren(HelpWindow) if one.isVisible())
    return found


def search(person: "Person", query: str) -> list[str]:
    """Type into the palette and return its lines."""
    person.window.show_palette()
    field = person.find(QLineEdit, "Search the commands")
    field.selectAll()
    person.type(query)
    return [found.title for found in person.window.command_palette.list_found()]


def test_help_lists_what_a_newcomer_looks_for(person: "Person") -> None:
    entries = [one.text() for one in menu_of(person.window, "Help").actions() if not one.isSeparator()]
    assert entries == ["Guide", "Keys", "First steps", "Lessons…", "Report a problem…", "About attnlab"]


def test_the_guide_opens_with_f1_and_each_topic_can_be_read(person: "Person") -> None:
    person.key(Key.Key_F1)
    shown = help_window(person.window)
    topics = shown.findChild(QListWidget)
    assert topics is not None
    for topic in read_topics():
        topics.setCurrentRow([topics.item(i).text() for i in range(topics.count())].index(topic.title))
        text = shown.text.toPlainText()
        assert text.startswith(topic.title)
        assert "|" not in text, "a table is shown as a table"
        assert "**" not in text
        assert len(text) > 200
    person.key(Key.Key_Escape, widget=shown)
    assert not any(one.isVisible() for one in person.window.findChildren(HelpWindow))


def test_the_guide_opens_before_the_mathematics_is_loaded(
    open_window: Callable[..., "MainWindow"],
) -> None:
    window = open_window()
    choose(window, "Help", "Guide")
    assert help_window(window).text.toPlainText().startswith("The first minute")
    (lessons,) = (one for one in menu_of(window, "Help").actions() if one.text() == "Lessons…")
    assert not lessons.isEnabled()


def test_the_keys_are_those_of_the_actions(person: "Person") -> None:
    choose(person.window, "Help", "Keys")
    text = help_window(person.window).text.toPlainText()
    lines = text.splitlines()
    for action in person.window.actions_list:
        keys = ", ".join(person.window.actions_list.shortcut_texts(action.id))
        if keys:
            assert lines[lines.index(keys) + 1] == action.title.rstrip("…")
    assert "PageDown" in text


def test_a_second_entry_shows_the_same_window(person: "Person") -> None:
    choose(person.window, "Help", "Guide")
    first = help_window(person.window)
    choose(person.window, "Help", "About attnlab")
    assert help_window(person.window) is first
    assert first.topic == "About"
    assert f"attnlab {__version__}" in first.text.toPlainText()
    assert "SIL Open Font License" in first.text.toPlainText()


def test_a_report_copies_versions_and_the_log(
    person: "Person", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(tmp_path))
    choose(person.window, "Help", "Report a problem…")
    shown = help_window(person.window)
    assert "No error was logged." in shown.text.toPlainText()
    shown.close()
    fault_log.append(fault_log.ERRORS, "2026-11-23 something <b>odd</b>\n")
    choose(person.window, "Help", "Report a problem…")
    shown = help_window(person.window)
    log = person.find(QPlainTextEdit, "The end of the log of errors", shown)
    assert log.toPlainText() == "2026-11-23 something <b>odd</b>"
    person.click(shown.copy_button)
    copied = QGuiApplication.clipboard().text()
    assert f"attnlab {__version__}" in copied
    assert "something <b>odd</b>" in copied
    assert shown.copy_button.text() == "Copied"


@pytest.mark.parametrize(("size", "type_size"), [((1024, 640), 100), ((1024, 640), 175), ((1920, 1080), 250)])
def test_the_help_fits_into_its_window(person: "Person", size: tuple[int, int], type_size: int) -> None:
    person.window.resize(*size)
    person.window.change_settings(type_size=type_size)
    choose(person.window, "Help", "Report a problem…")
    shown = help_window(person.window)
    assert shown.width() <= size[0]
    assert shown.height() <= size[1]
    assert shown.text.horizontalScrollBar().maximum() == 0
    topics = shown.findChild(QListWidget)
    assert topics is not None
    if type_size < 250:
        assert topics.sizeHintForColumn(0) <= topics.viewport().width(), "no topic is cut"
    assert shown.report.height() == shown.report.sizeHint().height(), "without a log, the text takes the rest"
    for button in (shown.copy_button, shown.folder_button):
        assert shown.rect().contains(
            button.geometry().translated(button.parentWidget().mapTo(shown, button.rect().topLeft()))
        )


def test_settings_hold_themes_sizes_motion_and_memory(person: "Person") -> None:
    entries = [one.text() for one in menu_of(person.window, "Settings").actions()]
    assert {"Theme: dark", "Larger type", "Reduce motion", "Memory for undo: 2 GiB"} <= set(entries)
    choose(person.window, "Settings", "Reduce motion")
    assert person.window.settings.reduced_motion
    choose(person.window, "Settings", "Memory for undo: 2 GiB")
    assert person.window.settings.history_mib == 2048
    checked = {one.text() for one in menu_of(person.window, "Settings").actions() if one.isChecked()}
    assert checked == {"Theme: light", "Reduce motion", "Memory for undo: 2 GiB", "Memory for moments: 128 MiB"}
    choose(person.window, "Settings", "Reduce motion")


@pytest.mark.slow
def test_the_palette_finds_every_lesson_by_its_title(person: "Person") -> None:
    assert "Lessons: Positions" in search(person, "positions")
    person.window.command_palette.close_palette()
    assert [title for title in search(person, "lessons") if title.startswith("Lessons: ")] != []
    person.window.command_palette.close_palette()
    search(person, "lessons classic")
    person.key(Key.Key_Return)
    assert person.window.lessons is not None
    lesson = person.window.lessons.player.lesson
    assert lesson is not None
    assert lesson.name == "classic-mistakes"
    person.settle()


@pytest.mark.slow
def test_the_palette_finds_settings_and_topics_of_the_guide(person: "Person") -> None:
    found = search(person, "settings")
    assert {"Theme: dark", "Larger type", "Reduce motion"} <= set(found)
    person.window.command_palette.close_palette()
    search(person, "words and numbers")
    person.key(Key.Key_Return)
    assert help_window(person.window).topic == "Words and numbers"


def test_titles_are_those_of_the_lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(tmp_path))
    own = tmp_path / "lessons"
    own.mkdir()
    (own / "mine.md").write_text('---\ntitle: "My own: lesson"\n---\n\n## One\n\nText.\n', encoding="utf-8")
    (own / "broken.md").write_bytes(b"\xff\xfe")
    assert [each.title for each in list_titles()] == [each.title for each in list_lessons()]
    (own / "mine.md").unlink()
    assert "My own: lesson" not in [each.title for each in list_titles()]


@pytest.mark.parametrize(
    ("height", "type_size", "texts"),
    [(900, 100, "all"), (640, 100, "all"), (640, 175, "none"), (560, 250, "none"), (1080, 175, "of workspaces")],
)
def test_the_rail_hides_texts_before_it_clips_a_button(
    person: "Person", height: int, type_size: int, texts: str
) -> None:
    person.window.resize(1366, height)
    person.window.change_settings(type_size=type_size)
    QApplication.processEvents()  # lay out
    rail = person.window.rail
    buttons = sorted(rail.findChildren(QToolButton), key=lambda one: one.y())
    shown = [one for one in buttons if one.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextUnderIcon]
    assert set(shown) >= {one for one in buttons if texts == "all" or (texts == "of workspaces" and one.isCheckable())}
    assert not shown or texts != "none"
    ends = [0]
    for button in buttons:
        assert button.y() >= ends[-1], "two buttons overlap"
        ends.append(button.y() + button.height())
        assert button.accessibleName()
        if button in shown:
            room = button.width() - 4
            assert button.fontMetrics().horizontalAdvance(button.text()) <= room, f"{button.text()} is cut"
    assert ends[-1] <= rail.height()


def test_the_workspace_has_the_focus_first(person: "Person") -> None:
    first: QWidget | None = person.window.rail.nextInFocusChain()
    assert isinstance(first, QToolButton)
    assert first.text() == "Play"


def test_only_the_button_of_the_open_menu_is_grey(person: "Person") -> None:
    rail = person.window.rail
    plain = [button.grab().toImage() for button in (rail.help_button, rail.settings_button)]
    seen: list[list[bool]] = []

    def look() -> None:
        pressed = [button.isDown() for button in (rail.help_button, rail.settings_button)]
        seen.append([*pressed, *(button.menu().isVisible() for button in (rail.help_button, rail.settings_button))])

    def press_settings() -> None:
        look()
        QTimer.singleShot(0, rail.settings_button, leave)
        QTest.mouseClick(rail.settings_button, Qt.MouseButton.LeftButton)  # passed to it, so that it closes no menu

    def leave() -> None:
        look()
        QTest.keyClick(rail.settings_button.menu(), Key.Key_Escape)
        look()
        rail.help_button.menu().close()

    QTimer.singleShot(0, rail.help_button, press_settings)
    QTest.mouseClick(rail.help_button, Qt.MouseButton.LeftButton)
    person.wait_for(lambda: len(seen) == 3)
    assert seen == [[True, False] * 2, [False, True] * 2, [False, False] * 2]
    assert [button.grab().toImage() for button in (rail.help_button, rail.settings_button)] == plain


def test_settings_is_plain_again_once_a_theme_was_chosen_in_its_menu(person: "Person") -> None:
    button = person.window.rail.settings_button
    QCursor.setPos(person.window.mapToGlobal(person.window.rect().center()))
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)  # Qt leaves it so, as the button is restyled meanwhile

    def choose() -> None:
        assert button.underMouse()
        menu = button.menu()
        next(each for each in menu.actions() if each.text() == "Theme: dark").trigger()
        menu.close()

    QTimer.singleShot(0, button, choose)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    person.wait_for(lambda: not button.underMouse())
    assert person.window.settings.theme == "dark"
