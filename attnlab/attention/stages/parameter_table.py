"""The stages of the backward pass for biases and for the tables of registry entries."""

from attnlab.attention.registries.registry import all_tables
from attnlab.attention.stages import parameter_gradients as gradients
from attnlab.attention.stages import parameter_spelling as spelling
from attnlab.attention.stages.explain_backward import explain
from attnlab.attention.stages.presence import GAINS, SCORE_TABLES
from attnlab.attention.stages.stage import Stage

_ROLES = {"queries": "query", "keys": "key", "values": "value"}
_TABLES = all_tables()


def _bias(letter: str, of: str) -> Stage:
    name = f"b_{letter}"
    return Stage(
        f"d_{name}", f"d{name}", f"d{name}", ("one", f"{_ROLES[of]}_columns"), _ROLES[of], "signed",
        f"How much the loss moves with each number of {name}: it is added to every token, so their gradients add up.",
        lambda e: rf"\Sigma_t\, d{letter}_t", gradients.make_bias(of), explain, spelling.make_bias_code(name, of),
        is_backward=True,
    )  # fmt: skip


def _of_table(
    name: str, about: str, formula: spelling.Writer, compute: gradients.Computation, code: spelling.Writer
) -> Stage:
    """Return the stage of the gradient of a table of an entry; a vector is one row."""
    table = _TABLES[name]
    axes = table.axes if len(table.axes) == 2 else ("one", *table.axes)
    title = f"d{name}".replace("gamma", "γ").replace("beta", "β")
    return Stage(
        f"d_{name}", title, title, axes, table.role, "signed", about, formula, compute, explain, code, is_backward=True
    )


_SCORE = "How much the loss moves with each number of {}: every score’s gradient times how it moves with that number."
_GAIN = "How much the loss moves with each gain: each normalised number times its gradient, added up over tokens."

PARAMETER_STAGES: tuple[Stage, ...] = (
    _bias("q", "queries"),
    _bias("k", "keys"),
    _bias("v", "values"),
    Stage(
        "d_b_o", "db_o", "db_o", ("one", "d_out"), "neutral", "signed",
        "How much the loss moves with each number of b_o: it is added to every output, so their gradients add up.",
        lambda e: r"\Sigma_t\, dO_t", gradients.d_output_bias, explain,
        lambda e: "d_b_o = d_output.sum(0, keepdim=True)", is_backward=True,
    ),
    *(
        _of_table(
            table.name, _SCORE.format(table.name), spelling.make_score_table_formula(table.name),
            gradients.make_score_table(table.name), spelling.make_score_table_code(table.name),
        )
        for table in SCORE_TABLES
    ),
    *(
        _of_table(
            table.name, _GAIN, spelling.make_gain_formula(of), gradients.make_gain(of),
            spelling.make_gain_code(table.name, of),
        )
        for table, of in ((table, ("queries", "keys")[place]) for table, place in GAINS)
    ),
    _of_table(
        "sinks", "How much the loss moves with the logit of each head’s sink, which takes weight from every row.",
        spelling.write_sinks_formula, gradients.d_sinks, spelling.write_sinks_code,
    ),
    _of_table(
        "B", "How much the loss moves with each bias: the gradients of all pairs that it is added to.",
        lambda e: r"\Sigma\, dS", gradients.d_distance_bias, spelling.write_distance_bias_code,
    ),
    _of_table(
        "W_read", "How much the loss moves with each number of the read-out: the output times what each class missed.",
        lambda e: r"O_t^{\top} (p - 1_c)", gradients.d_read_out, spelling.write_read_out_code,
    ),
)  # fmt: skip
"""Those that stand before the gradients of the inputs."""

LAST_PARAMETER_STAGES: tuple[Stage, ...] = (
    _of_table(
        "P", "How much the loss moves with the vector added at each position: as with the inputs at that position.",
        spelling.write_positions_formula, gradients.d_positions, spelling.write_positions_code,
    ),
)  # fmt: skip
"""Those that are computed from the gradients of the inputs."""
