"""Tools for the frozen program: detection of a broken bundle, and collection of licences."""

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import attnlab
from tests.nursery import run_python

PACKAGING = Path(__file__).parent.parent.parent / "packaging"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"attnlab_packaging_{name}", PACKAGING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "ModuleNotFoundError: No module named 'attnlab.bench.live'",
        "attnlab: RuntimeError: Unable to find torch_shm_manager at bin/torch_shm_manager",
        "attnlab: attnlab’s own file fonts is missing from /opt/attnlab/_internal/resources: reinstall attnlab.",
        'qt.qpa.plugin: Could not load the Qt platform plugin "xcb" in "" even though it was found.',
        "libtorch_cpu.so: cannot open shared object file: No such file or directory",
        "Fatal Python error: Segmentation fault",
        "UserWarning: Unable to retrieve source for @torch.jit._overload function",
    ],
)
def test_output_of_a_broken_bundle_is_detected(line: str) -> None:
    assert loaded("smoke").FATAL.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "attnlab 0.1.0 (Qt 6.11.3, torch 2.13.0+cpu, Python 3.11.7)",
        "why-attention.md: 13 steps, nothing wrong.",
        "attnlab: broken.attnlab is damaged or not an attnlab session: File is not a zip file.",
    ],
)
def test_output_of_a_healthy_program_is_accepted(line: str) -> None:
    assert not loaded("smoke").FATAL.search(line)


@pytest.mark.slow
def test_the_film_that_tries_a_bundle_is_one_of_this_program(tmp_path: Path) -> None:
    attnlab.save(attnlab.preset("journey"), tmp_path / "mine.attnlab")
    film = tmp_path / "sweep.gif"
    script = loaded("smoke").FILM.format(session=str(tmp_path / "mine.attnlab"), name=str(film))
    done = run_python("-c", script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "filmed\n", "")
    assert film.read_bytes().startswith(b"GIF89a")


def test_licences_of_bundled_packages_are_in_one_folder_with_a_list(tmp_path: Path) -> None:
    loaded("licences").gather(tmp_path / "licences", ["PyYAML", "pyyaml", "latex2mathml"], [])
    listed = (tmp_path / "licences" / "README.txt").read_text(encoding="utf-8")
    assert listed.count("PyYAML") == 1
    assert "latex2mathml" in listed
    assert "LGPL" in listed
    assert "Permission is hereby granted" in (tmp_path / "licences" / "PyYAML" / "LICENSE").read_text(encoding="utf-8")
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (tmp_path / "licences" / "LGPL-3.0.txt").read_text(encoding="utf-8")


def test_the_macos_bundle_appears_in_the_dock() -> None:
    """PyInstaller sets LSBackgroundOnly for console=True, before it applies the spec."""
    spec = ast.parse((PACKAGING / "attnlab.spec").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(spec) if isinstance(node, ast.Call)]
    (program,) = (call for call in calls if ast.unparse(call.func) == "EXE")
    (bundle,) = (call for call in calls if ast.unparse(call.func) == "BUNDLE")
    assert ast.literal_eval(next(each.value for each in program.keywords if each.arg == "console")) is True
    plist = ast.literal_eval(next(each.value for each in bundle.keywords if each.arg == "info_plist"))
    assert plist["LSBackgroundOnly"] is False
