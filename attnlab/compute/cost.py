"""Measures the cost of attention in milliseconds and bytes: for each T, on each device, and compared with loops."""

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
from attnlab.compute.engine import BUDGET, check_size, compute, estimate_bytes

SIZES = tuple(2**i for i in range(2, MAX_TOKENS.bit_length()))
"""The T of the curve: 4, 8, …, 512."""
MOST_RUNS, MOST_SECONDS = 15, 0.15
"""Limits of the timed runs; the first one reached ends them."""
MOST_PRODUCTS = 8_000_000
"""The maximum number of multiplications for plain loops: about half a second."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of computing all stages once: the median time of ``runs``, and the memory used by the stages."""

    device: str
    dtype: str
    T: int
    milliseconds: float
    bytes: int
    runs: int


@dataclass(frozen=True, slots=True)
class Loops:
    """Plain Python loops compared with the matrix product, on the same numbers; ``difference`` is the largest one.

    ``heads``, ``T_q`` and ``T_k`` are the sizes that both computed; ``cut`` is True if the experiment is larger.
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
    """Return the cost of computing all stages of an experiment, after a warm-up run.

    Raises:
        DeviceError: the device or the dtype is not available, or the experiment is too large for a window.
    """
    check_size(e, dtype)
    written = _bytes(_compute_all(e, device, dtype))  # also warms up the device
    times = _time_runs(lambda: _compute_all(e, device, dtype))
    return Cost(device, dtype, e.T_q, statistics.median(times), written, len(times))


def measure_at(e: Experiment, T: int, device: str = "cpu", dtype: str = "float32") -> Cost | None:
    """Return the cost of an experiment with T tokens; None if that is too large for a window.

    Raises:
        DeviceError: as :func:`measure`.
    """
    resized = resize_tokens(e, T)
    return measure(resized, device, dtype) if estimate_bytes(resized, dtype) <= BUDGET else None


def _compute_all(e: Experiment, device: str, dtype: str) -> Trace:
    trace = compute(e, device, dtype)
    for name in trace.all_stages:
        trace[name]
    _wait_for(trace.device)
    return trace


def _wait_for(device: torch.device) -> None:
    """Wait until an asynchronous device has finished, so that the clock is not read too early."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _time_runs(run: Callable[[], object]) -> list[float]:
    """Return the milliseconds of each of several runs, at least one."""
    times: list[float] = []
    while not times or (len(times) < MOST_RUNS and math.fsum(times) < MOST_SECONDS * 1e3):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def _bytes(trace: Trace) -> int:
    """Return the bytes of the stages' tensors; views of the same memory count once."""
    sizes: dict[int, int] = {}
    for name in trace.all_stages:
        tensor = trace[name]
        where = tensor.untyped_storage().data_ptr()
        sizes[where] = max(sizes.get(where, 0), tensor.element_size() * tensor.numel())
    return sum(sizes.values())


def compare_with_loops(trace: Trace) -> Loops:
    """Return the times of loops and matrix product for softmax(Q Kᵀ ÷ divisor) V, unmasked, on a trace's Q, K and V.

    Both run on the CPU: the loops in Python's float64, the matrix product in the trace's dtype. Large experiments are
    cut to the heads and tokens that the loops can compute in time.
    """
    q, k, v = (trace[name].cpu() for name in (*sources(trace.experiment, "scores"), "values"))
    heads, T = _limit_sizes(q, k, v)
    cut = (heads, min(T, q.shape[1]), min(T, k.shape[1])) != (len(q), q.shape[1], k.shape[1])
    q, k, v = q[:heads, :T], k[:heads, :T], v[:heads, :T]
    divisor = trace.experiment.divisor or 1.0
    lists = [tensor.tolist() for tensor in (q, k, v)]
    start = time.perf_counter()
    slow = [_run_loops(*head) for head in zip(*lists, [divisor] * heads, strict=True)]
    loops_ms = (time.perf_counter() - start) * 1e3
    fast = _run_products(q, k, v, divisor)
    matrix_ms = statistics.median(_time_runs(lambda: _run_products(q, k, v, divisor)))
    gap = float((torch.tensor(slow, dtype=torch.float64) - fast.double()).abs().max())
    return Loops(heads, q.shape[1], k.shape[1], loops_ms, matrix_ms, gap, cut)


def _limit_sizes(q: Tensor, k: Tensor, v: Tensor) -> tuple[int, int]:
    """Return the maximum numbers of heads and of tokens that loops compute in time."""
    each = q.shape[2] + v.shape[2]
    heads = MOST_PRODUCTS // (q.shape[1] * k.shape[1] * each)
    if heads:
        return min(heads, len(q)), MAX_TOKENS
    return 1, max(1, math.isqrt(MOST_PRODUCTS // each))


Rows = Sequence[Sequence[float]]


def _run_loops(q: Rows, k: Rows, v: Rows, divisor: float) -> list[list[float]]:
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


def _run_products(q: Tensor, k: Tensor, v: Tensor, divisor: float) -> Tensor:
    return torch.softmax(q @ k.mT / divisor, -1) @ v
