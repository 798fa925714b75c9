"""Computes an experiment: lists and resolves devices and dtypes, and limits the size."""

import os
import warnings
from reprlib import repr

import torch

from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.table import STAGES
from attnlab.attention.stages.trace import Trace
from attnlab.base.counted import format_count
from attnlab.base.errors import ArgumentError, DeviceError

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
BUDGET = 2 << 30
"""The maximum number of bytes of the stages shown in a window."""
_CPU = torch.device("cpu")
# torch says so at the first derivative on a GPU, whose thread it then sets up by itself.
warnings.filterwarnings("ignore", "Attempting to run cuBLAS, but there was no current CUDA context")


def devices() -> tuple[str, ...]:
    """Return the names of the available devices: cpu first, then cuda (each one, if several) and mps."""
    found = ["cpu"]
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    found += ["cuda"] if count == 1 else [f"cuda:{i}" for i in range(count)]
    if torch.backends.mps.is_available():
        found.append("mps")
    return tuple(found)


def prepare() -> None:
    """Limit torch to half of the cores, for a program with a window. Call once, before any other torch work.

    With as many threads as cores, torch's waiting threads and the painting of the window slow each other down.
    """
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))


def resolve_device(device: str | torch.device) -> torch.device:
    """Return the device with that name.

    Raises:
        DeviceError: unknown or missing; the sentence names the available ones.
    """
    if isinstance(device, str) and device == "cpu":
        return _CPU  # the usual case; listing the other devices takes longer than a small layer
    if not isinstance(device, str | torch.device):
        raise DeviceError(f"device is {repr(device)}; it needs a name, such as {devices()[-1]!r}.")
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError):
        raise DeviceError(f"The device {str(device)!r} is unknown; this machine has {', '.join(devices())}.") from None
    if (resolved.index or 0) >= _count(resolved.type):
        raise DeviceError(f"The device {str(device)!r} is missing; this machine has {', '.join(devices())}.")
    return resolved


def _count(kind: str) -> int:
    """Return the number of devices of a kind."""
    if kind == "cuda":
        return torch.cuda.device_count() if torch.cuda.is_available() else 0
    if kind == "mps":
        return int(torch.backends.mps.is_available())
    return int(kind == "cpu")


def resolve_dtype(dtype: str | torch.dtype) -> torch.dtype:
    """Return the dtype with that name.

    Raises:
        DeviceError: unknown, or not supported for attention.
    """
    if not isinstance(dtype, str | torch.dtype):
        raise DeviceError(f"dtype is {repr(dtype)}; there are {', '.join(DTYPES)}.")
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise DeviceError(f"The dtype {name!r} is unknown; there are {', '.join(DTYPES)}.")
    return DTYPES[name]


def estimate_bytes(e: Experiment, dtype: str | torch.dtype = "float32") -> int:
    """Return the approximate number of bytes of an experiment's stages, mostly its maps of query by key.

    For a score function with hidden units, each query and key needs that many more numbers.
    """
    size = resolve_dtype(dtype).itemsize
    maps = sum(stage.is_map and stage.present(e) for stage in STAGES) + 2  # two more for temporaries and for display
    between = max((e.weights.extra[table.name].shape[-1] for table in SCORES[e.config.score].tables), default=0)
    heads = e.n_heads * (e.T_q * (e.d_k + between) + e.T_k * (e.d_k + e.d_v + between) + e.T_q * e.d_v)
    block = 0 if e.config.block == "none" else e.T_q * (6 * e.d_model + 3 * e.d_ff)
    return e.n_layers * size * (maps * e.n_heads * e.T_q * e.T_k + heads + block)


def check_size(e: Experiment, dtype: str | torch.dtype = "float32") -> None:
    """Check that the stages of an experiment are small enough to be shown in a window.

    Raises:
        DeviceError: it needs more than ``BUDGET``.
    """
    bytes_ = estimate_bytes(e, dtype)
    if bytes_ > BUDGET:
        raise DeviceError(
            f"{format_count(e.T_q, 'query', 'queries')} by {format_count(e.T_k, 'key')} in "
            f"{format_count(e.n_heads, 'head')} take about "
            f"{bytes_ / 2**30:.1f} GiB; the window shows up to {BUDGET >> 30} GiB. Use fewer tokens or heads."
        )


def compute(experiment: Experiment, device: str | torch.device = "cpu", dtype: str | torch.dtype = "float32") -> Trace:
    """Return the stages of an experiment, each evaluated on first access, without gradients.

    Raises:
        DeviceError: the device or the dtype is unknown or missing, or the device does not support float64.
        ArgumentError: ``experiment`` is not an Experiment.
    """
    if not isinstance(experiment, Experiment):
        raise ArgumentError(f"compute was given {type(experiment).__name__}; it needs an attnlab.Experiment.")
    where, what = resolve_device(device), resolve_dtype(dtype)
    if where.type == "mps" and what == torch.float64:
        raise DeviceError("The device 'mps' does not support float64; use float32 or the CPU.")
    return Trace(experiment, where, what)
