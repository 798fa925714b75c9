"""The computation of the stages that make attention a whole block: residuals, norms and the feed-forward."""

from typing import TYPE_CHECKING

from torch import Tensor

from attnlab.attention.products import affine
from attnlab.attention.registries import registry
from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS, activate, normalize
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.presence import NORMED

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


def _source(t: Computed, name: str, place: int = 0) -> Tensor:
    return t[t.sources(name)[place]]


def find_place(block: str, name: str) -> int:
    """Return which norm of a block a stage is, 1 or 2: the first is that of attention, the second of the feed-forward.

    The residual is normalised after attention, or before the feed-forward.
    """
    return NORMED[block].index(name) + 1


def find_norm_tables(e: "Experiment", name: str) -> tuple[str, ...]:
    """Return the names of the tables that a normalised stage of a block is computed with; none for other stages."""
    if name not in NORMED.get(e.config.block, ()):
        return ()
    place, norm = find_place(e.config.block, name), BLOCK_NORMS[e.config.block_norm]
    return tuple(table.name for table in norm.tables if table.name.endswith(f"_{place}"))


def _take_table(t: Computed, name: str) -> Tensor | None:
    table = t.experiment.weights.extra.get(name)
    return None if table is None else t.take(table)


def _normalize(t: Computed, name: str) -> Tensor:
    config = t.experiment.config
    norm, place = BLOCK_NORMS[config.block_norm], find_place(config.block, name)
    x = _source(t, name)
    gain = _take_table(t, f"gamma_{place}")
    assert gain is not None
    wide = normalize(x, norm.is_centred, config.option("norm_eps")) * gain
    if norm.is_centred:
        shift = _take_table(t, f"beta_{place}")
        assert shift is not None
        wide = wide + shift
    return wide.to(x.dtype)


def normed_inputs(t: Computed) -> Tensor:
    """Return the inputs normalised, which attention reads if norms come before, [T_q, d_model]."""
    return _normalize(t, "normed_inputs")


def residual(t: Computed) -> Tensor:
    """Return the inputs plus the output of attention, [T_q, d_model]."""
    return t["inputs"] + t["output"]


def normed_residual(t: Computed) -> Tensor:
    """Return the residual normalised, [T_q, d_model]."""
    return _normalize(t, "normed_residual")


def _map(t: Computed, name: str, matrix: str, bias: str) -> Tensor:
    weight = _take_table(t, matrix)
    assert weight is not None
    return affine(
        _source(t, name), weight, _take_table(t, bias) if bias in registry.tables(t.experiment.config) else None
    )


def gates(t: Computed) -> Tensor:
    """Return the gate of each hidden number before its activation, [T_q, d_ff]."""
    return _map(t, "gates", "W_gate", "")


def hidden(t: Computed) -> Tensor:
    """Return the hidden numbers of the feed-forward, [T_q, d_ff]."""
    return _map(t, "hidden", "W_1", "b_1")


def activated(t: Computed) -> Tensor:
    """Return the activation of the hidden numbers, or of their gates times the hidden numbers, [T_q, d_ff]."""
    feed_forward = FEED_FORWARDS[t.experiment.config.feed_forward]
    made = activate(feed_forward, _source(t, "activated"))
    return made * t["hidden"] if feed_forward.is_gated else made


def feed_forward(t: Computed) -> Tensor:
    """Return what the feed-forward adds to each token, [T_q, d_model]."""
    return _map(t, "feed_forward", "W_2", "b_2")


def second_residual(t: Computed) -> Tensor:
    """Return the residual stream plus the feed-forward, [T_q, d_model]."""
    return _source(t, "second_residual") + t["feed_forward"]


def normed_second_residual(t: Computed) -> Tensor:
    """Return the second residual normalised, [T_q, d_model]."""
    return _normalize(t, "normed_second_residual")
