"""Checks the installation: what is present, what is missing, and the command that fixes it."""

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from attnlab import __version__
from attnlab.base import assets
from attnlab.base.console import say
from attnlab.base.errors import FileError
from attnlab.base.fault_log import CRASHES, ERRORS, log_path

_PYTHON_FLOOR = (3, 11)

# Each package with its oldest supported version, as in pyproject.toml.
_PACKAGES = (
    ("torch", (2, 6)),
    ("PySide6-Essentials", (6, 8)),
    ("numpy", (1, 26)),
    ("pillow", (10,)),
    ("pyqtgraph", (0, 14)),
    ("PyYAML", (6, 0, 1)),
    ("safetensors", (0, 4, 3)),
    ("ziamath", (0, 12)),
)

_QT_LAYS_OUT_WRONGLY = ((6, 11, 0), (6, 11, 1))  # WORKAROUND QTBUG-147209
_QT_LOSES_NONE = ((6, 12, 0),)  # aborts CPython older than 3.12 after some thousands of calls

# The Debian packages of the system libraries that Qt's wheels need.
_DEBIAN = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libOpenGL.so.0": "libopengl0",
    "libICE.so.6": "libice6",
    "libSM.so.6": "libsm6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xinerama.so.0": "libxcb-xinerama0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}

# Scripts that tokens may use, with the language code that fontconfig looks for in fonts.
_SCRIPTS = {"Hebrew": "he", "Arabic": "ar", "Chinese": "zh-cn", "Devanagari": "hi", "emoji": "und-zsye"}

_ASK_TORCH = """
import json, torch
devices = {"cpu": f"{torch.get_num_threads()} threads"}
if torch.cuda.is_available():
    devices |= {f"cuda:{i}": torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())}
if torch.backends.mps.is_available():
    devices["mps"] = "Apple GPU"
print(json.dumps(devices))
"""


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, whether it passed, whether the program needs it, details, and the remedy."""

    name: str
    ok: bool
    required: bool
    detail: str
    remedy: str = ""


def report(environ: Mapping[str, str] = os.environ) -> list[Check]:
    """Check everything the program needs; ``environ`` gives the display on which the window would open."""
    checks = [check_python(), *(check_package(name, floor) for name, floor in _PACKAGES)]
    checks += [
        check_torch(),
        check_own_files(),
        check_film(),
        check_tokenizers(),
        *(check_log(name) for name in (ERRORS, CRASHES)),
    ]
    if sys.platform == "linux":
        checks += [*check_qt_libraries(qt_folder(), environ), check_display(environ), check_scripts()]
    return checks


def render(checks: Iterable[Check]) -> str:
    """Return the report as text: a line for each check, and the remedy below each that failed."""
    checks = list(checks)
    width = max((len(check.name) for check in checks), default=0)
    lines = [f"attnlab {__version__} in {sys.prefix}", ""]
    for check in checks:
        mark = "ok" if check.ok else "MISSING" if check.required else "note"
        lines.append(f"  {mark:<8}{check.name:<{width}}  {check.detail}")
        if not check.ok and check.remedy:
            lines.append(f"  {'':<8}{'':<{width}}  fix: {check.remedy}")
    missing = [check.name for check in checks if check.required and not check.ok]
    lines += ["", f"Missing or broken: {', '.join(missing)}." if missing else "Everything attnlab needs is installed."]
    return "\n".join(lines)


def main() -> int:
    """Print the report; return 1 if a required check failed, else 0."""
    checks = report()
    say(f"{render(checks)}\n")
    return int(any(check.required and not check.ok for check in checks))


def check_python() -> Check:
    """Tell whether this Python is new enough."""
    ok = sys.version_info >= _PYTHON_FLOOR
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return Check("Python", ok, True, detail, "install Python 3.11 or newer, then create a new .venv")


def check_package(name: str, floor: tuple[int, ...]) -> Check:
    """Check that a Python package is installed, new enough and not a version known to be faulty."""
    oldest = ".".join(map(str, floor))
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(name, False, True, "not installed", _pip(f"{name}>={oldest}"))
    numbers = version_numbers(version)
    if numbers < floor:
        return Check(name, False, True, f"{version}, which is older than {oldest}", _pip(f"{name}>={oldest}"))
    fault = qt_fault(numbers, sys.version_info[:2]) if name.startswith("PySide6") else ""
    if fault:
        return Check(name, False, True, f"{version}, which {fault}", _pip(f"{name}==6.11.3"))
    return Check(name, True, True, version)


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: ``2.13.0+cpu`` is (2, 13, 0)."""
    numbers: list[int] = []
    for part in version.split("+")[0].split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


