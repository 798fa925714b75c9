"""Benchmark of the tasks with their default settings: held-out accuracy, losses, maps, and the seconds needed.

Each case is a seed of a task: ``ours`` is the result or the time it took, ``baseline`` the target.
Seconds are CPU seconds of one core.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnlab.bench.measure import Case, make_case
from attnlab.training.batch import BEGIN, IGNORED
from attnlab.training.best_heads import measure_best_heads
from attnlab.training.look import Viewer
from attnlab.training.messages import Metric, Point
from attnlab.training.models import watch
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import TASKS, make_spec
from attnlab.training.tasks import calendar_spellings as calendar
from attnlab.training.tasks.own_data import CHARACTER, LEVEL
from attnlab.training.tasks.sentences import PEOPLE
from attnlab.training.trainer import Trainer

SEEDS = tuple(range(5))
QUICK_STEPS = 2
POINTS = 20
"""The target margin of models with attention over those without."""
PROMISED = {
    ("copy", "diagonal"): 0.4,
    ("reverse", "anti-diagonal"): 0.4,
    ("sort", "next letter"): 0.3,
    ("induction", "induction"): 0.8,
    ("induction", "previous token"): 0.7,
    ("dates", "alignment"): 0.5,
    ("masked", "subject"): 0.25,
    ("masked", "verb"): 0.5,
    ("characters", "previous token"): 0.5,
    ("questions", "diagonal"): 0.9,
    ("pairs", "diagonal"): 0.9,
    ("sum", "previous two"): 0.8,
}
"""The least score of the best head that the texts on a task promise, by task and pattern, whatever the seed; that of
``sum`` holds with positions only."""
ACROSS_STEPS, EARLY = 1000, 200
"""The steps of *Reverse* with an encoder–decoder, and those after which questions with and without attention differ."""
FIELDS = (("y", range(4)), ("m", range(5, 7)), ("d", range(8, 10)))
"""The positions of year, month and day in an ISO date."""


@dataclass(slots=True)
class Learned:
    """A finished run: its curve, its metrics, each with the CPU seconds until then, and its trainer."""

    trainer: Trainer
    points: list[Point] = field(default_factory=list)
    metrics: list[tuple[float, Metric]] = field(default_factory=list)

    @property
    def last(self) -> Metric:
        """The last metrics."""
        return self.metrics[-1][1]

    def find_first(self, reached: Callable[[Metric], bool]) -> tuple[float, int] | None:
        """Return the seconds and steps until a metric was first reached, or None."""
        return next(((seconds, metric.step) for seconds, metric in self.metrics if reached(metric)), None)


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the cases of all tasks, trained with one thread; takes about an hour."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield from _measure_shares(quick)
        yield from _compare_with_recurrent(quick)
        yield from _measure_losses(quick)
        yield from _measure_other_settings(quick)
    finally:
        torch.set_num_threads(threads)


def learn(spec: RunSpec, quick: bool = False) -> Learned:
    """Train a run to its end, with its own interval between evaluations on held-out examples."""
    if quick:
        spec = replace(spec, train=replace(spec.train, steps=QUICK_STEPS))
    done, start = Learned(Trainer(spec)), time.process_time()
    while done.trainer.find_end() is None:
        done.points.append(done.trainer.take())
        step = done.trainer.step
        if step % spec.train.evaluate_every == 0 or step == spec.train.steps:
            done.metrics.append((time.process_time() - start, done.trainer.evaluate()))
    return done


def _learn_seeds(
    task: str, quick: bool, kind: str | None = None, spec: RunSpec | None = None
) -> Iterator[tuple[str, Learned]]:
    """Yield the runs of a task with all seeds, by default with its own settings."""
    spec = make_spec(task, kind) if spec is None else spec
    for seed in SEEDS[:1] if quick else SEEDS:
        yield (
            f"{task}, {spec.model.kind}, seed {seed}",
            learn(replace(spec, train=replace(spec.train, seed=seed)), quick),
        )


def _measure_shares(quick: bool) -> Iterator[Case]:
    """Yield the accuracy on held-out examples, the time it took, and whether a map shows the pattern."""
    for task in ("copy", "reverse", "sort", "questions", "pairs"):
        for name, done in _learn_seeds(task, quick):
            yield from report(name, done)
            yield from _measure_share(name, done, "tokens", 0.99, 60)
    for name, done in _learn_seeds("induction", quick):
        yield from report(name, done)
        yield from _measure_share(name, done, "tokens", 0.95, 60)
        yield _make_rate_case(
            f"{name}: weight on what followed", measure_induction(done.trainer), 0.8, "", "some head > 0.8"
        )
    for name, done in _learn_seeds("dates", quick):
        yield from report(name, done)
        yield from _measure_share(name, done, "dates", 0.95, 300)
        yield _make_rate_case(
            f"{name}: weight on the part written", measure_alignment(done.trainer), 0.5, "", "some head > 0.5"
        )
    for name, done in _learn_seeds("masked", quick):
        yield from report(name, done)
        yield _make_rate_case(
            f"{name}: weight of -self on its subject",
            measure_subject(done.trainer),
            PROMISED["masked", "subject"],
            "",
            f"some head > {PROMISED['masked', 'subject']}",
        )
        unigram = done.trainer.data.baselines["unigram"]
        yield make_case(
            "learning", f"{name}: held-out loss, compared with unigram", [done.last.loss], [unigram], "nats", "below"
        )


def report(name: str, done: Learned) -> Iterator[Case]:
    """Yield how many tokens and examples are right at the end, and the best head's score for each pattern of the task,
    the mean over held-out examples; a pattern that the texts do not promise has no target.
    """
    for what, share in (("tokens right", done.last.right), ("examples right", done.last.exact)):
        if math.isfinite(share):  # a task on numbers has none
            yield _make_rate_case(f"{name}: {what} at the end", 100 * share, 100, "%", "")
    trainer = done.trainer
    viewer = Viewer(trainer.spec, trainer.data)
    for best in measure_best_heads(viewer, trainer.read_weights()):
        needed = find_promise(trainer.spec, best.pattern)
        target = "" if needed is None else f"≥ {needed:g}"
        yield _make_rate_case(f"{name}: {best.pattern}, {best.head}", best.score, needed or best.score, "", target)


def find_promise(spec: RunSpec, pattern: str) -> float | None:
    """Return the least score that the texts promise for a pattern of a run, None if they promise none."""
    if spec.task == "sum" and spec.model.positions == "none":
        return None
    return PROMISED.get((spec.task, pattern))


def _measure_share(name: str, done: Learned, of: str, needed: float, limit_s: float) -> Iterator[Case]:
    """Yield the final accuracy and, if the target was reached, the seconds until then."""

    def read_share(metric: Metric) -> float:
        return metric.exact if of == "dates" else metric.right

    yield _make_rate_case(f"{name}: {of} right", 100 * read_share(done.last), 100 * needed, "%", f"≥ {needed:.0%}")
    reached = done.find_first(lambda metric: read_share(metric) >= needed)
    if reached is not None:
        seconds, steps = reached
        yield make_case("learning", f"{name}: time for {steps} steps", [seconds], [limit_s], "s", f"≤ {limit_s:g} s")


def _compare_with_recurrent(quick: bool) -> Iterator[Case]:
    """Yield the accuracy of recurrent models with and without attention on the longest third of the dates."""
    with_it, without = _learn_seeds("dates", quick, "bahdanau"), _learn_seeds("dates", quick, "recurrent")
    for (name, done), (_, other) in zip(with_it, without, strict=True):
        ours, needed = 100 * measure_longest_third(done), 100 * measure_longest_third(other) + POINTS
        yield _make_rate_case(
            f"{name}: longest third right", ours, needed, "%", f"≥ recurrent without + {POINTS} points"
        )


def _measure_losses(quick: bool) -> Iterator[Case]:
    """Yield losses compared with simpler baselines, and the loss of the sum task as courses train it."""
    for task in ("characters", "lines"):
        for name, done in _learn_seeds(task, quick):
            yield from report(name, done)
            bigram = done.trainer.data.baselines["bigram"]
            yield make_case(
                "learning", f"{name}: held-out loss, compared with bigram", [done.last.loss], [bigram], "nats", "below"
            )
            seconds, steps = done.metrics[-1][0], done.last.step
            yield make_case("learning", f"{name}: time for {steps} steps", [seconds], [180], "s", "≤ 180 s")
    for name, done in _learn_seeds("sum", quick):
        yield from report(name, done)
        point = done.points[min(48, len(done.points) - 1)]
        yield make_case("learning", f"{name}: loss at epoch {point.step}", [point.loss], [0.5448], "MSE", "0.5 to 0.6")
        yield make_case("learning", f"{name}: held-out loss", [done.last.loss], [0.9548], "MSE", "high: no positions")
    for variant in TASKS["sum"].variants:
        for name, done in _learn_seeds("sum", quick, spec=variant.spec):
            named = name.replace("sum, attention", f"sum, {variant.title.lower()}")
            yield from report(named, done)
            bound = done.trainer.data.baselines["best without order"]
            yield make_case(
                "learning", f"{named}: held-out loss, compared with no order", [done.last.loss], [bound], "MSE", ""
            )


def _measure_other_settings(quick: bool) -> Iterator[Case]:
    """Yield what the texts on the tasks say of other settings than the default ones."""
    across = make_spec("reverse", "encoder-decoder")
    across = replace(across, train=replace(across.train, steps=ACROSS_STEPS))
    lines = make_spec("lines")
    for spec in (across, replace(lines, options={**lines.options, LEVEL.name: CHARACTER})):
        for name, done in _learn_seeds(spec.task, quick, spec=spec):
            yield from report(f"{name}, {'characters' if spec.task == 'lines' else f'{ACROSS_STEPS:,} steps'}", done)
    for kind in ("luong", "recurrent"):
        for name, done in _learn_seeds("questions", quick, kind):
            early = next(metric for _, metric in reversed(done.metrics) if metric.step <= EARLY)
            yield _make_rate_case(f"{name}: tokens right after {EARLY} steps", 100 * early.right, 100, "%", "")


def _make_rate_case(name: str, ours: float, needed: float, unit: str, target: str) -> Case:
    return make_case("learning", name, [ours], [needed], unit, target, rate=True)


@torch.no_grad()
def compute_weights(trainer: Trainer) -> dict[str, Tensor]:
    """Return the maps [B, h, T_q, T_k] of every layer on the held-out examples."""
    trainer.model.eval()
    with watch(trainer.model) as traces:
        trainer.model(trainer.data.held_out)
        return {name: trace.join("weights") for name, trace in traces.items()}


def measure_induction(trainer: Trainer) -> float:
    """Return the best head's mean weight on the token that followed an earlier copy of the present letter."""
    held_out = trainer.data.held_out
    rows, asked = held_out.inputs, held_out.targets != IGNORED
    after = torch.zeros(*rows.shape, rows.shape[1], dtype=torch.bool)
    after[:, :, 1:] = rows[:, None, :-1] == rows[:, :, None]
    after = after.tril()  # a place may match itself: the letter that followed may be the same letter
    return max(
        float((part[:, head] * after).sum(-1)[asked].mean())
        for part in compute_weights(trainer).values()
        for head in range(part.shape[1])
    )


