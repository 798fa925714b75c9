"""Curves and answers as figures: as they are shown, in the formats of all figures, and below the maps of a film."""

import csv
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from attnlab.figures.diagram.diagram_file import list_scene_formats
from attnlab.figures.diagram.scene import Box, Label, Polyline
from attnlab.figures.diagram.scene_painter import measure_label
from attnlab.figures.figure_formats import FIGURES
from attnlab.training.answers import Answer, Place
from attnlab.training.look import LayerMaps, Look
from attnlab.ui.train.answer_scene import draw_answer, draw_examples, wrap_text
from attnlab.ui.train.answer_words import show_sign
from attnlab.ui.train.coloured_text import ColouredToken
from attnlab.ui.train.predictions_panel import PredictionRow
from attnlab.ui.train.run_figures import stack_scenes
from attnlab.ui.train.run_film import RunFilm
from attnlab.ui.train.run_film_dialog import FilmDialog
from attnlab.ui.train.stream_words import name_part
from attnlab.ui.widgets.charts.bands import Band
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.lines import Level, Line, Upright
from attnlab.ui.widgets.charts.plot_scene import Plot, draw_plot, read_plot
from tests.patience import PATIENCE_MS
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny, trained


@pytest.fixture
def pupil(sit_down: Callable[..., Person]) -> Pupil:
    """The pupil with a finished run of 30 steps."""
    person = sit_down()
    person.window.resize(1440, 900)
    pupil = Pupil(person.window, person.qtbot)
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    pupil.wait_for(lambda: pupil.shown_step == 30 and bool(pupil.trainer.written.rows) and not pupil.trainer.busy)
    return pupil


