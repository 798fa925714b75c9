"""The queue of a window is read as it was written; a damaged one is refused in one sentence."""

from pathlib import Path

import pytest

from attnlab.base.errors import TrainingError
from attnlab.base.folders import config_folder
from attnlab.training.questions import vary
from attnlab.training.queue_file import LeftQueue, LeftRun, leave, list_files, read
from attnlab.training.specs import RunSpec


def make_queue() -> LeftQueue:
    first, second, third = vary(RunSpec(options={"longest": 5}), "seed", (0, 1, 2))
    runs = (LeftRun(first, Path("/runs/one")), LeftRun(second, Path("/runs/two"), stopped=True), LeftRun(third))
    return LeftQueue("Seeds 0 to 2", runs)


def test_a_queue_is_read_as_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "queue.json"
    leave(make_queue(), path)
    assert read(path) == make_queue()
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "queue-2.json")


def test_each_window_has_a_file_in_the_settings_folder() -> None:
    names = [path.name for path in list_files()]
    assert names[:2] == ["queue.json", "queue-2.json"]
    assert {path.parent for path in list_files()} == {config_folder()}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": "attnlab-queue", "title": "x", "runs": [{"name": "a"}]}', "[" * 9999]
)
def test_a_damaged_list_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "queue.json").write_text(text)
    with pytest.raises(TrainingError, match="cannot be read; those that had begun are in Runs"):
        read(tmp_path / "queue.json")
