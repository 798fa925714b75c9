"""A row of segments: chosen by mouse and arrows, one tab stop, and reasons of disabled segments."""

from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAccessible, QColor, QFontMetricsF, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK, LIGHT, Palette
from attnlab.figures.subscripts import text_width
from attnlab.ui.base.theme import font
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments

Key, Button = Qt.Key, Qt.MouseButton
CHOICES = (
    Choice("present", "Present", "what is computed now"),
    Choice("pinned", "Pinned", reason="Nothing is pinned yet."),
    Choice("difference", "Difference"),
)


def focus() -> QWidget:
    """Return the focus widget."""
    found = QApplication.focusWidget()
    assert found is not None
    return found


class Row:
    """A window with segments between two fields."""

    def __init__(self, qtbot: QtBot) -> None:
        self.chosen: list[object] = []
        self.window = QWidget()
        column = QVBoxLayout(self.window)
        self.before, self.segments, self.after = QLineEdit(), Segments("View"), QLineEdit()
        for widget in (self.before, self.segments, self.after):
            column.addWidget(widget)
        self.segments.set_choices(CHOICES)
        self.segments.set_value("present")
        self.segments.chosen.connect(self.chosen.append)
        qtbot.addWidget(self.window)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)

    def checked(self) -> list[str]:
        return [button.text() for button in self.segments.buttons() if button.isChecked()]


@pytest.fixture
def row(qtbot: QtBot) -> Row:
    return Row(qtbot)


def test_a_click_chooses(row: Row) -> None:
    assert row.checked() == ["Present"]
    QTest.mouseClick(row.segments.buttons()[2], Button.LeftButton)
    assert row.chosen == ["difference"]
    assert row.checked() == ["Difference"]


def test_choosing_the_current_segment_emits_nothing(row: Row) -> None:
    QTest.mouseClick(row.segments.buttons()[0], Button.LeftButton)
    assert row.chosen == []
    assert row.checked() == ["Present"]


def test_showing_the_state_emits_nothing(row: Row) -> None:
    row.segments.set_value("difference")
    assert row.checked() == ["Difference"]
    row.segments.set_value("nobody's")
    assert row.checked() == []
    assert row.chosen == []


def test_arrows_skip_disabled_segments_and_stop_at_the_ends(row: Row) -> None:
    row.segments.setFocus()
    QTest.keyClick(focus(), Key.Key_Right)
    assert row.chosen == ["difference"]
    QTest.keyClick(focus(), Key.Key_Right)
    assert row.chosen == ["difference"]
    QTest.keyClick(focus(), Key.Key_Left)
    assert row.chosen == ["difference", "present"]
    assert row.segments.buttons()[0].hasFocus()


def test_a_row_of_segments_is_one_tab_stop(row: Row) -> None:
    row.segments.set_value("difference")
    row.before.setFocus()
    QTest.keyClick(row.before, Key.Key_Tab)
    assert row.segments.buttons()[2].hasFocus()
    QTest.keyClick(focus(), Key.Key_Tab)
    assert row.after.hasFocus()
    QTest.keyClick(row.after, Key.Key_Backtab)
    assert row.segments.buttons()[2].hasFocus()


def test_a_disabled_segment_has_its_reason(row: Row) -> None:
    pinned = row.segments.buttons()[1]
    QTest.mouseClick(pinned, Button.LeftButton)
    assert row.chosen == []
    QApplication.sendEvent(pinned, QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), pinned.mapToGlobal(QPoint(5, 5))))
    assert QToolTip.text() == "Nothing is pinned yet."
    QToolTip.hideText()
    interface = QAccessible.queryAccessibleInterface(pinned)
    assert interface.text(QAccessible.Text.Description) == "Nothing is pinned yet."
    assert interface.state().disabled


def test_other_choices_replace_the_segments(row: Row) -> None:
    row.segments.buttons()[0].setFocus()
    row.segments.set_choices([Choice("present", "Now"), Choice("pinned", "Then")])
    assert [button.text() for button in row.segments.buttons()] == ["Now", "Then"]
    assert row.segments.buttons()[0].hasFocus()
    QTest.mouseClick(row.segments.buttons()[1], Button.LeftButton)
    assert row.chosen == ["pinned"]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_current_segment_stands_out(row: Row, palette: Palette) -> None:
    dress(row.segments, palette)
    row.segments.set_value("difference")
    row.after.setFocus()
    grounds = []
    for at in (0, 2):
        image = row.segments.buttons()[at].grab().toImage()
        grounds.append(image.pixelColor(image.width() // 2, 3).name())
    assert grounds[0] != grounds[1]
    assert grounds[1] != QColor(palette.surface).name()


def test_segments_shrink_without_overlapping(qtbot: QtBot) -> None:
    row = Row(qtbot)
    segments = row.segments
    wide = segments.sizeHint().width()
    segments.setFixedWidth(wide)
    qtbot.waitUntil(lambda: segments.width() == wide)
    assert not segments.tight
    segments.setFixedWidth(round(wide * 0.8))
    qtbot.waitUntil(lambda: segments.tight)
    qtbot.waitUntil(lambda: segments.buttons()[-1].y() == 0)  # until what was asked for is laid out
    places = [button.geometry() for button in segments.buttons()]
    assert all(left.right() < right.left() for left, right in pairwise(places))
    assert places[-1].right() < segments.width()
    assert segments.sizeHint().width() == wide, "it still asks for the room it likes"


@pytest.mark.parametrize("role", ["text", "strong", "caption", "section", "number"])
def test_the_width_of_a_text_is_that_of_its_font(qtbot: QtBot, role: str) -> None:
    face = font(role)
    for text in ("Positions", "0.1111 and 8.0000"):
        assert text_width(text, face) == pytest.approx(QFontMetricsF(face).horizontalAdvance(text))
    assert text_width("W_q", face) < QFontMetricsF(face).horizontalAdvance("Wq")
    face.setPixelSize(2 * face.pixelSize())
    assert text_width("Positions", face) == pytest.approx(QFontMetricsF(face).horizontalAdvance("Positions"))


def test_widths_add_up_to_the_row(qtbot: QtBot) -> None:
    row = Segments("Row")
    qtbot.addWidget(row)
    row.set_choices([Choice(name, name) for name in ("one", "three", "eleven")])
    widths = row.measure_widths()
    assert [row.measure_width(count) for count in range(4)] == [0, *widths]
    assert row.sizeHint().width() == widths[-1]
    row.show_first(2)
    assert row.sizeHint().width() == widths[1]


class Painted(QObject):
    """Collects the widgets that are painted."""

    def __init__(self) -> None:
        super().__init__()
        self.widgets: set[QObject] = set()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.widgets.add(watched)
        return False


def test_the_text_is_large_again_as_soon_as_it_has_room(qtbot: QtBot) -> None:
    """As when the list "More" takes some of the tabs: the others keep their size, but were painted in small type."""
    row, painted = Row(qtbot), Painted()
    row.segments.setFixedWidth(row.segments.measure_width(2))
    row.segments.show_first(2)
    qtbot.waitUntil(lambda: row.segments.width() == row.segments.measure_width(2))
    row.segments.show_first(3)
    assert row.segments.tight
    for button in row.segments.buttons():
        button.repaint()
        button.installEventFilter(painted)
    row.segments.show_first(2)
    qtbot.waitUntil(lambda: painted.widgets >= set(row.segments.buttons()[:2]))
