"""Questions whether a run is typical: the same run with other seeds, other rates or another number of heads."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from attnlab.training.specs import RunSpec, replace_field

SEEDS = tuple(range(5))
HEADS = (1, 2, 4)
FACTOR = 3.0
"""How much larger and smaller the other rates are."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One run of a queue: its name, which says what is different, such as "seed 3", and its settings."""

    name: str
    spec: RunSpec

    @property
    def run_name(self) -> str:
        """What its run is called, such as "reverse, seed 0, rate 0.009"; a seed that differs is said once."""
        seed = f"seed {self.spec.train.seed}"
        usual = f"{self.spec.task}, {seed}"
        return usual if self.name == seed else f"{usual}, {self.name}"


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its ``title``, what it finds out, ``about``, and the setting that it varies, with its values."""

    title: str
    about: str
    setting: str
    choose: Callable[[RunSpec], tuple[int | float, ...]]

    def plan(self, spec: RunSpec) -> tuple[Planned, ...]:
        """Return the runs that answer the question for a run with these settings."""
        return vary(spec, self.setting, self.choose(spec))


def _choose_rates(spec: RunSpec) -> tuple[float, ...]:
    rate = spec.train.rate
    return tuple(float(f"{each:.6g}") for each in (rate / FACTOR, rate, rate * FACTOR))


QUESTIONS: Mapping[str, Question] = {
    "seeds": Question(
        f"Seeds {SEEDS[0]} to {SEEDS[-1]}",
        "Train it five times, each time from other first weights and on other examples",
        "seed",
        lambda spec: SEEDS,
    ),
    "rates": Question(
        "Rate × 3, ÷ 3",
        "Train it with a third of the learning rate, with the rate itself and with three times the rate",
        "rate",
        _choose_rates,
    ),
    "heads": Question(
        "Heads 1, 2, 4",
        "Train it with one, two and four heads in each layer",
        "heads",
        lambda spec: HEADS,
    ),
}
"""The questions that the window offers, by name."""


def vary(spec: RunSpec, setting: str, values: Iterable[int | float]) -> tuple[Planned, ...]:
    """Return one run for each value of a setting, an option of the task or a field of the model or the training.

    Raises:
        KeyError: there is no such setting.
    """
    return tuple(Planned(f"{setting} {_format(value)}", _set(spec, setting, value)) for value in values)


def _set(spec: RunSpec, setting: str, value: int | float) -> RunSpec:
    if setting in spec.options:
        return replace(spec, options={**spec.options, setting: value})
    return replace_field(spec, setting, value)


def _format(value: int | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def check_plan(plan: Iterable[Planned], check: Callable[[RunSpec], str]) -> str:
    """Return one sentence that names the first run of a plan that cannot be trained and says why, "" if all can.

    ``check`` is :func:`attnlab.training.tasks.check`, which loads torch.
    """
    found = ((each.name, check(each.spec)) for each in plan)
    return next((f"{name[:1].upper()}{name[1:]}: {problem}" for name, problem in found if problem), "")
