"""The row of stages at the foot of the window: thumbnails of the numbers as they are known, and what fits."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage

import attnlab
from attnlab.attention.stages.walk import Place
from attnlab.document.document import View
from attnlab.figures.palette import LIGHT
from attnlab.figures.raster import colour_cells
from attnlab.figures.scales import find_scale
from attnlab.ui.playground.progress import BARS, NAMES, THUMBNAILS
from attnlab.ui.playground.stage_thumbnails import MOST_CELLS, draw_thumbnails

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def read(picture: QImage) -> list[list[int]]:
    """Return the ARGB of every pixel."""
    return [[picture.pixel(x, y) for x in range(picture.width())] for y in range(picture.height())]


def read_alpha(picture: QImage) -> list[list[int]]:
    """Return which pixels are drawn (255) or empty (0)."""
    return [[QColor.fromRgba(each).alpha() for each in row] for row in read(picture)]


def draw(preset: str, view: View) -> dict[str, QImage]:
    trace = attnlab.compute(attnlab.preset(preset))
    return dict(zip(trace.all_stages, draw_thumbnails(trace, view, LIGHT), strict=True))


@pytest.mark.parametrize("preset", ["journey", "multi-head-causal", "cross-attention"])
def test_each_stage_has_a_picture_of_its_cells(preset: str, qapp: object) -> None:
    trace = attnlab.compute(attnlab.preset(preset))
    for name, picture in draw(preset, View()).items():
        rows, columns = trace.array(name).shape[-2:]
        assert (picture.height(), picture.width()) == (min(rows, MOST_CELLS), min(columns, MOST_CELLS)), name


def test_a_cell_has_the_colour_of_its_number_in_the_chosen_head(qapp: object) -> None:
    trace = attnlab.compute(attnlab.preset("multi-head-causal"))
    values = trace.array("queries")[1]
    expected = colour_cells(values[None], "signed", find_scale(values[None], "signed", tight=True), LIGHT, None)[0]
    assert read(draw("multi-head-causal", View(head=1))["queries"]) == expected.tolist()


def test_masked_cells_are_empty(qapp: object) -> None:
    assert read_alpha(draw("causal-5x8", View())["weights"]) == (255 * np.tri(5, dtype=int)).tolist()


def test_cells_that_are_not_computed_yet_are_empty(qapp: object) -> None:
    pictures = draw("journey", View(at=Place("scores", 2), depth="row"))
    alpha = {name: read_alpha(picture) for name, picture in pictures.items()}
    assert alpha["keys"] == [[255] * 2] * 6
    assert alpha["scores"] == [[255] * 6] * 3 + [[0] * 6] * 3
    assert alpha["weights"] == [[0] * 6] * 6


def test_a_cell_asked_for_by_a_question_is_empty(qapp: object) -> None:
    alpha = read_alpha(draw("journey", View(at=Place("weights", asked=((2, 1),))))["weights"])
    assert [(y, x) for y, row in enumerate(alpha) for x, each in enumerate(row) if not each] == [(2, 1)]


def test_one_strong_weight_of_a_long_causal_text_stays_visible(qapp: object) -> None:
    n = 4 * MOST_CELLS
    x = np.zeros((n, 2))
    x[:, 0], x[7, 1] = 1, 30.0
    causal = attnlab.AttentionConfig(causal=True)
    e = attnlab.Experiment(tuple(map(str, range(n))), x, attnlab.Weights(), causal)
    trace = attnlab.compute(e)
    pictures = dict(zip(trace.all_stages, draw_thumbnails(trace, View(), LIGHT), strict=True))
    pixels = read(pictures["weights"])
    assert len(pixels) == len(pixels[0]) == MOST_CELLS
    strongest = colour_cells(np.ones((1, 1)), "probability", find_scale(np.ones((1, 1, 1)), "probability"), LIGHT, None)
    assert pixels[1][1] == strongest[0, 0]
    alpha = read_alpha(pictures["masked"])
    assert alpha == (255 * np.tri(MOST_CELLS, dtype=int)).tolist()  # a block is empty only if all of it is masked


def test_what_is_shown_of_a_stage_depends_on_the_room(person: "Person") -> None:
    bar = person.playground.step_bar.progress
    for size, level in (((1920, 1080), NAMES), ((1366, 768), THUMBNAILS), ((1024, 640), BARS)):
        person.window.resize(*size)
        least = (2 / 3 if level == BARS else 1) * bar.measure_width(level)  # bars may be drawn narrower
        person.wait_for(lambda level=level, least=least: bar.level == level and bar.width() >= least)


def test_the_thumbnails_follow_an_edit(person: "Person") -> None:
    bar = person.playground.step_bar.progress
    person.window.resize(1440, 900)
    person.wait_for(lambda: bar.level == THUMBNAILS)
    bar.grab()
    before = [read(picture) for picture in bar.pictures]
    person.type_number(0, 0, "−3")
    person.settle()
    person.wait_for(lambda: not bar.late_timer.isActive())
    bar.grab()
    titles = [title for title, was, now in zip(bar.titles, before, map(read, bar.pictures), strict=True) if was != now]
    assert titles == ["Queries", "Scores", "Scaled", "Weights", "Context", "Output"]


def test_a_click_on_a_thumbnail_goes_to_its_stage_and_shows_its_card(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8")
    bar, canvas = person.playground.step_bar.progress, person.playground.canvas
    person.window.resize(1366, 768)
    person.wait_for(lambda: bar.level == THUMBNAILS)
    place = bar.titles.index("Context")
    person.click(bar, QPoint(round(bar.width() * (place + 0.4) / len(bar.titles)), bar.height() // 2))
    person.settle()
    assert person.document.view.at == Place("context")
    card = canvas.cards["context"]
    assert canvas.rect().intersects(card.geometry().adjusted(0, 0, 0, -card.height() // 2))
