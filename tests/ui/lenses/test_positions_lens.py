"""The positions lens: the encoding in four plots, its rotation, and shuffled tokens."""

import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment, Weights
from attnlab.attention.registries.positions import POSITIONS, Position, sinusoidal
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.document.settings import Settings
from attnlab.figures.palette import DARK, LIGHT, Palette
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import dress
from attnlab.ui.playground.lenses.positions_lens import PositionsLens
from attnlab.ui.playground.lenses.positions_map import LEAST_WIDTH, MapFigure
from attnlab.ui.playground.lenses.positions_order import OrderPage
from attnlab.ui.widgets.charts.curves import Curve, Curves
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.widgets.surface import Surface
from tests.ui.lenses.beside import Beside

if TYPE_CHECKING:
    from tests.ui.conftest import Person


class Reader:
    """A person at the lens alone, with a real worker."""

    def __init__(self, lens: PositionsLens, service: Beside, qtbot: QtBot) -> None:
        self.lens, self.service, self.qtbot = lens, service, qtbot
        self.edits: list[tuple[str, Callable[[Experiment], Experiment]]] = []
        self.asked: list[Any] = []
        lens.edit_requested.connect(lambda label, change: self.edits.append((label, change)))

    def open(self, e: Experiment, head: int | str = 0) -> None:
        self.lens.show_trace(compute(e), View(head=head))
        self.settle()

    def settle(self) -> None:
        """Wait until the worker has finished all requests."""
        with self.qtbot.waitSignal(self.service.job_done, check_params_cb=lambda key, _: key == "last"):
            self.service.mark("last")

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center() if at is None else at)

    def press(self, name: str) -> None:
        found = [
            button
            for button in self.lens.findChildren(QAbstractButton)
            if button.isVisible() and name in (button.accessibleName(), button.text())
        ]
        assert len(found) == 1, f"{len(found)} buttons are called {name!r}"
        self.click(found[0])
        self.settle()

    def type(self, box: NumberBox, text: str) -> None:
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, text)
        QTest.keyClick(box, Qt.Key.Key_Return)
        self.settle()

    def sentences(self) -> list[str]:
        return [label.text() for label in self.lens.order.sentences if label.isVisible()]


@pytest.fixture
def reader(qtbot: QtBot) -> Iterator[Reader]:
    service = Beside()
    lens = PositionsLens(service.run)
    qtbot.addWidget(lens)
    lens.resize(1100, 760)
    made = Reader(lens, service, qtbot)
    with qtbot.waitExposed(lens):
        lens.show()
    made.settle()
    yield made
    service.stop()
    lens.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def whole(widget: QWidget, inside: QWidget) -> bool:
    """Return whether a widget lies completely inside another."""
    return inside.rect().contains(QRect(widget.mapTo(inside, QPoint(0, 0)), widget.size()))


def curve(plot: Curves, name: str) -> Curve:
    return next(curve for curve in plot.curves if curve.name == name)


def values(figure: MapFigure) -> NDArray[np.floating]:
    assert figure.data is not None
    return figure.data.values[0]


# The encoding


def test_it_opens_with_four_plots_of_128_dimensions_and_100_positions(reader: Reader) -> None:
    page, encoding = reader.lens.encoding, sinusoidal(100, 128).numpy()
    assert (page.d_model.value(), page.positions.value()) == (128, 100)
    assert [panel.isVisible() for panel in page.panels] == [True] * 4
    assert [c.name for c in page.rows.curves] == [f"position {t}" for t in (0, 10, 20, 50)]
    for t in (0, 10, 20, 50):
        np.testing.assert_array_equal(curve(page.rows, f"position {t}").y, encoding[t, :64])
    np.testing.assert_array_equal(values(page.map), encoding[:50])
    assert [c.name for c in page.columns.curves] == [f"dimension {d}" for d in (0, 2, 4, 8, 16)]
    for d in (0, 2, 4, 8, 16):
        np.testing.assert_array_equal(curve(page.columns, f"dimension {d}").y, encoding[:, d])
    assert [(c.name, c.style) for c in page.bars.curves] == [("position 10", "bars"), ("position 20", "bars")]
    np.testing.assert_array_equal(curve(page.bars, "position 20").y, encoding[20, :8])
    assert page.panels[0].title.text() == "Positions 0, 10, 20 and 50 over the first 64 dimensions"


