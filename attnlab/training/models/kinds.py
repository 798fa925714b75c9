"""The kinds of models and the limits of their sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnlab.attention.experiment import Experiment, Weights
from attnlab.attention.registries.positions import POSITIONS
from attnlab.base.errors import ExperimentError
from attnlab.training.models.base_model import Model
from attnlab.training.models.blocks import configure_self_attention
from attnlab.training.models.recurrent import Bahdanau, Luong, Recurrent
from attnlab.training.models.transformers import EncoderDecoder, OneStack, OnNumbers
from attnlab.training.specs import ModelSpec
from attnlab.training.tasks.data import Data

ALL = ("layers", "heads", "d_model", "d_ff", "norm", "positions", "dropout")
OF_RECURRENT = ("layers", "d_model", "dropout")
NORM = ("before", "after", "none")
MOST = {"layers": 12, "heads": 64, "d_model": 1024, "d_ff": 4096}
"""The largest sizes; larger models train too slowly on a personal computer to be watched."""
MOST_NUMBERS = 80_000_000
"""The maximum number of parameters: with two more numbers for each, kept by optimisers, a checkpoint is below 1 GiB."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of model. ``fields`` are the fields of :class:`ModelSpec` that it uses; ``make`` needs a checked spec.

    ``source``: the model reads a source separately from its inputs.
    """

    name: str
    title: str
    about: str
    fields: tuple[str, ...]
    make: Callable[[ModelSpec, Data], Model]
    source: bool = False

    def build(self, spec: ModelSpec, data: Data) -> Model:
        """Return the model with its initial weights, drawn from torch's own generator, which the caller seeds."""
        return self.make(spec, data)


def _build_decoder(spec: ModelSpec, data: Data) -> Model:
    return OneStack(spec, data, "decoder", True, nn.ReLU if spec.norm == "after" else nn.GELU)


def _build_encoder(spec: ModelSpec, data: Data) -> Model:
    return OneStack(spec, data, "encoder", False, nn.GELU)


def _build_attention_only(spec: ModelSpec, data: Data) -> Model:
    if data.features:
        return OnNumbers(spec, data)
    bare = ModelSpec(spec.kind, spec.layers, spec.heads, spec.d_model, 0, spec.norm, spec.positions, spec.dropout)
    return OneStack(bare, data, "attention", data.causal, nn.Identity)


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "attention",
            "Attention only",
            "Layers of attention with nothing between them show what attention can do alone.",
            tuple(name for name in ALL if name != "d_ff"),
            _build_attention_only,
        ),
        Kind(
            "decoder",
            "GPT-style decoder",
            "Each token attends to the tokens before it and predicts the next one (Radford et al. 2019). With the norm "
            "after each part it uses ReLU and a separate output layer, else GELU and the tied embedding table.",
            ALL,
            _build_decoder,
        ),
        Kind(
            "encoder",
            "BERT-style encoder",
            "Each token attends to all others, and each position predicts its own target (Devlin et al. 2019).",
            ALL,
            _build_encoder,
        ),
        Kind(
            "encoder-decoder",
            "Encoder–decoder Transformer",
            "One stack reads the source; the other writes the target and attends to the first (Vaswani et al. 2017).",
            ALL,
            EncoderDecoder,
            source=True,
        ),
        Kind(
            "recurrent",
            "Recurrent, no attention",
            "The decoder knows the source only as one vector (Cho et al. 2014; Sutskever et al. 2014).",
            OF_RECURRENT,
            Recurrent,
            source=True,
        ),
        Kind(
            "bahdanau",
            "Recurrent, Bahdanau’s attention",
            "Before each step the decoder attends to all encoder states with additive scores (Bahdanau et al. 2015).",
            OF_RECURRENT,
            Bahdanau,
            source=True,
        ),
        Kind(
            "luong",
            "Recurrent, Luong’s attention",
            "After each step the decoder attends to all encoder states with general scores (Luong et al. 2015).",
            OF_RECURRENT,
            Luong,
            source=True,
        ),
    )
}


def build(spec: ModelSpec, data: Data) -> Model:
    """Return a model with its initial weights, drawn from torch's own generator, which the caller seeds."""
    return KINDS[spec.kind].build(spec, data)


