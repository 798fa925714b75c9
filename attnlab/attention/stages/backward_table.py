"""The stages of the backward pass in the table of stages: the loss and the gradients, from the loss to the inputs."""

from attnlab.attention.stages import backward
from attnlab.attention.stages import backward_spelling as spelling
from attnlab.attention.stages.block_gradient_table import (
    BLOCK_STAGES,
    BLOCK_TABLE_STAGES,
    NORM_TABLE_STAGES,
    stream,
)
from attnlab.attention.stages.explain_backward import explain
from attnlab.attention.stages.parameter_table import LAST_PARAMETER_STAGES, PARAMETER_STAGES
from attnlab.attention.stages.stage import Stage

_MAP = ("head", "query", "key")
_ROLES = {"queries": "query", "keys": "key", "values": "value"}


def _write(formula: str) -> spelling.Writer:
    return lambda e: formula


def _map(name: str, title: str, about: str, role: str = "neutral") -> Stage:
    return Stage(
        f"d_{name}", f"d{title}", "dA" if role == "attention" else "dS", _MAP, role, "signed", about,
        spelling.make_map_formula(name), backward.make_map(name), explain, spelling.make_map_code(name),
        is_backward=True,
    )  # fmt: skip


def _vectors(name: str, title: str, of: str, about: str) -> Stage:
    axis, place = ("query", 0) if of == "queries" else ("key", 1)
    return Stage(
        f"d_{name}", f"d{title}", "dQ" if place == 0 else "dK", ("head", axis, "d_k"), _ROLES[of], "signed", about,
        spelling.make_vectors_formula(name, of), backward.make_vectors(name, place), explain,
        spelling.make_vectors_code(name, of), is_backward=True,
    )  # fmt: skip


def _weight(name: str, axes: tuple[str, str], of: str, formula: str) -> Stage:
    letter = name[-1]
    return Stage(
        f"d_{name}", f"dW_{letter}", f"dW_{letter}", axes, _ROLES[of], "signed",
        f"How much the loss moves with each number of W_{letter}: each token’s input times its gradient, added up.",
        _write(formula), backward.make_weight(f"d_{name}", of), explain, spelling.make_weight_code(f"d_{name}", of),
        is_backward=True,
    )  # fmt: skip


BACKWARD_STAGES: tuple[Stage, ...] = (
    Stage(
        "readout", "Read-out", "p", ("query", "class"), "neutral", "probability",
        "How likely each class is for each token, from its output.",
        spelling.write_read_out_formula, backward.read_out, explain, spelling.write_read_out_code,
        is_backward=True,
    ),
    Stage(
        "loss", "Loss", "L", ("one", "one"), "neutral", "signed",
        "One number that says how far the layer is from what it should do.",
        spelling.write_loss_formula, backward.loss, explain, spelling.write_loss_code, is_backward=True,
    ),
    *BLOCK_STAGES,
    stream("output", "dOutput", "dO", ("query", "d_out"), "How much the loss rises when a number of the output rises."),
    Stage(
        "d_context", "dContext", "dZ", ("head", "query", "d_v"), "attention", "signed",
        "The gradient of the output, taken back through W_o.",
        spelling.write_context_formula, backward.d_context, explain, spelling.write_context_code, is_backward=True,
    ),
    Stage(
        "d_values", "dValues", "dV", ("head", "key", "d_v"), "value", "signed",
        "Each value receives the gradients of the contexts that it is mixed into, by the same weights.",
        _write(r"A^{\top} dZ"), backward.d_values, explain, spelling.write_values_code, is_backward=True,
    ),
    _map("dropped", "Dropout", "How much the loss rises when a weight after dropout rises.", "attention"),
    _map("zeroed", "Masked after", "How much the loss rises when a weight after the mask rises.", "attention"),
    _map("weights", "Weights", "How much the loss rises when a weight rises, if the others could stay.", "attention"),
    Stage(
        "jacobian", "Jacobian", "J", ("head", "key", "key"), "attention", "signed",
        "How much each weight of one row moves with each of its scores: what one weight gains, the others lose.",
        spelling.write_jacobian_formula, backward.jacobian, explain, spelling.write_jacobian_code, is_backward=True,
    ),
    _map("masked", "Masked", "How much the loss rises when a masked score rises, as the row shares its weight."),
    _map("capped", "Capped", "How much the loss rises when a capped score rises."),
    _map("biased", "Biased", "How much the loss rises when a score with its bias rises."),
    _map("scaled", "Scaled", "How much the loss rises when a scaled score rises, as the row shares its weight."),
    _map("scores", "Scores", "How much the loss rises when a score rises."),
    _vectors("rotated_queries", "Rotated queries", "queries", "What would change the scores, for rotated queries."),
    _vectors("rotated_keys", "Rotated keys", "keys", "What would change the scores, for rotated keys."),
    _vectors("normed_queries", "Normed queries", "queries", "What would change the scores, for normalised queries."),
    _vectors("normed_keys", "Normed keys", "keys", "What would change the scores, for normalised keys."),
    _vectors("queries", "Queries", "queries", "Each query is pulled towards or away from the keys that it scored."),
    _vectors("keys", "Keys", "keys", "Each key is pulled towards or away from the queries that scored it."),
    _weight("W_q", ("d_model", "query_columns"), "queries", r"X^{\top} dQ"),
    _weight("W_k", ("d_memory", "key_columns"), "keys", r"X^{\top} dK"),
    _weight("W_v", ("d_memory", "value_columns"), "values", r"X^{\top} dV"),
    Stage(
        "d_W_o", "dW_o", "dW_o", ("merged", "d_out"), "neutral", "signed",
        "How much the loss moves with each number of W_o: each context times the gradient of its output.",
        _write(r"Z^{\top} dO"), backward.d_output_weight, explain, spelling.write_output_weight_code, is_backward=True,
    ),
    *PARAMETER_STAGES,
    *BLOCK_TABLE_STAGES,
    stream(
        "normed_inputs", "dNormed inputs", "dX", ("token", "d_model"),
        "How much the loss moves with each normalised input, through queries, keys and values together.",
    ),
    stream(
        "inputs", "dInputs", "dX", ("token", "d_model"),
        "How much the loss moves with each number of the inputs, through queries, keys and values together.",
    ),
    stream(
        "memory", "dMemory", "dM", ("key", "d_memory"),
        "How much the loss moves with each number of the second sequence, through keys and values.",
    ),
    *NORM_TABLE_STAGES,
    *LAST_PARAMETER_STAGES,
)  # fmt: skip
