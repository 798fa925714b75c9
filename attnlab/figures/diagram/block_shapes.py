"""The parts of a diagram: cards of blocks, tokens, norms, and the maps of all heads as thumbnails."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from attnlab.figures.diagram.diagram_data import Maps
from attnlab.figures.diagram.scene import Box, Cells, Label, Measure, Polyline, Region, Scene, Sign, Stroke, shorten
from attnlab.figures.raster import reduce_cells, reduce_maps
from attnlab.training.model_tree import Block

THUMB, THUMB_GAP = 30.0, 2.0
"""The side of a head's map, and the least gap between two."""
LINE, PAD = 17.0, 10.0
"""The height of a line of text in a card, and its margin."""
CHIP, CHIP_GAP = 24.0, 3.0
"""The height of a token, and the least gap between two."""
NORM = 48.0, 20.0
"""The size of a norm."""


def name_shape(shape: Sequence[int]) -> str:
    """Return a shape in brackets: [6, 128]."""
    return f"[{', '.join(map(str, shape))}]"


def measure_card(block: Block, width: float, measure: Measure, maps: Maps) -> float:
    """Return the height of a block's card."""
    rows = _count_rows(block, width, maps)
    height = 2 * PAD - 4 + LINE + (rows * (THUMB + 4) + 2 if rows else 0)
    return height + LINE * _count_last_lines(block, width, measure)


def draw_card(
    scene: Scene,
    at: tuple[float, float],
    width: float,
    block: Block,
    measure: Measure,
    maps: Maps,
    limit: float = 1.0,
    off: Collection[tuple[str, int]] = (),
) -> None:
    """Draw a block's card with its top left at a point, and make it and its maps regions of the scene.

    The colours of the maps end at the weight ``limit``, which is written below them unless it is 1. The maps of heads
    that are ``off``, each a layer and a head, are crossed out.
    """
    x, y = at
    height = measure_card(block, width, measure, maps)
    scene.add(Box((x, y, width, height), "surface", "hairline", 8))
    scene.regions.append(Region(block.name, (x, y, width, height), speak(block), block.about, 8))
    line = y + PAD - 2 + LINE / 2
    scene.add(Sign(x + PAD + 4, line, "square", block.role, 8))
    count = f"{block.total:,}" if block.tables else ""
    right = x + width - PAD
    if count and _count_fits(block, width, measure):
        scene.add(Label(right, line, count, "count", "ink", 1))
        right -= measure(count, "count") + 10
    fits = _shape_fits(block, width, measure)
    shape = name_shape(block.shape)
    if fits:
        scene.add(Label(right, line, shape, "caption", "muted", 1))
        right -= measure(shape, "caption") + 8
    title = shorten(block.title, "title", right - x - PAD - 14, measure)
    scene.add(Label(x + PAD + 14, line, title, "title", "ink"))
    rows = _count_rows(block, width, maps)
    if rows:
        _draw_maps(scene, (x + PAD, line + LINE / 2 + 2), width - 2 * PAD, block, maps, limit)
        _cross_out(scene, block, [head for layer, head in off if layer == block.layer])
    end = x + width - PAD
    last = y + height - PAD + 2 - LINE / 2
    said = "" if fits else _name_rest(block, width, measure)
    if rows and fits:
        said = f"heads 0–{block.heads - 1}" if block.heads > 1 else "one head"
        said += f", darkest from {limit:.2g}" if limit < 1 else ""
    if said:
        scene.add(Label(end, last, said, "caption", "muted", 1))
        end -= measure(said, "caption") + 8
    if block.note:
        left = x + PAD if rows else x + PAD + 14
        if _count_last_lines(block, width, measure) == 2:
            last, end = last - LINE, x + width - PAD
        scene.add(Label(left, last, shorten(block.note, "caption", end - left, measure), "caption"))


def speak(block: Block) -> str:
    """Return what a screen reader says of a block."""
    parts = [block.title]
    if block.shape:
        parts.append("shape " + " by ".join(map(str, block.shape)))
    if block.tables:
        parts.append(f"{block.total:,} parameters")
    return ", ".join([*parts, *([block.note.replace("→", "to")] if block.note else [])])


def draw_norm(scene: Scene, centre: tuple[float, float], norm: Block) -> None:
    """Draw a norm as a chip centred on a point."""
    width, height = NORM
    rect = (centre[0] - width / 2, centre[1] - height / 2, width, height)
    scene.add(Box(rect, "control", "hairline", height / 2), Label(*centre, "norm", "caption", "ink", 0.5))
    scene.regions.append(Region(norm.name, rect, speak(norm), norm.about, height / 2))


