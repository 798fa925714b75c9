"""The quick run keeps every feature, limits examples, and reports what it leaves out."""

import re
from pathlib import Path

import pytest

from attnlab.attention.examples.presets import PRESETS, preset
from attnlab.compute.engine import compute
from tests import quick
from tests.nursery import run_python

SAMPLE = """
import subprocess, pytest
from hypothesis import given, settings, strategies
from attnlab.attention.examples.presets import PRESETS

@pytest.mark.slow
def test_slow(): print("ran slow")

@pytest.mark.slow
@pytest.mark.quick
def test_slow_and_quick(): print("ran quick")

def start(): return subprocess.run(["true"])

def test_starts(): print("ran starting", start)

@pytest.mark.quick
def test_starts_and_quick(): print("ran starting quickly", start)

@pytest.mark.parametrize("name", PRESETS)
def test_preset(name): print("ran preset", name)

@pytest.mark.parametrize("name", list(PRESETS)[:3])
def test_few_presets(name): print("ran few")

@pytest.mark.parametrize("a", range(5))
@pytest.mark.parametrize("b", "xyz")
def test_product(a, b): print(f"ran product {a}{b}")

@pytest.fixture
def open_window(): return print

@pytest.fixture
def person(open_window): return open_window

@pytest.mark.parametrize("size", ["small", "medium", "large", "huge"])
def test_window(person, size): person(f"ran window {size}")

def test_second_window(person): person("ran window 2")

def test_third_window(person): person("ran window 3")

@pytest.mark.quick
def test_window_and_quick(person): person("ran window quickly")

@given(strategies.integers())
@settings(max_examples=300, deadline=None)
def test_examples(n): print("ran example")
"""


def test_the_quick_run_covers_every_feature() -> None:
    features = {"a": {1, 2}, "b": {2}, "c": {3}, "d": {1, 3}}
    assert quick.covering(features) in (["a", "c"], ["a", "d"])
    early = {"a": {1, 2, 3, 4}, "b": {1, 2, 5}, "c": {3, 4, 6}}
    assert quick.covering(early) == ["b", "c"]
    found = {name: quick._features(name) for name in PRESETS}
    few = _choose_few()
    assert 5 < len(few) < len(PRESETS)
    for name in few:
        assert found[name] - set().union(*(found[other] for other in few if other != name)), f"{name} is not needed"
    assert {stage for name in few for stage in compute(preset(name)).all_stages} == {
        stage for name in PRESETS for stage in compute(preset(name)).all_stages
    }
    for field in ("score", "normalizer", "positions", "qk_norm", "scale", "causal"):
        of_few, of_all = ({getattr(preset(name).config, field) for name in names} for names in (few, PRESETS))
        assert {quick._kind(value) for value in of_few} == {quick._kind(value) for value in of_all}, field
    assert {mask for name in few for mask in preset(name).config.masks} == {
        mask for name in PRESETS for mask in preset(name).config.masks
    }


def _choose_few() -> list[str]:
    return quick.covering({name: quick._features(name) for name in PRESETS})


@pytest.mark.slow
def test_a_quick_run_omits_what_it_reports_and_a_full_run_nothing(tmp_path: Path) -> None:
    tmp_path /= "tests"
    tmp_path.mkdir()
    (tmp_path / "test_sample.py").write_text(SAMPLE, encoding="utf-8")
    (tmp_path / "test_all_slow.py").write_text("import pytest\n@pytest.mark.slow\ndef test_alone(): print('ran alone')")
    (tmp_path / "test_all_start.py").write_text("import subprocess\ndef test_one(): print('ran one', subprocess)")
    said = _run(tmp_path, "--quick")
    assert "ran one" not in said
    assert "ran slow" not in said
    assert said.count("ran quick") == said.count("ran alone") == 1, "a file lost all its tests"
    assert said.count("ran preset") == len(_choose_few())
    assert said.count("ran few") == 3
    assert said.count("ran product") == 5
    assert all(f"ran product {a}" in said for a in range(5))
    assert all(f"{b}\n" in said for b in "xyz")
    assert re.findall(r"ran window (\w+)", said) == ["small", "quickly"]
    assert 1 < said.count("ran example") <= quick.FEW_EXAMPLES
    assert "left out 37 cases of more presets" in said.replace(
        f"{len(PRESETS) - said.count('ran preset')} cases of more", "37 cases of more"
    )
    assert "10 cases of products, 3 cases with a window, 1 slow tests, 2 tests that start programs" in said
    assert "programs, 2 tests with a window." in said
    assert said.count("ran starting") == said.count("ran starting quickly") == 1
    named = _run(tmp_path / "test_sample.py", "--quick")
    assert re.findall(r"ran window (\w+)", named) == ["small", "2", "3", "quickly"]
    whole = _run(tmp_path)
    assert whole.count("ran preset") == len(PRESETS)
    assert (whole.count("ran product"), whole.count("ran slow")) == (15, 1)
    assert whole.count("ran example") > 100
    assert "Quick run" not in whole


def _run(path: Path, *arguments: str) -> str:
    command = ["-m", "pytest", "-c", "/dev/null", "-p", "tests.quick", "-s", "-p", "no:cacheprovider"]
    done = run_python(*command, f"--rootdir={path.parent}", *arguments, path, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
