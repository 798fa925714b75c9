"""The bench of training runs, compares like with like, prints what the contract says, and leaves nothing behind."""

import json
import threading

import numpy as np
import pytest
import torch
from torch import Tensor

from attnlab.bench import main, train
from attnlab.training.trainer import Trainer


def test_it_prints_its_cases_and_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    threads, running = torch.get_num_threads(), set(threading.enumerate())
    assert main(["train"], True, quick=True) == 0
    cases = {case["case"].split(",")[-1].strip(): case for case in json.loads(capsys.readouterr().out)}
    names = [name for name in cases if not name.endswith("moments")]
    assert names == ["steps", "pictures", "stop", "looks", "longest hold-up"]
    assert all(case["bench"] == "train" and case["ours"] > 0 for case in cases.values())
    assert torch.get_num_threads() == threads
    assert set(threading.enumerate()) == running


def test_the_bare_loop_takes_the_steps_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = train._spec(100)
    bare, trainer = train.Bare(spec), Trainer(spec)
    model = dict(trainer.model.state_dict())
    for name, value in bare._model.state_dict().items():
        torch.testing.assert_close(value, model[name])
    losses: list[float] = []
    loss = bare._loss
    monkeypatch.setattr(bare, "_loss", lambda batch: kept(loss(batch), losses))
    bare._generator.set_state(trainer._generator.get_state())
    while len(losses) < 5:
        bare.steps_per_s(0.001)
    points = [trainer.take().loss for _ in range(5)]
    np.testing.assert_allclose(losses[:5], points, rtol=1e-4)


def kept(loss: Tensor, losses: list[float]) -> Tensor:
    losses.append(loss.item())
    return loss
