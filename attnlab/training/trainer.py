"""The training loop: one step at a time, bit for bit the same from the same seed or checkpoint."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from attnlab.base.counted import format_percent
from attnlab.base.errors import TrainingError
from attnlab.compute.engine import resolve_device
from attnlab.training import models, optimizers, run_state
from attnlab.training.batch import Batch
from attnlab.training.gradient_norms import group_parameters, measure_norms
from attnlab.training.messages import Arrays, Checkpoint, Ended, Metric, Point
from attnlab.training.metrics import compute_metric
from attnlab.training.own_random import OwnRandom
from attnlab.training.run_state import MODEL, OPTIMIZER, add_prefix, remove_prefix
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import check, make_data

DATA_SEED = 0x9E3779B9
"""Combined with a run's seed to give the seed of its examples, so that they are independent of the initial weights.
torch's generator uses only the lower 32 bits of a seed, and these differ.
"""


class Diverged(Exception):  # noqa: N818 - it is a way that training ends, not an error
    """The loss, the gradient or the weights are no longer finite; found at ``step``."""

    def __init__(self, step: int, what: str) -> None:
        super().__init__(f"Training stopped at step {step:,}: {what}. Try a lower rate.")
        self.step = step


class Trainer:
    """Trains the model of a run. ``step`` steps are done, in ``seconds`` of training.

    It draws from generators of its own; the caller's random state is unchanged after every call.
    """

    def __init__(self, spec: RunSpec, state: Arrays | None = None) -> None:
        """Build the model from the seed, or continue from the ``state`` of a checkpoint.

        Raises:
            TrainingError: invalid settings, or a state that does not belong to this run.
            DeviceError: the device is not available.
        """
        problem = check(spec)
        if problem:
            raise TrainingError(problem)
        self.spec = spec
        self.device = resolve_device(spec.train.device)
        self.data = make_data(spec)
        self.step, self.seconds = 0, 0.0
        self._generator = torch.Generator().manual_seed(DATA_SEED ^ spec.train.seed)
        self._random = OwnRandom(spec.train.seed, self.device)
        with self._random.use():
            self.model = models.build(spec.model, self.data).to(self.device)
        models.switch_heads_off(self.model, spec)
        self._parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self._layers = group_parameters(self.model)
        self._gradients: tuple[tuple[str, float], ...] = ()
        self._optimizer = optimizers.create_optimizer(spec.train, self._parameters, self.device)
        self._held_out = self._to_device(self.data.held_out)
        self._good_step = 0
        self._good = [parameter.detach().clone() for parameter in self._parameters]
        self._metric: Metric | None = None
        if state is not None:
            self._restore(state)

    def take(self) -> Point:
        """Take one step.

        Raises:
            Diverged: the loss or the weights are not finite; the last good weights are restored.
            TrainingError: the device failed or its memory is full.
        """
        start = time.perf_counter()
        try:
            with self._watch_device(), self._random.use():
                return self._take(self._to_device(self.data.draw_batch(self._generator, self.spec.train.batch)))
        finally:
            self.seconds += time.perf_counter() - start

    def _take(self, batch: Batch) -> Point:
        rate = optimizers.compute_rate(self.spec.train, self.step)
        if not self.model.training:
            self.model.train()
        loss = models.compute_loss(self.model(batch), batch.targets)
        value = loss.item()
        if not math.isfinite(value):
            self._give_up(f"the loss is {_describe_strange(value)}")
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        gradients = [parameter.grad for parameter in self._parameters if parameter.grad is not None]
        norm = get_total_norm(gradients)
        self._keep()
        if not math.isfinite(norm.item()):
            self._give_up("a gradient is not finite")
        self._gradients = measure_norms(self._layers) if self._precedes_evaluation() else ()
        if self.spec.train.clip:
            clip_grads_with_norm_(self._parameters, self.spec.train.clip, norm)
        self._optimizer.param_groups[0]["lr"] = rate
        optimizers.take_step(self._optimizer)
        self.step += 1
        if self.step == self.spec.train.steps and not math.isfinite(get_total_norm(self._parameters).item()):
            self._give_up("a weight is not finite")
        return Point(self.step - 1, value, rate)

    def _precedes_evaluation(self) -> bool:
        """Return whether the held-out examples are evaluated after the present step."""
        step, train = self.step + 1, self.spec.train
        return step % train.evaluate_every == 0 or step == train.steps

    def _keep(self) -> None:
        """Keep the present weights as the last good ones: their loss is finite."""
        with torch.no_grad():
            for kept, parameter in zip(self._good, self._parameters, strict=True):
                kept.copy_(parameter)
        self._good_step = self.step

    def _give_up(self, what: str) -> None:
        found, self.step = self.step, self._good_step
        with torch.no_grad():
            for kept, parameter in zip(self._good, self._parameters, strict=True):
                parameter.copy_(kept)
        raise Diverged(found, what)

    def evaluate(self) -> Metric:
        """Return the metric of the held-out examples.

        Raises:
            Diverged: their loss is not finite; the last good weights are restored.
            TrainingError: the device failed or its memory is full.
        """
        with self._watch_device():
            found = compute_metric(self.model, self._held_out, self.data.held_out_lengths, self.step)
        if not math.isfinite(found.loss):
            self._give_up(f"the held-out loss is {_describe_strange(found.loss)}")
        self._metric = found = replace(found, gradients=self._gradients)
        return found

    def read_weights(self) -> dict[str, NDArray[np.generic]]:
        """Return copies of the weights by name, float32."""
        return run_state.read_weights(self.model)

    def replace_weights(self, weights: Arrays) -> None:
        """Replace weights; those not named stay, and so does the optimiser's state.

        Raises:
            TrainingError: a name, a shape or a number does not fit; then nothing has changed.
        """
        run_state.put_weights(self.model, weights)
        self._metric = None
        self._gradients = ()
        self._keep()

    def make_checkpoint(self) -> Checkpoint:
        """Return everything needed to continue from here as if training had never stopped."""
        numbers = {"step": np.array(self.step), "seconds": np.array(self.seconds)}
        generators = {f"random {i}": run_state.to_array(state) for i, state in enumerate(self._random.states)}
        state = {
            **add_prefix(MODEL, run_state.read_weights(self.model)),
            **add_prefix(OPTIMIZER, run_state.read_optimizer(self._optimizer)),
            **numbers,
            **generators,
            "examples": run_state.to_array(self._generator.get_state()),
        }
        return Checkpoint(self.step, self.seconds, state)

    def find_end(self) -> Ended | None:
        """Return why the run is over, None while it continues. Stop conditions are checked after an evaluation."""
        train, found = self.spec.train, self._metric
        if found is not None and train.stop_right and found.right >= train.stop_right:
            share = f"{format_percent(found.right)} of the held-out tokens are right"
            return Ended(self.step, "right", f"Done at step {self.step:,}: {share}.")
        if found is not None and train.stop_loss and found.loss < train.stop_loss:
            return Ended(self.step, "loss", f"Done at step {self.step:,}: the held-out loss is {found.loss:.3g}.")
        if self.step >= train.steps:
            return Ended(self.step, "steps", f"Done: all {self.step:,} steps taken.")
        return None

    def _restore(self, state: Arrays) -> None:
        problem = "The checkpoint is not one of this run: {} is missing or wrong."
        run_state.put_weights(self.model, remove_prefix(MODEL, state))
        run_state.put_optimizer(self._optimizer, remove_prefix(OPTIMIZER, state))
        try:
            self.step, self.seconds = int(state["step"]), float(state["seconds"])
            self._generator.set_state(torch.tensor(state["examples"]))
            self._random.states = [torch.tensor(state[f"random {i}"]) for i in range(len(self._random.states))]
            with self._random.use():
                pass  # sets the generators, which refuse an invalid state
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise TrainingError(problem.format(error)) from None
        self._keep()

    def _to_device(self, batch: Batch) -> Batch:
        """Return a batch on the device of the run."""
        source = None if batch.source is None else batch.source.to(self.device)
        return Batch(batch.inputs.to(self.device), batch.targets.to(self.device), source)

    @contextmanager
    def _watch_device(self) -> Iterator[None]:
        """Turn a failure of the device into a TrainingError; on the CPU an error is a fault of the program."""
        try:
            yield
        except RuntimeError as error:
            if self.device.type == "cpu":
                raise
            raise TrainingError(self._describe_device_error(error)) from error

    def _describe_device_error(self, error: RuntimeError) -> str:
        where = f"The device {self.spec.train.device!r}"
        if isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error):
            return f"{where} ran out of memory at step {self.step:,}; try a smaller batch or model."
        return f"{where} failed at step {self.step:,}: {str(error).splitlines()[0]} Try the CPU."


def _describe_strange(value: float) -> str:
    """Return the text of a number that is not finite."""
    return f"{value:g}".replace("inf", "∞").replace("nan", "not a number").replace("-", "−")
