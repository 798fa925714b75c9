"""A pinned state is compared with the current one on every card: before, after, and exact difference."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QListWidget, QPushButton

import attnlab
from attnlab.attention import edits
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.trace import Trace
from attnlab.attention.stages.walk import Place
from attnlab.figures.map_data import MapData
from attnlab.figures.panels.figure_panel import make_map_data
from attnlab.ui.export.export_dialog import ExportDialog

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def maps(trace: Trace, name: str) -> np.ndarray:
    array = trace.array(name)
    return array if array.ndim == 3 else array[None]


def data(person: "Person", stage: str) -> MapData:
    shown = person.card(stage).data
    assert shown is not None, f"{stage} shows nothing"
    return shown


def reason(person: "Person", stage: str) -> str:
    """Return the message of a card without numbers."""
    card = person.card(stage)
    assert card.isVisible()
    assert card.data is None
    person.window.grab()
    return card.accessibleName().removeprefix(f"{card.stage.title}: ")


def compared(person: "Person") -> str:
    """Return Explain's text about the pinned state, "" for none."""
    labels = person.playground.explain.findChildren(QLabel)
    return next((one.text() for one in labels if one.isVisible() and one.text().startswith("pinned ")), "")


def look_at(person: "Person", look: str) -> None:
    person.press(look)


def check_all(person: "Person", before: Experiment, after: Experiment) -> None:
    """Show all three views, and compare every number of every card with the two experiments."""
    person.settle()
    then, now = attnlab.compute(before), attnlab.compute(after)
    assert person.experiment is after
    limits: dict[str, float] = {}
    look_at(person, "Pinned")
    for name in now.all_stages:
        if name not in then:
            person.playground.code.copy_picture(name, "all")
            title = now.stage(name).title
            assert reason(person, name) == person.message() == f"The pinned state has no stage “{title}”."
            continue
        np.testing.assert_array_equal(person.painted(name), maps(then, name), name)
        limits[name] = data(person, name).limit
    look_at(person, "Difference")
    for name in limits:
        old, new = maps(then, name), maps(now, name)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(person.painted(name), np.where(old == new, 0, new - old), name)
        assert data(person, name).kind == "signed"
    look_at(person, "Present")
    for name in now.all_stages:
        np.testing.assert_array_equal(person.painted(name), maps(now, name), name)
        if name in limits:
            assert data(person, name).limit == limits[name], f"{name} has two scales"


def test_nothing_is_compared_until_a_state_is_pinned(person: "Person") -> None:
    looks = person.playground.lenses.bar.looks
    assert not looks.isVisible()
    person.press("Pin")
    assert looks.isVisible()
    assert looks.value() == "present"
    person.press("Unpin")
    assert not looks.isVisible()


@pytest.mark.parametrize("text", ["9", "-0.1"])
def test_a_changed_number_of_w_q_is_compared_on_every_card(person: "Person", text: str) -> None:
    before = person.experiment
    person.press("Pin")
    person.open_table("W_q")
    person.type_number(0, 0, text)
    check_all(person, before, edits_of(person))
    then, now = attnlab.compute(before), attnlab.compute(person.experiment)
    largest = max(float(np.abs(each.array("scores")).max()) for each in (then, now))
    assert data(person, "scores").limit == pytest.approx(largest)
    look_at(person, "Difference")
    assert not person.painted("values").any()
    assert person.painted("queries").any()
    look_at(person, "Present")


