"""One list of actions provides shortcuts, menus, tips and the palette; the palette finds the intended one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListView, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from attnlab.figures.palette import DARK
from attnlab.ui.app.command_list import search
from attnlab.ui.app.command_palette import CommandPalette
from attnlab.ui.base.actions import Action, ActionList, Context
from attnlab.ui.base.fuzzy import close, match
from attnlab.ui.base.themed import dress

Key, Button = Qt.Key, Qt.MouseButton


NOTHING = Context.of(None)


class Program:
    """A window with a few actions, a field and a button."""

    def __init__(self, qtbot: QtBot) -> None:
        self.did: list[str] = []
        self.can_undo = False
        self.causal = False
        self.window = QWidget()
        self.window.resize(800, 600)
        self.field = QLineEdit("text", self.window)
        self.field.setGeometry(10, 500, 200, 30)
        self.button = QPushButton("Press", self.window)
        self.button.setGeometry(10, 550, 100, 30)
        me, did = Context.of(self), self._did
        self.actions = ActionList(
            [
                Action(
                    "undo",
                    "Undo",
                    "Edit",
                    me,
                    did("undo"),
                    ("Ctrl+Z",),
                    lambda p: p.can_undo,
                    title_now=lambda _: "Undo drag W_q",
                ),
                Action("open", "Open a file…", "File", me, did("open"), ("Ctrl+O",)),
                Action("export", "Export a picture…", "File", me, did("export"), ("Ctrl+E",), hint="Save what you see"),
                Action("causal", "Causal mask", "Layer", me, Program.flip, checked=lambda p: p.causal),
                Action("mask", "Mask…", "Layer", me, did("mask"), parts=lambda _: ("Window", "Masked scores (fill)")),
                Action("present", "Present", "View", me, did("present"), ("F5",)),
                Action("r&d", "Rock & roll", "View", me, did("roll")),
                Action("secret", "Secret", "View", me, did("secret"), in_palette=False),
            ],
            self.window,
        )
        self.palette = CommandPalette(self.actions, self.window)
        dress(self.palette, DARK)
        qtbot.addWidget(self.window)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)
        self.field.setFocus()

    def _did(self, what: str) -> Callable[["Program"], None]:
        return lambda program: program.did.append(what)

    def flip(self) -> None:
        self.causal = not self.causal

    def search_field(self) -> QLineEdit:
        return self.palette.findChildren(QLineEdit)[0]

    def type(self, text: str) -> None:
        QTest.keyClicks(self.search_field(), text)

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.search_field(), key)

    def titles(self) -> list[str]:
        return [found.title for found in self.palette.list_found()]


@pytest.fixture
def program(qtbot: QtBot) -> Program:
    return Program(qtbot)


def test_a_shortcut_runs_the_action(program: Program) -> None:
    QTest.keyClick(program.button, Key.Key_F5)
    assert program.did == ["present"]


def test_a_disabled_action_does_nothing(program: Program) -> None:
    program.button.setFocus()
    assert not program.actions["undo"].isEnabled()
    assert not program.actions.run("undo")
    QTest.keyClick(program.button, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    program.can_undo = True
    program.actions.refresh()
    QTest.keyClick(program.button, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert program.did == ["undo"]


def test_a_check_mark_shows_the_state_and_not_the_click(program: Program) -> None:
    action = program.actions["causal"]
    assert action.isCheckable()
    assert not action.isChecked()
    action.trigger()
    assert program.causal
    assert action.isChecked()
    program.causal = False
    program.actions.refresh()
    assert not action.isChecked()


def test_menus_and_tool_tips_use_the_same_list(program: Program) -> None:
    menu = program.actions.menu(QMenu(program.window), "File", "View")
    assert [a.text() for a in menu.actions()] == [
        "Open a file…",
        "Export a picture…",
        "",
        "Present",
        "Rock && roll",
        "Secret",
    ]
    assert program.actions["export"].toolTip() == "Save what you see  (Ctrl+E)"
    assert program.actions["r&d"].toolTip() == "Rock & roll"


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        (Action("open", "Again", "File", NOTHING, print), "id 'open'"),
        (Action("other", "Other", "File", NOTHING, print, ("Ctrl+O",)), "other and open share the shortcut Ctrl\\+O"),
        (Action("other", "Other", "File", NOTHING, print, ("Ctrl+Nonsense",)), "no shortcut"),
    ],
)
def test_a_duplicate_shortcut_is_refused(program: Program, extra: Action, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        program.actions.add(extra)


def test_typing_a_few_letters_and_enter_runs_the_action(program: Program) -> None:
    program.palette.open()
    assert program.search_field().hasFocus()
    program.type("expi")
    assert program.titles() == ["Export a picture…"]
    program.press(Key.Key_Return)
    assert program.did == ["export"]
    assert not program.palette.isVisible()
    assert program.field.hasFocus()


def test_arrows_skip_disabled_actions(program: Program) -> None:
    program.palette.open()
    assert program.titles()[-1] == "Undo drag W_q"  # it cannot be done just now
    assert "Secret" not in program.titles()
    assert program.palette.current() == "open"
    program.press(Key.Key_Down)
    assert program.palette.current() == "export"
    program.press(Key.Key_Up)
    program.press(Key.Key_Up)
    assert program.palette.current() == "r&d"  # round the end, past the grey one
    program.press(Key.Key_Return)
    assert program.did == ["roll"]


def test_escape_and_a_click_elsewhere_close_the_palette(program: Program) -> None:
    program.palette.open()
    program.press(Key.Key_Escape)
    assert not program.palette.isVisible()
    program.palette.open()
    QTest.mouseClick(program.button, Button.LeftButton)
    assert not program.palette.isVisible()
    assert program.did == []


@pytest.mark.parametrize("close", ["escape", "choose", "click"])
def test_the_palette_closes_when_the_previous_focus_widget_is_deleted(program: Program, close: str) -> None:
    """This happens to a field of a lesson's step when the lesson continues."""
    program.palette.open()
    program.field.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not isValid(program.field)
    if close == "escape":
        program.press(Key.Key_Escape)
    elif close == "choose":
        program.type("open")
        program.press(Key.Key_Return)
        assert program.did == ["open"]
    else:
        QTest.mouseClick(program.button, Qt.MouseButton.LeftButton)
    assert not program.palette.isVisible()
    assert program.search_field().hasFocus() is False
    QTest.keyClick(program.window, Key.Key_F5)
    assert program.did[-1] == "present"


