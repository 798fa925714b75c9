"""Each module that runs with ``python -m`` prints its help, and refuses unknown options."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import attnlab

SOURCE = Path(attnlab.__file__).parent


def is_started(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    if "__main__" not in text:
        return False
    tree = ast.parse(text)
    return any(isinstance(node, ast.If) and "__name__ == '__main__'" in ast.unparse(node.test) for node in tree.body)


MODULES = [
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__main__")
    for path in sorted(SOURCE.rglob("*.py"))
    if is_started(path)
] + ["tools.gallery"]


def ran(module: str, argument: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", module, argument]
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_all_runnable_modules_are_known() -> None:
    assert MODULES == ["attnlab", "attnlab.cli.doctor", "tools.gallery"]


@pytest.mark.parametrize("module", MODULES)
def test_help_is_printed_without_creating_files(module: str, tmp_path: Path) -> None:
    done = ran(module, "--help", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", MODULES)
def test_an_unknown_option_is_refused_in_one_line(module: str, tmp_path: Path) -> None:
    done = ran(module, "--nothing", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    if module != "attnlab.cli.doctor":  # which needs nothing but Python, and has argparse's own words
        assert done.stderr.startswith("attnlab: ")
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