def test_a_figure_and_a_table_hold_what_the_cards_show(person: "Person", tmp_path: Path) -> None:
    before = attnlab.compute(person.experiment).array("weights")
    person.press("Pin")
    person.open_table("W_q")
    person.type_number(0, 0, "9")
    person.settle()
    now = attnlab.compute(person.experiment).array("weights")
    person.click_cell("weights", 0, 0)
    for look, wanted in (("Present", now), ("Pinned", before), ("Difference", now - before)):
        look_at(person, look)
        person.settle()
        person.playground.files.ask_export()
        (dialog,) = person.window.findChildren(ExportDialog)
        drawn = make_map_data(dialog._source, "weights", dialog.form.read_spec().head)
        np.testing.assert_array_equal(drawn.values, wanted)
        assert dialog.form.name.text() == f"journey-{look.lower()}-weights".replace("-present", "")
        dialog.form.format.setCurrentIndex(dialog.form.format.findData("npy"))
        assert dialog.export_to(tmp_path / f"{look}.npy")
        np.testing.assert_array_equal(np.load(tmp_path / f"{look}.npy").reshape(wanted.shape), wanted)
        person.wait_for(lambda: person.window.findChild(ExportDialog) is None)
    assert person.window.actions_list.run("copy-picture")
    assert b"Difference from" in QGuiApplication.clipboard().mimeData().data("image/svg+xml").data()
    assert person.message().startswith("Copied difference of weights of head 0 as a picture")


def edits_of(person: "Person") -> Experiment:
    person.settle()
    return person.experiment


@pytest.mark.parametrize("change", ["causal", "normalizer", "positions", "scale"])
def test_a_changed_switch_is_compared_on_every_card(person: "Person", change: str) -> None:
    before = person.experiment
    person.press("Pin")
    match change:
        case "causal":
            person.press("Causal")
        case "normalizer":
            person.choose("Weights", "sparsemax")
        case "positions":
            person.choose("Positions", "sinusoidal")
        case "scale":
            person.choose("Scale", "none")
    check_all(person, before, edits_of(person))


def test_a_cell_masked_in_both_states_has_no_change(person: "Person") -> None:
    person.press("Causal")
    person.settle()
    person.press("Pin")
    person.open_table("W_k")
    person.type_number(1, 1, "-2")
    person.settle()
    look_at(person, "Difference")
    future = np.triu_indices(6, 1)
    assert (person.painted("masked")[0][future] == 0).all()
    assert person.tip(person.card("masked"), person.cell("masked", 0, 3)).endswith("masked")
    assert np.isfinite(person.painted("masked")).all()
    look_at(person, "Present")


def test_a_cell_masked_in_one_state_has_an_infinite_change(person: "Person") -> None:
    person.press("Causal")
    person.settle()
    before = person.experiment
    person.press("Pin")
    person.document.edit("Window 2", lambda e: edits.configure(e, masks={"window": 2}))
    check_all(person, before, edits_of(person))
    look_at(person, "Difference")
    assert person.painted("masked")[0, 5, 0] == -np.inf
    assert "−∞" in person.tip(person.card("masked"), person.cell("masked", 5, 0))
    look_at(person, "Present")


def test_different_sizes_are_reported_and_the_pinned_state_can_be_seen(person: "Person") -> None:
    keys = person.painted("keys").copy()
    person.press("Pin")
    person.set_size("T", "4")
    person.settle()
    look_at(person, "Difference")
    assert reason(person, "weights") == "No difference: the sizes are 1×4×4 and 1×6×6."
    person.playground.files.export_stage("weights", "all")
    assert person.message() == reason(person, "weights")
    assert person.window.findChild(ExportDialog) is None
    person.playground.code.copy_picture("inputs", "all")
    assert person.message() == reason(person, "inputs") == "No difference: the sizes are 4×3 and 6×3."
    look_at(person, "Pinned")
    np.testing.assert_array_equal(person.painted("keys"), keys)
    assert person.labels("keys")[0] == attnlab.preset("journey").tokens
    look_at(person, "Present")
    assert person.painted("weights").shape == (1, 4, 4)


def test_a_head_missing_in_the_pinned_state_is_reported(person: "Person") -> None:
    person.press("Pin")
    person.choose("Heads", "2")
    person.settle()
    look_at(person, "Difference")
    assert reason(person, "weights") == "No difference: the sizes are 2×6×6 and 1×6×6."
    heads = person.playground.canvas.heads
    assert heads.accessibleName().endswith("No difference: the maps have different sizes.")
    person.choose("Show", "head 1")
    look_at(person, "Pinned")
    assert reason(person, "weights") == "The pinned state has no head 1."
    person.choose("Show", "mean")
    np.testing.assert_array_equal(
        person.painted("weights")[0], attnlab.compute(attnlab.preset("journey")).mean("weights")
    )
    assert "No difference" not in heads.accessibleName()
    look_at(person, "Present")


