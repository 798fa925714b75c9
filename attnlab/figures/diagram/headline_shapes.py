"""The head of a diagram: how many parameters the model has, where they are, and its masks."""

from collections.abc import Sequence

import numpy as np

from attnlab.figures.diagram.scene import Box, Cells, Label, Measure, Region, Scene, shorten
from attnlab.training.model_tree import ModelTree
from attnlab.training.model_view import MaskPicture

HEADLINE, LEGEND, MASKS = 52.0, 18.0, 78.0
"""The heights of the number with its bar, of a line of the legend, and of the masks."""
_MASK = 36.0
_TWO_COLUMNS = 330.0
"""The least width of a legend in two columns."""


def list_shares(tree: ModelTree) -> list[tuple[str, int, str]]:
    """Return the parts of a model with their parameters and colours: stacks, embeddings, output, the rest."""
    found: list[tuple[str, int, str]] = []
    for side, colour in ((tree.writing, "attention"), (tree.reading, "attention:55")):
        if side is None:
            continue
        if side.stack is not None:
            n = len(side.stack.layers)
            blocks = [block.total for block in side.list_blocks() if block not in (side.embedding, side.last_norm)]
            found.append((f"{side.stack.title}, {n} layer{'s' if n > 1 else ''}", sum(blocks), colour))
        elif side.cell is not None:
            found.append((side.cell.title, side.cell.total, colour))
    if tree.attention is not None:
        found.append((tree.attention.title, tree.attention.total, "query"))
    both = [side.embedding for side in (tree.writing, tree.reading) if side is not None]
    embeddings = [each for each in both if each.total] or both  # a shared one counts in the half that reads
    title = "Two embeddings" if len(embeddings) > 1 else embeddings[0].title.split(" ×")[0]
    found.append((title, sum(each.total for each in embeddings), "muted:60"))
    rest = tree.total - sum(count for _, count, _ in found)
    output = tree.output.total if tree.output is not None else 0
    if tree.memory is not None and tree.memory.total:
        found.append((tree.memory.title, tree.memory.total, "hatch"))
        rest -= tree.memory.total
    if output:
        found.append(("Output", output, "muted"))
    unused = tree.unused.total if tree.unused is not None else 0
    found.append(("Norms at the end", rest - output - unused, "hatch"))
    found.append(("Not used", unused, "hairline"))
    return [each for each in found if each[1]]


def measure_headline(tree: ModelTree, width: float) -> float:
    """Return the height of the number, its bar and its legend."""
    return HEADLINE + LEGEND * -(-len(list_shares(tree)) // _count_columns(width))


def draw_headline(scene: Scene, tree: ModelTree, x: float, y: float, width: float, measure: Measure) -> None:
    """Draw the number of parameters, a bar of its parts, and their legend, in two columns."""
    total = f"{tree.total:,}"
    scene.add(Label(x, y + 14, total, "big", "ink"))
    frozen = tree.total - tree.trainable
    said = "parameters, all trainable" if not frozen else f"parameters, {tree.trainable:,} trainable"
    left = x + measure(total, "big") + 10
    scene.add(Label(left, y + 17, _choose_first((said, "parameters"), "text", x + width - left, measure), "text"))
    shares = list_shares(tree)
    scene.regions.append(Region("model", (x - 4, y, width + 8, 48), f"{tree.title}, {total} {said}", "", 6))
    start = x
    for _, count, colour in shares:
        part = width * count / max(tree.total, 1)
        scene.add(Box((start, y + 34, max(part - 1, 1), 8), colour, "", 1))
        start += part
    columns = _count_columns(width)
    half = (width - 16 * (columns - 1)) / columns
    for at, (title, count, colour) in enumerate(shares):
        line, column = divmod(at, columns)
        left, middle = x + column * (half + 16), y + HEADLINE + LEGEND * line + 6
        scene.add(Box((left, middle - 4, 8, 8), colour, "", 2))
        scene.add(Label(left + half, middle, f"{count:,}", "count", "ink", 1))
        room = half - 14 - measure(f"{count:,}", "count") - 6
        scene.add(Label(left + 14, middle, shorten(title, "caption", room, measure), "caption"))


def draw_masks(
    scene: Scene, masks: Sequence[MaskPicture], padded: int, x: float, y: float, width: float, measure: Measure
) -> None:
    """Draw what each mask hides, for a row of a batch with padding."""
    if not masks:
        return
    scene.add(Label(x, y + 7, "MASKS" if len(masks) > 1 else "MASK", "section", "muted"))
    left = x + measure("MASKS ", "section") + 12
    ways = f"in a batch, where this row is padded to {padded}", f"of a row padded to {padded}"
    scene.add(Label(left, y + 7, _choose_first(ways, "caption", x + width - left, measure), "caption"))
    broken = [_break(mask.title, measure) for mask in masks]
    widths = [_MASK + 8 + max(measure(line, "caption") for line in lines) for lines in broken]
    gap = min((width - sum(widths)) / max(len(masks) - 1, 1), 24.0)
    for at, mask in enumerate(masks):
        rows, columns = mask.cells.shape
        side = _MASK / max(rows, columns)
        start = x + sum(widths[:at]) + gap * at
        values = np.full(mask.cells.shape, 0.25, np.float32)
        rect = (start, y + 22, side * columns, side * rows)
        scene.add(Cells(rect, values, masked=mask.cells))
        for line, words in enumerate(broken[at]):
            scene.add(Label(start + side * columns + 8, y + 30 + 15 * line, words, "caption", "ink"))
        hidden = f"{mask.cells.sum():,} of {mask.cells.size:,} cells hidden"
        spoken = f"Mask of {mask.title}: {hidden}"
        scene.regions.append(Region(f"mask {at}", rect, spoken, f"{mask.title}: {hidden}", 2))


def _choose_first(ways: Sequence[str], face: str, width: float, measure: Measure) -> str:
    """Return the first text that has room, or the last one shortened."""
    fitting = (text for text in ways if measure(text, face) <= width)
    return next(fitting, shorten(ways[-1], face, width, measure))


def _count_columns(width: float) -> int:
    return 2 if width >= _TWO_COLUMNS else 1


def _break(text: str, measure: Measure) -> list[str]:
    """Return a text in two lines of about equal widths, or in one if it is a single word."""
    words = text.split()
    ways = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))] or [(text, "")]
    best = min(ways, key=lambda way: max(measure(line, "caption") for line in way))
    return [line for line in best if line]