def test_the_values_equal_the_formula(reader: Reader) -> None:
    shown = values(reader.lens.encoding.map)
    for t, i in ((0, 0), (3, 1), (17, 5), (49, 63)):
        angle = t / 10000 ** (2 * i / 128)
        assert shown[t, 2 * i] == pytest.approx(math.sin(angle), abs=1e-10)
        assert shown[t, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-10)


def test_fewer_positions_and_an_odd_width_are_shown(reader: Reader) -> None:
    page = reader.lens.encoding
    reader.type(page.d_model, "5")
    reader.type(page.positions, "15")
    assert [c.name for c in page.rows.curves] == ["position 0", "position 10"]
    assert [c.name for c in page.columns.curves] == ["dimension 0", "dimension 2", "dimension 4"]
    assert [(c.name, len(c.y)) for c in page.bars.curves] == [("position 10", 5)]
    np.testing.assert_array_equal(values(page.map), sinusoidal(15, 5).numpy())
    assert page.panels[0].title.text() == "Positions 0 and 10 over the first 5 dimensions"
    assert page.panels[3].title.text() == "Position 10 over 5 dimensions"
    reader.type(page.positions, "1")
    assert page.bars.curves == ()
    assert page.panels[3].title.text() == "Positions 10 and 20 are not among the first 1"
    reader.lens.grab()  # painting raises nothing


def test_a_click_on_a_plot_enlarges_it_and_a_second_click_restores_all(reader: Reader) -> None:
    panels = reader.lens.encoding.panels
    for i, panel in enumerate(panels):
        small = panel.width()
        inside = panel.content.plot.viewport() if isinstance(panel.content, Curves) else panel.content
        reader.click(inside)
        assert [p.isVisible() for p in panels] == [p is panel for p in panels]
        reader.qtbot.waitUntil(lambda panel=panel, small=small: panel.width() > 1.5 * small)  # type: ignore[misc]
        reader.click(inside)
        assert [p.isVisible() for p in panels] == [True] * 4, i


def test_the_button_of_a_plot_enlarges_it(reader: Reader) -> None:
    reader.press("Enlarge this plot: map")
    assert [panel.isVisible() for panel in reader.lens.encoding.panels] == [False, True, False, False]
    reader.press("Show all plots: map")
    assert all(panel.isVisible() for panel in reader.lens.encoding.panels)


def test_an_invalid_number_is_explained_and_changes_nothing(reader: Reader) -> None:
    page = reader.lens.encoding
    reader.type(page.d_model, "1")
    assert page.fields.message == "d_model: “1” does not fit here; type a whole number from 2 to 1024."
    assert page.d_model.value() == 128
    assert values(page.map).shape == (50, 128)
    reader.type(page.d_model, "6")
    assert page.fields.message == ""


def test_the_tool_tip_of_the_map_has_position_dimension_and_number(reader: Reader) -> None:
    figure = reader.lens.encoding.map
    told = figure.tool_tip(figure.cell_rect(3, 1).center())
    assert told == f"position 3, dimension 1: {math.cos(3):.6g}".replace("-", "−")
    assert figure.tool_tip(figure.rect().topLeft().toPointF()) == ""


@pytest.mark.parametrize("name", sorted(POSITIONS))
def test_the_scheme_of_the_open_experiment_is_shown_with_its_formula(reader: Reader, name: str) -> None:
    e, scheme = edits.configure(preset("journey"), positions=name), POSITIONS[name]
    reader.open(e)
    row = reader.lens.encoding.scheme
    assert row.isVisible()
    assert row.scheme.text() == f"This experiment: {scheme.title}"
    assert row.about.text() == scheme.about
    stages = {stage: compute(e).stage(stage).formula(e) for stage in compute(e).stages}
    changed = "rotated_queries" if scheme.rotate else "biased" if scheme.bias else "inputs"
    assert row.latex == stages[changed]
    assert row.formula.pixmap().width() > 5
    assert reader.lens.encoding.bias_panel.isVisible() == (scheme.bias is not None)


