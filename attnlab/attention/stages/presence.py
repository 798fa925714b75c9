"""The optional stages of a configuration, and the sources that each stage is computed from."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.attention.registries.blocks import FEED_FORWARDS
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.positions import POSITIONS

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


def has_stage(e: "Experiment", name: str) -> bool:
    """Return whether a configuration has a stage."""
    return name not in OPTIONAL or OPTIONAL[name](e)


def source(e: "Experiment", name: str, place: int = 0) -> str:
    """Return the name of a source of a stage in this configuration; ``place`` is the index of the source."""
    if name == "second_residual" and place == 0 and e.config.block == "before":
        return "residual"  # norms that come before a part are not on the residual stream
    return next(candidate for candidate in SOURCES[name][place] if has_stage(e, candidate))


def sources(e: "Experiment", name: str) -> tuple[str, ...]:
    """Return the names of all sources of a stage in this configuration."""
    return tuple(dict.fromkeys(source(e, name, place) for place in range(len(SOURCES.get(name, ())))))
