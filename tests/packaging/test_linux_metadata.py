"""The files for Linux desktops: menu entry, store page, and file type."""

import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import attnlab

ROOT = Path(__file__).parent.parent.parent
LINUX = ROOT / "packaging" / "linux"
COMPONENT = LINUX / "org.attnlab.attnlab.metainfo.xml"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment]  # keys of a desktop entry have their case
    parser.read(LINUX / "attnlab.desktop", encoding="utf-8")
    return parser["Desktop Entry"]


def test_the_menu_starts_the_installed_command_with_one_file() -> None:
    scripts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'attnlab = "attnlab.cli.main:main"' in scripts
    assert entry()["Exec"] == "attnlab %f"
    assert entry()["Terminal"] == "false"


def test_windows_belong_to_the_desktop_entry(qapp: object) -> None:
    from PySide6.QtGui import QGuiApplication

    from attnlab.ui.app.application import make_application

    make_application()
    assert QGuiApplication.desktopFileName() == "attnlab"
    assert (LINUX / f"{QGuiApplication.desktopFileName()}.desktop").is_file()


def test_desktop_entry_metainfo_and_mime_type_refer_to_each_other() -> None:
    component = ElementTree.parse(COMPONENT)
    declared = ElementTree.parse(LINUX / "attnlab-mime.xml").find(f"{MIME}mime-type")
    assert declared is not None
    assert entry()["MimeType"] == f"{declared.get('type')};"
    assert component.findtext("provides/mediatype") == declared.get("type")
    assert component.findtext("launchable") == "attnlab.desktop"
    assert component.findtext("id") == COMPONENT.name.removesuffix(".metainfo.xml")
    assert component.findtext("icon") == entry()["Icon"]
    categories = [element.text for element in component.iterfind("categories/category")]
    assert entry()["Categories"] == "".join(f"{category};" for category in categories)


def test_the_newest_release_is_this_version() -> None:
    release = ElementTree.parse(COMPONENT).find("releases/release")
    assert release is not None
    assert release.get("version") == attnlab.__version__
    assert f"## {attnlab.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


_ASK = """
import sys
from PySide6.QtCore import QMimeDatabase
types, data = QMimeDatabase(), open(sys.argv[1], "rb").read()
print(types.mimeTypeForData(data).name(), types.mimeTypeForFile("x.attnlab").name())
print(types.mimeTypeForName("application/x-attnlab").inherits("application/zip"))
print(types.mimeTypeForData(data.replace(b'"attnlab"', b'"another"')).name())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the free desktops' table of types")
def test_a_session_is_recognised_by_ending_and_content(tmp_path: Path) -> None:
    session = tmp_path / "no-ending"
    attnlab.save(attnlab.preset("journey"), session)
    packages = tmp_path / "share" / "mime" / "packages"
    packages.mkdir(parents=True)
    shutil.copy(LINUX / "attnlab-mime.xml", packages / "attnlab.xml")
    environ = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "share"), "XDG_DATA_DIRS": str(tmp_path / "none")}
    command = [sys.executable, "-c", _ASK, str(session)]
    said = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout.split()
    assert said[:3] == ["application/x-attnlab", "application/x-attnlab", "True"]
    assert said[3] != "application/x-attnlab"


@pytest.mark.parametrize(
    "command",
    [
        ["desktop-file-validate", "--warn-kde", str(LINUX / "attnlab.desktop")],
        ["appstreamcli", "validate", "--pedantic", "--no-net", str(COMPONENT)],
        ["xmllint", "--noout", str(COMPONENT), str(LINUX / "attnlab-mime.xml")],
    ],
    ids=lambda command: command[0],
)
def test_the_validators_of_freedesktop_find_no_error(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed; make validate names its package")
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "error" not in answer.stdout
    assert "warning" not in answer.stdout
