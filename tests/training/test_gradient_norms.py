"""The norms of gradients by layer: those of one step, by hand, before clipping, and only before an evaluation."""

from dataclasses import replace

import pytest
import torch

from attnlab.training import models
from attnlab.training.gradient_norms import group_parameters, measure_norms
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import make_spec
from attnlab.training.trainer import DATA_SEED, Trainer

NAMES = {
    ("reverse", "decoder"): ["embedding", "decoder 1", "decoder 2", "output"],
    ("masked", "encoder"): ["embedding", "encoder 1", "encoder 2", "output"],
    ("reverse", "encoder-decoder"): ["embedding", "encoder 1", "encoder 2", "decoder 1", "decoder 2", "output"],
    ("sum", "attention"): ["attention 1"],
    ("reverse", "recurrent"): ["embedding", "encoder", "bridge", "decoder", "output"],
    ("reverse", "luong"): ["embedding", "encoder", "bridge", "decoder", "output", "attention"],
}


def small(task: str, kind: str, **train: float) -> RunSpec:
    spec = make_spec(task, kind)
    if task != "sum":
        spec = replace(spec, model=replace(spec.model, d_model=16, d_ff=16))
    return replace(spec, train=replace(spec.train, **{"batch": 4, "steps": 5, "evaluate_every": 2, **train}))  # type: ignore[arg-type]


@pytest.mark.parametrize(("task", "kind"), NAMES)
def test_every_parameter_is_in_one_layer_and_the_norms_make_up_the_whole(task: str, kind: str) -> None:
    trainer = Trainer(small(task, kind))
    groups = group_parameters(trainer.model)
    assert sorted(groups) == sorted(NAMES[task, kind])
    found = [id(each) for parameters in groups.values() for each in parameters]
    assert sorted(found) == sorted(map(id, trainer.model.parameters()))
    trainer.take()
    trainer.take()
    metric = trainer.evaluate()
    whole = torch.cat([p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None])
    together = sum(norm**2 for _, norm in metric.gradients) ** 0.5
    clip = trainer.spec.train.clip
    assert float(whole.norm()) == pytest.approx(min(together, clip) if clip else together, rel=1e-4)
    assert [name for name, _ in metric.gradients] == list(groups)


def test_the_norms_are_those_of_the_batch_before_clipping() -> None:
    """The same batch, drawn and differentiated by hand."""
    trainer = Trainer(small("reverse", "decoder", clip=1e-6, evaluate_every=1))
    by_hand = Trainer(trainer.spec)
    batch = by_hand.data.draw_batch(torch.Generator().manual_seed(DATA_SEED ^ trainer.spec.train.seed), 4)
    models.compute_loss(by_hand.model.train()(batch), batch.targets).backward()
    trainer.take()
    for name, norm in trainer.evaluate().gradients:
        parameters = group_parameters(by_hand.model)[name]
        squares = sum(float(each.grad.double().square().sum()) for each in parameters if each.grad is not None)
        assert norm == pytest.approx(squares**0.5, rel=1e-5)


def test_only_the_steps_before_an_evaluation_are_measured() -> None:
    trainer = Trainer(small("reverse", "decoder"))
    assert trainer.evaluate().gradients == ()  # no step has been taken
    trainer.take()
    assert trainer.evaluate().gradients == ()
    trainer.take()
    assert len(trainer.evaluate().gradients) == 4
    trainer.replace_weights({})
    assert trainer.evaluate().gradients == ()  # edited weights have no gradient yet
    for _ in range(3):
        trainer.take()
    assert len(trainer.evaluate().gradients) == 4  # the last step


def test_a_layer_without_gradients_counts_as_0() -> None:
    model = Trainer(small("reverse", "decoder")).model
    assert dict(measure_norms(group_parameters(model))) == dict.fromkeys(NAMES["reverse", "decoder"], 0.0)
