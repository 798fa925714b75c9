"""The diagram of a recurrent encoder–decoder: its states, the one vector between, and where a step looks."""

import math
from collections.abc import Sequence

import numpy as np

from attnlab.figures.diagram.answer_shapes import describe_answers, draw_answers
from attnlab.figures.diagram.block_shapes import CHIP, draw_arrows, draw_card, draw_tokens, measure_card
from attnlab.figures.diagram.diagram_data import DiagramData, Opened
from attnlab.figures.diagram.headline_shapes import draw_headline, measure_headline
from attnlab.figures.diagram.scene import Band, Box, Cells, Label, Measure, Region, Scene, Sign, Stroke
from attnlab.training.model_view import Numbers, States

EDGE, LEAST = 12.0, 340.0
STATE, WIDEST_STATE, LEAST_SLOT = 84.0, 44.0, 16.0
"""The height of a state, its greatest width, and the least room for one."""
BETWEEN = 200.0
"""The height between the states of the encoder and those of the decoder."""
THICK, THIN = 34.0, 1.2
"""The width of a line for a weight of 1, and the least width of any."""
FADED = 0.55
"""The strength of the steps that are not pointed at."""


def lay_out_recurrent(data: DiagramData, width: float, opened: Opened, measure: Measure) -> Scene:
    """Return the diagram in a width; it is wider if its states need the room."""
    inside = data.inside
    states = inside.states
    assert states is not None
    assert inside.tree.memory is not None
    most = max(len(states.reading), len(states.writing))
    width = max(width, LEAST, 2 * EDGE + LEAST_SLOT * most)
    room = width - 2 * EDGE
    scene = Scene(width)
    y = _draw_head(scene, data, room, measure)
    step = opened.step if 0 <= opened.step < len(states.writing) else 0
    deciding = _find_middles(len(states.writing), room)
    draw_answers(scene, inside.guesses, EDGE, y, room, measure, deciding)
    y += 86
    _draw_states(scene, states.writing, deciding, y, "step", inside.inputs, step, False)
    below = y + STATE
    reading = _find_middles(len(states.reading), room)
    above = below + BETWEEN
    if inside.tree.attention is None:
        _draw_one_vector(scene, data, states, (deciding[0], below), reading, above, measure)
    else:
        _draw_fan(scene, data, (deciding, below), reading, above, step, measure)
    _draw_states(scene, states.reading, reading, above, "state", inside.source, None, True)
    tokens = above + STATE + 14
    middles = draw_tokens(scene, inside.source, EDGE, tokens, room, measure)
    draw_arrows(scene, middles, tokens - 1, above + STATE + 1)
    scene.height = _draw_blocks(scene, data, tokens + CHIP + 18, room, measure) + EDGE
    return scene


def _draw_head(scene: Scene, data: DiagramData, width: float, measure: Measure) -> float:
    tree = data.inside.tree
    draw_headline(scene, tree, EDGE, EDGE, width, measure)
    y = EDGE + measure_headline(tree, width) + 16
    scene.add(Label(EDGE, y, "WHAT IT ANSWERS", "section"))
    said = describe_answers(data.inside.guesses, width)
    scene.add(Label(EDGE + width, y, said, "caption", "muted", 1))
    return y + 14


def _find_middles(count: int, width: float) -> list[float]:
    slot = width / count
    return [EDGE + slot * (i + 0.5) for i in range(count)]


def _draw_states(
    scene: Scene,
    states: Numbers,
    middles: Sequence[float],
    y: float,
    name: str,
    tokens: Sequence[str],
    chosen: int | None,
    both: bool,
) -> None:
    """Draw states [T, d] side by side as fields of dots, with arrows to the right or in ``both`` directions."""
    slot = middles[1] - middles[0] if len(middles) > 1 else WIDEST_STATE + 30
    side = min(WIDEST_STATE, slot - (12 if slot > 30 else 4))
    for at, (values, middle) in enumerate(zip(states, middles, strict=True)):
        rect = (middle - side / 2, y, side, STATE)
        scene.add(Box(rect, "surface", "accent" if at == chosen else "hairline", 6, 2 if at == chosen else 1))
        scene.add(_make_dots(values, rect, 1.0 if chosen is None or at == chosen else FADED))
        token = tokens[at] if at < len(tokens) else ""
        what = "Encoder state" if both else "Decoder step"
        tip = "" if both else "Click to see where this step looks"
        scene.regions.append(Region(f"{name} {at}", rect, f"{what} {at + 1} of {len(states)}, reads {token}", tip))
        if at + 1 < len(states) and slot - side > 8:
            start, end = middle + side / 2 + 2, middles[at + 1] - side / 2 - 2
            scene.add(Stroke(((start, y + STATE / 2 - 5 * both), (end, y + STATE / 2 - 5 * both)), arrow=True))
            if both:
                scene.add(Stroke(((end, y + STATE / 2 + 5), (start, y + STATE / 2 + 5)), arrow=True))


def _make_dots(values: Numbers, rect: tuple[float, float, float, float], alpha: float = 1.0) -> Cells:
    """Return a state [d] as dots that fill a rectangle, on a scale of −1 to 1."""
    x, y, width, height = rect
    columns = max(1, min(len(values), round(math.sqrt(len(values) * width / height))))
    rows = math.ceil(len(values) / columns)
    filled = np.zeros(rows * columns, np.float32)
    filled[: len(values)] = values
    missing = (np.arange(rows * columns) >= len(values)).reshape(rows, columns)
    inner = (x + 4, y + 4, width - 8, height - 8) if width > 14 else (x + 1, y + 2, width - 2, height - 4)
    masked = missing if missing.any() else None
    return Cells(inner, filled.reshape(rows, columns), "signed", 1.0, masked, dots=width > 24, alpha=alpha)


