"""The training loop: reproducible from a seed or checkpoint, with stop conditions, and robust to NaN."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnlab.base.errors import DeviceError, TrainingError
from attnlab.training.messages import Arrays
from attnlab.training.specs import ModelSpec, RunSpec
from attnlab.training.tasks import TASKS, make_spec
from attnlab.training.trainer import Diverged, Trainer

PAIRS = [(task, kind) for task in TASKS for kind in TASKS[task].kinds]


def small(task: str, kind: str | None = None, **train: object) -> RunSpec:
    """Return a run with very fast steps, whose dropout draws random numbers in each."""
    spec = make_spec(task, kind)
    d_model = 8
    model = replace(spec.model, layers=1, heads=min(spec.model.heads, 2), d_model=d_model, d_ff=8, dropout=0.1)
    options = dict(spec.options)
    if task == "sum":
        options |= {"columns": d_model, "sequences": 12}
        model = replace(model, positions="none")
    if task == "dates":
        options |= {"pairs": 1000}
    if task == "characters":
        options |= {"context": 12}
    settings: dict[str, object] = {"batch": 4, "steps": 6, "warmup": 2, **train}
    return replace(spec, options=options, model=model, train=replace(spec.train, **settings))  # type: ignore[arg-type]


def same(one: Arrays, other: Arrays) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(("task", "kind"), PAIRS)
def test_training_is_reproducible_and_resumes_from_a_checkpoint(task: str, kind: str) -> None:
    spec = small(task, kind)
    whole, again = Trainer(spec), Trainer(spec)
    first = [whole.take() for _ in range(3)]
    assert first == [again.take() for _ in range(3)]
    kept = again.make_checkpoint()
    torch.rand(7)  # what others draw meanwhile is nothing to it
    resumed = Trainer(spec, kept.state)
    assert (resumed.step, resumed.seconds) == (3, again.seconds)
    rest = [whole.take() for _ in range(3)]
    assert rest == [resumed.take() for _ in range(3)]
    assert same(whole.read_weights(), resumed.read_weights())
    assert whole.evaluate() == resumed.evaluate() or np.isnan(whole.evaluate().right)
    assert [point.step for point in first + rest] == list(range(6))


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
def test_a_checkpoint_has_the_state_of_any_optimiser(optimizer: str) -> None:
    spec = small("copy", optimizer=optimizer)
    whole = Trainer(spec)
    whole.take()
    resumed = Trainer(spec, whole.make_checkpoint().state)
    assert [whole.take() for _ in range(3)] == [resumed.take() for _ in range(3)]


def test_checkpoints_before_the_first_and_at_the_last_step_resume() -> None:
    spec = small("reverse")
    whole = Trainer(spec)
    resumed = Trainer(spec, whole.make_checkpoint().state)
    points = [whole.take() for _ in range(6)]
    assert points == [resumed.take() for _ in range(6)]
    assert Trainer(spec, whole.make_checkpoint().state).find_end() == whole.find_end() is not None


def test_later_steps_do_not_change_a_checkpoint() -> None:
    trainer = Trainer(small("copy"))
    trainer.take()
    kept = trainer.make_checkpoint()
    before = {name: array.copy() for name, array in kept.state.items()}
    trainer.take()
    assert same(before, kept.state)


def test_the_seed_determines_weights_and_examples() -> None:
    one, other = Trainer(small("copy")), Trainer(small("copy", seed=1))
    assert not same(one.read_weights(), other.read_weights())
    other.replace_weights(one.read_weights())
    assert one.take().loss != other.take().loss


def test_examples_and_first_weights_use_separate_generators() -> None:
    trainer = Trainer(small("copy"))
    state = trainer.make_checkpoint().state
    assert not np.array_equal(state["examples"], Trainer(small("copy", seed=1)).make_checkpoint().state["examples"])
    for seed in range(3):
        began = torch.Generator().manual_seed(seed).get_state().numpy()
        assert not np.array_equal(state["examples"], began)


def test_the_callers_random_state_is_unchanged() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    trainer = Trainer(small("copy"))
    trainer.take()
    trainer.evaluate()
    Trainer(small("copy"), trainer.make_checkpoint().state)
    assert torch.equal(torch.rand(3), expected)


def test_a_diverging_run_stops_with_the_last_good_weights() -> None:
    trainer = Trainer(small("reverse", rate=1e6, steps=500, clip=0.0, optimizer="sgd", warmup=0))
    good, found = trainer.read_weights(), None
    while found is None and trainer.find_end() is None:
        good, step = trainer.read_weights(), trainer.step
        try:
            trainer.take()
        except Diverged as error:
            found = error
    assert found is not None
    assert found.step == step
    assert f"step {found.step:,}" in str(found)
    assert trainer.step <= step
    assert all(np.isfinite(array).all() for array in trainer.read_weights().values())
    assert np.isfinite(trainer.evaluate().loss)
    assert all(np.isfinite(array).all() for array in trainer.make_checkpoint().state.values())
    assert good.keys() == trainer.read_weights().keys()


def test_non_finite_weights_are_replaced_by_the_last_good_ones() -> None:
    trainer = Trainer(small("copy"))
    trainer.take()
    good = trainer.read_weights()
    trainer.take()  # good gave a finite loss in this step
    with torch.no_grad():
        next(trainer.model.parameters()).fill_(float("nan"))
    with pytest.raises(Diverged, match=r"step 2: the loss is not a number"):
        trainer.take()
    assert same(trainer.read_weights(), good)
    assert trainer.step == 1


@pytest.mark.parametrize("steps", [1, 20])
def test_a_nan_held_out_loss_stops_with_the_last_good_weights(steps: int) -> None:
    trainer = Trainer(small("reverse", rate=1e6, warmup=0, clip=0.0, steps=steps))
    good = trainer.read_weights()
    trainer.take()  # gives weights that are finite, and so large that nothing else is
    with pytest.raises(Diverged, match=r"at step 1: the held-out loss is not a number"):
        trainer.evaluate()
    assert same(trainer.read_weights(), good)
    assert trainer.step == 0
    assert np.isfinite(trainer.evaluate().loss)


def test_non_finite_weights_of_the_last_step_are_replaced() -> None:
    trainer = Trainer(small("copy", optimizer="adam", rate=1e39, warmup=0, steps=1))  # beyond float32
    good = trainer.read_weights()
    with pytest.raises(Diverged, match=r"at step 1: a weight is not finite"):
        trainer.take()
    assert same(trainer.read_weights(), good)
    assert trainer.step == 0


def test_replacing_weights_changes_only_the_named_ones_and_nothing_on_error() -> None:
    trainer = Trainer(small("copy"))
    trainer.take()
    before = trainer.read_weights()
    name, other = list(before)[:2]
    trainer.replace_weights({name: np.ones_like(before[name])})
    assert (trainer.read_weights()[name] == 1).all()
    assert np.array_equal(trainer.read_weights()[other], before[other])
    now = trainer.read_weights()
    wrong: list[tuple[Arrays, str]] = [
        ({name: before[name], "none.such": before[name]}, "none.such"),
        ({name: before[name], other: np.zeros((3, 3, 3), np.float32)}, r"\[3, 3, 3\]"),
        ({name: np.full_like(before[name], np.inf)}, "finite"),
    ]
    for arrays, message in wrong:
        with pytest.raises(TrainingError, match=message):
            trainer.replace_weights(arrays)
        assert same(trainer.read_weights(), now)


@pytest.mark.parametrize("name", ["step", "examples", "random 0"])
def test_an_incomplete_checkpoint_is_refused(name: str) -> None:
    spec = small("copy")
    state = dict(Trainer(spec).make_checkpoint().state)
    del state[name]
    with pytest.raises(TrainingError, match="checkpoint"):
        Trainer(spec, state)


def test_a_checkpoint_that_does_not_match_is_refused() -> None:
    spec = small("copy")
    trainer = Trainer(spec)
    trainer.take()
    state = dict(trainer.make_checkpoint().state)
    with pytest.raises(TrainingError, match="the model needs"):
        Trainer(replace(spec, model=replace(spec.model, d_model=16)), state)
    for changed in ({"optimizer/99/exp_avg": np.zeros(3)}, {"examples": np.zeros(3, np.uint8)}):
        with pytest.raises(TrainingError, match=r"has changed since|wrong"):
            Trainer(spec, {**state, **changed})
    first_outside = f"optimizer/{len(list(trainer.model.parameters()))}/exp_avg"
    with pytest.raises(TrainingError, match="has changed since"):
        Trainer(spec, {**state, first_outside: np.zeros(3)})


def test_a_run_ends_by_steps_accuracy_or_loss() -> None:
    trainer = Trainer(small("copy", steps=2))
    assert trainer.find_end() is None
    trainer.take()
    trainer.take()
    ended = trainer.find_end()
    assert ended is not None
    assert (ended.reason, ended.step) == ("steps", 2)
    for condition, reason in (({"stop_right": 1e-9}, "right"), ({"stop_loss": 1e9}, "loss")):
        trainer = Trainer(small("copy", **condition))
        assert trainer.find_end() is None  # nobody has looked yet
        metric = trainer.evaluate()
        ended = trainer.find_end()
        assert ended is not None or metric.right == 0
        assert ended is None or ended.reason == reason


def test_a_run_ends_at_exactly_its_target_accuracy() -> None:
    right = Trainer(small("copy")).evaluate().right
    assert right > 0
    trainer = Trainer(small("copy", stop_right=right))
    trainer.evaluate()
    ended = trainer.find_end()
    assert ended is not None
    assert ended.reason == "right"


def test_replaced_weights_are_evaluated_before_they_end_a_run() -> None:
    trainer = Trainer(small("copy", stop_loss=1e9))
    trainer.evaluate()
    assert trainer.find_end() is not None
    trainer.replace_weights(trainer.read_weights())
    assert trainer.find_end() is None


def test_evaluation_does_not_change_training() -> None:
    one, other = Trainer(small("copy")), Trainer(small("copy"))  # with dropout, which looking switches off
    one.take()
    other.take()
    one.evaluate()
    assert [one.take() for _ in range(3)] == [other.take() for _ in range(3)]


def test_training_seconds_continue_from_the_checkpoint() -> None:
    trainer = Trainer(small("copy"))
    trainer.take()
    resumed = Trainer(small("copy"), {**trainer.make_checkpoint().state, "seconds": np.array(1000.0)})
    resumed.take()
    assert resumed.seconds > 1000
    assert resumed.make_checkpoint().seconds == resumed.seconds


def test_metrics_count_tokens_examples_and_lengths() -> None:
    trainer = Trainer(replace(make_spec("reverse"), model=ModelSpec("decoder", 1, 2, 16, 16)))
    metric = trainer.evaluate()
    assert metric.step == 0
    assert 0 <= metric.exact <= metric.right < 0.5
    assert [length for length, _ in metric.by_length] == [4, 5, 6, 7, 8]
    assert trainer.evaluate() == metric
    assert np.isnan(Trainer(small("sum")).evaluate().right)


def test_a_points_rate_is_that_of_its_step() -> None:
    trainer = Trainer(small("copy", rate=0.01, warmup=2, schedule="constant"))
    assert [trainer.take().rate for _ in range(3)] == pytest.approx([0.005, 0.01, 0.01])


def test_every_step_uses_the_rate_of_the_schedule() -> None:
    spec = small("copy", optimizer="sgd", rate=0.5, warmup=4, schedule="constant", weight_decay=0.0, clip=0.0)
    trainer = Trainer(spec)
    parameters = list(trainer.model.parameters())
    direction = [torch.zeros_like(parameter) for parameter in parameters]
    for rate in (0.125, 0.25, 0.375, 0.5, 0.5):
        before = [parameter.detach().clone() for parameter in parameters]
        trainer.take()
        for old, new, gathered in zip(before, parameters, direction, strict=True):
            assert new.grad is not None
            gathered.mul_(0.9).add_(new.grad)
            torch.testing.assert_close(new.detach(), old - rate * gathered)


def test_the_norm_of_the_gradient_is_clipped() -> None:
    trainer = Trainer(small("copy", optimizer="sgd", rate=0.5, warmup=0, weight_decay=0.0, clip=0.25))
    before = trainer.read_weights()
    trainer.take()
    moved = np.concatenate([(before[name] - after).ravel() for name, after in trainer.read_weights().items()])
    assert np.linalg.norm(moved) == pytest.approx(0.5 * 0.25, rel=1e-3)


def test_an_invalid_run_is_refused_with_the_reason() -> None:
    with pytest.raises(TrainingError, match="The rate is"):
        Trainer(small("copy", rate=0.0))
    with pytest.raises((TrainingError, DeviceError), match="nowhere"):
        Trainer(small("copy", device="nowhere"))


def test_a_failing_device_is_reported_in_a_sentence() -> None:
    trainer = Trainer(small("copy"))
    trainer.take()
    trainer.device = torch.device("meta")  # where the weights are not
    with pytest.raises(TrainingError, match=r"failed at step 1: .* Try the CPU"):
        trainer.take()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(("task", "kind"), PAIRS)
def test_every_task_learns_on_a_gpu_as_on_the_cpu(task: str, kind: str) -> None:
    spec = small(task, kind)
    spec = replace(spec, model=replace(spec.model, dropout=0.0))  # a GPU draws other random numbers
    here, there = Trainer(spec), Trainer(replace(spec, train=replace(spec.train, device="cuda")))
    losses = [(here.take().loss, there.take().loss) for _ in range(3)]
    assert [there for _, there in losses] == pytest.approx([here for here, _ in losses], rel=1e-3)
    assert there.evaluate().loss == pytest.approx(here.evaluate().loss, rel=1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_run_on_a_gpu_learns_and_resumes_from_a_checkpoint() -> None:
    spec = small("copy", device="cuda")
    trainer = Trainer(spec)
    trainer.take()
    resumed = Trainer(spec, trainer.make_checkpoint().state)
    assert trainer.take() == resumed.take()
