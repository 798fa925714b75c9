"""What a head does: its pattern scores beside the median of all heads, and the strongest of them in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attnlab.base.counted import format_percent
from attnlab.ui.models.model_card import ModelCard
from attnlab.ui.widgets.charts.meter_list import Meter, MeterList
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label

if TYPE_CHECKING:
    from attnlab.pretrained.patterns import HeadPatterns

SCORES = {
    "column": ("one column", "The largest share that one key has of the average query"),
    "previous": ("previous", "The share of the token before (Clark et al. 2019)"),
    "itself": ("itself", "The share of the query’s own token (Clark et al. 2019)"),
    "next": ("next", "The share of the token after (Clark et al. 2019)"),
    "first": ("first token", "The share of the first token, a sink in many models (Xiao et al. 2024)"),
    "separators": ("separators", "The share of special tokens and punctuation, without the first (Clark et al. 2019)"),
    "duplicate": ("duplicates", "The share of other positions with the query’s token (Wang et al. 2023)"),
    "induction": (
        "induction",
        "The share of tokens that followed the query’s token before, on random tokens read twice (Olsson et al. 2022)",
    ),
}
"""The shares by their names in the table, with a title and the formula."""
SENTENCES = {
    "previous": "Each token looks at the one before it: {share} of the weight.",
    "itself": "Each token looks at itself: {share} of the weight.",
    "next": "Each token looks at the one after it: {share} of the weight.",
    "first": "The first token takes {share} of the weight: a sink.",
    "separators": "Separators and punctuation take {share} of the weight.",
    "duplicate": "Repeated tokens look at their other occurrences: {share} of their weight.",
    "induction": "An induction head: on repeated random tokens, {share} of the weight is on what followed before.",
    "column": "A column: “{token}” takes {share} of the average row.",
}
CLEAR = 0.3
"""A share from which a pattern is said in words."""


def find_pattern(row: "HeadPatterns") -> str:
    """Return the strongest pattern of a head; the column only if no position explains it, "" if none is clear or the
    weights contain NaN.
    """
    if np.isnan(row.column):
        return ""
    shares = {name: getattr(row, name) for name in SENTENCES if not np.isnan(getattr(row, name))}
    positions = {name: share for name, share in shares.items() if name != "column"}
    best = max(positions, key=lambda name: positions[name])
    if positions[best] < max(CLEAR, 0.8 * shares["column"]):
        best = "column" if shares["column"] >= CLEAR else best
    return best if shares[best] >= CLEAR else ""


def describe_head(row: "HeadPatterns", tokens: Sequence[str]) -> str:
    """Return the pattern of a head in words."""
    if np.isnan(row.column):
        return "Its weights contain NaN: numbers of the model overflow on this input."
    if not (pattern := find_pattern(row)):
        return f"No single pattern: its weight is spread over {np.exp(row.entropy):.1f} tokens."
    token = tokens[row.strongest].strip() if row.strongest < len(tokens) else str(row.strongest)
    return SENTENCES[pattern].format(share=format_percent(getattr(row, pattern), 0), token=token)


class PatternsCard(ModelCard):
    """Shows the scores of one head."""

    def __init__(self) -> None:
        super().__init__("What it does")
        self.sentence = make_wrapped_label("")
        self.sentence.setAccessibleName("What the head does")
        self.meters = MeterList("Pattern scores", most=len(SCORES) + 1)
        self.numbers = make_wrapped_label("caption")
        for widget in (self.sentence, self.meters, self.numbers):
            self.column.addWidget(widget)
        self.column.addStretch(1)

    def show_head(
        self,
        rows: "Sequence[HeadPatterns]",
        layer: int,
        head: int,
        tokens: Sequence[str],
        on_words: float | None = None,
    ) -> None:
        """Show a head of all; nothing without scores. ``on_words`` is the share of its weight on words."""
        row = next((each for each in rows if (each.layer, each.head) == (layer, head)), None)
        self.about.setText(f"L{layer} H{head}")
        for widget in (self.meters, self.numbers):
            widget.setVisible(row is not None)
        if row is None:
            self.sentence.setText("Queries and keys are different texts here; patterns compare a text with itself.")
            return
        self.sentence.setText(describe_head(row, tokens))
        names = [name for name in SCORES if not np.isnan(getattr(row, name))]  # a capture has no induction
        pattern = find_pattern(row)  # the one of the sentence
        meters = [self._make(row, rows, name, name == pattern) for name in names]
        self.meters.show_meters([*meters, *_make_entropy(row, rows, len(tokens))])
        share = "" if on_words is None else f" {format_percent(on_words, 0)} of the weight is on words."
        self.numbers.setText(
            f"Ticks: median of all heads. Spread over {np.exp(row.entropy):.1f} of {len(tokens)} tokens, "
            f"{row.distance:.1f} away on average.{share}"
        )

    @staticmethod
    def _make(row: "HeadPatterns", rows: "Sequence[HeadPatterns]", name: str, strong: bool) -> Meter:
        value, median = getattr(row, name), float(np.median([getattr(each, name) for each in rows]))
        title, tip = SCORES[name]
        tip = tip if name == "induction" else f"{tip}.\nMeasured on this input"
        spoken = f"{value:.4f}, median of all heads {median:.4f}"
        return Meter(title, value, f"{value:.2f}", median, strong, spoken, tip)


def _make_entropy(row: "HeadPatterns", rows: "Sequence[HeadPatterns]", tokens: int) -> list[Meter]:
    """Return the row of the entropy as a share of ln T; none for a single token."""
    if tokens < 2:
        return []
    share, median = row.entropy / np.log(tokens), float(np.median([each.entropy for each in rows])) / np.log(tokens)
    tip = "−Σ a ln a, mean over queries, as a share of ln T: 0 for one key, 1 for T equal weights (Clark et al. 2019)"
    spoken = f"{row.entropy:.4f} nats, {share:.4f} of ln T, median of all heads {median:.4f}"
    return [Meter("entropy", share, f"{share:.2f}", median, spoken=spoken, tip=tip)]
