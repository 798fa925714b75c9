"""Draws the program's icon in every size and file format that desktops need, from resources/icons/attnlab.svg.

python packaging/icons.py        writes packaging/linux/hicolor, packaging/icons/attnlab.ico and attnlab.icns
"""

import os
import struct
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before Qt is loaded

from PySide6.QtCore import QBuffer, QByteArray
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

HERE = Path(__file__).parent
SOURCE = HERE.parent / "resources" / "icons" / "attnlab.svg"

HICOLOR = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Icon sizes of Linux desktop themes, in pixels."""
ICO = (16, 20, 24, 32, 40, 48, 64, 256)
ICNS = {"icp4": 16, "icp5": 32, "icp6": 64, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024}
"""The PNG types of Apple's icon format, with their sizes in pixels."""

_VIEW = 256  # the size of the SVG
_CELL, _PITCH, _CELLS = 38, 46, 4  # the map in the SVG: cell size, distance between cells, cells per row
_SHARP_FROM = 128  # at this size and above, the squares already fall on whole pixels
_SVG = "{http://www.w3.org/2000/svg}"


def snapped(svg: str, side: int) -> str:
    """Return the drawing with its squares moved onto the whole pixels of a picture of that side.

    A gap between cells is 0 or 2 pixels, as only an even one leaves the same margin left and right.
    """
    if side >= _SHARP_FROM:
        return svg
    tree = ElementTree.fromstring(svg)
    scale = side / _VIEW
    gap = 2 if side >= 40 else 0
    cell = round((_span(_CELL, _PITCH - _CELL) * scale - (_CELLS - 1) * gap) / _CELLS)
    start = (side - _span(cell, gap)) // 2
    first = min(float(rect.get("x", 0)) for rect in _cells(tree))
    for rect in _cells(tree):
        for axis in ("x", "y"):
            place = round((float(rect.get(axis, 0)) - first) / _PITCH)
            rect.set(axis, str((start + place * (cell + gap)) / scale))
        rect.set("width", str(cell / scale))
        rect.set("height", str(cell / scale))
        rect.set("rx", str(1 / scale if cell > 8 else 0))
    ground = tree.find(f"{_SVG}rect")
    assert ground is not None
    margin = round(float(ground.get("x", 0)) * scale)
    for name, pixels in (("x", margin), ("y", margin), ("width", side - 2 * margin), ("height", side - 2 * margin)):
        ground.set(name, str(pixels / scale))
    return ElementTree.tostring(tree, encoding="unicode")


def drawn(svg: str, side: int) -> QImage:
    """Return the icon at a size in pixels, on a transparent background."""
    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(snapped(svg, side).encode())).render(painter)
    painter.end()
    return image.convertToFormat(QImage.Format.Format_ARGB32)


def png(image: QImage) -> bytes:
    """Return an image as a PNG with maximum compression."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG", 0):  # type: ignore[call-overload]  # the stubs know only paths and bytes
        raise OSError("Qt cannot write a PNG here.")
    return bytes(data.data())


def ico(pictures: Mapping[int, bytes]) -> bytes:
    """Return a Windows .ico of PNGs by size; the format writes 256 as 0."""
    head = struct.pack("<HHH", 0, 1, len(pictures))
    place = len(head) + 16 * len(pictures)
    entries = b""
    for side, data in pictures.items():
        entries += struct.pack("<BBBBHHII", side % 256, side % 256, 0, 0, 1, 32, len(data), place)
        place += len(data)
    return head + entries + b"".join(pictures.values())


def icns(pictures: Mapping[str, bytes]) -> bytes:
    """Return an Apple .icns of PNGs, by the type that gives their size."""
    body = b"".join(struct.pack(">4sI", kind.encode(), 8 + len(data)) + data for kind, data in pictures.items())
    return struct.pack(">4sI", b"icns", 8 + len(body)) + body


def pictures(svg: str) -> dict[Path, Callable[[], bytes]]:
    """Return every file to write, with the function that makes its content."""

    def one(side: int) -> bytes:
        return png(drawn(svg, side))

    files: dict[Path, Callable[[], bytes]] = {
        HERE / "linux" / "hicolor" / f"{side}x{side}" / "apps" / "attnlab.png": partial(one, side) for side in HICOLOR
    }
    files[HERE / "linux" / "hicolor" / "scalable" / "apps" / "attnlab.svg"] = svg.encode
    files[HERE / "icons" / "attnlab.ico"] = lambda: ico({side: one(side) for side in ICO})
    files[HERE / "icons" / "attnlab.icns"] = lambda: icns({kind: one(side) for kind, side in ICNS.items()})
    return files


def main() -> int:
    """Write all icon files and print their names."""
    app = QGuiApplication.instance() or QGuiApplication([])
    for path, made in pictures(SOURCE.read_text(encoding="utf-8")).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made())
        print(f"{path.relative_to(HERE.parent)}  {path.stat().st_size:,} bytes")
    del app
    return 0


def _span(cell: float, gap: float) -> float:
    return _CELLS * cell + (_CELLS - 1) * gap


def _cells(tree: ElementTree.Element) -> list[ElementTree.Element]:
    return tree.findall(f"{_SVG}g/{_SVG}rect")


if __name__ == "__main__":
    sys.exit(main())
