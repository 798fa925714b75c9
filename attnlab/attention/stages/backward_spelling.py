"""The formula of the loss and of each gradient for its header, and the equivalent PyTorch code."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.attention.registries.entries import Entry
from attnlab.attention.registries.losses import CLASS, OUTPUT, WEIGHT, find_class, find_pair
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import short
from attnlab.attention.stages.presence import find_consumer, find_last, has_stage, source, sources
from attnlab.attention.stages.spell_block import write_symbol
from attnlab.attention.stages.spelling import (
    fill_options,
    rename_variables,
    spell_divisor,
    variable,
    write_scaled_formula,
)

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

Writer = Callable[["Experiment"], str]


def find_last_symbol(e: "Experiment") -> str:
    """Return the symbol of what leaves the layer, which the loss is about."""
    return write_symbol(find_last(e))


def find_last_variable(e: "Experiment") -> str:
    """Return the variable name of what leaves the layer, which the loss is about."""
    return variable(find_last(e))


def write_read_out_formula(e: "Experiment") -> str:
    """Return the formula of the read-out."""
    return rf"\mathrm{{softmax}}({find_last_symbol(e)}\, W_{{read}})"


def write_read_out_code(e: "Experiment") -> str:
    """Return the code of the read-out."""
    return f"readout = torch.softmax({find_last_variable(e)} @ W_read, dim=-1)"


def write_loss_formula(e: "Experiment") -> str:
    """Return the formula of the loss."""
    return {
        WEIGHT: rf"(w - {short(e.config.option('loss_wanted'))})^2",
        OUTPUT: rf"\mathrm{{mean}}\,({find_last_symbol(e)} - Y)^2",
        CLASS: r"-\log p_c",
    }[e.config.option("loss")]


def write_loss_code(e: "Experiment") -> str:
    """Return the code of the loss."""
    (head, query, key), kind = find_pair(e), e.config.option("loss")
    if kind == WEIGHT:
        return f"loss = (weights[{head}, {query}, {key}] - {e.config.option('loss_wanted')!r}).square().reshape(1, 1)"
    if kind == OUTPUT:
        return f"loss = ({find_last_variable(e)} - Y).square().mean().reshape(1, 1)"
    scored = f"torch.log_softmax({find_last_variable(e)}[{query}] @ W_read, dim=-1)"
    return f"loss = -{scored}[{find_class(e)}].reshape(1, 1)"


def write_context_formula(e: "Experiment") -> str:
    """Return the formula of the gradient of the context."""
    return r"dO\, W_o^{\top}" if e.weights.W_o is not None else r"dO"


def write_context_code(e: "Experiment") -> str:
    """Return the code of the gradient of the context."""
    d = "(d_output @ W_o.T)" if e.weights.W_o is not None else "d_output"
    return f"d_Z = {d}.unflatten(-1, ({e.n_heads}, -1)).transpose(0, 1).contiguous()"


def write_values_code(e: "Experiment") -> str:
    """Return the code of the gradient of the values."""
    off = list(e.config.ablated)
    first = f"passed = d_Z.clone()\npassed[{off}] = 0  # heads that are switched off\n" if off else ""
    return f"{first}d_V = {variable(source(e, 'context'))}.mT @ {'passed' if off else 'd_Z'}"


def make_map_formula(name: str) -> Writer:
    """Return the formula of the gradient of a map from scores to weights."""

    def formula(e: "Experiment") -> str:
        consumer = find_consumer(e, name)
        if consumer == "weights":
            return NORMALIZER_FORMULAS.get(e.config.normalizer, r"J^{\top} dw")
        if consumer == "scaled":
            return write_scaled_formula(e)
        return {
            "loss": rf"2 (w - {short(e.config.option('loss_wanted'))})",
            "context": r"dZ\, V^{\top}",
            "biased": r"dS",
            "capped": r"dS\, (1 - (s \div c)^2)",
            "dropped": r"dA \div (1 - p)",
            "masked": r"0\ \mathrm{where\ masked}",
            "zeroed": r"0\ \mathrm{where\ masked}",
        }[consumer]

    return formula


NORMALIZER_FORMULAS = {
    "softmax": r"w\, (dw - w \cdot dw)",
    "softmax-unshifted": r"w\, (dw - w \cdot dw)",
    "sigmoid": r"w\, (1 - w)\, dw",
}


def make_map_code(name: str) -> Writer:
    """Return the code of the gradient of a map from scores to weights."""

    def code(e: "Experiment") -> str:
        consumer = find_consumer(e, name)
        if consumer == "loss":
            place = ", ".join(map(str, find_pair(e)))
            wanted = e.config.option("loss_wanted")
            return f"d_weights = torch.zeros_like(weights)\nd_weights[{place}] = 2 * (weights[{place}] - {wanted!r})"
        if consumer == "context":
            return f"d_{name} = {'passed' if e.config.ablated else 'd_Z'} @ V.mT"
        d = f"d_{consumer}"
        if consumer == "weights":
            return _write_normalizer(e, f"d_{name}", variable(name), "weights", d)
        if consumer == "scaled":
            return f"d_{name} = {d} / {spell_divisor(e)}"
        cap, share = e.config.option("soft_cap"), e.config.option("dropout")
        written = {
            "masked": f"{d}.masked_fill(~allowed, 0)",
            "zeroed": f"{d}.masked_fill(~allowed, 0)",
            "dropped": f"torch.where(kept, {d} / (1 - {share!r}), 0)",
            "capped": f"{d} * (1 - (capped / {cap!r}).square())",
            "biased": d,
        }[consumer]
        return f"d_{name} = {written}"

    return code


def _write_normalizer(e: "Experiment", made: str, x: str, a: str, d: str) -> str:
    """Return the code of the gradient of scores x from ``d``, that of their weights a."""
    normalizer, lines, whole = NORMALIZERS[e.config.normalizer], [], made
    warmth = e.config.option("temperature") if normalizer.tempered else 1
    if warmth != 1:
        lines.append(f"logits = {x} / {warmth!r}")
        x = "logits"
    if e.config.option("sink"):
        lines.append(f"logits = torch.cat([{x}, sinks[:, None, None].expand(*{x}.shape[:-1], 1)], dim=-1)")
        lines.append(f"d_all = torch.nn.functional.pad({d}, (0, 1))  # the weight of the sink moves nothing")
        x, d, a, whole = "logits", "d_all", "with_sink" if a == "weights" else a, "d_logits"
    if normalizer.backward is None:
        applied = fill_options(normalizer.code, e, normalizer).replace("{x}", "leaf").replace("weights", "normed")
        lines += ["with torch.enable_grad():", f"    leaf = {x}.detach().clone().requires_grad_()"]
        lines += [f"    {each}" for each in applied.splitlines()]
        lines += [f"    {whole} = torch.autograd.grad(normed, leaf, {d})[0]"]
    else:
        written = normalizer.backward_code.replace("{x}", x).replace("{a}", a).replace("{d}", d).splitlines()
        lines += [*written[:-1], f"{whole} = {written[-1]}"]
    lines += [f"{made} = {whole}[..., :-1]"] if e.config.option("sink") else []
    lines += [f"{made} = {made} / {warmth!r}"] if warmth != 1 else []
    return "\n".join(lines)


def write_jacobian_formula(e: "Experiment") -> str:
    """Return the formula of the Jacobian of the normaliser."""
    if e.config.normalizer in ("softmax", "softmax-unshifted"):
        return r"\mathrm{diag}(w) - w w^{\top}"
    return r"w_j (1 - w_j)" if e.config.normalizer == "sigmoid" else r"\partial w_j \div \partial s_k"


def write_jacobian_code(e: "Experiment") -> str:
    """Return the code of the Jacobian of the normaliser for one query."""
    query, x = find_pair(e)[1], variable(source(e, "weights"))
    a = "with_sink" if e.config.option("sink") else "weights"
    lines = [f"row, of_row = (each[:, {query}, None].expand(-1, {e.T_k}, -1) for each in ({x}, {a}))"]
    lines.append(f"eye = torch.eye({e.T_k}, dtype={x}.dtype, device={x}.device).expand({e.n_heads}, -1, -1)")
    return "\n".join([*lines, _write_normalizer(e, "jacobian", "row", "of_row", "eye")])


_VECTORS = {"queries": ("q", 0), "keys": ("k", 1)}


def make_vectors_formula(name: str, of: str) -> Writer:
    """Return the formula of the gradient of queries or keys, before or after norm and rotation."""
    letter, place = _VECTORS[of]

    def formula(e: "Experiment") -> str:
        consumer = find_consumer(e, name)
        if consumer.startswith("rotated"):
            return rf"R_{{t}}^{{\top}}\, d{letter}"
        if consumer.startswith("normed"):
            return r"\mathrm{through\ the\ norm}"
        if e.config.score == "dot":
            return (r"dS\, K", r"dS^{\top} Q")[place]
        return rf"\Sigma\, dS\; \partial s \div \partial {letter}"

    return formula


def make_vectors_code(name: str, of: str) -> Writer:
    """Return the code of the gradient of queries or keys, before or after norm and rotation."""
    place, made = _VECTORS[of][1], f"d_{variable(name)}"

    def code(e: "Experiment") -> str:
        consumer = find_consumer(e, name)
        if consumer == "scores":
            return _write_score(e, made, place)
        d = f"d_{variable(consumer)}"
        if consumer.startswith("rotated"):
            position = POSITIONS[e.config.positions]
            if position.rotate_back is None:
                lines = (*position.setup, f"turned = {position.code}")
                inner = [rename_variables(each, x="leaf") for each in lines]
                return _write_automatic(e, position, inner, "turned", made, d, variable(name))
            lines = (*position.setup, f"{made} = {position.back_code}")
            return fill_options("\n".join(rename_variables(each, x=d) for each in lines), e, position)
        norm, x = NORMS[e.config.qk_norm], variable(name)
        if norm.tables:
            first, d = [f"d_unit = {d} * {norm.tables[place].name}"], "d_unit"
        else:
            first = []
        if norm.backward is None:
            inner = [f"normed = {rename_variables(norm.code, x='leaf')}"]
            return "\n".join([*first, _write_automatic(e, norm, inner, "normed", made, d, x)])
        written = rename_variables(norm.backward_code, x=x).replace("{d}", d).splitlines()
        return "\n".join([*first, *written[:-1], f"{made} = {written[-1]}"])

    return code


def _write_automatic(e: "Experiment", entry: Entry, lines: list[str], of: str, made: str, d: str, x: str) -> str:
    """Return code that differentiates lines from ``leaf`` to ``of`` automatically."""
    inner = ["with torch.enable_grad():", f"    leaf = {x}.detach().clone().requires_grad_()"]
    inner += [f"    {each}" for line in lines for each in fill_options(line, e, entry).splitlines()]
    return "\n".join([*inner, f"    {made} = torch.autograd.grad({of}, leaf, {d})[0]"])


def _write_score(e: "Experiment", made: str, place: int) -> str:
    score = SCORES[e.config.score]
    names = {"Q": variable(source(e, "scores")), "K": variable(source(e, "scores", 1))}
    if score.backward is None:
        written = rename_variables(fill_options(score.code, e, score), Q="leaf_q", K="leaf_k")
        lines = ["with torch.enable_grad():"]
        lines += [f"    leaf_{x.lower()} = {name}.detach().clone().requires_grad_()" for x, name in names.items()]
        leaf = ("leaf_q", "leaf_k")[place]
        return "\n".join([*lines, f"    {made} = torch.autograd.grad({written}, {leaf}, d_scores)[0]"])
    text = fill_options(score.backward_code[place].replace("{d}", "d_scores"), e, score)
    written_lines = rename_variables(text, **names).splitlines()
    return "\n".join([*written_lines[:-1], f"{made} = {written_lines[-1]}"])


_MERGED = {"queries": "d_Q", "keys": "d_K", "values": "d_V"}


def write_merged(e: "Experiment", of: str) -> str:
    """Return an expression for a gradient before it is split into heads."""
    d = _MERGED[of]
    if of != "queries" and e.n_kv_heads != e.n_heads:
        d = f"{d}.unflatten(0, ({e.n_kv_heads}, -1)).sum(1)"
    return f"{d}.transpose(0, 1).flatten(1)"


def make_weight_code(name: str, of: str) -> Writer:
    """Return the code of the gradient of a matrix of projections."""
    return lambda e: f"{name} = {variable(sources(e, name)[0])}.T @ {write_merged(e, of)}"


def write_output_weight_code(e: "Experiment") -> str:
    """Return the code of the gradient of W_o."""
    x = "merged" if has_stage(e, "merged") else "Z.transpose(0, 1).flatten(1)"
    return f"d_W_o = {x}.T @ d_output"
