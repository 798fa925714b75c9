"""Everything stays on the device that it is computed on: layers, batches and models of all kinds, learning too.

No GPU is needed: the device is :mod:`tests.apart`.
"""

from dataclasses import replace

import pytest
import torch

import attnlab
from attnlab.attention.edits.batches import select
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.trace import Trace
from attnlab.training import models
from attnlab.training.batch import Batch
from attnlab.training.models import KINDS, watch
from attnlab.training.tasks.task import RECURRENT
from tests.apart import DEVICE, apart
from tests.files.kinds import KINDS as EVERY_KIND
from tests.files.kinds import across
from tests.training.test_models import SMALL, batch, built

LAYERS = {
    **{
        f"{name} {i}": select(attnlab.preset(name), i)
        for name in attnlab.presets()
        for i in range(attnlab.preset(name).n_items)
    },
    **EVERY_KIND,
    **across(("cross-attention",)),
    **across(("grouped-keys",)),
}


def test_the_test_device_refuses_tensors_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with apart(monkeypatch) as device:
        here, there = torch.ones(3, 3), torch.ones(3, 3, device=device)
        for mixed in (
            lambda: here + there,
            lambda: torch.mm(here, there),
            lambda: there @ here,
            lambda: torch.cat([here, there]),
            lambda: there.masked_fill(here > 0, 0.0),
            lambda: torch.nn.functional.linear(there, here),
            lambda: torch.where(here > 0, there, there),
            lambda: there[here[0].long()],
        ):
            with pytest.raises((AssertionError, RuntimeError), match=r"tensors on|same device"):
                mixed()
        assert (there * torch.tensor(2.0)).device == device  # one number may come from anywhere, as on a GPU
        assert there.to("cpu").sum() == 9


CASES = [
    *((name, torch.float32) for name in EVERY_KIND),
    *(pytest.param(name, torch.float32, marks=pytest.mark.slow) for name in LAYERS if name not in EVERY_KIND),
    *(pytest.param(name, torch.bfloat16, marks=pytest.mark.slow) for name in EVERY_KIND),
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_every_stage_stays_on_its_device(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    e = LAYERS[name]
    here = attnlab.compute(e, dtype=dtype)  # type: ignore[arg-type]
    with apart(monkeypatch) as device:
        trace = Trace(e, device, dtype)
        for stage in trace:
            assert trace[stage].device == DEVICE, stage
            assert trace[stage].dtype == dtype, stage
            assert trace[stage].shape == here[stage].shape, stage
    assert trace.empty_rows == here.empty_rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("positions", "kind"),
    [
        (name, kind)
        for name, each in POSITIONS.items()
        for kind in KINDS
        if each.is_trained and (kind not in RECURRENT or name == "none")  # recurrent models have no positions
    ],
)
def test_every_kind_of_model_stays_on_its_device(kind: str, positions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with apart(monkeypatch) as device:
        model = built(replace(SMALL, kind=kind, positions=positions)).to(device)
        given = batch(kind, 8, 5)
        source = None if given.source is None else given.source.to(device)
        b = Batch(given.inputs.to(device), given.targets.to(device), source)
        with watch(model) as traces:
            out = model(b)
        models.compute_loss(out, b.targets).backward()
        assert all(p.grad is not None and p.grad.device == DEVICE for p in model.parameters())
        for trace in traces.values():
            assert {trace.join(stage).device for stage in trace} == {DEVICE}
        assert model.write(b, 3).device == model.write(b, 3, temperature=0.8, top_k=2).device == DEVICE
        assert model.predict(b).device == DEVICE
