"""Runs of the gallery's views, which are short in tests and trained once in each process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from attnlab.training.store import find_runs_folder

STEPS = 20
"""The training steps of runs, whose numbers are of no matter."""
Make = Callable[[tuple[str, ...], int], Path]


@pytest.fixture(scope="session")
def _make_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Make, tuple[str, ...], int], Path]:
    """Return a function that makes a run, or copies what it made before, into the folder of runs of the test."""
    kept = tmp_path_factory.mktemp("runs")
    made: dict[tuple[tuple[str, ...], int], Path] = {}

    def make_once(make: Make, arguments: tuple[str, ...], seed: int) -> Path:
        if (arguments, seed) not in made:
            folder = make(arguments, seed)
            made[arguments, seed] = shutil.copytree(folder, kept / folder.name)
        run = made[arguments, seed]
        folder = find_runs_folder() / run.name
        return folder if folder.exists() else Path(shutil.copytree(run, folder))

    return make_once


@pytest.fixture
def short_runs(_make_once: Callable[[Make, tuple[str, ...], int], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the gallery train short runs, each once."""
    from tools import gallery_train

    make = gallery_train.make_run
    monkeypatch.setattr(gallery_train, "STEPS", STEPS)
    monkeypatch.setattr(gallery_train, "make_run", lambda arguments, seed=0: _make_once(make, arguments, seed))
