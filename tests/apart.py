"""A device that refuses to be mixed with the CPU: torch's meta device, checked at every call."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

DEVICE = torch.device("meta")
_MOVES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)
_LENGTHS_ON_CPU = (torch.ops.aten._pack_padded_sequence.default, torch.ops.aten._pad_packed_sequence.default)


class _Apart(TorchDispatchMode):
    """Refuses to compute with tensors of two devices; numbers read from it, which meta lacks, are ones."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        places = {tensor.device.type for tensor in tensors if tensor.ndim}
        if func is torch.ops.aten._to_copy.default and args[0].is_meta and str(kwargs.get("device")) == "cpu":
            return torch.ones(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype, device="cpu")
        if len(places) > 1 and func not in (*_MOVES, *_LENGTHS_ON_CPU):
            raise AssertionError(f"{func} was given tensors on {' and '.join(sorted(places))}")
        if func in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.equal.default) and args[0].is_meta:
            return True
        return func(*args, **kwargs)


@contextmanager
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[torch.device]:
    """Provide a device whose tensors cannot be combined with those of the CPU, except for single numbers."""
    there = torch.is_autocast_enabled
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda kind: kind != "meta" and there(kind))
    with _Apart():
        yield DEVICE