def test_the_explanation_has_the_pinned_value_and_the_change(person: "Person") -> None:
    person.click_cell("weights", 1, 3)
    before = float(person.painted("weights")[0, 1, 3])
    assert compared(person) == ""
    person.press("Pin")
    assert compared(person) == f"pinned {number(before)} · change 0.0000"
    person.open_table("W_q")
    person.type_number(0, 0, "3")
    person.settle()
    after = float(person.painted("weights")[0, 1, 3])
    assert before != after
    sign = "+" if after > before else ""
    assert compared(person) == f"pinned {number(before)} · change {sign}{number(after - before)}"
    person.press("Causal")
    person.settle()
    assert compared(person) == f"pinned {number(before)} · change {number(-before)}"
    person.click_cell("masked", 1, 0)
    assert compared(person) == ""
    person.press("Unpin")
    assert compared(person) == ""


def test_unpinning_shows_the_current_state(person: "Person") -> None:
    person.press("Pin")
    person.open_table("W_v")
    person.type_number(0, 0, "7")
    person.settle()
    look_at(person, "Pinned")
    limit = data(person, "values").limit
    person.press("Unpin")
    person.check_every_number()
    own = float(np.abs(person.painted("values")).max())
    assert data(person, "values").limit == pytest.approx(own)
    person.press("Pin")
    look_at(person, "Difference")
    assert not person.painted("values").any()
    look_at(person, "Present")
    assert limit == pytest.approx(own)


