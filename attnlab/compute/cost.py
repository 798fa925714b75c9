"""What attention costs: milliseconds and bytes, measured; against T, on each device, and against plain loops."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.attention.edits.token_edits import MAX_TOKENS, resize_tokens
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.presence import sources
from attnlab.attention.stages.trace import Trace
from attnlab.compute.engine import BUDGET, check_size, compute, needed

SIZES = tuple(2**i for i in range(2, MAX_TOKENS.bit_length()))
"""The T of the curve: 4, 8, …, 512."""
MOST_RUNS, MOST_SECONDS = 15, 0.15
"""Runs that are timed end with whichever comes first."""
MOST_PRODUCTS = 8_000_000
"""Multiplications that plain loops are asked for: about half a second of them."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one computation of all stages took: the median of ``runs``, and the bytes of what it wrote."""

    device: str
    dtype: str
    T: int
    milliseconds: float
    bytes: int
    runs: int


@dataclass(frozen=True, slots=True)
class Loops:
    """Plain Python loops against the matrix product, on the same numbers; ``difference`` is the largest there is.

    ``heads``, ``T_q`` and ``T_k`` are what both computed, ``cut`` whether the experiment has more.
    """

    heads: int
    T_q: int
    T_k: int
    loops_ms: float
    matrix_ms: float
    difference: float
    cut: bool

    @property
    def times_faster(self) -> float:
        """How many times faster the matrix product is."""
        return self.loops_ms / self.matrix_ms if self.matrix_ms else math.inf


def measure(e: Experiment, device: str = "cpu", dtype: str = "float32") -> Cost:
    """Return what computing all stages of an experiment takes, warm.

    Raises:
        DeviceError: the device or the dtype cannot be had, or the experiment is too large for a window.
    """
    check_size(e, dtype)
    written = _bytes(_computed(e, device, dtype))  # and the device is warm
    times = _times(lambda: _computed(e, device, dtype))
    return Cost(device, dtype, e.T_q, statistics.median(times), written, len(times))


def measure_at(e: Experiment, T: int, device: str = "cpu", dtype: str = "float32") -> Cost | None:
    """Return what an experiment would take with T tokens; None when that is more than a window holds.

    Raises:
        DeviceError: as :func:`measure`.
    """
    resized = resize_tokens(e, T)
    return measure(resized, device, dtype) if needed(resized, dtype) <= BUDGET else None


def _computed(e: Experiment, device: str, dtype: str) -> Trace:
    trace = compute(e, device, dtype)
    for name in trace.all_stages:
        trace[name]
    _wait_for(trace.device)
    return trace


def _wait_for(device: torch.device) -> None:
    """Wait until a device has done what it was told: it works beside the program, which reads the clock too early."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _times(run: Callable[[], object]) -> list[float]:
    """Return the milliseconds of several runs: at least one."""
    times: list[float] = []
    while not times or (len(times) < MOST_RUNS and math.fsum(times) < MOST_SECONDS * 1e3):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def _bytes(trace: Trace) -> int:
    """Return the bytes of the stages' tensors; those that are another view of the same memory count once."""
    sizes: dict[int, int] = {}
    for name in trace.all_stages:
        tensor = trace[name]
        where = tensor.untyped_storage().data_ptr()
        sizes[where] = max(sizes.get(where, 0), tensor.element_size() * tensor.numel())
    return sum(sizes.values())


def against_loops(trace: Trace) -> Loops:
    """Return both times of softmax(Q Kᵀ ÷ divisor) V, without masks, on a trace's own Q, K and V.

    Both run on the CPU: the loops in Python's float64, the matrix product in the trace's dtype. Of much, only so many
    heads and tokens are taken that the loops end soon.
    """
    q, k, v = (trace[name].cpu() for name in (*sources(trace.experiment, "scores"), "values"))
    heads, T = _fitting(q, k, v)
    cut = (heads, min(T, q.shape[1]), min(T, k.shape[1])) != (len(q), q.shape[1], k.shape[1])
    q, k, v = q[:heads, :T], k[:heads, :T], v[:heads, :T]
    divisor = trace.experiment.divisor or 1.0
    lists = [tensor.tolist() for tensor in (q, k, v)]
    start = time.perf_counter()
    slow = [_looped(*head) for head in zip(*lists, [divisor] * heads, strict=True)]
    loops_ms = (time.perf_counter() - start) * 1e3
    fast = _multiplied(q, k, v, divisor)
    matrix_ms = statistics.median(_times(lambda: _multiplied(q, k, v, divisor)))
    gap = float((torch.tensor(slow, dtype=torch.float64) - fast.double()).abs().max())
    return Loops(heads, q.shape[1], k.shape[1], loops_ms, matrix_ms, gap, cut)


def _fitting(q: Tensor, k: Tensor, v: Tensor) -> tuple[int, int]:
    """Return how many heads, and how many tokens at most, loops get through in time."""
    each = q.shape[2] + v.shape[2]
    heads = MOST_PRODUCTS // (q.shape[1] * k.shape[1] * each)
    if heads:
        return min(heads, len(q)), MAX_TOKENS
    return 1, max(1, math.isqrt(MOST_PRODUCTS // each))


Rows = Sequence[Sequence[float]]


def _looped(q: Rows, k: Rows, v: Rows, divisor: float) -> list[list[float]]:
    """Return the context of one head, number by number."""
    context = []
    for query in q:
        scores = []
        for key in k:
            score = 0.0
            for i in range(len(query)):
                score += query[i] * key[i]
            scores.append(score / divisor)
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        mixed = [0.0] * len(v[0])
        for power, value in zip(powers, v, strict=True):
            for i in range(len(value)):
                mixed[i] += power / total * value[i]
        context.append(mixed)
    return context


def _multiplied(q: Tensor, k: Tensor, v: Tensor, divisor: float) -> Tensor:
    return torch.softmax(q @ k.mT / divisor, -1) @ v
