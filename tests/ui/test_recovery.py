"""Unsaved work is restored at the next start until it is saved; saved work is not kept."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.walk import Place
from attnlab.document.saved_view import KEY
from attnlab.files.sessions.session_file import load_session
from attnlab.files.source import Source
from attnlab.ui.app.command_list import search
from attnlab.ui.playground.recovery import NOTE

if TYPE_CHECKING:
    from tests.ui.conftest import Person


def test_unsaved_work_is_restored_as_one_step_until_it_is_saved(
    sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path
) -> None:
    person = sit_down(remember=True)
    assert not person.window.actions_list["restore"].isEnabled()
    person.press("Causal")
    person.window.close()
    person = sit_down(remember=True)
    assert person.message().startswith("Unsaved work from last time was kept")
    assert not person.experiment.config.causal
    assert person.window.actions_list.run("restore")
    person.settle()
    assert person.experiment.config.causal
    person.document.undo()
    assert not person.experiment.config.causal
    person.document.redo()
    assert person.playground.files.save_to(tmp_path / "kept.attnlab")
    person.window.close()
    assert not list(config_dir.glob("*.attnlab"))
    assert not sit_down(remember=True).message()


def test_unmodified_work_is_not_kept(sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path) -> None:
    person = sit_down(remember=True)
    person.press("Causal")
    assert person.window.recovery is not None
    person.window.recovery.keep()
    assert list(config_dir.glob("*.attnlab"))
    person.document.undo()
    person.window.close()
    assert not list(config_dir.glob("*.attnlab"))


# A crash, and what cannot be written


PROGRAM = """
import sys
from pathlib import Path
from attnlab.files.source import Source
from attnlab.ui.app.application import run

def on_window(window):
    window.ready.connect(lambda: changed(window))

def changed(window):
    document = window.playground.document
    window.playground.toggle_causal()
    document.show(depth="row")
    window.recovery.written.connect(lambda problem: print("kept", problem, flush=True))

