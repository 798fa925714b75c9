"""The maps: exact values under the pointer, an enlarged map, other probes, gradients, and predictions."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLabel, QLineEdit

from attnlab.figures.text import Pen
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.head_effects import switch_off
from attnlab.training.look import Viewer
from attnlab.training.tasks import make_spec
from attnlab.ui.train.predictions_panel import PredictionRow
from attnlab.ui.train.shown_maps import find_visible

if TYPE_CHECKING:
    from tests.ui.train.conftest import Student

Left = Qt.MouseButton.LeftButton


def _cell(student: "Student", index: int, row: int, column: int) -> QPoint:
    x, y, width, height = student.ws.maps.view.cards[index].grid.rect(0, row, column)
    return QPoint(round(x + width / 2), round(y + height / 2))


def test_the_tool_tip_of_a_cell_has_its_exact_number_or_masked(student: "Student") -> None:
    view, seen = student.ws.maps.view, student.ws.session.inspection.seen
    assert seen is not None
    layer = seen.look.maps[0]
    value = layer.weights[1, 3, 2]
    told = view.tool_tip(_cell(student, 1, 3, 2).toPointF())
    lines = told.splitlines()
    assert lines[:2] == ["Decoder 1 · head 1", f"{layer.query_tokens[3]} → {layer.key_tokens[2]}: {value!s}"]
    assert view.tool_tip(_cell(student, 0, 0, 5).toPointF()).splitlines()[1].endswith(": masked")


def test_the_bar_names_the_head_under_the_pointer(student: "Student") -> None:
    maps, seen = student.ws.maps, student.ws.session.inspection.seen
    assert seen is not None
    at = _cell(student, 6, 3, 2)
    QTest.mouseMove(maps.view, at + QPoint(1, 1))
    QTest.mouseMove(maps.view, at)
    layer = seen.look.maps[1]
    value = layer.weights[2, 3, 2]
    assert maps.told.startswith(f"Decoder 2 · head 2 · {layer.query_tokens[3]} → {layer.key_tokens[2]}: {value!s}")


def test_every_curve_of_the_course_has_name_and_numbers_of_its_head(student: "Student") -> None:
    maps = student.ws.maps
    maps.show_course(np.array([0.0, 5.0]), np.tile(np.arange(16.0).reshape(2, 1, 8), (1, 4, 1)), 10.0)
    lines = maps.chart.chart.lines
    names = [f"Decoder {layer} · head {head}" for layer in (1, 2) for head in range(4)]
    assert [(line.name, *line.y) for line in lines] == [(name, i, i + 8) for i, name in enumerate(names)]
    assert all(line.x.tolist() == [0, 5] for line in lines)


def test_every_layer_and_head_has_a_card_with_its_numbers(student: "Student") -> None:
    view, seen = student.ws.maps.view, student.ws.session.inspection.seen
    assert seen is not None
    assert [t.split(" · ")[0] for t in view.titles] == ["Decoder 1"] * 4 + ["Decoder 2"] * 4
    flat = [head for layer in seen.look.maps for head in layer.weights]
    for data, head in zip(view.data, flat, strict=True):
        np.testing.assert_array_equal(data.values[0], head)


def test_a_click_enlarges_a_map_and_escape_shows_all(student: "Student") -> None:
    maps = student.ws.maps
    QTest.mouseClick(maps.view, Left, pos=_cell(student, 5, 1, 1))
    assert maps.large_map.index == 5
    assert maps.large_map.sheet.isVisible()
    shown = [label.text() for label in maps.findChildren(QLabel) if label.isVisible()]
    assert "Decoder 2 · head 1" in shown
    assert maps.large_map.sheet.data is not None
    np.testing.assert_array_equal(maps.large_map.sheet.data.values, maps.view.data[5].values)
    cell = maps.large_map.sheet.cell_rect(0, 2, 1).center().toPoint()
    QTest.mouseMove(maps.large_map.sheet, cell)
    QTest.mouseClick(maps.large_map.sheet, Left, pos=cell)
    assert maps.told == maps.view.cell_text((5, 2, 1))
    QTest.mouseMove(maps.large_map.sheet, QPoint(2, 2))
    assert maps.told == maps.view.cell_text((5, 2, 1))
    student.key(Qt.Key.Key_Escape, maps.large_map.sheet)
    assert maps.large_map.index is None
    assert maps.view.isVisible()
    maps.open_map(5)
    student.choose(student.ws.settings.task, "Sort")
    student.wait_for(lambda: maps.seen is not None and maps.seen.spec.task == "sort")
    assert maps.large_map.index is None  # it would be a map of another task


def test_all_maps_are_scrolled_as_before_after_a_large_one(student: "Student") -> None:
    student.window.resize(1366, 768)
    student.window.change_settings(type_size=150)
    maps = student.ws.maps
    bar = maps.overview.verticalScrollBar()
    student.wait_for(lambda: bar.maximum() > 200)
    for before in (0, 30):
        bar.setValue(before)
        QTest.mouseClick(maps.view, Left, pos=_cell(student, 0, 5, 1))
        assert maps.large_map.index == 0
        student.key(Qt.Key.Key_Escape, maps.large_map.sheet)
        assert maps.large_map.index is None
        assert maps.view.hasFocus()
        assert bar.value() == before


def test_the_number_of_a_cell_that_is_no_longer_pointed_at_is_not_kept(student: "Student") -> None:
    maps = student.ws.maps
    QTest.mouseClick(maps.view, Left, pos=_cell(student, 5, 1, 1))
    sheet = maps.large_map.sheet
    QTest.mouseMove(sheet, sheet.cell_rect(0, 2, 1).center().toPoint())
    student.wait_for(lambda: maps.told == maps.view.cell_text((5, 2, 1)))
    QTest.mouseMove(sheet, QPoint(2, 2))
    student.wait_for(lambda: maps.told == "Point at a cell, or click it to hold it")


def test_a_selected_cell_is_dropped_when_a_shorter_probe_lacks_it(student: "Student") -> None:
    maps = student.ws.maps
    QTest.mouseClick(maps.view, Left, pos=_cell(student, 5, 1, 1))
    assert maps.large_map.sheet.data is not None
    _, rows, columns = maps.large_map.sheet.data.values.shape
    cell = maps.large_map.sheet.cell_rect(0, rows - 1, columns - 1).center().toPoint()
    QTest.mouseMove(maps.large_map.sheet, cell)
    QTest.mouseClick(maps.large_map.sheet, Left, pos=cell)
    assert maps.told == maps.view.cell_text((5, rows - 1, columns - 1))
    maps.head.focus_probe()
    QTest.keyClicks(maps.head.probe, "a b")
    student.wait_for(lambda: maps.view.data[0].row_labels[:2] == ("a", "b"))
    assert maps.view.data[0].values.shape[1] < rows
    assert maps.large_map.index == 5
    assert maps.told == "Point at a cell, or click it to hold it"
    QTest.mouseClick(maps.large_map.sheet, Left, pos=QPoint(2, 2))
    QTest.mouseMove(maps.large_map.sheet, QPoint(3, 3))
    assert maps.told == "Point at a cell, or click it to hold it"


@pytest.mark.slow
def test_another_probe_is_shown_and_an_invalid_one_reported(student: "Student") -> None:
    maps = student.ws.maps
    maps.head.focus_probe()
    QTest.keyClicks(maps.head.probe, "a b c d")
    student.wait_for(lambda: maps.view.data[0].row_labels[:4] == ("a", "b", "c", "d"))
    before = maps.view.data[0].values.copy()
    QTest.keyClicks(maps.head.probe, " ?")
    student.wait_for(lambda: "'?'" in maps.head.wrong.text())
    assert maps.head.wrong.isVisible()
    np.testing.assert_array_equal(maps.view.data[0].values, before)
    QTest.keyClick(maps.head.probe, Qt.Key.Key_Backspace)
    student.wait_for(lambda: not maps.head.wrong.isVisible())


@pytest.mark.slow
def test_another_seed_or_number_of_heads_shows_the_first_maps_of_that_model(student: "Student") -> None:
    maps, inspection = student.ws.maps, student.ws.session.inspection
    for name, text, n_heads in (("heads", "2", 2), ("seed", "7", 2)):
        student.type(name, text)
        student.wait_for(
            lambda name=name, text=text: (
                inspection.seen is not None  # type: ignore[misc]
                and str(getattr(inspection.seen.spec.train if name == "seed" else inspection.seen.spec.model, name))
                == text
            )
        )
        assert inspection.seen is not None
        spec = inspection.seen.spec
        own = Viewer(spec).look(0, draw_first_weights(spec), maps.head.probe.text())
        assert maps.view.titles[:2] == ("Decoder 1 · head 0", "Decoder 1 · head 1")
        assert len(maps.view.data) == 2 * n_heads
        flat = [head for layer in own.maps for head in layer.weights]
        for data, head in zip(maps.view.data, flat, strict=True):
            np.testing.assert_allclose(data.values[0], head, atol=1e-6)


def test_gradients_are_signed_maps_of_the_same_tokens(student: "Student") -> None:
    maps = student.ws.maps
    QTest.mouseClick(maps.head.gradients, Left)
    student.wait_for(lambda: maps.view.data[0].kind == "signed")
    assert (maps.view.data[0].values < 0).any()
    assert len(maps.view.data) == 8
    QTest.mouseClick(maps.head.gradients, Left)
    student.wait_for(lambda: maps.view.data[0].kind == "probability")


def test_a_second_click_at_the_same_place_leaves_the_gradients(student: "Student") -> None:
    student.window.resize(1366, 768)
    maps = student.ws.maps
    before = maps.head.gradients.geometry()
    QTest.mouseClick(maps.head.gradients, Left)
    student.wait_for(lambda: maps.head.scale.isVisible() and maps.view.data[0].kind == "signed")
    assert maps.head.gradients.geometry() == before
    shown = maps.head.probe.fontMetrics().horizontalAdvance(maps.head.probe.text())
    assert maps.head.probe.width() > shown


def test_small_gradients_are_written_in_a_power_of_ten_beside_the_title(student: "Student") -> None:
    maps = student.ws.maps
    QTest.mouseClick(maps.head.gradients, Left)
    student.wait_for(lambda: maps.view.data[0].kind == "signed")
    sizes = [np.abs(each.values).max() for each in maps.view.data]
    largest = min(sizes)
    assert largest < 0.01, "two decimals would write 0.00"
    QTest.mouseClick(maps.view, Left, pos=_cell(student, sizes.index(largest), 1, 1))
    data = maps.large_map.sheet.data
    assert data is not None
    assert 1 <= largest * data.factor < 10
    assert f" · {data.power}" in maps.large_map.title.text()
    QTest.mouseClick(maps.head.gradients, Left)
    student.wait_for(lambda: maps.view.data[0].kind == "probability")
    assert "× 10" not in maps.large_map.title.text()


def test_the_mean_of_the_heads_is_one_map_of_each_layer(student: "Student") -> None:
    maps, seen = student.ws.maps, student.ws.session.inspection.seen
    assert seen is not None
    QTest.mouseClick(maps.head.mean, Left)
    assert maps.view.titles == ("Decoder 1 · mean of 4 heads", "Decoder 2 · mean of 4 heads")
    for data, layer in zip(maps.view.data, seen.look.maps, strict=True):
        np.testing.assert_allclose(data.values[0], layer.weights.astype(np.float64).mean(0), atol=1e-6)
    QTest.mouseClick(maps.view, Left, pos=_cell(student, 1, 3, 2))
    assert maps.large_map.title.text() == "Decoder 2 · mean of 4 heads"
    assert maps.large_map.switch.isHidden()
    QTest.keyClick(maps.large_map.sheet, Qt.Key.Key_Delete)
    assert student.ws.tools is not None
    sheets = student.ws.tools.make_sheets()
    assert sheets is not None
    assert find_visible(maps.view.cards, maps.large_map.index, sheets) == (("decoder 2",), "mean")
    maps.close_map()
    assert find_visible(maps.view.cards, None, sheets) == (("decoder 1", "decoder 2"), "mean")
    QTest.mouseClick(maps.head.mean, Left)
    assert len(maps.view.data) == 8
    QTest.mouseClick(maps.view, Left, pos=_cell(student, 1, 3, 2))
    assert maps.large_map.switch.isVisible()


@pytest.mark.slow
def test_predictions_and_the_course_of_heads_appear_with_a_training(student: "Student") -> None:
    ws = student.ws
    student.small()
    student.train_to_the_end()
    student.wait_for(lambda: len(ws.written.rows) == 4)
    student.wait_for(lambda: len(ws.maps.chart.chart.lines) == 2 and len(ws.maps.chart.chart.lines[0].x) > 1)
    assert ws.maps.chart.chart.lines[0].name == "Decoder 1 · head 0"
    student.wait_for(lambda: bool(ws.text.text.text()))
    for row in ws.written.rows:
        assert len(row.pairs) == len(row.expected)


@pytest.mark.slow
def test_small_windows_and_large_type_scroll(student: "Student") -> None:
    ws, window = student.ws, student.window
    for size, type_size in (((720, 480), 100), ((1280, 800), 150), ((1440, 900), 100)):
        window.change_settings(type_size=type_size)
        window.resize(*size)
        student.wait_for(lambda wide=size[0]: window.width() == wide)  # type: ignore[misc]
        assert ws.curves.loss.isVisibleTo(window)
        assert ws.header.main.isVisible()
        assert ws.header.reset.geometry().right() <= window.width()
        assert ws.maps.view.cards[-1].rect.right() <= ws.maps.view.width()
        window.grab()


@pytest.mark.slow
def test_themes_reach_every_part(student: "Student") -> None:
    for theme in ("dark", "contrast-light", "light"):
        student.window.change_settings(theme=theme)
        assert student.ws.maps.view._palette.name == theme
        assert student.ws.footer.line._palette.name == theme
        student.window.grab()


def test_every_control_has_a_name_and_a_tool_tip(student: "Student") -> None:
    ws = student.ws
    ws.settings.fold.setChecked(True)
    kinds = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox)
    parts = [part for area in (ws.header, ws.body, ws.footer) for kind in kinds for part in area.findChildren(kind)]
    ours = [part for part in parts if part.isVisible() and part.objectName() not in ("qt_spinbox_lineedit",)]
    assert len(ours) > 30
    for part in ours:
        name = part.accessibleName() or getattr(part, "text", str)()
        assert name, f"{type(part).__name__} {part.objectName()!r} has no name"
        assert part.toolTip(), f"{name} has no tool tip"


def test_expected_texts_are_beside_the_questions_or_below_if_narrow(student: "Student") -> None:
    written = student.ws.written
    student.wait_for(lambda: len(written.rows) == 4 and written.height() >= written.sizeHint().height())
    assert written.heads == ("asked", "expected", "predicted")
    row = written.rows[0]
    assert row.source == tuple(reversed(row.expected[:-1]))
    assert written.tool_tip(QPointF(5, written.height() - 5)).startswith(f"asked: {' '.join(written.rows[3].source)}\n")
    assert written.tool_tip(QPointF(5, 2)) == ""
    tall = written.sizeHint().height()
    long = PredictionRow(row.source * 8, row.expected * 8, row.predicted * 8)
    written.show_rows([long] * 4)
    assert written.heads == ("asked / expected", "predicted")
    assert written.sizeHint().height() > tall
    written.grab()


def test_a_line_break_that_is_asked_is_drawn(student: "Student", monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    draw = Pen.draw
    monkeypatch.setattr(Pen, "draw", lambda pen, x, y, text: (drawn.append(text), draw(pen, x, y, text)))
    written = student.ws.written
    written.show_rows([PredictionRow(("\n",), tuple("and so"), tuple("but no"))])
    written.grab()
    assert "⏎" in drawn


def test_a_long_word_is_shortened_in_its_middle(student: "Student", monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    draw = Pen.draw
    monkeypatch.setattr(Pen, "draw", lambda pen, x, y, text: (drawn.append(text), draw(pen, x, y, text)))
    written, word = student.ws.written, "Donau" + "dampfschiff" * 9
    for rest, count in ((("is", "long"), 3), ((word,), 5)):
        drawn.clear()
        written.show_rows([PredictionRow((word,), (word, *rest), (word, *rest))])
        written.grab()
        shortened = [text for text in drawn if text.startswith("Don") and "…" in text and text.endswith("ff")]
        assert len(shortened) == count
    assert word in written.tool_tip(QPointF(5, written.sizeHint().height() - 5))


def test_each_prediction_of_a_text_stands_below_its_token(student: "Student", monkeypatch: pytest.MonkeyPatch) -> None:
    at: list[tuple[float, float, str]] = []
    draw = Pen.draw
    monkeypatch.setattr(Pen, "draw", lambda pen, x, y, text: (at.append((x, y, text)), draw(pen, x, y, text)))
    written = student.ws.written
    written.show_rows([PredictionRow(("W",), tuple("ill it be " * 20), tuple("mwl mt we " * 20))])
    assert written.heads == ("text, with predictions below",)
    written.grab()
    _, *rest = at  # the heading
    above, below = ([each for each in rest if each[1] == y] for y in sorted({y for _, y, _ in rest}))
    assert "".join(text for _, _, text in above).startswith("Will it be")
    assert "".join(text for _, _, text in below).startswith("mwl mt we")
    assert [x for x, _, _ in above] == [x for x, _, _ in below]
    assert above[-1][2] == below[-1][2] == "…"
    at.clear()
    written.show_rows([PredictionRow(tuple("so be it"), tuple("ça va"), tuple("ça va"))])  # of two languages
    written.grab()
    assert "".join(text for _, y, text in at[1:] if y == at[1][1]).startswith("so␣be␣it → ça")


@pytest.mark.slow
def test_an_encoder_decoder_shows_all_its_maps_or_those_of_one_group(student: "Student") -> None:
    ws, maps = student.ws, student.ws.maps
    assert not maps.overview.groups.isVisible()  # of one group there is nothing to choose
    student.choose(ws.settings.task, ws.settings.task.itemText(ws.settings.task.findData("dates")))
    student.wait_for(lambda: bool(maps.view.titles) and maps.view.titles[0] == "Encoder 1 · head 0")
    assert [button.text() for button in maps.overview.groups.buttons()] == ["All", "Encoder", "Decoder", "Cross"]
    assert len(maps.view.data) == 24
    QTest.mouseClick(maps.overview.groups.buttons()[3], Left)
    assert [title.split(" · ")[0] for title in maps.view.titles] == ["Cross 1"] * 4 + ["Cross 2"] * 4
    seen = student.ws.session.inspection.seen
    assert seen is not None
    assert [seen.look.maps[card.layer].layer for card in maps.view.cards] == ["cross 1"] * 4 + ["cross 2"] * 4
    np.testing.assert_array_equal(maps.view.data[4].values[0], seen.look.maps[5].weights[0])
    assert maps.view.cell_text((4, 0, 0)).endswith(f": {seen.look.maps[5].weights[0, 0, 0]!s}")
    student.choose(ws.settings.task, ws.settings.task.itemText(ws.settings.task.findData("reverse")))
    student.wait_for(lambda: maps.view.titles[0] == "Decoder 1 · head 0")
    assert not maps.overview.groups.isVisible()
    student.choose(ws.settings.task, ws.settings.task.itemText(ws.settings.task.findData("dates")))
    student.wait_for(lambda: maps.view.titles[0] == "Cross 1 · head 0")
    assert maps.overview.groups.value() == "cross"


def test_maps_that_vanish_give_their_focus_to_no_button(student: "Student") -> None:
    maps = student.ws.maps
    maps.view.setFocus()
    spec = make_spec("questions", "recurrent")
    student.ws.settings.show_spec(spec)
    student.ws.settings.spec_changed.emit(spec)
    student.wait_for(maps.view.isHidden)
    assert student.window.focusWidget() is maps


@pytest.mark.slow
def test_what_a_head_is_worth_is_not_said_of_another_run(student: "Student") -> None:
    maps, session = student.ws.maps, student.ws.session
    with student.qtbot.waitSignal(session.inspection.heads_measured):
        session.look()
    assert maps.seen is not None
    assert maps.heads.describe_worth(0)
    spec = maps.seen.spec
    maps.show_seen(replace(maps.seen, spec=replace(spec, train=replace(spec.train, seed=spec.train.seed + 1))))
    assert maps.heads.describe_worth(0) == ""


@pytest.mark.slow
def test_a_head_says_what_the_model_is_worth_without_it(student: "Student") -> None:
    maps, session = student.ws.maps, student.ws.session
    seen = session.inspection.seen
    assert seen is not None
    with student.qtbot.waitSignal(session.inspection.heads_measured) as heard:
        session.look()
    found = heard.args[0]
    whole, without = found.whole.right, found.without["decoder 2", 1].right
    said = f"{100 * whole:.1f}\N{NO-BREAK SPACE}% right, without this head {100 * without:.1f}\N{NO-BREAK SPACE}%"
    assert maps.heads.describe_worth(5) == said
    assert maps.view.tool_tip(_cell(student, 5, 3, 2).toPointF()).endswith(said)
    maps.open_map(5)
    assert said in maps.large_map.title.text()


@pytest.mark.slow
def test_a_head_is_switched_off_only_for_looking(student: "Student") -> None:
    maps, session = student.ws.maps, student.ws.session
    before = session.inspection.seen
    assert before is not None
    maps.open_map(1)
    with student.qtbot.waitSignal(session.inspection.looked) as heard:
        QTest.mouseClick(maps.large_map.switch, Left)
    seen = heard.args[0]
    weights = draw_first_weights(seen.spec)
    viewer = Viewer(seen.spec)
    with switch_off(viewer, {("decoder 1", 1)}):
        expected = viewer.look(seen.look.step, weights, seen.probe)
    for one, other in zip(seen.look.maps, expected.maps, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)
    assert not np.allclose(seen.look.maps[1].weights, before.look.maps[1].weights, atol=1e-6)
    assert maps.large_map.switch.text() == "Switch on"
    assert maps.head.step.text().endswith(" · 1 head off")
    assert maps.view.is_off(1)
    maps.close_map()
    maps.view.setFocus(Qt.FocusReason.TabFocusReason)
    with student.qtbot.waitSignal(session.inspection.looked):
        QTest.keyClick(maps.view, Qt.Key.Key_Right)
        maps.view.switch_requested.emit(1)
    assert not maps.view.is_off(1)
    student.wait_for(lambda: maps.head.step.text() == f"step {seen.look.step:,}")


@pytest.mark.parametrize("width", [1024, 1280, 1366, 1600])
def test_no_map_is_cut_at_the_right(student: "Student", width: int) -> None:
    student.window.resize(width, 768)
    area, inside = student.ws.maps.overview, student.ws.maps.overview.widget()
    student.wait_for(lambda: inside.width() <= area.viewport().width())
    assert inside.minimumSizeHint().width() <= area.viewport().width()


@pytest.mark.slow
def test_the_maps_of_another_task_begin_at_the_top(student: "Student") -> None:
    maps, inspection = student.ws.maps, student.ws.session.inspection
    student.window.resize(1024, 640)
    student.window.grab()
    bar = maps.overview.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    student.type("seed", "1")
    student.wait_for(lambda: inspection.seen is not None and inspection.seen.spec.train.seed == 1)
    assert bar.value() > 0, "the same maps of another seed"
    box = student.ws.settings.task
    student.choose(box, box.itemText(box.findData("copy")))
    student.wait_for(lambda: inspection.seen is not None and inspection.seen.spec.task == "copy")
    assert bar.value() == 0
