"""The training process: it obeys commands, never blocks, and reports how it ended."""

import gc
import math
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from attnlab.training import process as process_module
from attnlab.training.messages import (
    Checkpoint,
    Ended,
    Failed,
    Interval,
    Message,
    Progress,
    Put,
    Refused,
    Resume,
    Started,
    Step,
    Want,
)
from attnlab.training.process import TrainingProcess
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.training.trainer import Trainer
from tests import nursery
from tests.patience import PATIENCE_S
from tests.training.runs import all_of, points, started, tiny, wait_for

ROOT = Path(process_module.__file__).parents[2]
LONG = 10**6
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
real = pytest.mark.usefixtures("real_processes")
linux = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process by its descriptor")


def last_checkpoint(messages: list[Message]) -> Checkpoint:
    return [message for message in messages if isinstance(message, Checkpoint)][-1]


def stopped(process: TrainingProcess) -> list[Message]:
    """Stop a process, check that it ended completely, and return its last messages."""
    process.stop()
    assert not process.alive
    with pytest.raises(ProcessLookupError):  # neither it nor a zombie
        os.kill(process.pid, 0)
    return list(process.poll())


@pytest.fixture
def real_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start processes as the program does, where starting and ending is the subject; other tests fork theirs."""
    monkeypatch.setattr(process_module, "_start_process", nursery.real_start)


def really_started(spec: RunSpec, monkeypatch: pytest.MonkeyPatch) -> TrainingProcess:
    """Start one process as the program does, of a test whose others are forked."""
    with monkeypatch.context() as changed:
        changed.setattr(process_module, "_start_process", nursery.real_start)
        return started(spec)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Use one thread like the process, because floating point sums depend on how they are divided."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@real
def test_a_process_trains_like_the_trainer_in_this_process(one_thread: None) -> None:
    process = started(tiny(steps=12))
    messages = all_of(process)
    assert stopped(process) == []
    assert isinstance(messages[0], Started)
    last = messages[-1]
    assert isinstance(last, Ended)
    assert (last.step, last.reason) == (12, "steps")
    trainer = Trainer(tiny(steps=12))
    assert points(messages) == [trainer.take() for _ in range(12)]  # bit for bit
    metrics = [each for message in messages if isinstance(message, Progress) for each in message.metrics]
    assert [each.step for each in metrics] == [0, 5, 10, 12]
    moments = [each for each in messages if isinstance(each, Progress) and each.moment]
    assert (moments[0].step, moments[-1].step) == (0, 12)
    assert moments[-1].weights is not None
    for name, array in trainer.read_weights().items():
        np.testing.assert_array_equal(moments[-1].weights[name], array)


def paused(steps: int, **options: object) -> TrainingProcess:
    """Return a process that waits before its first step."""
    process = TrainingProcess(tiny(steps), pause_after=0, **options)  # type: ignore[arg-type]
    process.start()
    return process


def wait_until_paused(process: TrainingProcess, step: int) -> list[Message]:
    """Return all messages until the process has paused at a step and sent it."""
    found: list[Message] = []
    while not found or not (isinstance(found[-1], Checkpoint) and found[-1].step == step and _is_paused(found)):
        found += wait_for(process, Checkpoint)
    return found


def _is_paused(messages: list[Message]) -> bool:
    return [message for message in messages if isinstance(message, Progress)][-1].paused


@pytest.mark.slow
def test_single_steps_equal_uninterrupted_training() -> None:
    process = paused(14)
    before = wait_until_paused(process, 0)
    for step in range(1, 6):
        process.send(Step())
        came = wait_until_paused(process, step)
        assert [point.step for point in points(came)] == [step - 1]
        assert [m.weights is not None for m in came if isinstance(m, Progress)] == [True]
        before += came
    process.send(Resume())
    messages = before + all_of(process)
    stopped(process)
    assert [point.step for point in points(messages)] == list(range(14))
    other = started(tiny(14), checkpoint=last_checkpoint(before))
    assert points(all_of(other)) == [point for point in points(messages) if point.step >= 5]
    stopped(other)


@pytest.mark.slow
def test_a_process_that_is_to_take_one_step_waits_after_it() -> None:
    process = TrainingProcess(tiny(LONG), pause_after=1)
    process.start()
    came = wait_until_paused(process, 1)
    assert [point.step for point in points(came)] == [0]
    process.send(Step())
    assert [point.step for point in points(wait_until_paused(process, 2))] == [1]
    process.stop()
    again = TrainingProcess(tiny(LONG), checkpoint=last_checkpoint(came), pause_after=1)
    again.start()
    wait_until_paused(again, 2)
    again.stop()


@pytest.mark.slow
def test_stop_ends_the_process_and_keeps_its_last_step() -> None:
    process = started(tiny(LONG))
    wait_for(process, Checkpoint)
    process.end(PATIENCE_S)
    messages = all_of(process)
    assert stopped(process) == []
    last = messages[-1]
    assert isinstance(last, Ended)
    assert last.reason == "stopped"
    assert last_checkpoint(messages).step == last.step


@real
@pytest.mark.slow
@posix
def test_a_hanging_process_is_stopped() -> None:
    process = started(tiny(LONG))
    wait_for(process, Checkpoint)
    os.kill(process.pid, signal.SIGSTOP)
    last = stopped(process)[-1]
    assert isinstance(last, Ended)
    assert last.reason == "stopped"
    assert "is kept" in last.sentence


@real
def test_a_starting_process_can_be_stopped() -> None:
    process = started(tiny(LONG))
    last = stopped(process)[-1]
    assert isinstance(last, Ended)
    assert "nothing" not in last.sentence


@real
@pytest.mark.slow
def test_a_process_that_is_stopped_before_it_continues_is_at_the_step_of_its_checkpoint() -> None:
    process = TrainingProcess(tiny(LONG), pause_after=5)
    process.start()
    kept = last_checkpoint(wait_until_paused(process, 5))
    stopped(process)
    process = TrainingProcess(tiny(LONG), checkpoint=kept)
    process.start()
    last = stopped(process)[-1]
    assert isinstance(last, Ended)
    assert last.step >= kept.step > 0
    assert f"step {last.step:,}" in last.sentence


@pytest.mark.slow
@posix
@pytest.mark.parametrize(("number", "words"), [(signal.SIGKILL, "perhaps because memory ran out"), (6, "crashed")])
def test_a_killed_process_is_reported_in_a_sentence_and_the_run_can_continue(
    number: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = really_started(tiny(LONG), monkeypatch)
    messages = wait_for(process, Checkpoint)
    os.kill(process.pid, number)
    messages += all_of(process)
    assert stopped(process) == []
    failed = messages[-1]
    assert isinstance(failed, Failed)
    assert words in failed.sentence
    assert f"signal {int(number)}" in failed.sentence
    assert failed.sentence.count(". ") == 0
    assert ("Abort" in failed.details) == (number == 6)  # where it was, for the log
    kept = last_checkpoint(messages)
    again = started(tiny(kept.step + 3), checkpoint=kept)
    assert isinstance(all_of(again)[-1], Ended)
    stopped(again)


@real
@pytest.mark.slow
@linux
def test_running_out_of_memory_is_reported_in_a_sentence() -> None:
    import resource

    process = paused(LONG)
    wait_until_paused(process, 0)
    held = int(Path(f"/proc/{process.pid}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(process.pid, resource.RLIMIT_AS, (held, held))
    process.send(Put({"far too large": np.ones(50_000_000, np.float32)}))
    failed = all_of(process)[-1]
    stopped(process)
    assert isinstance(failed, Failed)
    assert "memory" in failed.sentence


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 50])
def test_a_diverging_run_ends_with_its_last_good_weights(steps: int) -> None:
    spec = tiny(steps, rate=1e6, warmup=0, clip=0.0, schedule="constant")
    process = started(replace(spec, train=replace(spec.train, evaluate_every=1)))
    messages = all_of(process)
    stopped(process)
    last = messages[-1]
    assert isinstance(last, Ended)
    assert last.reason == "nan"
    assert "step" in last.sentence
    metrics = [metric for message in messages if isinstance(message, Progress) for metric in message.metrics]
    assert [metric.step for metric in metrics if math.isfinite(metric.loss)] == [metric.step for metric in metrics]
    weights = [message.weights for message in messages if isinstance(message, Progress)][-1]
    assert weights is not None
    assert all(np.isfinite(array).all() for array in weights.values())
    assert all(math.isfinite(point.loss) for point in points(messages))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"), [({"device": "abacus"}, "abacus"), ({"rate": -1.0}, "rate"), ({"optimizer": "magic"}, "magic")]
)
def test_an_invalid_run_is_refused_in_a_sentence(change: dict[str, float | str], words: str) -> None:
    process = started(tiny(5, **change))
    (failed,) = all_of(process)
    stopped(process)
    assert isinstance(failed, Failed)
    assert words in failed.sentence


@pytest.mark.slow
def test_weights_are_sent_only_when_requested() -> None:
    process = paused(60, interval=LONG)
    process.send(Want())
    wait_until_paused(process, 0)
    process.send(Resume())
    messages = all_of(process)
    stopped(process)
    given = [message for message in messages if isinstance(message, Progress) and message.weights is not None]
    assert sum(not message.moment for message in given) <= 1
    assert [message.step for message in given if message.moment] == [60]


@pytest.mark.slow
def test_an_interval_of_zero_records_every_step() -> None:
    process = started(tiny(3), interval=0)
    messages = all_of(process)
    stopped(process)
    assert isinstance(messages[-1], Ended)
    assert points(messages)[-1].step == 2


@pytest.mark.slow
def test_moments_are_recorded_at_the_requested_interval() -> None:
    process = paused(40)
    process.send(Interval(8))
    wait_until_paused(process, 0)
    for _ in range(17):
        process.send(Step())
    process.send(Resume())
    moments = [m.step for m in all_of(process) if isinstance(m, Progress) and m.moment]
    stopped(process)
    assert moments == sorted(set(moments))
    assert moments[-1] == 40
    assert len(moments) <= 1 + 40 // 8


@pytest.mark.slow
def test_exact_moments_are_of_the_multiples_of_their_interval() -> None:
    process = TrainingProcess(tiny(40), interval=6, exact=True)
    process.start()
    moments = [m.step for m in all_of(process) if isinstance(m, Progress) and m.moment]
    stopped(process)
    assert moments == [0, 6, 12, 18, 24, 30, 36, 40]


@pytest.mark.slow
@pytest.mark.parametrize("measure", [False, True])
def test_a_checkpoint_after_an_edit_is_measured_before_the_next_step(measure: bool) -> None:
    spec = tiny(steps=20)  # evaluated every 5 steps
    trainer = Trainer(spec)
    for _ in range(7):
        trainer.take()
    found = all_of(started(spec, checkpoint=trainer.make_checkpoint(), measure=measure))
    metrics = [metric for m in found if isinstance(m, Progress) for metric in m.metrics]
    assert [metric.step for metric in metrics] == ([7] if measure else []) + [10, 15, 20]
    if measure:
        assert metrics[0].loss == pytest.approx(trainer.evaluate().loss, rel=1e-5)


@pytest.mark.slow
def test_replaced_weights_are_used_and_reported() -> None:
    process = paused(LONG)
    before = wait_until_paused(process, 0)
    weights = next(m.weights for m in before if isinstance(m, Progress) and m.weights is not None)
    name = next(iter(weights))
    process.send(Put({name: np.zeros_like(weights[name])}))
    found = wait_for(process, Progress)
    put = next(m.weights for m in found if isinstance(m, Progress))
    assert put is not None
    assert not put[name].any()
    (metric,) = (metric for m in found if isinstance(m, Progress) for metric in m.metrics)
    assert metric.step == 0  # measured at once, not at the next evaluation
    (first,) = (metric for m in before if isinstance(m, Progress) for metric in m.metrics)
    assert metric.loss != first.loss
    kept = [*found, *wait_for(process, Checkpoint)] if not any(isinstance(m, Checkpoint) for m in found) else found
    state = next(m.state for m in kept if isinstance(m, Checkpoint))  # so that a process that is killed loses nothing
    assert not state[f"model/{name}"].any()
    stopped(process)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"nobody": np.zeros(3, np.float32)}, "The model has no weights 'nobody'; it has "),
        ({"FIRST": np.zeros(3, np.float32)}, "are [3]; the model needs ["),
        ({"FIRST": None}, "contain ∞ or NaN"),
        ({"FIRST": 1e300}, "contain ∞ or NaN"),  # which float32 has not
    ],
)
def test_invalid_weights_are_refused_in_a_sentence_and_the_run_continues(
    wrong: dict[str, np.ndarray | float | None], words: str
) -> None:
    process = paused(3)
    before = wait_until_paused(process, 0)
    weights = next(m.weights for m in before if isinstance(m, Progress) and m.weights is not None)
    first = next(iter(weights))
    process.send(
        Put(
            {
                name.replace("FIRST", first): value
                if isinstance(value, np.ndarray)
                else np.full(weights[first].shape, math.nan if value is None else value)
                for name, value in wrong.items()
            }
        )
    )
    process.send(Resume())
    messages = all_of(process)
    stopped(process)
    run = Run(tiny(3), "refused")
    for message in messages:
        run.take(message)
    assert [words in m.sentence for m in messages if isinstance(m, Refused)] == [True]
    assert words in run.refused
    assert (run.status, run.step) == ("ended", 3)
    clock = started(tiny(3))
    assert points(messages) == points(all_of(clock))  # nothing was changed
    stopped(clock)


@pytest.mark.slow
def test_training_does_not_wait_for_a_busy_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "_MOST_WAITING", 2)
    steps = 200
    busy = started(tiny(steps))
    for _ in range(40):  # each is answered by a checkpoint: more than the pipe holds
        busy.send(Put({}))
    clock = started(tiny(steps))  # what takes as long, and begins later
    all_of(clock)
    stopped(clock)
    messages = all_of(busy)
    stopped(busy)
    assert [point.step for point in points(messages)] == list(range(steps))
    assert max(len(m.points) for m in messages if isinstance(m, Progress)) >= 50  # told at once, as it was not read


@real
@pytest.mark.slow
@linux
def test_the_process_ends_with_its_parent() -> None:
    script = (
        "import os; from tests.training.runs import *; p = started(tiny(10**6)); wait_for(p, Checkpoint);"
        "print(p.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment())
    assert parent.stdout is not None
    child = os.pidfd_open(int(parent.stdout.readline()))
    assert parent.wait() == -signal.SIGKILL
    assert select.select([child], [], [], PATIENCE_S)[0]
    os.close(child)
    parent.stdout.close()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.slow
def test_a_script_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "lesson.py"
    script.write_text(
        "print('once')\nfrom tests.training.runs import *\n"
        "p = started(tiny(5))\nprint(all_of(p)[-1].reason)\np.stop()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", str(script)], env=environment(), capture_output=True, text=True
    )
    assert (ran.stdout, ran.stderr) == ("once\nsteps\n", "")


@pytest.mark.slow
def test_a_script_that_does_not_stop_the_process_still_exits(tmp_path: Path) -> None:
    script = "from tests.training.runs import *\np = started(tiny(10**6))\nwait_for(p, Started)"
    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (ran.returncode, ran.stderr) == (0, "")


@real
@pytest.mark.slow
@posix
def test_the_frozen_program_starts_its_own_training_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "attnlab"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom attnlab.cli.main import main\nsys.exit(main())\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    process = started(tiny(5))
    messages = all_of(process)
    stopped(process)
    assert isinstance(messages[-1], Ended)
    assert len(points(messages)) == 5


@real
def test_a_missing_program_is_reported_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    process = started(tiny(5))
    (failed,) = process.poll()
    process.stop()
    assert isinstance(failed, Failed)
    assert failed.sentence == "The training process cannot be started: No such file or directory."


@pytest.mark.slow
@linux
def test_ended_processes_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    all_of(first := started(tiny(3)))
    stopped(first)
    gc.collect()
    files, threads = set(os.listdir("/proc/self/fd")), set(threading.enumerate())
    all_of(second := really_started(tiny(3), monkeypatch))
    stopped(second)
    assert set(os.listdir("/proc/self/fd")) <= files
    assert set(threading.enumerate()) <= threads


def test_an_unexpected_error_is_reported_with_its_traceback() -> None:
    broken = Checkpoint(1, 0.0, [])  # type: ignore[arg-type]
    process = started(tiny(5), checkpoint=broken)
    (failed,) = all_of(process)
    stopped(process)
    assert isinstance(failed, Failed)
    assert failed.unexpected
    assert failed.sentence.startswith("The training failed before its first step (")
    assert failed.details.startswith("Traceback")


@pytest.mark.slow
def test_a_message_that_cannot_be_read_is_reported_and_ends_the_run(provoked: Callable[[], list[str]]) -> None:
    process = started(tiny(LONG))
    wait_for(process, Checkpoint)

    def fail(_: Message) -> None:
        process._take = take  # type: ignore[method-assign]
        raise IndexError("no such message")

    take = process._take
    process._take = fail  # type: ignore[method-assign]
    last = all_of(process)[-1]
    stopped(process)
    assert isinstance(last, Failed)
    assert "killed" in last.sentence
    assert provoked() == ["IndexError: no such message"]
