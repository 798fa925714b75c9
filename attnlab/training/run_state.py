"""Conversion of the state of a run to named arrays and back: weights, optimiser, random generators."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from attnlab.base.errors import TrainingError
from attnlab.training.messages import Arrays

MODEL, OPTIMIZER = "model/", "optimizer/"
"""The prefixes of the names of weights and of optimiser arrays in a checkpoint."""


def to_array(tensor: Tensor) -> NDArray[np.generic]:
    """Return a copy of a tensor, because the optimiser changes weights in place."""
    copied: NDArray[np.generic] = tensor.detach().to("cpu", copy=True).numpy()
    return copied


def read_weights(model: nn.Module) -> dict[str, NDArray[np.generic]]:
    """Return copies of the weights by the names of the state dict, float32."""
    return {name: to_array(tensor.float()) for name, tensor in model.state_dict().items()}


def put_weights(model: nn.Module, given: Arrays) -> None:
    """Copy weights into a model; those not named stay.

    Raises:
        TrainingError: an unknown name, a wrong shape, or a number that is not finite.
    """
    own = model.state_dict()
    for name, value in given.items():
        if name not in own:
            raise TrainingError(f"The model has no weights {name!r}; it has {', '.join(own)}.")
        _check(name, value, tuple(own[name].shape))
    with torch.no_grad():
        for name, value in given.items():
            own[name].copy_(torch.tensor(value.astype(np.float32)))


def read_optimizer(optimizer: Optimizer) -> dict[str, NDArray[np.generic]]:
    """Return copies of the optimiser's state of each weight, by "index of the weight/name"."""
    found: dict[str, NDArray[np.generic]] = {}
    for number, kept in optimizer.state_dict()["state"].items():
        found |= {f"{number}/{name}": to_array(value) for name, value in kept.items() if isinstance(value, Tensor)}
    return found


def put_optimizer(optimizer: Optimizer, given: Arrays) -> None:
    """Restore an optimiser's state from what :func:`read_optimizer` returned.

    Raises:
        TrainingError: an array does not fit its weight.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    kept: dict[int, dict[str, Tensor]] = {}
    for key, value in given.items():
        number, _, name = key.partition("/")
        if not number.isdecimal() or int(number) >= len(parameters):
            raise TrainingError(f"The optimiser has no state {key!r}; the run has changed since its checkpoint.")
        shape = () if name == "step" else tuple(parameters[int(number)].shape)
        _check(key, value, shape)
        kept.setdefault(int(number), {})[name] = torch.tensor(value)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": kept})


def remove_prefix(prefix: str, state: Arrays) -> dict[str, NDArray[np.generic]]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def add_prefix(prefix: str, arrays: Mapping[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """Return arrays with a prefix before their names."""
    return {prefix + name: value for name, value in arrays.items()}


def _check(name: str, value: NDArray[np.generic], shape: tuple[int, ...]) -> None:
    if value.shape != shape:
        raise TrainingError(f"The weights {name!r} are {list(value.shape)}; the model needs {list(shape)}.")
    with np.errstate(over="ignore"):  # a number too large for float32 would become infinite
        finite = np.issubdtype(value.dtype, np.floating) and np.isfinite(value.astype(np.float32)).all()
    if not finite:
        raise TrainingError(f"The weights {name!r} contain ∞ or NaN; every number must be finite.")
