"""The settings of a run: the parameter count follows typing, and errors appear at the field."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from tests.ui.train.conftest import Student


def _count(student: "Student") -> int:
    return int(student.ws.settings.count.text().split()[0].replace(",", ""))


def test_the_parameter_count_follows_typing(student: "Student") -> None:
    before = _count(student)
    student.type("layers", "4")
    student.wait_for(lambda: _count(student) > before)
    words = student.ws.settings.count.text()
    assert words == f"{_count(student):,} parameters, all trainable"
    assert f"4 layers × 4 heads · {_count(student):,} parameters" in student.ws.header.about.text()


def test_an_invalid_head_count_is_reported_at_its_field_and_nothing_starts(student: "Student") -> None:
    start = student.ws.header.main
    student.type("heads", "5")
    student.wait_for(lambda: "divide d_model" in student.complaint("heads"))
    assert not start.isEnabled()
    about = student.ws.header.about
    assert about.text() == "GPT-style decoder · 2 layers × 4 heads · settings before the error"  # those of the maps
    student.type("heads", "2")
    student.wait_for(start.isEnabled)
    assert about.text() == f"GPT-style decoder · 2 layers × 2 heads · {_count(student):,} parameters"
    assert not student.complaint("heads")


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [("layers", "two", "is not a number"), ("rate", "0", "needs a number above 0"), ("batch", "-1", "from 1 to")],
)
def test_an_invalid_number_is_reported_while_typing(student: "Student", name: str, typed: str, said: str) -> None:
    student.type(name, typed)
    assert said in student.complaint(name)
    assert not student.ws.header.main.isEnabled()
    assert student.field(name).lineEdit().text() == typed


@pytest.mark.slow
def test_a_model_shows_only_its_own_settings(student: "Student") -> None:
    panel = student.ws.settings
    box = student.box("kind")
    student.choose(box, "Recurrent, no attention")
    assert panel.model.names() == ["kind", "layers", "d_model", "dropout"]
    student.wait_for(student.ws.maps.overview.none.isVisible)
    student.choose(box, "BERT-style encoder")
    names = set(panel.model.names())
    assert {"heads", "positions", "norm", "d_ff"} <= names
    student.wait_for(
        lambda: bool(student.ws.maps.view.titles) and student.ws.maps.view.titles[0] == "Encoder 1 · head 0"
    )


@pytest.mark.slow
def test_another_task_brings_its_own_settings_words_and_probe(student: "Student") -> None:
    ws = student.ws
    student.choose(ws.settings.task, "Dates")
    assert "Look for:" in ws.settings.about.text()
    student.wait_for(lambda: ws.session.inspection.seen is not None and ws.session.inspection.seen.spec.task == "dates")
    assert ws.maps.head.probe.text() == ws.session.inspection.probe
    assert ws.header.title.text() == "Dates"


@pytest.mark.slow
def test_an_unreadable_text_is_reported(student: "Student", tmp_path: object) -> None:
    from pathlib import Path

    ws = student.ws
    student.choose(ws.settings.task, "Characters of a text")
    student.ready()
    assert isinstance(tmp_path, Path)
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    student.control("text").taken.emit(str(empty))
    student.wait_for(lambda: bool(ws.settings.complaint()))
    assert "empty.txt" in ws.settings.complaint()
    assert not ws.header.main.isEnabled()


@pytest.mark.slow
def test_recommended_settings_are_offered_with_the_task(student: "Student") -> None:
    ws = student.ws
    student.choose(ws.settings.task, "Sum of the previous two")
    assert ws.settings.variant.isVisible()
    before = ws.session.spec
    student.choose(ws.settings.variant, ws.settings.variant.itemText(1))
    assert ws.session.spec != before
    student.choose(ws.settings.variant, "as recommended")
    assert ws.session.spec == before


@pytest.mark.slow
@pytest.mark.parametrize("task", ["reverse", "sum", "characters", "dates"])
def test_no_setting_is_clipped_in_a_small_window(student: "Student", task: str) -> None:
    panel, window = student.ws.settings, student.window
    window.resize(720, 480)
    student.wait_for(lambda: student.ws.header.settings.isVisible())
    student.choose(panel.task, panel.task.itemText(panel.task.findData(task)))
    panel.fold.setChecked(True)
    student.wait_for(lambda: panel.isVisible() and panel.widget().width() <= panel.viewport().width())
    for form in student.forms():
        for control in (form.control(name) for name in form.names()):
            assert control.mapTo(panel.viewport(), control.rect().bottomRight()).x() < panel.viewport().width()


@pytest.mark.slow
def test_choices_are_legible_after_larger_and_smaller_type(student: "Student") -> None:
    """A label keeps its largest minimum width, which could leave no space for its field."""
    for size in (150, 80):
        student.window.change_settings(type_size=size)
        QApplication.processEvents()
    controls = [student.control(name) for name in ("positions", "optimizer", "d_model", "batch")]
    assert len({control.width() for control in controls}) == 1
    assert all(control.width() > control.parentWidget().width() / 2 for control in controls)
