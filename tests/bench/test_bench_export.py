"""The bench of figures draws the same grid twice at the same size, and its SVG stays small."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from attnlab.bench import export
from attnlab.compute.engine import compute

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.mark.slow
def test_both_ways_draw_the_same_grid_at_the_same_size() -> None:
    trace = compute(export.make_experiment())
    assert trace.array("weights").shape == (144, 64, 64)
    with (
        Image.open(io.BytesIO(export.encode_figure(trace, export.SPEC, ".png"))) as ours,
        Image.open(io.BytesIO(export.draw_by_matplotlib(trace, "png"))) as other,
    ):
        assert ours.width == pytest.approx(other.width, abs=1)
        assert ours.height == pytest.approx(other.height, abs=1)
    assert len(export.encode_figure(trace, export.SPEC, ".svg")) < export.TARGET_BYTES


def test_the_cases_name_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "SIDE", 2)
    monkeypatch.setattr(export, "SPEC", replace(export.SPEC, columns=2, dpi=72))
    png, svg = export.run_cases(quick=True)
    assert (png.case, png.unit, png.runs) == ("PNG, 2×2 maps of T=64", "ms", 1)
    assert (svg.case, svg.unit) == ("SVG, 2×2 maps of T=64", "MB")
    assert png.ours > 0
    assert 0 < svg.ours < 5
