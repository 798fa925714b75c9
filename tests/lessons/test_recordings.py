"""The lessons on recorded runs say what was recorded: moments, losses and scores, held to the files by other means."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from attnlab.attention.experiment import Experiment
from attnlab.base import assets
from attnlab.compute.engine import compute
from attnlab.lessons.lesson import Problem
from attnlab.lessons.library import find
from attnlab.lessons.parse import parse, read
from attnlab.lessons.recordings import Recorded, make_recorded
from attnlab.lessons.slides import Slide, check, fill_text, make_slides
from attnlab.lessons.write import write
from attnlab.training import store
from attnlab.training.tasks import make_spec
from attnlab.training.trainer import Trainer
from tools.make_recordings import RECORDINGS, Recording

LESSONS = ("learned-by-heart", "watch-induction-form")
FOLDER = assets.path("lessons/watch-induction-form.md").parent
PLACEHOLDER = re.compile(r"\{\{(before\.)?run\.(\w+)(?:\[\"([^\"]*)\"\])?:?([^{}]*)\}\}")
STATE = "run: by-heart\nmoment: 60\n"


def open_curve(name: str) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of the curve, without attnlab's own reader."""
    files = json.loads((FOLDER / name / "run.json").read_text(encoding="utf-8"))["files"]
    return load_file(FOLDER / name / files["curve"])


def measure(e: Experiment, pattern: str) -> float:
    """Return the best head's score for a pattern, from the weights of a layer."""
    weights, tokens = compute(e)["weights"].numpy().astype(np.float64), e.tokens
    if pattern == "previous token":
        rows = [weights[:, i, i - 1] for i in range(1, len(tokens))]
    elif pattern == "previous two":
        rows = [weights[:, i, i - 1] + weights[:, i, i - 2] for i in (2, 5, 8)]
    else:
        after = {i: [j for j in range(1, i + 1) if tokens[j - 1] == tokens[i]] for i in range(len(tokens))}
        rows = [sum(weights[:, i, j] for j in places) for i, places in after.items() if places]
    return float(np.mean(rows, axis=0).max())


def find_number(run: Recorded, name: str, index: str) -> float:
    """Return the number that a placeholder means, read from the files of the run."""
    curve = open_curve(run.folder.name)
    if name == "step":
        return run.step
    if name == "loss":
        return float(curve["losses"][list(curve["steps"]).index(run.step - 1)])
    if name == "score":
        layers = ("attention 1", "attention 2") if "induction" in run.folder.name else ("attention 1",)
        return max(measure(run.recording.make_experiment(run.step, layer, run.probe), index) for layer in layers)
    if name == "baseline":
        held_out = run.recording.viewer.data.held_out
        if index == "any letter":
            return float(np.log(16))
        inputs, targets = held_out.inputs.numpy(), held_out.targets.numpy()
        factor = {"always 0": 0.0, "best without order": 0.7}[index]
        return float(((factor * inputs - targets) ** 2).mean())
    column = {"held_out": 1, "right": 2, "exact": 3}[name]
    return float(next(row for row in curve["metrics"] if row[0] == run.step)[column])


@pytest.mark.parametrize("name", LESSONS)
def test_every_number_is_that_of_the_recording(name: str) -> None:
    held = 0
    for slide in make_slides(find(name)):
        assert slide.experiment is not None
        now, before = compute(slide.experiment), compute(slide.before or slide.experiment)
        for text in (slide.step.text, slide.step.answer):
            for found in PLACEHOLDER.finditer(text):
                run = slide.recorded_before if found[1] else slide.recorded
                assert run is not None
                expected = find_number(run, found[2], found[3] or "")
                shown = fill_text(found[0], now, before, slide)
                assert shown == format(expected, found[4] or "g"), f"step {slide.index + 1}: {found[0]}"
                held += 1
    assert held > 12


def list_slides(name: str) -> dict[str, Slide]:
    return {slide.step.title: slide for slide in make_slides(find(name))}


def read_number(slide: Slide, name: str, index: str | None = None) -> float:
    assert slide.recorded is not None
    return float(slide.recorded.read_number(name, index))


def test_the_previous_token_head_comes_first_and_the_loss_falls_with_the_induction_head() -> None:
    recorded = make_recorded(FOLDER / "induction-forms", 0, None, "c a d b f e c a d", None)
    scores = [recorded.recording.measure_scores(step, recorded.probe) for step in recorded.recording.steps]
    passed = {
        pattern: next(s for s, each in zip(recorded.recording.steps, scores, strict=True) if each[pattern] > 0.5)
        for pattern in ("previous token", "induction")
    }
    assert passed["previous token"] < passed["induction"] == 400
    slides = list_slides("watch-induction-form")
    losses = {slide.recorded.step: read_number(slide, "held_out") for slide in slides.values() if slide.recorded}
    assert losses[0] - losses[200] < 0.15 * losses[0], "hardly at all"
    assert losses[320] - losses[400] > 2 * (losses[400] - losses[1000])


