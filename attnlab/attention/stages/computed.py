"""The protocol through which a stage's functions read earlier stages; :class:`attnlab.Trace` implements it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.attention.registries.entries import Entry

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


class StageEntry(Protocol):
    """An entry of the stage table, as its explanations see it."""

    @property
    def title(self) -> str:
        """The title on cards."""

    @property
    def role(self) -> str:
        """The role that determines the colour."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes."""

    @property
    def has_heads(self) -> bool:
        """Whether the first axis is the head."""


class Computed(Protocol):
    """The stages of an experiment on one device in one dtype."""

    @property
    def experiment(self) -> "Experiment":
        """The experiment that is computed."""

    @property
    def device(self) -> torch.device:
        """The device of the computation."""

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the computation."""

    @property
    def hidden(self) -> Tensor | None:
        """The cells that are masked, boolean [T_q, T_k]; read-only."""

    @property
    def has_empty_rows(self) -> bool:
        """Whether the mask leaves a query nothing to attend to."""

    @property
    def below(self) -> "Computed | None":
        """The stages of the layer below in a stack; None for the first."""

    def __getitem__(self, name: str) -> Tensor:
        """Return a stage as a tensor."""

    def __contains__(self, name: str) -> bool:
        """Return whether the configuration has a stage."""

    def stage(self, name: str) -> StageEntry:
        """Return the entry of the stage table."""

    def sources(self, name: str) -> tuple[str, ...]:
        """Return the names of the stages that a stage is computed from."""

    def array(self, name: str) -> NDArray[np.floating]:
        """Return a stage as an array on the CPU."""

    def mean(self, name: str) -> NDArray[np.floating]:
        """Return a stage averaged over its heads."""

    def take(self, tensor: Tensor) -> Tensor:
        """Return a tensor of the experiment on this device in this dtype."""

    def parameters(self, entry: Entry) -> Mapping[str, Any]:
        """Return the tables and options of an entry by name."""

    def plain_parameters(self, entry: Entry) -> Mapping[str, Any]:
        """Return the same with tables as float64 arrays."""
