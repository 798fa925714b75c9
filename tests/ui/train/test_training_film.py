"""The film of a training: written from the window, with its frames checked."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QKeySequence
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.base.errors import AttnlabError
from attnlab.figures.films.film_file import find_ffmpeg
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.panels.figure_type import SMALL_PX, make_figure_font
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import LayerMaps, Look, Viewer
from attnlab.training.recorder import Moment
from attnlab.ui.export.figure_choices import read_words, write_words
from attnlab.ui.train import run_film as film
from attnlab.ui.train.run_film import Choice, RunFilm, place_maps
from attnlab.ui.train.run_film_dialog import FilmDialog
from attnlab.ui.train.run_film_form import FOLDER
from tests.held_write import HeldWrite
from tests.patience import PATIENCE_MS
from tests.ui.conftest import Person
from tests.ui.forms import pick, titles, type_into
from tests.ui.train.pupil import Pupil, tiny


@pytest.fixture
def pupil(person: Person) -> Pupil:
    return Pupil(person.window, person.qtbot)


@pytest.fixture
def dialog(pupil: Pupil) -> Iterator[FilmDialog]:
    """The dialog over a run of 30 steps."""
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    QTest.keySequence(pupil.window, QKeySequence("Ctrl+Shift+E"))
    found = pupil.window.findChild(FilmDialog)
    assert found is not None
    with pupil.qtbot.waitSignal(found.previewed, timeout=PATIENCE_MS):
        pass
    yield found
    found.reject()


@pytest.mark.slow
def test_a_film_says_that_it_shows_weights_while_the_window_shows_gradients(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    gradients = pupil.trainer.maps.head.gradients
    for on in (False, True):
        if on:
            pupil.click(gradients)
            pupil.wait_for(lambda: pupil.trainer.maps.view.data[0].kind == "signed")
        pupil.tools.export_film()
        dialog = pupil.window.findChild(FilmDialog)
        assert dialog is not None
        with pupil.qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
            pass
        assert ("shows the attention weights" in dialog.info.text()) is on
        dialog.reject()
        pupil.wait_for(lambda: pupil.window.findChild(FilmDialog) is None)


def write(pupil: Pupil, dialog: FilmDialog, path: Path) -> None:
    with pupil.qtbot.waitSignal(dialog.saved, timeout=PATIENCE_MS):
        dialog.write_film(path)


def choose(dialog: FilmDialog, ending: str) -> None:
    dialog.form.take("format", ending)
    dialog.take()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".gif", ".apng"])
def test_the_frames_of_a_film_are_the_moments(pupil: Pupil, dialog: FilmDialog, tmp_path: Path, ending: str) -> None:
    type_into(dialog.form, "frames", "6")
    type_into(dialog.form, "width", "320")
    choose(dialog, ending)
    write(pupil, dialog, tmp_path / f"film{ending}")
    with Image.open(tmp_path / f"film{ending}") as opened:
        frames = [np.array(each.convert("RGB")) for each in ImageSequence.Iterator(opened)]
        assert opened.size[0] == 320
    count = min(6, len(pupil.run.recorder.moments))
    assert len(frames) == count
    assert all((a != b).any() for a, b in itertools.pairwise(frames))
    assert f"{count} frames" in dialog.info.text()
    assert "Saved" in dialog.saver.message.text()


def test_a_folder_has_a_picture_for_each_moment_between_two_steps(
    pupil: Pupil, dialog: FilmDialog, tmp_path: Path
) -> None:
    type_into(dialog.form, "first", "10")
    pick(dialog.form, "unit", "mm")
    type_into(dialog.form, "width", "80")
    type_into(dialog.form, "dpi", "127")
    pick(dialog.form, "maps", titles(dialog.form, "maps")[1])
    choose(dialog, FOLDER)
    write(pupil, dialog, tmp_path / "frames")
    steps = [each.step for each in pupil.run.recorder.moments if each.step >= 10]
    pictures = sorted((tmp_path / "frames").iterdir())
    assert [path.stem.rsplit("-", 1)[1] for path in pictures] == [str(step) for step in steps]
    with Image.open(pictures[0]) as picture:
        assert picture.size[0] == 400


@pytest.mark.slow
def test_curves_and_the_answer_go_below_the_maps(pupil: Pupil, dialog: FilmDialog) -> None:
    low = dialog.read_film()[1].size[1]
    pick(dialog.form, "below", "The curves")
    curves, film = dialog.read_film()
    assert [plot.title for plot in curves.plots] == ["Loss", "Held-out tokens correct"]
    assert not curves.with_answer
    assert film.size[1] > low
    pick(dialog.form, "below", "Curves and answer")
    both, film_of_both = dialog.read_film()
    assert both.with_answer
    assert film_of_both.size[1] > film.size[1]


@pytest.mark.slow
def test_a_picture_being_written_when_a_film_is_cancelled_counts(
    pupil: Pupil, dialog: FilmDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldWrite()
    monkeypatch.setattr(film, "write_bytes", held)
    choose(dialog, FOLDER)
    dialog.write_film(tmp_path / "frames")
    pupil.qtbot.waitUntil(held.begun.is_set, timeout=PATIENCE_MS)
    pupil.click(dialog.saver.cancel_button)
    held.go_on.set()
    assert dialog.saver.message.text() == "Cancelled after 1 picture."
    assert held.written.wait(PATIENCE_MS / 1000)
    assert len(list((tmp_path / "frames").iterdir())) == 1


def test_each_frame_has_the_heads_off_that_were_off_then() -> None:
    spec = tiny()
    without = replace(spec, train=replace(spec.train, heads_off="decoder 1.1"))
    weights = draw_first_weights(spec)
    moments = (Moment(5, weights, 0.0), Moment(6, weights, 0.0))
    scenario = RunFilm(without, moments, "c a d b", "Reverse", heads_before=((5, ""),))
    looks = [scenario.compute_trace(frame) for frame in (0, 1, 0)]
    expected = [Viewer(each).look(0, weights, "c a d b").answer for each in (spec, without, spec)]
    assert [look.answer for look in looks] == expected
    assert expected[0] != expected[1]


def test_a_frame_shows_the_chosen_head_and_its_step(qtbot: QtBot) -> None:
    weights = np.stack([np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), 0.5)]).astype(np.float32)
    layer = LayerMaps("decoder 1", weights, None, ("a", "b"), ("a", "b"))
    look = Look(7, (layer,), (), (), (), 0.0)
    all_heads = RunFilm(tiny(), (), "a b", "Reverse")
    colours = {}
    for one in (all_heads, *(replace(all_heads, choice=Choice("decoder 1", head)) for head in range(3))):
        shared = one.film(look)
        image = one.draw_image(shared, look, 0)
        found, width, _ = place_maps(look, one.choice)
        for place in found:
            assert place.title == f"Decoder 1 · head {place.head}"
            x, y, wide, high = (each * shared.size[0] / width for each in place.grid.rect(0, 1, 0))
            colour = image.pixelColor(round(x + wide / 2), round(y + high / 2)).name()
            assert colours.setdefault(place.head, colour) == colour
        heads = [place.head for place in found]
        assert heads == (list(range(3)) if one is all_heads else [one.choice.head])
        assert image != one.draw_image(shared, replace(look, step=8), 0), "the step is not written"
    assert len(set(colours.values())) == 3


@pytest.mark.parametrize("wanted", ["c", "journey"])
def test_rows_name_the_token_that_they_write_as_in_the_window(qtbot: QtBot, wanted: str) -> None:
    weights = np.full((1, 2, 2), 0.5, np.float32)
    layer = LayerMaps("decoder 1", weights, None, ("a", "b"), ("a", "b"), np.array([True, False]), (wanted, ""))
    one, look = RunFilm(tiny(), (), "a b", "Reverse"), Look(7, (layer,), (), (), (), 0.0)
    shared = one.film(look)
    (place,), width, _ = place_maps(look, one.choice)
    bold = QFontMetricsF(make_figure_font(SMALL_PX, QFont.Weight.Bold))
    assert bold.horizontalAdvance(f"a→{wanted}") <= place.grid.label_width - 6, "it is cut"
    scale = shared.size[0] / width
    corner = QPoint(0, round(place.grid.y * scale))
    room = QSize(round(place.grid.x * scale), round(place.grid.cell_height * scale))

    def draw_label(writes: tuple[str, str]) -> QImage:
        drawn = replace(look, maps=(replace(layer, writes=writes),))
        return one.draw_image(shared, drawn, 0).copy(QRect(corner, room))

    others = [draw_label(writes) for writes in ((wanted, ""), ("z" * len(wanted), ""), ("", ""))]
    assert others[0] != others[1]
    assert others[0] != others[2]


@pytest.mark.slow
def test_an_mp4_is_written_if_ffmpeg_is_installed(pupil: Pupil, dialog: FilmDialog, tmp_path: Path) -> None:
    try:
        find_ffmpeg()
    except AttnlabError:
        choose(dialog, ".mp4")
        assert "ffmpeg" in dialog.saver.message.text()
        return
    choose(dialog, ".mp4")
    write(pupil, dialog, tmp_path / "film.mp4")
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.slow
def test_a_cancelled_film_leaves_no_file_and_steps_without_moments_are_refused(
    pupil: Pupil, dialog: FilmDialog, tmp_path: Path
) -> None:
    choose(dialog, ".gif")
    dialog.write_film(tmp_path / "film.gif")
    pupil.click(dialog.saver.cancel_button)
    assert dialog.saver.message.text() == "Cancelled; nothing was written."
    assert not list(tmp_path.glob("film*"))
    type_into(dialog.form, "first", "30")
    type_into(dialog.form, "last", "29")
    dialog.take()
    assert "No moment is recorded" in dialog.saver.message.text()
    assert not dialog.saver.save_button.isEnabled()


@pytest.mark.slow
def test_choices_are_remembered(pupil: Pupil, dialog: FilmDialog, tmp_path: Path) -> None:
    pupil.window.change_settings(figure=write_words(FigureSpec(dpi=600), "pdf", ("sweep.fps=12", "film.fps=15")))
    pick(dialog.form, "unit", "mm")
    type_into(dialog.form, "width", "80")
    type_into(dialog.form, "dpi", "127")
    type_into(dialog.form, "fps", "9")
    pick(dialog.form, "colours", "Viridis")
    choose(dialog, FOLDER)
    write(pupil, dialog, tmp_path / "frames")
    assert read_words(pupil.window.settings.figure) == (FigureSpec(dpi=600), "pdf")
    assert "sweep.fps=12" in pupil.window.settings.figure
    pupil.tools.export_film()
    again = next(each for each in pupil.window.findChildren(FilmDialog) if each is not dialog)
    with pupil.qtbot.waitSignal(again.previewed, timeout=PATIENCE_MS):
        pass
    form = again.form
    assert (form.width_px, *map(form.value, ("width", "dpi", "fps"))) == (400, 80, 127, 9)
    assert (form.value("colours"), form.ending) == ("viridis", FOLDER)
    again.reject()
