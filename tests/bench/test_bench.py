"""The benches run, compare equal work, print the documented output, and clean up. No time is tested."""

import json
import math
import sys

import numpy as np
import pytest
import torch
from PySide6.QtWidgets import QApplication

import attnlab
from attnlab.bench import NAMES, TIMED, engine, lesson, live, main, measure, models, notebook, overview, start
from attnlab.bench.drag import EDITS, drag, drag_notebook
from attnlab.bench.engine import make_experiment
from attnlab.bench.window import open_window
from attnlab.cli.main import main as command
from attnlab.compute.engine import devices
from attnlab.pretrained.model import open_model

FIELDS = ["bench", "case", "ours", "baseline", "unit", "ratio", "p95", "runs"]


def read_json(printed: str) -> list[dict[str, object]]:
    cases: list[dict[str, object]] = json.loads(printed)
    for case in cases:
        assert list(case) == FIELDS
        assert all(isinstance(case[name], str) for name in ("bench", "case", "unit"))
        for name in ("ours", "baseline", "ratio", "p95"):
            assert isinstance(case[name], float | int)
            assert math.isfinite(float(str(case[name])))
        assert isinstance(case["runs"], int)
    return cases


def test_a_case_has_medians_their_ratio_and_our_spread() -> None:
    runs = [2.0, 1.0, 3.0, 100.0, 2.0]
    case = measure.make_case("live", "T=6", runs, [40.0, 50.0, 60.0], "ms")
    assert (case.ours, case.baseline, case.ratio, case.p95, case.runs) == (2.0, 50.0, 25.0, 100.0, 5)
    rate = measure.make_case("live", "pictures", [60.0], [5.0], "pictures", rate=True)
    assert rate.ratio == 12.0


@pytest.mark.parametrize(("ours", "baseline", "ratio"), [(0, 0, 1), (3, 0, 0), (2, 4, 2), (4, 2, 0.5)])
def test_a_ratio_above_one_means_ours_is_faster(ours: float, baseline: float, ratio: float) -> None:
    assert measure.compute_ratio(ours, baseline) == ratio


def test_an_infinite_ratio_is_valid_json() -> None:
    endless = measure.make_case("live", "x", [0.0], [1.0], "ms")
    with pytest.raises(ValueError, match="JSON"):
        measure.to_json([endless])


def test_the_percentile_is_one_of_the_measured_runs() -> None:
    assert measure.find_percentile([5.0], 95) == 5.0
    assert measure.find_percentile([float(i) for i in range(1, 101)], 95) == 95.0


def test_both_variants_alternate_after_one_warm_up_round() -> None:
    order: list[str] = []

    def way(name: str) -> float:
        order.append(name)
        return float(len(order))

    first, second = measure.run_in_turns(2, lambda: way("a"), lambda: way("b"))
    assert "".join(order) == "ababab"
    assert (first, second) == ([3.0, 5.0], [4.0, 6.0])


def test_the_engine_bench_prints_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SIZES", {3: (2, 1.3), 5: (2, 1.05)})
    threads = torch.get_num_threads()
    assert command(["bench", "engine", "--json"]) == 0
    assert [case["case"] for case in read_json(capsys.readouterr().out)] == ["T=3", "T=5"]
    assert torch.get_num_threads() == threads


@pytest.mark.skipif(not torch.accelerator.is_available(), reason="needs a GPU")
def test_the_engine_bench_runs_on_a_gpu(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SIZES", {3: (2, 1.3)})
    gpu = devices()[1]
    assert command(["bench", "engine", "--device", gpu, "--json"]) == 0
    assert [case["case"] for case in read_json(capsys.readouterr().out)] == [f"T=3 on {gpu}"]


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--device", "cuda"], "--device cuda is for engine only: attnlab bench engine --device cuda"),
        (["live", "engine", "--device", "cuda"], "--device cuda is for engine only"),
        (["engine", "--device", "cuda:99"], "The device 'cuda:99' is missing; this machine has cpu"),
        (["engine", "--device", "abacus"], "The device 'abacus' is unknown; this machine has cpu"),
    ],
)
def test_a_bench_on_a_wrong_device_is_refused(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["bench", *argv]) == 2
    assert sentence in capsys.readouterr().err


