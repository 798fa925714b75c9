"""A person at the positions lens alone, with a real worker."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from attnlab.attention.experiment import Experiment
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.ui.playground.lenses.positions_lens import PositionsLens
from attnlab.ui.playground.lenses.positions_map import MapFigure
from attnlab.ui.widgets.charts.curves import Curve, Curves
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from tests.ui.lenses.beside import Beside

if TYPE_CHECKING:
    pass


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


def whole(widget: QWidget, inside: QWidget) -> bool:
    """Return whether a widget lies completely inside another."""
    return inside.rect().contains(QRect(widget.mapTo(inside, QPoint(0, 0)), widget.size()))


def curve(plot: Curves, name: str) -> Curve:
    return next(curve for curve in plot.curves if curve.name == name)


def values(figure: MapFigure) -> NDArray[np.floating]:
    assert figure.data is not None
    return figure.data.values[0]
