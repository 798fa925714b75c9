"""Maps outside the canvas by ear: lenses, imported weights, and the window of an array are walked with the keyboard."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.document.settings import Settings
from attnlab.figures.array_maps import take_maps
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.playground.lenses.positions_map import MapFigure
from tests.ears import NAME, Ears, element, names
from tests.ui.hearing_faults import find_nameless, find_without_cells
from tests.ui.weights.weights_user import open_weights
from tools.gallery_window import settle

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
TAB = Qt.FocusReason.TabFocusReason


def test_the_encoding_is_walked_by_position_and_dimension(person: "Person", ears: Ears) -> None:
    person.playground.lenses.open_lens("positions/encoding")
    settle(person.window)
    figure = next(each for each in person.window.findChildren(MapFigure) if each.isVisible() and each.data is not None)
    figure.setFocus(TAB)
    for key in (Key.Key_Down, Key.Key_Down, Key.Key_Right):
        QTest.keyClick(figure, key)
    assert figure.data is not None
    value = float(figure.data.values[0, 1, 1])
    assert ears.read[-1] == f"encoding, position 1, dimension 1, {'minus ' if value < 0 else ''}{abs(value):.4f}"
    QTest.keyClick(figure, Key.Key_End)
    assert ears.read[-1].startswith(f"encoding, position 1, dimension {figure.data.values.shape[2] - 1}, ")


def test_imported_matrices_and_their_weights_are_walked(person: "Person", ears: Ears, tmp_path: Path) -> None:
    path = tmp_path / "layer.pt"
    torch.save({f"W_{name}": torch.arange(6.0).reshape(3, 2) - 2 for name in "qkv"}, path)
    user = open_weights(person, [path])
    dialog = user.dialog
    refused = "What does not fit: The file does not give the number of heads; choose one of 1, 2."
    assert element(dialog.message).text(NAME) == refused
    assert any("choose one of 1, 2" in said for said in ears.said)
    user.choose("Heads", "1")
    dialog.activateWindow()
    person.wait_for(dialog.isActiveWindow)
    small = dialog.view.matrices.maps[0]
    assert names(small) == [
        f"{small.small.name}, row {row}, column {column}, {value}"
        for row, column, value in (
            (0, 0, "minus 2.0000"),
            (0, 1, "minus 1.0000"),
            (1, 0, "0.0000"),
            (1, 1, "1.0000"),
            (2, 0, "2.0000"),
            (2, 1, "3.0000"),
        )
    ]
    small.setFocus(TAB)
    QTest.keyClick(small, Key.Key_End, CTRL)
    assert ears.read[-1].endswith("row 2, column 1, 3.0000")
    sheet = dialog.view.sheet
    sheet.setFocus(TAB)
    QTest.keyClick(sheet, Key.Key_Down)
    assert ears.read[-1].startswith("weights, Your to Your, ")
    user.close()


def test_the_window_of_an_array_is_walked_with_control(qtbot: QtBot, ears: Ears) -> None:
    values = np.arange(2 * 3 * 2 * 2, dtype=np.float32).reshape(2, 3, 2, 2)
    window = ArrayWindow(take_maps(values, ["a", "b"]), Settings(theme="light"))
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert not find_nameless(window)
    assert not find_without_cells(window)
    window.sheet.setFocus(TAB)
    QTest.keyClick(window.sheet, Key.Key_Right, CTRL)
    QTest.keyClick(window.sheet, Key.Key_Right, CTRL)
    assert ears.read[-1] == "head 0, a to b, 1.0000"
    QTest.keyClick(window.sheet, Key.Key_PageDown, CTRL)
    assert ears.read[-1] == "head 1, a to b, 5.0000"
    assert window.readout.text().startswith("a → b: 5")
    QTest.keyClick(window.sheet, Key.Key_Return)
    assert window.head == 1


def test_the_preset_that_a_lens_shows_has_named_charts(sit_down: Callable[..., "Person"], ears: Ears) -> None:
    from attnlab.ui.widgets.charts.curves import Curves

    person = sit_down("journey")
    person.playground.lenses.open_lens("saturation")
    settle(person.window)
    charts = [each for each in person.window.findChildren(Curves) if each.isVisible()]
    assert charts
    assert all(" points, " in each.accessibleName() for each in charts)
