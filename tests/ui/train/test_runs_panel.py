"""Saved runs: listed, overlaid, opened and continued, renamed and deleted."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from attnlab.training import store
from attnlab.training.run import Run
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.app.open_file import open_path
from attnlab.ui.train.run_views import name_curves
from attnlab.ui.train.run_words import describe_difference, describe_start, tell_apart
from attnlab.ui.train.runs_dialog import RunsDialog
from tests.training.runs import made_up_run
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny, trained


@pytest.mark.slow
def test_a_run_is_saved_automatically_and_compared_with_the_next(pupil: Pupil) -> None:
    first = trained(pupil, 0)
    assert store.load(first).step == 30
    assert first.parent == store.find_runs_folder()
    second = trained(pupil, 1)
    runs = pupil.tools.runs
    pupil.wait_for(lambda: first in runs.rows)
    assert second != first
    row = runs.rows[first]
    assert row.text() == "seed 0"
    assert row.isChecked()
    row.show_loss(1.197)
    assert row.loss == "1.1970"  # as many decimals in every row
    assert any(line.name == "seed 0, held-out" for line in pupil.trainer.curves.loss.lines)
    pupil.click(row)
    assert not any("seed 0" in line.name for line in pupil.trainer.curves.loss.lines)
    pupil.click(runs.rows[first])
    pupil.wait_for(lambda: any("seed 0" in line.name for line in pupil.trainer.curves.loss.lines))
    assert runs.rows[first].previousInFocusChain() is runs.rows[None], "Tab reaches the rows, made anew, in their order"
    assert runs.rows[None].previousInFocusChain() is runs.all_button


@pytest.mark.slow
def test_a_saved_run_opens_with_its_moments_and_an_interrupted_one_continues(pupil: Pupil) -> None:
    first = trained(pupil, 0)
    state = store.load(first)
    early = next(each for each in state.moments if 0 < each.step < 30)
    spec = replace(state.spec, train=replace(state.spec.train, steps=60))
    store.save(replace(state, spec=spec, status="running"), first)
    trained(pupil, 1)
    runs = pupil.tools.runs
    pupil.wait_for(lambda: first in runs.rows)
    runs.rows[first].setFocus()
    QTest.mouseDClick(runs.rows[first], Qt.MouseButton.LeftButton)
    pupil.wait_for(lambda: pupil.run.spec == spec)
    assert pupil.window.focusWidget() is pupil.trainer.maps.view  # not the next workspace, which Space would open
    assert pupil.run.status == "interrupted"
    assert early.step in pupil.trainer.footer.line.steps
    assert pupil.trainer.settings.complaint() == ""
    pupil.wait_for(lambda: pupil.shown_step == 30)
    pupil.click(pupil.find(QPushButton, "Resume"))
    pupil.wait_for(lambda: pupil.run.step == 60 and not pupil.trainer.session.alive)
    assert pupil.run.steps.tolist() == list(range(60))
    pupil.wait_for(lambda: store.load(first).step == 60)


@pytest.mark.slow
def test_the_list_follows_folders_that_are_moved_and_copied_by_hand(pupil: Pupil) -> None:
    first, _ = trained(pupil, 0), trained(pupil, 1)

    def list_names() -> set[str]:
        return {each.folder.name for each in pupil.tools.runs.found}

    moved = first.rename(first.with_name("moved"))
    pupil.tools.runs.open(first)
    pupil.wait_for(lambda: "moved" in list_names())
    assert first.name not in list_names()
    assert pupil.trainer.footer.message.text().startswith("There is no file ")
    shutil.copytree(moved, moved.with_name("copy"))
    pupil.tools.show_runs()
    pupil.wait_for(lambda: "copy" in list_names())
    dialog = pupil.window.findChild(RunsDialog)
    assert dialog is not None
    pupil.wait_for(lambda: dialog.table.rowCount() == 3)
    dialog.close()


@pytest.mark.slow
def test_a_folder_of_a_run_can_be_opened(pupil: Pupil, tmp_path: Path) -> None:
    run = made_up_run()
    trained(pupil, 0)
    other = replace(store.load(store.list_runs()[0].folder), name="from elsewhere")
    store.save(other, tmp_path / "elsewhere")
    for path in (tmp_path / "elsewhere", tmp_path / "elsewhere" / "run.json"):
        pupil.window.show_workspace("playground")
        open_path(pupil.window, path)
        assert pupil.window.current == "train"
        opening = "" if path.name == "run.json" else "Opening “elsewhere”…"  # the second is open already
        assert pupil.trainer.footer.message.text() == opening
        pupil.wait_for(lambda: pupil.run.name == "from elsewhere")
        assert pupil.trainer.footer.message.text() == ""
    for name in ("plurals.tsv", "small.npz"):  # as files of data and of weights end
        store.save(replace(other, name=name), tmp_path / name)
        open_path(pupil.window, tmp_path / name)
        pupil.wait_for(lambda name=name: pupil.run.name == name)
    store.save(run.state(), tmp_path / "broken")
    for part in (tmp_path / "broken").glob("curve*"):
        part.write_bytes(b"nothing")
    open_path(pupil.window, tmp_path / "broken")
    pupil.wait_for(lambda: "broken" in pupil.trainer.footer.message.text())
    assert pupil.run.name == "small.npz"


@pytest.mark.slow
def test_a_running_run_is_saved_when_the_window_closes(pupil: Pupil) -> None:
    pupil.begin(tiny())
    pupil.trainer.start()
    pupil.wait_for_step(20)
    window: MainWindow = pupil.window
    window.close()
    (kept,) = store.list_runs()
    assert kept.step >= 20
    assert not kept.problem


@pytest.mark.slow
def test_a_window_without_memory_does_not_write_the_folder_of_runs(person: Person) -> None:
    pupil = Pupil(person.window, person.qtbot)
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    pupil.tools.stop()  # which saves what there is
    assert not store.find_runs_folder().parent.exists() or not list(store.find_runs_folder().parent.rglob("*"))
    assert not pupil.tools.runs.found


@pytest.mark.slow
def test_an_overlaid_run_is_called_by_its_name_and_namesakes_by_their_seeds(pupil: Pupil) -> None:
    folders = [trained(pupil, seed) for seed in (0, 1)]
    trained(pupil, 2)
    runs, curves = pupil.tools.runs, pupil.trainer.curves
    pupil.wait_for(lambda: all(folder in runs.rows for folder in folders))
    for folder in folders:
        pupil.tools.keeper.rename(folder, "Baseline")
    told = ["Baseline, seed 0", "Baseline, seed 1"]
    pupil.wait_for(lambda: [runs.rows[folder].text() for folder in folders] == told)
    for folder in folders:
        if not runs.rows[folder].isChecked():
            pupil.click(runs.rows[folder])
    pupil.wait_for(lambda: len(curves.loss.lines) == 4)
    pupil.trainer.views.show_curves()
    assert {f"{name}, held-out" for name in told} <= set(curves.legends[0].names)


@pytest.mark.slow
def test_a_new_name_is_shown_at_once_wherever_the_run_is_named(pupil: Pupil) -> None:
    other, folder = trained(pupil, 0), trained(pupil, 1)
    runs, keeper, comparing = pupil.tools.runs, pupil.tools.keeper, pupil.tools.comparing
    pupil.wait_for(lambda: other in runs.rows)
    assert runs.rows[other].isChecked()
    runs.compare_requested.emit(other)
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.seen is not None)
    keeper.rename(folder, "With positions")
    keeper.rename(other, "Without positions")
    assert "Without positions, held-out" in pupil.trainer.curves.legends[0].names
    assert pupil.window.windowTitle() == "With positions — attnlab"
    assert comparing.first is not None
    assert comparing.second is not None
    assert comparing.first.title.text().startswith("With positions · ")
    assert comparing.second.title.text().startswith("Without positions · ")
    pupil.wait_for(lambda: not keeper.busy)


def test_a_long_name_is_cut_in_the_middle_for_a_legend() -> None:
    name = "a run with a very long name, from step 1,265"
    spec = tiny()
    assert name_curves(spec, Run(spec, name), []) == "a run with a ver…from step 1,265"
    assert name_curves(spec, Run(spec, "mine"), []) == "mine"


@pytest.mark.slow
def test_a_stopped_run_is_named_by_the_steps_it_took(pupil: Pupil) -> None:
    first = trained(pupil, 0)
    state = store.load(first)
    spec = replace(state.spec, train=replace(state.spec.train, steps=2000))
    store.save(replace(state, spec=spec), first)
    trained(pupil, 0)
    runs, loss = pupil.tools.runs, pupil.trainer.curves.loss
    pupil.tools.keeper.refresh()
    pupil.wait_for(lambda: first in runs.rows and runs.rows[first].text() == "30 of 2,000 steps")
    pupil.click(runs.rows[first])  # its curves are from before
    assert not runs.rows[first].isChecked()
    pupil.click(runs.rows[first])
    pupil.wait_for(lambda: any(line.name == "30 of 2,000 steps, held-out" for line in loss.lines))
    assert describe_difference(state.spec, replace(spec, train=replace(spec.train, steps=30)), 30) == "seed 0"
    assert describe_difference(spec, replace(spec, train=replace(spec.train, steps=3000)), 3000) == "3,000 steps"
    fewer = replace(spec, options={**spec.options, "symbols": 8}, model=replace(spec.model, d_model=24))
    assert describe_difference(spec, fewer, 2000) == "letters 8, d_model 24"


def test_runs_of_other_seeds_are_told_apart_whatever_else_differs() -> None:
    spec = tiny(steps=2000)
    for changed, told in (
        ({}, "seed 3"),
        ({"steps": 200}, "seed 3, 200 steps"),
        ({"rate": 0.5}, "rate 0.5, seed 3"),
    ):
        other = replace(spec, train=replace(spec.train, seed=3, **changed))
        assert describe_difference(spec, other, 200 if changed else 2000) == told


def test_runs_with_equal_names_are_told_apart_by_the_times_at_which_they_began() -> None:
    folders = [Path(f"reverse-0-20200102-1432{end}") for end in ("16", "21", "21-2")]
    starts = [describe_start(folder) for folder in folders]
    names = ["seed 0", "seed 0", "seed 0", "seed 1"]
    times = ["2 Jan 2020 14:32:16", "2 Jan 2020 14:32:21", "2 Jan 2020 14:32:21 (2)"]
    assert tell_apart(names, [*starts, ""]) == [*(f"seed 0 · {each}" for each in times), "seed 1"]
    assert tell_apart(names[:2], [starts[0], ""]) == [f"seed 0 · {times[0]}", "seed 0"]
    assert tell_apart(names[2:], starts[1:]) == names[2:]


@pytest.mark.slow
def test_two_overlaid_runs_with_the_same_settings_have_different_legends(pupil: Pupil) -> None:
    folders = [trained(pupil, 0) for _ in range(3)][:2]
    runs, names = pupil.tools.runs, pupil.trainer.curves.legends[0].names
    assert len(names) == len(set(names)) == 4  # the other two, and the held-out and training losses of this one
    pupil.wait_for(lambda: all(folder in runs.rows for folder in folders))
    texts = {runs.rows[folder].text() for folder in folders}
    assert {f"{text}, held-out" for text in texts} <= set(names)