run(Source(path=Path(sys.argv[1])), on_window=on_window)
"""


def killed_in_the_middle_of_work(path: Path) -> None:
    """Run the real program on a file, change something, and kill it after the automatic save."""
    command = [sys.executable, "-c", PROGRAM, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "kept \n"
        process.kill()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a process is not killed in the same way")
def test_work_of_a_killed_program_is_offered_and_its_file_is_unchanged(
    sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.attnlab"
    attnlab.save(attnlab.preset("the-cat-sat"), path)
    before = path.read_bytes()
    killed_in_the_middle_of_work(path)
    assert path.read_bytes() == before
    assert (config_dir / "current.lock").exists()  # nobody came to take it away
    person = sit_down(remember=True)
    assert person.message() == NOTE
    assert person.window.actions_list.run("restore")
    person.settle()
    assert person.experiment.config.causal
    assert person.experiment.tokens == attnlab.preset("the-cat-sat").tokens
    assert person.document.view.depth == "row"
    assert person.window.windowTitle() == "mine • — attnlab"
    person.key(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    person.playground.files.finish()
    assert attnlab.load(path).config.causal
    assert person.window.windowTitle() == "mine — attnlab"
    person.window.close()
    assert not list(config_dir.glob("*.attnlab"))
    assert not list(config_dir.glob("*.lock"))


@pytest.mark.slow
def test_each_of_two_windows_keeps_its_own_work(sit_down: "Callable[..., Person]", config_dir: Path) -> None:
    one, two = sit_down(remember=True), sit_down("the-cat-sat", remember=True)
    assert not two.message()  # what the first one does is not work of last time
    for person in (one, two):
        person.playground.toggle_causal()
        person.settle()
        assert person.window.recovery is not None
        assert person.window.recovery.keep()
    kept = [attnlab.load(path).tokens for path in sorted(config_dir.glob("current*.attnlab"))]
    assert sorted(kept) == sorted([one.experiment.tokens, two.experiment.tokens])
    one.window.close()
    two.window.close()
    three = sit_down("random-4x8", remember=True)
    assert three.message() == NOTE
    assert three.window.actions_list.run("restore")
    three.settle()
    assert three.experiment.tokens in kept
    three.window.close()
    four = sit_down("random-4x8", remember=True)
    assert four.window.actions_list.run("restore")
    four.settle()
    assert four.experiment.tokens in kept


def test_undoing_a_restored_state_does_not_lose_it(
    sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path
) -> None:
    person = sit_down(remember=True)
    person.press("Causal")
    person.window.close()
    attnlab.save(attnlab.preset("the-cat-sat"), tmp_path / "other.attnlab")
    person = sit_down(Source(path=tmp_path / "other.attnlab"), remember=True)
    assert person.window.actions_list.run("restore")
    person.settle()
    person.undo()
    person.settle()
    assert person.window.recovery is not None
    assert person.window.recovery.keep()
    (kept,) = person.window.recovery.list_all()
    person.window.close()
    assert attnlab.load(kept.path).config.causal


def test_a_failed_save_keeps_the_work_and_is_reported(
    sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path
) -> None:
    person = sit_down(remember=True)
    (tmp_path / "folder").mkdir()
    assert person.playground.files.save_to(tmp_path / "folder" / "mine.attnlab")
    person.press("Causal")
    (tmp_path / "folder" / "mine.attnlab").unlink()
    (tmp_path / "folder").rmdir()
    person.key(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    person.playground.files.finish()
    assert person.message().endswith(
        f"there is no folder {tmp_path / 'folder'}; the work is kept for recovery, and offered at the next start."
    )
    assert person.window.windowTitle() == "mine • — attnlab"
    assert attnlab.load(config_dir / "current.attnlab").config.causal
    person.window.close()
    assert sit_down(remember=True).message() == NOTE


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of a file's size")
def test_a_full_disk_keeps_the_file(sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path) -> None:
    import resource

    person = sit_down(remember=True)
    assert person.playground.files.save_to(tmp_path / "mine.attnlab")
    before = (tmp_path / "mine.attnlab").read_bytes()
    person.press("Causal")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        person.key(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        person.playground.files.finish()
        assert "mine.attnlab cannot be written: " in person.message()
        assert person.message().endswith("; it cannot be kept for recovery either.")
        assert person.window.windowTitle() == "mine • — attnlab"
        person.window.close()
        assert person.window.isVisible()  # it was not kept anywhere, so the window stays
        assert person.message().endswith("Save it elsewhere, or close again to leave without saving.")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "mine.attnlab").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mine.attnlab"]
    person.key(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    person.playground.files.finish()
    assert attnlab.load(tmp_path / "mine.attnlab").config.causal
    person.window.close()
    assert not person.window.isVisible()


def test_work_that_cannot_be_kept_can_be_discarded(sit_down: "Callable[..., Person]", config_dir: Path) -> None:
    person = sit_down(remember=True)
    (config_dir / "current.attnlab").mkdir()
    person.press("Causal")
    person.window.close()
    assert person.message().startswith("Unsaved work cannot be saved for recovery.")
    assert person.window.isVisible()
    person.window.close()
    assert not person.window.isVisible()


@pytest.mark.slow
def test_the_walk_of_unsaved_work_is_kept_but_not_the_pointed_cell(
    sit_down: "Callable[..., Person]", qtbot: QtBot, config_dir: Path
) -> None:
    person = sit_down(remember=True)
    assert person.window.recovery is not None
    person.press("Causal")
    person.settle()
    for step in ({"at": Place("scores")}, {"look": "present", "head": "mean"}):
        with qtbot.waitSignal(person.window.recovery.written):
            person.document.show(**step)
        session = load_session(config_dir / "current.attnlab")
    assert session.view[KEY]["at"]["stage"] == "scores"
    person.document.select(Cell("scores", 0, 0, 0))
    assert not person.window.recovery._timer.isActive()
    person.window.close()


# Several closes


def leave_unsaved(person: "Person", preset: str, title: str) -> None:
    """Open a preset, change it, and close the window without saving."""
    person.playground.open_preset(preset)
    person.document.edit_scene("Rename", lambda scene: replace(scene, title=title))
    person.settle()
    person.window.close()


@pytest.mark.slow
def test_unsaved_work_of_several_windows_can_be_chosen(sit_down: "Callable[..., Person]", config_dir: Path) -> None:
    for preset, title in (("the-cat-sat", "First"), ("random-4x8", "Second"), ("causal-5x8", "Third")):
        leave_unsaved(sit_down(remember=True), preset, title)
    person = sit_down(remember=True)
    actions = {action.id: action for action in person.window.actions_list}
    titles = [actions[f"unsaved-{place}"].current_title() for place in (1, 2, 3, 4)]
    assert [title.split(" — ")[0] for title in titles] == [
        *(f"Restore {n}" for n in ("Third", "Second", "First")),
        "",
    ]
    assert all(re.search(r" — \d\d \S+ \d{4}, \d\d:\d\d$", title) for title in titles[:3])
    found = search(person.window.actions_list, "restore second")
    assert found[0].id == "unsaved-2"
    before = person.experiment
    assert person.window.actions_list.run("unsaved-2")
    person.settle()
    assert person.experiment.tokens == attnlab.preset("random-4x8").tokens
    assert person.playground.title() == "Second •"
    person.undo()
    assert person.experiment is before
    person.document.redo()
    person.window.close()  # restored, unchanged and not saved: it is kept once, not twice
    person = sit_down(remember=True)
    assert person.window.recovery is not None
    assert [kept.title for kept in person.window.recovery.list_all()] == ["Second", "Third", "First"]
