"""Pills and switches, used by mouse and by keyboard alone."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from attnlab.base.errors import ExperimentError
from attnlab.figures.palette import DARK, LIGHT, Palette
from attnlab.figures.subscripts import spans
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.fields.pill import Choice, Pill
from attnlab.ui.widgets.fields.pill_popup import PillPopup
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout, flow

Key, Button = Qt.Key, Qt.MouseButton
CHOICES = (
    Choice("sqrt_d_k", "1/√d_k", "by the width of a key"),
    Choice("none", "none"),
    Choice("sqrt_d_model", "1/√d_model", "there is no d_model here", enabled=False),
    Choice(1, "one"),
)


def positive(text: str) -> float:
    """Read a positive number like the program."""
    try:
        number = float(text)
    except ValueError:
        raise ExperimentError(f"scale needs a positive number such as 2.5, not “{text}”.") from None
    if number <= 0:
        raise ValueError("scale must be above 0.")
    return number


class Bar:
    """A window with a pill and a switch in it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.chosen: list[object] = []
        self.turned: list[bool] = []
        self.window = QWidget()
        self.window.resize(500, 300)
        row = FlowLayout(self.window)
        self.pill = Pill("Scale")
        self.pill.set_choices(CHOICES)
        self.pill.set_value("sqrt_d_k")
        self.pill.chosen.connect(self.chosen.append)
        self.switch = Switch("Causal")
        self.switch.clicked.connect(lambda on: self.turned.append(on))
        for widget in (self.pill, self.switch):
            row.addWidget(widget)
        qtbot.addWidget(self.window)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)

    def popup(self) -> PillPopup:
        popup = self.pill.popup()
        assert popup is not None
        assert popup.isVisible()
        return popup

    def with_entry(self) -> None:
        self.pill.set_entry("own number", positive, lambda value: f"1/{value}")


@pytest.fixture
def bar(qtbot: QtBot) -> Bar:
    return Bar(qtbot)


def test_a_pill_has_label_and_value(bar: Bar) -> None:
    assert bar.pill.accessibleName() == "Scale: 1/√d_k"
    bar.pill.set_value("none")
    assert bar.pill.accessibleName() == "Scale: none"
    interface = QAccessible.queryAccessibleInterface(bar.pill)
    assert interface.role() == QAccessible.Role.Button


def test_a_click_opens_the_choices_and_another_chooses(bar: Bar) -> None:
    QTest.mouseClick(bar.pill, Button.LeftButton)
    rows = bar.popup().rows()
    assert [row.text() for row in rows] == [choice.title for choice in CHOICES]
    assert [row.isChecked() for row in rows] == [True, False, False, False]
    QTest.mouseClick(rows[1], Button.LeftButton)
    assert bar.chosen == ["none"]
    assert bar.pill.popup() is None
    assert bar.pill.value_text() == "1/√d_k"  # the truth is the owner's


@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_Space, Key.Key_Down])
def test_the_keyboard_opens_walks_and_chooses(bar: Bar, key: Qt.Key) -> None:
    bar.pill.setFocus()
    QTest.keyClick(bar.pill, key)
    rows = bar.popup().rows()
    assert rows[0].hasFocus()
    QTest.keyClick(rows[0], Key.Key_Down)
    assert rows[1].hasFocus()
    QTest.keyClick(rows[1], Key.Key_Down)
    assert rows[3].hasFocus()  # what cannot be chosen is passed over
    QTest.keyClick(rows[3], Key.Key_Return)
    assert bar.chosen == [1]


def test_escape_closes_without_choosing(bar: Bar) -> None:
    bar.pill.open()
    QTest.keyClick(bar.popup().rows()[0], Key.Key_Escape)
    assert bar.pill.popup() is None
    assert bar.chosen == []
    bar.pill.open()
    assert bar.popup().isVisible()
    bar.popup().close()


def test_a_disabled_choice_cannot_be_clicked(bar: Bar) -> None:
    bar.pill.open()
    QTest.mouseClick(bar.popup().rows()[2], Button.LeftButton)
    assert bar.chosen == []
    bar.popup().close()


