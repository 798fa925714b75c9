"""One half of a Transformer in a diagram, from the bottom up: tokens, embedding, the stack on its stream, a norm."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from attnlab.figures.diagram.block_shapes import (
    CHIP,
    NORM,
    PAD,
    draw_arrows,
    draw_card,
    draw_norm,
    draw_tokens,
    measure_card,
)
from attnlab.figures.diagram.scene import Box, Cells, Label, Measure, Region, Scene, Sign, Stroke

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attnlab.figures.diagram.diagram_data import DiagramData, Opened
    from attnlab.training.model_tree import Part, Side, Stack

HEADER, MARGIN = 38.0, 12.0
"""The height of a stack's header, and the margin inside its frame."""
STREAM = 4.0
_SHEETS, _SHEET = 2, 5.0
"""How many sheets behind a folded stack show that it has more layers, and by how much each stands out."""


@dataclass(slots=True)
class SideLayout:
    """The scene of a half: y counts upwards as negative numbers from the bottom at 0; ``top`` is where its stream ends.

    ``stream`` is the x of the residual stream; ``asks`` are the boxes of cross-attention, (left, right, middle).
    """

    scene: Scene
    top: float
    stream: float
    asks: list[tuple[float, float, float]] = field(default_factory=list)


def lay_out_side(
    data: "DiagramData",
    side: "Side",
    tokens: "Sequence[str]",
    place: tuple[float, float],
    mirrored: bool,
    opened: "Opened",
    measure: Measure,
) -> SideLayout:
    """Return a half of a model at ``place``, (x, width); the stream is at its left, or at its right if ``mirrored``."""
    return _Half(data, side, place, mirrored, opened, measure).draw(tokens)


