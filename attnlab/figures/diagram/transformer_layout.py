"""The diagram of a Transformer: one stack, or an encoder with the decoder that asks it."""

from attnlab.figures.diagram.answer_shapes import HEIGHT, describe_answers, draw_answers, measure_column
from attnlab.figures.diagram.block_shapes import CHIP, draw_card, measure_card
from attnlab.figures.diagram.diagram_data import DiagramData, Opened
from attnlab.figures.diagram.headline_shapes import MASKS, draw_headline, draw_masks, measure_headline
from attnlab.figures.diagram.scene import Label, Measure, Scene, Sign, Stroke
from attnlab.figures.diagram.side_layout import STREAM, SideLayout, lay_out_side

EDGE, BETWEEN = 12.0, 40.0
"""The margin of the diagram, and the room between its two halves, for keys and values."""
LEAST_WIDTH, LEAST_SINGLE = 680.0, 340.0
"""The least width of a diagram with two halves, and of one with a single stack."""
MOST_SINGLE, BESIDE = 420.0, 620.0
"""The greatest width of a single stack, and the width from which its headline stands beside it."""


def lay_out_transformer(data: DiagramData, width: float, opened: Opened, measure: Measure) -> Scene:
    """Return the diagram in a width; it is wider if it needs to be."""
    if data.inside.tree.reading is None:
        return _lay_out_single(data, max(width, LEAST_SINGLE), opened, measure)
    return _lay_out_pair(data, max(width, LEAST_WIDTH), opened, measure)


def _lay_out_pair(data: DiagramData, width: float, opened: Opened, measure: Measure) -> Scene:
    inside = data.inside
    tree = inside.tree
    assert tree.reading is not None
    assert tree.memory is not None
    column = (width - 2 * EDGE - BETWEEN) / 2
    left, right = EDGE, EDGE + column + BETWEEN
    reading = lay_out_side(data, tree.reading, inside.source, (left, column), False, opened, measure)
    writing = lay_out_side(data, tree.writing, inside.inputs, (right, column), True, opened, measure)
    _raise(reading, 18)
    height = measure_card(tree.memory, column, measure, {})
    draw_card(reading.scene, (left, reading.top - height), column, tree.memory, measure, {})
    memory = reading.top - height / 2
    _draw_output(data, writing, right, column, measure)
    headline = measure_headline(tree, column) + 18
    masks = MASKS if inside.masks else 0.0
    tall = max(CHIP - writing.top, CHIP - (reading.top - height) + headline + masks + 10)
    whole = Scene(width, tall + 2 * EDGE - CHIP)
    base = whole.height - EDGE
    whole.put(reading.scene, 0, base)
    whole.put(writing.scene, 0, base)
    _join_memory(whole, writing, left + column, memory, base)
    draw_headline(whole, tree, left, EDGE, column, measure)
    draw_masks(whole, inside.masks, inside.padded, left, EDGE + headline, column, measure)
    return whole


def _raise(side: SideLayout, height: float) -> None:
    """Lead the stream of a half upwards, into whatever stands above."""
    x, y = side.stream, side.top
    side.scene.add(Stroke(((x, y + 1), (x, y - height)), width=STREAM, arrow=True))
    side.top -= height


def _draw_output(data: DiagramData, side: SideLayout, x: float, width: float, measure: Measure) -> None:
    """Draw the output block and the answers above a half."""
    output, guesses = data.inside.tree.output, data.inside.guesses
    _raise(side, 18)
    if output is None:
        return
    height = measure_card(output, width, measure, {})
    side.top -= height
    draw_card(side.scene, (x, side.top), width, output, measure, {})
    if not guesses:
        return
    side.top -= HEIGHT - 8
    least = measure_column(guesses, measure)
    draw_answers(side.scene, guesses, x, side.top, width, measure, (), least)
    side.top -= 22
    scene = side.scene
    scene.add(Label(x, side.top + 8, "WHAT IT ANSWERS", "section"))
    said = describe_answers(guesses, width, least)
    room = x + measure("WHAT IT ANSWERS", "section") + 14
    longer = f"{said}, given the right tokens" if data.inside.reads_before else said
    said = longer if room + measure(longer, "caption") <= x + width else said
    scene.add(Label(x + width, side.top + 8, said, "caption", "muted", 1))


def _join_memory(whole: Scene, writing: SideLayout, edge: float, memory: float, base: float) -> None:
    """Draw keys and values from the memory to every block of cross-attention."""
    for role, lane, shift, sign in (("key", 26.0, -8.0, "K"), ("value", 14.0, 8.0, "V")):
        for at, (left, _, middle) in enumerate(writing.asks):
            x, start, end = edge + lane, memory + shift + base, middle + shift + base
            whole.add(Stroke(((edge, start), (x, start), (x, end), (left, end)), role, 1.8, arrow=True))
            if not at:
                whole.add(Sign(x, (start + end) / 2 + shift, sign, role, 16))


def _lay_out_single(data: DiagramData, width: float, opened: Opened, measure: Measure) -> Scene:
    inside, beside = data.inside, width >= BESIDE
    tree = inside.tree
    column = min(MOST_SINGLE, width - 2 * EDGE) if beside else width - 2 * EDGE
    column = min(column, width * 0.58) if beside else column
    side = lay_out_side(data, tree.writing, inside.inputs, (EDGE, column), False, opened, measure)
    _draw_output(data, side, EDGE, column, measure)
    at = EDGE + column + 36 if beside else EDGE
    room = min(width - EDGE - at, MOST_SINGLE)
    headline = measure_headline(tree, room) + 18
    more = headline + (MASKS if inside.masks else 0.0)
    tall = max(-side.top, more) if beside else -side.top + more
    whole = Scene(width, tall + 2 * EDGE)
    whole.put(side.scene, 0, whole.height - EDGE)
    draw_headline(whole, tree, at, EDGE, room, measure)
    draw_masks(whole, inside.masks, inside.padded, at, EDGE + headline, room, measure)
    return whole
