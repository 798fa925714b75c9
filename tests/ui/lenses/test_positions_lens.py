"""The positions lens: the encoding in four plots, its rotation, and shuffled tokens."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from PySide6.QtWidgets import QAbstractButton

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.registries.positions import POSITIONS, Position, sinusoidal
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.document.settings import Settings
from attnlab.figures.palette import DARK, LIGHT, Palette
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import dress
from attnlab.ui.playground.lenses.positions_map import LEAST_WIDTH
from attnlab.ui.playground.lenses.positions_order import OrderPage
from attnlab.ui.widgets.charts.curves import Curves
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.widgets.surface import Surface

if TYPE_CHECKING:
    from tests.ui.conftest import Person
from tests.ui.lenses.positions_reader import Reader, curve, values, whole

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


def test_a_page_is_blank_until_its_first_result(reader: Reader) -> None:
    """Charts without curves have no axes, and jumped when they got them."""
    page = reader.lens.rotation
    reader.click(reader.lens.tabs["rotation"])
    assert page.isVisible()
    assert not page.widget().isVisible()
    reader.settle()
    assert page.widget().isVisible()


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


@pytest.mark.slow
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
    assert row.scheme.text() == f"Positions here: {scheme.title}"
    assert row.about.text() == scheme.about
    stages = {stage: compute(e).stage(stage).formula(e) for stage in compute(e).stages}
    changed = "rotated_queries" if scheme.rotate else "biased" if scheme.bias else "inputs"
    assert row.latex == stages[changed]
    assert row.formula.pixmap().width() > 5
    assert row.formula.isVisible() == (name != "none")  # which changes nothing
    assert reader.lens.encoding.bias_panel.isVisible() == (scheme.bias is not None)


@pytest.mark.slow
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


@pytest.mark.slow
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
