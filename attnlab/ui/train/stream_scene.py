"""The page "Inside" as a scene, for figures: the answer after each layer, and what each part adds at one place."""

import math
from typing import TYPE_CHECKING

from attnlab.figures.diagram.scene import Box, Label, Polyline, Scene
from attnlab.figures.diagram.scene_painter import measure_label
from attnlab.ui.train.answer_scene import (
    GAP,
    HEAD,
    NARROWEST,
    ROW,
    WIDEST,
    add_column,
    add_heading,
    add_lines,
    wrap_text,
)
from attnlab.ui.train.stream_words import describe_place, make_lens_columns, name_part

if TYPE_CHECKING:
    from attnlab.training.stream_view import Stream


def draw_stages(stream: "Stream", width: float) -> Scene:
    """Return the scene of the answers after each layer: a column for each place, in as many rows as needed."""
    scene, columns = Scene(width), make_lens_columns(stream)
    add_heading(scene, "The answer after each layer")
    names = columns[0].stages if columns else ()
    left = max((measure_label(name, "caption") for name in names), default=0.0) + GAP
    most = max(int((width - left) / NARROWEST), 1)
    wide = min((width - left) / max(min(len(columns), most), 1), WIDEST)
    for start in range(0, len(columns), most):
        for line, name in enumerate(names):
            scene.add(Label(0, scene.height + HEAD + (line + 0.5) * ROW, name))
        for place, column in enumerate(columns[start : start + most]):
            add_column(scene, column, left + place * wide, wide - GAP, first=False)
        scene.height += HEAD + ROW * len(names) + 8
    return scene


def draw_parts(stream: "Stream", place: int, width: float) -> Scene:
    """Return the scene of what each part adds to the logit at a place: bars from a common zero."""
    scene = Scene(width)
    add_heading(scene, "What each part adds to the answer")
    add_lines(scene, wrap_text(describe_place(stream, place), "text", width), "text", "ink")
    names, added = [name_part(part) for part in stream.parts], stream.added[:, place].tolist()
    texts = [f"{round(value, 2) + 0.0:.2f}".replace("-", "−") for value in added]  # no minus before 0.00
    left = max((measure_label(name, "caption") for name in names), default=0.0) + GAP
    right = width - max((measure_label(text, "strong") for text in texts), default=0.0) - GAP
    low, high = min(0.0, *added), max(0.0, *added)
    unit = (right - left) / ((high - low) or 1.0)
    zero, top = left - low * unit, scene.height + 4
    for name, value, text in zip(names, added, texts, strict=True):
        middle = scene.height + 4 + ROW / 2
        scene.add(Label(0, middle, name))
        long = abs(value) * unit if math.isfinite(value) else 0.0
        if long > 0.5:
            rect = (zero if value > 0 else zero - long, middle - 5, long, 10.0)
            scene.add(Box(rect, "attention" if value > 0 else "muted:65", radius=min(2.0, long / 2)))
        scene.add(Label(width, middle, text, "strong", "ink", 1.0))
        scene.height += ROW
    scene.add(Polyline(((zero, top), (zero, scene.height + 4)), "hairline", 1.0))
    scene.height += 8
    return scene
