"""The formula of each stage for its header, and the equivalent PyTorch code."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.attention.registries import masks
from attnlab.attention.registries.entries import Entry
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.presence import has_stage, source

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

VARIABLES = {
    "inputs": "X",
    "memory": "M",
    "queries": "Q",
    "keys": "K",
    "values": "V",
    "normed_queries": "Q_normed",
    "normed_keys": "K_normed",
    "rotated_queries": "Q_rotated",
    "rotated_keys": "K_rotated",
    "context": "Z",
    "normed_inputs": "X_normed",
    "residual": "R",
    "normed_residual": "R_normed",
    "gates": "G",
    "hidden": "H",
    "feed_forward": "F",
    "second_residual": "R_2",
    "normed_second_residual": "R_2_normed",
}
"""Variable names of stages in code, if different from the stage's name."""


def variable(name: str) -> str:
    """Return the variable name of a stage in code; that of a gradient is d_ before that of its stage."""
    return f"d_{variable(name[2:])}" if name.startswith("d_") else VARIABLES.get(name, name)


def _x(e: "Experiment", name: str, place: int = 0) -> str:
    """Return the variable name of a stage's source in code."""
    return variable(source(e, name, place))


def rename_variables(expression: str, **variables: str) -> str:
    """Return an expression with variables renamed, old name to new name."""
    for old, new in variables.items():
        expression = re.sub(rf"\b{old}\b", new, expression)
    return expression


def write_inputs_formula(e: "Experiment") -> str:
    """Return X, or X plus the position encoding."""
    position = POSITIONS[e.config.positions]
    return "X" if position.encode is None else position.formula


def write_memory_formula(e: "Experiment") -> str:
    """Return M, or M plus the position encoding."""
    return write_inputs_formula(e).replace("X", "M", 1)


def _write_embeddings(e: "Experiment", variable_name: str, given: str) -> str:
    position = POSITIONS[e.config.positions]
    if position.encode is None:
        return f"{variable_name} = {given}"
    lines = (*position.setup, f"{variable_name} = {position.code}")
    return fill_options("\n".join(rename_variables(line, x=given) for line in lines), e, position)


def write_inputs_code(e: "Experiment") -> str:
    """Return the code that adds positions to the embeddings x."""
    return _write_embeddings(e, "X", "x")


def write_memory_code(e: "Experiment") -> str:
    """Return the code that adds positions to the second sequence."""
    return _write_embeddings(e, "M", "memory")


def make_projection_formula(name: str, letter: str) -> Callable[["Experiment"], str]:
    """Return the formula of queries, keys or values."""

    def formula(e: "Experiment") -> str:
        weight, bias = getattr(e.weights, f"W_{letter}"), getattr(e.weights, f"b_{letter}")
        given = {"X_normed": r"\hat X"}.get(_x(e, name), _x(e, name))
        text = f"{variable(name)} = {given}" if weight is None else f"{variable(name)} = {given} W_{letter}"
        return text if bias is None else f"{text} + b_{letter}"

    return formula


def make_projection_code(name: str, letter: str) -> Callable[["Experiment"], str]:
    """Return the code of queries, keys or values."""

    def code(e: "Experiment") -> str:
        given = _x(e, name)
        has_weight = getattr(e.weights, f"W_{letter}") is not None
        has_bias = getattr(e.weights, f"b_{letter}") is not None
        text = given + (f" @ W_{letter}" if has_weight else "") + (f" + b_{letter}" if has_bias else "")
        text = f"({text})" if has_weight or has_bias else text
        heads = e.n_heads if letter == "q" else e.n_kv_heads
        text = f"{variable(name)} = {text}.unflatten(-1, ({heads}, -1)).transpose(0, 1)"
        return text if heads == e.n_heads else f"{text}.repeat_interleave({e.n_heads // heads}, dim=0)"

    return code


_LETTERS = {"queries": ("q", "g_q", 0), "keys": ("k", "g_k", 1)}


def make_normed_formula(of: str) -> Callable[["Experiment"], str]:
    """Return the formula of normalised queries or keys."""
    letter, gain, _ = _LETTERS[of]
    return lambda e: NORMS[e.config.qk_norm].formula.replace("{x}", letter).replace("{g}", gain)


def make_normed_code(of: str) -> Callable[["Experiment"], str]:
    """Return the code of normalised queries or keys."""
    place = _LETTERS[of][2]

    def code(e: "Experiment") -> str:
        norm = NORMS[e.config.qk_norm]
        gain = f" * {norm.tables[place].name}" if norm.tables else ""
        expression = rename_variables(fill_options(norm.code, e, norm), x=_x(e, f"normed_{of}"))
        return f"{variable(f'normed_{of}')} = {expression}{gain}"

    return code


