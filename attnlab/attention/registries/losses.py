"""The losses from which the backward pass of a layer starts: a wanted weight, a wanted output, a wanted class."""

from attnlab.attention.layer import Layer, LayerConfig
from attnlab.attention.registries.entries import Feature, Option, Table
from attnlab.attention.registries.normalizers import NORMALIZERS

NONE, WEIGHT, OUTPUT, CLASS = "none", "weight", "output", "class"
LOSSES = (
    (NONE, "none", "No loss, and no gradients"),
    (WEIGHT, "one weight", "The square of the distance of one weight from what it should be"),
    (OUTPUT, "the output", "The mean of the squared distances of the output from what it should be"),
    (CLASS, "a class", "Cross-entropy: the output of one token is read out as a class"),
)
LOSS = Option(
    "loss", "Loss", "What the numbers should achieve; gradients start from it", "choice", NONE, choices=LOSSES
)
MOST_CLASSES = 64


def is_on(config: LayerConfig) -> bool:
    """Return whether there is a loss."""
    return bool(config.option("loss") != NONE)


def find_pair(e: Layer) -> tuple[int, int, int]:
    """Return the head, query and key that the loss is about; the last ones if the layer has fewer."""
    option = e.config.option
    sizes = ((option("loss_head"), e.n_heads), (option("loss_query"), e.T_q), (option("loss_key"), e.T_k))
    head, query, key = (min(index, size - 1) for index, size in sizes)
    return head, query, key


def find_reason_against_wanted(e: Layer) -> str:
    """Return one sentence on why no numbers give the weight that the loss wants; "" if some may."""
    normalizer, wanted = NORMALIZERS[e.config.normalizer], e.config.option("loss_wanted")
    if e.config.option("loss") != WEIGHT or normalizer.kind == "signed" or 0 <= wanted <= 1:
        return ""
    told = f"{wanted:g}".replace("-", "−")
    return f"The wanted weight of the loss is {told}; weights of “{normalizer.title}” lie between 0 and 1."


def find_class(e: Layer) -> int:
    """Return the wanted class; the last one if there are fewer."""
    return int(min(e.config.option("loss_class"), e.config.option("loss_classes") - 1))


def _make_index(name: str, title: str, about: str) -> Option:
    return Option(name, title, about, "whole", 0, 0, 2**31 - 1)


LOSS_FEATURES = (
    Feature(
        name="loss",
        title="Loss",
        about="A loss, from which gradients flow back to every number",
        group="loss",
        options=(
            LOSS,
            _make_index("loss_head", "Head", "The head of the wanted weight"),
            _make_index("loss_query", "Token", "The token of the wanted weight or class"),
            _make_index("loss_key", "Looks at", "The key of the wanted weight"),
            Option("loss_wanted", "Wanted", "What the weight should be", "number", 1.0, -1e6, 1e6),
            _make_index("loss_class", "Class", "The wanted class"),
            Option("loss_classes", "Classes", "The number of classes", "whole", 3, 2, MOST_CLASSES),
        ),
        on=is_on,
    ),
    Feature(
        name="wanted_output",
        title="Wanted output",
        about="What the output of each token should be",
        group="loss",
        options=(LOSS,),
        tables=(Table("Y", "The wanted output of each token", ("query", "d_out"), "zeros"),),
        on=lambda config: bool(config.option("loss") == OUTPUT),
    ),
    Feature(
        name="read_out",
        title="Read-out",
        about="Turns the output of a token into a score for each class",
        group="loss",
        options=(LOSS,),
        tables=(Table("W_read", "From an output to the score of each class", ("d_out", "class")),),
        on=lambda config: bool(config.option("loss") == CLASS),
    ),
)
