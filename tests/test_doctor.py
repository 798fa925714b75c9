"""The doctor names missing parts and the command that installs them, and never fails itself."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.base import fault_log
from attnlab.cli import doctor

linux = pytest.mark.skipif(sys.platform != "linux", reason="system libraries are looked at on Linux")

LDD = """
\tlinux-vdso.so.1 (0x00007ffd0a5f2000)
\tlibQt6XcbQpa.so.6 => /opt/qt/plugins/platforms/../../lib/libQt6XcbQpa.so.6 (0x00007f2d3a000000)
\tlibxcb-keysyms.so.1 => not found
\tlibxcb-icccm.so.4 => not found
\tlibxcb-icccm.so.4 => not found
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2d39c00000)
"""


def run_doctor(**changes: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    command = [sys.executable, "-m", "attnlab.cli.doctor"]
    return subprocess.run(command, env={**environ, **changes}, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_machine_that_runs_the_tests_passes() -> None:
    answer = run_doctor()
    assert answer.returncode == 0, answer.stdout
    assert answer.stderr == ""
    for package in ("torch", "PySide6-Essentials", "numpy", "pyqtgraph", "safetensors", "ziamath"):
        assert f"{package:<20}  {importlib.metadata.version(package)}" in answer.stdout
    assert "cpu (" in answer.stdout
    assert answer.stdout.endswith("Everything attnlab needs is installed.\n")


def test_a_torch_that_does_not_load_is_reported_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so.12: cannot open shared object file')\n")
    answer = run_doctor(PYTHONPATH=str(tmp_path))
    assert answer.returncode == 1
    assert "torch does not load: ImportError: libcudart.so.12: cannot open shared object file" in answer.stdout
    assert "Missing or broken: devices of torch." in answer.stdout
    assert "Traceback" not in answer.stdout + answer.stderr


def test_a_missing_package_is_reported_with_its_command() -> None:
    check = doctor.check_package("attnlab-has-no-such-friend", (1, 2))
    assert (check.ok, check.required, check.detail) == (False, True, "not installed")
    assert check.remedy.endswith('-m pip install "attnlab-has-no-such-friend>=1.2"')


def test_an_old_package_is_reported_with_the_required_version() -> None:
    check = doctor.check_package("numpy", (999, 1))
    assert not check.ok
    assert check.detail == f"{importlib.metadata.version('numpy')}, which is older than 999.1"


@pytest.mark.parametrize(
    ("version", "numbers"), [("2.13.0+cpu", (2, 13, 0)), ("6.11.3", (6, 11, 3)), ("3.0rc1", (3,)), ("0.11", (0, 11))]
)
def test_version_suffixes_are_ignored(version: str, numbers: tuple[int, ...]) -> None:
    assert doctor.version_numbers(version) == numbers


@pytest.mark.parametrize(
    ("version", "python", "fault"),
    [
        ((6, 12, 0), (3, 11), "aborts Python older than 3.12"),
        ((6, 12, 0), (3, 12), ""),
        ((6, 11, 0), (3, 13), "stops laying windows out"),
        ((6, 11, 1), (3, 11), "stops laying windows out"),
        ((6, 11, 3), (3, 11), ""),
    ],
)
def test_bad_versions_of_qt_are_reported(version: tuple[int, ...], python: tuple[int, ...], fault: str) -> None:
    assert bool(doctor.qt_fault(version, python)) == bool(fault)
    assert doctor.qt_fault(version, python).startswith(fault)


def test_each_missing_library_is_listed_once() -> None:
    assert doctor.missing_libraries(LDD) == ["libxcb-icccm.so.4", "libxcb-keysyms.so.1"]


def test_missing_libraries_are_reported_with_the_install_command() -> None:
    libraries = ["libxcb-keysyms.so.1", "libEGL.so.1", "libxcb-icccm.so.4", "libxcb-cursor.so.0"]
    expected = "sudo apt-get install libegl1 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1"
    assert doctor.debian_remedy(libraries) == expected


def test_a_library_of_an_unknown_package_is_named() -> None:
    remedy = doctor.debian_remedy(["libGL.so.1", "libnobody.so.3"])
    assert remedy == "sudo apt-get install libgl1; find the package that contains libnobody.so.3"


@pytest.fixture
def torn_qt(tmp_path: Path) -> Path:
    """Copy Qt's X11 plugin without its libraries, so that ldd finds them missing."""
    whole = doctor.qt_folder()
    assert whole is not None
    (tmp_path / "plugins" / "platforms").mkdir(parents=True)
    shutil.copy(whole / "plugins" / "platforms" / "libqxcb.so", tmp_path / "plugins" / "platforms")
    return tmp_path


@linux
@pytest.mark.parametrize(("environ", "required"), [({"DISPLAY": ":7"}, True), ({}, False)])
def test_a_library_of_the_x11_plugin_is_needed_only_with_a_display(
    torn_qt: Path, environ: dict[str, str], required: bool
) -> None:
    checks = {check.name: check for check in doctor.check_qt_libraries(torn_qt, environ)}
    x11 = checks["libraries for X11"]
    assert not x11.ok
    assert x11.required == required
    assert "libQt6XcbQpa.so.6" in x11.detail
    assert ("MISSING libraries for X11" in doctor.render([x11])) == required
    assert ("note    libraries for X11" in doctor.render([x11])) != required


@linux
def test_a_qt_without_its_libraries_is_reported_with_the_missing_one(torn_qt: Path) -> None:
    draw = doctor.check_qt_libraries(torn_qt, {})[0]
    assert (draw.ok, draw.required) == (False, True)
    assert draw.detail == "Qt’s own libQt6Core.so.6 is missing"


@linux
def test_the_qt_of_this_machine_can_draw() -> None:
    draw = doctor.check_qt_libraries(doctor.qt_folder(), {})[0]
    assert (draw.name, draw.ok, draw.detail) == ("libraries to draw", True, "all found")


def test_without_a_display_a_remedy_is_named() -> None:
    check = doctor.check_display({})
    assert (check.ok, check.required) == (False, False)
    assert "--screenshot" in check.detail
    assert doctor.check_display({"DISPLAY": ":0"}).detail == "DISPLAY=:0"


def test_the_log_files_are_named_with_the_time_of_the_last_error(config_dir: Path) -> None:
    assert doctor.check_log("errors.log").detail == f"{config_dir / 'errors.log'}, not written yet"
    fault_log.append("errors.log", "a fault\n")
    told = doctor.check_log("errors.log")
    assert told.ok
    assert told.detail.startswith(f"{config_dir / 'errors.log'}, last written at 2")


def test_remedies_are_printed_only_below_missing_parts() -> None:
    checks = [
        doctor.Check("well", True, True, "there", "do nothing"),
        doctor.Check("missing", False, True, "gone", "install it"),
    ]
    lines = doctor.render(checks).splitlines()
    assert "fix: do nothing" not in "\n".join(lines)
    at = next(i for i, line in enumerate(lines) if "gone" in line)
    assert lines[at + 1].strip() == "fix: install it"


def test_local_version_labels_are_ignored() -> None:
    assert doctor.version_numbers("2.13.0+7") == (2, 13, 0)
