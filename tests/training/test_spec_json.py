"""The settings of a run survive JSON, and invalid JSON is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.base.errors import TrainingError
from attnlab.training.spec_json import from_json, to_json
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import TASKS

NUMBERS = st.integers(-(2**53), 2**53)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
MODELS = st.builds(ModelSpec, st.text(), NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.text(), st.text(), FLOATS)
TRAINS = st.builds(TrainSpec, rate=FLOATS, steps=NUMBERS, seed=NUMBERS, device=st.text(), stop_right=FLOATS)
OPTIONS = st.dictionaries(st.text(), NUMBERS | FLOATS | st.text() | st.booleans(), max_size=5)


@given(st.builds(RunSpec, st.text(), OPTIONS, MODELS, TRAINS))
def test_a_spec_survives_json(spec: RunSpec) -> None:
    assert from_json(json.loads(json.dumps(to_json(spec)))) == spec


@pytest.mark.parametrize("task", TASKS)
def test_the_settings_of_every_task_survive_json(task: str) -> None:
    for spec in (*map(TASKS[task].settings, TASKS[task].kinds), *(variant.spec for variant in TASKS[task].variants)):
        found = from_json(json.loads(json.dumps(to_json(spec))))
        assert found == spec
        assert list(map(type, found.options.values())) == list(map(type, spec.options.values()))


def test_integers_are_accepted_for_floats() -> None:
    value = to_json(RunSpec())
    value["train"]["rate"] = 1
    assert from_json(value).train.rate == 1.0
    assert type(from_json(value).train.rate) is float


def changed(path: str, value: Any) -> Any:
    found = to_json(RunSpec("copy", {"longest": 8}))
    *places, last = path.split(".")
    place = found
    for name in places:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("task", 3, "task is 3"),
        ("task", ..., "need task, options, model and train"),
        ("extra", 1, "nothing else"),
        ("options", [1], "options needs"),
        ("options", {str(i): i for i in range(65)}, "at most 64"),
        ("options.longest", None, "options.longest is None"),
        ("options.longest", [1], "options.longest is [1]"),
        ("model.layers", True, "model.layers is True; it needs a whole number"),
        ("options.longest", 2**60, "too large"),
        ("options.longest", float("inf"), "options.longest is inf"),
        ("options.longest", "x" * 5000, "at most 4,096 letters"),
        ("model", "large", "model needs values by name"),
        ("model.layers", 1.5, "model.layers is 1.5; it needs a whole number"),
        ("model.layers", "2", "it needs a whole number"),
        ("model.kind", 1, "model.kind is 1; it needs text"),
        ("model.size", 1, "model.size is unknown"),
        ("train.rate", "fast", "train.rate is 'fast'; it needs a number"),
        ("train.seed", False, "train.seed is False"),
        ("train.a\x1b[31mb", 1, r"train.a\x1b[31mb is unknown"),
    ],
)
def test_an_invalid_value_is_named(path: str, value: Any, words: str) -> None:
    with pytest.raises(TrainingError) as refused:
        from_json(changed(path, value))
    assert words in str(refused.value)
    assert str(refused.value).isprintable()


NAMES = st.text() | st.sampled_from(["task", "options", "model", "train"])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
INNER = PLAIN | st.lists(PLAIN) | st.dictionaries(NAMES, PLAIN)


@given(INNER | st.dictionaries(NAMES, INNER))
def test_any_other_json_is_refused(value: Any) -> None:
    with pytest.raises(TrainingError):
        from_json(value)
