"""The frequencies of RoPE from config.json: as they are, or scaled for texts longer than those of training."""

import math
from functools import partial

import torch

from attnlab.base.errors import FileError
from attnlab.files.weights.named_array import shorten_name
from attnlab.pretrained.config_settings import MOST, Settings
from attnlab.pretrained.families.parts import refuse_unless
from attnlab.pretrained.layers import Rotation

KINDS = ("default", "linear", "dynamic", "llama3", "yarn", "longrope")
POSITIONS = 2048
"""The positions of a model whose config says nothing of them."""
LAYER_KINDS = ("full_attention", "sliding_attention")
"""The kinds of layers that a config can list."""


def read_rotation(settings: Settings, d_k: int) -> Rotation:
    """Return the rotation of queries and keys of ``d_k`` columns.

    Newer configs keep everything in ``rope_parameters``, older ones have ``rope_theta`` and ``rope_scaling``. "linear"
    divides all frequencies (Chen et al. 2023), "llama3" only the slow ones (Llama 3.1), "yarn" too, and it makes the
    scores larger (Peng et al. 2023). "dynamic" raises the base for texts longer than those of training, the more the
    longer they are; "longrope" divides each frequency by one of two lists, for short and for long texts (Ding et al.
    2024).

    Raises:
        FileError: the scaling is unknown, or one of its settings is wrong; or d_k is odd.
    """
    try:
        rotation = _make_rotation(settings, d_k)
        of_longest = rotation.find_frequencies(MOST)
    except (ArithmeticError, ValueError):  # a base of 1, whose logarithm is 0, and the like
        rotation = None
    if rotation is None or not bool(rotation.frequencies.isfinite().all() and of_longest.isfinite().all()):
        raise FileError(
            "config.json has numbers for RoPE that give no finite frequencies; its rope_theta is often 10000."
        )
    return rotation


def find_limit(settings: Settings) -> int:
    """Return the number of positions: with dynamic scaling, ``factor`` times those of training.

    Raises:
        FileError: a setting is wrong.
    """
    length = settings.whole("max_position_embeddings", default=POSITIONS)
    scaling = _find_scaling(settings)
    if _find_kind(scaling) != "dynamic":
        return length
    return int(min(length * max(scaling.number("factor", default=1.0), 1.0), MOST))


def _find_scaling(settings: Settings) -> Settings:
    return settings.inside("rope_parameters") or settings.inside("rope_scaling") or Settings({})


def _find_kind(scaling: Settings) -> object:
    return scaling.get("rope_type") or scaling.get("type") or "default"


def _find_trained_length(settings: Settings, scaling: Settings) -> int:
    """Return the length of the texts of training; a config may name it beside the settings of RoPE or within them."""
    given = settings if settings.get("original_max_position_embeddings") is not None else scaling
    default = settings.whole("max_position_embeddings", default=POSITIONS)
    return given.whole("original_max_position_embeddings", default=default)


def _make_rotation(settings: Settings, d_k: int) -> Rotation:
    if d_k % 2:
        raise FileError(
            f"config.json gives each head {d_k} columns; RoPE rotates them in pairs and needs an even number."
        )
    scaling = _find_scaling(settings)
    refuse_unless(scaling, "partial_rotary_factor", 1.0)
    if (several := next((kind for kind in LAYER_KINDS if scaling.get(kind) is not None), None)) is not None:
        raise FileError(
            f"config.json has a RoPE of its own for {several} in rope_parameters; attnlab knows one for all."
        )
    base = (settings if scaling.get("rope_theta") is None else scaling).number("rope_theta", default=10000.0)
    frequencies = _find_frequencies(base, d_k)
    kind = _find_kind(scaling)
    if kind == "default":
        return Rotation(frequencies, base=base)
    if kind == "linear":
        return Rotation(frequencies / scaling.number("factor", default=1.0))
    if kind == "llama3":
        return Rotation(_scale_slow(frequencies, _find_trained_length(settings, scaling), scaling))
    if kind == "yarn":
        return _yarn(frequencies, base, settings, scaling)
    if kind == "dynamic":
        length = settings.whole("max_position_embeddings", default=POSITIONS)
        of_long = partial(_raise_base, base, scaling.number("factor", default=1.0), length, d_k)
        return Rotation(frequencies, length=length, of_long=of_long)
    if kind == "longrope":
        return _longrope(frequencies, settings, scaling)
    raise FileError(f"config.json scales RoPE by {shorten_name(repr(kind))}; attnlab knows {', '.join(KINDS)}.")


