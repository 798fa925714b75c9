"""Freezes the program with PyInstaller, from its wheel, in an environment with only the required packages.

python packaging/package.py build        the bundle lies in build/frozen/attnlab afterwards
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent


def main(build: Path) -> int:
    """Create the environment, install the wheel into it, and run PyInstaller below ``build``."""
    build.mkdir(parents=True, exist_ok=True)
    wheels = build / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels.resolve()), cwd=ROOT)
    (wheel,) = wheels.resolve().glob("*.whl")
    python = _environment(build / "venv")
    pins = ["-c", str(HERE / "constraints.txt")]
    install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    _run(*install, *pins, f"{wheel}[package]")
    _run(*install, "--force-reinstall", "--no-deps", str(wheel))  # the code may have changed without a new version
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environ |= {"PYINSTALLER_CONFIG_DIR": str((build / "cache").resolve()), "QT_QPA_PLATFORM": "offscreen"}
    folders = ["--workpath", "work", "--distpath", "frozen"]
    spec = str(HERE.resolve() / "attnlab.spec")
    freeze = [str(python), "-P", "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN", *folders, spec]
    _run(*freeze, cwd=build, env=environ)  # elsewhere it would use the checkout instead of the installed package
    if sys.platform == "linux":
        for_the_desktop(build / "frozen" / "attnlab")
    print(f"The program is in {build / 'frozen' / 'attnlab'}; packaging/smoke.py tests it.")
    return 0


def for_the_desktop(bundle: Path) -> None:
    """Copy the files that add the program to a desktop's menu."""
    share, linux = bundle / "share", HERE / "linux"
    shutil.copytree(linux / "hicolor", share / "icons" / "hicolor")
    for name, place in (
        ("attnlab.desktop", "applications/attnlab.desktop"),
        ("attnlab-mime.xml", "mime/packages/attnlab.xml"),
        ("org.attnlab.attnlab.metainfo.xml", "metainfo/org.attnlab.attnlab.metainfo.xml"),
    ):
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(linux / name, share / place)
    shutil.copy(linux / "install.sh", bundle)


def _environment(folder: Path) -> Path:
    """Return the Python of a separate environment; create the environment if it is missing."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    return python.absolute()


def _run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, env=env, check=False)
    if done.returncode:
        raise SystemExit(f"It ended with {done.returncode}: {' '.join(command)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Say where to build: python packaging/package.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
