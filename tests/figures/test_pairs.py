"""Two states side by side in a figure, and the scale that they share."""

import re
from pathlib import Path

import numpy as np
import pytest

import attnlab
from attnlab.attention.edits import with_setting
from attnlab.base.errors import AttnlabError
from attnlab.cli.main import main
from attnlab.figures.colour_bar import write_colour_ends
from attnlab.figures.panels.figure_file import encode_figure
from attnlab.figures.panels.figure_page import lay_out_page
from attnlab.figures.panels.figure_panel import make_map_data
from attnlab.figures.panels.figure_source import Pair
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.scales import Colouring

pytestmark = pytest.mark.usefixtures("qapp")


def compute(name: str = "journey", **settings: object) -> attnlab.Trace:
    e = attnlab.preset(name)
    return attnlab.compute(with_setting(e, **settings) if settings else e)


def write(pair: Pair, spec: FigureSpec) -> list[str]:
    """Return the texts in a figure."""
    return re.findall(r">([^<>]+)</text>", encode_figure(pair, spec, ".svg").decode())


def test_a_pair_has_the_maps_of_both_states_with_their_own_masks() -> None:
    plain, causal = compute(), compute(causal=True)
    data = make_map_data(Pair(plain, causal, ("all words", "causal")), "weights", 0)
    assert data.titles == ("all words", "causal")
    np.testing.assert_array_equal(data.values, np.stack([plain.array("weights")[0], causal.array("weights")[0]]))
    first, second = data.find_masked(0), data.find_masked(1)
    assert first is not None
    assert second is not None
    assert not first.any()
    np.testing.assert_array_equal(second, ~np.tri(6, dtype=bool))


def test_a_pair_has_one_scale_that_reaches_to_the_larger_state() -> None:
    one, other = compute("journey"), compute("journey-untrained")
    data = make_map_data(Pair(one, other), "scores", 0)
    largest = [float(np.abs(each.array("scores")).max()) for each in (one, other)]
    assert data.limit == max(largest) > 1.1 * min(largest)


def test_every_head_of_a_pair_stands_beside_itself() -> None:
    one, other = compute("multi-head-causal"), compute("multi-head-causal", causal=False)
    data = make_map_data(Pair(one, other), "weights", "all")
    assert len(data.values) == 16
    np.testing.assert_array_equal(data.values[6:8], [one.array("weights")[3], other.array("weights")[3]])
    assert data.titles[6:8] == ("head 3, pinned", "head 3")


@pytest.mark.parametrize("width", [60, 170])
def test_a_figure_of_pairs_parts_none_and_names_both_states(width: float) -> None:
    one, other = compute("uneven-heads", n_heads=5), compute("uneven-heads", n_heads=5, temperature=0.5)
    pair, spec = Pair(one, other, ("before", "after")), FigureSpec(width_mm=width)
    assert all(grid.count % 2 == 0 for grid in lay_out_page(pair, spec).panels[0][2].layout.grids)
    written = write(pair, spec)
    assert "10 × 6 × 6" not in written
    assert "left before, right after" in written
    if width == 60:
        assert [text for text in written if text.isdecimal()].count("4") == 2
    else:
        assert {"5 × 6 × 6", "head 4, before", "head 4, after"} <= set(written)


def test_a_long_name_of_a_state_is_cut_at_its_end() -> None:
    names = "before fine-tuning on my corpus", "after fine-tuning on my corpus"
    written = write(Pair(compute(), compute(causal=True), names), FigureSpec(width_mm=50))
    assert [text.split(" ")[0] for text in written if "…" in text] == ["before", "after"]


def test_a_stage_that_only_one_state_has_stands_alone() -> None:
    data = make_map_data(Pair(compute(), compute(causal=True)), "masked", 0)
    assert len(data.values) == 1
    several = Pair(compute("multi-head-8"), compute("multi-head-8", causal=True))
    written = write(several, FigureSpec(("masked",), columns=4))
    assert "head 7" in written
    assert not any("pinned" in text for text in written)


def test_states_of_different_sizes_are_refused() -> None:
    with pytest.raises(AttnlabError, match="weights cannot stand side by side: one has 6 × 6, the other 5 × 5"):
        make_map_data(Pair(compute(), compute("causal-5x8")), "weights", 0)


def test_lines_of_a_figure_keep_their_own_masks(tmp_path: Path) -> None:
    pair = Pair(compute(), compute(causal=True))
    data = make_map_data(pair, "weights", 0)
    below = data.choose_maps(1, 2)
    np.testing.assert_array_equal(below.values, data.values[1:])
    np.testing.assert_array_equal(below.find_masked(0), data.find_masked(1))
    for ending in (".png", ".svg", ".pdf"):
        assert encode_figure(pair, FigureSpec(columns=1, width_mm=60), ending)


def test_a_figure_has_the_scale_that_was_asked_for() -> None:
    trace = compute("multi-head-8")
    data = make_map_data(trace, "weights", "all", Colouring("log", each_head=True, mute_sinks=True))
    assert data.scale.curve == "log"
    assert len(set(data.scale.own)) > 1
    assert data.muted == (0,)
    common = make_map_data(trace, "weights", "all", Colouring("log"))
    assert write_colour_ends(common) == ("≤ 0.00008", "0.8 log")
    assert encode_figure(trace, FigureSpec(scale="log", each_head=True, mute_sinks=True), ".svg")


def test_the_command_draws_two_sources_with_their_names(tmp_path: Path) -> None:
    out = tmp_path / "two.svg"
    pair = ["preset:additive", "--beside", "preset:luong-dot", "-o", str(out)]
    assert main(["export", *pair]) == 0
    text = out.read_text(encoding="utf-8")
    assert "Additive (Bahdanau)" in text
    assert "Luong: dot" in text
    assert main(["export", *pair, "--names", "Sum, Dot"]) == 0
    text = out.read_text(encoding="utf-8")
    assert "Additive" not in text
    assert ">Dot<" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--names", "A,B"], "--names takes two names with a comma between them, and needs --beside."),
        (["--beside", "preset:journey", "--names", "A"], "--names takes two names"),
        (["--beside", "preset:none"], "--beside: There is no preset 'none'"),
        (["--beside", "preset:journey", "--stage", "masked"], "preset:journey has no stage 'masked'; it has inputs,"),
        (["--scale", "cubic"], "The scale of the colours cannot be 'cubic', only auto, full,"),
    ],
)
def test_wrong_options_get_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "preset:causal-5x8", "-o", str(tmp_path / "a.png"), *arguments]) != 0
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.splitlines()) == 1


def test_a_table_holds_one_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["-o", str(tmp_path / "a.csv")]
    assert main(["export", "preset:journey", "--beside", "preset:journey-linear", *out]) != 0
    assert "A table contains one source" in capsys.readouterr().err
