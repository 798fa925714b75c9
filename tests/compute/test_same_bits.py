"""An experiment gives the same bits for any number of threads, place in memory, and caller."""

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention.arrays import own
from attnlab.attention.edits import configure
from attnlab.base.errors import ExperimentError
from attnlab.cli.main import main
from attnlab.compute.service import Request, answer
from tests.files.kinds import entries

THREADS = (1, 2, 3, 4)
OFFSETS = (0, 4, 16, 32)
"""Offsets in bytes from the address that torch would choose."""
TABLES = ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")
DTYPES = ("float32", "float64", "bfloat16")


def layer(
    tokens: int, d_model: int, heads: int, d_head: int, kv_heads: int | None = None, d_out: int = 17
) -> attnlab.Experiment:
    """Return a layer with a second sequence, biases, and keys and values of other sizes."""
    g = torch.Generator().manual_seed(0)
    shared = kv_heads or heads
    shapes = {
        "W_q": (d_model, heads * d_head),
        "W_k": (d_model, shared * d_head),
        "W_v": (d_model, shared * (d_head + 1)),
        "W_o": (heads * (d_head + 1), d_out),
        "b_q": (heads * d_head,),
        "b_k": (shared * d_head,),
        "b_v": (shared * (d_head + 1),),
        "b_o": (d_out,),
    }
    return attnlab.Experiment(
        [f"q{i}" for i in range(tokens)],
        torch.randn(tokens, d_model, generator=g),
        attnlab.Weights(**{name: torch.randn(*shape, generator=g) for name, shape in shapes.items()}),
        attnlab.AttentionConfig(n_heads=heads, n_kv_heads=kv_heads),
        [f"k{i}" for i in range(tokens + 1)],
        torch.randn(tokens + 1, d_model, generator=g),
    )


SMALL, LARGE = layer(7, 34, 4, 10, 2), layer(105, 64, 3, 12, d_out=64)
"""Products of odd shapes, and maps that torch splits among its threads, above 32,768 numbers.

The large one has as many columns after W_o as before, as a block needs.
"""


def digest(trace: attnlab.Trace) -> dict[str, str]:
    return {name: hashlib.sha256(trace[name].contiguous().view(torch.uint8).numpy()).hexdigest() for name in trace}


