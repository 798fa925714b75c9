"""When garbage is collected while a window is open, and what collections skip."""

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from attnlab.ui.app.application import GarbageTimer


@pytest.fixture
def _nothing_frozen() -> Iterator[None]:
    """Undo the freeze of the test run, and freeze again."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("_nothing_frozen")
def test_what_is_alive_when_a_window_opens_is_skipped_until_it_closes(qapp: QApplication) -> None:
    timer = GarbageTimer(qapp)
    assert not gc.isenabled(), "nor does any other thread collect while the window loads"
    assert gc.get_freeze_count() == 0
    timer.start()
    assert gc.get_freeze_count() > 0
    assert not gc.isenabled()
    timer.stop()
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()


@pytest.mark.usefixtures("_nothing_frozen")
def test_what_is_loaded_later_can_be_skipped_too(qapp: QApplication) -> None:
    timer = GarbageTimer(qapp)
    timer.start()
    there = gc.get_freeze_count()
    loaded = [list[int]() for _ in range(1000)]
    timer.skip_present()
    assert gc.get_freeze_count() >= there + len(loaded)
    timer.stop()


def test_objects_frozen_before_stay_frozen(qapp: QApplication) -> None:
    there = gc.get_freeze_count()
    assert there > 0
    timer = GarbageTimer(qapp)
    timer.start()
    timer.stop()
    assert gc.get_freeze_count() == pytest.approx(there, rel=0.01)  # some of them may have died
    assert gc.isenabled()
