"""CONTRIBUTING.md stays short, and every file, folder and command that it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
THERE = {
    f"/{path.relative_to(ROOT).as_posix()}{'/' * path.is_dir()}"
    for folder in ("attnlab", "tests", "tools", "resources", "docs")
    for path in (ROOT / folder, *(ROOT / folder).rglob("*"))
}
EXAMPLE = "ui/playground/lenses/name_lens.py"


def test_the_page_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_every_path_of_the_page_exists() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", TEXT)) - {EXAMPLE}
    assert len(named) > 25
    assert {path for path in named if not any(there.endswith(f"/{path}") for there in THERE)} == set()


def test_every_file_name_of_the_page_exists() -> None:
    named = set(re.findall(r"`([a-z_]+\.py)`", TEXT))
    assert len(named) > 10
    assert named <= {there.rpartition("/")[2] for there in THERE}


def test_every_make_target_and_tool_of_the_page_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", TEXT)) - {"the"} <= targets
    assert all((ROOT / "tools" / f"{name}.py").is_file() for name in re.findall(r"python -m tools\.([a-z_]+)", TEXT))