def test_only_one_head_keeps_the_stripe() -> None:
    slide = list_slides("watch-induction-form")["One head takes it over"]
    assert slide.experiment is not None
    weights = compute(slide.experiment)["weights"].numpy()
    stripes = weights[:, range(1, 9), range(8)].mean(1)
    assert stripes[1] > 0.8 > 4 * stripes[0]


def test_by_heart_the_held_out_loss_ends_above_its_start_and_by_rule_far_below_the_bound() -> None:
    slides = list_slides("learned-by-heart")
    start, end = slides["Before training"], slides["And after 600 steps?"]
    assert read_number(slides["It learns"], "held_out") < read_number(start, "held_out")
    assert read_number(end, "held_out") > read_number(start, "held_out") > 4 * read_number(end, "loss")
    assert read_number(end, "held_out") > read_number(end, "baseline", "always 0")
    rule = slides["At the end of this run"]
    assert read_number(rule, "held_out") < 0.5 * read_number(rule, "baseline", "best without order")
    assert read_number(rule, "held_out") == pytest.approx(read_number(rule, "loss"), abs=0.05)
    assert read_number(rule, "loss") > read_number(end, "loss"), "the one to ship has the higher training loss"
    assert read_number(slides["What do its maps show?"], "score", "previous two") < 0.4
    plateau = slides["The same layer with positions and fresh rows"]
    bound = read_number(plateau, "baseline", "best without order")
    assert read_number(plateau, "held_out") == pytest.approx(bound, abs=0.1)


def test_half_way_the_second_run_writes_a_smaller_copy_of_its_own_number() -> None:
    run = list_slides("learned-by-heart")["The same layer with positions and fresh rows"].recorded
    assert run is not None
    viewer, rest = run.recording.viewer, [place for place in range(10) if place % 3 != 2]
    viewer.load(run.recording.find_moment(run.step).weights)
    rows = viewer.data.held_out
    given, written = rows.inputs[:, rest].numpy(), viewer.model(rows)[:, rest].detach().numpy()
    assert 0.5 < (given * written).sum() / (given**2).sum() < 0.8
    assert np.corrcoef(given.ravel(), written.ravel())[0, 1] > 0.8


def test_the_output_of_the_layer_is_what_the_model_answers() -> None:
    slide = list_slides("learned-by-heart")["Expected and answered"]
    assert slide.recorded is not None
    assert slide.experiment is not None
    run, output = slide.recorded.recording, compute(slide.experiment)["output"]
    look = run.viewer.look(600, run.find_moment(600).weights, "0")
    found = [float(text.replace("−", "-")) for text in look.predicted]  # with two decimals
    assert found == pytest.approx([float(output[place, 0]) for place in (2, 5, 8)], abs=0.005 + 1e-4)
    assert [number.output for number in look.answer.numbers] == pytest.approx(
        [float(output[place, 0]) for place in (2, 5, 8)], abs=1e-4
    )
    wanted = [float(text.replace("−", "-")) for text in look.expected]
    x = slide.experiment.embeddings
    assert wanted == pytest.approx([float(x[i - 2, 0] + x[i - 1, 0]) for i in (2, 5, 8)], abs=0.005 + 1e-4)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_a_recording_is_what_its_script_begins(recording: Recording) -> None:
    """The settings are those of the script, and its first steps have the recorded losses."""
    state = store.load(FOLDER / recording.name)
    assert state.spec == recording.spec
    assert tuple(moment.step for moment in state.moments) == recording.kept
    trainer = Trainer(state.spec)
    losses = [trainer.take().loss for _ in range(10)]
    assert losses == pytest.approx(state.curve.losses[:10].tolist(), rel=1e-3)


def test_the_recordings_are_small_and_all_are_shown() -> None:
    folders = {path.parent for path in FOLDER.glob("*/run.json")}
    assert {folder.name for folder in folders} == {recording.name for recording in RECORDINGS}
    assert sum(path.stat().st_size for folder in folders for path in folder.iterdir()) < 500_000
    steps = [step for name in LESSONS for step in find(name).steps]
    assert {step.run for step in steps} - {None} == {folder.name for folder in folders}


def test_maps_are_those_of_the_model_in_training() -> None:
    run = make_recorded(FOLDER / "induction-forms", 320, "attention 2", "c a d b f e c a d", None)
    look = run.recording.viewer.look(320, run.recording.find_moment(320).weights, run.probe)
    np.testing.assert_allclose(compute(run.make_experiment())["weights"], look.maps[1].weights, atol=1e-5)
    assert run.make_experiment() is run.make_experiment(), "a step that shows the same moment continues its state"


