"""Reading a session does not block the window, and a newer request replaces it; closing leaves no thread."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication

import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.document.opened import Opened, open_session
from attnlab.ui.app.open_file import open_paths
from attnlab.ui.weights.weights_dialog import WeightsDialog
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from tests.ui.conftest import Person


class Gate:
    """Blocks the reading thread, like a slow disk, until it is opened; then the file is read."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.read: list[str] = []
        self.threads: list[threading.Thread] = []

    def __call__(self, path: Path) -> Opened:
        self.threads.append(threading.current_thread())
        self.open.wait()
        self.read.append(path.stem)
        return open_session(path)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr("attnlab.ui.playground.reader.open_session", made)
    yield made
    made.open.set()


def session(folder: Path, name: str) -> Path:
    attnlab.save(Experiment((name,), [[1.0]]), folder / f"{name}.attnlab")
    return folder / f"{name}.attnlab"


def test_the_window_responds_and_names_the_file_that_it_reads(person: "Person", gate: Gate, tmp_path: Path) -> None:
    before = person.experiment
    open_paths(person.window, [session(tmp_path, "slow")])
    assert person.experiment is before  # nothing was waited for
    person.wait_for(lambda: person.message() == "Opening slow.attnlab…")
    assert not person.playground.step_bar.note_timer.isActive()  # it holds as long as it takes
    person.press("Causal")
    assert person.experiment.config.causal
    gate.open.set()
    person.settle()
    assert person.experiment.tokens == ("slow",)
    assert person.message() == ""
    assert threading.main_thread() not in gate.threads
    person.undo()
    assert person.experiment.config.causal  # what was done meanwhile is a step of its own
    assert person.experiment.tokens == before.tokens


def test_an_error_replaces_the_note_about_reading(person: "Person", gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "odd.attnlab").write_bytes(b"nothing")
    before = person.document.scene
    open_paths(person.window, [tmp_path / "odd.attnlab"])
    person.wait_for(lambda: person.message() == "Opening odd.attnlab…")
    gate.open.set()
    person.settle()
    assert person.message() == f"{tmp_path / 'odd.attnlab'} is not an attnlab session, or only a part of one."
    assert person.document.scene is before


def test_a_newer_request_replaces_the_earlier_one(person: "Person", gate: Gate, tmp_path: Path) -> None:
    told: list[tuple[str, bool]] = []
    for name in ("one", "two", "three"):
        person.playground.files.open(session(tmp_path, name), lambda opened, name=name: told.append((name, opened)))  # type: ignore[misc]
    person.wait_for(lambda: person.message() == "Opening three.attnlab…")
    gate.open.set()
    person.settle()
    assert person.experiment.tokens == ("three",)
    assert person.history()[1:] == ["Open three.attnlab"]
    assert told == [("one", False), ("two", False), ("three", True)]
    assert person.window.settings.recent == (str(tmp_path / "three.attnlab"),)


def test_a_hanging_read_does_not_delay_the_next(
    person: "Person", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(
        "attnlab.ui.playground.reader.open_session", lambda path: (gate if path.stem == "slow" else open_session)(path)
    )
    person.playground.files.open(session(tmp_path, "slow"))
    person.wait_for(lambda: bool(gate.threads))
    person.playground.files.open(session(tmp_path, "quick"))
    person.settle()
    assert person.experiment.tokens == ("quick",)
    gate.open.set()
    gate.threads[0].join(PATIENCE_S)
    person.settle()
    assert person.experiment.tokens == ("quick",)
    assert person.history()[1:] == ["Open quick.attnlab"]


def test_the_window_can_be_closed_while_it_reads(sit_down: Callable[..., "Person"], gate: Gate, tmp_path: Path) -> None:
    person = sit_down(remember=True)
    told: list[bool] = []
    person.playground.files.open(session(tmp_path, "slow"), told.append)
    person.wait_for(lambda: bool(gate.threads))
    assert person.window.close()  # which does not wait: the file may be on a disk that never answers
    assert all(thread.is_alive() and thread.daemon for thread in gate.threads)
    gate.open.set()
    for thread in gate.threads:
        thread.join(PATIENCE_S)
    QApplication.processEvents()
    assert told == []
    assert person.history() == ["Open Your journey starts…"]


def test_unsaved_work_is_read_in_the_background(
    sit_down: Callable[..., "Person"], gate: Gate, config_dir: Path, tmp_path: Path
) -> None:
    shutil.copy(session(tmp_path, "left"), config_dir / "last.attnlab")
    person = sit_down(remember=True)
    assert person.window.actions_list.run("restore")
    person.wait_for(lambda: person.message() == "Opening unsaved work…")
    gate.open.set()
    person.settle()
    assert person.experiment.tokens == ("left",)
    assert person.playground.files.save_to(tmp_path / "kept.attnlab")
    person.window.close()
    assert not list(config_dir.glob("*.attnlab"))  # saved, it is no longer offered


def test_weights_dropped_with_a_session_are_applied_to_it(person: "Person", gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "W_q.csv").write_text("1,2\n", encoding="utf-8")
    open_paths(person.window, [session(tmp_path, "both"), tmp_path / "W_q.csv"])
    assert person.window.findChild(WeightsDialog) is None
    gate.open.set()
    person.settle()
    assert person.experiment.tokens == ("both",)
    dialog = person.window.findChild(WeightsDialog)
    assert dialog is not None
    person.wait_for(lambda: dialog.trial is not None)  # perhaps it was while the numbers were waited for
    dialog.close()


def test_an_unexpected_error_while_reading_is_reported_and_the_next_file_opens(
    person: "Person", monkeypatch: pytest.MonkeyPatch, tmp_path: Path, provoked: Callable[[], list[str]]
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("attnlab.ui.playground.reader.open_session", lambda _: [][0])
        open_paths(person.window, [session(tmp_path, "one")])
        person.settle()
    assert person.message().startswith("Something went wrong inside attnlab while opening a session: IndexError")
    assert [reason.partition(":")[0] for reason in provoked()] == ["IndexError"]
    open_paths(person.window, [session(tmp_path, "two")])
    person.settle()
    assert person.experiment.tokens == ("two",)
