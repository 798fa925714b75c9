"""Lists in dialogs show complete entries at any size of type."""

from collections.abc import Callable

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QWidget
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.stages.explanation import Cell
from attnlab.ui.base.theme import apply_theme
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.export.sweep_dialog import SweepDialog
from attnlab.ui.predict.exercise_dialog import ExerciseDialog


@pytest.fixture(params=[100, 150])
def person(request: pytest.FixtureRequest, sit_down: Callable[..., object], qapp: QApplication) -> object:
    person = sit_down("journey")
    apply_theme(qapp, "light", request.param)
    return person


def check_popup(box: QComboBox, qtbot: QtBot) -> None:
    """Open a list, and check its entries."""
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center())
    if box.isEditable():
        box.showPopup()
    view = box.view()
    qtbot.waitUntil(view.isVisible)
    name, seen = box.accessibleName(), view.viewport().rect()
    shown = [row for row in range(box.count()) if view.visualRect(box.model().index(row, 0)).intersects(seen)]
    assert len(shown) == min(box.count(), box.maxVisibleItems()), f"{name} shows as many entries as it can"
    for row in shown:
        rect = view.visualRect(box.model().index(row, 0))
        assert seen.contains(rect), f"{name} cuts {box.itemText(row)}"
        assert rect.height() >= QFontMetrics(view.font()).height(), f"{name} squeezes {box.itemText(row)}"
        assert rect.width() >= QFontMetrics(view.font()).horizontalAdvance(box.itemText(row)) + 8, (
            f"{name} has no room for {box.itemText(row)}"
        )
    box.hidePopup()


def check_all(dialog: QWidget, qtbot: QtBot) -> None:
    boxes = [each for each in dialog.findChildren(QComboBox) if each.isVisible() and each.isEnabled()]
    assert len(boxes) >= 2
    for box in boxes:
        check_popup(box, qtbot)


def opened(dialog: QDialog, qtbot: QtBot) -> QDialog:
    qtbot.addWidget(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    with qtbot.waitSignal(dialog.previewed):  # type: ignore[attr-defined]
        dialog.show()
    return dialog


@pytest.mark.parametrize("preset", ["journey", "multi-head-8"])
def test_the_lists_of_the_export_dialog_are_not_clipped(person: object, qtbot: QtBot, preset: str) -> None:
    check_all(opened(ExportDialog(attnlab.compute(attnlab.preset(preset)), "weights", "all", ()), qtbot), qtbot)


def test_a_long_list_ends_with_a_complete_entry(person: object, qtbot: QtBot) -> None:
    tokens = torch.randn(4, 24, generator=torch.Generator().manual_seed(1))
    e = attnlab.Experiment(["a", "b", "c", "d"], tokens, config=attnlab.AttentionConfig(n_heads=12))
    dialog = opened(ExportDialog(attnlab.compute(e), "weights", "all", ()), qtbot)
    assert isinstance(dialog, ExportDialog)
    assert dialog.form.heads.count() > dialog.form.heads.maxVisibleItems()
    check_popup(dialog.form.heads, qtbot)


def test_the_lists_of_the_film_dialog_are_not_clipped(person: object, qtbot: QtBot) -> None:
    window = person.window  # type: ignore[attr-defined]
    assert window.actions_list.run("film")
    dialog = window.findChild(SweepDialog)
    qtbot.waitUntil(dialog.isVisible)
    check_all(dialog, qtbot)
    dialog.close()


def test_the_lists_of_an_exercise_are_not_clipped(person: object, qtbot: QtBot) -> None:
    playground, window = person.playground, person.window  # type: ignore[attr-defined]
    playground.document.select(Cell("weights", 2, 1, 0), pin=True)
    dialog = opened(ExerciseDialog(playground, window), qtbot)
    check_all(dialog, qtbot)
    dialog.close()
