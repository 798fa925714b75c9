"""Benchmark of the mathematics: all stages of a trace, compared with a hand-written torch function."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.bench.measure import Case, make_case, run_in_turns
from attnlab.compute.engine import compute, prepare, resolve_device

SIZES = {16: (2000, 1.3), 512: (60, 1.05)}
"""Tokens: the number of runs, and the target, the largest allowed multiple of the hand-written time."""
D_MODEL, HEADS = 64, 8


def make_experiment(tokens: int, causal: bool = True) -> Experiment:
    """Return a layer of random numbers with W_o, d_model 64, 8 heads, float32."""
    g = torch.Generator().manual_seed(0)
    X = torch.randn(tokens, D_MODEL, generator=g)
    weights = [torch.randn(D_MODEL, D_MODEL, generator=g) / D_MODEL**0.5 for _ in range(4)]
    config = AttentionConfig(n_heads=HEADS, causal=causal)
    return Experiment([f"token{i}" for i in range(tokens)], X, Weights(*weights), config)


def compute_by_hand(
    x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, future: Tensor
) -> tuple[Tensor, ...]:
    """Compute every stage of causal attention in plain torch; ``future`` [T, T] is true where a pair is masked."""
    T = x.shape[0]
    X = x.clone()
    Q = (X @ W_q).view(T, heads, -1).transpose(0, 1)  # [T, h·d] -> [h, T, d]
    K = (X @ W_k).view(T, heads, -1).transpose(0, 1)
    V = (X @ W_v).view(T, heads, -1).transpose(0, 1)
    scores = Q @ K.transpose(-2, -1)
    scaled = scores / K.shape[-1] ** 0.5
    masked = scaled.masked_fill(future, -torch.inf)
    weights = torch.softmax(masked, dim=-1)
    Z = weights @ V
    output = Z.transpose(0, 1).reshape(T, -1) @ W_o
    return X, Q, K, V, scores, scaled, masked, weights, Z, output


def run_cases(quick: bool = False, device: str = "cpu") -> Iterator[Case]:
    """Yield a case for each length of the sentence; on a GPU both ways begin with copying the layer there.

    Raises:
        DeviceError: the device is unknown or missing.
    """
    where = resolve_device(device)
    threads = torch.get_num_threads()
    prepare()
    try:
        for tokens, (runs, slack) in SIZES.items():
            yield _measure(tokens, 3 if quick else runs, slack, where)
    finally:
        torch.set_num_threads(threads)


def _measure(tokens: int, runs: int, slack: float, device: torch.device) -> Case:
    e = make_experiment(tokens)
    w = e.weights
    assert w.W_q is not None
    assert w.W_k is not None
    assert w.W_v is not None
    assert w.W_o is not None
    tensors = (e.embeddings, w.W_q, w.W_k, w.W_v, w.W_o)
    future = torch.ones(tokens, tokens, dtype=torch.bool, device=device).triu(1)

    def run_ours() -> tuple[Tensor, ...]:
        trace = compute(e, device)
        return tuple(trace[name] for name in trace.stages)

    def run_baseline() -> tuple[Tensor, ...]:
        with torch.no_grad():
            x, W_q, W_k, W_v, W_o = (each.to(device) for each in tensors)
            return compute_by_hand(x, W_q, W_k, W_v, W_o, HEADS, future)

    for mine, other in zip(run_ours(), run_baseline(), strict=True):
        torch.testing.assert_close(mine, other)  # both must compute the same
    mine_us, other_us = run_in_turns(runs, _time(run_ours, device), _time(run_baseline, device))
    name = f"T={tokens}" if device.type == "cpu" else f"T={tokens} on {device}"
    return make_case("engine", name, mine_us, other_us, "µs", f"ratio ≥ {1 / slack:.2f}")


def _time(function: Callable[[], object], device: torch.device) -> Callable[[], float]:
    """Return a function that times one call and keeps its result until the next, as a window keeps what it shows.

    Otherwise the allocator would return the memory to the system after each call, and getting it again takes longer
    than the mathematics. A GPU works on after a call has returned, so the time is taken when it has finished.
    """
    kept: list[object] = [None]
    finish: Callable[[], object] = int if device.type == "cpu" else partial(torch.accelerator.synchronize, device)

    def run() -> float:
        start = time.perf_counter()
        kept[0] = function()
        finish()
        return (time.perf_counter() - start) * 1e6

    return run
