"""The person at the positions lens."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from attnlab.ui.playground.lenses.positions_lens import PositionsLens
from tests.ui.lenses.beside import Beside
from tests.ui.lenses.positions_reader import Reader


@pytest.fixture
def reader(qtbot: QtBot) -> Iterator[Reader]:
    service = Beside()
    lens = PositionsLens(service.run)
    qtbot.addWidget(lens)
    lens.resize(1100, 760)
    made = Reader(lens, service, qtbot)
    with qtbot.waitExposed(lens):
        lens.show()
    made.settle()
    yield made
    service.stop()
    lens.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
