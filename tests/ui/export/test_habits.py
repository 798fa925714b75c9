"""What dialogs remember: each its own words, all within what the settings hold, and nothing that is not offered."""

import pytest
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from attnlab.document.settings import FIGURE_LIMIT
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.training.recorder import Moment
from attnlab.ui.export.figure_choices import others, recalled, words
from attnlab.ui.export.film_choices import recall
from attnlab.ui.export.form_rows import number_box
from attnlab.ui.export.sweep_form import SweepForm
from attnlab.ui.train.run_film_form import FilmForm
from attnlab.ui.widgets.fields.form_parts import combo


def test_the_settings_hold_what_all_dialogs_remember(qtbot: QtBot) -> None:
    forms = SweepForm(), FilmForm((), [Moment(0, {}, 1.0), Moment(10, {}, 0.5)])
    for form in forms:
        qtbot.addWidget(form)
    count = len(words(FigureSpec(), "png")) + sum(len(form.habits) for form in forms)
    assert count <= FIGURE_LIMIT  # or all would be dropped when they are read


def test_figures_and_films_leave_each_other_alone() -> None:
    of_films = ("film.fps=12", "film.ground=dark", "sweep.format=.gif")
    kept = words(FigureSpec(ground="dark"), "svg", ("format=png", "dpi=72", *of_films))
    assert kept[-3:] == of_films
    assert recalled(kept) == (FigureSpec(ground="dark"), "svg")
    assert [word for word in others(kept, "film") if "." in word.partition("=")[0]] == ["sweep.format=.gif"]


LONG = "9" * 5000


@pytest.mark.parametrize(
    "wrong",
    ["font_pt=", "dpi=", "labels=", "ground=", f"dpi={LONG}", "dpi=" + LONG[:400], f"decimals={LONG[:400]}",
     "width_mm=nan", f"width_mm={LONG}", "font_pt=inf", "numbers=", "colour_map="],
)  # fmt: skip
def test_what_no_figure_can_be_is_left_out_alone(wrong: str) -> None:
    assert recalled((wrong, "format=svg", "height_mm=")) == (FigureSpec(), "svg")


@pytest.mark.parametrize(
    "wrong", [f"film.fps={LONG}", "film.fps=51", "film.fps=many", "film.ground=blue", "film.who=me", "film.fps"]
)
def test_what_is_not_offered_is_left_out_alone(qtbot: QtBot, wrong: str) -> None:
    fps, ground, back = number_box(1, 50, 15), combo([("Light", "light"), ("Dark", "dark")]), QCheckBox()
    for field in (fps, ground, back):
        qtbot.addWidget(field)
    recall((wrong, "film.back=on", "sweep.back=off"), "film", {"fps": fps, "ground": ground, "back": back})
    assert (fps.value(), ground.currentData(), back.isChecked()) == (15, "light", True)