def test_opening_the_palette_again_closes_it(program: Program) -> None:
    program.palette.open()
    program.palette.open()
    assert not program.palette.isVisible()


def test_the_mouse_chooses_an_action(program: Program) -> None:
    program.palette.open()
    view = program.palette.findChildren(QListView)[0]
    model = view.model()
    QTest.mouseClick(view.viewport(), Button.LeftButton, pos=view.visualRect(model.index(1, 0)).center())
    assert program.did == ["export"]
    program.palette.open()
    last = view.visualRect(model.index(model.rowCount() - 1, 0)).center()
    QTest.mouseClick(view.viewport(), Button.LeftButton, pos=last)
    assert program.did == ["export"]  # the grey one does nothing
    assert program.palette.isVisible()
    program.palette.close_palette()


def move_mouse(view: QWidget, at: QPoint) -> None:
    there = QPointF(view.mapToGlobal(at))
    move = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(at), there, Button.NoButton, Button.NoButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(view, move)


def test_a_resting_mouse_does_not_change_the_selection(program: Program) -> None:
    for number in range(30):
        program.actions.add(Action(f"line{number}", f"Line {number}", "Lines", NOTHING, print))
    program.palette.open("line")
    view = program.palette.findChildren(QListView)[0]
    third = view.visualRect(view.model().index(2, 0)).center()
    move_mouse(view.viewport(), third)
    assert program.palette.current() == "line2"  # it moved there
    for number in range(3, 25):
        program.press(Key.Key_Down)
        move_mouse(view.viewport(), third)  # which some platforms tell of what scrolls by under it
        assert program.palette.current() == f"line{number}"
    assert view.verticalScrollBar().value() > 0
    move_mouse(view.viewport(), third + QPoint(1, 0))
    assert program.palette.current() == f"line{view.indexAt(third).row()}"
    assert program.palette.current() != "line24"
    program.palette.close_palette()


def test_an_empty_result_is_reported(program: Program) -> None:
    program.palette.open("zzzz")
    assert program.titles() == []
    program.press(Key.Key_Return)
    assert program.palette.isVisible()
    program.palette.close_palette()


def test_the_palette_is_centred_at_the_top_and_follows_the_window(program: Program) -> None:
    program.palette.open()
    for width in (800, 500, 300):
        program.window.resize(width, 600)
        middle = program.palette.geometry().center()
        assert middle.x() == pytest.approx(width / 2, abs=2)
        assert program.window.rect().contains(QPoint(middle.x(), program.palette.y()))
        assert program.search_field().mapTo(program.window, QPoint()).x() > 0
    program.palette.close_palette()


