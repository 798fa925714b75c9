"""Chooses what ``make test`` (pytest --quick) leaves out, by five rules, and reports it at the end of the run.

* Slow: tests that use ``subprocess``, directly or through a function in ``tests``, and tests marked ``slow``, which
  take half a second of the processor or more. Those marked ``quick`` stay.
* Presets: a test over many presets keeps a computed subset that covers each stage, each registry entry, each option and
  each kind of heads, masks and sequences of the full set.
* Products: a test of many cases with several parameters keeps a subset that covers each value of each parameter.
* Windows: each file keeps the first test that opens the program's window, in its first case. A file that is named
  (``make test ARGS=tests/ui/test_canvas.py``) keeps all of these tests.
* Hypothesis: at most ten examples.

Each file keeps at least its first test, unless all of them start programs. ``make test-all`` and CI run everything.
"""

import subprocess
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import hypothesis
import pytest

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

T = TypeVar("T")

MANY = 12
"""Tests with more cases than this are reduced."""
FEW_EXAMPLES = 10
PROGRAMS = "tests that start programs"
RULES = pytest.StashKey[Counter[str]]()
"""The number of tests that each rule left out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out slow tests and most cases, as make test does")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RULES] = Counter()
    config.addinivalue_line("markers", "slow: takes half a second of the processor or more; make test leaves it out")
    config.addinivalue_line("markers", "quick: make test runs it although it starts a program")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests by the rules, and count them by rule."""
    if not config.getoption("--quick"):
        return
    out = dict(_left_out(items))
    if not any(".py" in each for each in config.args):
        out |= dict.fromkeys(_of_more_windows([item for item in items if item not in out]), "tests with a window")
    kept = {item.path for item in items if item not in out}
    for item in items:
        if item.path not in kept and out[item] != PROGRAMS:
            kept.add(item.path)
            del out[item]
    config.stash[RULES].update(out.values())
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]
    for item in items:
        _ask_for_few_examples(item)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(session.config.stash[RULES])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts from an xdist worker; every worker leaves out the same tests."""
    counts = getattr(node, "workeroutput", {}).get("left_out")
    if counts is not None:
        node.config.stash[RULES] = Counter(counts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--quick"):
        told = ", ".join(f"{n} {rule}" for rule, n in sorted(config.stash[RULES].items())) or "no test"
        terminalreporter.write_line(f"Quick run: at most {FEW_EXAMPLES} Hypothesis examples, and left out {told}.")
        terminalreporter.write_line("make test-all runs everything.")


def slow_but(kept: Collection[str], names: Iterable[str]) -> list[Any]:
    """Return the cases of a test, of which ``make test`` runs those that are ``kept``."""
    return [name if name in kept else pytest.param(name, marks=pytest.mark.slow) for name in names]


def covering(features: dict[T, set[Hashable]]) -> list[T]:
    """Return a few of the keys, in order, that together have every feature; without any of them, one is missing."""
    wanted = set().union(*features.values()) if features else set()
    chosen: set[T] = set()
    while wanted:
        best = max(features, key=lambda key: len(features[key] & wanted))
        chosen.add(best)
        wanted -= features[best]
    for key in [key for key in features if key in chosen]:  # one that was chosen early may have become unnecessary
        if features[key] <= set().union(*(features[other] for other in chosen - {key})):
            chosen.remove(key)
    return [key for key in features if key in chosen]


def _left_out(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, str]]:
    groups: dict[Hashable, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if _starts_programs(item) and not item.get_closest_marker("quick"):
            yield item, PROGRAMS
        elif item.get_closest_marker("slow") and not item.get_closest_marker("quick"):
            yield item, "slow tests"
        elif isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            groups[item.path, item.cls, item.originalname].append(item)
    for cases in groups.values():
        if "open_window" in cases[0].fixturenames:
            yield from ((case, "cases with a window") for case in cases[1:])
            continue
        if len(cases) <= MANY:
            continue
        presets = _of_few_presets(cases)
        yield from ((case, "cases of more presets") for case in cases if case not in presets)
        if len(presets) > MANY:
            values = _each_value_once(presets)
            yield from ((case, "cases of products") for case in presets if case not in values)


def _of_more_windows(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests that open the window after the first of their file: each takes half a second of the processor."""
    opened: set[Path] = set()
    for item in items:
        if "open_window" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("quick"):
            if item.path in opened:
                yield item
            opened.add(item.path)


def _starts_programs(item: pytest.Item) -> bool:
    function: Any = getattr(item, "function", None)
    function = getattr(getattr(function, "hypothesis", None), "inner_test", function)
    return isinstance(function, FunctionType) and _uses_subprocess(function)


@cache
def _uses_subprocess(function: FunctionType) -> bool:
    """Return whether a function uses the module ``subprocess``, directly or through a function in ``tests``."""
    seen, waiting = {function}, [function]
    while waiting:
        one = waiting.pop()
        for value in (one.__globals__.get(name) for name in _names(one.__code__)):
            if value is subprocess:
                return True
            if isinstance(value, FunctionType) and value not in seen and "tests" in Path(_file(value)).parts:
                seen.add(value)
                waiting.append(value)
    return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _file(function: FunctionType) -> str:
    return function.__code__.co_filename


def _of_few_presets(cases: Sequence[pytest.Function]) -> list[pytest.Function]:
    """Return the cases of a covering set of the presets in them; all, where a test is not over many presets."""
    from attnlab.attention.examples.presets import PRESETS

    for argument in cases[0].callspec.params:
        names = [_preset_name(case.callspec.params.get(argument)) for case in cases]
        if set(names) <= PRESETS.keys() and len(set(names)) > MANY:
            few = covering({name: _features(name) for name in names})
            return [case for case, name in zip(cases, names, strict=True) if name in few]
    return list(cases)


def _preset_name(value: Any) -> str:
    return value if isinstance(value, str) else str(getattr(value, "name", ""))


@cache
def _features(name: str) -> set[Hashable]:
    """Return the features of a preset: stages, registry entries, options, kinds of heads."""
    from attnlab.attention.examples.presets import preset
    from attnlab.compute.engine import compute

    e: Experiment = preset(name)
    found: set[Hashable] = {("stage", stage) for stage in compute(e).all_stages}
    for field in fields(e.config):
        value = getattr(e.config, field.name)
        found |= {(field.name, key) for key in value} if isinstance(value, Mapping) else {(field.name, _kind(value))}
    return found | {("extra", table) for table in e.weights.extra}


def _kind(value: Any) -> Hashable:
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return value > 1
    return "some" if value is not None and len(value) else "none"


def _each_value_once(cases: Sequence[pytest.Function]) -> list[pytest.Function]:
    """Return cases in which each value of each parameter occurs; all, where there is one parameter."""
    if len(cases[0].callspec.params) < 2:
        return list(cases)
    return covering({case: {(k, _spelled(v)) for k, v in case.callspec.params.items()} for case in cases})


def _spelled(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"


def _ask_for_few_examples(item: pytest.Item) -> None:
    """Lower the number of examples of a Hypothesis test; tests/test_quick.py checks that this works."""
    function: Any = getattr(item, "obj", None)
    if not getattr(function, "is_hypothesis_test", False):
        return
    function = getattr(function, "__func__", function)
    asked = getattr(function, "_hypothesis_internal_use_settings", None) or hypothesis.settings()
    few = min(asked.max_examples, FEW_EXAMPLES)
    function._hypothesis_internal_use_settings = hypothesis.settings(asked, max_examples=few)
