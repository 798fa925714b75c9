"""Resources are found from the checkout and from a wheel, and a missing one is reported in one sentence."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from attnlab.base import assets
from attnlab.base.errors import FileError

ROOT = Path(__file__).parent.parent
WEIGHTS = ("Bold", "Medium", "Regular", "SemiBold")


def test_the_icon_is_a_readable_picture() -> None:
    assert ElementTree.fromstring(assets.read_text("icons/attnlab.svg")).tag.endswith("svg")


def test_the_typeface_comes_in_four_weights_with_its_licence() -> None:
    assert assets.names("fonts") == (*(f"fonts/Inter-{weight}.ttf" for weight in WEIGHTS), "fonts/OFL.txt")
    assert "SIL OPEN FONT LICENSE" in assets.read_text("fonts/OFL.txt")


def test_a_path_and_its_bytes_agree() -> None:
    assert assets.path("fonts/Inter-Bold.ttf").read_bytes() == assets.read_bytes("fonts/Inter-Bold.ttf")


@pytest.mark.parametrize("ask", [assets.read_bytes, assets.read_text, assets.path, assets.names])
def test_a_missing_resource_is_reported_in_one_sentence(ask: object) -> None:
    assert callable(ask)
    with pytest.raises(FileError, match=r"attnlab’s own file nothing/here\.svg is missing from .*resources"):
        ask("nothing/here.svg")


def test_the_font_weights_differ_and_have_tabular_digits(qapp: object) -> None:
    from PySide6.QtCore import QByteArray
    from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

    for weight in WEIGHTS:
        font_id = QFontDatabase.addApplicationFontFromData(QByteArray(assets.read_bytes(f"fonts/Inter-{weight}.ttf")))
        assert "Inter" in QFontDatabase.applicationFontFamilies(font_id)

    def width(text: str, weight: QFont.Weight) -> float:
        font = QFont("Inter")
        font.setPixelSize(40)
        font.setWeight(weight)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        font.setFeature(QFont.Tag("tnum"), 1)
        return QFontMetricsF(font).horizontalAdvance(text)

    weights = [QFont.Weight.Normal, QFont.Weight.Medium, QFont.Weight.DemiBold, QFont.Weight.Bold]
    widths = [width("Attention", weight) for weight in weights]
    assert widths == sorted(set(widths)), "each weight is wider than the one before"
    assert all(width("1111", weight) == width("8888", weight) for weight in weights)


def test_a_wheel_contains_the_resources(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "from attnlab.base import assets; print(assets.path('icons/attnlab.svg')); print(len(assets.names('fonts')))"
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-P", "-c", code]
    answer = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
    path, count = answer.stdout.split()
    assert Path(path) == tmp_path / "site" / "attnlab" / "_resources" / "icons" / "attnlab.svg"
    assert int(count) == len(assets.names("fonts"))
