"""``attnlab.view``: the window shows the data of a script, map by map."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.document.settings import Settings, save_settings
from attnlab.figures.palette import DARK, LIGHT
from attnlab.figures.raster import NOT_A_NUMBER
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.app.main_window import MainWindow
from tests.ui.viewed import windows, within_a_loop

pytestmark = pytest.mark.usefixtures("after_view")


Key, Button = Qt.Key, Qt.MouseButton


RNG = np.random.default_rng(5)


WORDS = ("the", "cat", "sat", "")


def weights(*shape: int) -> Any:
    """Return rows that sum to 1."""
    scores = np.exp(RNG.normal(size=shape))
    return scores / scores.sum(-1, keepdims=True)


def shown(window: ArrayWindow) -> Any:
    assert window.sheet.data is not None
    return window.sheet.data.values


def titles(window: ArrayWindow) -> list[str]:
    assert window.sheet.data is not None
    return list(window.sheet.data.titles)


def point_at(window: ArrayWindow, index: int, row: int, column: int) -> QPoint:
    place = window.sheet.cell_rect(index, row, column).center().toPoint()
    QTest.mouseMove(window.sheet, QPoint(1, 1))
    QTest.mouseMove(window.sheet, place)
    return place


def press(window: ArrayWindow, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(window.focusWidget() or window, key)


# What is shown


def test_a_single_map_has_numbers_and_labels_and_no_pills(look: Callable[..., ArrayWindow]) -> None:
    x = weights(4, 4)
    window = look(x, WORDS)
    np.testing.assert_array_equal(shown(window), x[None])
    assert window.sheet.data is not None
    assert window.sheet.data.row_labels == window.sheet.data.column_labels == WORDS
    assert (window.bar.heading.text(), window.bar.remark.text()) == ("[4, 4]", "probabilities")
    assert not window.layer_pill.isVisible()
    assert not window.head_pill.isVisible()


def test_rows_and_columns_are_numbered_or_named(look: Callable[..., ArrayWindow]) -> None:
    counted, named = look(RNG.normal(size=(2, 3))), look(RNG.normal(size=(2, 3)), (["a", "b"], ["x", "y", "z"]))
    assert counted.sheet.data is not None
    assert named.sheet.data is not None
    assert (counted.sheet.data.row_labels, counted.sheet.data.column_labels) == (("0", "1"), ("0", "1", "2"))
    assert (named.sheet.data.row_labels, named.sheet.data.column_labels) == (("a", "b"), ("x", "y", "z"))
    assert counted.bar.remark.text() == "signed numbers"


def test_arrows_select_heads_and_layers(look: Callable[..., ArrayWindow]) -> None:
    x = weights(2, 3, 4, 4)
    window = look(x)
    np.testing.assert_array_equal(shown(window), x[0])
    assert titles(window) == ["head 0", "head 1", "head 2"]
    press(window, Key.Key_Right, Key.Key_Down)
    np.testing.assert_array_equal(shown(window), x[1, 0][None])
    press(window, Key.Key_Left, Key.Key_Left)
    np.testing.assert_allclose(shown(window), x[1].mean(0)[None], rtol=1e-12)
    press(window, Key.Key_Down)
    np.testing.assert_allclose(shown(window), x.mean((0, 1))[None], rtol=1e-12)
    press(window, Key.Key_Down, Key.Key_Right)
    np.testing.assert_array_equal(shown(window), x.reshape(6, 4, 4))
    press(window, Key.Key_Right)
    np.testing.assert_array_equal(shown(window), x[:, 0])
    assert titles(window) == ["layer 0", "layer 1"]
    assert window.layer_pill.accessibleName() == "Layer: all"
    assert window.head_pill.accessibleName() == "Head: 0"


def test_a_pill_offers_all_heads_each_head_and_the_mean(look: Callable[..., ArrayWindow]) -> None:
    x = weights(3, 4, 4)
    window = look(x)
    QTest.mouseClick(window.head_pill, Button.LeftButton)
    popup = window.head_pill.popup()
    assert popup is not None
    assert [row.text() for row in popup.rows()] == ["all", "0", "1", "2", "mean"]
    QTest.mouseClick(popup.rows()[2], Button.LeftButton)
    np.testing.assert_array_equal(shown(window), x[1][None])


def test_a_click_opens_one_map_of_many_and_another_goes_back(look: Callable[..., ArrayWindow]) -> None:
    x = weights(2, 3, 4, 4)
    window = look(x)
    press(window, Key.Key_Up, Key.Key_Up)
    assert window.layer_pill.value_text() == "mean"
    press(window, Key.Key_Down)
    assert window.layer_pill.value_text() == "all"
    QTest.mouseClick(window.sheet, Button.LeftButton, pos=point_at(window, 4, 1, 2))
    np.testing.assert_array_equal(shown(window), x[1, 1][None])
    QTest.mouseClick(window.sheet, Button.LeftButton, pos=point_at(window, 0, 1, 2))
    np.testing.assert_array_equal(shown(window), x.reshape(6, 4, 4))


def test_the_number_under_the_pointer_is_shown_with_all_its_digits(look: Callable[..., ArrayWindow]) -> None:
    x = RNG.normal(size=(2, 3, 4, 4))
    window = look(x, WORDS)
    place = point_at(window, 2, 1, 3)
    number = str(x[0, 2, 1, 3]).replace("-", "−")
    assert window.readout.text() == f"cat → ∅: {number}   layer 0, head 2"
    QApplication.sendEvent(window.sheet, QHelpEvent(QEvent.Type.ToolTip, place, window.sheet.mapToGlobal(place)))
    assert QToolTip.text() == f"cat → ∅: {number}"
    QTest.mouseMove(window.sheet, QPoint(1, 1))
    assert window.readout.text() == "Point at a cell for its exact number · ← → other heads · ↑ ↓ other layers"


def test_nan_is_shown_as_such(look: Callable[..., ArrayWindow]) -> None:
    window = look([[np.nan, 1.0, np.inf], [0.25, -np.inf, 0.5]])
    assert window.bar.remark.text() == "signed numbers"
    for column, row, text in ((0, 0, "NaN"), (2, 0, "∞"), (1, 1, "−∞")):
        point_at(window, 0, row, column)
        assert window.readout.text() == f"{row} → {column}: {text}"
        corner = window.sheet.cell_rect(0, row, column).topLeft().toPoint() + QPoint(6, 6)
        assert window.sheet.grab().toImage().pixelColor(corner) == QColor.fromRgba(NOT_A_NUMBER)
    assert look([[np.nan, 1.0], [0.0, 0.5]]).bar.remark.text() == "probabilities"


@pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_the_window_follows_the_settings(theme: str, palette: Any, look: Callable[..., ArrayWindow]) -> None:
    save_settings(Settings(theme=theme, type_size=130))
    window = look(weights(4, 4))
    assert window.sheet.grab().toImage().pixelColor(3, 3) == QColor(palette.surface)
    assert window.bar.heading.fontInfo().pixelSize() == 17


def test_later_changes_of_the_array_do_not_change_the_window(look: Callable[..., ArrayWindow]) -> None:
    for x in (np.eye(3), torch.eye(3)):
        window = look(x)
        x[0, 0] = 7
        assert shown(window)[0, 0, 0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1), (1, 70), (3, 300, 300), (40, 5, 5), (12, 12, 9, 9)])
def test_maps_of_any_size_lie_inside_the_window(shape: tuple[int, ...], look: Callable[..., ArrayWindow]) -> None:
    window = look(weights(*shape))
    window.choose("all" if len(shape) > 3 else 0, window.head)
    for width, height in ((320, 280), (1000, 700)):
        window.resize(width, height)
        QApplication.processEvents()
        grid = window.sheet.grid
        assert grid is not None
        assert min(grid.x, grid.y) > 0
        assert grid.x + grid.width <= window.sheet.width()
        assert grid.y + grid.height <= window.sheet.height()
        window.grab()


# Experiments and traces


def playground_of(window: object, qtbot: QtBot) -> Any:
    assert isinstance(window, MainWindow)
    qtbot.waitUntil(lambda: window.playground is not None and window.playground.reply is not None)
    return window.playground


def test_an_experiment_opens_in_the_playground(qtbot: QtBot) -> None:
    e = attnlab.preset("the-cat-sat")
    playground = playground_of(within_a_loop(lambda: attnlab.view(e)), qtbot)
    assert playground.document.experiment is e
    assert not playground.document.modified
    np.testing.assert_array_equal(playground.reply.trace.array("weights"), attnlab.compute(e).array("weights"))
    assert windows()[0].windowTitle() == "Experiment — attnlab"


def test_a_trace_opens_with_its_device_and_dtype(qtbot: QtBot) -> None:
    trace = attnlab.compute(attnlab.preset("journey"), dtype="float64")
    playground = playground_of(within_a_loop(lambda: attnlab.view(trace)), qtbot)
    assert (playground.document.scene.device, playground.document.scene.dtype) == ("cpu", "float64")
    np.testing.assert_array_equal(playground.reply.trace.array("output"), trace.array("output"))
