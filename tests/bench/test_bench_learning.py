"""The bench of learned results: its measures on runs with known answers, and a quick run."""

from dataclasses import replace

import pytest
import torch

from attnlab.bench import learning
from attnlab.bench.learning import Learned
from attnlab.training.best_heads import measure_best_heads
from attnlab.training.look import Viewer
from attnlab.training.messages import Metric
from attnlab.training.specs import RunSpec
from attnlab.training.task_patterns import PATTERNS
from attnlab.training.tasks import TASKS, make_spec
from attnlab.training.trainer import Trainer


def trainer(task: str, kind: str | None = None) -> Trainer:
    spec = make_spec(task, kind)
    return Trainer(replace(spec, model=replace(spec.model, d_model=8, heads=min(spec.model.heads, 2), d_ff=8)))


def test_the_longest_third_includes_every_example_of_its_lengths() -> None:
    done = Learned(trainer("reverse"))
    lengths = done.trainer.data.held_out_lengths
    assert lengths.count(8) + lengths.count(7) > len(lengths) / 3
    right = tuple((length, 1.0 if length == 8 else 0.0) for length in range(4, 9))
    done.metrics.append((1.0, Metric(10, 0.1, 0.9, 0.5, right)))
    assert learning.measure_longest_third(done) == pytest.approx(
        lengths.count(8) / (lengths.count(8) + lengths.count(7))
    )


def test_the_first_step_that_reaches_a_target_counts() -> None:
    done = Learned(trainer("copy"))
    done.metrics += [(float(i), Metric(10 * i, 1.0, 0.25 * i, 0.0)) for i in range(4)]
    assert done.find_first(lambda metric: metric.right >= 0.5) == (2.0, 20)
    assert done.find_first(lambda metric: metric.right > 0.8) is None


@pytest.mark.parametrize(
    ("task", "kind", "measure"),
    [
        ("induction", None, learning.measure_induction),
        ("dates", None, learning.measure_alignment),
        ("dates", "luong", learning.measure_alignment),
        ("masked", None, learning.measure_subject),
    ],
)
def test_uniform_weights_are_far_from_the_target(task: str, kind: str | None, measure: object) -> None:
    assert callable(measure)
    made = trainer(task, kind)
    with torch.no_grad():
        for parameter in made.model.parameters():
            parameter.zero_()
    value = measure(made)
    assert 0.01 < value < 0.5
    if task == "masked":  # one word of the sentence
        assert 1 / 12 < value < 1 / 4


def test_a_quick_bench_yields_cases_and_restores_the_thread_count() -> None:
    threads = torch.get_num_threads()
    found = learning.run_cases(quick=True)
    case = next(found)
    assert (case.bench, case.runs) == ("learning", 1)
    assert case.case.startswith("copy, decoder, seed 0")
    assert 0 <= case.ours < 100
    assert torch.get_num_threads() == 1
    found.close()  # type: ignore[attr-defined]
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("task", ["reverse", "masked", "sum"])
def test_the_report_has_accuracy_exact_match_and_every_pattern(task: str) -> None:
    done = Learned(trainer(task) if task != "sum" else Trainer(TASKS["sum"].variants[-1].spec))
    right = float("nan") if task == "sum" else 0.25
    done.metrics.append((1.0, Metric(10, 0.1, right, right / 2)))
    found = {case.case: case for case in learning.report("run", done)}
    best = measure_best_heads(Viewer(done.trainer.spec), done.trainer.read_weights())
    assert best
    for each in best:
        case = found.pop(f"run: {each.pattern}, {each.head}")
        assert case.ours == pytest.approx(each.score)
        needed = None if task == "sum" else learning.PROMISED.get((task, each.pattern))
        assert case.target == ("" if needed is None else f"≥ {needed:g}")
    numbers = {name: case.ours for name, case in found.items()}
    shares = {"run: tokens right at the end": 25.0, "run: examples right at the end": 12.5}
    assert numbers == ({} if task == "sum" else shares)


def test_what_is_promised_are_patterns_of_the_tasks() -> None:
    assert all(name in [pattern.name for pattern in PATTERNS[task]] for task, name in learning.PROMISED)


def test_the_sum_promises_its_pattern_with_positions_only() -> None:
    with_them, without = (variant.spec for variant in TASKS["sum"].variants)
    assert learning.find_promise(with_them, "previous two") == learning.PROMISED["sum", "previous two"]
    assert learning.find_promise(without, "previous two") is None
    assert learning.find_promise(make_spec("sum"), "previous two") is None


def test_every_task_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(learning, "_learn_seeds", lambda task, quick, kind=None, spec=None: asked.append(task) or ())
    for part in (learning._measure_shares, learning._measure_losses):
        assert list(part(True)) == []
    assert set(asked) == set(TASKS)


def test_other_settings_of_which_the_texts_speak_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None, object]] = []

    def note(task: str, quick: bool, kind: str | None = None, spec: RunSpec | None = None) -> tuple[()]:
        options = {} if spec is None else spec.options
        asked.append((task, kind if spec is None else spec.model.kind, options.get("level")))
        return ()

    monkeypatch.setattr(learning, "_learn_seeds", note)
    assert list(learning._measure_other_settings(True)) == []
    assert asked == [
        ("reverse", "encoder-decoder", None),
        ("lines", "decoder", "character"),
        ("questions", "luong", None),
        ("questions", "recurrent", None),
    ]
