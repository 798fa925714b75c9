"""The generated notebook runs cell by cell and computes every stage, for every preset and kind of attention."""

import itertools
import json
import re
from typing import Any

import pytest
import torch

import attnlab
from attnlab.attention.edits.batches import select
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries import registry
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.masks import MASKS
from attnlab.attention.stages.table import BY_NAME
from attnlab.files.export.code_notebook import notebook
from tests.files.kinds import KINDS, ON
from tests.files.ran import run
from tests.near import assert_near

CASES = KINDS


def cells(text: str, kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == kind]


def run_cells(text: str) -> tuple[dict[str, Any], str]:
    """Run the code cells in order; return their variables and their output."""
    return run(*cells(text, "code"))


def agree(e: Experiment, names: dict[str, Any], printed: str, dtype: str) -> None:
    trace, exact = attnlab.compute(e, dtype=dtype), attnlab.compute(e, dtype="float64")
    assert tuple(names["stages"]) == trace.all_stages
    for stage in trace.all_stages:
        assert_near(names["stages"][stage], trace, exact, stage)
        assert f"{stage} {list(trace[stage].shape)}\n…\n" in printed


@pytest.mark.parametrize("name", attnlab.presets())
def test_the_notebook_of_every_preset_agrees(name: str) -> None:
    e = attnlab.preset(name)
    agree(e, *run_cells(notebook(e, name)), "float32")


@pytest.mark.parametrize("case", CASES)
def test_the_notebook_of_every_registry_entry_agrees(case: str) -> None:
    e = CASES[case]
    agree(e, *run_cells(notebook(e, case, "float64")), "float64")


def test_every_case_uses_its_entry() -> None:
    for choice in registry.CHOICES:
        for name in choice.entries:
            assert getattr(CASES[f"{choice.field} {name}"].config, choice.field) == name
    assert {case.removeprefix("mask ") for case in CASES if case.startswith("mask ")} == set(MASKS)
    assert set(ON) == set(FEATURES)


@pytest.mark.parametrize("preset", ["journey", "multi-head-8", "attention-sink"])
def test_cells_can_be_run_again_in_any_order(preset: str) -> None:
    e = attnlab.preset(preset)
    text = notebook(e, preset)
    names, printed = run_cells(text)
    for source in reversed(cells(text, "code")[1:]):
        exec(source, names)
    agree(e, names, printed, "float32")


def test_each_stage_has_one_cell_under_its_formula() -> None:
    e = attnlab.preset("multi-head-8")
    text = notebook(e, "multi-head-8")
    book = json.loads(text)
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in ids)
    for before, cell in itertools.pairwise(book["cells"]):
        if cell["id"] in BY_NAME:
            stage = BY_NAME[cell["id"]]
            assert "".join(before["source"]).startswith(f"## {stage.title}\n\n$$ {stage.formula(e)} $$\n\n")
            assert "".join(cell["source"]).endswith(f"print({stage.variable})")
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert [name for name in ids if name in BY_NAME] == list(attnlab.compute(e).all_stages)


@pytest.mark.parametrize("name", [name for name in attnlab.presets() if attnlab.preset(name).others])
def test_the_notebook_computes_every_sequence_of_a_batch(name: str) -> None:
    e = attnlab.preset(name)
    names, _ = run_cells(notebook(e, name))
    for place, stages in enumerate(names["batch"]):
        trace, exact = (attnlab.compute(select(e, place), dtype=dtype) for dtype in ("float32", "float64"))
        assert tuple(stages) == trace.all_stages
        for stage in trace.all_stages:
            assert_near(stages[stage], trace, exact, stage)


def test_titles_and_tokens_are_escaped_in_the_notebook() -> None:
    e = Experiment(("'''", '"""\nraise SystemExit(3)', "\\", "\ud800"), torch.eye(4))
    text = notebook(e, '# "\n<script>alert(1)</script> \ud800 ``` $$x$$')
    text.encode()
    first = cells(text, "markdown")[0].splitlines()[0]
    assert first.startswith(r'# \# "\\n\<script\>alert(1)')
    names, _ = run_cells(text)
    assert names["tokens"] == list(e.tokens)


def test_large_arrays_are_embedded_compressed() -> None:
    e = attnlab.preset("head-average")
    names, _ = run_cells(notebook(e, "x", "float64"))
    assert torch.equal(names["W_q"], e.weights.W_q.double())
    assert "def unpacked" in cells(notebook(e, "x"), "code")[0]
