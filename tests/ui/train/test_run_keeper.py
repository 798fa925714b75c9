"""Automatic saving of runs: marks set after the end, and runs that could not be saved at first."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from attnlab.training import store
from attnlab.ui.base import jobs
from attnlab.ui.train.run_files import RunFiles
from attnlab.ui.train.train_session import TrainSession
from tests.training.runs import made_up_run, tiny


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[TrainSession]:
    made = TrainSession(tiny())
    made.run = made_up_run(9)
    yield made
    made.close()


def test_a_mark_set_after_the_end_is_saved(session: TrainSession, qtbot: QtBot) -> None:
    keeper, run = RunFiles(session), session.run
    assert run is not None
    with qtbot.waitSignal(keeper.listed):
        session.ended.emit("")
    step = next(moment.step for moment in run.recorder.moments if moment.step not in {mark.step for mark in run.marks})
    session.toggle_mark(step)
    keeper.close()
    (found,) = store.list_runs()
    assert step in [mark.step for mark in store.load(found.folder).marks]


def test_a_run_that_could_not_be_saved_is_saved_when_closing(session: TrainSession, qtbot: QtBot) -> None:
    keeper, run = RunFiles(session), session.run
    assert run is not None
    store.find_runs_folder().write_text("in the way")
    with qtbot.waitSignal(keeper.failed) as told:
        session.ended.emit("")
    assert told.args[0].startswith("The run is not saved. ")
    assert "cannot be written" in told.args[0]
    store.find_runs_folder().unlink()
    keeper.close()
    (found,) = store.list_runs()
    assert found.step == run.step


@pytest.mark.parametrize("free_at", ["reset", "close"])
def test_a_run_that_could_not_be_saved_is_saved_when_it_is_left_or_later(
    session: TrainSession, free_at: str, qtbot: QtBot
) -> None:
    keeper, run = RunFiles(session), session.run
    assert run is not None
    session.progressed.emit()
    store.find_runs_folder().write_text("in the way")
    with qtbot.waitSignal(keeper.failed):
        session.ended.emit("")
    if free_at == "reset":
        store.find_runs_folder().unlink()
        session.reset()
    else:
        with qtbot.waitSignal(keeper.failed):
            session.reset()
        store.find_runs_folder().unlink()
    assert run in session.kept
    qtbot.waitUntil(lambda: not keeper.busy)
    assert bool(store.list_runs()) is (free_at == "reset")
    keeper.close()
    (found,) = store.list_runs()
    assert found.step == run.step


def test_a_run_that_cannot_be_renamed_keeps_its_name(session: TrainSession, qtbot: QtBot) -> None:
    keeper, run = RunFiles(session), session.run
    assert run is not None
    before, shown, told = run.name, list[str](), list[str]()
    with qtbot.waitSignal(keeper.listed):
        session.ended.emit("")
    (found,) = store.list_runs()
    store.delete(found.folder)
    found.folder.write_text("in the way")
    keeper.renamed.connect(lambda: shown.append(run.name))
    keeper.failed.connect(told.append)
    keeper.rename(found.folder, "mine")
    qtbot.waitUntil(lambda: not keeper.busy)
    assert (run.name, shown) == (before, ["mine", before])
    assert len(told) == 1
    assert told[0].startswith("The run keeps its name. ")
    assert found.folder.name in told[0]
    for name in ("mine", "yours"):  # before it is known that the first cannot be saved
        keeper.rename(found.folder, name)
    assert run.name == "yours"
    qtbot.waitUntil(lambda: not keeper.busy)
    assert run.name == shown[-1] == before
    assert len(told) == 3
    keeper.close()


def test_the_last_of_several_names_that_is_saved_is_kept(session: TrainSession, qtbot: QtBot) -> None:
    keeper, run = RunFiles(session), session.run
    assert run is not None
    with qtbot.waitSignal(keeper.listed):
        session.ended.emit("")
    (found,) = store.list_runs()
    here, away = found.folder, found.folder.with_name("away")

    def move(source: Path, target: Path) -> None:
        """Move the run between two renames."""
        job = partial(source.rename, target)
        jobs.run(job, on_done=lambda _: None, on_failed=pytest.fail, lane=keeper._lane, doing="moving a run")

    keeper.rename(here, "saved")
    move(here, away)
    keeper.rename(here, "not saved")
    qtbot.waitUntil(lambda: not keeper.busy)
    assert run.name == store.read_summary(away).name == "saved"
    keeper.rename(here, "not saved")
    move(away, here)
    keeper.rename(here, "saved later")
    qtbot.waitUntil(lambda: not keeper.busy)
    assert run.name == store.read_summary(here).name == "saved later"
    keeper.close()
