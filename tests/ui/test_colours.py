"""The colours of a card: the menu of its scale, muted sinks, the sink's column, dropped and filled cells."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QLabel, QMenu

import attnlab
from attnlab.attention.edits import with_setting
from attnlab.attention.edits.token_edits import resize_tokens
from attnlab.attention.stages.explain import Cell
from attnlab.document.saved_view import SavedView, from_plain, to_plain
from attnlab.figures.colour_bar import write_colour_ends
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import AUTOMATIC, SCALES, Colouring
from attnlab.figures.stage_data import SINK
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.playground.colour_menu import ColourMenu

if TYPE_CHECKING:
    from collections.abc import Callable

    from attnlab.attention.experiment import Experiment
    from tests.ui.conftest import Person

LONG = 60
Key = Qt.Key


def shown(person: "Person", stage: str) -> MapData:
    data = person.card(stage).data
    assert data is not None
    return data


def open_menu(person: "Person", stage: str) -> QMenu:
    """Click on the colour bar of a card, or choose Colours in its menu if it has none, and return the menu."""
    card = person.card(stage)
    card.grab()
    if card.bar_rect.isEmpty():
        card.customContextMenuRequested.emit(card.rect().center())
        above = next(each for each in card.findChildren(QMenu) if each.isVisible())
        above.setActiveAction(above.actions()[-1])
        person.key(Key.Key_Right, widget=above)
    else:
        person.click(card, card.bar_rect.center().toPoint())
    menus = person.playground.canvas.findChildren(ColourMenu)
    person.wait_for(lambda: any(each.isVisible() for each in menus))
    return next(each for each in menus if each.isVisible())


def choose(person: "Person", stage: str, title: str) -> None:
    menu = open_menu(person, stage)
    action = next(each for each in menu.actions() if each.text() == title)
    person.click(menu, menu.actionGeometry(action).center())
    person.settle()


def grow(person: "Person", tokens: int) -> None:
    person.document.edit(f"T = {tokens}", lambda e: resize_tokens(e, tokens))
    person.settle()


def test_the_menu_offers_every_scale_and_marks_the_current_one(person: "Person") -> None:
    menu = open_menu(person, "weights")
    assert [each.text() for each in menu.actions() if each.isCheckable()] == [*SCALES.values(), "Mute sinks"]
    menu.close()
    choose(person, "weights", "Square root")
    menu = open_menu(person, "weights")
    assert [each.text() for each in menu.actions() if each.isChecked()] == ["Square root"]
    menu.close()
    assert shown(person, "weights").scale.curve == "sqrt"
    assert shown(person, "scores").scale.curve == "linear"


def test_signed_numbers_are_not_offered_a_scale_from_zero_to_one(person: "Person") -> None:
    menu = open_menu(person, "queries")
    assert [each.text() for each in menu.actions() if each.isCheckable()] == [
        title for name, title in SCALES.items() if name != "full"
    ]
    menu.close()


def test_each_head_can_have_its_own_scale(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8", size=(1900, 1000))
    card = person.playground.canvas.heads
    card.grab()
    person.click(card, card.bar_rect.center().toPoint())
    menu = next(each for each in person.playground.canvas.findChildren(QMenu) if each.isVisible())
    action = next(each for each in menu.actions() if each.text() == "A scale for each head")
    person.click(menu, menu.actionGeometry(action).center())
    person.settle()
    data = card.data
    assert data is not None
    assert len(data.scale.own) == 8
    assert all(own >= values.max() for own, values in zip(data.scale.own, data.values, strict=True))
    assert len(set(data.scale.own)) > 1


def test_long_rows_say_that_numbers_lie_beyond_the_scale(person: "Person") -> None:
    assert shown(person, "weights").scale.limit == 1
    grow(person, LONG)
    scale = shown(person, "weights").scale
    assert scale.limit < 1
    assert scale.clipped
    assert write_colour_ends(shown(person, "weights"))[1].startswith("≥ ")
    person.card("weights").grab()
    assert not person.card("weights").bar_rect.isEmpty()
    choose(person, "weights", SCALES["full"])
    assert write_colour_ends(shown(person, "weights")) == ("0", "1")


def test_muted_sinks_are_grey_and_keep_their_numbers(person: "Person") -> None:
    before = person.painted("weights")
    choose(person, "weights", "Mute sinks")
    data = shown(person, "weights")
    assert data.muted == (0,)
    np.testing.assert_array_equal(data.values, before)
    card = person.card("weights")
    picture = card.grab().toImage()
    first, other = (
        picture.pixelColor((card.cell_rect(2, column).topLeft() + QPointF(4, 4)).toPoint()) for column in (0, 1)
    )
    assert max(first.red(), first.green(), first.blue()) - min(first.red(), first.green(), first.blue()) < 20
    assert other.hslSaturation() > first.hslSaturation()


def test_the_share_of_a_sink_has_its_own_column(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("attention-sink", size=(1900, 1000))
    data = shown(person, "weights")
    e = person.experiment
    assert data.column_labels == (*e.key_tokens, SINK)
    np.testing.assert_allclose(data.values.sum(-1), 1, rtol=1e-6)
    logits = attnlab.compute(e).array("scaled")
    powers = np.exp(np.concatenate([logits, np.broadcast_to(_sinks(e)[:, None, None], (*logits.shape[:2], 1))], -1))
    np.testing.assert_allclose(data.values, powers / powers.sum(-1, keepdims=True), rtol=2e-5)
    at = person.cell("weights", 1, e.T_k)
    assert person.tip(person.card("weights"), at).endswith(f"cat → sink: {data.values[0, 1, -1]!s}")
    held = person.document.view.cell
    person.click(person.card("weights"), at)
    assert person.document.view.cell == held
    person.click_cell("weights", 1, 2)
    rows = [person.playground.explain.bars.row_text(n) for n in range(e.T_k + 1)]
    assert rows[-1] == f"{data.values[0, 1, -1]:.4f}"


def _sinks(e: "Experiment") -> np.ndarray:
    return e.weights.extra["sinks"].numpy()


def test_dropped_out_cells_are_crossed_out_and_have_no_number(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("dropout")
    data = shown(person, "dropped")
    assert data.dropped is not None
    assert data.dropped.any()
    assert not data.values[data.dropped].any()
    index, row, column = np.argwhere(data.dropped)[0].tolist()
    assert person.tip(person.card("dropped"), person.cell("dropped", row, column, index)).endswith(": dropped out")


@pytest.mark.parametrize("fill", ["-inf", "-1e9", "0"])
def test_masked_cells_are_hatched_with_every_fill(person: "Person", fill: str) -> None:
    person.document.edit("Causal", lambda e: with_setting(e, causal=True, fill=fill))
    person.settle()
    hidden = ~np.tri(person.experiment.T_q, dtype=bool)
    for stage in ("masked", "weights"):
        data = shown(person, stage)
        marked = [cells for cells in (data.masked, data.filled) if cells is not None]
        assert len(marked) == 1
        np.testing.assert_array_equal(marked[0], hidden)


def test_the_pinned_state_stands_beside_the_current_one(person: "Person") -> None:
    person.press("Pin")
    before = person.painted("weights")
    person.press("Causal")
    person.settle()
    person.press("Both")
    data = shown(person, "weights")
    assert data.titles == ("pinned", "now")
    np.testing.assert_array_equal(data.values[0], before[0])
    np.testing.assert_array_equal(data.values[1], attnlab.compute(person.experiment).array("weights")[0])
    assert data.find_masked(0) is not None
    assert not data.find_masked(0).any()
    assert data.find_masked(1).any()
    assert len(shown(person, "masked").values) == 1  # the pinned state has no such stage
    one, other = (person.tip(person.card("weights"), person.cell("weights", 0, 0, index)) for index in (0, 1))
    assert one.startswith("pinned\nYour → Your: 0.15")
    assert other == "now\nYour → Your: 1.0"
    person.click_cell("weights", 2, 1, index=0)
    assert person.document.view.cell == Cell("weights", 2, 1, 0)
    assert "0.3791" in " ".join(label.text() for label in person.playground.explain.findChildren(QLabel))


def test_states_of_different_sizes_say_why_they_cannot_stand_side_by_side(person: "Person") -> None:
    person.press("Pin")
    grow(person, 7)
    person.press("Both")
    card = person.card("weights")
    assert card.data is None
    assert card.accessibleName().endswith("side by side: 7 × 7 now, 6 × 6 pinned.")


def test_the_choices_are_saved_with_the_session(person: "Person") -> None:
    choose(person, "weights", "Logarithm")
    saved, dropped = from_plain(to_plain(SavedView(person.document.view)), person.experiment)
    assert not dropped
    assert saved.view.colouring("weights") == Colouring("log")
    assert saved.view.colouring("scores") == AUTOMATIC


@pytest.mark.parametrize("wrong", [{"weights": {"scale": "cubic"}}, {"nothing": {}}, {"weights": 3}, [1]])
def test_wrong_choices_in_a_file_are_named(person: "Person", wrong: object) -> None:
    saved, dropped = from_plain({"colours": wrong}, person.experiment)
    assert dropped == ("the colours",)
    assert saved.view.colours == ()


def test_a_figure_has_the_scale_of_the_card_and_both_states(person: "Person") -> None:
    choose(person, "weights", "Logarithm")
    person.press("Pin")
    person.press("Causal")
    person.settle()
    person.press("Both")
    person.click_cell("weights", 2, 1)
    person.playground.files.ask_export()
    dialog = person.window.findChild(ExportDialog)
    assert dialog is not None
    person.qtbot.waitSignal(dialog.previewed).wait()
    spec = dialog.form.read_spec()
    assert (spec.scale, spec.each_head, spec.mute_sinks) == ("log", False, False)
    assert dialog.preview.page is not None
    panel = dialog.preview.page.panels[0][2]
    assert panel.data.titles == ("pinned", "now")
    assert panel.data.scale.curve == "log"
    person.click(dialog.form.mute_sinks)
    assert dialog.form.read_spec().mute_sinks
    dialog.close()
