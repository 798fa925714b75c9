"""The page on training: its commands and its Python work, and it names every task and model."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.cli.main import main
from attnlab.cli.train_command import apply_settings
from attnlab.cli.train_queue import plan
from attnlab.training.models import KINDS
from attnlab.training.tasks import TASKS, check, make_spec

PAGES = Path(__file__).parents[2] / "docs" / "training.md", Path(__file__).parents[2] / "README.md"
TEXT = PAGES[0].read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^attnlab train [^#\n]+", re.MULTILINE)
COMMANDS = [line for page in PAGES for line in COMMAND.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("command", [line for line in COMMANDS if "--resume" not in line and "--list" not in line])
def test_every_command_of_the_page_is_valid(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my-novel.txt").write_text("".join(f"It was dark and stormy night number {n}.\n" for n in range(100)))
    Path("my-pairs.tsv").write_text("".join(f"{word}\t{word}s\n" for word in "abcdefghijklmnopqrst"))
    words = shlex.split(command)[2:]
    given = dict(zip(words[1::2], words[2::2], strict=True))
    assert set(given) <= {"--model", "--steps", "--seed", "--set", "-o", "--seeds", "--vary", "--data"}
    spec = make_spec(words[0], given.get("--model"))
    spec = replace(spec, train=replace(spec.train, steps=int(given.get("--steps", spec.train.steps))))
    settings = [value for name, value in zip(words[1::2], words[2::2], strict=True) if name == "--set"]
    settings += [f"data={given['--data']}"] if "--data" in given else []
    assert check(apply_settings(spec, settings)) == ""
    varied = f"seed={given['--seeds']}" if "--seeds" in given else given.get("--vary")
    assert varied is None or len(plan(spec, varied, apply_settings)) > 1


@pytest.mark.slow
def test_the_python_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = next(line for line in COMMANDS if "-o runs/copy" in line)
    resumed = next(line for line in COMMANDS if "--resume runs/copy" in line)
    for command in (made, resumed):
        words = shlex.split(re.sub(r"--steps (\d)00", r"--steps \1", command))  # as many steps as need be
        assert main(words[1:]) == 0, capsys.readouterr().err
    for block in PYTHON:
        exec(compile(block, "training.md", "exec"), {})


def test_the_page_names_every_task_and_every_model() -> None:
    missing = [name for name in (*TASKS, *KINDS) if f"`{name}`" not in TEXT]
    assert missing == []
