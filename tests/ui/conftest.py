"""The person at the program: finds things by name, clicks, types, drags, and reads."""

import gc
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from attnlab.document.settings import Settings
from attnlab.figures.text import Pen
from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from tests.ears import ears, listening  # noqa: F401
from tests.ui.short_runs import _make_once, short_runs  # noqa: F401
from tests.ui.viewed import after_view, look  # noqa: F401

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document
    from attnlab.ui.playground.card import StageCard
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.widgets.matrix.matrix_table import MatrixTable

W = TypeVar("W", bound=QWidget)
Button, Mod = Qt.MouseButton, Qt.KeyboardModifier


class Person:
    """A person at one window, who reads what is visible: labels, accessible names, painted numbers."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window = window
        self.qtbot = qtbot

    # What there is

    @property
    def playground(self) -> "Playground":
        assert self.window.playground is not None
        return self.window.playground

    @property
    def document(self) -> "Document":
        return self.playground.document

    @property
    def experiment(self) -> "Experiment":
        return self.document.experiment

    def find(self, kind: type[W], name: str, inside: QWidget | None = None) -> W:
        """Return the only visible widget of a kind whose accessible name or text begins like this."""
        found = [w for w in (inside or self.window).findChildren(kind) if w.isVisible() and _called(w, name)]
        assert len(found) == 1, f"{len(found)} of {kind.__name__} are called {name!r}"
        return found[0]

    def card(self, stage: str) -> "StageCard":
        return self.playground.canvas.cards[stage]

    @property
    def table(self) -> "MatrixTable":
        return self.playground.inputs.table

    # Waiting

    def settle(self) -> None:
        """Wait until the requested experiment is open and its numbers are on screen."""
        self.wait_for(lambda: not self.playground.files.opening)
        while not self.playground.up_to_date:
            with self.qtbot.waitSignal(self.playground.explained):
                pass

    def wait_for(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition)

    # Reading

    def painted(self, stage: str) -> NDArray[np.floating]:
        """Return the painted numbers of a stage [maps, rows, columns], without the share of a sink beside them."""
        data = self.card(stage).data
        assert data is not None, f"{stage} shows nothing"
        return data.values[..., : data.values.shape[-1] - data.aside]

    def labels(self, stage: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        data = self.card(stage).data
        assert data is not None, f"{stage} shows nothing"
        return tuple(data.row_labels), tuple(data.column_labels)

    def in_table(self) -> NDArray[np.floating]:
        """Return the visible numbers of the open table, read from its tool tips."""
        grid = self.table.grid()
        rows = [row for row in grid.find_visible_rows() if grid.body().contains(grid.cell(row, 0).center())]
        columns = [
            column for column in grid.find_visible_columns() if grid.body().contains(grid.cell(0, column).center())
        ]
        told = [[self.table.tool_tip(grid.cell(row, column).center()) for column in columns] for row in rows]
        return np.array([[float(text.splitlines()[-1].replace("−", "-")) for text in line] for line in told])

    def message(self) -> str:
        """Return the sentence in the bar below, "" for none."""
        return self.playground.step_bar.message

    def table_message(self) -> str:
        """Return the sentence below the table, "" for none."""
        label = self.playground.inputs.findChildren(QLabel)
        shown = [
            one.text()
            for one in label
            if one.accessibleName().startswith("Message about the table") and one.isVisible()
        ]
        return shown[0] if shown else ""

    def history(self) -> list[str]:
        return [entry.label for entry in self.document.history.entries]

    def check_every_number(self) -> None:
        """Compare everything visible with the open experiment, computed again."""
        from attnlab.attention import edits
        from attnlab.attention.edits import batches
        from attnlab.compute.engine import compute

        self.settle()
        scene, view, e = self.document.scene, self.document.view, self.experiment
        fresh = compute(e, scene.device, scene.dtype)
        revealed = fresh.all_stages if view.step is None else fresh.all_stages[: view.step]
        for name, card in self.playground.canvas.cards.items():
            if name not in revealed or (view.alone is not None and name != view.alone):
                assert card.isHidden() or card.data is None or card.folded, f"{name} is shown"
                continue
            expected = fresh.array(name)
            if not fresh.stage(name).has_heads:
                expected = expected[None]
            elif view.head != "all":
                expected = fresh.mean(name)[None] if view.head == "mean" else expected[view.head : view.head + 1]
            assert card.isVisible() or name == self.playground.canvas.covered, f"{name} is not shown"
            np.testing.assert_array_equal(self.painted(name), expected, name)
        inputs = self.playground.inputs
        assert inputs.tokens.tokens() == batches.list_unpadded_tokens(e)
        assert inputs.sentence.hasFocus() or inputs.sentence.text() == " ".join(batches.list_unpadded_tokens(e))
        told = self.in_table()
        if not inputs.table.verticalScrollBar().value() and not inputs.table.horizontalScrollBar().value():
            numbers = edits.array(e, inputs.name)
            np.testing.assert_array_equal(told.astype(numbers.dtype), numbers[: told.shape[0], : told.shape[1]])
        sizes = {name: box.value() for name, box in inputs.shape_bar.sizes.items() if not box.hasFocus()}
        assert sizes.items() <= {"T": e.T_q, "d_model": e.d_model, "d_k": e.d_k, "d_v": e.d_v}.items()
        QApplication.processEvents()  # what is still to be painted raises nothing

    # Mouse

    def click(self, widget: QWidget, at: QPoint | None = None, modifiers: Qt.KeyboardModifier = Mod.NoModifier) -> None:
        QTest.mouseClick(widget, Button.LeftButton, modifiers, widget.rect().center() if at is None else at)

    def press(self, name: str, kind: type[QWidget] = QAbstractButton) -> None:
        """Click the button, switch or pill of that name."""
        self.click(self.find(kind, name))

    def move(
        self,
        widget: QWidget,
        at: QPoint,
        button: Qt.MouseButton = Button.NoButton,
        modifiers: Qt.KeyboardModifier = Mod.NoModifier,
    ) -> None:
        """Move the mouse to a point of a widget, with a button down or none."""
        self._move_to(widget, widget.mapToGlobal(at), button, modifiers)

    def _move_to(self, widget: QWidget, there: QPoint, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier) -> None:
        at = QPointF(widget.mapFromGlobal(there))
        event = QMouseEvent(QEvent.Type.MouseMove, at, QPointF(there), Button.NoButton, button, modifiers)
        QApplication.sendEvent(widget, event)

    def drag(
        self, widget: QWidget, start: QPoint, *by: tuple[int, int], modifiers: Qt.KeyboardModifier = Mod.NoModifier
    ) -> None:
        """Press, move to each distance from that point on the screen, and release."""
        origin = widget.mapToGlobal(start)
        QTest.mousePress(widget, Button.LeftButton, modifiers, start)
        for x, y in by:
            self._move_to(widget, origin + QPoint(x, y), Button.LeftButton, modifiers)
        QTest.mouseRelease(widget, Button.LeftButton, modifiers, widget.mapFromGlobal(origin + QPoint(*by[-1])))

    def turn(
        self, widget: QWidget, at: QPoint, notches: float, modifiers: Qt.KeyboardModifier = Mod.NoModifier
    ) -> None:
        """Turn the wheel over a point; the widget there gets the event, then its parents."""
        window = widget.window()
        QTest.wheelEvent(
            window.windowHandle(),
            QPointF(widget.mapTo(window, at)),
            QPoint(0, round(120 * notches)),
            stateKey=modifiers,
        )
        QApplication.processEvents()

    def tip(self, widget: QWidget, at: QPoint) -> str:
        """Rest the mouse on a point; return the text of the tool tip."""
        QToolTip.hideText()
        QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at)))
        return QToolTip.text()

    # Cells of cards and of the table

    def cell(self, stage: str, row: int, column: int, index: int = 0) -> QPoint:
        """Return the middle of a cell on its card, which is scrolled to."""
        if self.playground.canvas.zoom == 1:
            self.playground.canvas.show_card(stage)
        return self.card(stage).cell_rect(row, column, index).center().toPoint()

    def click_cell(self, stage: str, row: int, column: int, index: int = 0) -> None:
        self.click(self.card(stage), self.cell(stage, row, column, index))

    def point_at(self, stage: str, row: int, column: int, index: int = 0) -> None:
        self.move(self.card(stage), self.cell(stage, row, column, index))

    def leave(self, stage: str) -> None:
        QApplication.sendEvent(self.card(stage), QEvent(QEvent.Type.Leave))

    def open_table(self, title: str) -> None:
        self.press(f"Table {title}")

    def click_number(self, row: int, column: int, modifiers: Qt.KeyboardModifier = Mod.NoModifier) -> None:
        self.table.setFocus()
        self.click(self.table.viewport(), self.table.grid().cell(row, column).center(), modifiers)

    def drag_number(self, row: int, column: int, *by: int, modifiers: Qt.KeyboardModifier = Mod.NoModifier) -> None:
        start = self.table.grid().cell(row, column).center()
        self.drag(self.table.viewport(), start, *((x, 0) for x in by), modifiers=modifiers)

    def type_number(self, row: int, column: int, text: str) -> None:
        self.click_number(row, column)
        self.type(text)
        self.key(Qt.Key.Key_Return)

    # Keys

    def keyboard(self) -> QWidget:
        """Return the focus widget; without a window manager there is none after a popup closed, until a click."""
        QApplication.processEvents()
        active = QApplication.activeWindow()
        if active is None or not active.isVisible():
            self.window.activateWindow()
            self.wait_for(self.window.isActiveWindow)
        return QApplication.focusWidget() or self.window

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Mod.NoModifier, widget: QWidget | None = None) -> None:
        QTest.keyClick(widget or self.keyboard(), key, modifiers)

    def type(self, text: str) -> None:
        """Type a text letter by letter, each into the widget that has the focus."""
        for letter in text:
            if letter.isascii():
                QTest.keyClicks(self.keyboard(), letter)
            else:  # as keyboards of other scripts do: a text without a key of its own
                for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                    event = QKeyEvent(kind, Qt.Key.Key_unknown, Mod.NoModifier, letter)
                    QApplication.sendEvent(self.keyboard(), event)

    def undo(self) -> None:
        self.key(Qt.Key.Key_Z, Mod.ControlModifier)

    def redo(self) -> None:
        self.key(Qt.Key.Key_Z, Mod.ControlModifier | Mod.ShiftModifier)

    def copy(self) -> str:
        self.key(Qt.Key.Key_C, Mod.ControlModifier)
        return QGuiApplication.clipboard().text()

    def paste(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.key(Qt.Key.Key_V, Mod.ControlModifier)

    def write_sentence(self, text: str) -> None:
        """Click into the sentence, select all, and type another."""
        field = self.playground.inputs.sentence
        field.setFocus()
        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Delete)
        self.type(text)

    def set_size(self, name: str, text: str) -> None:
        """Type into one of the fields T, d_model, d_k, d_v, and leave it with Enter."""
        box = self.playground.inputs.shape_bar.sizes[name]
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, text)
        QTest.keyClick(box, Qt.Key.Key_Return)

    # Pills

    def choose(self, pill: str, title: str) -> None:
        """Open a pill's list and click a line of it."""
        rows = self.open_pill(pill)
        row = next((row for row in rows if row.accessibleName() == title), None)
        assert row is not None, f"{pill} offers {[row.accessibleName() for row in rows]}"
        self.click(row)

    def open_pill(self, pill: str) -> list[QAbstractButton]:
        from attnlab.ui.widgets.fields.pill import Pill

        found = self.find(Pill, pill)
        self.click(found)
        popup = found.popup()
        assert popup is not None
        return list(popup.rows())

    def type_into_pill(self, pill: str, text: str) -> str:
        """Type a custom value into a pill's list; return the error message, "" if it is accepted."""
        from attnlab.ui.widgets.fields.pill import Pill

        found = self.find(Pill, pill)
        if found.popup() is None:
            self.click(found)
        popup = found.popup()
        assert popup is not None
        popup.field.setFocus()
        popup.field.selectAll()
        QTest.keyClicks(popup.field, text)
        QTest.keyClick(popup.field, Qt.Key.Key_Return)
        return popup.complaint.text() if found.popup() is not None else ""