class _Half:
    def __init__(
        self,
        data: "DiagramData",
        side: "Side",
        place: tuple[float, float],
        mirrored: bool,
        opened: "Opened",
        measure: Measure,
    ) -> None:
        self.data, self.side, self.mirrored = data, side, mirrored
        self.opened, self.measure = opened, measure
        self.x, self.width = place
        self.norm, self.first = data.inside.tree.norm, data.inside.tree.first
        self.scene, self.y = Scene(), 0.0
        self.gutter = 88.0 if self.norm == "before" else 66.0 if self.norm == "after" else 44.0
        inset = NORM[0] / 2 if self.norm == "before" else self.gutter / 2 + 4
        self.stream = self.x + (self.width - inset if mirrored else inset)
        left = MARGIN if mirrored else self.gutter
        self.block = self.x + left, self.width - self.gutter - MARGIN
        self.asks: list[tuple[float, float, float]] = []

    def draw(self, tokens: "Sequence[str]") -> SideLayout:
        scene, measure = self.scene, self.measure
        middles = draw_tokens(scene, tokens, self.x, -CHIP, self.width, measure)
        self.y = -CHIP - 14
        draw_arrows(scene, middles, -CHIP - 1, self.y + 2)
        self._draw_embedding()
        stack = self.side.stack
        assert stack is not None
        self.flowed = self.y
        self.y -= 14
        count = len(stack.layers)
        unfolded = stack.title in self.opened.unfolded or count == 1
        shown = range(count) if unfolded else (self.opened.layer_of(stack.title, count),)
        for number in shown:
            self._draw_layer(stack, number, folded=not unfolded)
            self.y -= 12
        norm = self.side.last_norm
        if norm is not None:
            middle = self.y - 4 - NORM[1] / 2
            self.y -= NORM[1] + 8
        scene.add(Stroke(((self.stream, self.flowed), (self.stream, self.y)), width=STREAM))
        if norm is not None:
            draw_norm(scene, (self.stream, middle), norm)
            self._count(norm.total, middle)
        return SideLayout(scene, self.y, self.stream, self.asks)

    def _draw_embedding(self) -> None:
        block = self.side.embedding
        height = measure_card(block, self.width, self.measure, {})
        self.y -= height
        numbers = self.data.inside.positions.get(block.name)
        taken = 82.0 if numbers is not None and self.width > 260 else 0.0
        draw_card(self.scene, (self.x, self.y), self.width, block, self.measure, {})
        if taken and numbers is not None:
            note = self.measure(block.note, "caption") + 2 * PAD + 14
            left = max(self.x + self.width - PAD - 72, self.x + note + 6)
            if left + 40 <= self.x + self.width - PAD:
                rect = (left, self.y + height - PAD - 10, self.x + self.width - PAD - left, 14.0)
                self.scene.add(Cells(rect, numbers, "signed", float(max(abs(numbers).max(), 1e-6)), alpha=0.6))

    def _draw_layer(self, stack: "Stack", number: int, folded: bool) -> None:
        bottom, frame = self.y, len(self.scene.shapes)
        self.y -= MARGIN
        for part in stack.layers[number]:
            self._draw_part(part, stack.residual)
        self.y -= HEADER - 4
        top = self.y
        rect = (self.x, top, self.width, bottom - top)
        self.scene.shapes[frame:frame] = [
            *(
                Box((self.x + 3 * i, top - _SHEET * i, self.width - 6 * i, bottom - top), "ground", "hairline", 10)
                for i in range(_SHEETS if folded else 0, 0, -1)
            ),
            Box(rect, "ground", "hairline", 10),
            Stroke(((self.stream, self.flowed), (self.stream, top)), width=STREAM),
        ]
        self.flowed = top
        self._draw_header(stack, number, folded, top + HEADER / 2)
        self.y -= _SHEETS * _SHEET if folded else 0

    def _draw_header(self, stack: "Stack", number: int, folded: bool, y: float) -> None:
        scene, measure, count = self.scene, self.measure, len(stack.layers)
        left, width = self.block
        x = left
        title = stack.title if count == 1 or folded else f"{stack.title} {number + self.first}"
        scene.add(Label(x, y, title, "title", "ink"))
        x += measure(title, "title") + 8
        right = left + width
        total = f"{stack.count_layer(number):,}" + (" each" if folded and stack.is_even else "")
        if count > 1:
            foldable = folded or number == count - 1
            if foldable:
                kind = "down" if folded else "up"
                scene.add(Sign(right - 7, y, kind, "muted", 14))
                verb = "Unfold" if folded else "Fold"
                spoken = f"{verb} the {count} layers of {stack.title.lower()}"
                scene.regions.append(Region(f"fold {stack.title}", (right - 18, y - 11, 22, 22), spoken, spoken))
            right -= 22
        if folded:
            side = 20.0
            most = int((right - x - measure(f"× {count}", "strong") - 12) // (side + 2))
            for each in _choose_numbers(count, number, most):
                chosen = each == number
                fill, ink = ("accent", "on_accent") if chosen else ("surface", "muted")
                scene.add(Box((x, y - side / 2, side, side), fill, "" if chosen else "hairline", 5))
                scene.add(Label(x + side / 2, y, str(each + self.first), "caption", ink, 0.5))
                called = f"layer {each + self.first}"
                spoken = f"{called.capitalize()}, one of {count}" + (", open" if chosen else "")
                name = f"layer {stack.title} {each}"
                scene.regions.append(Region(name, (x, y - side / 2, side, side), spoken, f"Open {called}", 5))
                x += side + 2
            scene.add(Label(x + 5, y, f"× {count}", "strong", "ink"))
            x += 5 + measure(f"× {count}", "strong")
        if x + 8 + measure(total, "caption") <= right:
            scene.add(Label(right, y, total, "caption", "muted", 1))

    def _draw_part(self, part: "Part", residual: bool) -> None:
        scene, (left, width) = self.scene, self.block
        maps = self.data.maps
        height = measure_card(part.block, width, self.measure, maps)
        self.y -= height
        top = self.y
        draw_card(scene, (left, top), width, part.block, self.measure, maps, self.data.limit, self.data.off)
        edge = left + width if self.mirrored else left
        tap, back = top + height - 13, top + 16
        if residual:
            scene.add(Stroke(((edge, back), (self.stream + (-9 if self.mirrored else 9), back)), arrow=True))
            scene.add(Sign(self.stream, back, "plus", "muted", 17))
        else:
            scene.add(Stroke(((edge, back), (self.stream, back))))
        ink = "hatch"
        if part.block.name.endswith("cross-attention"):
            self.asks.append((left, left + width, top + height / 2))
            ink = "query"
        scene.add(Stroke(((self.stream, tap), (edge, tap)), ink, arrow=True))
        between = (self.stream + edge) / 2
        if part.norm is not None and self.norm == "before":
            draw_norm(scene, (between, tap), part.norm)
            self._count(part.norm.total, tap + 18, between)
        elif part.block.name.endswith("cross-attention"):
            scene.add(Sign(between, tap, "Q", "query", 16))
        self.y -= 14
        if part.norm is not None and self.norm == "after":
            draw_norm(scene, (self.stream, self.y - NORM[1] / 2 + 4), part.norm)
            self._count(part.norm.total, self.y - NORM[1] / 2 + 4)
            self.y -= NORM[1] + 4

    def _count(self, total: int, y: float, x: float | None = None) -> None:
        """Write the parameters of a norm beside it, or centred at x."""
        if x is not None:
            self.scene.add(Label(x, y, f"{total:,}", "caption", "muted", 0.5))
            return
        away = NORM[0] / 2 + 6
        at, across = (self.stream - away, 1.0) if self.mirrored else (self.stream + away, 0.0)
        self.scene.add(Label(at, y, f"{total:,}", "caption", "muted", across))


def _choose_numbers(count: int, chosen: int, most: int) -> range:
    """Return the layers whose numbers are shown: all, or as many as there is room for, around the chosen one."""
    most = max(1, min(most, count))
    first = min(max(chosen - most // 2, 0), count - most)
    return range(first, first + most)
