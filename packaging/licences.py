"""Gathers the licences of everything that goes into the bundle: packages, Python, and libraries of the system."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
_NAME = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
_QT = """\
Qt and PySide6 are used under the GNU Lesser General Public License, version 3 (LGPL-3.0.txt, GPL-3.0.txt).
Their libraries are separate files beside the program; you may replace them with interface-compatible versions.
Sources: https://download.qt.io/official_releases/qt/ and https://download.qt.io/official_releases/QtForPython/
"""


def gather(into: Path, packages: Iterable[str], binaries: Iterable[str]) -> None:
    """Write a folder for each package that has a licence, and a list of all, into an empty folder.

    Packages are names of distributions; binaries are paths of libraries, of which those of the system are looked up
    with ``dpkg``, where that is there.
    """
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    names = {re.sub(r"[-_.]+", "-", name).lower() for name in packages}
    lines = [_package(into, name) for name in sorted(names)]
    lines.append(_python(into))
    lines += [_system(into, name) for name in sorted(_debian_packages(binaries))]
    for text in sorted((HERE / "licences").glob("*.txt")):
        shutil.copy(text, into)
    listed = "".join(f"{line}\n" for line in lines)
    (into / "README.txt").write_text(
        f"The packages and libraries bundled with attnlab, and their licences.\n\n{listed}\n{_QT}", encoding="utf-8"
    )


def _package(into: Path, name: str) -> str:
    found = importlib.metadata.distribution(name)
    data = found.metadata
    names = (data[field].partition("\n")[0] for field in ("License-Expression", "License") if field in data)
    said = next(filter(None, names), "see its licence")
    for file in found.files or ():
        source = Path(str(found.locate_file(file)))
        if ".dist-info" in str(file) and _NAME.search(file.name) and source.is_file():
            kept = "-".join(part for part in file.parts[1:] if part != "licenses")
            target = into / data["Name"] / kept
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)
    note = "" if (into / data["Name"]).is_dir() else " (the package includes no licence text)"
    return f"{data['Name']} {found.version}: {said}{note}"


def _python(into: Path) -> str:
    target = into / "Python"
    target.mkdir()
    for place in (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt"):
        if place.is_file():
            shutil.copy(place, target / "LICENSE.txt")
    return f"Python {sys.version.split()[0]}: PSF-2.0"


def _debian_packages(binaries: Iterable[str]) -> set[str]:
    """Return the Debian packages that own these files."""
    outside = [path for path in binaries if path.startswith(("/lib/", "/usr/lib/"))]
    if not outside or shutil.which("dpkg") is None:
        return set()
    names = {name for path in outside for name in (path, str(Path(path).resolve()), path.removeprefix("/usr"))}
    said = subprocess.run(["dpkg", "-S", *sorted(names)], capture_output=True, text=True, check=False).stdout
    return {line.partition(":")[0] for line in said.splitlines() if not line.startswith("diversion")}


def _system(into: Path, name: str) -> str:
    text = Path("/usr/share/doc") / name / "copyright"
    if not text.is_file():
        return f"{name} (Debian): its copyright file was not found"
    target = into / "Debian"
    target.mkdir(exist_ok=True)
    shutil.copy(text, target / f"{name}.txt")
    return f"{name} (Debian): Debian/{name}.txt"