def _called(widget: QWidget, name: str) -> bool:
    texts = [widget.accessibleName(), widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""]
    return any(text == name or (text.startswith(name) and text[len(name)] in ": ") for text in texts)


@pytest.fixture(scope="session")
def _long_lived_is_frozen() -> Iterator[None]:
    """Freeze the objects of torch and Qt, so that collections after each window skip them."""
    import attnlab.compute.service
    import attnlab.ui.playground.playground  # noqa: F401

    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def open_window(
    qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch, _long_lived_is_frozen: None
) -> Iterator[Callable[..., MainWindow]]:
    """Make windows as the program does, shown but not yet loaded; closed, and their threads joined, afterwards.

    A note stands until it is read, however long that takes here.
    """
    for owner in ("attnlab.ui.playground.bar_message", "attnlab.ui.lessons.lesson_pages"):
        monkeypatch.setattr(f"{owner}.NOTE_MS", 10**7)
    before = qapp.palette(), qapp.font(), qapp.styleSheet()
    windows: list[MainWindow] = []

    def make(
        source: Source | None = None,
        settings: Settings | None = None,
        remember: bool = False,
        shown: bool = True,
        size: tuple[int, int] = (1440, 900),
    ) -> MainWindow:
        window = MainWindow(settings or Settings(theme="light"), source or Source(preset="journey"), remember=remember)
        qtbot.addWidget(window)
        windows.append(window)
        if not remember:
            window.resize(*size)
        if shown:
            window.show()
            window.activateWindow()
            qtbot.waitUntil(window.isActiveWindow)
        return window

    yield make
    while windows:
        window = windows.pop()
        window.close()
        window.stop()
        window.deleteLater()
        del window
    QToolTip.hideText()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qapp.processEvents()  # or the next window loses the keyboard to the news that this one is gone
    qapp.styleHints().setColorScheme(Qt.ColorScheme.Unknown)
    qapp.setStyleSheet("")  # first: over an old sheet Qt walks a list in which a widget may have died
    if before[2]:
        qapp.setStyleSheet(before[2])
    qapp.setPalette(before[0])
    qapp.setFont(before[1])
    gc.collect(1)  # all that was made since the test before is young


