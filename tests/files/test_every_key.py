"""Every key of every kind of file is missing, mistyped, huge, negative or NaN: one sentence, or a valid value."""

import json
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from attnlab.attention.examples.presets import preset
from attnlab.attention.stages.explanation import Cell
from attnlab.base.errors import AttnlabError
from attnlab.document.saved_view import from_plain
from attnlab.document.settings import Settings, load_settings, save_settings
from attnlab.files.sessions.session_archive import MANIFEST as SESSION_MANIFEST
from attnlab.files.sessions.session_archive import TENSORS, pack
from attnlab.files.sessions.session_file import load_scene, save_scene
from attnlab.lessons.exercise import Exercise, compute_answers, read_exercise, save_exercise
from attnlab.training import store
from attnlab.training.store_manifest import MANIFEST
from tests.training.runs import made_up_run

GONE = object()
VALUES: dict[str, Any] = {
    "missing": GONE,
    "null": None,
    "true": True,
    "minus one": -1,
    "zero": 0,
    "a half": 0.5,
    "2^63 - 1": 2**63 - 1,
    "10^400": 10**400,
    "1e308": 1e308,
    "text": "x\x1b[2J",
    "long text": "9" * 100_000,
    "a list": [],
    "an object": {},
    "deep": [[[[]]]],
    "NaN": float("nan"),
    "infinity": float("-inf"),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every key, and of the first item of every list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from places(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield (*path, 0)
        yield from places(value[0], (*path, 0))


def changed(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    copy = deepcopy(whole)
    owner = copy
    for key in path[:-1]:
        owner = owner[key]
    if value is GONE:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return copy


class ExerciseFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "x.json"
        blanks = (Cell("weights", 1, 0, 0), Cell("context", 0, 1, 0))
        save_exercise(Exercise(preset("journey"), blanks, seed=3, students=("Ada",)), self._path)
        self.whole = json.loads(self._path.read_text())

    def read(self, whole: Any) -> None:
        self._path.write_text(json.dumps(whole))
        found = read_exercise(self._path)
        compute_answers(found, found.experiment)


class RunFile:
    def __init__(self, folder: Path) -> None:
        self._folder = folder / "run"
        store.save(made_up_run().state(), self._folder)
        self.whole = json.loads((self._folder / MANIFEST).read_text())

    def read(self, whole: Any) -> None:
        (self._folder / MANIFEST).write_text(json.dumps(whole))
        said = store.read_summary(self._folder).problem
        assert said.isprintable()
        assert len(store.list_runs(self._folder.parent)) == 1
        from attnlab.training.tasks import check_options

        assert check_options(store.load(self._folder).spec).isprintable()


class SessionFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "x.attnlab"
        view = {"title": "A", "preset": "journey", "head": 0, "stage": "weights", "cell": [0, 1]}
        save_scene(preset("multi-head-8"), self._path, view)
        with zipfile.ZipFile(self._path) as archive:
            self.whole, self._tensors = json.loads(archive.read(SESSION_MANIFEST)), archive.read(TENSORS)

    def read(self, whole: Any) -> None:
        self._path.write_bytes(pack({SESSION_MANIFEST: json.dumps(whole).encode(), TENSORS: self._tensors}))
        experiment, view = load_scene(self._path)
        from_plain(view, experiment)


class SettingsFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "settings.json"
        save_settings(Settings(), self._path)
        self.whole = json.loads(self._path.read_text())

    def read(self, whole: Any) -> None:
        self._path.write_text(json.dumps(whole))
        settings, said = load_settings(self._path)
        assert isinstance(settings, Settings)
        if said:
            raise AttnlabError(said[0])


KINDS: dict[str, Callable[[Path], Any]] = {
    "an exercise": ExerciseFile,
    "a run": RunFile,
    "a session": SessionFile,
    "settings": SettingsFile,
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", KINDS)
def test_any_invalid_key_is_reported_in_one_sentence(kind: str, value: str, tmp_path: Path) -> None:
    file = KINDS[kind](tmp_path)
    there = list(places(file.whole))
    assert len(there) > 5
    said = {path: sentence_of(file, changed(file.whole, path, VALUES[value])) for path in there}
    assert any(said.values())
    assert [path for path, sentence in said.items() if not sentence.isprintable() or len(sentence) > 1500] == []


def sentence_of(file: Any, whole: Any) -> str:
    try:
        file.read(whole)
    except AttnlabError as error:
        return str(error)
    return ""
