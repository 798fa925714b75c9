"""The formula of the gradient of each bias and table of an entry for its header, and the equivalent PyTorch code."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.attention.registries.losses import find_class, find_pair
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.backward_spelling import find_last_variable, write_merged
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.spelling import fill_options, rename_variables, variable

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

Writer = Callable[["Experiment"], str]


def make_bias_code(name: str, of: str) -> Writer:
    """Return the code of the gradient of the bias of a projection."""
    return lambda e: f"d_{name} = ({write_merged(e, of)}).sum(0, keepdim=True)"


def make_score_table_formula(name: str) -> Writer:
    """Return the formula of the gradient of a table of a score."""

    def formula(e: "Experiment") -> str:
        found = SCORES[e.config.score].table_gradients.get(name)
        return rf"\Sigma\, dS\; \partial s \div \partial {name}" if found is None else found.formula

    return formula


def make_score_table_code(name: str) -> Writer:
    """Return the code of the gradient of a table of a score."""

    def code(e: "Experiment") -> str:
        score, made = SCORES[e.config.score], f"d_{name}"
        names = {"Q": variable(source(e, "scores")), "K": variable(source(e, "scores", 1))}
        row = "" if e.weights.extra[name].ndim == 2 else "[None]"
        if name in score.table_gradients:
            return f"{made} = {rename_variables(score.table_gradients[name].code, **names)}{row}"
        written = rename_variables(fill_options(score.code, e, score), **names, **{name: "leaf"})
        return "\n".join(
            (
                "with torch.enable_grad():",
                f"    leaf = {name}.detach().clone().requires_grad_()",
                f"    {made} = torch.autograd.grad({written}, leaf, d_scores)[0]{row}",
            )
        )

    return code


def make_gain_formula(of: str) -> Writer:
    """Return the formula of the gradient of the gain of queries or keys."""
    x = of[0]
    return lambda e: rf"\Sigma\, d\hat {x}\; {x} \div \mathrm{{rms}}({x})"


def make_gain_code(name: str, of: str) -> Writer:
    """Return the code of the gradient of the gain of queries or keys."""

    def code(e: "Experiment") -> str:
        unit = rename_variables(NORMS[e.config.qk_norm].code, x=variable(of))
        return f"d_{name} = (d_{variable(f'normed_{of}')} * ({unit})).sum((0, 1))[None]"

    return code


def write_sinks_formula(e: "Experiment") -> str:
    """Return the formula of the gradient of the sinks."""
    if e.config.normalizer in ("softmax", "softmax-unshifted"):
        return r"-\Sigma\, w_s\, (w \cdot dw)"
    return r"\Sigma\, dw\; \partial w \div \partial s"


def write_sinks_code(e: "Experiment") -> str:
    """Return the code of the gradient of the sinks."""
    return "d_sinks = d_logits[..., -1].sum(1)[None]"


def write_distance_bias_code(e: "Experiment") -> str:
    """Return the code of the gradient of the bias of each range of distances."""
    return "d_B = torch.zeros_like(B).index_add(0, bucket.flatten(), d_biased.flatten(1).T)"


def write_positions_code(e: "Experiment") -> str:
    """Return the code of the gradient of the vector added at each position."""
    if e.memory_embeddings is None:
        return "d_P = d_X.clone()"
    longest = "max(len(d_X), len(d_M)), d_X.shape[1]"
    return f"d_P = d_X.new_zeros({longest})\nd_P[:len(d_X)] += d_X\nd_P[:len(d_M)] += d_M"


def write_positions_formula(e: "Experiment") -> str:
    """Return the formula of the gradient of the vector added at each position."""
    return "dX" if e.memory_embeddings is None else "dX + dM"


def write_read_out_code(e: "Experiment") -> str:
    """Return the code of the gradient of the read-out."""
    query = find_pair(e)[1]
    return (
        f"missed = readout[{query}].clone()\nmissed[{find_class(e)}] -= 1\n"
        f"d_W_read = {find_last_variable(e)}[{query}][:, None] @ missed[None]"
    )