def texts(path: Path) -> list[str]:
    return [each.text or "" for each in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def save(pupil: Pupil, action: str, path: Path) -> None:
    """Choose an action, and a file in the dialog that it opens."""
    pupil.window.actions_list[action].trigger()
    dialog = next(each for each in pupil.window.findChildren(QFileDialog) if each.isVisible())
    endings = [name.split("*")[1].rstrip(")") for name in dialog.nameFilters()]
    assert endings == [*list_scene_formats(), *([".csv"] if action == "train-curves-figure" else [])]
    dialog.fileSelected.emit(str(path))
    dialog.close()
    assert pupil.trainer.footer.message.text() == f"Saved {path}"


@pytest.mark.slow
def test_the_inside_is_saved_and_copied_as_it_is_shown(pupil: Pupil, tmp_path: Path) -> None:
    page = pupil.trainer.maps.inside
    pupil.window.actions_list["train-inside"].trigger()
    pupil.wait_for(lambda: page.stream is not None and page.isVisible())
    assert page.stream is not None
    page.choose(2)
    save(pupil, "train-figure", tmp_path / "inside.svg")
    found = texts(tmp_path / "inside.svg")
    assert found[:2] == [
        f"Reverse, seed 0, step 30: {pupil.trainer.session.inspection.probe}",
        "THE ANSWER AFTER EACH LAYER",
    ]
    assert {"embedding", "after decoder 1"} <= set(found)
    assert sum("→" in text for text in found) == len(page.stream.tokens) == 7
    assert [show_sign(token) for token in page.stream.tokens if show_sign(token) not in found] == []
    assert page.sum.text() in " ".join(found)
    names = [name_part(part) for part in page.stream.parts]
    parts = found[found.index("WHAT EACH PART ADDS TO THE ANSWER") + 2 :]
    assert parts[::2] == names
    assert parts[1::2] == [
        f"{added:.2f}".replace("-", "−").replace("−0.00", "0.00") for added in page.stream.added[:, 2]
    ]
    pupil.tools.copy_picture()
    assert pupil.trainer.footer.message.text().startswith("Copied the inside as a picture, ")


@pytest.mark.slow
def test_curves_and_answers_are_saved_as_they_are_shown(pupil: Pupil, tmp_path: Path) -> None:
    save(pupil, "train-curves-figure", tmp_path / "curves.svg")
    found = texts(tmp_path / "curves.svg")
    assert found[0] == "Reverse, seed 0"
    for title in ("LOSS", "HELD-OUT TOKENS CORRECT", "EACH HEAD: ANTI-DIAGONAL"):
        assert title in found
    assert {"held-out", "training"} <= set(found)
    save(pupil, "train-curves-figure", tmp_path / "curves.csv")
    rows = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    run, learnt = pupil.run, [row for row in rows if row["training loss"]]
    for name, column in (("step", run.steps), ("rate", run.rates), ("training loss", run.losses)):
        assert [float(row[name]) for row in learnt] == column.tolist()
    evaluated = [row for row in rows if row["held-out loss"]]
    for row, metric in zip(evaluated, run.metrics, strict=True):
        names = "step", "held-out loss", "held-out tokens right", "held-out examples right"
        assert [float(row[name]) for name in names] == [metric.step, metric.loss, metric.right, metric.exact]
        found_norms = {name.removeprefix("gradient of "): row[name] for name in row if name.startswith("gradient of ")}
        assert {name: float(norm) for name, norm in found_norms.items() if norm} == dict(metric.gradients)
    save(pupil, "train-answer-figure", tmp_path / "answers.svg")
    found = texts(tmp_path / "answers.svg")
    assert found[0] == f"Reverse, seed 0, step 30: {pupil.trainer.session.inspection.probe}"
    assert pupil.trainer.maps.answer.sentence.text().split(";")[0] in " ".join(found)
    assert "EXPECTED AND PREDICTED" in found
    for ending in (".png", ".pdf"):
        save(pupil, "train-answer-figure", tmp_path / f"answers{ending}")
        assert (tmp_path / f"answers{ending}").stat().st_size > 5000


@pytest.mark.slow
def test_a_run_that_the_user_has_named_is_called_so_in_every_heading(sit_down: Callable[..., Person]) -> None:
    person = sit_down(remember=True)
    pupil = Pupil(person.window, person.qtbot)
    folders = [trained(pupil, seed) for seed in (0, 1)]
    rename(pupil, folders[1], "Baseline")
    assert headings(pupil) == ["Baseline", "Baseline, step 30", "Baseline"]
    pupil.trainer.maps.show_page("model")
    pupil.wait_for(lambda: pupil.tools.diagram.is_visible)
    assert pupil.tools.diagram.title.startswith("Baseline, ")
    pupil.trainer.maps.show_page("maps")
    rename(pupil, folders[0], "Baseline")
    assert headings(pupil) == ["Baseline, seed 1", "Baseline, seed 1, step 30", "Baseline, seed 1"]


def rename(pupil: Pupil, folder: Path, name: str) -> None:
    pupil.tools.keeper.rename(folder, name)
    pupil.wait_for(lambda: (folder, name) in [(each.folder, each.name) for each in pupil.tools.runs.found])


def headings(pupil: Pupil) -> list[str]:
    """Return the headings of the curves, of the maps and of a film."""
    curves = next(shape.text for shape in pupil.tools.figures.draw_curves().shapes if isinstance(shape, Label))
    maps = pupil.tools.make_sheets()
    assert maps is not None
    pupil.tools.export_film()
    dialog = pupil.window.findChild(FilmDialog)
    assert dialog is not None
    with pupil.qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        pass
    film, _ = dialog.read_film()
    dialog.reject()
    pupil.wait_for(lambda: pupil.window.findChild(FilmDialog) is None)
    return [curves, maps.heading, film.title]


def test_a_long_name_takes_several_lines_of_a_figure(qtbot: QtBot) -> None:
    title = " ".join(["a long name of a run"] * 8)
    scene = stack_scenes(title, [draw_plot(make_plot(qtbot), 400.0)])
    lines = [shape for shape in scene.shapes if isinstance(shape, Label) and shape.face == "title"]
    assert len(lines) > 1
    assert " ".join(line.text for line in lines) == title
    assert all(line.x + measure_label(line.text, line.face) <= scene.width for line in lines)
    loss = next(shape for shape in scene.shapes if isinstance(shape, Label) and shape.text == "LOSS")
    assert loss.y > lines[-1].y


def test_without_a_run_there_is_a_sentence(sit_down: Callable[..., Person]) -> None:
    person = sit_down()
    pupil = Pupil(person.window, person.qtbot)
    pupil.begin(tiny(steps=30))
    pupil.window.actions_list["train-curves-figure"].trigger()
    assert pupil.trainer.footer.message.text() == "There are no curves to export yet; train a model first."


def test_every_format_of_figures_can_hold_a_scene() -> None:
    assert list(list_scene_formats()) == list(FIGURES)


def make_plot(qtbot: QtBot, *, enlarged: bool = False) -> Plot:
    chart = LineChart("Loss")
    qtbot.addWidget(chart)
    x = np.arange(0.0, 101.0)
    lines = [Line("training", x, np.where(x == 50, np.nan, x), faint=True), Line("held-out", x, 2 * x, "value")]
    chart.show_lines(lines, levels=[Level("chance", 40.0)], x_end=200.0)
    chart.show_bands([Band("seeds 0 to 4", x, x, x + 10)])
    chart.show_marks([Upright("edited", 20.0)])
    chart.show_cursor(60.0)
    if enlarged:
        chart.show_stretch((10.0, 30.0))
    return read_plot(chart, "Loss")


def test_a_plot_has_the_points_of_its_curves_and_names_them(qtbot: QtBot) -> None:
    scene = draw_plot(make_plot(qtbot), 400.0)
    labels = [shape.text for shape in scene.shapes if isinstance(shape, Label)]
    assert {"LOSS", "held-out", "training", "seeds 0 to 4", "chance", "edited", "200"} <= set(labels)
    curves = [shape for shape in scene.shapes if isinstance(shape, Polyline) and shape.width == 1.75]
    value = next(each for each in curves if each.ink == "value" and len(each.points) > 2)
    assert len(value.points) == 101
    (x0, y0), (x1, y1) = value.points[0], value.points[-1]
    middle = value.points[50]
    assert middle == pytest.approx(((x0 + x1) / 2, (y0 + y1) / 2))  # a straight line stays one
    assert [len(each.points) for each in curves if each.ink == "accent" and len(each.points) > 2] == [50, 50]  # the gap
    assert max(x for shape in curves for x, _ in shape.points) <= 400.0


def test_an_enlarged_plot_shows_its_part(qtbot: QtBot) -> None:
    scene = draw_plot(make_plot(qtbot, enlarged=True), 400.0)
    curves = [shape for shape in scene.shapes if isinstance(shape, Polyline) and shape.ink == "value"]
    assert max(len(each.points) for each in curves) == 21
    labels = [shape.text for shape in scene.shapes if isinstance(shape, Label)]
    assert {"10", "20", "30"} <= set(labels)
    assert {"chance", "edited"} <= set(labels)  # both lie within it


def make_answer(places: int) -> Answer:
    likeliest = (("a", 0.75), ("b", 0.2), ("c", 0.05))
    return Answer(tuple(Place(index, "x", "b" if index else "a", likeliest, 0.2) for index in range(places)))


@pytest.mark.parametrize("places", [1, 5, 40])
def test_an_answer_has_a_column_for_each_place_within_its_width(qtbot: QtBot, places: int) -> None:
    scene = draw_answer(make_answer(places), (), own=False, step=7, width=500.0)
    shares = [shape for shape in scene.shapes if isinstance(shape, Label) and shape.text == "75\N{NO-BREAK SPACE}%"]
    assert len(shares) == places
    assert max(label.x for label in shares) <= 500.0
    assert max(label.y for label in shares) < scene.height
    said = " ".join(shape.text for shape in scene.shapes if isinstance(shape, Label))
    assert said.startswith(f"1 of {places} right, given the right tokens, at step 7")


def test_a_text_is_coloured_by_probability(qtbot: QtBot) -> None:
    tokens = [ColouredToken("t", 0.5), ColouredToken("o", 1.0, "a"), ColouredToken("!", float("nan"))]
    scene = draw_answer(make_answer(2), tokens, own=False, step=7, width=500.0)
    assert [box.fill for box in scene.shapes if isinstance(box, Box)] == ["good:25.00", "good:50.00"]
    assert sum(isinstance(shape, Polyline) and shape.ink == "bad" for shape in scene.shapes) == 1


def test_wrong_tokens_of_examples_are_red_and_texts_are_wrapped(qtbot: QtBot) -> None:
    scene = draw_examples([PredictionRow(("a", "b"), ("b", "a"), ("b", "c"))], 600.0)
    assert [shape.text for shape in scene.shapes if isinstance(shape, Label) and shape.ink == "bad"] == ["c"]
    text = draw_examples([PredictionRow(("W",), tuple("ill it"), tuple("mll at"))], 600.0)
    assert [shape.text for shape in text.shapes if isinstance(shape, Label) and shape.ink == "bad"] == ["m", "a"]
    x = [shape.x for shape in text.shapes if isinstance(shape, Label) and shape.text == "l"]
    assert sorted(x) == [x[0], x[0], x[2], x[2]]  # one above the other
    lines = wrap_text("one two three " + "x" * 200, "text", 120.0)
    assert "".join(lines).replace(" ", "") == "onetwothree" + "x" * 200
    assert len(lines) > 5


def test_a_film_shows_curves_and_the_answer_below_the_maps(qtbot: QtBot) -> None:
    weights = np.full((2, 2, 2), 0.5, np.float32)
    look = Look(7, (LayerMaps("decoder 1", weights, None, ("a", "b"), ("a", "b")),), (), (), (), 0.0, make_answer(3))
    alone = RunFilm(tiny(), (), "a b", "Reverse")
    both = replace(alone, plots=(make_plot(qtbot), make_plot(qtbot)), with_answer=True)
    low, high = alone.film(look), both.film(look)
    assert high.size[1] > low.size[1]
    frame = both.draw_image(high, look, 0)
    assert (frame.width(), frame.height()) == high.size
    later = both.draw_image(high, replace(look, step=50), 0)
    strip = round(60 * high.size[0] / 420)  # the title and its step
    assert frame.copy(0, strip, *high.size) != later.copy(0, strip, *high.size)  # the cursor has moved


@pytest.mark.slow
def test_the_norms_of_gradients_are_exported_where_they_are_shown(pupil: Pupil) -> None:
    norms = "Norm of each layer’s gradient"
    assert norms not in [plot.title for plot in pupil.tools.figures.read_plots()]
    button = pupil.find(QWidget, "Gradients", pupil.trainer.curves.switch)
    pupil.click(button)
    first = pupil.tools.figures.read_plots()[0]
    assert first.title == norms
    assert {line.name for line in first.lines} == {layer for layer, _ in pupil.run.metrics[-1].gradients}