def _draw_one_vector(
    scene: Scene,
    data: DiagramData,
    states: States,
    head: tuple[float, float],
    reading: Sequence[float],
    above: float,
    measure: Measure,
) -> None:
    """Draw how the last states of both directions become one vector, all that the decoder starts from."""
    block = data.inside.tree.memory
    assert block is not None
    middle, y = EDGE + (scene.width - 2 * EDGE) * 0.42, (head[1] + above) / 2
    side, height = 44.0, 64.0
    rect = (middle - side / 2, y - height / 2, side, height)
    ends = sorted({reading[0], reading[-1]})
    for foot in ends:
        scene.add(Band((foot, above - 2, 40.0), (middle, y + height / 2, 22.0), 14.0))
        line = ((foot, above - 2), (middle, y + height / 2 + 2))
        scene.add(Stroke(line, "muted", 1.8, arrow=True, curve=True))
    scene.add(Band((middle, y - height / 2, 22.0), (head[0], head[1] + 2, 40.0), 14.0))
    scene.add(Stroke(((middle, y - height / 2), (head[0], head[1] + 2)), "muted", 1.8, arrow=True, curve=True))
    scene.add(Box(rect, "surface", "muted", 6, 1.5), _make_dots(states.vector, rect))
    scene.regions.append(Region(block.name, rect, f"{block.title}, {block.note}", block.about))
    scene.add(Label(middle + side / 2 + 10, y - 8, "one vector", "title", "ink"))
    scene.add(Label(middle + side / 2 + 10, y + 9, block.note, "caption"))
    for x in reading[1:-1]:
        scene.add(Stroke(((x, above - 2), (x, above - 16)), "hatch"), Sign(x, above - 16, "stop", "hatch", 18))
    if len(reading) > 4:
        text = "reach it only through their neighbours, and are never looked at again"
        at = (reading[1] + reading[-2]) / 2
        if measure(text, "caption") > 0.6 * (reading[-2] - reading[1]):
            text = "never looked at again"
        scene.add(Label(at, above - 28, text, "caption", "muted", 0.5))


def _draw_fan(
    scene: Scene,
    data: DiagramData,
    deciding: tuple[Sequence[float], float],
    reading: Sequence[float],
    above: float,
    step: int,
    measure: Measure,
) -> None:
    """Draw a line from each encoder state to the step, as thick as its weight, and the one vector beside them."""
    block, layer = data.inside.tree.memory, data.inside.tree.attention
    assert block is not None
    assert layer is not None
    row = data.maps[layer.layer][0][0, step]
    middles, below = deciding
    start = middles[0]
    for foot in sorted({reading[0], reading[-1]}):
        scene.add(Stroke(((foot, above), (start, below + 2)), "muted", 1.3, True, True, True, 0.8))
    end = middles[step]
    for middle, weight in sorted(zip(reading, row.tolist(), strict=True), key=lambda each: each[1]):
        thick = max(THICK * weight, THIN)
        alpha = 0.35 + 0.45 * min(weight * 1.5, 1.0)
        scene.add(Stroke(((middle, above - 2), (end, below + 2)), "attention", thick, curve=True, alpha=alpha))
    slot = reading[1] - reading[0] if len(reading) > 1 else 60.0
    for at, (middle, weight) in enumerate(zip(reading, row.tolist(), strict=True)):
        text = f"{weight:.2f}"
        wide = measure(text, "strong") + 12
        spoken = f"Weight of step {step + 1} on {data.inside.source[at]}: {weight:.4f}"
        rect = (middle - min(wide, slot) / 2, above - 32, min(wide, slot), 18)
        scene.regions.append(Region(f"weight {at}", rect, spoken, f"{weight:.4f}", 9))
        if wide <= slot or weight >= 0.5:
            scene.add(Box((middle - wide / 2, above - 32, wide, 18), "surface", "hairline", 9))
            scene.add(Label(middle, above - 23, text, "strong" if weight >= 0.1 else "caption", "attention_ink", 0.5))
    wide = measure("the one vector too", "caption") + 12
    left = max(EDGE, min(start - wide / 2, scene.width - EDGE - wide))
    scene.add(Box((left, below + 36, wide, 18), "surface", "hairline", 9))
    scene.add(Label(left + wide / 2, below + 45, "the one vector too", "caption", "muted", 0.5))
    scene.regions.append(Region("vector", (left, below + 36, wide, 18), f"{block.title}, {block.note}", block.about, 9))


def _draw_blocks(scene: Scene, data: DiagramData, y: float, width: float, measure: Measure) -> float:
    """Draw the cards of all blocks at the foot; return where they end."""
    tree = data.inside.tree
    blocks = [block for block in tree.list_blocks() if block.name != "vector"]
    if tree.memory is not None:
        blocks.insert(2, tree.memory)
    columns = 3 if width >= 640 else 2 if width >= 340 else 1
    side = (width - 10 * (columns - 1)) / columns
    for first in range(0, len(blocks), columns):
        line = blocks[first : first + columns]
        for at, block in enumerate(line):
            draw_card(scene, (EDGE + at * (side + 10), y), side, block, measure, {})
        y += max(measure_card(block, side, measure, {}) for block in line) + 10
    return y - 10
