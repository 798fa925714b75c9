"""Optional features of a layer besides score, normaliser, masks and positions, each switched on by its options."""

from attnlab.attention.layer import Layer
from attnlab.attention.registries.entries import Feature, Option, Table
from attnlab.attention.registries.losses import LOSS_FEATURES
from attnlab.attention.registries.normalizers import NORMALIZERS

FILLS = (
    (
        "-inf",
        "−∞",
        "Scores of masked pairs become −∞, so their weights are exactly 0: rows of softmax still sum to 1, but fully "
        "masked rows to 0",
    ),
    (
        "-1e9",
        "−1e9",
        "A large negative number instead of −∞: rows sum to 1, even a fully masked one, which attends to all evenly",
    ),
    (
        "0",
        "0 (a mistake)",
        "Scores of masked pairs become 0, which softmax gives a weight: the classic mistake, hard to notice because "
        "rows still sum to 1",
    ),
    (
        "after",
        "after (a mistake)",
        "Weights of masked pairs become 0 after softmax and rows are not normalised again: they sum to less than 1",
    ),
)


def _sink_check(e: Layer) -> str:
    normalizer = NORMALIZERS[e.config.normalizer]
    if normalizer.competes:
        return ""
    fitting = ", ".join(n.name for n in NORMALIZERS.values() if n.competes)
    return (
        f"sink is on and normalizer is {normalizer.name!r}, whose keys do not compete for weight; "
        f"it needs one of {fitting}, or sink off."
    )


FEATURES = {
    feature.name: feature
    for feature in (
        Feature(
            name="fill",
            title="Fill",
            about="The number that a masked score gets",
            group="masks",
            options=(
                Option("fill", "Masked scores", "The number that a masked score gets", "choice", "-inf", choices=FILLS),
            ),
            on=lambda config: True,
        ),
        Feature(
            name="dropout",
            title="Dropout",
            about="Weights set to 0 at random in training, the rest scaled up (Srivastava et al. 2014)",
            group="normalizer",
            options=(
                Option(
                    "dropout",
                    "Dropout",
                    "The probability p that a weight is set to 0; the others are divided by "
                    "1 − p, so rows keep their sum only on average",
                    "number",
                    default=0.0,
                    least=0,
                    most=0.99,
                ),
                Option("dropout_seed", "Seed", "Decides which weights drop", "whole", 0, 0, 2**31 - 1, under="dropout"),
                Option(
                    "training",
                    "Training",
                    "Dropout is active only in training; off means evaluation, without dropout",
                    "switch",
                    default=True,
                    under="dropout",
                ),
            ),
            on=lambda config: bool(config.option("dropout") > 0 and config.option("training")),
        ),
        Feature(
            name="sink",
            title="Sink",
            about="An extra logit per head takes part of every row’s weight and has no value",
            convention="The sink is a learned logit of each head, as in gpt-oss; at 0 it is softmax-off-by-one.",
            group="heads",
            options=(
                Option(
                    "sink",
                    "Attention sink",
                    "A learned logit per head, as in gpt-oss, that takes part of every row’s weight and has no value; "
                    "at 0 it is softmax-off-by-one",
                    "switch",
                    default=False,
                ),
            ),
            tables=(Table("sinks", "The logit of each head’s sink", ("head",), "zeros", "attention"),),
            check=_sink_check,
            on=lambda config: bool(config.option("sink")),
        ),
        Feature(
            name="soft_cap",
            title="Soft cap",
            about="Scores are squeezed into −c to c: c · tanh(s ÷ c) (Gemma 2, 2024)",
            group="heads",
            options=(
                Option(
                    "soft_cap",
                    "Soft cap",
                    "Scores are squeezed into −c to c by c · tanh(s ÷ c); 0 is off",
                    "number",
                    default=0.0,
                    least=0.0,
                    most=1e6,
                ),
            ),
            on=lambda config: bool(config.option("soft_cap") > 0),
        ),
        *LOSS_FEATURES,
    )
}