def _find_frequencies(base: float, d_k: int) -> torch.Tensor:
    """Return base^(−2c/d_k), rounded as transformers does it: a long text multiplies the last digit by its length."""
    return 1.0 / base ** (torch.arange(0, d_k, 2, dtype=torch.int64).float() / d_k)


def _raise_base(base: float, factor: float, length: int, d_k: int, count: int) -> torch.Tensor:
    """Return the frequencies of a text of ``count`` tokens, more than the ``length`` of training."""
    return _find_frequencies(base * (1 + factor * (count / length - 1)) ** (d_k / (d_k - 2)), d_k)


def _longrope(frequencies: torch.Tensor, settings: Settings, scaling: Settings) -> Rotation:
    """Divide the frequencies by a list for short texts or one for long texts, and multiply queries and keys."""
    length = _find_trained_length(settings, scaling)
    short, long = (
        frequencies / torch.tensor(scaling.numbers(f"{name}_factor", len(frequencies))) for name in ("short", "long")
    )
    extended = settings.whole("max_position_embeddings", default=POSITIONS) / length
    factor = scaling.number("factor", default=extended)
    grown = math.sqrt(1 + math.log(factor) / math.log(length)) if factor > 1 else 1.0
    by = scaling.number("attention_factor", default=grown)
    return Rotation(short, by, length=length, of_long=lambda count: long)


def _scale_slow(frequencies: torch.Tensor, length: int, scaling: Settings) -> torch.Tensor:
    """Divide frequencies of long wavelengths, keep those of short ones, and blend between the two."""
    factor = scaling.number("factor", default=8.0)
    low, high = scaling.number("low_freq_factor", default=1.0), scaling.number("high_freq_factor", default=4.0)
    if low >= high:
        raise FileError(f"config.json has low_freq_factor {low}; it needs less than high_freq_factor, {high}.")
    turns = length * frequencies / (2 * math.pi)  # within the length of training
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return frequencies / factor * (1 - kept) + frequencies * kept


def _yarn(frequencies: torch.Tensor, base: float, settings: Settings, scaling: Settings) -> Rotation:
    """Divide the slow frequencies, along a ramp over the pairs of columns, and multiply queries and keys."""
    factor = scaling.number("factor", default=1.0)
    fast, slow = scaling.number("beta_fast", default=32.0), scaling.number("beta_slow", default=1.0)
    length = _find_trained_length(settings, scaling)
    d_k = 2 * len(frequencies)

    def find_pair(turns: float) -> float:
        """Return the pair of columns that makes this many turns within the length of training, a fraction."""
        return d_k * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = find_pair(fast), find_pair(slow)
    if scaling.flag("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, d_k - 1)
    ramp = ((torch.arange(d_k // 2).float() - first) / (last - first if last > first else 0.001)).clamp(0, 1)
    grown = scaling.get("attention_factor")
    by = scaling.number("attention_factor", default=1.0) if grown is not None else _find_factor(factor, scaling)
    return Rotation(frequencies / factor * ramp + frequencies * (1 - ramp), by)


def _find_factor(factor: float, scaling: Settings) -> float:
    """Return YaRN's multiplier of queries and keys, 0.1 ln(factor) + 1, or the quotient of two of them."""

    def grow(by: float) -> float:
        return 0.1 * by * math.log(factor) + 1.0 if factor > 1 else 1.0

    if scaling.get("mscale") and scaling.get("mscale_all_dim"):
        return grow(scaling.number("mscale", default=1.0)) / grow(scaling.number("mscale_all_dim", default=1.0))
    return grow(1.0)
