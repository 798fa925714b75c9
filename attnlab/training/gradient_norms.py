"""How large the gradient of each layer is: the norm of the gradients of its parameters together."""

from collections.abc import Mapping, Sequence

from torch import nn
from torch.nn.utils import get_total_norm

from attnlab.training.models.base_model import Model

_STACKS = ("blocks", "encoder", "decoder")


def group_parameters(model: Model) -> dict[str, list[nn.Parameter]]:
    """Return the trainable parameters of a model by layer: "embedding", "decoder 1", …, "output".

    The embedding has both tables of a model with an encoder, and the positions; the output has the last norms. A table
    that also computes the logits is in the embedding only.
    """
    groups: dict[str, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups.setdefault(_name_layer(model, name), []).append(parameter)
    return groups


def _name_layer(model: Model, name: str) -> str:
    first, second = [*name.split("."), ""][:2]
    if first in _STACKS and second.isdigit():
        stack = next(iter(model.layers)).split(" ")[0] if first == "blocks" else first
        return f"{stack} {int(second) + 1}"
    if first in ("embedding", "source_embedding", "positions"):
        return "embedding"
    return "output" if first in ("norm", "norms", "output", "mixed") else first


def measure_norms(groups: Mapping[str, Sequence[nn.Parameter]]) -> tuple[tuple[str, float], ...]:
    """Return the norm of the present gradients of each group; parameters without a gradient count as 0."""
    return tuple(
        (name, get_total_norm([each.grad for each in parameters if each.grad is not None]).item())
        for name, parameters in groups.items()
    )
