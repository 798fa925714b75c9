"""The optional stages of a configuration, and the sources that each stage is computed from."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.attention.registries.blocks import FEED_FORWARDS
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.losses import CLASS, NONE, OUTPUT, WEIGHT
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.registry import tables
from attnlab.attention.registries.scores import SCORES

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


def _rotates(e: "Experiment") -> bool:
    return POSITIONS[e.config.positions].rotate is not None


def _norms(e: "Experiment") -> bool:
    return e.config.qk_norm != "none"


def _has_block(e: "Experiment") -> bool:
    return e.config.block != "none"


def _has_feed_forward(e: "Experiment") -> bool:
    return e.config.block != "none" and e.config.feed_forward != "none"


def _norms_residual(e: "Experiment") -> bool:
    read = e.config.block == "after" or e.config.feed_forward != "none"
    return e.config.block != "none" and e.config.block_norm != "none" and read


OPTIONAL: dict[str, Callable[["Experiment"], bool]] = {
    "memory": lambda e: e.memory_embeddings is not None,
    "normed_queries": _norms,
    "normed_keys": _norms,
    "rotated_queries": _rotates,
    "rotated_keys": _rotates,
    "scaled": lambda e: e.config.scale != "none",
    "biased": lambda e: POSITIONS[e.config.positions].bias is not None,
    "capped": lambda e: FEATURES["soft_cap"].on(e.config),
    "masked": lambda e: e.masked and e.config.option("fill") != "after",
    "zeroed": lambda e: e.masked and e.config.option("fill") == "after",
    "dropped": lambda e: FEATURES["dropout"].on(e.config),
    "merged": lambda e: e.n_heads > 1 and e.weights.W_o is not None,
    "normed_inputs": lambda e: e.config.block == "before" and e.config.block_norm != "none",
    "residual": _has_block,
    "normed_residual": _norms_residual,
    "gates": lambda e: _has_feed_forward(e) and FEED_FORWARDS[e.config.feed_forward].is_gated,
    "hidden": _has_feed_forward,
    "activated": _has_feed_forward,
    "feed_forward": _has_feed_forward,
    "second_residual": _has_feed_forward,
    "normed_second_residual": lambda e: (
        e.config.block == "after" and e.config.block_norm != "none" and e.config.feed_forward != "none"
    ),
}

SOURCES: dict[str, tuple[tuple[str, ...], ...]] = {
    "normed_inputs": (("inputs",),),
    "queries": (("normed_inputs", "inputs"),),
    "keys": (("memory", "normed_inputs", "inputs"),),
    "values": (("memory", "normed_inputs", "inputs"),),
    "normed_queries": (("queries",),),
    "normed_keys": (("keys",),),
    "rotated_queries": (("normed_queries", "queries"),),
    "rotated_keys": (("normed_keys", "keys"),),
    "scores": (("rotated_queries", "normed_queries", "queries"), ("rotated_keys", "normed_keys", "keys")),
    "scaled": (("scores",),),
    "biased": (("scaled", "scores"),),
    "capped": (("biased", "scaled", "scores"),),
    "masked": (("capped", "biased", "scaled", "scores"),),
    "weights": (("masked", "capped", "biased", "scaled", "scores"),),
    "zeroed": (("weights",),),
    "dropped": (("zeroed", "weights"),),
    "context": (("dropped", "zeroed", "weights"), ("values",)),
    "merged": (("context",),),
    "output": (("merged", "context"),),
    "residual": (("inputs",), ("output",)),
    "normed_residual": (("residual",),),
    "gates": (("normed_residual", "residual"),),
    "hidden": (("normed_residual", "residual"),),
    "activated": (("gates", "hidden"), ("hidden",)),
    "feed_forward": (("activated",),),
    "second_residual": (("normed_residual", "residual"), ("feed_forward",)),
    "normed_second_residual": (("second_residual",),),
}
"""The sources of each stage; each source is the first of its candidates that the configuration has."""


CHAINS = (
    ("scores", "scaled", "biased", "capped", "masked", "weights", "zeroed", "dropped"),
    ("queries", "normed_queries", "rotated_queries"),
    ("keys", "normed_keys", "rotated_keys"),
)
"""The stages through which the gradient flows back one at a time, each in the order of the computation."""
_ENDS = ("context", "scores", "scores")
"""The stages that are computed from the last of each chain."""
BLOCK = (
    "residual", "normed_residual", "gates", "hidden", "activated", "feed_forward", "second_residual",
    "normed_second_residual",
)  # fmt: skip
"""The stages of a block after attention, in the order of the computation."""
NORMED = {"before": ("normed_inputs", "normed_residual"), "after": ("normed_residual", "normed_second_residual")}
"""The stages that the first and the second norm of each kind of block give."""
_PROJECTED = {"W_q": "queries", "W_k": "keys", "W_v": "values"}
BIASES = {"b_q": "d_queries", "b_k": "d_keys", "b_v": "d_values", "b_o": "d_output"}
"""The biases, and the gradient that is added up to that of each."""
SCORE_TABLES = tuple(table for score in SCORES.values() for table in score.tables)
GAINS = tuple((table, place) for norm in NORMS.values() for place, table in enumerate(norm.tables))
"""The gains of queries (place 0) and keys (1)."""
_OTHER_PARAMETERS = {
    "sinks": ("weights", "d_weights"),
    "B": ("d_biased",),
    "W_2": ("activated", "d_feed_forward"),
    "b_2": ("d_feed_forward",),
    "b_1": ("d_hidden",),
}
_FROM_RESIDUAL = {"W_gate": "gates", "W_1": "hidden"}
NORM_TABLES = ("gamma_1", "beta_1", "gamma_2", "beta_2")
_OF_SCORES, _OF_NORMS = (each.name for each in SCORE_TABLES), (each.name for each, _ in GAINS)
PARAMETERS = (
    *BIASES, *_OF_SCORES, *_OF_NORMS, "sinks", "B", "W_read", "W_gate", "W_1", "b_1", "W_2", "b_2", *NORM_TABLES, "P",
)  # fmt: skip
"""The biases and tables of entries that have a gradient."""
_FROM_OUTPUT = ("output", "context", "values", "zeroed", "dropped", "W_v", "W_o", *BLOCK)
"""What a loss of one weight does not reach; the weights after masking or dropout are not what it is about."""


def is_gradient(name: str) -> bool:
    """Return whether a stage holds a gradient: of the loss, or of a weight in the Jacobian."""
    return name == "jacobian" or name.startswith("d_")


LAST = ("normed_second_residual", "second_residual", "normed_residual", "residual", "output")
"""The stages that may leave a layer: the first of these that it has does."""


def find_last(e: "Experiment") -> str:
    """Return the name of the stage that leaves the layer, which the one above in a stack reads."""
    return next(name for name in LAST if has_stage(e, name))


def has_stage(e: "Experiment", name: str) -> bool:
    """Return whether a configuration has a stage."""
    if name in ("readout", "loss") or is_gradient(name):
        return _has_backward_stage(e, name)
    return name not in OPTIONAL or OPTIONAL[name](e)


def _has_backward_stage(e: "Experiment", name: str) -> bool:
    kind, of = e.config.option("loss"), name.removeprefix("d_")
    if kind == NONE or name == "readout":
        return bool(kind == CLASS)
    if name in ("loss", "jacobian"):
        return True
    if of in PARAMETERS:
        has = getattr(e.weights, of) is not None if of in BIASES else of in tables(e.config)
        has = has and (of not in NORM_TABLES or has_stage(e, find_normed(e, of)))
        return has and all(has_stage(e, each) for each in _find_parameter_sources(e, of))
    if of in _FROM_OUTPUT and kind == WEIGHT:
        return False
    return getattr(e.weights, of) is not None if of.startswith("W_") else has_stage(e, of)


def find_readers(e: "Experiment", name: str) -> tuple[str, ...]:
    """Return the stages of a block after attention that are computed from a stage, and pass a gradient back to it.

    The sums on the residual stream come first.
    """
    found = [reader for reader in BLOCK if has_stage(e, reader) and name in sources(e, reader)]
    return tuple(sorted(found, key=lambda reader: reader not in ("residual", "second_residual")))


def find_normed(e: "Experiment", table: str) -> str:
    """Return the stage of a block that a table of its norms, such as gamma_2, belongs to."""
    return NORMED[e.config.block][int(table[-1]) - 1]


def _find_lost(e: "Experiment") -> str:
    """Return the stage that the loss is about."""
    return {WEIGHT: "weights", OUTPUT: find_last(e), CLASS: "readout"}[e.config.option("loss")]


def find_consumer(e: "Experiment", name: str) -> str:
    """Return the stage that is computed from a stage of :data:`CHAINS` and passes the gradient back to it."""
    chain, end = next((chain, end) for chain, end in zip(CHAINS, _ENDS, strict=True) if name in chain)
    if name == "weights" and e.config.option("loss") == WEIGHT:
        return "loss"
    return next((other for other in chain[chain.index(name) + 1 :] if has_stage(e, other)), end)


def _find_parameter_sources(e: "Experiment", of: str) -> tuple[str, ...]:
    """Return the stages from which the gradient of a bias or of a table of an entry is computed."""
    if of in BIASES:
        return (BIASES[of],)
    if any(of == each.name for each in SCORE_TABLES):
        return ("d_scores", source(e, "scores"), source(e, "scores", 1))
    for table, place in GAINS:
        if of == table.name:
            name = ("queries", "keys")[place]
            return (name, f"d_normed_{name}")
    if of == "P":
        return ("d_inputs", "d_memory") if e.memory_embeddings is not None else ("d_inputs",)
    if of == "W_read":
        return (find_last(e), "readout")
    if of in _FROM_RESIDUAL:
        return (source(e, _FROM_RESIDUAL[of]), f"d_{_FROM_RESIDUAL[of]}")
    if of in NORM_TABLES:
        normed = find_normed(e, of)
        return (source(e, normed), f"d_{normed}") if of.startswith("gamma") else (f"d_{normed}",)
    return _OTHER_PARAMETERS[of]


def _find_backward_sources(e: "Experiment", name: str) -> tuple[str, ...]:
    """Return the sources of a stage of the backward pass."""
    of, keyed = name.removeprefix("d_"), source(e, "keys")
    if of in PARAMETERS:
        return _find_parameter_sources(e, of)
    if of == "output" or of in BLOCK:
        return tuple(f"d_{reader}" for reader in find_readers(e, of)) or ("loss", _find_lost(e))
    match of:
        case "readout":
            return (find_last(e),)
        case "loss":
            return (_find_lost(e),)
        case "context":
            return ("d_output",)
        case "values":
            return (source(e, "context"), "d_context")
        case "jacobian":
            return ("weights",)
        case "W_q" | "W_k" | "W_v":
            return (source(e, _PROJECTED[of]), f"d_{_PROJECTED[of]}")
        case "W_o":
            return ("merged" if has_stage(e, "merged") else "context", "d_output")
        case "inputs" | "normed_inputs" | "memory":
            flowing: tuple[str, ...] = ("d_residual",) if of == "inputs" else ()
            flowing += ("d_normed_inputs",) if of == "inputs" else ()
            flowing += ("d_queries",) if of == source(e, "queries") else ()
            flowing += ("d_keys", "d_values") if of == keyed else ()
            return tuple(each for each in flowing if has_stage(e, each))
    consumer = find_consumer(e, of)
    if consumer == "weights":
        return ("d_weights", "jacobian")
    if consumer in ("loss", "context"):
        return ("loss",) if consumer == "loss" else ("d_context", "values")
    if consumer == "scores":
        return ("d_scores", source(e, "scores", 1 if of.endswith("queries") else 0))
    return (f"d_{consumer}",)


def source(e: "Experiment", name: str, place: int = 0) -> str:
    """Return the name of a source of a stage in this configuration; ``place`` is the index of the source."""
    if name == "second_residual" and place == 0 and e.config.block == "before":
        return "residual"  # norms that come before a part are not on the residual stream
    if name in SOURCES:
        return next(candidate for candidate in SOURCES[name][place] if has_stage(e, candidate))
    return sources(e, name)[place]


def sources(e: "Experiment", name: str) -> tuple[str, ...]:
    """Return the names of all sources of a stage in this configuration."""
    if name in SOURCES:
        return tuple(dict.fromkeys(source(e, name, place) for place in range(len(SOURCES[name]))))
    return () if name in ("inputs", "memory") else _find_backward_sources(e, name)
