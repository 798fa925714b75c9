"""The formulas of the stages of a whole block, and the equivalent PyTorch code."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.attention.registries import registry
from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS
from attnlab.attention.stages.evaluate_block import find_place
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.spelling import variable

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

_SYMBOLS = {
    "inputs": "X",
    "output": "O",
    "residual": "R",
    "normed_residual": r"\hat R",
    "gates": "G",
    "hidden": "H",
    "activated": "H'",
    "feed_forward": "F",
    "second_residual": "R_2",
    "normed_second_residual": r"\hat R_2",
    "normed_inputs": r"\hat X",
    "memory": "M",
}


def _x(e: "Experiment", name: str, place: int = 0) -> str:
    return variable(source(e, name, place))


def write_symbol(name: str) -> str:
    """Return the symbol of the inputs, the output or a stage of a block in formulas."""
    return _SYMBOLS[name]


def _symbol(e: "Experiment", name: str, place: int = 0) -> str:
    return _SYMBOLS[source(e, name, place)]


def make_norm_formula(name: str) -> Callable[["Experiment"], str]:
    """Return the formula of a normalised stage."""
    return lambda e: rf"\mathrm{{{BLOCK_NORMS[e.config.block_norm].symbol}}}({_symbol(e, name)})"


def make_norm_code(name: str) -> Callable[["Experiment"], str]:
    """Return the code of a normalised stage."""

    def code(e: "Experiment") -> str:
        norm, place = BLOCK_NORMS[e.config.block_norm], find_place(e.config.block, name)
        y, eps = variable(name), repr(e.config.option("norm_eps"))
        shift = f" + beta_{place}" if norm.is_centred else ""
        return f"{norm.code.format(x=_x(e, name), y=y, eps=eps)}\n{y} = {y} * gamma_{place}{shift}"

    return code


def make_sum_formula(name: str) -> Callable[["Experiment"], str]:
    """Return the formula of a sum on the residual stream."""
    return lambda e: f"{_symbol(e, name)} + {_symbol(e, name, 1)}"


def make_sum_code(name: str) -> Callable[["Experiment"], str]:
    """Return the code of a sum on the residual stream."""
    return lambda e: f"{variable(name)} = {_x(e, name)} + {_x(e, name, 1)}"


def _uses(e: "Experiment", table: str) -> bool:
    return table in registry.tables(e.config)


def make_map_formula(name: str, matrix: str, bias: str) -> Callable[["Experiment"], str]:
    """Return the formula of a linear map of the feed-forward."""
    written = matrix.replace("gate", "g")
    return lambda e: f"{_symbol(e, name)} {written}" + (f" + {bias}" if _uses(e, bias) else "")


def make_map_code(name: str, matrix: str, bias: str) -> Callable[["Experiment"], str]:
    """Return the code of a linear map of the feed-forward."""
    return lambda e: f"{variable(name)} = {_x(e, name)} @ {matrix}" + (f" + {bias}" if _uses(e, bias) else "")


def write_activated_formula(e: "Experiment") -> str:
    """Return the formula of the activation."""
    feed_forward = FEED_FORWARDS[e.config.feed_forward]
    times = r" \odot H" if feed_forward.is_gated else ""
    return f"{feed_forward.symbol}({_symbol(e, 'activated')}){times}"


def write_activated_code(e: "Experiment") -> str:
    """Return the code of the activation."""
    feed_forward = FEED_FORWARDS[e.config.feed_forward]
    times = f" * {variable('hidden')}" if feed_forward.is_gated else ""
    return f"{variable('activated')} = {feed_forward.code.replace('{x}', _x(e, 'activated'))}{times}"
