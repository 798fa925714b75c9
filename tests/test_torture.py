"""The torture run: a failure is named with the command that repeats it, and a run can be resumed."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tools import torture

SAMPLE = """
import os, pytest

@pytest.mark.parametrize("n", range(8))
def test_first_wins(n, tmp_path_factory):
    first = tmp_path_factory.getbasetemp() / "first"
    if not first.exists():
        first.write_text(str(n))
        assert n == 0, "the order was another"
    assert os.environ["OMP_NUM_THREADS"] in "124"
"""


def test_runs_combine_thread_counts_and_kernels_and_a_third_have_busy_loops() -> None:
    assert len(torture.SETTINGS) == 12
    pairs = {(threads, kernels) for threads, kernels, _ in torture.SETTINGS}
    assert pairs == {(threads, kernels) for threads in (1, 2, 4) for kernels in ("", "COMPATIBLE")}
    assert [busy for *_, busy in torture.SETTINGS if busy] == [2, 2, 2, 2]


@pytest.mark.slow
def test_an_order_dependent_failure_is_named_and_can_be_run_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sample, log = tmp_path / "test_sample.py", tmp_path / "torture.jsonl"
    sample.write_text(SAMPLE, encoding="utf-8")
    arguments = ["--only", "tests", "--paths", str(sample), "--workers", "0", "--log", str(log), "--seed", "5"]
    assert torture.main([*arguments, "--runs", "2"]) == 1
    said = capfd.readouterr().out
    assert said.count("2 busy loops") == 2  # the second run, as it ended and in the table
    failed = [done for done in torture._read(log) if not done.well]
    assert failed, "both orders began with the first test"
    for done in failed:
        assert (done.passed, len(done.failed)) == (7, 1)
        assert all(told in said for told in (done.failed[0], done.command, str(done.seed)))
        words = shlex.split(done.command)
        start = words.index("python")
        command = ["env", *words[:start], sys.executable, *words[start + 1 :]]
        again = subprocess.run(command, cwd=torture.ROOT, capture_output=True, text=True)
        assert f"/{sample.name}::{done.failed[0].split('::')[1]}" in again.stdout
        assert "1 failed, 7 passed" in again.stdout
    assert torture.main([*arguments, "--runs", "3"]) == 1
    assert [done.name for done in torture._read(log)] == ["tests 1", "tests 2", "tests 3"]