def draw_tokens(scene: Scene, tokens: Sequence[str], x: float, y: float, width: float, measure: Measure) -> list[float]:
    """Draw tokens side by side from x on, with their tops at y, or as one text if they have no room.

    Returns the middle of each token, or of the text.
    """
    if not tokens:
        return []
    shown = [_SEEN.get(token, token) for token in tokens]
    slot = width / len(shown)
    widest = max(measure(token, "token") for token in shown)
    if widest + 6 + CHIP_GAP <= slot:
        side = min(max(widest + 14, CHIP + 4), slot - CHIP_GAP)
        middles = [x + slot * (i + 0.5) for i in range(len(shown))]
        for token, middle in zip(shown, middles, strict=True):
            scene.add(Box((middle - side / 2, y, side, CHIP), "control", "", 6))
            scene.add(Label(middle, y + CHIP / 2, token, "token", "ink", 0.5))
        return middles
    count = f"{len(shown)} tokens"
    scene.add(Box((x, y, width, CHIP), "control", "", 6))
    scene.add(Label(x + width - PAD, y + CHIP / 2, count, "caption", "muted", 1))
    joined = ("" if all(len(token) == 1 for token in tokens) else " ").join(shown)
    room = width - 3 * PAD - measure(count, "caption")
    scene.add(Label(x + PAD, y + CHIP / 2, shorten(joined, "text", room, measure), "text", "ink"))
    return [x + width / 2]


def draw_arrows(scene: Scene, middles: Sequence[float], start: float, end: float) -> None:
    """Draw an upright arrow at each middle."""
    scene.add(*(Stroke(((x, start), (x, end)), arrow=True) for x in middles))


_SEEN = {" ": "␣", "\n": "↵", "\t": "⇥"}


def _shape_fits(block: Block, width: float, measure: Measure) -> bool:
    """Return whether the shape has room in the line of the title, beside the number of parameters."""
    return _measure_title(block, measure) + 8 + measure(name_shape(block.shape), "caption") <= width


def _count_fits(block: Block, width: float, measure: Measure) -> bool:
    """Return whether the number of parameters has room in the line of the title."""
    return _measure_title(block, measure) <= width


def _name_rest(block: Block, width: float, measure: Measure) -> str:
    """Return what has no room in the line of the title: the shape, or the shape and the number of parameters."""
    shape = name_shape(block.shape)
    return shape if not block.tables or _count_fits(block, width, measure) else f"{shape}  {block.total:,}"


def _count_last_lines(block: Block, width: float, measure: Measure) -> int:
    """Return how many lines the note and what has no room in the line of the title take."""
    if _shape_fits(block, width, measure):
        return int(bool(block.note))
    if _count_fits(block, width, measure) or not block.note:
        return 1
    used = 2 * PAD + 14 + measure(block.note, "caption") + 8
    return 1 if used + measure(_name_rest(block, width, measure), "caption") <= width else 2


def _measure_title(block: Block, measure: Measure) -> float:
    count = measure(f"{block.total:,}", "count") + 10 if block.tables else 0.0
    return 2 * PAD + 14 + measure(block.title, "title") + count


def _count_per_row(width: float) -> int:
    return max(1, int((width - 2 * PAD + THUMB_GAP) // (THUMB + THUMB_GAP)))


def _count_rows(block: Block, width: float, maps: Maps) -> int:
    """Return in how many rows the maps of a block stand; 0 if it has none."""
    return math.ceil(block.heads / _count_per_row(width)) if block.layer in maps else 0


def _draw_maps(scene: Scene, at: tuple[float, float], width: float, block: Block, maps: Maps, limit: float) -> None:
    weights, hidden = maps[block.layer]
    per_row = _count_per_row(width + 2 * PAD)
    lines = math.ceil(block.heads / per_row)
    per_row = math.ceil(block.heads / lines)  # about equally many in each row
    step = min((width - THUMB) / max(per_row - 1, 1), THUMB + 12)
    _, rows, columns = weights.shape
    side = THUMB / max(rows, columns)
    for head, values in enumerate(weights):
        line, place = divmod(head, per_row)
        left, top = at[0] + place * step, at[1] + line * (THUMB + 4)
        rect = (left, top, side * columns, side * rows)
        scene.add(Cells(rect, _fit(values), "probability", limit, None if hidden is None else _fit_cells(hidden)))
        name, spoken = f"{block.name} · head {head}", f"{block.title}, head {head}, map"
        scene.regions.append(Region(name, rect, spoken, f"Head {head}; click to choose it", 2))


def _cross_out(scene: Scene, block: Block, heads: Collection[int]) -> None:
    """Cross out the maps of the heads that are off, as they are in the overview, and say so."""
    names = {f"{block.name} · head {head}" for head in heads}
    for at, region in enumerate(scene.regions):
        if region.name in names:
            left, top, width, height = region.rect
            right, bottom = left + width, top + height
            scene.add(Box(region.rect, "surface:55", radius=0))
            scene.add(
                *(Polyline(ends, "bad") for ends in (((left, top), (right, bottom)), ((right, top), (left, bottom))))
            )
            scene.regions[at] = replace(region, spoken=f"{region.spoken}, switched off")


def _fit(values: NDArray[np.floating]) -> NDArray[np.floating]:
    most = int(THUMB)
    reduced: NDArray[np.floating] = reduce_maps(values[None], min(most, values.shape[0]), min(most, values.shape[1]))[0]
    return reduced


def _fit_cells(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    most = int(THUMB)
    return reduce_cells(cells, min(most, cells.shape[0]), min(most, cells.shape[1]))
