"""Results of several runs: the values of the table, and the range between the least and the largest of the curves."""

import csv
import io
import math

import numpy as np
import pytest

from attnlab.training.best_heads import measure_best_heads
from attnlab.training.look import Viewer
from attnlab.training.messages import Metric, Progress
from attnlab.training.results import BestHead, Result, find_range, make_result, to_csv, to_text
from attnlab.training.run import Run
from attnlab.training.task_patterns import list_patterns, measure_patterns, name_heads
from attnlab.training.tasks import TASKS, make_spec
from tests.training.runs import made_up_run, tiny
from tests.training.test_look import first_weights

NAN = math.nan


def made_up_results() -> list[Result]:
    best = (BestHead("anti-diagonal", "head 2.1", 0.5), BestHead("previous token", "head 1.0", 1 / 3))
    return [
        Result("seed 0", tiny(task="reverse"), "ended", 12, 0.25, 0.125, 0.75, 0.5, best),
        Result("seed 1", tiny(task="reverse", seed=1), "failed", 3, 0.5, NAN, NAN, NAN),
    ]


def test_the_csv_has_a_row_for_each_run_and_an_empty_field_where_nothing_is_known() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(made_up_results()))))
    assert [row["run"] for row in rows] == ["seed 0", "seed 1"]
    assert [row["seed"] for row in rows] == ["0", "1"]
    assert (rows[0]["right"], rows[0]["exact"], rows[0]["loss"]) == ("0.75", "0.5", "0.125")
    assert (rows[0]["anti-diagonal"], rows[0]["anti-diagonal, head"]) == ("0.5", "head 2.1")
    assert float(rows[0]["previous token"]) == 1 / 3  # all digits
    assert (rows[1]["right"], rows[1]["anti-diagonal"], rows[1]["status"]) == ("", "", "failed")


def test_the_text_lines_up() -> None:
    head, first, second = to_text(made_up_results()).splitlines()
    assert head.split("  ")[0] == "run"
    assert first.index("0.50 (head 2.1)") == head.index("anti-diagonal")
    assert "75.0\N{NO-BREAK SPACE}%" in first
    assert first.split()[3] == "0.1250", "as many decimals in every line"
    assert second == "seed 1  3"


def test_the_result_of_a_run_is_its_last_evaluation() -> None:
    found = make_result("mine", made_up_run())
    assert (found.name, found.step, found.right) == ("mine", 2, 0.25)
    assert found.loss == 0.5
    assert math.isnan(make_result("new", Run(tiny(), "new")).loss)


def run_with(*metrics: tuple[int, float]) -> Run:
    run = Run(tiny(), "run")
    run.take(Progress(9, 1.0, (), tuple(Metric(step, loss, 0.5, 0.5) for step, loss in metrics)))
    return run


def test_the_range_goes_from_the_least_to_the_largest_of_at_least_two_runs() -> None:
    runs = [run_with((0, 2.0), (5, 1.0), (9, 0.5)), run_with((0, 3.0), (5, 0.5)), run_with((0, 2.5), (5, NAN))]
    steps, low, high = find_range(runs, "loss")
    np.testing.assert_array_equal(steps, [0, 5])
    np.testing.assert_array_equal(low, [2.0, 0.5])
    np.testing.assert_array_equal(high, [3.0, 1.0])
    assert not len(find_range(runs[:1], "loss")[0])


@pytest.mark.parametrize("task", list(TASKS))
def test_the_best_head_has_the_highest_mean_score_of_the_examples(task: str) -> None:
    spec = make_spec(task)
    if task == "sum":
        spec = TASKS["sum"].variants[-1].spec
    _, weights = first_weights(spec)
    viewer = Viewer(spec)
    found = measure_best_heads(viewer, weights, 40)
    assert found
    looks = [viewer.look_at_held_out(i) for i in range(40)]
    names, heads = [each.name for each in list_patterns(task, looks[0])], name_heads(looks[0].maps)
    for best in found:
        scores = np.array([measure_patterns(task, look)[names.index(best.pattern)] for look in looks])
        mean = [column[np.isfinite(column)].mean() for column in scores.T if np.isfinite(column).any()]
        assert best.score == pytest.approx(max(mean))
        column = scores[:, heads.index(best.head)]
        assert column[np.isfinite(column)].mean() == pytest.approx(best.score)


def test_a_held_out_example_looks_as_its_text_does_as_a_probe() -> None:
    spec = make_spec("reverse")
    _, weights = first_weights(spec)
    viewer = Viewer(spec)
    viewer.load(weights)
    look = viewer.look_at_held_out(3)
    same = viewer.look(0, weights, "".join(look.source))
    assert (look.source, look.expected) == (same.source, same.expected)
    for one, other in zip(look.maps, same.maps, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)


def test_a_model_without_attention_has_no_best_head() -> None:
    spec = make_spec("reverse", "recurrent")
    _, weights = first_weights(spec)
    assert measure_best_heads(Viewer(spec), weights) == ()
