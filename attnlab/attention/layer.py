"""A layer as its registry entries see it: its sizes, tokens and configuration, without the class that holds them."""

from collections.abc import Mapping
from typing import Any, Protocol

from torch import Tensor


class LayerConfig(Protocol):
    """The configuration of a layer; :class:`attnlab.AttentionConfig` is one."""

    @property
    def causal(self) -> bool:
        """Whether a query may attend to itself and earlier keys only."""

    @property
    def mask(self) -> Tensor | None:
        """The custom mask, boolean [T_q, T_k], True where a query may attend."""

    @property
    def masks(self) -> Mapping[str, int]:
        """The masks that are on, by name, each with its number."""

    @property
    def normalizer(self) -> str:
        """The name of the normaliser."""

    def option(self, name: str) -> Any:
        """Return an option's value; KeyError for an unknown name."""


class Layer(Protocol):
    """An attention layer on one sentence; :class:`attnlab.Experiment` is one."""

    @property
    def config(self) -> LayerConfig:
        """The configuration."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the queries."""

    @property
    def key_tokens(self) -> tuple[str, ...]:
        """The tokens of the keys and values."""

    @property
    def memory(self) -> Tensor:
        """The embeddings that keys and values come from, [T_k, d_memory]."""

    @property
    def T_q(self) -> int:  # the field's name
        """How many queries there are."""

    @property
    def T_k(self) -> int:  # the field's name
        """How many keys there are."""

    @property
    def n_heads(self) -> int:
        """How many heads there are."""

    @property
    def n_kv_heads(self) -> int:
        """How many key and value heads there are."""

    @property
    def d_model(self) -> int:
        """How many columns an embedding has."""

    @property
    def d_k(self) -> int:
        """How many columns a query and a key of one head have."""

    @property
    def d_v(self) -> int:
        """How many columns a value of one head has."""

    @property
    def d_out(self) -> int:
        """How many columns the output has."""

    @property
    def d_ff(self) -> int:
        """How many hidden numbers the feed-forward has for each token; 0 without one."""

    def find_free_size(self, axis: str) -> int:
        """Return the size of a free axis of the tables in use, such as "hidden"; KeyError if none has it."""
