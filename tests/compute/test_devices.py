"""Devices and dtypes: the available ones work, and the others are refused with clear errors."""

import dataclasses
from typing import Any

import pytest
import torch

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.edits.batches import select
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.explain import Cell, explain
from attnlab.compute.engine import devices, estimate_bytes

ACCELERATORS = [
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")),
    pytest.param("mps", marks=pytest.mark.skipif(not torch.backends.mps.is_available(), reason="no MPS device here")),
]
TOLERANCES = {"float32": 1e-4, "bfloat16": 1e-1, "float16": 2e-2}


def layer() -> attnlab.Experiment:
    generator = torch.Generator().manual_seed(3)

    def randn(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator)

    return attnlab.Experiment(
        tokens=[f"t{i}" for i in range(9)],
        embeddings=randn(9, 16),
        weights=attnlab.Weights(**{name: randn(16, 16) / 4 for name in ("W_q", "W_k", "W_v", "W_o")}, b_q=randn(16)),
        config=attnlab.AttentionConfig(n_heads=4, causal=True),
    )


def test_hidden_units_of_a_score_function_count_as_memory() -> None:
    tables = {"W_d": torch.ones(4, 50_000), "W_e": torch.ones(4, 50_000), "v_a": torch.ones(50_000)}
    e = layer()
    wide = dataclasses.replace(
        e,
        weights=dataclasses.replace(e.weights, extra=tables),
        config=attnlab.AttentionConfig(n_heads=4, score="additive"),
    )
    assert estimate_bytes(wide) - estimate_bytes(e) > 4 * 4 * (9 + 9) * 50_000 - 4 * 4 * 9 * 9 * 2
    assert estimate_bytes(configure(e, score="additive")) >= estimate_bytes(e)


EVERY_KIND = (
    [{"score": name} for name in SCORES]
    + [{"normalizer": name} for name in NORMALIZERS]
    + [{"positions": name} for name in POSITIONS]
    + [
        {"qk_norm": "rms"},
        {"qk_norm": "l2"},
        {"sink": True},
        {"soft_cap": 2.0},
        {"dropout": 0.3},
        {"ablated": (1,)},
        {"masks": {"window": 3, "padding": 7}},
        {"fill": "after"},
        {"fill": "-1e9"},
        {"fill": "0"},
    ]
)


@pytest.mark.parametrize("device", ACCELERATORS)
@pytest.mark.parametrize("config", EVERY_KIND, ids=str)
def test_an_accelerator_agrees_on_every_entry(device: str, config: dict[str, Any]) -> None:
    e = configure(layer(), **config)
    exact, trace = attnlab.compute(e, dtype="float64"), attnlab.compute(e, device=device)
    for name in trace.all_stages:
        torch.testing.assert_close(trace[name].cpu().double(), exact[name], atol=2e-3, rtol=2e-3)
        explain(trace, Cell(name, 1, 1, 0 if trace.stage(name).has_heads else None))
    assert trace.empty_rows == exact.empty_rows
    assert trace.warnings == exact.warnings


@pytest.mark.parametrize("device", ACCELERATORS)
@pytest.mark.parametrize("name", attnlab.presets())
def test_an_accelerator_agrees_on_every_preset(device: str, name: str) -> None:
    batch = attnlab.preset(name)
    for i in range(batch.n_items):
        e = select(batch, i)
        here, trace = attnlab.compute(e), attnlab.compute(e, device=device)
        for stage in trace.all_stages:
            torch.testing.assert_close(trace[stage].cpu(), here[stage], atol=2e-3, rtol=2e-3, equal_nan=True)
            explain(trace, Cell(stage, 0, 0, 0 if trace.stage(stage).has_heads else None))
        assert trace.empty_rows == here.empty_rows


@pytest.mark.parametrize("device", ACCELERATORS)
@pytest.mark.parametrize("dtype", sorted(TOLERANCES))
def test_an_accelerator_agrees_with_the_cpu(device: str, dtype: str) -> None:
    exact = attnlab.compute(layer(), dtype="float64")
    trace = attnlab.compute(layer(), device=device, dtype=dtype)
    for name in trace.stages:
        assert trace[name].device.type == device
        assert trace[name].dtype == getattr(torch, dtype)
        near = {"atol": TOLERANCES[dtype], "rtol": TOLERANCES[dtype]}
        torch.testing.assert_close(trace[name].cpu().double(), exact[name], **near)
    assert trace.warnings == ()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_cuda_in_float64_agrees_to_the_last_digits() -> None:
    on_cpu, on_gpu = attnlab.compute(layer(), dtype="float64"), attnlab.compute(layer(), device="cuda", dtype="float64")
    for name in on_cpu.stages:
        torch.testing.assert_close(on_gpu[name].cpu(), on_cpu[name], atol=1e-12, rtol=1e-12)


@pytest.mark.skipif(not torch.backends.mps.is_available(), reason="no MPS device here")
def test_float64_on_mps_is_refused_with_the_reason() -> None:
    with pytest.raises(attnlab.DeviceError, match="float64"):
        attnlab.compute(layer(), device="mps", dtype="float64")


@pytest.mark.parametrize("device", ["tpu", "", "gpu", "cpu:x", "cuda:9999", None, 0])
def test_a_missing_device_is_refused_with_the_available_ones(device: Any) -> None:
    with pytest.raises(attnlab.DeviceError) as caught:
        attnlab.compute(layer(), device=device)
    assert str(device) in str(caught.value)
    assert devices()[-1] in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_cuda_without_a_cuda_device_is_refused_with_the_reason() -> None:
    with pytest.raises(attnlab.DeviceError, match=r"cuda.*cpu"):
        attnlab.compute(layer(), device="cuda")


@pytest.mark.parametrize("dtype", ["float8", "int64", "complex64", "double precision", "", None])
def test_an_unknown_dtype_is_refused_with_the_known_ones(dtype: Any) -> None:
    with pytest.raises(attnlab.DeviceError) as caught:
        attnlab.compute(layer(), dtype=dtype)
    assert str(dtype) in str(caught.value)
    assert all(known in str(caught.value) for known in ("float32", "float64", "bfloat16", "float16"))


def test_a_device_error_is_an_attnlab_error() -> None:
    assert issubclass(attnlab.DeviceError, attnlab.AttnlabError)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", *ACCELERATORS])
def test_running_out_of_memory_is_reported_in_one_sentence(device: str) -> None:
    # 2^23 tokens would need a map of 2^46 scores, 256 TB: more than any machine's address space, so it fails at once.
    t = 2**23
    huge = attnlab.Experiment(tokens=("",) * t, embeddings=torch.zeros(t, 1), weights=attnlab.Weights())
    with pytest.raises(attnlab.DeviceError, match="memory"):
        attnlab.compute(huge, device=device)["weights"]
