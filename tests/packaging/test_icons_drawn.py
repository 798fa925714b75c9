"""The program's icon: every size that desktops need, complete containers, drawn from the SVG."""

import importlib.util
import io
from pathlib import Path
from types import ModuleType

import pytest
from PIL import IcnsImagePlugin, IcoImagePlugin, Image, ImageChops

PACKAGING = Path(__file__).parent.parent.parent / "packaging"
HICOLOR = PACKAGING / "linux" / "hicolor"


@pytest.fixture(scope="module")
def icons() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attnlab_packaging_icons", PACKAGING / "icons.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("side", [16, 22, 24, 32, 48, 64, 128, 256, 512])
def test_an_icon_has_the_size_of_its_folder_and_a_transparent_background(side: int) -> None:
    with Image.open(HICOLOR / f"{side}x{side}" / "apps" / "attnlab.png") as picture:
        assert picture.size == (side, side)
        assert picture.mode == "RGBA"
        assert picture.getpixel((0, 0))[3] < 128, "its corners are round"
        assert picture.getpixel((side // 2, side // 2))[3] == 255


def test_the_svg_icon_exists() -> None:
    source = PACKAGING.parent / "resources" / "icons" / "attnlab.svg"
    assert (HICOLOR / "scalable" / "apps" / "attnlab.svg").read_bytes() == source.read_bytes()


def test_ico_and_icns_contain_every_size(icons: ModuleType) -> None:
    with Image.open(PACKAGING / "icons" / "attnlab.ico") as picture:
        assert isinstance(picture, IcoImagePlugin.IcoImageFile)
        assert picture.info["sizes"] == {(side, side) for side in icons.ICO}
    with Image.open(PACKAGING / "icons" / "attnlab.icns") as picture:
        assert isinstance(picture, IcnsImagePlugin.IcnsImageFile)
        assert {width * scale for width, _, scale in picture.info["sizes"]} >= {128, 256, 512, 1024}
        picture.load()
        assert picture.size == (1024, 1024)


@pytest.mark.parametrize("side", [16, 32, 48, 256])
def test_the_icon_files_match_the_svg(qapp: object, icons: ModuleType, side: int) -> None:
    drawn = icons.png(icons.drawn(icons.SOURCE.read_text(encoding="utf-8"), side))
    with (
        Image.open(io.BytesIO(drawn)) as now,
        Image.open(HICOLOR / f"{side}x{side}" / "apps" / "attnlab.png") as kept,
    ):
        apart = ImageChops.difference(now.convert("RGBA"), kept.convert("RGBA")).getextrema()
    assert max(highest for _, highest in apart) <= 8, "draw them again: python packaging/icons.py"


def test_squares_of_a_small_icon_are_on_whole_pixels(qapp: object, icons: ModuleType) -> None:
    with Image.open(HICOLOR / "16x16" / "apps" / "attnlab.png") as picture:
        white = [(x, y) for x in range(16) for y in range(16) if picture.getpixel((x, y)) == (255, 255, 255, 255)]
    assert white == [
        *((x, y) for x in (2, 3, 4) for y in (2, 3, 4)),
        *((x, y) for x in (5, 6, 7) for y in (8, 9, 10)),
    ]