def test_one_and_true_are_different_values(bar: Bar) -> None:
    bar.pill.set_value(True)
    assert bar.pill.value_text() == "True"
    bar.pill.set_value(1)
    assert bar.pill.value_text() == "one"


def test_a_custom_number_can_be_chosen(bar: Bar) -> None:
    bar.with_entry()
    bar.pill.open()
    field = bar.popup().field
    rows = bar.popup().rows()
    QTest.keyClick(rows[0], Key.Key_Up)
    assert field.hasFocus()
    QTest.keyClicks(field, "2.5")
    QTest.keyClick(field, Key.Key_Return)
    assert bar.chosen == [2.5]
    bar.pill.set_value(2.5)
    assert bar.pill.accessibleName() == "Scale: 1/2.5"
    bar.pill.open()
    assert bar.popup().field.text() == "1/2.5"
    bar.popup().close()


@pytest.mark.parametrize(("typed", "sentence"), [("two", "not “two”"), ("-1", "above 0"), ("", "not “”")])
def test_an_invalid_number_is_explained_at_its_field(bar: Bar, typed: str, sentence: str) -> None:
    bar.with_entry()
    bar.pill.open()
    popup = bar.popup()
    QTest.keyClicks(popup.field, typed)
    QTest.keyClick(popup.field, Key.Key_Return)
    assert bar.chosen == []
    assert popup.isVisible()
    assert popup.complaint.isVisible()
    assert sentence in popup.complaint.text()
    assert popup.rect().contains(popup.complaint.geometry())
    assert popup.complaint.height() >= popup.complaint.heightForWidth(popup.complaint.width())
    QTest.keyClicks(popup.field, "3")
    assert not popup.complaint.isVisible()
    popup.close()


def test_a_pill_with_only_a_field_opens_at_the_field(qtbot: QtBot) -> None:
    pill = Pill("Seed")
    qtbot.addWidget(pill)
    pill.set_entry("a whole number", int)
    pill.set_value(123)
    pill.show()
    pill.open()
    popup = pill.popup()
    assert popup is not None
    assert popup.field.text() == "123"
    assert popup.field.selectedText() == "123"
    popup.close()


def test_many_choices_stay_on_the_screen(bar: Bar) -> None:
    bar.pill.set_choices([Choice(i, f"{i} heads") for i in range(200)])
    bar.pill.set_value(150)
    bar.pill.open()
    popup = bar.popup()
    assert bar.pill.screen().availableGeometry().contains(popup.geometry())
    row = popup.rows()[150]
    assert popup.rect().contains(row.mapTo(popup, row.rect().center()))
    popup.close()


