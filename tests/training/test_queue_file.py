"""The queue that a window leaves is read once by the next; a damaged one is refused in one sentence."""

from pathlib import Path

import pytest

from attnlab.base.errors import TrainingError
from attnlab.base.folders import config_folder
from attnlab.training.questions import vary
from attnlab.training.queue_file import LeftQueue, LeftRun, leave, take
from attnlab.training.specs import RunSpec


def make_queue() -> LeftQueue:
    first, second, third = vary(RunSpec(options={"longest": 5}), "seed", (0, 1, 2))
    runs = (LeftRun(first, Path("/runs/one")), LeftRun(second, Path("/runs/two"), stopped=True), LeftRun(third))
    return LeftQueue("Seeds 0 to 2", runs)


def test_a_queue_is_read_as_it_was_left_and_only_once() -> None:
    assert take() is None
    leave(make_queue())
    assert take() == make_queue()
    assert take() is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": "attnlab-queue", "title": "x", "runs": [{"name": "a"}]}', "[" * 9999]
)
def test_a_damaged_list_is_refused_and_forgotten(text: str) -> None:
    config_folder().mkdir(parents=True, exist_ok=True)
    (config_folder() / "queue.json").write_text(text)
    with pytest.raises(TrainingError, match="cannot be read; those that had begun are in Runs"):
        take()
    assert take() is None
