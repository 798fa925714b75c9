"""Editing a sentence by its chips: selecting, typing, dragging, and by keyboard alone."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK, LIGHT, Palette, compute_contrast
from attnlab.ui.base.theme import text_on
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.tokens.token_chips import Chips, ChipTexts, eye_rect, visible
from attnlab.ui.widgets.tokens.token_strip import MOST_ROWS, TokenStrip
from tests.ui.widgets.token_owner import WORDS, Owner

Key, Button = Qt.Key, Qt.MouseButton


ALT, CTRL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def owner(qtbot: QtBot) -> Owner:
    return Owner(qtbot)


def test_a_click_selects(owner: Owner) -> None:
    owner.click(2)
    assert owner.said == [("clicked", 2)]
    assert owner.strip.current() == 2


def test_a_double_click_opens_the_word_and_enter_renames_it(owner: Owner) -> None:
    owner.double_click(1)
    assert owner.editor().isVisible()
    assert owner.editor().selectedText() == "journey"
    QTest.keyClicks(owner.editor(), "travel")
    QTest.keyClick(owner.editor(), Key.Key_Return)
    assert ("renamed", 1, "travel") in owner.said
    assert owner.strip.tokens()[1] == "travel"
    assert not owner.editor().isVisible()
    assert owner.strip.hasFocus()


def test_escape_keeps_the_old_word(owner: Owner) -> None:
    owner.key(Key.Key_F2)
    QTest.keyClicks(owner.editor(), "My")
    QTest.keyClick(owner.editor(), Key.Key_Escape)
    assert owner.said == []
    assert owner.strip.tokens() == WORDS


def test_leaving_the_field_renames_and_an_empty_word_is_valid(owner: Owner) -> None:
    owner.key(Key.Key_F2)
    QTest.keyClick(owner.editor(), Key.Key_Backspace)
    owner.after.setFocus()
    assert owner.said == [("renamed", 0, "")]


def test_typing_the_same_word_emits_no_edit(owner: Owner) -> None:
    owner.key(Key.Key_F2)
    QTest.keyClick(owner.editor(), Key.Key_Return)
    assert owner.said == []


def test_a_change_from_elsewhere_closes_the_field(owner: Owner) -> None:
    owner.key(Key.Key_F2)
    QTest.keyClicks(owner.editor(), "lost")
    owner.strip.set_tokens(("a", "b"))
    assert not owner.editor().isVisible()
    assert owner.said == []


def test_keys_select_move_duplicate_and_remove(owner: Owner) -> None:
    owner.key(Key.Key_Right)
    owner.key(Key.Key_Right, ALT)
    assert owner.said.pop() == ("moved", 1, 2)
    assert owner.strip.tokens()[:3] == ("Your", "starts", "journey")
    owner.key(Key.Key_Left, ALT)
    assert owner.said.pop() == ("moved", 2, 1)  # the keyboard went along with the word
    owner.key(Key.Key_D, CTRL)
    assert owner.said.pop() == ("duplicated", 1)
    assert owner.strip.tokens().count("journey") == 2
    owner.key(Key.Key_Delete)
    assert owner.said.pop() == ("removed", 1)
    assert owner.strip.tokens() == WORDS
    owner.key(Key.Key_End)
    assert owner.strip.current() == len(WORDS)
    owner.key(Key.Key_Home)
    assert owner.strip.current() == 0
    assert owner.stolen == 0  # the window has shortcuts of the same keys


def test_nothing_moves_beyond_the_ends(owner: Owner) -> None:
    owner.key(Key.Key_Left, ALT)
    owner.key(Key.Key_Left)
    owner.key(Key.Key_End)
    for key, modifiers in ((Key.Key_Right, Qt.KeyboardModifier.NoModifier), (Key.Key_Right, ALT), (Key.Key_D, CTRL)):
        owner.key(key, modifiers)
    owner.key(Key.Key_Delete)
    owner.key(Key.Key_F2)
    assert owner.said == []


def test_up_and_down_go_to_the_row_above_and_below(owner: Owner) -> None:
    owner.key(Key.Key_Down)
    below = owner.strip.chip_rect(owner.strip.current())
    assert below.top() > owner.strip.chip_rect(0).top()
    owner.key(Key.Key_Up)
    assert owner.strip.chip_rect(owner.strip.current()).top() == owner.strip.chip_rect(0).top()


@pytest.mark.parametrize("how", ["click", "insert", "enter"])
def test_a_new_token_opens_for_typing(owner: Owner, how: str) -> None:
    if how == "click":
        owner.click(len(WORDS))
    elif how == "insert":
        owner.key(Key.Key_Insert)
    else:
        owner.key(Key.Key_End)
        owner.key(Key.Key_Return)
    assert owner.said == [("added",)]
    QTest.keyClicks(owner.editor(), "more")
    QTest.keyClick(owner.editor(), Key.Key_Return)
    assert owner.strip.tokens() == (*WORDS, "more")


def test_undo_and_redo_of_an_added_token_opens_no_field(owner: Owner) -> None:
    owner.strip.set_tokens((*WORDS, "redone"))
    assert not owner.editor().isVisible()


@pytest.mark.parametrize(("start", "before", "to"), [(0, 3, 2), (3, 0, 0), (2, 1, 1), (1, 4, 3)])
def test_dragging_moves_a_word_between_two_others(owner: Owner, start: int, before: int, to: int) -> None:
    place = owner.strip.chip_rect(before)
    owner.drag(start, QPoint(place.left() + 2, place.center().y()))
    assert owner.said == [("moved", start, to)]


def test_a_word_can_be_dragged_behind_the_last(owner: Owner) -> None:
    place = owner.strip.chip_rect(len(WORDS))
    owner.drag(1, place.center())
    assert owner.said == [("moved", 1, len(WORDS) - 1)]


def test_a_word_dropped_at_its_place_emits_no_edit(owner: Owner) -> None:
    place = owner.strip.chip_rect(1)
    owner.drag(1, QPoint(place.right() - 1, place.center().y()))
    assert owner.said == []


def test_a_drag_shows_where_the_word_will_go_and_escape_ends_it(owner: Owner) -> None:
    dress(owner.strip, LIGHT)
    owner.after.setFocus()  # so that no focus ring is in the accent colour
    gap = QPoint(owner.strip.chip_rect(3).left() - 4, owner.strip.chip_rect(3).center().y())
    before = owner.image().pixelColor(gap)
    owner.press(owner.strip.chip_rect(0).center())
    owner.strip.setFocus()
    owner.drag_to(owner.strip.chip_rect(3).center() - QPoint(8, 0))
    assert owner.image().pixelColor(gap) == QColor(LIGHT.accent) != before
    owner.key(Key.Key_Escape)
    assert owner.image().pixelColor(gap) == before
    owner.release(owner.strip.chip_rect(3).center())
    assert owner.said == []


def test_the_menu_has_the_actions_of_the_keys(owner: Owner) -> None:
    owner.key(Key.Key_Right)
    menu = owner.strip.menu()
    lines = [action.text() for action in menu.actions()]
    assert "Duplicate\tCtrl+D" in lines
    next(action for action in menu.actions() if action.text().startswith("Duplicate")).trigger()
    assert owner.said == [("duplicated", 1)]
    menu.close()


def test_a_right_click_opens_the_menu_for_the_chip_under_it(owner: Owner) -> None:
    at = owner.strip.chip_rect(3).center()
    QTest.mouseClick(owner.strip.viewport(), Button.RightButton, pos=at)
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(
        owner.strip.viewport(), QContextMenuEvent(reason, at, owner.strip.viewport().mapToGlobal(at))
    )
    menu = next(widget for widget in owner.strip.findChildren(QMenu) if widget.isVisible())
    assert owner.said == []
    next(action for action in menu.actions() if action.text().startswith("Remove")).trigger()
    assert owner.said == [("removed", 3)]
    menu.close()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_query_and_key_have_their_colours(owner: Owner, palette: Palette) -> None:
    dress(owner.strip, palette)
    owner.strip.set_roles(2, 1)
    owner.after.setFocus()
    assert palette.query_ink.upper() in owner.colours_of(2)
    assert palette.key_ink.upper() in owner.colours_of(1)
    assert compute_contrast(text_on(palette.key_ink), palette.key_ink) >= 4.5
    assert text_on(palette.key_ink) in owner.colours_of(1)
    owner.strip.set_roles(4, 4)
    assert {palette.query_ink.upper(), palette.key_ink.upper()} <= owner.colours_of(4)
    owner.strip.set_roles(6, 7)  # of padding, which has no chips
    assert palette.query_ink.upper() not in owner.colours_of(4) | owner.colours_of(6)


def test_tokens_of_every_script_have_their_own_chip(qtbot: QtBot) -> None:
    tokens = (
        "שלום",
        "مرحبا بالعالم",
        "你好",
        "👩‍👩‍👧",
        "",
        " ",
        "\n",
        "the",
        "the",
        "x" * 100_000,
        "\U0001d54f",
        "a\u0301",
    )
    owner = Owner(qtbot, tokens)
    places = [owner.strip.chip_rect(i) for i in range(len(tokens) + 1)]
    for i, place in enumerate(places):
        assert place.width() >= 20
        assert place.right() <= 300
        assert not any(place.intersects(other) for other in places[i + 1 :])
    owner.click(3)
    assert owner.said == [("clicked", 3)]


def test_invisible_characters_are_marked() -> None:
    assert [visible(token) for token in ("", " ", "  ", "\n", "\t", "a b", " the")] == [
        "∅",
        "␣",
        "␣␣",
        "⏎",
        "⇥",
        "a b",
        " the",
    ]


def test_a_long_word_is_shortened_in_the_middle_with_a_tool_tip(qtbot: QtBot) -> None:
    word = "Donaudampfschifffahrts<b>gesellschaftskapitän"
    texts = ChipTexts()
    shown = texts[word][0]
    assert shown.startswith("Donau")
    assert shown.endswith("än")
    assert "…" in shown
    owner = Owner(qtbot, ("a", word))
    at = owner.strip.chip_rect(1).center()
    event = QHelpEvent(QEvent.Type.ToolTip, at, owner.strip.viewport().mapToGlobal(at))
    QApplication.sendEvent(owner.strip.viewport(), event)
    assert "Donaudampfschifffahrts&lt;b&gt;gesellschaftskapitän" in QToolTip.text()
    assert "position 1" in QToolTip.text(), "counted from 0, as in Explain and on the axes"
    QToolTip.hideText()


def test_512_tokens_scroll_within_a_few_rows_and_the_keyboard_reaches_the_last(qtbot: QtBot) -> None:
    owner = Owner(qtbot, tuple(f"token{i}" for i in range(512)))
    row = owner.strip.chip_rect(0).height()
    assert owner.strip.height() < (MOST_ROWS + 1.5) * (row + 8)
    owner.key(Key.Key_End)
    owner.key(Key.Key_Left)
    assert owner.strip.current() == 511
    assert owner.strip.viewport().rect().contains(owner.strip.chip_rect(511))
    owner.click(511)
    assert owner.said == [("clicked", 511)]
    assert len(owner.strip.viewport().children()) <= 2  # chips are painted, not widgets


def test_a_few_tokens_take_only_the_needed_space(owner: Owner) -> None:
    two_rows = owner.strip.height()
    owner.strip.set_tokens(("a",))
    assert owner.strip.height() < two_rows
    assert not owner.strip.verticalScrollBar().isVisible()
    owner.strip.set_tokens(())
    assert owner.strip.chip_rect(0).width() > 0  # the plus is still there


def test_every_row_can_be_seen_after_each_width(owner: Owner) -> None:
    strip = owner.strip
    for width in (150, 500, 150, 240):
        strip.resize(width, strip.height())
        assert strip.viewport().rect().contains(strip.chip_rect(len(WORDS))), width
        assert strip.viewport().height() == strip.contentsRect().height(), width


def test_a_narrow_strip_wraps(owner: Owner) -> None:
    before = owner.strip.height()
    owner.strip.resize(150, owner.strip.height())
    assert owner.strip.height() > before


def test_the_focused_chip_is_described(owner: Owner) -> None:
    owner.strip.set_roles(0, 1)
    owner.key(Key.Key_Right)
    assert owner.strip.accessibleDescription() == "Token 2 of 6: journey, key"
    owner.key(Key.Key_End)
    assert owner.strip.accessibleDescription() == "Add a token"


def test_the_insertion_gap_follows_the_pointer() -> None:
    chips = Chips.lay_out(("aa", "bb", "cc"), ChipTexts(), 400)
    centre = chips.places[1].center()
    assert chips.gap_at(centre - QPoint(3, 0)) == 1
    assert chips.gap_at(centre + QPoint(3, 0)) == 2
    assert chips.gap_at(QPoint(399, centre.y())) == 3
    assert chips.gap_at(QPoint(0, 10_000)) == 0


def test_viewing_a_very_long_token_changes_nothing(qtbot: QtBot) -> None:
    owner = Owner(qtbot, ("x" * 5000, "b"))
    owner.key(Key.Key_F2)
    editor = owner.strip.findChild(QLineEdit)
    assert editor is not None
    assert editor.text() == "x" * 5000
    owner.after.setFocus()
    assert owner.strip.tokens() == ("x" * 5000, "b")
    assert owner.said == []


def test_two_strips_are_independent(owner: Owner) -> None:
    other = TokenStrip(owner.window)
    other.setGeometry(10, 150, 300, 100)
    other.set_tokens(("le", "chat"))
    other.set_masked(frozenset({0}))
    other.show()
    owner.key(Key.Key_Home)
    assert owner.strip.accessibleDescription() == "Token 1 of 6: Your"
    QTest.mouseClick(other.viewport(), Button.LeftButton, pos=eye_rect(other.chip_rect(1)).center())
    assert owner.said == []
    assert owner.masked == frozenset()
    assert other.accessibleDescription() == "Token 2 of 2: chat"