def test_the_table_names_the_targets(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SIZES", {3: (2, 1.3)})
    assert main(["engine"], False) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == [*FIELDS, "target"]
    assert line.startswith("engine  T=3")
    assert line.endswith("ratio ≥ 0.77")


def test_a_tiny_model_has_a_target_in_milliseconds() -> None:
    """Bare torch runs it in half a millisecond, less than what a run of any size costs."""
    model = open_model("characters")
    cases = list(models.measure_text("tiny", "characters", model, model.folder.example, 1))
    assert [case.case for case in cases] == ["tiny: another text", "tiny: a head of layer 1 off"]
    assert {case.target for case in cases} == {"at most 1 ms more"}
    assert all(case.ours > 0 and case.baseline > 0 for case in cases)


@pytest.mark.parametrize("causal", [False, True])
def test_the_baseline_computes_the_same_tensors(causal: bool) -> None:
    e = make_experiment(7, causal)
    trace = attnlab.compute(e)
    w = e.weights
    future = torch.ones(7, 7, dtype=torch.bool).triu(1) if causal else torch.zeros(7, 7, dtype=torch.bool)
    made = engine.compute_by_hand(e.embeddings, w.W_q, w.W_k, w.W_v, w.W_o, engine.HEADS, future)  # type: ignore[arg-type]
    if not causal:
        made = (*made[:6], *made[7:])  # without a mask there is no stage for it
    for name, tensor in zip(trace.stages, made, strict=True):
        torch.testing.assert_close(trace[name], tensor)


@pytest.mark.slow
def test_the_notebook_baseline_draws_the_weights_of_every_head() -> None:
    e = make_experiment(40, causal=False)
    book = notebook.Notebook()
    book.draw_new(e)
    other = make_experiment(40, causal=True)
    book.draw_kept(other)
    weights = attnlab.compute(other).array("weights")
    for image, shown in zip(book._images, weights, strict=True):
        np.testing.assert_array_equal(image.get_array(), shown)
        labels = [label.get_text() for label in image.axes.get_xticklabels()]
        assert labels == [f"token{i}" for i in range(0, 40, 2)]


@pytest.mark.slow
def test_the_live_bench_runs_in_the_real_window_and_cleans_up(
    qapp: QApplication, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The figures of the notebook take most of the time, so they have few maps.
    for module, name, value in ((live, "MAIN", 4), (live, "RESIZED", 6), (engine, "HEADS", 2)):
        monkeypatch.setattr(module, name, value)
    for name, value in (("LAYERS", 2), ("HEADS", 3), ("TOKENS", 40)):
        monkeypatch.setattr(overview, name, value)
    monkeypatch.setattr(live, "SIZES", {3: 1, 4: 1})
    assert main(["live"], True, quick=True) == 0
    names = [str(case["case"]) for case in read_json(capsys.readouterr().out)]
    assert names[:5] == ["T=3 kept", "T=3 new", "T=4 kept", "T=4 new", "T=4 with Explain"]
    assert names[5:8] == ["drag, last edit to picture", "drag, stale pictures", "drag, pictures in a second"]
    switches = ("causal", "normalizer", "positions")
    assert names[8:10] == ["T=6 resize the window", "72 maps of 512 tokens, again"]
    assert names[10:] == [f"T=4 {kind} {switch}" for switch in switches for kind in ("flip", "first flip")]


@pytest.mark.slow
def test_the_slide_bench_goes_forward_and_back_through_a_lesson(
    qapp: QApplication, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lesson"], True, quick=True) == 0
    cases = read_json(capsys.readouterr().out)
    names = ["forward, key to picture", "back, key to picture", "forward without pauses"]
    assert [case["case"] for case in cases] == names
    assert [case["runs"] for case in cases] == [3, 3, 3]
    assert all(float(str(case["ours"])) > 0 for case in cases)


def test_the_slide_baseline_draws_the_numbers_of_the_slide() -> None:
    from attnlab.lessons.library import find
    from attnlab.lessons.slides import make_slides

    slide = make_slides(find(lesson.LESSON))[0]
    assert slide.experiment is not None
    values, (rows, columns) = lesson._compute_numbers(slide)
    np.testing.assert_array_equal(values, attnlab.compute(slide.experiment).array(slide.stage)[0])
    assert (rows, columns) == (slide.experiment.tokens, slide.experiment.key_tokens)
    assert lesson.draw_in_notebook(slide) > 0


@pytest.mark.slow
def test_an_edit_is_timed_until_every_card_shows_it(qapp: QApplication) -> None:
    with open_window() as driver:
        driver.open(make_experiment(5, causal=True))
        cards = {name: card for name, card in driver.playground.canvas.cards.items() if card.isVisible()}
        driver.edit(0.25)  # the first edit may change the bars, and with them the room of all cards
        driver.wait()
        before = None
        while before != (before := {name: card.painted for name, card in cards.items()}):
            driver.settle()  # a layout that was still to be done may paint all of them once more
        driver.edit(0.5)
        driver.wait()
        driver.check()
        assert driver.experiment.weights.W_q is not None
        assert driver.experiment.weights.W_q[0, 0] == 0.5
        changed = {name for name, card in cards.items() if card.painted > before[name]}
        seen = {name for name, card in cards.items() if not card.visibleRegion().isEmpty()}  # the canvas may scroll
        assert changed == seen - {"inputs", "keys", "values"}  # which W_q has no part in
        assert {"queries", "scores"} <= changed


@pytest.mark.slow
def test_a_drag_ends_with_its_last_state(qapp: QApplication) -> None:
    with open_window() as driver:
        driver.open(make_experiment(4, causal=False))
        seen = drag(driver)
        assert seen.stale == 0
        assert seen.pictures[-1] == EDITS - 1
        book = notebook.Notebook()
        assert drag_notebook(driver, book).pictures[-1] == EDITS - 1


@pytest.mark.slow
def test_the_start_is_measured_in_new_processes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["start"], True, quick=True) == 0
    cases = read_json(capsys.readouterr().out)
    times = ["first window painted", "first numbers painted"]
    assert [case["case"] for case in cases][:2] == times
    first, numbers = cases[0]["ours"], cases[1]["ours"]
    assert isinstance(first, float)
    assert isinstance(numbers, float)
    assert first < numbers


def test_a_failed_start_is_reported_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "_BARE", "import nothing_of_this_name")
    monkeypatch.setattr(start, "_PROGRAM", "import nothing_of_this_name")
    with pytest.raises(attnlab.AttnlabError, match=r"exit code 1: ModuleNotFoundError: No module named"):
        list(start.run_cases(quick=True))


def test_without_matplotlib_the_install_command_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert command(["bench", "live"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "pip install attnlab[bench]" in printed.err
    assert printed.err.count("\n") == 1


def test_the_help_of_the_command_lists_the_benches(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bench", "--help"]) == 0
    assert "|".join(NAMES) in capsys.readouterr().out


@pytest.mark.slow
def test_the_bench_of_models_runs_the_same_model_bare(capsys: pytest.CaptureFixture[str]) -> None:
    from attnlab.bench import models
    from attnlab.pretrained.model import read_model

    model = read_model(models.SHIPPED)
    bare = models.run_bare(model, models.SENTENCE[:40])
    torch.testing.assert_close(bare, model.run(models.SENTENCE[:40]).hidden(model.n_layers), atol=1e-5, rtol=1e-4)
    assert main(["models"], True, quick=True) == 0
    cases = read_json(capsys.readouterr().out)
    assert [case["case"] for case in cases][:4] == [
        "characters: closed to all maps",
        "characters, 64 tokens: another text",
        "characters, 64 tokens: a head of layer 1 off",
        "characters, 64 tokens: another head, to its picture",
    ]


@pytest.mark.slow
def test_the_bench_of_explanations_seeks_the_same_goal_with_adam(capsys: pytest.CaptureFixture[str]) -> None:
    from attnlab.bench import why

    e = attnlab.preset("agreement-cat")
    assert why.seek_with_adam(e, hold=False) == pytest.approx(why.GOAL.wanted, abs=5e-5)
    assert main(["why"], True, quick=True) == 0
    cases = read_json(capsys.readouterr().out)
    assert [case["case"] for case in cases] == [
        "derivatives, T=16, 8 heads",
        "backward pass, T=16, 8 heads",
        "one goal",
        "one goal, other rows held",
        "arrows, drag to picture, T=16",
    ]
    assert all(case["ours"] > 0 and case["baseline"] > 0 for case in cases)


def test_without_a_name_all_benches_but_learning_run() -> None:
    assert set(NAMES) - set(TIMED) == {"learning"}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="Windows does not tell the peak of memory")
def test_the_memory_of_a_model_is_measured_in_a_process_of_its_own() -> None:
    from attnlab.bench import models
    from attnlab.bench.model_memory import measure_memory

    (case,) = measure_memory(models.SHIPPED, models.SHIPPED, models.SENTENCE[:40], 64)
    assert case.ours > 0
    assert case.baseline > 0
    assert case.unit == "MB"
