"""``attnlab train TASK --seeds 0-4`` trains several runs one after the other and compares them."""

import csv
import math
from pathlib import Path

import pytest

from attnlab.base.console import INTERRUPTED, USER_ERROR
from attnlab.cli import train_progress
from attnlab.cli.main import main
from attnlab.training.process import TrainingProcess
from attnlab.training.store import list_runs, load

SMALL = [
    word
    for name in ("layers=1", "heads=2", "d_model=16", "d_ff=16", "batch=4", "evaluate_every=5")
    for word in ("--set", name)
]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return the output without lines that depend on the speed of the machine."""
    monkeypatch.setattr(train_progress, "QUIET_S", math.inf)


def train(*words: str) -> int:
    return main(["train", *words])


@pytest.mark.slow
def test_each_seed_is_saved_beside_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "queue"
    assert train("reverse", "--steps", "6", "--seeds", "0-1,7", "-o", str(folder), *SMALL) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[:3] == [str(folder / name) for name in ("seed-0", "seed-1", "seed-7")]
    assert [line[:6] for line in lines[4:7]] == ["seed 0", "seed 1", "seed 7"]
    assert lines[-1] == str(folder / "results.csv")
    assert "seed 7 (3 of 3)" in printed.err
    assert [load(folder / f"seed-{seed}").spec.train.seed for seed in (0, 1, 7)] == [0, 1, 7]
    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        state = load(folder / row["run"].replace(" ", "-"))
        assert float(row["loss"]) == state.metrics[-1].loss
        assert 0 <= float(row["anti-diagonal"]) <= 1


@pytest.mark.slow
def test_a_run_that_diverges_does_not_keep_the_others_from_training(capsys: pytest.CaptureFixture[str]) -> None:
    code = train("copy", "--steps", "6", "--vary", "rate=1e30,0.001", *SMALL, "--set", "clip=0", "--set", "warmup=0")
    printed = capsys.readouterr()
    assert code == USER_ERROR
    assert [line for line in printed.out.splitlines() if line.startswith("rate 0.001")]
    assert sorted(each.spec.train.rate for each in list_runs() if each.spec) == [0.001, 1e30]


@pytest.mark.slow
def test_ctrl_c_ends_the_queue_and_keeps_what_is_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[TrainingProcess] = []
    begin, poll = TrainingProcess.start, TrainingProcess.poll

    def start(self: TrainingProcess) -> None:
        started.append(self)
        begin(self)

    def press_in_the_second(self: TrainingProcess, wait: float = 0.0) -> tuple[object, ...]:
        if len(started) == 2 and wait and self.alive:
            raise KeyboardInterrupt
        return poll(self, wait)

    monkeypatch.setattr(TrainingProcess, "start", start)
    monkeypatch.setattr(TrainingProcess, "poll", press_in_the_second)
    folder = tmp_path / "queue"
    assert train("copy", "--steps", "6", "--seeds", "0-4", "-o", str(folder), *SMALL) == INTERRUPTED
    assert len(started) == 2
    assert not any(process.alive for process in started)
    assert load(folder / "seed-0").status == "ended"
    assert "seed 0" in (folder / "results.csv").read_text()
    assert capsys.readouterr().out.splitlines()[-1] == str(folder / "results.csv")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["copy", "--seeds", "4-0"], "'4-0' needs to be a range such as 0-4"),
        (["copy", "--seeds", "0-99999"], "of at most 100 values"),
        (["copy", "--seeds", "0,1,0"], "gives a value twice"),
        (["copy", "--seeds", "one"], "seed is 'one'; it needs a whole number"),
        (["copy", "--seeds", "0-4", "--seed", "3"], "one of them would do"),
        (["copy", "--vary", "heads"], "--vary 'heads' needs a name and values"),
        (["copy", "--vary", "hats=1,2"], "There is no setting 'hats'"),
        (["copy", "--vary", "heads=1,7"], "Heads 7: "),
        (["characters", "--vary", "text=a,b"], "cannot try several files"),
        (["--resume", "x", "--seeds", "0-4"], "--seeds is only for a new run"),
    ],
)
def test_what_cannot_be_varied_is_refused(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(*words) == USER_ERROR
    assert sentence in capsys.readouterr().err