def test_a_screen_reader_gets_title_section_shortcut_and_state(program: Program) -> None:
    program.palette.open("undo")
    model = program.palette.findChildren(QListView)[0].model()
    said = model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Undo drag W_q, Edit, Ctrl+Z, not available now"
    program.palette.close_palette()


def found(program: Program, query: str) -> list[str]:
    return [found.title for found in search(program.actions, query)]


def test_sections_can_be_searched(program: Program) -> None:
    assert found(program, "layer ca") == ["Causal mask"]
    assert found(program, "file") == ["Open a file…", "Export a picture…"]  # the title before the section


def test_other_words_find_an_action_after_those_that_have_them_in_their_title(program: Program) -> None:
    program.actions.add(Action("svg", "SVG of the page", "View", NOTHING, print))
    assert found(program, "svg") == ["SVG of the page", "Export a picture…"]
    assert found(program, "PNG") == ["Export a picture…"]
    assert found(program, "vg") == []
    assert found(program, "spread sheet") == []


def test_a_long_list_of_parts_is_not_listed_for_its_title(program: Program) -> None:
    letters = [chr(ord("a") + i) * 3 for i in range(26)] * 2
    program.actions.add(
        Action("many", "Open one of many…", "View", Context.of(program), print, parts=lambda _: letters, choose=print)
    )
    assert found(program, "many") == ["Open one of many…"]
    assert found(program, "many qqq") == ["Open one of many: qqq"] * 2


def test_scattered_letters_do_not_match(program: Program) -> None:
    program.actions.add(Action("latex", "Copy matrix as LaTeX", "File", NOTHING, print))
    assert found(program, "fill") == ["Mask: Masked scores (fill)"]
    assert "Copy matrix as LaTeX" not in found(program, "otri")
    assert found(program, "matlat") == ["Copy matrix as LaTeX"]


def test_entries_of_a_switch_are_found_by_name(program: Program) -> None:
    assert found(program, "mask") == ["Mask…", "Causal mask"]
    assert found(program, "masked scores") == ["Mask: Masked scores (fill)"]
    program.palette.open("fill")
    program.press(Key.Key_Return)
    assert program.did == ["mask"]


@pytest.mark.parametrize(
    ("query", "text", "meant"),
    [
        ("fill", "File copy matrix as LaTeX", True),  # each begins a word or follows
        ("fill", "Copy matrix as LaTeX", False),
        ("lyr", "Layer", True),  # letters of a word whose first was met
        ("ayr", "Layer", False),
        ("mask", "Unmasked", True),  # a piece of a word
        ("as", "Mask", False),
        ("cm", "Causal mask", True),
        ("osa", "Choose an eraser", False),
        ("", "Anything", True),
    ],
)
def test_scattered_letters_have_no_match(query: str, text: str, meant: bool) -> None:
    assert (close(query, text) is not None) is meant


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("sm", "Set mask", "Summary"),  # starts of words
        ("ex", "Export", "Next"),  # the start
        ("mask", "Causal mask", "Make a task"),  # in one run
        ("head", "Heads", "Choose the add-on"),
        ("pin", "Unpin the state", "Positions: none"),
        ("heads", "Heads: 1", "Heads: Soft cap"),
        ("dk", "d_k", "Dark theme of the desktop"),
    ],
)
def test_the_best_match_comes_first(query: str, better: str, worse: str) -> None:
    good, poor = match(query, better), match(query, worse)
    assert good is not None
    assert poor is None or good.score > poor.score


@given(st.text(max_size=30), st.data())
def test_matched_letters_form_the_query(text: str, data: st.DataObject) -> None:
    picked = data.draw(st.lists(st.integers(0, len(text) - 1), unique=True).map(sorted)) if text else []
    query = "".join(text[i] for i in picked)
    found = match(query, text)
    assert found is not None
    wanted = [c.lower() for c in query if not c.isspace()]
    assert [text[i].lower() for i in found.places] == wanted
    assert list(found.places) == sorted(set(found.places))


@given(st.text(min_size=1, max_size=8), st.text(max_size=12))
def test_without_a_match_the_query_is_no_subsequence(query: str, text: str) -> None:
    letters = iter(c.lower() for c in text)
    possible = all(c.lower() in letters for c in query if not c.isspace())
    assert (match(query, text) is not None) == possible