def qt_fault(version: tuple[int, ...], python: tuple[int, ...]) -> str:
    """Return the known fault of a version of PySide6 under a version of Python, or an empty string."""
    if version[:3] in _QT_LAYS_OUT_WRONGLY:
        return "stops laying windows out (QTBUG-147209)"
    if version[:3] in _QT_LOSES_NONE and python < (3, 12):
        return "aborts Python older than 3.12 within minutes"
    return ""


def check_torch() -> Check:
    """Tell which devices torch can compute on; asked in another process, as a broken torch may crash."""
    answer = _run([sys.executable, "-c", _ASK_TORCH], timeout_s=120)
    if answer is None or answer.returncode != 0:
        reason = _last_line(answer.stderr) if answer else "it did not answer within two minutes"
        return Check("devices of torch", False, True, f"torch does not load: {reason}", _pip("--force-reinstall torch"))
    devices: dict[str, str] = json.loads(answer.stdout.splitlines()[-1])
    absent = [kind for kind in ("cuda", "mps") if not any(device.startswith(kind) for device in devices)]
    there = ", ".join(f"{device} ({what})" for device, what in devices.items())
    return Check("devices of torch", True, True, there + (f"; no {' and no '.join(absent)}" if absent else ""))


def check_own_files() -> Check:
    """Check that the included typefaces and icons are in place."""
    try:
        fonts = [name for name in assets.names("fonts") if name.endswith(".ttf")]
        assets.read_bytes("icons/attnlab.svg")
    except FileError as error:
        return Check("typefaces, icons", False, True, str(error), "reinstall attnlab")
    return Check("typefaces, icons", bool(fonts), True, f"{len(fonts)} weights of Inter", "reinstall attnlab")


def check_film() -> Check:
    """Check whether films can be written as MP4; GIF and APNG always work."""
    try:
        detail = f"imageio-ffmpeg {importlib.metadata.version('imageio-ffmpeg')}"
    except importlib.metadata.PackageNotFoundError:
        found = shutil.which("ffmpeg")
        return Check("MP4 films", found is not None, False, found or "no ffmpeg", _pip("attnlab[film]"))
    return Check("MP4 films", True, False, detail)


def check_tokenizers() -> Check:
    """Check whether texts can be read for real models."""
    try:
        detail = importlib.metadata.version("tokenizers")
    except importlib.metadata.PackageNotFoundError:
        return Check("tokenizers", False, False, "not installed: real models read no text", _pip("attnlab[models]"))
    return Check("tokenizers", True, False, detail)


def check_log(name: str) -> Check:
    """Report where a log of errors is, and when it was last written."""
    path = log_path(name)
    try:
        told = path.stat()
    except OSError:
        return Check(name, True, False, f"{path}, not written yet")
    if not told.st_size:
        return Check(name, True, False, f"{path}, empty")
    last = time.strftime("%Y-%m-%d %H:%M", time.localtime(told.st_mtime))
    return Check(name, True, False, f"{path}, last written at {last}")


def qt_folder() -> Path | None:
    """Return the folder of Qt's own libraries and plugins inside the installed PySide6, without importing it."""
    try:
        found = importlib.metadata.distribution("PySide6-Essentials").locate_file("PySide6/Qt")
    except importlib.metadata.PackageNotFoundError:
        return None
    folder = Path(str(found))
    return folder if folder.is_dir() else None