def test_choices_scroll_only_where_the_screen_has_no_room_for_them(bar: Bar) -> None:
    bar.window.move(0, 0)
    bar.pill.open()
    row = bar.popup().rows()[-1].height()
    bar.popup().close()
    room = bar.pill.screen().availableGeometry().bottom() - bar.pill.mapToGlobal(bar.pill.rect().bottomLeft()).y()
    bar.pill.set_choices([Choice(i, f"{i} heads") for i in range(room // row - 1)])
    bar.pill.open()
    last = bar.popup().rows()[-1]
    assert last.visibleRegion().boundingRect().height() == last.height()
    bar.popup().close()


def test_a_pill_grows_with_its_value_up_to_a_limit(bar: Bar) -> None:
    bar.pill.set_choices([Choice("a", "a"), Choice("b", "a much longer value"), Choice("c", "very " * 100)])
    widths = []
    for value in "abc":
        bar.pill.set_value(value)
        widths.append(bar.pill.sizeHint().width())
    assert widths[0] < widths[1] < widths[2] < 400


def test_a_disabled_pill_does_not_open(bar: Bar) -> None:
    bar.pill.setEnabled(False)
    QTest.mouseClick(bar.pill, Button.LeftButton)
    assert bar.pill.popup() is None


@pytest.mark.parametrize("how", ["mouse", "label", "space"])
def test_a_switch_can_be_toggled(bar: Bar, how: str) -> None:
    if how == "mouse":
        QTest.mouseClick(bar.switch, Button.LeftButton)
    elif how == "label":
        QTest.mouseClick(bar.switch, Button.LeftButton, pos=QPoint(3, 3))
    else:
        bar.switch.setFocus()
        QTest.keyClick(bar.switch, Key.Key_Space)
    assert bar.turned == [True]


def test_showing_the_state_emits_nothing(bar: Bar) -> None:
    bar.switch.setChecked(True)
    assert bar.turned == []


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_a_switch_that_is_on_is_accent_coloured(bar: Bar, palette: Palette) -> None:
    dress(bar.switch, palette)

    def seen() -> set[str]:
        image = bar.switch.grab().toImage()
        return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}

    accent = QColor(palette.accent).name()
    assert accent not in seen()
    bar.switch.setChecked(True)
    assert accent in seen()


def test_a_switch_is_a_check_box_for_screen_readers(bar: Bar) -> None:
    bar.switch.setChecked(True)
    interface = QAccessible.queryAccessibleInterface(bar.switch)
    assert interface.role() == QAccessible.Role.CheckBox
    assert interface.text(QAccessible.Text.Name) == "Causal"
    assert interface.state().checked


def test_the_focus_ring_is_visible(bar: Bar) -> None:
    for widget, other in ((bar.pill, bar.switch), (bar.switch, bar.pill)):
        other.setFocus()
        before = widget.grab().toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        assert widget.hasFocus()
        assert widget.grab().toImage() != before


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("1/√d_k", (("1/√d", False), ("k", True))),
        ("W_q and W_out", (("W", False), ("q", True), (" and W", False), ("out", True))),
        ("dW_q", (("dW", False), ("q", True))),
        ("the_cat", (("the_cat", False),)),
        ("d_model_x", (("d_model_x", False),)),
        ("x_1", (("x", False), ("1", True))),
        ("", ()),
    ],
)
def test_only_single_letters_have_subscripts(text: str, pieces: tuple[tuple[str, bool], ...]) -> None:
    assert spans(text) == pieces


def test_a_full_row_wraps() -> None:
    places = flow([(40, 20), (40, 30), (40, 20), (500, 20)], 100, 5)
    assert [(p.x(), p.y()) for p in places] == [(0, 5), (45, 0), (0, 35), (0, 60)]
    assert places[3].width() == 100


def test_a_flow_layout_has_as_many_rows_as_needed(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    rows = FlowLayout(window, gap=8)
    rows.setContentsMargins(10, 10, 10, 10)
    fields = [QLineEdit(window) for _ in range(4)]
    for field in fields:
        field.setFixedSize(100, 30)
        rows.addWidget(field)
    window.resize(240, 200)
    window.show()
    assert [(f.x(), f.y()) for f in fields] == [(10, 10), (118, 10), (10, 48), (118, 48)]
    assert rows.heightForWidth(240) == 88
    assert rows.heightForWidth(1000) == 50
    fields[0].hide()
    rows.activate()
    assert [(f.x(), f.y()) for f in fields[1:]] == [(10, 10), (118, 10), (10, 48)]
    rows.removeWidget(fields[1])
    assert rows.count() == 3
    assert rows.itemAt(9) is None


def test_a_narrow_pill_drops_none_and_keeps_its_label(qtbot: QtBot) -> None:
    pill = Pill("Mask")
    qtbot.addWidget(pill)
    pill.set_choices([Choice("none", "none", ""), Choice("window", "window 3", "")])
    pill.set_value("none")
    assert pill.minimumSizeHint() == pill.sizeHint()
    pill.drops_none = True
    assert pill.minimumSizeHint().width() < pill.sizeHint().width()
    assert pill.accessibleName() == "Mask: none"
    pill.set_value("window")
    assert pill.minimumSizeHint() == pill.sizeHint()
