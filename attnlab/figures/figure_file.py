"""Figures of one stage for a paper: labelled maps at the size asked for, drawn by the routine of the screen."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSaveFile
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QImage, QImageWriter, QPainter

from attnlab import assets
from attnlab.errors import AttnlabError, FileError
from attnlab.figures.figure_layout import AXIS, CAPTION, HEADER, MARGIN, SPACE, FigureLayout, Labels, lay_out
from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import MapData, draw_cells, draw_colour_bar, draw_labels, draw_numbers
from attnlab.figures.palette import LIGHT, Palette
from attnlab.figures.raster import limit_of
from attnlab.figures.text import Pen

if TYPE_CHECKING:
    from attnlab.attention.stages import Stage
    from attnlab.attention.trace import Trace

DPI, WIDTH_MM, WIDE_MM = 300, 120.0, 170.0
"""The size not asked for: a column and a half, or the width of a page for several heads."""

DPI_RANGE, WIDTH_RANGE_MM = (30, 2400), (20.0, 1000.0)
PIXELS = 120_000_000
"""The largest figure; beyond it memory is at risk, and no printer gains by it."""

_UNITS_PER_INCH, _MM_PER_INCH = 96.0, 25.4
_SIDE_PX = 32_000
_ROW_LABEL, _COLUMN_LABEL = 84.0, 64.0
_TITLE_PX, _TEXT_PX, _NUMBER_PX = 13, 10, 10


def figure_image(
    trace: "Trace",
    stage: str,
    head: int | str = "all",
    *,
    dpi: int = DPI,
    width_mm: float | None = None,
    palette: Palette = LIGHT,
) -> QImage:
    """Return a figure of a stage for one head, ``"all"`` as small multiples, or their ``"mean"``.

    It is ``width_mm`` wide at ``dpi``, to the pixel, and as high as its maps need. None is 120 mm, for several maps
    170 mm. A QGuiApplication must be there.

    Raises:
        AttnlabError: no such stage or head, or a size that is out of range.
    """
    data = map_data(trace, stage, head)
    if width_mm is None:
        width_mm = WIDE_MM if len(data.values) > 1 else WIDTH_MM
    width_px = pixels(width_mm, dpi)
    ratio = dpi / _UNITS_PER_INCH
    tokens_across = trace.stage(stage).axes[-1] == "key"
    labels = _labels(data, width_px / ratio)
    count, rows, columns = data.values.shape
    layout = lay_out(width_px / ratio, (count, rows, columns), labels, square=tokens_across, ratio=ratio)
    height_px = round(layout.height * ratio)
    if height_px > _SIDE_PX or width_px * height_px > PIXELS:
        raise AttnlabError(
            f"A figure of {width_px} × {height_px} pixels is too large; fewer dots per inch or one head fits."
        )
    image = QImage(width_px, height_px, QImage.Format.Format_RGB32)
    image.fill(QColor(palette.surface))
    image.setDevicePixelRatio(ratio)
    painter = QPainter(image)
    _draw(painter, layout, data, trace, trace.stage(stage), palette)
    painter.end()
    image.setDevicePixelRatio(1.0)
    image.setDotsPerMeterX(round(dpi * 1000 / _MM_PER_INCH))
    image.setDotsPerMeterY(round(dpi * 1000 / _MM_PER_INCH))
    return image


def write_figure(
    path: str | os.PathLike[str],
    trace: "Trace",
    stage: str,
    head: int | str = "all",
    *,
    dpi: int = DPI,
    width_mm: float | None = None,
    palette: Palette = LIGHT,
) -> None:
    """Write a figure as PNG, whole or not at all; arguments and errors are those of :func:`figure_image`.

    Raises:
        FileError: it cannot be written.
    """
    image = figure_image(trace, stage, head, dpi=dpi, width_mm=width_mm, palette=palette)
    file = QSaveFile(os.fspath(path))
    file.setDirectWriteFallback(True)  # for what is no ordinary file, a pipe for instance
    written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(_png(image)) > 0 and file.commit()
    if not written:
        raise FileError(f"{os.fspath(path)} cannot be written: {file.errorString()}.")


def pixels(width_mm: float, dpi: int) -> int:
    """Return the width in pixels.

    Raises:
        AttnlabError: a size that is out of range.
    """
    if not DPI_RANGE[0] <= dpi <= DPI_RANGE[1]:
        raise AttnlabError(f"{dpi} dots per inch cannot be drawn; {DPI_RANGE[0]} to {DPI_RANGE[1]} can.")
    low, high = WIDTH_RANGE_MM
    if not low <= width_mm <= high:
        raise AttnlabError(f"A width of {width_mm:g} mm cannot be drawn; {low:g} to {high:g} mm can.")
    return round(width_mm * dpi / _MM_PER_INCH)


def map_data(trace: "Trace", stage: str, head: int | str) -> MapData:
    """Return what is drawn of a stage: maps, labels, titles, and the scale that all heads share.

    Raises:
        AttnlabError: no such stage or head; the sentence names those that exist.
    """
    from attnlab.attention.axes import labels
    from attnlab.attention.stages import kind_of

    if stage not in trace:
        names = ", ".join(trace.all_stages)
        raise AttnlabError(f"There is no stage {stage!r} in this configuration; there are {names}.")
    entry, e = trace.stage(stage), trace.experiment
    array = trace.array(stage)
    if not entry.has_heads:
        values, titles = array[None], [""]
    elif head == "mean":
        values, titles = trace.mean(stage)[None], [f"mean of {len(array)} heads"]
    elif head == "all":
        values, titles = array, [f"head {i}" for i in range(len(array))]
    elif isinstance(head, int) and 0 <= head < len(array):
        values, titles = array[head : head + 1], [f"head {head} of {len(array)}"]
    else:
        raise AttnlabError(f"There is no head {head}; there are heads 0 to {len(array) - 1}, all and mean.")
    rows, columns = (labels(e, axis, n) for axis, n in zip(entry.axes[-2:], values.shape[1:], strict=True))
    kind, masked = kind_of(entry, e), trace.shown_mask(stage)
    return MapData(values, kind, limit_of(array, kind, masked), masked, rows, columns, titles)


def _draw(
    painter: QPainter, layout: FigureLayout, data: MapData, trace: "Trace", stage: "Stage", palette: Palette
) -> None:
    _draw_header(painter, layout, data, trace, stage, palette)
    first, text = 0, _font(_TEXT_PX)
    for grid in layout.grids:
        last = first + grid.count
        part = replace(data, values=data.values[first:last], titles=data.titles[first:last])
        draw_cells(painter, grid, part, palette)
        draw_numbers(painter, grid, part, palette, _font(_NUMBER_PX))
        draw_labels(painter, grid, part, palette, text, (None, None))
        if layout.caption:
            _draw_captions(painter, grid, part, palette)
        first = last
    _draw_axes(painter, layout, stage, palette)
    grid = layout.first
    width = min(max(grid.width, 90.0), 200.0)
    bar = QRectF(grid.x, layout.bottom + SPACE, min(width, layout.width - grid.x - MARGIN), 16)
    draw_colour_bar(painter, bar, data, palette, _font(_TEXT_PX - 1))


def _draw_header(
    painter: QPainter, layout: FigureLayout, data: MapData, trace: "Trace", stage: "Stage", palette: Palette
) -> None:
    """Write the stage's title, which head, and the shape of the whole."""
    y = MARGIN + HEADER / 2 - 2
    caption = Pen(painter, _font(_TEXT_PX))
    shape = " × ".join(map(str, data.values.shape[len(data.values) == 1 :]))
    painter.setPen(QColor(palette.muted))
    caption.draw(layout.width - MARGIN, y, shape, 1.0)
    which = data.titles[0] if len(data.titles) == 1 and stage.has_heads and trace.experiment.n_heads > 1 else ""
    title = Pen(painter, _font(_TITLE_PX, QFont.Weight.DemiBold))
    painter.setPen(QColor(palette.role_ink(stage.role) if stage.role != "neutral" else palette.ink))
    title.draw(MARGIN, y, stage.title)
    after = MARGIN + title.width(stage.title) + 8
    if which:
        caption = Pen(painter, _font(_TEXT_PX))
        painter.setPen(QColor(palette.muted))
        caption.draw(after, y + 1, which)