def test_a_step_keeps_what_it_does_not_name() -> None:
    text = (
        "run: induction-forms\nmoment: 0\nlayer: attention 1\nprobe: a b a b",
        "moment: 400",
        "edits:\n  - causal: false",
    )
    lesson = parse("---\ntitle: T\n---\n\n" + "".join(f"## S\n\n```state\n{each}\n```\n\n" for each in text), "t")
    assert check(lesson) == ()
    one, two, three = make_slides(lesson)
    assert two.recorded is not None
    assert (two.recorded.step, two.recorded.layer, two.recorded.probe) == (400, "attention 1", "a b a b")
    assert one.experiment is not two.experiment
    assert three.recorded is two.recorded
    assert three.experiment is not None
    assert not three.experiment.config.causal
    assert parse(write(lesson), "t") == lesson


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("run: nothing-here\n", "The run nothing-here must be in the lesson’s folder"),
        ("run: ../by-heart\n", "run is '../by-heart'; it needs the name of a run"),
        ("run: by-heart\nmoment: 61\n", "The run has no moment 61; it has 0, 20, 60, 120, 600."),
        ("run: by-heart\nmoment: -1\n", "moment is -1; it needs a step of training, from 0."),
        ("run: by-heart\nlayer: decoder 1\n", "There is no layer 'decoder 1'; the run has attention 1."),
        ("run: by-heart\nprobe: hello\n", "'hello' is not a held-out row"),
        ("run: by-heart\ncurves: los\n", "There is no curve 'los'; there are loss, right, previous two."),
        ("moment: 60\n", "There is no run before this moment"),
        ("preset: journey\nmoment: 60\n", "A state has a preset or a run, not both; the preset counts."),
    ],
)
def test_a_mistake_is_named_with_its_line(state: str, says: str) -> None:
    lesson = parse(f"---\ntitle: T\n---\n\n## S\n\n```state\n{state}```\n\nText.\n", "t")
    problems = check(lesson)
    assert any(says in problem.reason for problem in problems), problems
    assert all(7 < problem.line < 7 + 1 + len(state.splitlines()) for problem in problems), problems


@pytest.mark.parametrize(
    ("placeholder", "says"),
    [
        ("run.los", "a run has no 'los'"),
        ("run.score", "run.score needs a name"),
        ('run.score["alignment"]', "there is no score 'alignment'; there are previous two."),
        ("run.right", "run.right was not measured at step 60."),
        ("before.run.loss", "this step shows no recorded run."),
    ],
)
def test_a_wrong_number_of_a_run_is_named(placeholder: str, says: str) -> None:
    text = f"---\ntitle: T\n---\n\n## S\n\n```state\n{STATE}```\n\nIt is {{{{{placeholder}}}}}.\n"
    (problem,) = check(parse(text, "t"))
    assert isinstance(problem, Problem)
    assert says in problem.reason


def test_a_state_without_a_run_has_no_numbers_of_one() -> None:
    text = "---\ntitle: T\n---\n\n## S\n\n```state\npreset: journey\n```\n\nIt is {{run.loss}}.\n"
    (problem,) = check(parse(text, "t"))
    assert "this step shows no recorded run." in problem.reason


def test_a_run_that_reads_a_file_is_refused(tmp_path: Path) -> None:
    """A lesson from somebody else must not read a file of this computer through its run."""
    secret = tmp_path / "secret.txt"
    secret.write_text("my own words\n" * 200, encoding="utf-8")
    state = store.load(FOLDER / "by-heart")
    spec = make_spec("characters")
    stolen = replace(spec, options={**spec.options, "text": str(secret)})
    store.save(replace(state, spec=stolen), tmp_path / "run")
    lesson = tmp_path / "l.md"
    lesson.write_text("---\ntitle: T\n---\n\n## S\n\n```state\nrun: run\n```\n\nText.\n", encoding="utf-8")
    (problem,) = check(read(lesson))
    assert problem.reason.startswith("The run run learns from a file")


def test_a_moment_has_the_heads_off_that_were_off_then(tmp_path: Path) -> None:
    state = store.load(FOLDER / "by-heart")
    layer = make_recorded(FOLDER / "by-heart", 60, None, None, None).layer
    spec = replace(state.spec, train=replace(state.spec.train, heads_off=f"{layer}.0"))
    store.save(replace(state, spec=spec, heads_before=((60, ""),)), tmp_path / "run")
    steps = [moment.step for moment in state.moments if moment.step >= 60][:2]
    shown = [make_recorded(tmp_path / "run", step, None, None, None) for step in steps]
    found = [each.make_experiment().config.ablated for each in shown]
    assert found == [(), (0,)]
