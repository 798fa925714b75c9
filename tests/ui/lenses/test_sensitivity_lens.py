"""The sensitivity lens: pointing at a number tints the weights, the held weight tints the tables, all as read."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHeaderView, QWidget

import attnlab
from attnlab.attention import edits
from attnlab.attention.measures.sensitivity import Number, measure_causes, measure_effects
from attnlab.attention.stages.explain import Cell
from attnlab.document.settings import Settings
from attnlab.figures.text import Pen
from attnlab.ui.base.theme import px
from attnlab.ui.playground.lenses.positions_map import BAR
from attnlab.ui.playground.lenses.sensitivity_lens import SensitivityLens
from attnlab.ui.widgets.maps.spoken_maps import join_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from attnlab.ui.playground.lenses.sensitivity_maps import DerivativeMap
    from tests.ui.conftest import Person


def finish(person: "Person") -> None:
    person.settle()
    person.wait_for(lambda: not person.playground.lane.busy)


def open_lens(person: "Person") -> SensitivityLens:
    person.playground.lenses.open_lens("sensitivity")
    finish(person)
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, SensitivityLens)
    person.wait_for(lambda: all(figure.isVisible() for figure in lens.tables.values()))
    return lens


def values(figure: "DerivativeMap") -> "np.ndarray[tuple[int, ...], np.dtype[np.floating]]":
    assert figure.data is not None
    return figure.data.values


def point_at(person: "Person", figure: "DerivativeMap", row: int, column: int) -> None:
    at = figure.cell_rect(row, column).center()
    where = figure.mapToGlobal(at.toPoint())
    no = Qt.MouseButton.NoButton
    event = QMouseEvent(QEvent.Type.MouseMove, at, QPointF(where), no, no, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(figure, event)
    finish(person)


def leave(person: "Person", figure: "DerivativeMap") -> None:
    QApplication.sendEvent(figure, QEvent(QEvent.Type.Leave))
    finish(person)


def click(person: "Person", figure: "DerivativeMap", row: int, column: int) -> None:
    at = figure.cell_rect(row, column).center().toPoint()
    QTest.mouseClick(figure, Qt.MouseButton.LeftButton, pos=at)
    finish(person)


def find_cell(figure: "DerivativeMap", head: int, row: int, column: int) -> "QPoint":
    assert figure.data is not None
    return figure.locate_cell(join_cell(figure.shape(), (head, row, column))).center().toPoint()


def test_the_held_weight_tints_every_number_and_names_the_one_that_moves_it_most(person: "Person") -> None:
    person.click_cell("weights", 1, 2)
    lens = open_lens(person)
    e = person.experiment
    causes = measure_causes(e, 0, 1, 2)
    assert list(lens.tables) == ["embeddings", "W_q", "W_k", "W_v"]
    for name, figure in lens.tables.items():
        np.testing.assert_allclose(values(figure)[0], causes[name], rtol=1e-6)
    text = lens.causes_text.text()
    weight = attnlab.compute(e).array("weights")[0, 1, 2]
    assert text.startswith(f"The weight “journey” → “starts” is {weight:.4f}. ")
    name, row, column = max(
        ((name, *np.unravel_index(np.abs(d).argmax(), d.shape)) for name, d in causes.items()),
        key=lambda each: abs(causes[each[0]][each[1], each[2]]),
    )
    shown = f"X of “{e.tokens[row]}”, column {column}" if name == "embeddings" else f"{name}[{row}, {column}]"
    slope = causes[name][row, column]
    assert f"{shown} moves it most: 0.01 more {'raises' if slope > 0 else 'lowers'} it by about" in text
    table = "X" if name == "embeddings" else name
    assert lens.largest.text().splitlines()[1].startswith(f"{table}[{row}, {column}]\t")


def test_pointing_at_a_number_tints_the_weights_as_long_as_it_is_pointed_at(person: "Person") -> None:
    person.click_cell("weights", 1, 2)
    lens = open_lens(person)
    before = values(lens.effects)
    point_at(person, lens.tables["W_q"], 2, 1)
    e = person.experiment
    expected = measure_effects(e, Number("W_q", 2, 1))
    np.testing.assert_allclose(values(lens.effects), expected, rtol=1e-6)
    assert lens.effects_text.text().startswith("W_q[2, 1] is ")
    assert lens.check.text().startswith("d weight(“journey” → “starts”) ÷ d W_q[2, 1] = ")
    said = [
        part.strip(".").replace("−", "-") for part in lens.check.text().split(" = ")[1].split("; trying ± 0.001 gives ")
    ]
    assert float(said[0]) == pytest.approx(expected[0, 1, 2], abs=5e-9)
    assert float(said[1]) == pytest.approx(float(said[0]), abs=1e-6)
    leave(person, lens.tables["W_q"])
    np.testing.assert_array_equal(values(lens.effects), before)


def test_a_clicked_number_is_kept_and_follows_edits(person: "Person") -> None:
    person.click_cell("weights", 1, 2)
    lens = open_lens(person)
    click(person, lens.tables["embeddings"], 2, 0)
    leave(person, lens.tables["embeddings"])
    assert lens.effects_text.text().startswith("X of “starts”, column 0 is ")
    person.document.edit("Set", lambda e: edits.set_block(e, "embeddings", 2, 0, [[0.5]]))
    finish(person)
    assert lens.effects_text.text().startswith("X of “starts”, column 0 is 0.5000. ")
    np.testing.assert_allclose(
        values(lens.effects), measure_effects(person.experiment, Number("embeddings", 2, 0)), rtol=1e-6
    )
    click(person, lens.tables["embeddings"], 2, 0)  # lets it go
    leave(person, lens.tables["embeddings"])
    assert lens.chosen is None


def test_keys_walk_a_table_and_enter_keeps_the_number(person: "Person") -> None:
    lens = open_lens(person)
    figure = lens.tables["W_k"]
    figure.setFocus()
    QTest.keyClick(figure, Qt.Key.Key_Right)
    QTest.keyClick(figure, Qt.Key.Key_Down)
    QTest.keyClick(figure, Qt.Key.Key_Return)
    finish(person)
    assert lens.chosen is not None
    assert lens.chosen.table == "W_k"
    assert lens.effects_text.text().startswith(f"W_k[{lens.chosen.row}, {lens.chosen.column}] is ")


def test_a_click_on_a_weight_holds_it_and_a_row_of_the_list_chooses_its_number(person: "Person") -> None:
    lens = open_lens(person)
    click(person, lens.effects, 3, 1)
    assert person.document.view.cell == Cell("weights", 3, 1, 0)
    assert lens.causes_text.text().startswith("The weight “with” → “journey” is ")
    click(person, lens.effects, 3, 1)  # holds it still
    assert person.document.view.pinned
    lens.largest.row_activated.emit(1)
    finish(person)
    assert lens.chosen is not None
    table = "X" if lens.chosen.table == "embeddings" else lens.chosen.table
    place = f"{table}[{lens.chosen.row}, {lens.chosen.column}]"
    assert lens.largest.text().splitlines()[2].startswith(f"{place}\t")


def test_values_move_no_weight_and_fixed_weights_are_explained(person: "Person") -> None:
    lens = open_lens(person)
    point_at(person, lens.tables["W_v"], 0, 0)
    assert lens.effects_text.text().endswith(
        "It moves no weight: the values are mixed by the weights, and do not change them."
    )
    leave(person, lens.tables["W_v"])
    person.document.edit("Causal", lambda e: edits.configure(e, causal=True))
    person.document.show(cell=Cell("weights", 0, 0, 0), pinned=True)
    finish(person)
    assert lens.causes_text.text().endswith(
        "No number moves it: it is the only visible key of its row, so it is always 1."
    )
    assert not lens.largest.isVisible()
    person.document.show(cell=Cell("weights", 0, 1, 0), pinned=True)
    finish(person)
    assert lens.causes_text.text().endswith("No number moves it: it is masked.")


def test_a_number_that_is_multiplied_by_0_is_not_called_saturated(sit_down: "Callable[..., Person]") -> None:
    eye = np.eye(2)
    weights = attnlab.Weights(W_q=0 * eye, W_k=0 * eye, W_v=eye)
    lens = open_lens(sit_down(attnlab.Experiment(tokens=("a", "b"), embeddings=eye, weights=weights)))
    assert lens.effects_text.text() == (
        "X of “a”, column 0 is 1.0000. It moves no weight: none depends on it, it is multiplied by 0, or each weight "
        "is 0 or 1 to the last digit."
    )


def test_eight_heads_are_tinted_together(person: "Person") -> None:
    person.playground.open_preset("multi-head-8")
    finish(person)
    lens = open_lens(person)
    assert values(lens.heads).shape[0] == 8
    assert values(lens.effects).shape[0] == 1
    assert " of head\u00a00 is " in lens.causes_text.text()
    assert values(lens.tables["W_q"]).shape == (1, 64, 8)  # the columns of the held head
    click(person, lens.tables["W_q"], 3, 1)
    assert lens.chosen == Number("W_q", 3, 1)
    QTest.mouseClick(lens.heads, Qt.MouseButton.LeftButton, pos=find_cell(lens.heads, 1, 2, 3))
    finish(person)
    leave(person, lens.tables["W_q"])
    assert person.document.view.cell == Cell("weights", 2, 3, 1)
    assert values(lens.heads)[0].any()  # the number that was clicked is of head 0
    click(person, lens.tables["W_q"], 3, 1)
    assert lens.chosen == Number("W_q", 3, 9)
    assert not values(lens.heads)[0].any()
    np.testing.assert_array_equal(values(lens.effects)[0], values(lens.heads)[1])
    QTest.mouseClick(lens.effects, Qt.MouseButton.LeftButton, pos=lens.effects.cell_rect(2, 4).center().toPoint())
    finish(person)
    assert person.document.view.cell == Cell("weights", 2, 4, 1)


def test_no_card_is_shown_before_there_is_something_on_it(person: "Person") -> None:
    person.playground.lenses.open_lens("sensitivity")
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, SensitivityLens)
    assert not lens.effects.isVisible()
    assert lens.problem.isVisible()
    assert lens.problem.text() == "Computing the derivatives …"
    finish(person)
    assert lens.effects.isVisible()
    assert lens.heads.isHidden(), "there is one head only"
    assert not lens.problem.isVisible()


def test_the_maps_of_every_head_follow_the_large_one(sit_down: "Callable[..., Person]") -> None:
    """The large map got half of the height, which its narrow cells could not use."""
    person = sit_down(attnlab.preset("multi-head-8"), size=(1366, 768))
    lens = open_lens(person)
    person.wait_for(lambda: lens.heads.locate_cell(0).left() > px(24))  # the labels of the rows have room
    below = lens.heads.y() - lens.effects.y() - lens.effects.cell_rect(9, 0).bottom()
    assert below < px(2 * BAR)


def test_overflow_is_one_sentence_and_goes_again(person: "Person") -> None:
    lens = open_lens(person)
    person.document.edit("Scale", lambda e: edits.scale(e, "W_q", 1e38))
    person.document.edit("Scale", lambda e: edits.scale(e, "W_k", 1e38))
    finish(person)
    assert lens.problem.text() == "" or "no derivatives while weights are" in lens.problem.text()
    person.document.undo()
    person.document.undo()
    finish(person)
    assert lens.problem.text() == ""
    assert lens.effects.isVisible()


def test_tables_of_many_columns_fill_their_height(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(edits.resize(attnlab.preset("journey"), d_k=64, d_v=64))
    lens = open_lens(person)

    def is_filled(figure: "DerivativeMap") -> bool:
        first, last = figure.cell_rect(0, 0), figure.cell_rect(2, 63)
        return first.width() >= 3 and figure.height() - BAR - last.bottom() < first.height()

    for size in ((1366, 768), (1920, 1080)):
        person.window.resize(*size)
        for name in ("W_q", "W_k"):
            person.wait_for(lambda figure=lens.tables[name]: is_filled(figure))


def test_a_large_window_has_room_for_the_list_and_for_larger_maps(person: "Person") -> None:
    lens = open_lens(person)
    sizes = {}
    for size in ((1366, 768), (1920, 1080)):
        person.window.resize(*size)
        person.window.grab()  # which lays out what was asked for
        sizes[size] = lens.effects.cell_rect(2, 1)
        last = lens.effects.cell_rect(5, 5)
        assert last.right() >= 0.8 * lens.effects.width()
    assert sizes[1920, 1080].width() > 1.6 * sizes[1366, 768].width()
    assert sizes[1920, 1080].height() > 1.3 * sizes[1366, 768].height()
    assert lens.effects.zoom > 1.2
    assert min(each.count_decimals() or 0 for each in lens.tables.values() if not each.data.exponent) >= 3
    within = lens.rect()
    for part in (lens.largest, lens.effects, lens.tables["W_v"]):
        assert within.contains(part.rect().translated(part.mapTo(lens, QPoint(0, 0)))), "without scrolling"


@pytest.mark.parametrize(("size", "type_size"), [((1366, 768), 100), ((1366, 768), 150), ((1920, 1080), 100)])
def test_tables_have_one_size_of_cells_and_of_type(
    sit_down: "Callable[..., Person]", size: tuple[int, int], type_size: int
) -> None:
    """The one column of W_q had much room beside X, and took it."""
    layer = edits.configure(attnlab.preset("journey-linear"), n_heads=2)
    lens = open_lens(sit_down(layer, size=size, settings=Settings(type_size=type_size)))
    tables = [lens.tables[name] for name in ("embeddings", "W_q", "W_k", "W_v")]
    for figure in tables:
        figure.grab()  # which lays out what was asked for
    assert len({figure.cell_rect(0, 0).size().toTuple() for figure in tables}) == 1
    assert len({figure.zoom for figure in tables}) == 1


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_lines_of_tables_follow_close_on_each_other(sit_down: "Callable[..., Person]", size: tuple[int, int]) -> None:
    """X and M have fewer rows than W_q below them."""
    person = sit_down(attnlab.preset("cross-attention"), size=size)
    tables = list(open_lens(person).tables.values())

    def are_close() -> bool:
        bottoms = [each.y() + each.cell_rect(each.shape()[1] - 1, 0).bottom() for each in tables]
        tops = {each.y() for each in tables} - {0}
        return bool(tops) and all(top - max(each for each in bottoms if each < top) < px(BAR + 24) for top in tops)

    person.wait_for(are_close)


def test_in_a_narrow_window_the_list_is_the_last_card(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(settings=Settings(type_size=175))
    lens = open_lens(person)
    person.window.resize(1024, 640)

    def find_top(part: QWidget) -> int:
        return part.mapTo(lens, QPoint(0, 0)).y()

    person.wait_for(lambda: find_top(lens.effects) > find_top(lens.tables["W_v"]))
    assert find_top(lens.largest) > find_top(lens.effects)
    assert lens.effects.width() > 0.7 * lens.width()


def test_titles_of_columns_follow_the_size_of_type(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(settings=Settings(theme="light", type_size=175))
    titles = open_lens(person).largest.view.horizontalHeader()
    large = measure_letters(titles)
    person.window.change_settings(theme="dark", type_size=100)
    finish(person)
    person.window.grab()  # which lays out what was asked for
    assert measure_letters(titles) < 0.75 * large


@pytest.mark.parametrize("type_size", [100, 175])
def test_all_maps_have_one_number_of_decimals(
    sit_down: "Callable[..., Person]", type_size: int, decimals_drawn: list[int]
) -> None:
    """The six columns of the weights have room for fewer decimals than the two of W_q."""
    person = sit_down(size=(1366, 768), settings=Settings(type_size=type_size))
    lens = open_lens(person)
    maps = (lens.effects, *lens.tables.values())
    person.wait_for(lambda: all(figure.count_decimals() for figure in maps))
    maps = tuple(figure for figure in maps if not figure.data.exponent)
    decimals_drawn.clear()
    for figure in maps:
        figure.grab()
    assert len(decimals_drawn) >= sum(np.count_nonzero(values(figure)) for figure in maps)
    assert len(set(decimals_drawn)) == 1


def test_small_derivatives_have_digits(sit_down: "Callable[..., Person]", numbers_drawn: list[str]) -> None:
    person = sit_down(size=(1366, 768))
    lens = open_lens(person)
    small = lens.tables["W_q"]
    assert 0.01 < np.abs(values(small)).max() < 0.1
    person.wait_for(lambda: bool(small.count_decimals()))
    numbers_drawn.clear()
    small.grab()
    told = [f"{100 * value:.2f}" for value in values(small).ravel()]
    assert small.heading == "W_q  × 10⁻²"
    assert sorted(numbers_drawn) == sorted(told)
    numbers_drawn.clear()
    lens.tables["W_v"].grab()
    assert set(numbers_drawn) == {"0"}, "a weight does not move with a value at all"


def test_colour_bars_say_the_numbers_of_their_cells(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    lens = open_lens(person)
    below: dict[str, list[str]] = {name: [] for name in lens.tables}
    draw = Pen.draw
    for name, figure in lens.tables.items():

        def record(pen: Pen, x: float, y: float, text: str, *others: float, name: str = name) -> None:
            if others[1:] == (0.0,):  # below y
                below[name].append(text)
            draw(pen, x, y, text, *others)

        with monkeypatch.context() as patch:
            patch.setattr(Pen, "draw", record)
            figure.grab()
    small = 100 * float(np.abs(values(lens.tables["W_q"])).max())
    assert lens.tables["W_q"].heading.endswith("× 10⁻²")
    assert below["W_q"] == [f"−{small:.2f}", "0", f"{small:.2f}"]
    assert below["W_v"] == [], "it has no range, so no colour bar"


def measure_letters(titles: QHeaderView) -> int:
    """Return the height of what is written, from the first to the last line of pixels with more than one colour."""
    picture = titles.grab().toImage()
    rows = [y for y in range(picture.height()) if len({picture.pixel(x, y) for x in range(60)}) > 1]
    return rows[-1] - rows[0]