def _draw_captions(painter: QPainter, grid: Grid, part: MapData, palette: Palette) -> None:
    """Write above each of several maps, and above its labels, which head it is."""
    pen = Pen(painter, _font(_TEXT_PX, QFont.Weight.DemiBold))
    painter.setPen(QColor(palette.ink))
    for index, title in enumerate(part.titles):
        x, y = grid.origin(index)
        width = grid.columns * grid.cell_width
        pen.draw(x + width / 2, y - grid.label_height - CAPTION / 2 + 1, pen.elided(title, width + 8), 0.5)


def _draw_axes(painter: QPainter, layout: FigureLayout, stage: "Stage", palette: Palette) -> None:
    """Name the axes: rows at the left, reading upwards, columns above the maps."""
    rows, columns = stage.axes[-2:]
    grid, font = layout.first, _font(_TEXT_PX)
    pen = Pen(painter, font)
    painter.setPen(QColor(_ink(columns, palette)))
    middle = grid.x + grid.width / 2
    pen.draw(middle, grid.y - grid.label_height - layout.caption - AXIS / 2, columns, 0.5)
    painter.setPen(QColor(_ink(rows, palette)))
    x = grid.x - grid.label_width - AXIS / 2
    for each in layout.grids:
        pen.draw_upwards(x, each.y + (each.height + pen.width(rows)) / 2, rows)


def _ink(axis: str, palette: Palette) -> str:
    return palette.role_ink(axis) if axis in ("query", "key") else palette.muted


def _labels(data: MapData, width: float) -> Labels:
    """Measure the labels; long words get no more than a part of the figure."""
    metrics = QFontMetricsF(_font(_TEXT_PX))

    def widest(labels: "list[str] | tuple[str, ...]") -> float:
        return max((metrics.horizontalAdvance(" ".join(x.split())[:60] or "∅") for x in labels), default=0.0)

    row, column = widest(list(data.row_labels)), widest(list(data.column_labels))
    turned = min(column + 8, _COLUMN_LABEL)
    return Labels(min(row + 8, _ROW_LABEL, width * 0.25), column, metrics.height() + 4, turned)


def _font(size_px: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return a font of the figure; the sizes are in 1/96 inch."""
    if "Inter" not in QFontDatabase.families():
        for name in assets.names("fonts"):
            if name.endswith(".ttf"):
                QFontDatabase.addApplicationFontFromData(assets.read_bytes(name))
    font = QFont(["Inter", QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()])
    font.setPixelSize(size_px)
    font.setWeight(weight)
    font.setFeature(QFont.Tag("tnum"), 1)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def _png(image: QImage) -> QByteArray:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(b"png"))
    if not writer.write(image):
        raise FileError(f"The figure cannot be turned into a PNG: {writer.errorString()}.")
    return data
