"""The bench of training runs, compares equal work, prints the documented output, and cleans up."""

import json

import numpy as np
import pytest
import torch
from torch import Tensor

from attnlab.bench import main, train, train_window
from attnlab.bench.measure import make_case
from attnlab.training.trainer import Trainer


@pytest.mark.slow
def test_a_run_is_measured_without_a_window() -> None:
    threads = torch.get_num_threads()
    cases = list(train.measure_process(quick=True))
    assert torch.get_num_threads() == threads
    names = [case.case for case in cases if not case.case.endswith("moments")]
    assert names == [
        "reverse, steps",
        "reverse, pictures",
        "stop",
        "scrubbing, moments shown",
        "saving, longest hold-up",
        "answers to the input, reverse",
        "answers to the input, reverse, first 400 steps",
        "answers to the input, dates",
        "answers to the input, dates, first 400 steps",
    ]
    assert {case.bench for case in cases} == {"train"}
    measured = {case.case: case.ours for case in cases}
    assert measured["stop"] > 0
    assert measured["scrubbing, moments shown"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("qapp")
def test_a_run_is_measured_in_the_window() -> None:
    cases = list(train_window.run_cases(quick=True))
    assert [case.case.removeprefix("window: ") for case in cases] == [
        "reverse, steps",
        "pictures of the maps",
        "lateness of a timer, p50",
        "lateness of a timer, p99",
        "lateness of a timer, longest",
        "stop, until it is reported",
        "scrubbing, pictures",
        "queue of 5 runs",
    ]
    assert all(case.ours > 0 for case in cases if "stop" in case.case)  # in so short a time nothing else is certain


def test_the_training_bench_has_both_cases(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module, name in ((train, "measure_process"), (train_window, "run_cases")):
        monkeypatch.setattr(module, name, lambda _, name=name: iter([make_case("train", name, [1.0], [1.0], "ms")]))
    assert main(["train"], True, quick=True) == 0
    assert [each["case"] for each in json.loads(capsys.readouterr().out)] == ["measure_process", "run_cases"]


def test_the_baseline_loop_takes_the_same_steps_as_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = train.make_run_spec(100)
    bare, trainer = train.Bare(spec), Trainer(spec)
    model = dict(trainer.model.state_dict())
    for name, value in bare._model.state_dict().items():
        torch.testing.assert_close(value, model[name])
    losses: list[float] = []
    loss = bare._compute_loss
    monkeypatch.setattr(bare, "_compute_loss", lambda batch: kept(loss(batch), losses))
    bare._generator.set_state(trainer._generator.get_state())
    while len(losses) < 5:
        bare.measure_steps_per_s(0.001)
    points = [trainer.take().loss for _ in range(5)]
    np.testing.assert_allclose(losses[:5], points, rtol=1e-4)


def kept(loss: Tensor, losses: list[float]) -> Tensor:
    losses.append(loss.item())
    return loss
