"""``attnlab train`` trains without a window: it shows progress, saves the run, and continues it."""

import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import attnlab
from attnlab.base.console import INTERRUPTED
from attnlab.cli import train_progress
from attnlab.cli.main import main
from attnlab.cli.train_progress import follow, format_progress
from attnlab.training.messages import Checkpoint, Ended, Failed, Message, Metric, Point, Progress
from attnlab.training.process import TrainingProcess
from attnlab.training.run import Run
from attnlab.training.store import find_runs_folder, list_runs, load, save
from attnlab.training.tasks import TASKS, make_spec
from tests.training.runs import all_of, tiny

SMALL = [
    word
    for name in ("layers=1", "heads=2", "d_model=16", "d_ff=16", "batch=4", "evaluate_every=5")
    for word in ("--set", name)
]
ROOT = Path(attnlab.__file__).parents[1]
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return the output without lines that depend on the speed of the machine."""
    monkeypatch.setattr(train_progress, "QUIET_S", math.inf)


def train(*words: str) -> int:
    return main(["train", *words])


@pytest.mark.slow
def test_a_run_is_trained_and_saved_and_can_be_opened(capsys: pytest.CaptureFixture[str]) -> None:
    assert train("copy", "--steps", "12", "--seed", "3", *SMALL) == 0
    printed = capsys.readouterr()
    folder = Path(printed.out.rstrip("\n"))
    assert folder.parent == find_runs_folder()
    assert re.fullmatch(r"copy-3-\d{8}-\d{6}", folder.name)
    assert printed.err == "Done: all 12 steps taken.\n"
    state = load(folder)
    assert (state.status, state.step, state.name) == ("ended", 12, folder.name)
    assert (state.spec.train.seed, state.spec.model.d_model, state.spec.train.batch) == (3, 16, 4)
    assert state.curve.steps.tolist() == list(range(12))
    assert [state.moments[0].step, state.moments[-1].step] == [0, 12]  # the time line of the window
    assert state.checkpoint is not None
    assert [each.folder for each in list_runs()] == [folder]


@pytest.mark.slow
def test_continuing_equals_uninterrupted_training(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    short, long = str(tmp_path / "short"), str(tmp_path / "long")
    constant = (*SMALL, "--set", "schedule=constant")  # others are stretched when steps are added
    assert train("copy", "--steps", "20", "-o", long, *constant) == 0
    assert train("copy", "--steps", "8", "-o", short, *constant) == 0
    assert train("--resume", short, "--steps", "20") == 0
    assert capsys.readouterr().out.splitlines() == [long, short, short]
    once, twice = load(long), load(short)
    np.testing.assert_array_equal(once.curve.losses, twice.curve.losses)
    for name, array in once.moments[-1].weights.items():
        np.testing.assert_array_equal(array, twice.moments[-1].weights[name])


@pytest.mark.slow
def test_a_saved_run_is_found_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert train("copy", "--steps", "3", "-o", str(find_runs_folder() / "mine"), *SMALL) == 0
    assert train("--resume", "mine", "--steps", "6") == 0
    assert load(find_runs_folder() / "mine").step == 6
    assert capsys.readouterr().out.count("mine") == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["copi"], "There is no task 'copi'; there are"),
        ([], "attnlab train --list names the tasks"),
        (["copy", "--resume", "x"], "Give either a TASK to train or --resume"),
        (["copy", "--steps", "0"], "'0' is not a whole number of at least 1; 2000 would be"),
        (["copy", "--steps", "-5"], "'-5' is not a whole number of at least 1; 2000 would be"),
        (["copy", "--seed", "-5"], "'-5' is not a whole number of at least 0"),
        (["copy", "--steps", "many"], "'many' is not a whole number"),
        (["copy", "--device", "abacus"], "abacus"),
        (["copy", "--model", "huge"], "The task copy cannot use a model of kind 'huge'"),
        (["copy", "--set", "heads=7"], "heads is 7"),
        (["copy", "--set", "rate=fast"], "rate is 'fast'; it needs a number."),
        (["copy", "--set", "rate=nan"], "The rate is nan"),
        (["copy", "--set", "layers=1.5"], "it needs a whole number"),
        (["copy", "--set", "layers"], "needs a name and a value"),
        (["copy", "--set", "colour=red"], "There is no setting 'colour'; there are symbols"),
        (["copy", "--set", "symbols=1"], "symbols is 1"),
        (["--resume", "nothing"], "nothing; --resume needs the folder of a run, with its run.json."),
        (["--resume", os.curdir], "There is no run in .; --resume needs the folder of a run"),
        (["--resume", "x", "--seed", "1"], "--seed is only for a new run"),
        (["--resume", "x", "--set", "rate=1"], "--set is only for a new run"),
    ],
)
def test_an_invalid_request_is_refused_in_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert not find_runs_folder().exists()


def test_an_existing_run_is_never_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mine.txt").write_text("mine")
    assert train("copy", "--steps", "3", "-o", str(tmp_path / "work"), *SMALL) == 2
    assert "already exists" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_an_unwritable_folder_is_refused_before_training(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert train("copy", "--steps", "1000000", "-o", str(tmp_path / "file" / "run"), *SMALL) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.slow
def test_a_diverging_run_ends_with_a_sentence_and_can_be_opened(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = str(tmp_path / "run")
    settings = (*SMALL, "--set", "rate=1e6", "--set", "warmup=0", "--set", "clip=0")
    assert train("copy", "--steps", "50", "-o", folder, *settings) == 2
    printed = capsys.readouterr()
    assert printed.out == f"{folder}\n"
    assert re.fullmatch(r"attnlab: Training stopped at step \d+: .*\n", printed.err)
    state = load(folder)
    assert all(np.isfinite(array).all() for array in state.moments[-1].weights.values())


@pytest.mark.slow
def test_a_run_that_diverges_at_the_last_step_can_be_opened(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    settings = (*SMALL, "--set", "rate=1e6", "--set", "warmup=0", "--set", "clip=0")
    assert train("copy", "--steps", "1", "-o", folder, *settings) == 2
    assert "stopped at step 1: the held-out loss is not a number" in capsys.readouterr().err
    state = load(folder)
    assert state.step == 0
    assert [metric.step for metric in state.metrics] == [0]


@pytest.mark.slow
def test_a_run_can_be_continued_only_forwards(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    small = (word for name in ("columns=8", "d_model=8", "heads=2", "sequences=20") for word in ("--set", name))
    assert train("sum", "--steps", "3", "-o", folder, *small) == 0
    assert train("--resume", folder, "--steps", "5") == 0
    capsys.readouterr()
    assert train("--resume", folder, "--steps", "4") == 2
    assert "has taken 5 steps; --steps 4 must be larger" in capsys.readouterr().err
    assert (load(folder).step, load(folder).spec.train.steps) == (5, 5)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
@posix
def test_a_full_disk_is_reported_once_while_training_continues(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_progress, "SAVE_S", 0.0)
    folder = tmp_path / "run"
    with files_of_at_most(50_000):  # as much as the first moment and the first checkpoint take
        assert train("copy", "--steps", "60", "-o", str(folder), *SMALL) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("cannot be written: File too large; training continues.")
    assert lines[1].endswith("cannot be written: File too large.")
    kept = load(folder)
    assert kept.status == "interrupted"
    assert kept.checkpoint is not None
    assert train("--resume", str(folder)) == 0
    assert load(folder).curve.steps.tolist() == list(range(60))


@pytest.mark.slow
@posix
def test_ctrl_c_saves_the_run_and_it_can_be_continued(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    program = (
        "import sys; from attnlab.cli import train_progress as r; r.QUIET_S, r.STOP_S = 0.0, 60.0; "
        "from attnlab.cli.main import main; "
        f"sys.exit(main(['train', 'copy', '--steps', '1000000', '-o', {str(folder)!r}, *{SMALL!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if re.match(r"step [1-9]", line):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == INTERRUPTED
    assert out == f"{folder}\n"
    assert re.fullmatch(r"Stopped at step [\d,]+\.", err.splitlines()[-1])
    assert "Traceback" not in err
    state = load(folder)
    assert (state.status, state.step > 0) == ("ended", True)
    assert state.checkpoint is not None
    assert state.checkpoint.step == state.step == len(state.curve.steps)


class Polled(TrainingProcess):
    """A process whose messages all arrive at once, as when the machine is busy."""

    def poll(self, wait: float = 0.0) -> tuple[Message, ...]:
        found: tuple[Message, ...] = ()
        while not any(isinstance(message, Ended | Failed) for message in found) and self.alive:
            found += super().poll(wait)
        return (*found, *super().poll())


@pytest.mark.slow
@pytest.mark.parametrize("kind", [TrainingProcess, Polled])
def test_a_model_too_large_to_record_is_reported_once(
    kind: type[TrainingProcess], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    spec = tiny(12)
    assert follow(Run(spec, "large", limit=1 << 10), kind(spec), tmp_path / "run") == 0
    first, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"This model is too large to record: [\d.]+ MiB a moment, limit 0.00098 MiB\.", first)
    assert last == "Done: all 12 steps taken."
    assert load(tmp_path / "run").moments == ()


@pytest.mark.slow
def test_a_changed_text_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text, folder = tmp_path / "mine.txt", tmp_path / "run"
    text.write_text("to be or not to be\n" * 100)
    own = ("--set", f"text={text}", "--set", "context=8", "-o", str(folder))
    assert train("characters", "--steps", "3", *own, *SMALL) == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    text.write_text("or to be not to be\n" * 100)  # of the same letters
    capsys.readouterr()
    assert train("--resume", str(folder), "--steps", "6") == 2
    assert f"The text {text} has changed since this run began; restore the earlier text" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    state = load(folder)
    process = TrainingProcess(state.spec, state.checkpoint, digest=state.digest)  # as a window goes on
    process.start()
    failed = all_of(process)[-1]
    process.stop()
    assert isinstance(failed, Failed)
    assert "has changed since" in failed.sentence
    text.write_bytes(b"to be or not to be\r\n" * 100)  # the same but for how lines end
    assert train("--resume", str(folder), "--steps", "6") == 0
    assert load(folder).step == 6


def run_that_names(text: str, folder: Path) -> Path:
    """Return the folder of a foreign run that names a text of this machine."""
    spec = make_spec("characters")
    save(Run(replace(spec, options={"text": text, "context": 8}), "theirs").state(), folder)
    return folder


@pytest.mark.parametrize("text", ["~nosuchuser/x", "//server/share/x.txt", "\x1b[2J.txt", "x\0y", "{}/private.txt"])
def test_a_text_named_by_a_run_is_read_only_if_allowed(
    text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "private.txt").write_text("short")
    folder = run_that_names(text.replace("{}", str(tmp_path)), tmp_path / "run")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("attnlab.training.tasks.texts.read", lambda path: pytest.fail(f"{path} was read"))
        patched.setattr("attnlab.training.tasks.texts.stamp", lambda path: pytest.fail(f"{path} was looked at"))
        assert train("--resume", str(folder)) == 2
    said = capsys.readouterr().err
    assert "which you have not chosen on this computer. Add --allow-text to let attnlab read it." in said
    assert said.rstrip("\n").isprintable()
    for options in (("--allow-text",), ()):  # asked once
        assert train("--resume", str(folder), *options) == 2
        said = capsys.readouterr().err
        assert said.startswith("attnlab: ")
        assert said.rstrip("\n").isprintable()
        assert ("has 5 characters" in said) == ("private" in text)


class Impatient(TrainingProcess):
    """A process that gets Ctrl+C when it has saved something, and again during the next step."""

    pressed = 0
    held: tuple[Message, ...] = ()

    def poll(self, wait: float = 0.0) -> tuple[Message, ...]:
        messages = super().poll(wait)
        if any(isinstance(message, Checkpoint) for message in self.held + messages) and not self.pressed:
            self.pressed, self.held = 1, self.held + messages
            raise KeyboardInterrupt
        held, self.held = self.held, ()
        return held + messages

    def stop(self, wait: float = 0.0) -> None:
        if wait > 0:
            self.pressed = 2
            raise KeyboardInterrupt
        super().stop(wait)


@pytest.mark.slow
def test_a_second_ctrl_c_saves_without_waiting(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tiny(10**6)
    process = Impatient(spec)
    assert follow(Run(spec, "impatient"), process, tmp_path / "run") == INTERRUPTED
    assert process.pressed == 2
    assert capsys.readouterr().out == f"{tmp_path / 'run'}\n"
    assert load(tmp_path / "run").checkpoint is not None
    assert train("--help") == 0
    assert "Ctrl+C ends the run after the current step and saves it" in " ".join(capsys.readouterr().out.split())


def test_the_tasks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert train("--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(TASKS)
    assert train("--list", "reverse") == 0
    [alone] = capsys.readouterr().out.splitlines()
    assert alone.split() == lines[list(TASKS).index("reverse")].split()
    assert train("--list", "nope") == 2
    assert "There is no task 'nope'; there are copy" in capsys.readouterr().err


def test_the_progress_line_shows_step_loss_and_rate() -> None:
    run = Run(tiny(2000), "x")
    assert format_progress(run, 0.0) == "step 0 of 2,000"
    points = tuple(Point(step, 0.25, 0.1) for step in range(1200))
    run.take(Progress(1200, 3.0, points, (Metric(1200, 0.2, 0.987, 0.9),)))
    assert format_progress(run, 200.0) == (
        "step 1,200 of 2,000 · loss 0.25 · held-out 98.7\N{NO-BREAK SPACE}% right · 200 steps/s · 4 s left"
    )
    assert format_progress(run, 5.0).endswith("5.0 steps/s · 2 min 40 s left")
    assert format_progress(run, 0.1).endswith("2 h 13 min left")
    run.take(Progress(1201, 3.0, (), (Metric(1201, 0.55, float("nan"), float("nan")),)))
    assert format_progress(run, 0.0) == "step 1,201 of 2,000 · loss 0.25 · held-out loss 0.55"