def check_qt_libraries(qt: Path | None, environ: Mapping[str, str]) -> list[Check]:
    """Find the system libraries that Qt lacks with ``ldd``: for drawing, for windows on X11 and on Wayland.

    Qt itself names only one library when it cannot start.
    """
    if qt is None:
        return []
    on_x11 = bool(environ.get("DISPLAY"))
    on_wayland = bool(environ.get("WAYLAND_DISPLAY"))
    plugins = qt / "plugins" / "platforms"
    drawing = [qt / "lib" / f"libQt6{part}.so.6" for part in ("Core", "Gui", "Widgets", "Svg")]
    checks = [
        _check_libraries("libraries to draw", [*drawing, plugins / "libqoffscreen.so"], required=True),
        _check_libraries("libraries for X11", [plugins / "libqxcb.so"], required=on_x11),
    ]
    wayland = sorted(plugins.glob("libqwayland*.so"))
    if wayland and on_wayland:
        checks.append(_check_libraries("libraries for Wayland", wayland, required=not on_x11))
    return checks


def _check_libraries(name: str, files: list[Path], *, required: bool) -> Check:
    if shutil.which("ldd") is None:
        return Check(name, False, False, "not checked: ldd is not installed", "install glibc’s tools")
    missing: set[str] = set()
    for file in files:
        if not file.is_file():
            remedy = _pip("--force-reinstall PySide6-Essentials")
            return Check(name, False, required, f"Qt’s own {file.name} is missing", remedy)
        answer = _run(["ldd", str(file)], timeout_s=20)
        missing.update(missing_libraries(answer.stdout) if answer else ())
    if missing:
        return Check(name, False, required, f"missing {', '.join(sorted(missing))}", debian_remedy(missing))
    return Check(name, True, required, "all found")


def missing_libraries(ldd_output: str) -> list[str]:
    """Return the libraries that ``ldd`` did not find."""
    return sorted({line.split("=>")[0].strip() for line in ldd_output.splitlines() if "=> not found" in line})


def debian_remedy(libraries: Iterable[str]) -> str:
    """Return the command that installs libraries on Debian and Ubuntu, and name those without a known package."""
    libraries = sorted(libraries)
    packages = sorted({_DEBIAN[library] for library in libraries if library in _DEBIAN})
    unknown = [library for library in libraries if library not in _DEBIAN]
    command = f"sudo apt-get install {' '.join(packages)}" if packages else ""
    rest = f"find the package that contains {', '.join(unknown)}" if unknown else ""
    return "; ".join(part for part in (command, rest) if part)


def check_display(environ: Mapping[str, str]) -> Check:
    """Report the display on which a window would open; without one the program can still draw pictures."""
    for variable in ("WAYLAND_DISPLAY", "DISPLAY"):
        if environ.get(variable):
            return Check("display", True, False, f"{variable}={environ[variable]}")
    detail = "none: no window can open, but attnlab --screenshot OUT.png saves a picture"
    return Check("display", False, False, detail, "log in to a desktop, or run: xvfb-run -a attnlab")


def check_scripts() -> Check:
    """Report the scripts without an installed typeface; their tokens show as empty boxes."""
    name = "typefaces of scripts"
    if shutil.which("fc-list") is None:
        detail = "not checked: fc-list is not installed"
        return Check(name, False, False, detail, "sudo apt-get install fontconfig")
    answers = {script: _run(["fc-list", f":lang={code}", "family"], timeout_s=20) for script, code in _SCRIPTS.items()}
    absent = [script for script, answer in answers.items() if answer is None or not answer.stdout.strip()]
    remedy = "sudo apt-get install fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji"
    if absent:
        return Check(name, False, False, f"none for {', '.join(absent)}", remedy)
    return Check(name, True, False, ", ".join(_SCRIPTS))


def _pip(arguments: str) -> str:
    return f'"{sys.executable}" -m pip install ' + (arguments if arguments.startswith("-") else f'"{arguments}"')


def _run(command: list[str], *, timeout_s: float) -> subprocess.CompletedProcess[str] | None:
    """Run a command and return its result, or None if it did not start or did not end in time."""
    environ = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, env=environ, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m attnlab.cli.doctor", description="Check the installation.").parse_args()
    sys.exit(main())