def test_ablating_a_head_compares_with_the_state_before(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    before, context = person.experiment, person.painted("context").copy()
    heads = person.playground.canvas.heads
    person.move(heads, heads.control_rect(2).center().toPoint())
    person.click(heads, heads.control_rect(2).center().toPoint())
    person.settle()
    assert person.history()[-1] == "Switch head 2 off"
    assert not person.painted("context")[2].any()
    assert person.find(QPushButton, "Unpin").isVisible()
    check_all(person, before, person.experiment)
    look_at(person, "Difference")
    np.testing.assert_array_equal(person.painted("context")[2], -context[2])
    assert not np.delete(person.painted("context"), 2, 0).any()
    assert person.painted("output").any()
    person.undo()
    person.settle()
    assert not person.painted("context").any()
    assert not person.painted("output").any()
    person.redo()
    person.settle()
    np.testing.assert_array_equal(person.painted("context")[2], -context[2])
    look_at(person, "Present")


def test_ablating_a_second_head_keeps_the_pinned_state(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    before = person.experiment
    heads = person.playground.canvas.heads
    for head in (0, 3):
        person.move(heads, heads.control_rect(head).center().toPoint())
        person.click(heads, heads.control_rect(head).center().toPoint())
        person.settle()
    assert person.experiment.config.ablated == (0, 3)
    check_all(person, before, person.experiment)


def test_the_overview_of_heads_shows_the_compared_state(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    heads, before = person.playground.canvas.heads, person.painted("weights").copy()
    person.press("Pin")
    person.choose("Weights", "sparsemax")
    person.settle()
    now = person.painted("weights").copy()
    look_at(person, "Difference")
    assert heads._data is not None
    np.testing.assert_array_equal(heads._data.values, now - before)
    look_at(person, "Pinned")
    np.testing.assert_array_equal(heads._data.values, before)
    look_at(person, "Present")
    np.testing.assert_array_equal(heads._data.values, now)


def test_the_overview_has_the_mask_of_the_pinned_state_and_the_sign_of_the_difference(
    sit_down: Callable[..., "Person"],
) -> None:
    person = sit_down("multi-head-causal")
    heads, before = person.playground.canvas.heads, person.painted("weights").copy()
    mean = attnlab.compute(person.experiment).mean("weights")
    person.press("Pin")
    person.press("Causal")
    person.settle()
    look_at(person, "Pinned")
    assert heads._data is not None
    future = np.triu(np.ones(before.shape[1:], bool), 1)
    np.testing.assert_array_equal(heads._data.masked, future)
    np.testing.assert_array_equal(heads._data.values, before)
    assert heads._mean is not None
    np.testing.assert_array_equal(heads._mean.values[0], mean)
    look_at(person, "Difference")
    np.testing.assert_array_equal(heads._data.values, person.painted("weights"))
    assert (heads._data.values[:, future] >= 0).all()  # the future was 0 in the pinned state
    assert heads._data.titles[-1] == str(len(before) - 1)
    look_at(person, "Present")
    assert heads._data.masked is None


def test_undo_and_redo_keep_the_pinned_state(person: "Person") -> None:
    start = person.experiment
    person.press("Causal")
    person.settle()
    causal = person.experiment
    person.press("Pin")
    steps = len(person.history())
    person.undo()
    check_all(person, causal, start)
    assert len(person.history()) == steps
    look_at(person, "Difference")
    person.redo()
    person.settle()
    assert not person.painted("weights").any()
    assert not person.painted("masked").any()
    look_at(person, "Present")


def test_a_pinned_state_survives_opening_another_preset(person: "Person") -> None:
    before = person.experiment
    person.press("Pin")
    open_preset(person, "journey-untrained")
    look_at(person, "Difference")
    then, now = attnlab.compute(before), attnlab.compute(attnlab.preset("journey-untrained"))
    np.testing.assert_array_equal(person.painted("weights"), now.array("weights") - then.array("weights"))
    assert reason(person, "queries") == "No difference: the sizes are 1×6×3 and 1×6×2."
    open_preset(person, "random-4x8")
    look_at(person, "Difference")
    assert reason(person, "inputs") == "No difference: the sizes are 4×8 and 6×3."
    look_at(person, "Pinned")
    np.testing.assert_array_equal(person.painted("weights"), attnlab.compute(before).array("weights"))
    assert person.labels("weights")[0] == before.tokens
    look_at(person, "Present")
    person.check_every_number()


def open_preset(person: "Person", name: str) -> None:
    person.press("Open a preset; now", QPushButton)
    shown = person.find(QListWidget, "Presets", person.playground.gallery)
    lines = [shown.item(row) for row in range(shown.count())]
    line = next(line for line in lines if line.data(Qt.ItemDataRole.UserRole) == name)
    shown.scrollToItem(line)
    person.click(shown.viewport(), shown.visualItemRect(line).center())
    person.settle()


def test_a_large_state_is_compared_step_by_step(person: "Person") -> None:
    person.press("Pin")
    person.press("Causal")
    person.settle()
    look_at(person, "Difference")
    person.playground.step_bar.buttons["first"].click()
    assert person.card("inputs").data is not None
    assert person.card("scores").data is None
    assert "not computed yet" in person.card("scores").accessibleName()
    person.playground.step_bar.buttons["last"].click()
    assert person.card("scores").data is not None
    look_at(person, "Present")


def test_a_walk_describes_the_cells_of_two_states_side_by_side(person: "Person") -> None:
    person.press("Pin")
    look_at(person, "Both")
    card = person.card("weights")
    for row, described in ((4, "one → journey: not computed yet"), (3, "with → journey: 0.")):
        cell = Cell("weights", row, 1, 0)
        person.document.show(depth="cell", at=Place("weights", 3, 5), cell=cell, pinned=True)
        assert card.accessibleDescription().startswith(described)
        assert card.hover_text(cell) == card.accessibleDescription()
    look_at(person, "Present")


def test_the_views_of_a_comparison_have_shortcuts(person: "Person") -> None:
    person.press("Pin")
    person.open_table("W_q")
    person.type_number(0, 0, "5")
    person.settle()
    looks = person.playground.lenses.bar.looks
    looks.setFocus()
    person.key(Key.Key_Right)
    assert looks.value() == "pinned"
    person.key(Key.Key_Right)
    assert looks.value() == "both"
    person.key(Key.Key_Right)
    assert looks.value() == "difference"
    assert person.document.view.look == "difference"
    for _ in range(3):
        person.key(Key.Key_Left)
    assert person.document.view.look == "present"


def test_a_cell_missing_in_the_pinned_state_can_be_selected(person: "Person") -> None:
    person.set_size("T", "4")
    person.settle()
    person.press("Pin")
    person.set_size("T", "6")
    person.settle()
    look_at(person, "Pinned")
    person.click_cell("weights", 1, 1)
    bars = person.playground.explain.bars
    person.click(bars.viewport(), bars.row_rect(5).center())
    cell = person.document.view.cell
    assert cell is not None
    assert (cell.stage, cell.row, cell.column) == ("weights", 1, 5)
    assert person.card("weights").accessibleDescription() == ""
    person.window.grab()
    assert compared(person) == ""
    look_at(person, "Present")
    person.check_every_number()


def test_the_brush_paints_only_cells_of_the_current_state(person: "Person") -> None:
    person.press("Pin")
    person.set_size("T", "4")
    person.settle()
    look_at(person, "Pinned")
    person.playground.mask.toggle()
    assert person.document.view.look == "present"
    assert person.playground.lenses.bar.looks.value() == "present"
    look_at(person, "Pinned")
    before = person.document.scene
    person.click_cell("weights", 5, 5)
    assert person.document.scene is before
    person.click_cell("weights", 3, 3)
    person.settle()
    assert person.experiment.config.mask is not None
    assert int((~person.experiment.config.mask).sum()) == 1
    look_at(person, "Present")
    assert person.painted("weights")[0, 3, 3] == 0
    person.key(Key.Key_Escape)


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_comparison_has_one_number_of_decimals(
    sit_down: "Callable[..., Person]", size: tuple[int, int], decimals_drawn: list[int]
) -> None:
    """A difference may be negative where the weights are not, and the inputs have two decimals by themselves."""
    person = sit_down("journey", size=size)
    person.press("Pin")
    person.press("Causal")
    person.settle()
    for look in ("Pinned", "Both", "Difference", "Present"):
        look_at(person, look)
        decimals_drawn.clear()
        person.window.grab()
        assert len(decimals_drawn) >= (30 if look == "Difference" else 100), look  # most do not differ: "0"
        assert len(set(decimals_drawn)) == 1, look


def test_small_numbers_of_each_look_have_a_power_of_ten_of_their_own(person: "Person") -> None:
    def powers(*stages: str) -> list[str]:
        return [person.card(stage).shape_text().partition("   ")[0] for stage in stages]

    stages = "inputs", "scores", "weights", "context"
    assert powers(*stages) == ["6×3", "6×6", "6×6", "6×2"]
    person.document.edit("Shrink", lambda e: edits.with_table(e, "embeddings", e.embeddings * 1e-4))
    person.settle()
    assert powers(*stages) == ["× 10⁻⁵", "× 10⁻⁸", "6×6", "× 10⁻⁵"]
    person.press("Pin")
    person.document.edit("Move", lambda e: edits.with_table(e, "W_q", e.weights.W_q * 1.0625))
    person.settle()
    look_at(person, "Difference")
    assert powers(*stages) == ["6×3", "× 10⁻⁹", "6×6", "6×2"]
    look_at(person, "Both")
    assert powers(*stages) == ["× 10⁻⁵", "× 10⁻⁸", "6×6", "× 10⁻⁵"]


def test_a_card_that_does_not_differ_has_no_colour_bar(person: "Person") -> None:
    person.playground.comparison.toggle()
    person.playground.toggle_causal()
    person.settle()
    look_at(person, "Difference")
    person.window.grab()
    assert not data(person, "queries").values.any()
    assert person.card("queries").bar_rect.isEmpty()
    assert not person.card("weights").bar_rect.isEmpty()
