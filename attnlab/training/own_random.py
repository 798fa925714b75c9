"""A run's own random state: torch's global generators are set to it for a while and then restored.

The generators are global to the process, so only one thread at a time may set them or draw from them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch
from torch import Tensor

_GLOBAL = RLock()
"""Held by the thread that uses torch's global generators."""


@contextmanager
def draw_and_restore() -> Iterator[None]:
    """Restore torch's CPU generator after the block, which draws numbers that do not matter."""
    with _GLOBAL, torch.random.fork_rng(devices=[]):
        yield


class OwnRandom:
    """The states of torch's CPU and device generators that belong to one run."""

    def __init__(self, seed: int, device: torch.device) -> None:
        self._devices = (torch.device("cpu"),) if device.type == "cpu" else (torch.device("cpu"), device)
        self.states = [torch.Generator(each).manual_seed(seed).get_state() for each in self._devices]

    @contextmanager
    def use(self) -> Iterator[None]:
        """Use this run's generator states in the block; initial weights and dropout cannot be given a generator."""
        with _GLOBAL:
            before = [_get(device) for device in self._devices]
            try:
                for device, state in zip(self._devices, self.states, strict=True):
                    _set(device, state)
                yield
                self.states = [_get(device) for device in self._devices]
            finally:
                for device, state in zip(self._devices, before, strict=True):
                    _set(device, state)


def _get(device: torch.device) -> Tensor:
    if device.type == "cuda":
        return torch.cuda.get_rng_state(device)
    return torch.mps.get_rng_state() if device.type == "mps" else torch.get_rng_state()


def _set(device: torch.device, state: Tensor) -> None:
    if device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    elif device.type == "mps":
        torch.mps.set_rng_state(state)
    else:
        torch.set_rng_state(state)
