"""``attnlab.view``: the window shows the data of a script, outlives the call, and is freed when closed."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

import attnlab
from attnlab.base.errors import AttnlabError
from attnlab.document.settings import Settings, save_settings
from attnlab.figures.array_maps import take_maps
from attnlab.figures.palette import DARK, LIGHT
from attnlab.figures.raster import NOT_A_NUMBER
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.app.open_windows import OpenWindows
from tests.patience import PATIENCE_S
from tests.ui.viewed import let_go, windows, within_a_loop

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


# What may be handed over


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: x.numpy().astype(np.float16),
        lambda x: x,
        lambda x: x.double(),
        lambda x: x.half(),
        lambda x: x.bfloat16(),
        lambda x: x.clone().requires_grad_(),
        list,
        lambda x: [list(head) for head in x],
        lambda x: x.to_sparse(),
        lambda x: np.asfortranarray(x.numpy()),
    ],
)
def test_many_kinds_of_arrays_are_accepted(make: Callable[[torch.Tensor], object]) -> None:
    x = torch.tensor([[[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]] * 2)
    np.testing.assert_array_equal(take_maps(make(x)).values, x[None].numpy())


@pytest.mark.parametrize(
    "x", [[[1, 0], [0, 1]], [[True, False], [False, True]], torch.eye(2).int(), torch.eye(2).bool()]
)
def test_integers_and_booleans_are_accepted(x: object) -> None:
    np.testing.assert_array_equal(take_maps(x).values[0, 0], np.eye(2))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU of NVIDIA's")
def test_a_tensor_on_a_gpu_is_accepted() -> None:
    layers = tuple(torch.eye(3, device="cuda").expand(1, 2, 3, 3).requires_grad_() for _ in range(2))
    np.testing.assert_array_equal(take_maps(layers).values, np.broadcast_to(np.eye(3), (2, 2, 3, 3)))


def test_masked_numpy_cells_are_nan() -> None:
    values = take_maps(np.ma.masked_array([[0.5, 0.5], [1.0, 0.0]], [[False, True], [False, False]])).values
    assert np.isnan(values[0, 0]).tolist() == [[False, True], [False, False]]


def test_the_tuple_of_a_model_shows_batch_item_0_of_each_layer(look: Callable[..., ArrayWindow]) -> None:
    layers = tuple(torch.rand(2, 3, 4, 4, dtype=torch.bfloat16).softmax(-1).requires_grad_() for _ in range(5))
    window = look(layers, torch.tensor([101, 7, 8, 102]))
    np.testing.assert_array_equal(shown(window), layers[0][0].detach().float().numpy())
    assert window.bar.heading.text() == "[5, 3, 4, 4]"
    assert window.readout.text().startswith("Batch item 0 of 2 · ")
    assert window.sheet.data is not None
    assert window.sheet.data.row_labels == ("101", "7", "8", "102")


class _Answer(dict[str, object]):
    attentions = (torch.ones(1, 1, 2, 2),)


@pytest.mark.parametrize(
    ("x", "tokens", "sentence"),
    [
        (0.5, None, r"x has no axes, \[\]; view needs \[T_q, T_k\]"),
        ([0.5, 0.5], None, r"x has 1 axis, \[2\]; view needs"),
        (np.zeros((1, 1, 1, 2, 2)), None, r"x has 5 axes, \[1, 1, 1, 2, 2\]; view needs"),
        ([], None, r"x is empty, \[0\]"),
        (torch.zeros(2, 0, 3), None, r"x is empty, \[2, 0, 3\]"),
        ([[1, 2], [1]], None, "its rows have different lengths"),
        ([torch.eye(2), torch.eye(3)], None, r"arrays of different shapes, such as \[2, 2\] and \[3, 3\]"),
        ("journey", None, "x is 'journey'; view needs an Experiment, a Trace, or an array"),
        ({}, None, "x is {}"),
        (None, None, "x is None"),
        (object, None, "view needs an Experiment"),
        ([["a", "b"]], None, "array of real numbers"),
        ([[1j, 0]], None, "array of real numbers"),
        (torch.zeros(2, 2, dtype=torch.complex64), None, "complex numbers"),
        (torch.zeros(2, 2, device="meta"), None, "the device meta"),
        (_Answer(), None, r"view needs its attention, x\.attentions"),
        ((None, None), None, r"x\[0\] is None.*output_attentions=True"),
        ((torch.ones(1, 1, 2, 2), torch.ones(2, 2)), None, r"x\[1\] has the shape \[2, 2\]; every layer needs"),
        ((torch.ones(0, 1, 2, 2),), None, "at least one batch item"),
        ((torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)), None, r"x\[1\] has \[1, 3, 3\] per batch item, but x\[0\]"),
        (np.eye(3), ["a", "b"], r"tokens has 2 labels; x \[3, 3\] needs 3"),
        (np.ones((2, 3)), ["a", "b"], r"needs a pair \(query_tokens, key_tokens\)"),
        (np.ones((2, 3)), (["a", "b"], ["a", "b"]), r"tokens\[1\] has 2 labels; x \[2, 3\] needs 3, one for each key"),
        (np.eye(3), "abc", "tokens is 'abc'; it needs a list of labels"),
        (np.eye(3), 3, "tokens is 3; it needs a list of labels"),
    ],
)
def test_an_invalid_array_is_refused_before_a_window_opens(x: object, tokens: object, sentence: str) -> None:
    with pytest.raises(AttnlabError, match=sentence) as caught:
        within_a_loop(lambda: attnlab.view(x, tokens))
    assert windows() == []
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_an_experiment_has_tokens_of_its_own() -> None:
    for x in (attnlab.preset("journey"), attnlab.compute(attnlab.preset("journey"))):
        with pytest.raises(AttnlabError, match="has tokens of its own"):
            attnlab.view(x, ["a"])


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


# How long it lives


def test_an_unreferenced_window_stays_open_and_is_freed_when_closed(look: Callable[..., ArrayWindow]) -> None:
    window = look(np.eye(3))
    there = weakref.ref(window)
    del window
    gc.collect()
    found = there()
    assert found is not None
    assert found.isVisible()
    press(found, Key.Key_Escape)
    let_go()
    assert not isValid(found)
    del found
    gc.collect()
    assert there() is None


def test_ctrl_w_closes_only_the_current_window(look: Callable[..., ArrayWindow]) -> None:
    first, second = look(np.eye(2)), look(np.eye(3))
    QTest.keyClick(second, Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    let_go()
    assert windows() == [first]


def test_without_an_event_loop_view_waits_for_the_window(qapp: QApplication) -> None:
    other = QWidget()
    other.show()
    seen: list[str] = []

    def close() -> None:
        (window,) = windows()
        seen.append(window.windowTitle())
        window.close()

    for x in (np.eye(2), np.eye(3)):  # the first one's end is not to end the second one's wait
        QTimer.singleShot(0, qapp, close)
        assert attnlab.view(x) is None
    assert seen == ["Maps [2, 2] — attnlab", "Maps [3, 3] — attnlab"]
    assert other.isVisible()
    other.close()
    other.deleteLater()


def test_a_script_continues_when_the_playground_is_closed(qapp: QApplication, qtbot: QtBot) -> None:
    def close() -> None:
        (window,) = windows()
        assert isinstance(window, MainWindow)
        window.ready.connect(window.close)

    QTimer.singleShot(0, qapp, close)
    assert attnlab.view(attnlab.preset("journey")) is None
    assert windows() == []
    assert gc.isenabled()


class _Events:
    """IPython's events: registered functions are called before and after each cell."""

    def __init__(self) -> None:
        self.callbacks: dict[str, list[Callable[[object], None]]] = {"pre_run_cell": [], "post_run_cell": []}

    def register(self, event: str, callback: Callable[[object], None]) -> None:
        self.callbacks[event].append(callback)

    def unregister(self, event: str, callback: Callable[[object], None]) -> None:
        self.callbacks[event].remove(callback)

    def trigger(self, event: str) -> None:
        for callback in self.callbacks[event]:
            callback(None)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Replace IPython, which the tests do not require: its loop runs between cells only."""
    shell = SimpleNamespace(active_eventloop="qt6", events=_Events())
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    return shell


def test_under_ipython_view_returns_at_once(shell: SimpleNamespace) -> None:
    window = attnlab.view(np.eye(3))
    assert windows() == [window]


def test_under_ipython_without_a_loop_view_waits(shell: SimpleNamespace, qapp: QApplication) -> None:
    shell.active_eventloop = None
    QTimer.singleShot(0, qapp, lambda: windows()[0].close())
    assert attnlab.view(np.eye(3)) is None


def test_under_ipython_garbage_is_collected_only_within_cells(shell: SimpleNamespace, qtbot: QtBot) -> None:
    opened = [attnlab.view(attnlab.preset("journey")) for _ in range(2)]
    shell.events.trigger("post_run_cell")
    assert not gc.isenabled()
    shell.events.trigger("pre_run_cell")
    assert gc.isenabled()
    shell.events.trigger("post_run_cell")
    for window, collected in zip(opened, (False, True), strict=True):
        playground_of(window, qtbot)
        assert window is not None
        window.close()
        let_go()
        assert gc.isenabled() is collected
    assert shell.events.callbacks == {"pre_run_cell": [], "post_run_cell": []}


# Where it cannot be


def test_calling_view_in_a_thread_is_refused() -> None:
    told: list[str] = []

    def call() -> None:
        try:
            attnlab.view(np.eye(2))
        except AttnlabError as error:
            told.append(str(error))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert told == ["view was called in a thread; windows need the main thread."]


def script(code: str, **environment: str) -> str:
    """Run a script in a process without a display, with changes of the environment."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    env = {name: value for name, value in os.environ.items() if name not in names} | environment
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False, timeout=PATIENCE_S
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")
def test_without_a_display_view_is_refused_with_an_alternative() -> None:
    code = "import attnlab\ntry: attnlab.view([[1.0]])\nexcept attnlab.AttnlabError as error: print(error)"
    assert script(code) == (
        "There is no display to open a window on; “attnlab export SOURCE -o OUT.png” draws a figure without one."
    )