@pytest.fixture
def numbers_drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each number is added that is drawn in the middle of a cell."""
    numbers: list[str] = []
    draw = Pen.draw

    def record(pen: Pen, x: float, y: float, text: str, across: float = 0.0, *others: float) -> None:
        if (across, others) == (0.5, ()) and re.fullmatch(r"−?\d*\.?\d+", text):
            numbers.append(text)
        draw(pen, x, y, text, across, *others)

    monkeypatch.setattr(Pen, "draw", record)
    return numbers


@pytest.fixture
def decimals_drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the decimals of each number are added that is drawn in the middle of a cell."""
    decimals: list[int] = []
    draw = Pen.draw

    def record(pen: Pen, x: float, y: float, text: str, across: float = 0.0, *others: float) -> None:
        if across == 0.5 and re.fullmatch(r"−?\d*\.\d+", text):
            decimals.append(len(text.partition(".")[2]))
        draw(pen, x, y, text, across, *others)

    monkeypatch.setattr(Pen, "draw", record)
    return decimals


@pytest.fixture
def sit_down(open_window: Callable[..., MainWindow], qtbot: QtBot) -> Iterator[Callable[..., Person]]:
    """Open a window on a preset, a file or an experiment, wait until its numbers are there, and sit down at it.

    After each test all that the window shows is held to the experiment that is open.
    """
    sitting: list[Person] = []

    def sit(source: Any = "journey", **options: Any) -> Person:
        if isinstance(source, str):
            source = Source(preset=source)
        window = open_window(source if isinstance(source, Source) else None, **options)
        with qtbot.waitSignal(window.ready):
            window.load()
        qtbot.waitUntil(window.isActiveWindow)
        person = Person(window, qtbot)
        if not isinstance(source, Source):
            from attnlab.document.scene import Scene

            person.document.open("Open", Scene(source))
        person.settle()
        sitting.append(person)
        return person

    yield sit
    for person in sitting:
        if person.window.isVisible():
            person.check_every_number()
        vars(person).clear()  # pytest keeps the person, who is not to keep the window


@pytest.fixture
def person(sit_down: Callable[..., Person]) -> Person:
    """A person at a window with the preset "journey"."""
    return sit_down()
