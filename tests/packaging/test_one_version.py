"""The program, its packages and its pins have consistent versions, and installed files exist."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import attnlab
from attnlab.cli.doctor import version_numbers

ROOT = Path(__file__).parent.parent.parent
PACKAGING = ROOT / "packaging"


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_written_in_one_place(project: dict[str, Any]) -> None:
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "attnlab/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", attnlab.__version__)


def test_every_pin_is_within_the_projects_bounds(project: dict[str, Any]) -> None:
    lines = (PACKAGING / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.lower().split("==") for line in lines if line and not line.startswith("#"))
    extras = project["project"]["optional-dependencies"].values()
    asked = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    for requirement in asked:
        name, floor = re.match(r"([\w.-]+)(?:\[\w+\])?(?:>=([\d.]+))?", requirement).groups()  # type: ignore[union-attr]
        if name == "attnlab":
            continue
        assert name.lower() in pins, f"{name} has no tried version"
        assert version_numbers(pins[name.lower()]) >= version_numbers(floor or "0"), name


def test_the_wheel_installs_existing_files_for_desktops(project: dict[str, Any]) -> None:
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert all((ROOT / source).exists() for source in shared)
    assert set(shared.values()) == {
        "share/applications/attnlab.desktop",
        "share/mime/packages/attnlab.xml",
        "share/metainfo/org.attnlab.attnlab.metainfo.xml",
        "share/icons/hicolor",
    }


@pytest.mark.parametrize("file", ["attnlab.spec", "start.py", "package.py", "dist.py", "smoke.py", "licences.py"])
def test_the_build_scripts_are_valid_python(file: str) -> None:
    source = (PACKAGING / file).read_text(encoding="utf-8")
    compile(source, file, "exec")
    assert source.startswith('"""'), "it says first what it owns"


def test_the_frozen_program_handles_its_child_processes() -> None:
    start = (PACKAGING / "start.py").read_text(encoding="utf-8")
    assert (
        start.index('__name__ == "__main__"') < start.index("freeze_support()") < start.index("attnlab.cli.main import")
    )


def test_the_frozen_program_runs_the_doctor_like_python() -> None:
    command = [
        sys.executable,
        str(PACKAGING / "start.py"),
        "-c",
        "import json, sys; print(json.dumps([1, sys.argv[1]]))",
    ]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == '[1, "-c"]\n'


def test_the_frozen_program_is_the_attnlab_command(tmp_path: Path) -> None:
    command = [sys.executable, str(PACKAGING / "start.py"), "--version"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"attnlab {attnlab.__version__} ")