def test_a_plain_script_views_several_arrays_without_torch() -> None:
    code = """
import sys, attnlab
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from attnlab.ui.app.array_window import ArrayWindow
app = QApplication([])
for n in (1, 2):
    QTimer.singleShot(0, app, lambda: [w.close() for w in app.topLevelWidgets() if isinstance(w, ArrayWindow)])
    print(attnlab.view([[1 / n] * n] * n))
print("torch" in sys.modules)
"""
    assert script(code, QT_QPA_PLATFORM="offscreen").split() == ["None", "None", "False"]


@pytest.mark.slow
def test_an_open_window_does_not_keep_the_interpreter_alive() -> None:
    code = """
import attnlab
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
app = QApplication([])
def call():
    window = attnlab.view(attnlab.preset("journey"))
    window.ready.connect(lambda: app.exit(0))
QTimer.singleShot(0, app, call)
app.exec()
print("end")
"""
    assert script(code, QT_QPA_PLATFORM="offscreen") == "end"


@pytest.mark.slow
def test_a_save_of_a_closed_window_is_completed_before_the_script_ends(tmp_path: Path) -> None:
    code = f"""
import threading, attnlab
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from attnlab.ui.base import jobs
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.playground import saver
saver.LEAVE_S = 0.0
save, leave, ending = saver.save_session, jobs.leave, threading.Event()
def slow(*given):
    ending.wait()
    save(*given)
saver.save_session = slow
jobs.leave = lambda: (ending.set(), leave())[1]
def act(window):
    window.playground.files.save_to(Path({str(tmp_path / "mine.attnlab")!r}))
    window.close()
def find():
    window = next(each for each in app.topLevelWidgets() if isinstance(each, MainWindow))
    window.ready.connect(lambda: act(window))
app = QApplication([])
QTimer.singleShot(0, app, find)
print(attnlab.view(attnlab.preset("journey")))
"""
    assert script(code, QT_QPA_PLATFORM="offscreen") == "None"
    assert attnlab.load(tmp_path / "mine.attnlab").tokens == attnlab.preset("journey").tokens


def test_faults_of_open_windows_are_reported_and_errors_of_the_script_are_not(
    qtbot: QtBot, provoked: Callable[[], list[str]]
) -> None:
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    windows = OpenWindows.of(QApplication.instance())  # type: ignore[arg-type]
    first, second = QWidget(), QWidget()
    for window in (first, second):
        windows.keep(window)
    assert sys.excepthook is not hooks[0]
    try:
        take_maps("no array", None)
    except AttnlabError as error:
        ours = error.with_traceback(error.__traceback__.tb_next if error.__traceback__ else None)
    sys.excepthook(type(ours), ours, ours.__traceback__)
    assert [reason.partition(":")[0] for reason in provoked()] == [type(ours).__name__]
    first.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert sys.excepthook is not hooks[0]
    second.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == hooks