def build_empty(spec: ModelSpec, data: Data) -> Model:
    """Return a model whose weights have shapes only: nothing is allocated or drawn."""
    with torch.device("meta"), _SkippedInitialisation():
        return build(spec, data)


def count_parameters(spec: ModelSpec, data: Data) -> tuple[int, int]:
    """Return the number of parameters of a model and of its trainable ones."""
    parameters = list(build_empty(spec, data).parameters())
    return sum(p.numel() for p in parameters), sum(p.numel() for p in parameters if p.requires_grad)


class _SkippedInitialisation(TorchFunctionMode):
    """Skips the initialisation: on meta tensors, torch would load its compiler for it, which takes seconds."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if func in (Tensor.uniform_, Tensor.normal_, Tensor.div_, nn.init.uniform_, nn.init.normal_):
            return args[0] if args else given["tensor"]
        return (torch.empty if func is torch.eye else func)(*args, **given)


def check(spec: ModelSpec, data: Data) -> str:
    """Return one sentence that names an invalid setting of a model, its value and a valid one; "" if all are valid."""
    if spec.kind not in KINDS:
        return f"kind is {spec.kind!r}; it needs one of {', '.join(KINDS)}."
    return _check_sizes(spec) or _check_for_data(spec, data) or _check_attention(spec) or _check_total(spec, data)


def _check_sizes(spec: ModelSpec) -> str:
    fields = KINDS[spec.kind].fields
    for name in (name for name in MOST if name in fields):
        least, value = int(name != "d_ff"), getattr(spec, name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST[name]:
            return f"{name} is {value!r}; it needs a whole number from {least} to {MOST[name]}."
    if not 0 <= spec.dropout < 1:
        return f"dropout is {spec.dropout!r}; it needs a number from 0 to below 1."
    for name, choices in (
        ("norm", NORM),
        ("positions", tuple(name for name, each in POSITIONS.items() if each.is_trained)),
    ):
        if name in fields and getattr(spec, name) not in choices:
            return f"{name} is {getattr(spec, name)!r}; it needs one of {', '.join(choices)}."
    return ""


def _check_for_data(spec: ModelSpec, data: Data) -> str:
    kind = KINDS[spec.kind]
    if data.features and spec.kind != "attention":
        return f"kind is {spec.kind!r}, which reads tokens, but this task consists of numbers; it needs 'attention'."
    if data.features and spec.d_model != data.features:
        return f"d_model is {spec.d_model}; it needs {data.features}, the columns of this task’s numbers."
    if kind.source and not data.longest_source:
        return (
            f"kind is {spec.kind!r}, which reads a source, but this task has none; it needs a kind such as 'decoder'."
        )
    if not kind.source and data.longest_source:
        return f"kind is {spec.kind!r}, which reads no source, but this task has one; it needs 'encoder-decoder'."
    return ""


def _check_total(spec: ModelSpec, data: Data) -> str:
    total, _ = count_parameters(spec, data)
    if total <= MOST_NUMBERS:
        return ""
    return f"The model has {total:,} parameters, more than {MOST_NUMBERS:,}; choose fewer layers or a smaller d_model."


def _check_attention(spec: ModelSpec) -> str:
    d_model, heads = spec.d_model, spec.heads
    if "heads" not in KINDS[spec.kind].fields:
        needed = "it needs an even number, half for each direction of the encoder"
        return "" if d_model % 2 == 0 else f"d_model is {d_model}; {needed}."
    if d_model % heads:
        fits = ", ".join(str(n) for n in range(1, min(d_model, MOST["heads"]) + 1) if d_model % n == 0)
        return f"heads is {heads}; it needs to divide d_model = {d_model}: {fits}."
    config = configure_self_attention(spec, False)
    table = torch.zeros(d_model, d_model)
    extra = {"B": torch.zeros(config.option("t5_buckets"), heads)} if spec.positions == "t5" else {}
    try:
        Experiment(("",), table[:1], Weights(W_q=table, W_k=table, W_v=table, extra=extra), config)
    except ExperimentError as error:
        return str(error)
    return ""
