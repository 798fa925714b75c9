"""Everything by keyboard: shortcuts, the palette, the order of Tab, and a name for every control."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMenu,
    QSpinBox,
    QToolButton,
    QWidget,
)

from attnlab.ui.app.command_words import WORDS
from attnlab.ui.base.actions import Action
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.workspaces.lessons import LESSONS
from attnlab.ui.workspaces.playground import PLAYGROUND
from attnlab.ui.workspaces.train import TRAIN

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
CTRL, SHIFT = Mod.ControlModifier, Mod.ShiftModifier
SECTIONS = (
    "File",
    "Edit",
    "Layer",
    "View",
    "Compare",
    "Steps",
    "Lessons",
    "Train",
    "Models",
    "Settings",
    "Window",
    "Help",
)


def test_full_screen_has_a_shortcut(person: "Person") -> None:
    person.key(Key.Key_F11)
    assert person.window.isFullScreen()
    assert person.playground.inputs.isVisible()
    person.key(Key.Key_F11)
    assert not person.window.isFullScreen()


@pytest.mark.slow
def test_the_size_of_type_has_shortcuts(person: "Person") -> None:
    sizes = [person.window.font().pixelSize()]
    for key in (Key.Key_Plus, Key.Key_Equal, Key.Key_Minus, Key.Key_0):
        person.key(key, CTRL)
        sizes.append(person.window.font().pixelSize())
    start, larger, largest, smaller, usual = sizes
    assert start < larger < largest
    assert smaller == larger
    assert usual == start
    for near, key, bound in ((240, Key.Key_Plus, 250), (80, Key.Key_Minus, 70)):
        person.window.change_settings(type_size=near)
        for _ in range(2):
            person.key(key, CTRL)
            assert person.window.settings.type_size == bound
        person.window.grab()


@pytest.mark.slow
def test_the_causal_mask_and_the_sentence_have_shortcuts(person: "Person") -> None:
    person.key(Key.Key_M, CTRL)
    assert person.experiment.config.causal
    person.key(Key.Key_L, CTRL)
    assert person.playground.inputs.sentence.hasFocus()
    person.type("Straight away")
    assert person.experiment.tokens == ("Straight", "away")


def test_presets_and_history_have_shortcuts(person: "Person") -> None:
    person.key(Key.Key_P, CTRL)
    assert person.playground.gallery.isVisible()
    person.key(Key.Key_Escape, widget=person.playground.gallery)
    assert not person.playground.gallery.isVisible()
    person.key(Key.Key_H, CTRL)
    assert person.playground.history.isVisible()
    person.key(Key.Key_Escape, widget=person.playground.history)
    assert not person.playground.history.isVisible()


@pytest.mark.parametrize(
    ("key", "modifiers", "title"),
    [
        (Key.Key_O, CTRL, "Open a file"),
        (Key.Key_S, CTRL, "Save the session"),
        (Key.Key_S, CTRL | SHIFT, "Save the session"),
    ],
)
def test_file_actions_have_shortcuts(person: "Person", key: Key, modifiers: Mod, title: str) -> None:
    person.key(key, modifiers)
    dialogs = [dialog for dialog in person.window.findChildren(QFileDialog) if dialog.isVisible()]
    assert [dialog.windowTitle() for dialog in dialogs] == [title]
    dialogs[0].reject()


def test_quitting_has_a_shortcut(person: "Person") -> None:
    person.key(Key.Key_Q, CTRL)
    assert not person.window.isVisible()


def test_letters_that_are_shortcuts_leave_no_other_workspace(person: "Person") -> None:
    person.window.show_workspace(LESSONS.name)
    for key in (Key.Key_P, Key.Key_G, Key.Key_D):
        person.key(key)
        assert person.window.current == LESSONS.name
    assert person.window.actions_list.shortcut_texts("step-play") == ["P"]
    person.window.show_workspace(PLAYGROUND.name)
    person.key(Key.Key_P)
    assert person.playground.step_bar.playing


@pytest.mark.slow
def test_shortcuts_work_wherever_the_focus_is(person: "Person") -> None:
    places: list[QWidget] = [
        person.window,
        person.table,
        person.playground.inputs.tokens,
        person.card("weights"),
        person.playground.canvas,
        person.playground.inputs.sentence,
        person.playground.inputs.shape_bar.sizes["T"],
    ]
    for count, place in enumerate(places):
        place.setFocus()
        person.key(Key.Key_M, CTRL)
        assert person.experiment.config.causal is (count % 2 == 0), place
        person.key(Key.Key_K, CTRL)
        assert person.window.command_palette.isVisible()
        person.key(Key.Key_Escape)
        assert not person.window.command_palette.isVisible()


# The palette


def palette_titles(person: "Person") -> list[str]:
    return [found.title for found in person.window.command_palette.list_found()]


def test_the_palette_runs_the_typed_action(person: "Person") -> None:
    person.key(Key.Key_K, CTRL)
    person.type("causal")
    assert palette_titles(person)[0] == "Causal mask"
    person.key(Key.Key_Return)
    assert person.experiment.config.causal
    assert not person.window.command_palette.isVisible()


def test_actions_of_the_visible_workspace_come_first_among_equal_matches(person: "Person") -> None:
    elsewhere = "Export the curves…", "Export the answers…", "Export the maps of the training…"
    person.key(Key.Key_K, CTRL)
    person.type("export")
    found = palette_titles(person)
    assert "Export a picture or a table…" in found[:2]
    assert set(elsewhere) <= set(found[2:])
    person.key(Key.Key_Escape)
    person.window.show_workspace("train")
    person.key(Key.Key_K, CTRL)
    person.type("export")
    found = palette_titles(person)
    assert max(map(found.index, elsewhere)) < found.index("Export the model’s maps…")
    person.key(Key.Key_Escape)


def test_the_palette_switches_a_second_sequence(person: "Person") -> None:
    for wanted in (True, False):
        person.key(Key.Key_K, CTRL)
        person.type("second")
        assert palette_titles(person)[0] == "Second sequence"
        person.key(Key.Key_Return)
        person.settle()
        assert (person.experiment.memory_tokens is not None, person.playground.inputs.memory_switch.isChecked()) == (
            wanted,
            wanted,
        )
    assert person.history()[-2:] == ["Second sequence on", "Second sequence off"]


@pytest.mark.slow
def test_the_palette_finds_a_setting_and_opens_its_switch(person: "Person") -> None:
    switches = person.playground.top_bar.switches
    for query, title, pill in (
        ("fill", "Mask: Masked scores (fill)", switches.masks),
        ("softcap", "Heads: Soft cap", switches.heads),
    ):
        person.window.show_workspace("lessons")
        person.key(Key.Key_K, CTRL)
        person.type(query)
        assert palette_titles(person)[0] == title
        person.key(Key.Key_Return)
        popup = pill.popup()
        assert popup is not None, query
        assert pill.isVisible()
        popup.close()


def test_the_palette_finds_presets_tasks_tables_and_other_words(person: "Person") -> None:
    assert set(WORDS) <= {action.id for action in person.window.actions_list}

    def choose(query: str, title: str) -> None:
        person.key(Key.Key_K, CTRL)
        person.type(query)
        assert palette_titles(person)[0] == title
        person.key(Key.Key_Return)

    for query, title in (("recover", "Restore the last unsaved work"), ("excel", "Copy matrix as CSV")):
        person.key(Key.Key_K, CTRL)
        person.type(query)
        assert palette_titles(person) == [title]
        person.key(Key.Key_Escape)
    person.playground.body.unfold(1, on=False)
    choose("arithmetic", "Go to Explain")
    assert person.playground.explain.isVisible()
    assert person.playground.explain.hasFocus()
    for query in ("example", "presets"):
        choose(query, "Open a preset…")
        assert person.playground.gallery.isVisible()
        person.playground.gallery.close()
    choose("rotary", "Open a preset: Rotary positions")
    person.settle()
    assert person.document.scene.preset == "rope"
    choose("W_k", "Edit the numbers: W_k")
    assert person.playground.inputs.name == "W_k"
    assert person.table.hasFocus()
    choose("float64", "Device and number format: CPU float64")
    assert person.document.scene.dtype == "float64"
    choose("reverse", "Task: Reverse")
    assert person.window.current == "train"
    train = person.window.workspace(TRAIN)
    assert train is not None
    assert train.session.spec.task == "reverse"
    assert train.settings.task.currentText() == "Reverse"


def test_the_palette_can_undo(person: "Person") -> None:
    person.press("Biases")
    person.key(Key.Key_K, CTRL)
    person.type("undo")
    assert palette_titles(person)[0] == "Undo “Biases on”"
    person.key(Key.Key_Return)
    assert person.experiment.weights.b_q is None


@pytest.mark.slow
def test_the_palette_can_step_present_and_change_the_theme(person: "Person") -> None:
    for query, happened in (
        ("step back", lambda: person.document.view.step == 8),
        ("theme dark", lambda: person.window.settings.theme == "dark"),
        ("larger", lambda: person.window.settings.type_size == 110),
    ):
        person.key(Key.Key_K, CTRL)
        person.type(query)
        person.key(Key.Key_Return)
        assert happened(), query


def test_f5_presents_a_tour_of_the_open_experiment_and_returns(person: "Person") -> None:
    person.key(Key.Key_F5)
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.presentation is not None
    assert controller.presentation.isVisible()
    assert controller.panel is None
    assert controller.player.slide is not None
    assert controller.player.slide.step.title == "Inputs"
    begun = person.document.scene
    for _ in range(4):
        person.key(Key.Key_PageDown, widget=controller.presentation)
    assert controller.player.slide.index == 2
    person.key(Key.Key_Escape, widget=controller.presentation)
    assert controller.presentation is None
    assert controller.player.lesson is None
    assert person.document.scene is begun
    assert person.document.view.at is None
    assert person.playground.inputs.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_every_action_of_the_palette_can_run(section: str, sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    offered = [action for action in person.window.actions_list if action.in_palette and action.current_title()]
    assert {action.section for action in offered} == set(SECTIONS)
    for action in offered:
        if action.section == section and action.id != "quit":
            if not action.current_title():  # where the last one led, another has its place
                person.window.show_workspace("playground")
            do_by_palette(person, action)
    person.window.show_workspace("playground")
    if person.window.isFullScreen():
        person.window.toggle_full_screen()
    person.document.show(step=None)


def test_every_switch_of_the_layer_is_in_the_palette(person: "Person") -> None:
    offered = {action.id for action in person.window.actions_list if action.in_palette}
    switches = person.playground.top_bar.switches.by_name.keys() - {"layer"}  # only a stack has layers
    assert {f"switch-{name}" for name in switches} <= offered


def do_by_palette(person: "Person", action: Action) -> None:
    """Write the name of an action into the palette, press Enter, and close what opened."""
    person.window.show_palette()
    field = person.find(QLineEdit, "Search the commands")
    field.insert(action.current_title())  # all at once: other tests type letter by letter
    assert action.id in [found.id for found in person.window.command_palette.list_found()]
    person.key(Key.Key_Return, widget=field)
    for dialog in person.window.findChildren(QDialog):
        dialog.reject()
    if (popup := QApplication.activePopupWidget()) is not None:
        popup.close()
    if person.window.lessons is not None and person.window.lessons.presentation is not None:
        person.window.lessons.presentation.close()
    person.window.command_palette.close_palette()
    person.playground.gallery.hide()
    person.playground.history.hide()
    person.settle()


def test_the_menu_of_the_rail_has_the_same_actions(person: "Person") -> None:
    menu = person.window.rail.menu_button.menu()
    assert isinstance(menu, QMenu)
    assert menu.sizeHint().height() < 460
    actions = [action for section in menu.findChildren(QMenu) for action in section.actions()]
    texts = {action.text() for action in actions}
    assert {"Causal mask", "Save", "Full screen", "Theme: dark", "Present"} <= texts
    undo = next(action for action in actions if action.objectName() == "undo")
    assert not undo.isEnabled()
    person.press("Causal")
    menu.aboutToShow.emit()
    assert undo.isEnabled()
    assert undo.text() == "Undo “Causal on”"


# Reaching and naming everything


def tab_stops(person: "Person", count: int) -> list[QWidget]:
    person.window.setFocus()
    stops: list[QWidget] = []
    for _ in range(count):
        if QApplication.focusWidget() is person.table:
            person.key(Key.Key_End, CTRL)  # Tab goes from cell to cell, and on from the last one
        person.key(Key.Key_Tab)
        widget = QApplication.focusWidget()
        assert widget is not None
        if widget in stops:
            break
        stops.append(widget)
    return stops


def test_tab_reaches_every_control_in_visual_order(person: "Person") -> None:
    stops = tab_stops(person, 80)
    names = [stop.accessibleName() for stop in stops]
    wanted = [
        "Causal",
        "Scale: 1/√d_k",
        "Heads: 1",
        "Sentence",
        "Tokens",
        "Numbers of W_q",
        "T",
        "d_model",
        "Output W_o",
        "Biases",
    ]
    assert [name for name in names if name in wanted] == wanted
    cards = [name.split(":")[0] for name in names if " by " in name]
    assert cards == ["Inputs", "Queries", "Keys", "Values", "Scores", "Scaled", "Weights", "Context"]
    first_card = next(i for i, name in enumerate(names) if name.startswith("Inputs:"))
    assert names.index("Sentence") < names.index("Figures on the cards") < first_card


def test_tab_reaches_an_open_lens_between_its_tab_and_the_explanation(person: "Person") -> None:
    lenses, explain = person.playground.lenses, person.playground.explain
    for preset in ("journey", "cross-attention"):
        person.playground.open_preset(preset)
        for name in ("goal", "masks", "sensitivity"):
            lenses.open_lens(name)
            lens = lenses.stack.currentWidget()
            person.settle()
            person.wait_for(lambda lens=lens: getattr(lens, "tables", True) != {})  # maps come with their numbers
            stops = tab_stops(person, 80)
            inside = [place for place, stop in enumerate(stops) if lens.isAncestorOf(stop)]
            assert inside == list(range(inside[0], inside[-1] + 1)), name
            assert stops.index(lenses.bar.pin) < inside[0]
            assert inside[-1] < stops.index(explain.fold_button)
    names = [stops[place].accessibleName() for place in inside]
    assert names.index("Derivative with respect to W_k") < names.index("Derivative of the weight")


def test_tab_comes_to_a_table_of_an_entry_among_the_others(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down()
    person.playground.open_preset("learned-positions")  # the table P is later than all other controls
    person.settle()
    person.playground.inputs.open_table("P")
    names = [stop.accessibleName() for stop in tab_stops(person, 80)]
    tabs = [name for name in names if name.startswith("Table ")]
    assert tabs == ["Table X"], "arrows reach the others"
    assert names[names.index("Table X") + 1] == "Numbers of P"
    person.window.resize(1024, 640)
    person.playground.body.unfold(0, on=False)
    names = [stop.accessibleName() for stop in tab_stops(person, 80)]
    at = names.index("Show the inputs")
    strip = ["Edit the sentence", "Table X", "Table W_q", "Table W_k", "Table W_v", "Table P"]
    assert names[at + 1 : at + 7] == strip
    assert at < names.index("Figures on the cards")


def test_every_control_has_a_name(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    person.press("Biases")
    person.click_cell("weights", 1, 1)
    nameless = []
    for widget in person.window.findChildren(QWidget):
        inside = isinstance(widget.parentWidget(), QSpinBox) and isinstance(widget, QLineEdit)
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or not widget.isVisible() or inside:
            continue
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        if not (widget.accessibleName() or text):
            nameless.append(f"{type(widget).__name__} {widget.objectName()!r} in {widget.parent()}")
    assert nameless == []


def test_every_button_without_text_has_a_tool_tip(person: "Person") -> None:
    silent = [b.accessibleName() for b in person.window.findChildren(QToolButton) if not b.text() and not b.toolTip()]
    assert silent == []


def test_a_size_can_be_stepped_by_arrows_and_typed(person: "Person") -> None:
    box = person.find(NumberBox, "T")
    box.setFocus()
    QTest.keyClick(box, Key.Key_Up)
    assert person.experiment.T_q == 7
    QTest.keyClick(box, Key.Key_Down)
    QTest.keyClick(box, Key.Key_Down)
    assert person.experiment.T_q == 5