def make_rotated_formula(of: str) -> Callable[["Experiment"], str]:
    """Return the formula of rotated queries or keys."""
    return lambda e: POSITIONS[e.config.positions].formula.replace("{x}", _LETTERS[of][0])


def make_rotated_code(of: str) -> Callable[["Experiment"], str]:
    """Return the code of rotated queries or keys."""

    def code(e: "Experiment") -> str:
        position, given = POSITIONS[e.config.positions], _x(e, f"rotated_{of}")
        lines = (*position.setup, f"{variable(f'rotated_{of}')} = {position.code}")
        return fill_options("\n".join(rename_variables(line, x=given) for line in lines), e, position)

    return code


def fill_options(code: str, e: "Experiment", entry: Entry) -> str:
    """Return the code of an entry with the values of its options in place of {name}."""
    for option in entry.options:
        code = code.replace(f"{{{option.name}}}", repr(e.config.option(option.name)))
    return code


def write_scores_formula(e: "Experiment") -> str:
    """Return the formula of the score function."""
    return SCORES[e.config.score].formula


def write_scores_code(e: "Experiment") -> str:
    """Return the code of the score function."""
    score = SCORES[e.config.score]
    return f"scores = {rename_variables(fill_options(score.code, e, score), Q=_x(e, 'scores'), K=_x(e, 'scores', 1))}"


_DIVISORS = {
    "sqrt_d_k": (r"\sqrt{d_k}", "K.shape[-1] ** 0.5"),
    "sqrt_d_model": (r"\sqrt{d_{model}}", "X.shape[-1] ** 0.5"),
}


def write_scaled_formula(e: "Experiment") -> str:
    """Return the formula of the divisor of the scores."""
    scale = e.config.scale
    return rf"\div\, {_DIVISORS[scale][0] if isinstance(scale, str) else number(scale)}"


def write_scaled_code(e: "Experiment") -> str:
    """Return the code that divides the scores."""
    return f"scaled = scores / {spell_divisor(e)}"


def spell_divisor(e: "Experiment") -> str:
    """Return the code of the number by which the scores are divided."""
    scale = e.config.scale
    return _DIVISORS[scale][1] if isinstance(scale, str) else repr(scale)


def write_biased_formula(e: "Experiment") -> str:
    """Return the formula of the bias of the position scheme."""
    return POSITIONS[e.config.positions].formula


def write_biased_code(e: "Experiment") -> str:
    """Return the code that adds a bias to the scores."""
    position = POSITIONS[e.config.positions]
    return fill_options("\n".join((*position.setup, f"biased = {_x(e, 'biased')} + {position.code}")), e, position)


def write_capped_formula(e: "Experiment") -> str:
    """Return the formula of the soft cap."""
    cap = f"{e.config.option('soft_cap'):g}"
    return rf"{cap} \tanh(s \div {cap})"


def write_capped_code(e: "Experiment") -> str:
    """Return the code of the soft cap."""
    cap = e.config.option("soft_cap")
    return f"capped = {cap!r} * torch.tanh({_x(e, 'capped')} / {cap!r})"


_FILL_FORMULAS = {"-inf": r"{-\infty}", "-1e9": r"{-10^9}", "0": "0", "after": "0"}


def write_masked_formula(e: "Experiment") -> str:
    """Return the names of the masks and the value that masked scores get."""
    return f"{masks.formula(e)} = {_FILL_FORMULAS[e.config.option('fill')]}"


def _write_allowed(e: "Experiment", of: str) -> str:
    """Return the code that assigns ``allowed``, the pairs that may attend."""
    config = e.config
    if not config.masks:
        if config.mask is None:
            return f"allowed = torch.ones_like({of}, dtype=torch.bool).tril()"
        return "allowed = mask.tril()" if config.causal else "allowed = mask"
    lines = (
        f"i = torch.arange({e.T_q}, device={of}.device)[:, None]  # queries",
        f"j = torch.arange({e.T_k}, device={of}.device)  # keys",
        f"allowed = {masks.code(e)}",
    )
    return "\n".join(lines)


