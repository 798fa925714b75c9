"""The runs that answer a question differ from the given one in one setting only."""

from dataclasses import replace

import pytest

from attnlab.training.questions import QUESTIONS, check_plan, vary
from attnlab.training.tasks import TASKS, check, make_spec
from tests.training.runs import tiny


def test_five_seeds_differ_in_the_seed_only() -> None:
    spec = make_spec("reverse")
    runs = QUESTIONS["seeds"].plan(spec)
    assert [each.name for each in runs] == ["seed 0", "seed 1", "seed 2", "seed 3", "seed 4"]
    for seed, each in enumerate(runs):
        assert each.spec == replace(spec, train=replace(spec.train, seed=seed))


def test_rates_are_a_third_and_three_times() -> None:
    runs = QUESTIONS["rates"].plan(tiny(rate=0.003))
    assert [(each.name, each.spec.train.rate) for each in runs] == [
        ("rate 0.001", 0.001),
        ("rate 0.003", 0.003),
        ("rate 0.009", 0.009),
    ]
    assert {each.spec.train.seed for each in runs} == {0}


def test_heads_are_those_of_the_model() -> None:
    runs = QUESTIONS["heads"].plan(make_spec("reverse"))
    assert [each.spec.model.heads for each in runs] == [1, 2, 4]
    assert check_plan(runs, check) == ""


def test_an_option_of_the_task_can_vary_too() -> None:
    runs = vary(make_spec("reverse"), "longest", (6, 8))
    assert [each.spec.options["longest"] for each in runs] == [6, 8]
    with pytest.raises(KeyError):
        vary(make_spec("reverse"), "nonsense", (1,))


def test_a_run_that_cannot_be_trained_is_named() -> None:
    runs = vary(make_spec("reverse"), "heads", (1, 7))
    assert check_plan(runs, check).startswith("Heads 7: ")


@pytest.mark.parametrize("task", list(TASKS))
@pytest.mark.parametrize("question", list(QUESTIONS))
def test_every_question_can_be_asked_of_every_default(task: str, question: str) -> None:
    assert check_plan(QUESTIONS[question].plan(make_spec(task)), check) == ""