def test_the_bias_of_a_scheme_is_shown_for_each_head(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    def bias(heads: int, t_q: int, t_k: int, p: Any) -> torch.Tensor:
        distance = torch.arange(t_k)[None] - torch.arange(t_q)[:, None]
        return -torch.arange(1, heads + 1)[:, None, None] * distance.abs()

    tried = Position(name="tried", title="tried", about="Far is less.", formula="S - |i - j|", bias=bias)
    monkeypatch.setitem(POSITIONS, "tried", tried)
    e = edits.configure(preset("multi-head-8"), positions="tried")
    reader.open(e)
    page = reader.lens.encoding
    assert page.bias_panel.isVisible()
    assert page.bias_panel.title.text() == "What its positions add to the scores, in each head"
    data = page.bias.data
    assert data is not None
    assert data.titles == tuple(f"head {i}" for i in range(8))
    trace = compute(e, dtype="float64")
    np.testing.assert_allclose(data.values, trace.array("biased") - trace.array("scaled"), atol=1e-10)
    reader.click(page.bias)
    assert not any(panel.isVisible() for panel in page.panels)
    reader.open(preset("journey"))
    assert all(panel.isVisible() for panel in page.panels)
    assert not page.bias_panel.isVisible()
    reader.open(e)
    reader.press("Positions: Order")
    assert reader.sentences()[1].startswith("With tried positions: the largest difference in any head is 0.")


# The rotation


def test_the_rotation_page_shows_both_errors(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    told = reader.lens.rotation.error.text()
    found = re.fullmatch(r"The largest error over positions 0 to 100 is (\S+) in float32 and (\S+) in float64\.", told)
    assert found is not None, told
    float32, float64 = (float(text.replace("−", "-")) for text in found.groups())
    assert 1e-8 < float32 < 1e-6
    assert 0 < float64 < 1e-13


def test_the_matrix_maps_one_position_to_the_next(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    page = reader.lens.rotation
    reader.type(page.d_model, "8")
    reader.type(page.offset, "7")
    encoding = sinusoidal(60, 8).numpy()
    np.testing.assert_allclose(encoding[:50] @ values(page.map), encoding[7:57], atol=1e-10)


def test_the_points_on_the_circle_are_the_pair_at_both_positions(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    page = reader.lens.rotation
    reader.type(page.d_model, "4")
    reader.type(page.pair, "1")
    reader.type(page.position, "20")
    reader.type(page.offset, "30")
    at, later = (f"({math.sin(angle):.4f}, {math.cos(angle):.4f}) at t" for angle in (0.2, 0.5))
    assert f"from {at} = 20 to {later} + φ = 50." in page.caption.text()
    assert "ω·φ = 0.0100 · 30 = 0.3000 rad, 17.2°" in page.caption.text()
    assert "t + φ = 50" in page.circle.accessibleDescription()
    middle = (page.circle.place((1, 0)) + page.circle.place((-1, 0))) / 2
    point = page.circle.place((math.sin(0.5), math.cos(0.5))) - middle
    assert point.x() > 0 > point.y()  # right of the middle and above it
    reader.lens.grab()


def test_a_narrower_encoding_has_fewer_pairs(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    page = reader.lens.rotation
    reader.type(page.pair, "60")
    reader.type(page.d_model, "5")
    assert (page.pair.maximum(), page.pair.value()) == (1, 1)
    assert values(page.map).shape == (4, 4)
    assert page.error.text().endswith("Column 4 is a sine without a cosine and is left out.")
    assert page.caption.text().startswith("Pair 1 turns")


def test_an_offset_of_zero_is_the_identity(reader: Reader) -> None:
    reader.press("Positions: Rotation")
    reader.type(reader.lens.rotation.offset, "0")
    np.testing.assert_array_equal(values(reader.lens.rotation.map), np.eye(8))
    reader.lens.grab()


# The order


def test_without_positions_the_map_follows_its_tokens(reader: Reader) -> None:
    e = preset("journey")
    reader.open(e)
    reader.press("Positions: Order")
    first, second = reader.sentences()
    assert first == "Without positions: the largest difference is 0.0000: attention ignores the order."
    assert re.fullmatch(
        r"With sinusoidal positions: the largest difference is 0\.[0-9]{4}: attention depends on the order\.", second
    )
    as_it_is, moved, restored, difference = reader.lens.order.rows[0]
    names = [figure.accessibleName() for row in reader.lens.order.rows for figure in row]
    assert names[0] == "original, without positions"
    assert names[4] == "original, with sinusoidal positions"
    assert as_it_is.name_cell(0).startswith(names[0])
    assert len(set(names)) == 8
    weights = compute(e, dtype="float64").array("weights")[0]
    np.testing.assert_allclose(values(as_it_is), weights, atol=1e-12)
    assert moved.data is not None
    order = [e.tokens.index(token) for token in moved.data.row_labels]
    assert order != sorted(order)
    assert moved.data.column_labels == moved.data.row_labels
    np.testing.assert_allclose(values(moved), weights[order][:, order], atol=1e-12)
    np.testing.assert_allclose(values(restored), weights, atol=1e-12)
    assert restored.data is not None
    assert restored.data.row_labels == e.tokens
    np.testing.assert_allclose(values(difference), 0, atol=1e-12)


def test_with_positions_the_largest_visible_difference_is_stated(reader: Reader) -> None:
    reader.open(preset("journey"))
    reader.press("Positions: Order")
    as_it_is, _, restored, difference = reader.lens.order.rows[1]
    np.testing.assert_allclose(values(difference), values(restored) - values(as_it_is), atol=1e-15)
    told = re.search(r"is (\d\.\d{4})", reader.sentences()[1])
    assert told is not None
    assert float(told[1]) == pytest.approx(float(np.abs(values(difference)).max()), abs=5e-5)
    assert float(told[1]) > 0.01


def test_shuffle_shows_another_order_and_keeps_the_experiment(reader: Reader) -> None:
    reader.open(preset("journey"))
    reader.press("Positions: Order")
    seen = set()
    for _ in range(4):
        data = reader.lens.order.rows[0][1].data
        assert data is not None
        seen.add(tuple(data.row_labels))
        reader.press("Shuffle")
    assert len(seen) > 2
    assert reader.edits == []


def test_the_visible_order_can_be_applied_to_the_experiment(reader: Reader) -> None:
    e = preset("journey")
    reader.open(e)
    reader.press("Positions: Order")
    reader.press("Shuffle")
    reader.press("Shuffle the tokens of the experiment")
    [(label, change)] = reader.edits
    assert label == "Shuffle the tokens"
    data = reader.lens.order.rows[0][1].data
    assert data is not None
    assert change(e).tokens == tuple(data.row_labels)


def test_a_causal_mask_is_described_as_seeing_the_order(reader: Reader) -> None:
    reader.open(edits.configure(preset("journey"), causal=True))
    reader.press("Positions: Order")
    first, second = reader.sentences()
    assert re.search(r"is 0\.[0-9]{4}: attention ignores the order, but the mask depends on it\.$", first)
    assert second.endswith("attention depends on the order, by its positions and its mask.")
    moved, restored = (figure.data for figure in reader.lens.order.rows[0][1:3])
    assert moved is not None
    assert moved.masked is not None
    assert moved.masked[0].tolist() == [False, True, True, True, True, True]
    assert restored is not None
    assert restored.masked is not None
    assert restored.masked.sum() == 15
    assert not np.array_equal(restored.masked, moved.masked)


def test_a_painted_mask_moves_with_its_tokens(reader: Reader) -> None:
    mask = torch.eye(6, dtype=torch.bool).roll(1, 0) | torch.eye(6, dtype=torch.bool)
    reader.open(edits.configure(preset("journey"), mask=mask))
    reader.press("Positions: Order")
    assert reader.sentences()[0].endswith("attention ignores the order; the mask goes with its tokens.")


def test_the_current_scheme_is_compared_with_none(reader: Reader) -> None:
    reader.open(edits.configure(preset("journey"), positions="sinusoidal"))
    reader.press("Positions: Order")
    first, second = reader.sentences()
    assert first.startswith("Without positions: the largest difference is 0.0000")
    assert second.startswith("With sinusoidal positions: ")


def test_positions_without_effect_are_described_as_such(reader: Reader) -> None:
    e = preset("journey")
    reader.open(edits.with_table(e, "W_q", torch.zeros(3, 2)))
    reader.press("Positions: Order")
    assert reader.sentences()[1].endswith("is 0.0000: with these numbers the positions make no difference.")


def test_in_cross_attention_only_the_queries_are_shuffled(reader: Reader) -> None:
    memory = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    embeddings = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    reader.open(Experiment(("a", "b"), embeddings, memory_tokens=("x", "y", "z"), memory_embeddings=memory))
    reader.press("Positions: Order")
    data = reader.lens.order.rows[0][1].data
    assert data is not None
    assert (tuple(data.row_labels), tuple(data.column_labels)) == (("b", "a"), ("x", "y", "z"))
    assert reader.sentences()[0].endswith("attention ignores the order.")


def test_the_visible_head_is_shown(reader: Reader) -> None:
    e = preset("multi-head-8")
    weights = compute(e, dtype="float64").array("weights")
    reader.open(e, 3)
    reader.press("Positions: Order")
    figure = reader.lens.order.rows[0][0]
    np.testing.assert_allclose(values(figure), weights[3], atol=1e-12)
    reader.lens.show_view(View(head="all"))
    np.testing.assert_allclose(values(figure), weights.mean(0), atol=1e-12)
    assert "mean of 8 heads" in reader.lens.order.caption.text()
    assert "the largest difference in any head is" in reader.sentences()[0]


def test_a_message_says_that_the_maps_are_being_computed(reader: Reader) -> None:
    reader.lens.show_trace(compute(preset("multi-head-8")), View(head="all"))
    reader.click(reader.lens.tabs["order"])
    assert reader.sentences() == ["The tokens are being shuffled…"]
    reader.settle()
    assert len(reader.sentences()) == 2


def test_a_layer_that_is_too_large_shows_a_sentence(reader: Reader) -> None:
    e, one = preset("journey"), torch.ones(1, 1)
    many = Experiment(("a",) * 9000, torch.ones(9000, 1), Weights(one, one, one))
    reader.lens.order.show_experiment(many, 0)
    reader.press("Positions: Order")
    assert reader.sentences()[0].startswith("9000 queries by 9000 keys in 1 head take about 3.0 GiB")
    reader.open(e)
    assert len(reader.sentences()) == 2


def test_one_token_cannot_be_shuffled(reader: Reader) -> None:
    reader.open(Experiment(("alone",), torch.ones(1, 2)))
    reader.press("Positions: Order")
    assert reader.sentences() == ["One token has only one order; add a second word to shuffle them."]
    assert not reader.lens.order.shuffle.isEnabled()
    assert not reader.lens.order.edit.isEnabled()
    reader.open(preset("journey"))
    assert len(reader.sentences()) == 2
    assert reader.lens.order.shuffle.isEnabled()
    assert all(figure.isVisible() for figure in reader.lens.order.rows[0])


# All of it


def test_only_the_open_page_is_computed(reader: Reader) -> None:
    keys: list[Any] = []
    reader.service.job_done.connect(lambda key, _: keys.append(key))
    reader.open(preset("journey"))
    reader.open(preset("the-cat-sat"))
    assert [key for key in keys if key != "last"] == []
    reader.press("Positions: Order")
    assert [key for key in keys if key != "last"] == ["order"]


def test_only_the_last_of_many_experiments_is_shown(reader: Reader) -> None:
    reader.open(preset("journey"))
    reader.press("Positions: Order")
    e = preset("journey")
    for number in range(30):
        e = edits.set_block(e, "W_q", 0, 0, [[number / 10]])
        reader.lens.show_trace(compute(e), View(head=0))
    reader.settle()
    weights = compute(e, dtype="float64").array("weights")[0]
    np.testing.assert_allclose(values(reader.lens.order.rows[0][0]), weights, atol=1e-12)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("size", [(360, 260), (560, 420), (1100, 760)])
def test_every_page_paints_at_any_size_in_both_themes(reader: Reader, palette: Palette, size: tuple[int, int]) -> None:
    dress(reader.lens, palette)
    reader.open(preset("multi-head-causal"), "all")
    reader.lens.resize(*size)
    lens = reader.lens
    shown = {"Encoding": lens.encoding.map, "Rotation": lens.rotation.circle, "Order": lens.order.rows[0][0]}
    for name, figure in shown.items():
        reader.press(f"Positions: {name}")
        card = figure.parentWidget()
        while not isinstance(card, Surface):
            card = card.parentWidget()
        reader.qtbot.waitUntil(lambda card=card, figure=figure: whole(figure, card))  # type: ignore[misc]
        image = card.grab().toImage()
        assert image.pixelColor(4, image.height() // 2).name().upper() == palette.surface
        lens.grab()


@pytest.mark.parametrize("size", [(1280, 800), (1000, 640), (1440, 900)], ids=str)
@pytest.mark.parametrize("type_size", [100, 150])
def test_the_order_page_is_as_wide_as_its_room(
    sit_down: Callable[..., "Person"], size: tuple[int, int], type_size: int
) -> None:
    person = sit_down("multi-head-8", settings=Settings(theme="light", type_size=type_size))
    person.window.resize(*size)
    person.playground.lenses.open_lens("positions/order")
    page = next(iter(person.window.findChildren(OrderPage)))
    person.wait_for(lambda: page.rows[1][3].data is not None)
    shown = [*page.sentences, page.caption, page.shuffle, page.edit, *page.rows[0], *page.rows[1]]
    person.wait_for(lambda: all(whole(widget, page.widget()) for widget in shown))
    assert page.horizontalScrollBar().maximum() == 0
    least = px(LEAST_WIDTH) if page.viewport().width() > px(LEAST_WIDTH) + 56 else 0  # one map takes what there is
    assert all(figure.width() >= least for figure in page.rows[0])
    for button in (page.shuffle, page.edit):
        assert button.fontMetrics().horizontalAdvance(button.text()) < button.width()


def test_maps_are_side_by_side_if_they_fit_and_else_stacked(reader: Reader) -> None:
    reader.open(preset("journey"))
    reader.press("Positions: Order")
    maps = reader.lens.order.rows[0]
    for width, lines in ((1100, 1), (420, 2), (240, 4), (1100, 1)):
        reader.lens.resize(width, 600)
        reader.qtbot.waitUntil(lambda lines=lines: len({figure.y() for figure in maps}) == lines)  # type: ignore[misc]
        reader.qtbot.waitUntil(lambda: reader.lens.order.horizontalScrollBar().maximum() == 0)


def test_pressing_the_current_tab_keeps_it(reader: Reader) -> None:
    for _ in range(2):
        reader.press("Positions: Order")
        assert [name for name, tab in reader.lens.tabs.items() if tab.isChecked()] == ["order"]


def test_every_control_has_a_name_and_a_tool_tip(reader: Reader) -> None:
    reader.open(preset("journey"))
    for name in ("Encoding", "Rotation", "Order"):
        reader.press(f"Positions: {name}")
        controls = [w for kind in (QAbstractButton, NumberBox) for w in reader.lens.findChildren(kind) if w.isVisible()]
        assert controls
        for control in controls:
            said = control.accessibleName() or (control.text() if isinstance(control, QAbstractButton) else "")
            assert said
            assert control.toolTip(), said


# RoPE's own picture


def set_box(reader: Reader, name: str, value: int) -> None:
    boxes = [one for one in reader.lens.findChildren(NumberBox) if one.isVisible() and one.accessibleName() == name]
    assert len(boxes) == 1
    boxes[0].setValue(value)
    reader.settle()


def rope_score(e: Experiment, query: int, key: int) -> float:
    return float(compute(e, dtype="float64")["scores"][0, query, key])


def test_rope_shows_its_own_picture_first_and_other_schemes_do_not(reader: Reader) -> None:
    page = reader.lens.encoding
    reader.open(preset("journey"))
    assert not page.rope.isVisible()
    reader.open(preset("rope"))
    assert page.rope.isVisible()
    first = page.panels[0]
    assert page.rope.mapTo(page, QPoint()).y() < first.mapTo(page, QPoint()).y()
    assert page.comparison.isVisible()


@pytest.mark.parametrize("scheme", ["alibi", "t5-bias"])
def test_biases_are_above_the_sinusoidal_encoding_and_within_the_first_screen(reader: Reader, scheme: str) -> None:
    reader.open(preset(scheme))
    page = reader.lens.encoding
    top = page.bias_panel.mapTo(page, QPoint()).y()
    assert top < page.panels[0].mapTo(page, QPoint()).y()
    assert top + page.bias_panel.height() <= page.viewport().height()


def test_the_scores_of_a_query_and_a_key_that_move_on_together_stay_equal(reader: Reader) -> None:
    e = preset("rope")
    reader.open(e)
    set_box(reader, "query at position", 3)
    set_box(reader, "key at position", 1)
    set_box(reader, "both moved on by", 4)
    told = reader.lens.encoding.rope.told.text()
    assert told.endswith("only the distance counts.")
    same = f"{rope_score(e, 3, 1):.4f}".replace("-", "−")
    assert told.count(same) == 2
    assert "query at 3, key at 1 and query at 7, key at 5" in reader.lens.encoding.rope.picture.accessibleDescription()


def test_scores_other_than_dot_products_do_not_stay_equal(reader: Reader) -> None:
    reader.open(edits.configure(preset("rope"), score="additive"))
    assert "more than the distance counts" in reader.lens.encoding.rope.told.text()


def test_each_pair_turns_by_its_own_angle_and_a_click_chooses_it(reader: Reader) -> None:
    e = preset("rope")
    reader.open(e)
    set_box(reader, "query at position", 4)
    set_box(reader, "key at position", 1)
    picture = reader.lens.encoding.rope.picture
    turns = picture._turns
    assert turns is not None
    for pair in range(e.d_k // 2):
        assert turns.find_turn(pair) == pytest.approx(math.degrees(3 * 10000 ** (-2 * pair / e.d_k)) % 360)
    reader.click(picture, picture.find_small(2).center().toPoint())
    reader.settle()
    assert reader.lens.encoding.rope.pair.value() == 2
    trace = compute(e, dtype="float64")
    half = e.d_k // 2
    query = trace["rotated_queries"][0, 4]
    shown = picture._turns
    assert shown is not None
    angle = math.atan2(float(query[2 + half]), float(query[2]))
    assert math.cos(shown.find_angle(shown.query)) == pytest.approx(math.cos(angle))
    assert math.sin(shown.find_angle(shown.query)) == pytest.approx(math.sin(angle))


def test_the_turns_of_scaled_rope_are_those_of_its_table(reader: Reader) -> None:
    e = edits.configure(preset("rope"), positions="rope_scaled")
    omega = torch.linspace(0.3, 0.01, e.d_k // 2)
    reader.open(edits.with_table(e, "omega", omega[None]))
    set_box(reader, "query at position", 4)
    set_box(reader, "key at position", 1)
    turns = reader.lens.encoding.rope.picture._turns
    assert turns is not None
    found = [turns.find_turn(pair) for pair in range(e.d_k // 2)]
    assert found == pytest.approx([math.degrees(3 * each) % 360 for each in omega.tolist()])
    assert reader.lens.encoding.rope.told.text().endswith("only the distance counts.")
    assert "more slowly" not in reader.lens.encoding.rope.pair.toolTip()


def test_another_head_has_another_query(reader: Reader) -> None:
    e = edits.configure(preset("multi-head-8"), positions="rope")
    reader.open(e, head=0)
    first = reader.lens.encoding.rope.told.text()
    reader.lens.show_view(View(head=3))
    reader.settle()
    assert reader.lens.encoding.rope.told.text() != first