def at(tensor: torch.Tensor, offset: int) -> torch.Tensor:
    """Return a copy of a tensor at an offset in bytes from the address that torch would choose."""
    size = tensor.element_size()
    room = torch.empty(tensor.numel() + 128 // size, dtype=tensor.dtype)
    begin = (-room.data_ptr() % 64 + max(offset, size if offset else 0)) // size
    placed = room[begin : begin + tensor.numel()].view(tensor.shape).copy_(tensor)
    assert placed.data_ptr() % 64 == max(offset, size if offset else 0)
    return placed


def moved(e: attnlab.Experiment, offset: int, kind: str) -> attnlab.Experiment:
    """Return the same experiment from arrays elsewhere in memory: tensors, NumPy arrays or its own."""

    def given(tensor: torch.Tensor) -> Any:
        if kind == "transposed" and tensor.ndim == 2:
            return at(tensor.T.contiguous(), offset).T
        placed = at(tensor, offset)
        return placed.numpy() if kind == "numpy" else own(placed) if kind == "owned" else placed

    tables = {name: given(table) for name in TABLES if (table := getattr(e.weights, name)) is not None}
    extra = {name: given(table) for name, table in e.weights.extra.items()}
    memory = None if e.memory_embeddings is None else given(e.memory_embeddings)
    weights = attnlab.Weights(**tables, extra=extra)
    return dataclasses.replace(e, embeddings=given(e.embeddings), weights=weights, memory_embeddings=memory)


@pytest.fixture(autouse=True)
def same_threads_afterwards() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def kinds(e: attnlab.Experiment) -> dict[str, attnlab.Experiment]:
    """Return the layer with each compatible entry of each registry."""
    found = {}
    for name, changes in entries():
        try:
            found[name] = configure(e, **changes)
        except ExperimentError:
            continue
    return found


KINDS = {(size, name): e for size, base in (("small", SMALL), ("large", LARGE)) for name, e in kinds(base).items()}
CASES = [(*case, dtype) for case in KINDS for dtype in (DTYPES if case[0] == "small" else DTYPES[:1])]


@pytest.mark.parametrize(("size", "name", "dtype"), CASES)
def test_every_kind_of_layer_has_the_same_bits_for_any_number_of_threads(size: str, name: str, dtype: str) -> None:
    found = {}
    for threads in THREADS:
        torch.set_num_threads(threads)
        found[threads] = digest(attnlab.compute(KINDS[size, name], dtype=dtype))
        assert torch.get_num_threads() == threads
    for threads in THREADS[1:]:
        assert found[threads] == found[1]


def test_the_kinds_include_every_registry() -> None:
    assert {name for _, name in KINDS} == {name for name, _ in entries()}


@pytest.mark.parametrize("kind", ["tensor", "numpy", "transposed", "owned"])
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_memory_layout_of_arrays_changes_no_bit(offset: int, kind: str, dtype: str) -> None:
    for e in (SMALL, LARGE, configure(LARGE, score="additive"), configure(SMALL, score="general")):
        assert digest(attnlab.compute(moved(e, offset, kind), dtype=dtype)) == digest(attnlab.compute(e, dtype=dtype))


def test_an_experiments_arrays_are_contiguous_and_aligned() -> None:
    wide = torch.randn(9, 9)
    for given in (wide[1:, 1:], wide[1:, 1:].numpy(), wide.T[1:, 1:], wide[1:, 1:].tolist(), own(wide[1:, 1:])):
        e = attnlab.Experiment([*"abcdefgh"], given, attnlab.Weights(given, given, given, given))
        for array in (e.embeddings, e.weights.W_q, e.weights.W_k, e.weights.W_v, e.weights.W_o):
            assert array is not None
            assert array.is_contiguous()
            assert array.data_ptr() % 64 == 0


@pytest.mark.parametrize("name", ["multi-head-8", "grouped-keys", "cross-attention", "padding-batch"])
def test_the_worker_and_show_give_the_same_bits_as_compute(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    e = attnlab.preset(name)
    torch.set_num_threads(2)
    wanted = attnlab.compute(e)
    torch.set_num_threads(1)
    reply = answer(Request(1, e))
    assert reply.trace is not None
    assert digest(reply.trace) == digest(wanted)
    assert main(["show", f"preset:{name}", "--json"]) == 0
    for stage in json.loads(capsys.readouterr().out):
        values = np.array(stage["values"], np.float32)  # None becomes NaN
        array = wanted.array(stage["stage"])
        np.testing.assert_array_equal(values, np.where(np.isfinite(array), array, np.nan), stage["stage"])


PROGRAM = """
import hashlib, sys, torch
import attnlab
from attnlab.attention.experiment import Experiment
if sys.argv[1] == "after":
    torch.randn(64, 64) @ torch.randn(64, 64)
whole = hashlib.sha256()
for name in ("multi-head-8", "head-average", "grouped-keys", "luong-concat", "additive", "journey", "cross-attention"):
    trace = attnlab.compute(attnlab.preset(name))
    for stage in trace:
        whole.update(trace[stage].contiguous().view(torch.uint8).numpy())
print(whole.hexdigest())
"""


def elsewhere(threads: int, when: str, **environment: str) -> str:
    """Return the digest computed by another process with a number of threads."""
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), **environment}
    command = [sys.executable, "-c", PROGRAM, when]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "threads"), [({}, (1, 2, 4)), ({"MKL_CBWR": "COMPATIBLE"}, (1, 4))], ids=["usual", "compatible"]
)
def test_other_processes_compute_the_same_bits(setting: dict[str, str], threads: tuple[int, ...]) -> None:
    found = {elsewhere(n, "after" if n == 2 else "first", **setting) for n in threads}
    assert len(found) == 1