def write_masked_code(e: "Experiment") -> str:
    """Return the code that replaces the scores of masked pairs by the fill value."""
    of, fill = _x(e, "masked"), e.config.option("fill")
    if fill == "-inf":
        return f"{_write_allowed(e, of)}\nmasked = {of}.masked_fill(~allowed, -torch.inf)"
    value = f"fill = torch.tensor({float(fill)!r}, dtype={of}.dtype, device={of}.device)"
    return f"{_write_allowed(e, of)}\n{value}\nmasked = {of}.masked_fill(~allowed, fill)"


def write_weights_formula(e: "Experiment") -> str:
    """Return the formula of the normaliser, with its temperature and the sink."""
    normalizer = NORMALIZERS[e.config.normalizer]
    parts = [normalizer.formula]
    if normalizer.tempered and e.config.option("temperature") != 1:
        parts.append(rf"\mathrm{{temperature}}\ {e.config.option('temperature'):g}")
    if e.config.option("sink"):
        parts.append(r"\mathrm{sink}")
    return r",\ ".join(parts)


def write_weights_code(e: "Experiment") -> str:
    """Return the code of the normaliser."""
    normalizer, of = NORMALIZERS[e.config.normalizer], _x(e, "weights")
    lines, x = [], of
    if normalizer.tempered and e.config.option("temperature") != 1:
        lines.append(f"logits = {x} / {e.config.option('temperature')!r}")
        x = "logits"
    if e.config.option("sink"):
        column = f"sinks[:, None, None].expand(-1, {of}.shape[1], 1)"
        lines.append(f"logits = torch.cat([{x}, {column}], dim=-1)")
        x = "logits"
    lines.append(fill_options(normalizer.code, e, normalizer).replace("{x}", x))
    if e.config.option("sink"):
        lines += ["with_sink = weights"] if has_stage(e, "loss") else []
        lines.append("weights = weights[..., :-1]  # the sink has no value")
    cells = e.hidden_cells()
    if has_stage(e, "masked") and e.config.option("fill") == "-inf" and cells is not None and cells.has_empty_rows:
        lines.append("weights = weights.masked_fill(~allowed.any(-1, keepdim=True), 0)  # rows without a visible key")
    return "\n".join(lines)


def write_zeroed_code(e: "Experiment") -> str:
    """Return the code that masks the weights after the normaliser."""
    return f"{_write_allowed(e, 'weights')}\nzeroed = weights.masked_fill(~allowed, 0)"


def write_dropped_formula(e: "Experiment") -> str:
    """Return the probability of dropout and the divisor of the other weights."""
    share = e.config.option("dropout")
    return rf"p = {share:g},\ \div\, {1 - share:g}"


def write_dropped_code(e: "Experiment") -> str:
    """Return the code of dropout with its seed."""
    share, seed, of = e.config.option("dropout"), e.config.option("dropout_seed"), _x(e, "dropped")
    draw = f"draw = torch.rand({of}.shape, generator=torch.Generator().manual_seed({seed}))"
    kept = f"kept = (draw >= {share!r}).to({of}.device)"
    return f"{draw}\n{kept}\ndropped = torch.where(kept, {of} / (1 - {share!r}), 0)"


def write_context_formula(e: "Experiment") -> str:
    """Return the formula of the context, with the heads that are switched off."""
    off = ", ".join(map(str, e.config.ablated))
    return r"Z = A V" + (rf",\ \mathrm{{off:}}\ {off}" if off else "")


def write_context_code(e: "Experiment") -> str:
    """Return the code that mixes the values."""
    code = f"Z = {_x(e, 'context')} @ V"
    return f"{code}\nZ[{list(e.config.ablated)}] = 0  # heads that are switched off" if e.config.ablated else code


def write_merged_formula(e: "Experiment") -> str:
    """Return the formula of the concatenated heads."""
    return r"[Z_1 Z_2 \ldots]"


def write_merged_code(e: "Experiment") -> str:
    """Return the code that concatenates the heads."""
    return "merged = Z.transpose(0, 1).flatten(1)"


def write_output_formula(e: "Experiment") -> str:
    """Return the formula of the output."""
    text = r"\mathrm{concatenated\ heads}" if e.n_heads > 1 else "Z"
    text = text if e.weights.W_o is None else ("[Z_1 Z_2 \\ldots]\\, W_o" if e.n_heads > 1 else "Z W_o")
    return text if e.weights.b_o is None else f"{text} + b_o"


def write_output_code(e: "Experiment") -> str:
    """Return the code of the output."""
    text = "merged" if has_stage(e, "merged") else "Z.transpose(0, 1).flatten(1)"
    text = text if e.weights.W_o is None else f"{text} @ W_o"
    return f"output = {text}" + ("" if e.weights.b_o is None else " + b_o")
