"""The words and bars of a residual stream: a column for each place, with a line for each layer, and the parts."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnlab.base.spoken_text import speak_token
from attnlab.ui.train.answer_words import Bar, Column, format_share, show_sign

if TYPE_CHECKING:
    from attnlab.training.stream_view import Stream, StreamPart


@dataclass(frozen=True, slots=True)
class LensColumn(Column):
    """One place: a bar for each stage, labelled with the likeliest token there; ``stages`` are their names."""

    stages: tuple[str, ...]

    @property
    def spoken(self) -> str:
        """The place in words, for screen readers."""
        said = ", ".join(
            f"{name} {speak_token(bar.label)}, {bar.text}" for name, bar in zip(self.stages, self.bars, strict=True)
        )
        return f"position {self.place.index}, reads {speak_token(self.read)}, of {speak_token(self.wanted)}: {said}"

    @property
    def tip(self) -> str:
        """The tool tip: for each stage the likeliest token, and the probability of the one asked about."""
        lines = [f"reads {self.read} → {self.wanted}"]
        for name, bar in zip(self.stages, self.bars, strict=True):
            lines.append(f"{name}: {bar.label}; probability of {self.wanted}: {bar.share:.4f}")
        return "\n".join(lines)


def name_stages(stream: "Stream") -> tuple[str, ...]:
    """Return the names of the stages, from the first: "embedding", "after decoder 1"."""
    return tuple(f"after {stage.name}" if at else stage.name for at, stage in enumerate(stream.stages))


def make_lens_columns(stream: "Stream") -> tuple[LensColumn, ...]:
    """Return a column for each place of a stream."""
    names, last = name_stages(stream), stream.stages[-1].places if stream.stages else ()
    columns = []
    for at, (place, token) in enumerate(zip(last, stream.tokens, strict=True)):
        bars = []
        for stage in stream.stages:
            likeliest, chance = stage.places[at].likeliest[0][0], stage.chances[at]
            share = chance if math.isfinite(chance) else 0.0
            bars.append(Bar(show_sign(likeliest), format_share(chance), share, "good" if likeliest == token else ""))
        columns.append(
            LensColumn(show_sign(place.read), show_sign(token), place.right, tuple(bars), bars[-1].label, place, names)
        )
    return tuple(columns)


def name_part(part: "StreamPart") -> str:
    """Return the name of a part: "decoder 2 · head 1"."""
    return f"{part.layer} · {part.name}" if part.layer else part.name


def describe_place(stream: "Stream", at: int) -> str:
    """Return one sentence about the sum of what all parts add at a place."""
    place, token = stream.stages[-1].places[at], show_sign(stream.tokens[at])
    kind = "the right answer" if place.wanted else "the model’s own answer, as no right one is known"
    total = f"{stream.logits[at]:.2f}".replace("-", "−")
    return f"At {show_sign(place.read)}, the logit of {token}, {kind}, is {total}: the sum of these parts"
