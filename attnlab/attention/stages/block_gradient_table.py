"""The stages of the backward pass through a block: its residuals, norms and feed-forward, and their tables."""

from attnlab.attention.stages import block_gradient_spelling as spelling
from attnlab.attention.stages import block_gradients as gradients
from attnlab.attention.stages.explain_backward import explain
from attnlab.attention.stages.stage import Stage

_STREAM, _HIDDEN = ("query", "d_model"), ("query", "d_ff")


def _make(
    name: str,
    title: str,
    symbol: str,
    axes: tuple[str, str],
    about: str,
    ways: tuple[spelling.Writer, gradients.Computation, spelling.Writer],
) -> Stage:
    """Return the stage of a gradient; ``ways`` are its formula, its computation and its code."""
    formula, compute, code = ways
    return Stage(
        f"d_{name}", title, symbol, axes, "neutral", "signed", about, formula, compute, explain, code, is_backward=True
    )


def stream(name: str, title: str, symbol: str, axes: tuple[str, str], about: str) -> Stage:
    """Return the stage of the gradient of a stage that others are computed from."""
    ways = spelling.make_stream_formula(name), gradients.make_stream(name), spelling.make_stream_code(name)
    return _make(name, title, symbol, axes, about, ways)


def _matrix(of: str, axes: tuple[str, str], about: str) -> Stage:
    name = gradients.MATRICES[of]
    ways = spelling.make_matrix_formula(of), gradients.make_matrix(of), spelling.make_matrix_code(of)
    return _make(name, f"d{name}", f"d{name}", axes, about, ways)


def _added(table: str, axis: str, about: str) -> Stage:
    title = f"d{table}".replace("beta", "β")
    ways = spelling.make_sum_formula(table), gradients.make_sum(table), spelling.make_sum_code(table)
    return _make(table, title, title, ("one", axis), about, ways)


def _gain(table: str, about: str) -> Stage:
    title = f"d{table}".replace("gamma", "γ")
    ways = spelling.make_gain_formula(table), gradients.make_gain(table), spelling.make_gain_code(table)
    return _make(table, title, title, ("one", "d_model"), about, ways)


BLOCK_STAGES: tuple[Stage, ...] = (
    stream(
        "normed_second_residual", "dNormed second residual", "dR", _STREAM,
        "How much the loss rises when a number that leaves the block rises.",
    ),
    stream(
        "second_residual", "dSecond residual", "dR", _STREAM,
        "The gradient of the sum: the feed-forward and the stream beside it both receive it whole.",
    ),
    stream("feed_forward", "dFeed-forward", "dF", _STREAM, "How much the loss rises when the feed-forward adds more."),
    stream("activated", "dActivated", "dH", _HIDDEN, "The gradient of the feed-forward, taken back through W_2."),
    stream("gates", "dGates", "dG", _HIDDEN, "How much the loss rises when a gate opens."),
    stream(
        "hidden", "dHidden", "dH", _HIDDEN,
        "The gradient of the activated numbers, as far as the activation lets it pass.",
    ),
    stream(
        "normed_residual", "dNormed residual", "dR", _STREAM,
        "The gradient of the hidden numbers, taken back to what the feed-forward reads.",
    ),
    stream(
        "residual", "dResidual", "dR", _STREAM,
        "The gradient of the sum: attention and the inputs beside it both receive it whole.",
    ),
)  # fmt: skip
"""Those that stand before the gradient of the output of attention."""

BLOCK_TABLE_STAGES: tuple[Stage, ...] = (
    _matrix("gates", ("d_model", "d_ff"), "How much the loss moves with each number of W_gate."),
    _matrix("hidden", ("d_model", "d_ff"), "How much the loss moves with each number of W_1."),
    _added("b_1", "d_ff", "How much the loss moves with each number of b_1: the gradients of all tokens add up."),
    _matrix("feed_forward", ("d_ff", "d_model"), "How much the loss moves with each number of W_2."),
    _added("b_2", "d_model", "How much the loss moves with each number of b_2: the gradients of all tokens add up."),
)
"""Those of the tables of the feed-forward."""

NORM_TABLE_STAGES: tuple[Stage, ...] = (
    _gain("gamma_1", "How much the loss moves with each gain of the first norm."),
    _added("beta_1", "d_model", "How much the loss moves with each shift of the first norm."),
    _gain("gamma_2", "How much the loss moves with each gain of the second norm."),
    _added("beta_2", "d_model", "How much the loss moves with each shift of the second norm."),
)
"""Those of the tables of the norms, which need the gradients of the numbers before the norms."""
