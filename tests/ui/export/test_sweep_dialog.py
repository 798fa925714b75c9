"""The film dialog: the preview is a frame, files are complete or absent, and the window stays responsive."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.document.scene import Scene
from attnlab.figures.films.film_frame import to_rgb
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.ui.export import filming
from attnlab.ui.export.figure_choices import read_words, write_words
from attnlab.ui.export.sweep_dialog import SweepDialog
from tests.held_write import HeldWrite
from tests.patience import PATIENCE_MS
from tests.ui.forms import pick, titles, turn, type_into


@pytest.fixture
def person(sit_down: Callable[..., object]) -> object:
    return sit_down("journey")


@pytest.fixture
def dialog(person: object, qtbot: QtBot) -> Iterator[SweepDialog]:
    """Open the dialog by its action, with a film of a few small frames."""
    window = person.window  # type: ignore[attr-defined]
    assert window.actions_list.run("film")
    made = window.findChild(SweepDialog)
    assert made is not None
    with qtbot.waitSignal(made.previewed, timeout=PATIENCE_MS):
        pick(made.form, "width", "480 pixels")
        type_into(made.form, "frames", "6")
    yield made
    left = window.findChild(SweepDialog)
    if left is not None:
        left.close()


def write(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Tab)


def shown_sentence(dialog: SweepDialog) -> str:
    return dialog.saver.message.text() if dialog.saver.message.isVisible() else ""


def saved(dialog: SweepDialog, qtbot: QtBot, path: Path) -> None:
    with qtbot.waitSignal(dialog.saved, timeout=PATIENCE_MS):
        dialog.write_film(path)


def test_the_preview_is_a_frame_of_the_film(dialog: SweepDialog, qtbot: QtBot, tmp_path: Path) -> None:
    assert dialog.form.what.currentText() == "temperature"
    assert (dialog.form.start.text(), dialog.form.stop.text()) == ("0.1", "4")
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        pick(dialog.form, "format", "APNG")
    dialog.place.setFocus()
    for _ in range(4):
        with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
            QTest.keyClick(dialog.place, Qt.Key.Key_Right)
    assert dialog.place.value() == 4
    assert dialog.frame.image is not None
    size = dialog.frame.image.size().toTuple()
    held = f"{size[0]} × {size[1]} pixels".replace(" ", "\N{NO-BREAK SPACE}")
    assert dialog.info.text() == f"6 frames · 0.24 s · {held}"
    saved(dialog, qtbot, tmp_path / "t.apng")
    assert shown_sentence(dialog) == f"Saved {tmp_path / 't.apng'}"
    with Image.open(tmp_path / "t.apng") as film:
        assert (film.n_frames, film.size) == (6, size)  # type: ignore[attr-defined]
        film.seek(4)
        written = np.asarray(film.convert("RGB"))
    np.testing.assert_array_equal(written, np.frombuffer(to_rgb(dialog.frame.image), np.uint8).reshape(written.shape))


def test_a_switch_can_be_swept_and_saved(dialog: SweepDialog, qtbot: QtBot, tmp_path: Path) -> None:
    what = dialog.form.what
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        what.setCurrentIndex(what.findText("causal"))
        what.activated.emit(what.currentIndex())
    assert (dialog.form.start.text(), dialog.form.stop.text()) == ("off", "on")
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        pick(dialog.form, "format", "GIF")
    qtbot.mouseClick(dialog.saver.save_button, Qt.MouseButton.LeftButton)
    asked = dialog.findChild(QFileDialog)
    assert asked is not None
    assert Path(asked.selectedFiles()[0]).name == "causal.gif"
    with qtbot.waitSignal(dialog.saved, timeout=PATIENCE_MS):
        asked.fileSelected.emit(str(tmp_path / "causal.gif"))
    asked.close()
    assert (tmp_path / "causal.gif").read_bytes().startswith(b"GIF89a")


def test_there_and_back_shows_the_frames_backwards(
    dialog: SweepDialog, person: object, qtbot: QtBot, tmp_path: Path
) -> None:
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        type_into(dialog.form, "frames", "3")
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        pick(dialog.form, "format", "APNG")
    assert dialog.info.text().startswith("3 frames · 0.12 s · ")
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        turn(dialog.form, "back")
    assert dialog.form.value("back")
    assert dialog.info.text().startswith("4 frames · 0.16 s · ")  # the first is not drawn again at the end
    assert dialog.place.maximum() == 3
    saved(dialog, qtbot, tmp_path / "t.apng")
    sweep = dialog.form.make_scenario(person.document.scene).sweep  # type: ignore[attr-defined]
    assert sweep.values == pytest.approx((0.1, 2.05, 4.0, 2.05))
    with Image.open(tmp_path / "t.apng") as film:
        assert film.n_frames == 4  # type: ignore[attr-defined]


def test_a_film_is_computed_in_the_dtype_of_the_window(sit_down: Callable[..., object], qtbot: QtBot) -> None:
    """Scores of 1e8 and 1e8 + 1 are equal in float32, where they lie 8 apart, and differ in float64."""
    rows = torch.tensor([[1e4, 0.0], [1e4, 1.0]], dtype=torch.float64)
    person = sit_down(Experiment(("a", "b"), rows, config=AttentionConfig(scale=1.0)))
    window = person.window  # type: ignore[attr-defined]
    assert window.actions_list.run("film")
    dialog = window.findChild(SweepDialog)
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        type_into(dialog.form, "frames", "2")
    assert dialog.form.value("stage") == "weights"
    in_float32 = to_rgb(dialog.frame.image)
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        person.choose("Device and number format", "CPU float64")  # type: ignore[attr-defined]
    in_float64 = to_rgb(dialog.frame.image)
    assert in_float64 != in_float32, "the picture is that of float32"
    trace = dialog.form.make_scenario(person.document.scene).compute_trace(0)  # type: ignore[attr-defined]  # at temperature 0.1
    np.testing.assert_allclose(trace.array("weights")[0, 1], [1 / (1 + np.exp(10)), 1 / (1 + np.exp(-10))])
    dialog.close()


def test_cancelling_keeps_the_old_file(dialog: SweepDialog, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "t.mp4"
    path.write_bytes(b"before")
    with qtbot.waitSignal(dialog.saver.slices.progressed, timeout=PATIENCE_MS):
        dialog.write_film(path)
    assert dialog.saver.cancel_button.isVisible()
    with qtbot.waitSignal(dialog.saver.slices.stopped, timeout=PATIENCE_MS):
        qtbot.mouseClick(dialog.saver.cancel_button, Qt.MouseButton.LeftButton)
    assert shown_sentence(dialog) == "Cancelled; nothing was written."
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["t.mp4"]
    saved(dialog, qtbot, path)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_cancelling_while_writing_shows_no_error(
    dialog: SweepDialog, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, held = tmp_path / "t.gif", HeldWrite()
    monkeypatch.setattr(filming, "write_bytes", held)
    dialog.write_film(path)
    qtbot.waitUntil(held.begun.is_set, timeout=PATIENCE_MS)
    qtbot.mouseClick(dialog.saver.cancel_button, Qt.MouseButton.LeftButton)
    held.go_on.set()
    assert shown_sentence(dialog) == f"Cancelled too late: the film was already being written to {path}."
    assert held.written.wait(PATIENCE_MS / 1000)
    assert path.read_bytes().startswith(b"GIF89a")


def test_an_impossible_film_is_reported_and_cannot_be_saved(dialog: SweepDialog, qtbot: QtBot, tmp_path: Path) -> None:
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        write(dialog.form.start, "0")
    assert shown_sentence(dialog).startswith("At temperature = 0: ")
    assert not dialog.saver.save_button.isEnabled()
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        write(dialog.form.start, "0.5")
    assert dialog.saver.save_button.isEnabled()
    with qtbot.waitSignal(dialog.saver.slices.finished, timeout=PATIENCE_MS):
        dialog.write_film(tmp_path / "nowhere" / "t.gif")
    assert "nowhere" in shown_sentence(dialog)
    assert "cannot be written" in shown_sentence(dialog)


def test_a_change_in_the_window_changes_the_film(dialog: SweepDialog, person: object, qtbot: QtBot) -> None:
    from attnlab.attention.examples.presets import preset

    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        person.document.open("Open", Scene(preset("multi-head-8")))  # type: ignore[attr-defined]
    assert len(titles(dialog.form, "heads")) == 10
    assert dialog.form.control("heads").stops()[0].isEnabled()


@pytest.mark.parametrize(
    ("key", "start", "stop", "first", "last"),
    [("W_q[0, 0]", "-1", "1", "W_q[0, 0] = −1.0", "W_q[0, 0] = 1.0"), ("T", "2", "6", "T = 2", "T = 6")],
)
def test_any_number_can_be_swept_by_its_name(
    key: str, start: str, stop: str, first: str, last: str, dialog: SweepDialog, person: object, qtbot: QtBot
) -> None:
    form = dialog.form
    line = form.what.lineEdit()
    assert line is not None
    for field, text in ((line, key), (form.start, start), (form.stop, stop)):
        with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
            write(field, text)
    assert shown_sentence(dialog) == ""
    sweep = form.make_scenario(person.document.scene).sweep  # type: ignore[attr-defined]
    assert (sweep.text(0), sweep.text(5)) == (first, last)


def test_the_window_can_be_edited_while_a_film_is_written(
    dialog: SweepDialog, person: object, qtbot: QtBot, tmp_path: Path
) -> None:
    from attnlab.attention.examples.presets import preset

    with qtbot.waitSignal(dialog.saver.slices.progressed, timeout=PATIENCE_MS):
        dialog.write_film(tmp_path / "t.apng")
    person.document.open("Open", Scene(preset("multi-head-8")))  # type: ignore[attr-defined]
    with qtbot.waitSignals([dialog.saved, dialog.previewed], timeout=PATIENCE_MS):
        person.settle()  # type: ignore[attr-defined]
    assert dialog.form.control("heads").stops()[0].isEnabled()
    assert shown_sentence(dialog) == f"Saved {tmp_path / 't.apng'}"


def test_closing_cancels_the_film(dialog: SweepDialog, qtbot: QtBot, tmp_path: Path) -> None:
    with qtbot.waitSignal(dialog.saver.slices.progressed, timeout=PATIENCE_MS):
        dialog.write_film(tmp_path / "t.gif")
    dialog.close()
    assert not dialog.saver.slices.running
    assert not (tmp_path / "t.gif").exists()


def test_choices_are_remembered_separately_from_figures(
    dialog: SweepDialog, person: object, qtbot: QtBot, tmp_path: Path
) -> None:
    window = person.window  # type: ignore[attr-defined]
    window.change_settings(figure=write_words(FigureSpec(width_mm=85.0), "svg"))
    with qtbot.waitSignal(dialog.previewed, timeout=PATIENCE_MS):
        pick(dialog.form, "format", "APNG")
        pick(dialog.form, "ground", "Dark")
        turn(dialog.form, "back")
    saved(dialog, qtbot, tmp_path / "t.apng")
    dialog.close()
    assert read_words(window.settings.figure) == (FigureSpec(width_mm=85.0), "svg")
    again = SweepDialog(person.playground, window)  # type: ignore[attr-defined]
    form = again.form
    assert (form.ending, form.value("ground"), form.value("width")) == (".apng", "dark", 480)
    assert (form.value("frames"), form.value("back")) == (6, True)
    with qtbot.waitSignal(again.previewed, timeout=PATIENCE_MS):
        again.show()
    again.close()
