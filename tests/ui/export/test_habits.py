"""The remembered choices of dialogs: separate for each dialog, within the settings, and valid."""

import pytest
from pytestqt.qtbot import QtBot

from attnlab.document.settings import FIGURE_LIMIT
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.ui.export.figure_choices import find_others, read_words, write_words
from attnlab.ui.export.film_choices import recall
from attnlab.ui.export.sweep_form import REMEMBERED as OF_SWEEPS
from attnlab.ui.train.run_film_form import REMEMBERED as OF_FILMS
from attnlab.ui.widgets.fields.held_fields import HeldFields
from attnlab.ui.widgets.fields.option_field import Field, choice_field, whole_field


def test_the_settings_hold_the_choices_of_all_dialogs() -> None:
    count = len(write_words(FigureSpec(), "png")) + len(OF_SWEEPS) + len(OF_FILMS)
    assert count <= FIGURE_LIMIT  # or all would be dropped when they are read


def test_figures_and_films_keep_separate_choices() -> None:
    of_films = ("film.fps=12", "film.ground=dark", "sweep.format=.gif")
    kept = write_words(FigureSpec(ground="dark"), "svg", ("format=png", "dpi=72", *of_films))
    assert kept[-3:] == of_films
    assert read_words(kept) == (FigureSpec(ground="dark"), "svg")
    assert [word for word in find_others(kept, "film") if "." in word.partition("=")[0]] == ["sweep.format=.gif"]


LONG = "9" * 5000


@pytest.mark.parametrize(
    "wrong",
    [
        "font_pt=",
        "dpi=",
        "labels=",
        "ground=",
        f"dpi={LONG}",
        "dpi=" + LONG[:400],
        f"decimals={LONG[:400]}",
        "width_mm=nan",
        f"width_mm={LONG}",
        "font_pt=inf",
        "numbers=",
        "colour_map=",
    ],
)
def test_an_impossible_choice_is_dropped_alone(wrong: str) -> None:
    assert read_words((wrong, "format=svg", "height_mm=")) == (FigureSpec(), "svg")


@pytest.mark.parametrize(
    "wrong", [f"film.fps={LONG}", "film.fps=51", "film.fps=many", "film.ground=blue", "film.who=me", "film.fps"]
)
def test_an_unknown_choice_is_dropped_alone(qtbot: QtBot, wrong: str) -> None:
    fps, back = whole_field("fps", "", "", 15, 1, 50), Field("back", "", "", "switch", False, False)
    form = HeldFields((fps, choice_field("ground", "", "", [("Light", "light"), ("Dark", "dark")]), back))
    qtbot.addWidget(form)
    recall((wrong, "film.back=on", "sweep.back=off"), "film", form, ("fps", "ground", "back"))
    assert [form.value(name) for name in ("fps", "ground", "back")] == [15, "light", True]
