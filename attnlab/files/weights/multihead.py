"""Converts an experiment to torch.nn.MultiheadAttention and back, with the same numbers."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from attnlab.attention.edits import has_biases, table, with_setting
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries import registry
from attnlab.base.arguments import explain_calls
from attnlab.base.errors import ArgumentError, ExperimentError
from attnlab.files.weights.named_array import NamedArray, make_array
from attnlab.files.weights.projection_layouts import Heads
from attnlab.files.weights.weights_apply import apply
from attnlab.files.weights.weights_in import guess

if TYPE_CHECKING:
    from attnlab.files.weights.weights_apply import Embeddings

_PROJECTIONS = ("W_q", "W_k", "W_v", "W_o")


@explain_calls
def to_multihead(e: Experiment) -> nn.MultiheadAttention:
    """Return a module, batch first, with the experiment's weights, that computes its attention weights and output.

    The module does not contain masks: pass ``attn_mask``, the opposite of ``e.allowed()``, to each call, and
    ``e.memory`` as key and value. Shared keys are repeated for each head, and an identity becomes a matrix. The dtype
    is the widest of the weights.

    Raises:
        ExperimentError: sizes or settings that the module does not support; the sentence names what it got and needs.
    """
    _check_experiment("to_multihead", e)
    _check_settings(e)
    _check_sizes(e)
    e = with_setting(e, n_kv_heads=e.n_heads)
    tensors = {name: table(e, name) for name in _PROJECTIONS}
    biases = {f"b_{x}": table(e, f"b_{x}")[0] for x in "qkvo"} if has_biases(e) else {}
    dtype = _widest([*tensors.values(), *biases.values()])
    d_memory = e.memory.shape[1]
    module = nn.MultiheadAttention(
        e.d_model,
        e.n_heads,
        bias=bool(biases),
        kdim=d_memory,
        vdim=d_memory,
        batch_first=True,
        dtype=dtype,
        device="meta",
    )
    state = {name: tensor.to(dtype) for name, tensor in _state(tensors, biases, d_memory == e.d_model).items()}
    module.load_state_dict(state, assign=True)
    return module


@explain_calls
def from_multihead(module: nn.MultiheadAttention, e: Experiment, embeddings: "Embeddings" = "keep") -> Experiment:
    """Return the experiment with the weights of a module, bit for bit, and its number of heads, but not its dropout.

    ``embeddings`` is as in :func:`attnlab.files.weights.weights_apply.apply`; those of ``e`` need ``embed_dim``
    columns, a second sequence ``kdim``.

    Raises:
        ExperimentError: the module adds keys (add_bias_kv, add_zero_attn), or sizes disagree.
    """
    if not isinstance(module, nn.MultiheadAttention):
        raise ExperimentError(
            f"from_multihead was given {type(module).__name__}; it needs a torch.nn.MultiheadAttention."
        )
    _check_experiment("from_multihead", e)
    for name, on in (("add_bias_kv", module.bias_k is not None), ("add_zero_attn", module.add_zero_attn)):
        if on:
            raise ExperimentError(
                f"The module has {name}, an extra key for every sequence, which attnlab does not support."
            )
    if module.kdim != module.vdim:
        raise ExperimentError(
            f"The module has kdim {module.kdim} and vdim {module.vdim}; they must be equal, "
            "because keys and values come from one sequence."
        )
    arrays = {name: _array(name, tensor) for name, tensor in module.state_dict().items()}
    (proposal,) = guess(arrays, heads=Heads(module.num_heads, module.num_heads, "the module"))
    return apply(proposal, arrays, e, embeddings=embeddings)


def _array(name: str, tensor: Tensor) -> NamedArray:
    return make_array(
        name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), lambda: tensor.detach().cpu()
    )


def _widest(tensors: list[Tensor]) -> torch.dtype:
    dtype = tensors[0].dtype
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return dtype


def _state(tensors: dict[str, Tensor], biases: dict[str, Tensor], fused: bool) -> dict[str, Tensor]:
    """Return the state dict, matrices [out, in]; ``fused`` puts queries, keys and values into one matrix."""
    transposed = {name: tensor.T.contiguous() for name, tensor in tensors.items()}
    inner = [transposed[name] for name in ("W_q", "W_k", "W_v")]
    state = {"out_proj.weight": transposed["W_o"]}
    if fused:
        state["in_proj_weight"] = torch.cat([weight.to(_widest(inner)) for weight in inner])
    else:
        state |= {f"{x}_proj_weight": weight for x, weight in zip("qkv", inner, strict=True)}
    if biases:
        state["in_proj_bias"] = torch.cat([biases[f"b_{x}"].to(_widest(list(biases.values()))) for x in "qkv"])
        state["out_proj.bias"] = biases["b_o"]
    return state


def _check_settings(e: Experiment) -> None:
    """Check that the layer computes only what the module does: softmax of dot products ÷ √d_k."""
    c = e.config
    for choice in registry.CHOICES:
        plain = next(iter(choice.entries))
        if choice.is_on(c) and getattr(c, choice.field) != plain:
            raise _no(f"{choice.field} is {getattr(c, choice.field)!r}", f"{plain!r}")
    for entry in registry.list_entries(c):
        for option in entry.options:
            if option.name != "fill" and c.option(option.name) != option.default:
                raise _no(f"{option.name} is {c.option(option.name)}", f"{option.default}")
    if e.masked and c.option("fill") != "-inf":
        raise _no(f"fill is {c.option('fill')!r}", "'-inf'")
    if c.ablated:
        raise _no(f"ablated is {list(c.ablated)}", "all heads on")
    if e.divisor is None or abs(e.divisor / e.d_k**0.5 - 1) > 1e-12:
        raise _no(f"scale is {c.scale!r}", f"'sqrt_d_k', a division by √{e.d_k}")


def _check_sizes(e: Experiment) -> None:
    sizes = {"W_q": e.n_heads * e.d_k, "W_v": e.n_heads * e.d_v, "W_o": e.d_out}
    for name, columns in sizes.items():
        if columns != e.d_model:
            what = f"{name} has {columns} columns for all {e.n_heads} heads" if name != "W_o" else f"d_out is {columns}"
            raise _no(what, f"{e.d_model}, the columns of the embeddings")


def _no(got: str, need: str) -> ExperimentError:
    return ExperimentError(f"torch.nn.MultiheadAttention does not support this layer: {got}; it needs {need}.")


def _check_experiment(name: str, e: object) -> None:
    if not isinstance(e, Experiment):
        raise ArgumentError(f"{name} was given {type(e).__name__}; it needs an attnlab.Experiment.")
