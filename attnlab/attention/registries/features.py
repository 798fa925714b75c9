"""What a layer may have besides a score, a normaliser, masks and positions: on when an option of it says so."""

from collections.abc import Callable
from dataclasses import dataclass

from attnlab.attention.layer import Layer, LayerConfig
from attnlab.attention.registries.entries import Entry, Option, Table
from attnlab.attention.registries.normalizers import NORMALIZERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature(Entry):
    """One feature; ``group`` is the switch it belongs to: normalizer, masks, heads. ``on(config)`` says if it acts."""

    group: str
    on: Callable[[LayerConfig], bool]


FILLS = (
    (
        "-inf",
        "−∞",
        "Scores of masked pairs become −∞, so that their weights are exactly 0: rows of softmax still sum to 1, and a "
        "row with nothing left to 0",
    ),
    (
        "-1e9",
        "−1e9",
        "A large negative number instead of −∞: rows sum to 1, even one with nothing left, which attends to all evenly",
    ),
    (
        "0",
        "0 (a mistake)",
        "Scores of masked pairs become 0, which softmax gives a weight: the classic mistake, which "
        "rows that sum to 1 do not tell",
    ),
    (
        "after",
        "after (a mistake)",
        "Weights of masked pairs become 0 after softmax: rows sum to what the others had, less than 1",
    ),
)


def _sink_check(e: Layer) -> str:
    normalizer = NORMALIZERS[e.config.normalizer]
    if normalizer.competes:
        return ""
    fitting = ", ".join(n.name for n in NORMALIZERS.values() if n.competes)
    return (
        f"sink is on and normalizer is {normalizer.name!r}, whose keys share no whole that a sink could take from; "
        f"it needs one of {fitting}, or sink off."
    )


FEATURES = {
    feature.name: feature
    for feature in (
        Feature(
            name="fill",
            title="Fill",
            about="What masked scores become",
            group="masks",
            options=(Option("fill", "Masked scores", "What masked scores become", "choice", "-inf", choices=FILLS),),
            on=lambda config: True,
        ),
        Feature(
            name="dropout",
            title="Dropout",
            about="Weights set to 0 at random in training, the rest raised in proportion (Srivastava et al. 2014)",
            group="normalizer",
            options=(
                Option("dropout", "Dropout", "The share of the weights that is set to 0 at random; the others are "
                       "divided by what is left, so that rows keep their sum on average only", "number", 0.0, 0, 0.99),
                Option("dropout_seed", "Seed", "Which weights are dropped", "whole", 0, 0, 2**31 - 1, under="dropout"),
                Option("training", "Training", "Dropout acts in training only; off is evaluation, where nothing is "
                       "dropped", "switch", True, under="dropout"),
            ),
            on=lambda config: bool(config.option("dropout") > 0 and config.option("training")),
        ),
        Feature(
            name="sink",
            title="Sink",
            about="One more logit for each head takes a share of every row and passes nothing on (Xiao et al. 2024)",
            group="heads",
            options=(Option("sink", "Attention sink", "A learned logit for each head that takes a share of every row "
                            "and passes nothing on", "switch", False),),
            tables=(Table("sinks", "The logit of each head's sink", ("head",), "zeros", "attention"),),
            check=_sink_check,
            on=lambda config: bool(config.option("sink")),
        ),
        Feature(
            name="soft_cap",
            title="Soft cap",
            about="Scores are squeezed into −c to c: c · tanh(s ÷ c) (Gemma 2, 2024)",
            group="heads",
            options=(Option("soft_cap", "Soft cap", "Scores are squeezed into −c to c by c · tanh(s ÷ c); 0 is off",
                            "number", 0.0, 0.0, 1e6),),
            on=lambda config: bool(config.option("soft_cap") > 0),
        ),
    )
}  # fmt: skip
