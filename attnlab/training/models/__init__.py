"""The kinds of models, the limits of their sizes, and the count of their parameters."""

from attnlab.training.models.attention import Attention, LayerTrace
from attnlab.training.models.base_model import Model, compute_loss, watch
from attnlab.training.models.kinds import KINDS, Kind, build, check, count_parameters
from attnlab.training.models.switched_off import check_heads_off, switch_heads_off

__all__ = [
    "KINDS",
    "Attention",
    "Kind",
    "LayerTrace",
    "Model",
    "build",
    "check",
    "check_heads_off",
    "compute_loss",
    "count_parameters",
    "switch_heads_off",
    "watch",
]