def measure_alignment(trainer: Trainer) -> float:
    """Return the best head's mean weight on the source characters of the year, month or day being written."""
    data = trainer.data
    held_out = data.held_out
    assert held_out.source is not None
    told = torch.zeros(len(held_out.inputs), held_out.inputs.shape[1], held_out.source.shape[1])
    for row, numbers in zip(told, held_out.source, strict=True):
        found = calendar.read("".join(data.decode(numbers[numbers > BEGIN])))
        assert found is not None
        for name, places in FIELDS:
            begin, end = found[1][name]
            row[places.start : places.stop, begin:end] = 1
    asked = told.sum(-1) > 0
    maps = [part for name, part in compute_weights(trainer).items() if name.startswith(("cross", "alignment"))]
    return max(float((part[:, head] * told).sum(-1)[asked].mean()) for part in maps for head in range(part.shape[1]))


def measure_subject(trainer: Trainer) -> float:
    """Return the best head's mean weight from a hidden himself, themselves, … on its subject."""
    data = trainer.data
    actors = {word for noun in PEOPLE for word in (noun.one, noun.several)}
    found = []
    for row, (inputs, targets) in enumerate(zip(data.held_out.inputs, data.held_out.targets, strict=True)):
        read, asked = data.decode(inputs), data.decode(targets)
        hidden = [i for i, word in enumerate(asked) if word.endswith(("self", "selves"))]
        acting = next((i for i in (1, 2) if read[i] in actors), None)  # the third word after an adjective
        if hidden and acting is not None:
            found.append((row, hidden[0], acting))
    rows, queries, keys = torch.tensor(found).unbind(1)
    return max(float(part[rows, :, queries, keys].mean(0).max()) for part in compute_weights(trainer).values())


def measure_longest_third(done: Learned) -> float:
    """Return the share of fully correct examples among the longest third of the held-out ones."""
    lengths = sorted(done.trainer.data.held_out_lengths)
    least = lengths[-len(lengths) // 3]
    found = [(lengths.count(length), share) for length, share in done.last.by_length if length >= least]
    return sum(count * share for count, share in found) / sum(count for count, _ in found)
