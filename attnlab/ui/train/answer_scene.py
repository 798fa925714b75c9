"""The model's answer as a scene, for figures and films: the text by probability, the likeliest tokens, examples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnlab.figures.diagram.scene import Box, Label, Polyline, Scene, Sign, shorten
from attnlab.figures.diagram.scene_painter import measure_label
from attnlab.ui.train.answer_words import (
    Column,
    describe_answer,
    make_columns,
    make_number_columns,
    show_sign,
)
from attnlab.ui.train.coloured_text import DEEPEST, ColouredToken
from attnlab.ui.train.paired_text import HEAD as TEXT_HEAD
from attnlab.ui.train.paired_text import pair_tokens
from attnlab.ui.train.predictions_panel import PredictionRow, describe_rows

if TYPE_CHECKING:
    from attnlab.training.answers import Answer

HEAD, LINE, ROW, GAP = 22.0, 20.0, 17.0, 12.0
"""Heights of a heading, of a line of text and of a candidate, and the space between parts, in units."""
NARROWEST, WIDEST = 92.0, 150.0
"""The widths of a column of candidates."""
_MARK = 12.0


def draw_answer(answer: "Answer", tokens: Sequence[ColouredToken], *, own: bool, step: int, width: float) -> Scene:
    """Return the scene of an answer; ``tokens`` are coloured by probability, () for none."""
    own = own and bool(answer.written)
    scene = Scene(width)
    add_lines(scene, wrap_text(describe_answer(answer, own, step), "text", width), "text", "muted")
    if any(token.is_asked for token in tokens):
        _add_tokens(scene, tokens)
    else:
        places = answer.written if own else answer.places
        _add_columns(scene, make_number_columns(answer.numbers) if answer.numbers else make_columns(places))
    return scene


def draw_examples(rows: Sequence[PredictionRow], width: float) -> Scene:
    """Return the scene of held-out examples: asked, expected and predicted, wrong tokens in red."""
    scene = Scene(width)
    if not rows:
        return scene
    add_heading(scene, "Expected and predicted")
    add_lines(scene, wrap_text(describe_rows(tuple(rows)), "caption", width), "caption", "muted")
    if any(row.is_text for row in rows):
        _add_texts(scene, rows)
    else:
        _add_examples(scene, rows)
    return scene


def _add_texts(scene: Scene, rows: Sequence[PredictionRow]) -> None:
    scene.add(Label(0, scene.height + LINE / 2, TEXT_HEAD))
    scene.height += LINE
    for row in rows:
        for pair in pair_tokens(row.source, row.pairs, scene.width, lambda text: measure_label(text, "text")):
            scene.add(Label(pair.x, scene.height + LINE / 2, pair.above, "text"))
            scene.add(Label(pair.x, scene.height + LINE * 1.5, pair.below, "text", "bad" if pair.wrong else "ink"))
        scene.height += 2 * LINE + GAP / 2


def _add_examples(scene: Scene, rows: Sequence[PredictionRow]) -> None:
    across = scene.width / 3
    for place, head in enumerate(("asked", "expected", "predicted")):
        scene.add(Label(place * across, scene.height + LINE / 2, head))
    scene.height += LINE
    for row in rows:
        for place, tokens in enumerate((row.source, row.expected, row.predicted)):
            x, end = place * across, (place + 1) * across - GAP
            for at, token in enumerate(tokens):
                text = show_sign(token)
                wide = measure_label(text, "text")
                if x + wide > end:
                    scene.add(Label(x, scene.height + LINE / 2, "…", "text"))
                    break
                wrong = place == 2 and row.exact and at < len(row.expected) and token != row.expected[at]
                ink = "bad" if wrong else "ink" if place == 2 else "muted"
                scene.add(Label(x, scene.height + LINE / 2, text, "text", ink))
                x += wide + 4.0
        scene.height += LINE


def draw_text(heading: str, text: str, width: float) -> Scene:
    """Return the scene of a text below its heading; line breaks are kept."""
    scene = Scene(width)
    add_heading(scene, heading)
    for paragraph in text.splitlines() or [""]:
        add_lines(scene, wrap_text(paragraph, "text", width), "text", "ink")
    return scene


def wrap_text(text: str, face: str, width: float) -> list[str]:
    """Return a text in lines of a width, broken between words, or within a word that is too wide."""
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if measure_label(longer, face) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while measure_label(line, face) > width and len(line) > 1:
            fits = next((n for n in range(len(line) - 1, 1, -1) if measure_label(line[:n], face) <= width), 1)
            lines.append(line[:fits])
            line = line[fits:]
    return [*lines, line]


def add_heading(scene: Scene, text: str) -> None:
    """Add a heading below what the scene has."""
    scene.add(Label(0, scene.height + HEAD / 2, text.upper(), "section"))
    scene.height += HEAD


def add_lines(scene: Scene, lines: Sequence[str], face: str, ink: str) -> None:
    """Add lines of text below what the scene has."""
    for line in lines:
        scene.add(Label(0, scene.height + LINE / 2, line, face, ink))
        scene.height += LINE


def _add_tokens(scene: Scene, tokens: Sequence[ColouredToken]) -> None:
    """Add a text in lines, each token on its probability, underlined where another was likelier."""
    x, y = 0.0, scene.height + 2
    for each in tokens:
        text = show_sign(each.token)
        wide = measure_label(text, "text") + 4
        if x and x + wide > scene.width:
            x, y = 0.0, y + LINE
        if each.is_asked:
            scene.add(
                Box((x + 0.5, y + 1, wide - 1, LINE - 2), f"good:{100 * DEEPEST * each.probability:.2f}", radius=3)
            )
        if each.likelier:
            scene.add(Polyline(((x + 2, y + LINE - 2), (x + wide - 2, y + LINE - 2)), "bad", 1.5))
        scene.add(Label(x + 2, y + LINE / 2, text, "text", "ink" if each.is_asked else "muted"))
        x += wide
    scene.height = y + LINE + 4


def _add_columns(scene: Scene, columns: Sequence[Column]) -> None:
    """Add the candidates of each place, in as many rows of columns as the width requires."""
    most = max(int(scene.width / NARROWEST), 1)
    rows = [columns[start : start + most] for start in range(0, len(columns), most)]
    wide = min(scene.width / max(min(len(columns), most), 1), WIDEST)
    for row in rows:
        for place, column in enumerate(row):
            add_column(scene, column, place * wide, wide - GAP, first=place == 0)
        scene.height += HEAD + ROW * max(len(column.bars) for column in row) + 8


def add_column(scene: Scene, column: Column, x: float, wide: float, *, first: bool) -> None:
    """Add the candidates of one place below what the scene has, ``wide`` units from ``x``; its height stays."""
    top = scene.height
    if not first:
        scene.add(
            Polyline(((x - GAP / 2, top + 3), (x - GAP / 2, top + HEAD + ROW * len(column.bars))), "hairline", 1.0)
        )
    room = (wide - _MARK) / 2 - 10
    read = shorten(f"{column.read} → " if column.wanted else column.read, "text", room + 20, measure_label)
    scene.add(Label(x, top + HEAD / 2, read, "text"))
    if column.wanted:
        wanted = shorten(column.wanted, "title", room, measure_label)
        scene.add(Label(x + measure_label(read, "text"), top + HEAD / 2, wanted, "title", "ink"))
    if column.right is not None:
        kind, ink = ("tick", "good") if column.right else ("cross", "bad")
        scene.add(Sign(x + wide - _MARK / 2, top + HEAD / 2, kind, ink, _MARK))
    texts = max(measure_label(bar.text, "strong") for bar in column.bars)
    labels = min(max(measure_label(bar.label, "strong") for bar in column.bars), max(wide - texts - 22, 10.0))
    for line, bar in enumerate(column.bars):
        middle, good = top + HEAD + (line + 0.5) * ROW, bar.tone == "good"
        face = "strong" if good else "caption"
        scene.add(Label(x, middle, shorten(bar.label, face, labels, measure_label), face, "ink"))
        scene.add(Label(x + wide, middle, bar.text, face, "ink" if good or bar.share < 0 else "muted", 1.0))
        left, track = x + labels + 5, wide - labels - texts - 10
        if bar.share >= 0 and track > 4:
            scene.add(Box((left, middle - 4, track, 8), "control", radius=2))
            filled = max(min(bar.share, 1.0) * track, 1.0)
            scene.add(Box((left, middle - 4, filled, 8), bar.tone or "muted:65", radius=min(2.0, filled / 2)))
