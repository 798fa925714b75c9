"""The frames of a gradient hold every cell of its sources that it is computed from, and none that does not matter."""

from typing import Any

import pytest
import torch

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.stages import walk
from attnlab.attention.stages.stage import Stage
from attnlab.attention.stages.table import BY_NAME, sources
from attnlab.attention.stages.trace import Trace
from attnlab.attention.stages.walk import Place
from attnlab.attention.stages.walk_sources import regions
from attnlab.compute.engine import compute


class Changed:
    """A trace in which one stage has other numbers."""

    def __init__(self, trace: Trace, name: str, numbers: torch.Tensor) -> None:
        self._trace, self._name, self._numbers = trace, name, numbers

    def __getitem__(self, name: str) -> torch.Tensor:
        return self._numbers if name == self._name else self._trace[name]

    def __contains__(self, name: str) -> bool:
        return name in self._trace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trace, name)


def find_what_moves(trace: Trace, own: Stage, at: Place, source: Stage) -> tuple[bool, bool]:
    """Return whether the cell moves with the cells within the frames of a source, and with those beyond them."""
    before = trace[source.name]
    within = torch.zeros_like(before, dtype=torch.bool)
    for region in regions(trace.experiment, at, source):
        one = within if region.head is None or not source.has_heads else within[region.head]
        one[..., *(slice(None) if each is None else each for each in (region.row, region.column))] = True
    noise = torch.randn(before.shape, generator=torch.Generator().manual_seed(1), dtype=before.dtype).abs() + 0.5
    values = [
        own.compute(Changed(trace, source.name, torch.where(where, before + noise, before)))[..., at.row, at.column]
        for where in (within, ~within)
    ]
    kept = trace[own.name][..., at.row, at.column]
    return not torch.equal(values[0], kept), not torch.equal(values[1], kept)


@pytest.mark.parametrize("loss", ["weight", "output", "class"])
@pytest.mark.parametrize(
    "name",
    [
        "journey", "multi-head-causal", "grouped-keys", "cross-attention", "attention-sink", "mask-after-softmax",
        "qk-norm", "rope", "t5-bias", "additive", "luong-general", "entmax", "whole-block",
        "block-after", "block-llama",
    ],
)  # fmt: skip
def test_a_gradient_depends_on_nothing_beyond_the_frames(name: str, loss: str) -> None:
    trace = compute(edits.configure(preset(name), loss=loss), dtype="float64")
    tried = 0
    for own in (BY_NAME[each] for each in trace.all_stages if BY_NAME[each].is_backward):
        rows, columns = walk.shape(trace.experiment, own.name)
        for at in (Place(own.name, 0, 0), Place(own.name, rows - 1, columns - 1)):
            for source in sources(own, trace.experiment):
                _, beyond = find_what_moves(trace, own, at, source)
                assert not beyond, f"{at} reads more of {source.name} than {regions(trace.experiment, at, source)}"
                tried += 1
    assert tried > 20


@pytest.mark.parametrize(
    ("own", "source", "row", "column"),
    [
        ("loss", "output", None, None),
        ("d_values", "weights", None, 2),
        ("d_values", "d_context", None, 1),
        ("d_weights", "d_context", 2, None),
        ("d_weights", "values", 1, None),
        ("d_scaled", "d_weights", 2, None),
        ("d_scores", "d_scaled", 2, 1),
        ("d_queries", "d_scores", 2, None),
        ("d_queries", "keys", None, 1),
        ("d_keys", "d_scores", None, 2),
        ("d_keys", "queries", None, 1),
        ("d_W_q", "inputs", None, 2),
        ("d_W_q", "d_queries", None, 1),
        ("d_inputs", "d_keys", 2, None),
    ],
)
def test_frames_are_rows_columns_and_cells_that_matter(
    own: str, source: str, row: int | None, column: int | None
) -> None:
    trace = compute(edits.configure(preset("journey"), loss="output"), dtype="float64")
    at = Place(own, 2, 1) if own != "loss" else Place(own, 0, 0)
    (region,) = regions(trace.experiment, at, BY_NAME[source])
    assert (region.row, region.column) == (row, column)
    within, _ = find_what_moves(trace, BY_NAME[own], at, BY_NAME[source])
    assert within


def test_the_loss_has_one_cell() -> None:
    e = edits.configure(preset("journey"), loss="weight")
    for at in (Place("d_weights", 2, 1), Place("d_weights", 2)):
        assert [(each.row, each.column) for each in regions(e, at, BY_NAME["loss"])] == [(0, 0)]


def test_a_row_of_another_query_reads_nothing_of_the_jacobian() -> None:
    e = edits.configure(preset("journey"), loss="weight", loss_query=2)
    assert regions(e, Place("d_scaled", 1, 1), BY_NAME["jacobian"]) == ()
    assert [each.column for each in regions(e, Place("d_scaled", 2, 1), BY_NAME["jacobian"])] == [1]
