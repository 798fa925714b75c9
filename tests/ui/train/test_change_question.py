"""A setting is changed on a stopped run: the student is asked whether it is a new run or this one."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from attnlab.ui.train.change_question import ChangeQuestion
from attnlab.ui.widgets.fields.option_controls import Number
from tests.ui.conftest import Person
from tests.ui.layout_faults import find_layout_faults
from tests.ui.train.pupil import Pupil, tiny

pytestmark = pytest.mark.slow


@pytest.fixture
def pupil(sit_down: Callable[..., Person]) -> Pupil:
    """The pupil with a finished run of 30 steps."""
    person = sit_down()
    person.window.resize(1440, 900)
    pupil = Pupil(person.window, person.qtbot)
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    return pupil


def question_of(pupil: Pupil) -> ChangeQuestion:
    return pupil.trainer.question


def change(pupil: Pupil, name: str, text: str) -> None:
    """Type into the field of a setting, and wait until the settings are checked."""
    panel = pupil.trainer.settings
    form = next(form for form in (panel.options, panel.model, panel.train, panel.more) if name in form.names())
    control = form.control(name)
    assert isinstance(control, Number)
    control.edit.setFocus()
    control.edit.lineEdit().selectAll()
    QTest.keyClicks(control.edit.lineEdit(), text)
    pupil.wait_for(lambda: pupil.trainer.session.valid is not None)


def press(pupil: Pupil, name: str) -> None:
    button = getattr(question_of(pupil), name)
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def wait_for_end(pupil: Pupil) -> None:
    pupil.wait_for(lambda: pupil.run.status == "ended" and not pupil.trainer.session.alive)


@pytest.mark.slow
def test_a_changed_batch_goes_on_with_this_run_and_keeps_the_one_before(pupil: Pupil) -> None:
    before, question = pupil.run, question_of(pupil)
    assert not question.isVisible()
    change(pupil, "batch", "8")
    assert question.text.text() == "batch 4 → 8. A new run, or this one from step 30?"
    press(pupil, "same")
    assert "with batch 8. The run before is kept" in pupil.trainer.footer.message.text()
    wait_for_end(pupil)
    after = pupil.run
    assert after is not before
    assert (before.spec.train.batch, after.spec.train.batch) == (4, 8)
    assert after.step > 30
    np.testing.assert_array_equal(after.losses[:30], before.losses)
    assert [mark.title for mark in after.marks if not mark.suggested] == ["batch 4 → 8"]
    assert before in pupil.trainer.session.kept
    assert not question.isVisible()


def test_a_changed_batch_may_also_begin_a_new_run(pupil: Pupil) -> None:
    before = pupil.run
    change(pupil, "batch", "8")
    press(pupil, "new")
    pupil.wait_for(lambda: pupil.run is not before)
    wait_for_end(pupil)
    assert (pupil.run.spec.train.batch, pupil.run.step) == (8, 30)
    assert pupil.run.steps[0] == 0
    assert before in pupil.trainer.session.kept
    assert not question_of(pupil).isVisible()


def test_another_model_needs_a_new_run_and_the_old_one_stays_until_then(pupil: Pupil) -> None:
    before, maps = pupil.run, len(pupil.trainer.maps.view.data)
    question = question_of(pupil)
    change(pupil, "symbols", "8")
    assert question.text.text() == "letters 10 → 8. This needs a new run.", "as the field is called"
    press(pupil, "undo")
    change(pupil, "heads", "4")
    assert question.text.text() == "heads 2 → 4. This needs a new run."
    assert not question.same.isVisible()
    assert pupil.run is before
    assert len(pupil.trainer.maps.view.data) == maps == 2
    press(pupil, "new")
    pupil.wait_for(lambda: pupil.trainer.session.run is not None and pupil.run is not before)
    wait_for_end(pupil)
    pupil.wait_for(lambda: len(pupil.trainer.maps.view.data) == 4)
    assert pupil.run.spec.model.heads == 4
    assert before in pupil.trainer.session.kept


def test_in_a_small_window_the_question_is_above_the_settings_that_replace_the_maps(pupil: Pupil) -> None:
    question, panels = question_of(pupil), pupil.trainer
    pupil.window.change_settings(type_size=175)
    pupil.window.resize(800, 600)
    pupil.wait_for(lambda: pupil.window.width() == 800 and not panels.settings.isVisible())
    pupil.settle()
    QTest.mouseClick(panels.header.settings, Qt.MouseButton.LeftButton)
    assert panels.settings.isVisible()
    assert not panels.maps.isVisible()
    change(pupil, "heads", "4")
    pupil.wait_for(question.isVisible)
    assert question.text.text() == "heads 2 → 4. This needs a new run."
    pupil.settle()
    above = question.mapTo(panels.body, question.rect().bottomLeft())
    assert find_layout_faults(pupil.window) == []
    assert above.y() < panels.settings.mapTo(panels.body, panels.settings.rect().topLeft()).y()
    QTest.mouseClick(panels.header.settings, Qt.MouseButton.LeftButton)
    pupil.settle()
    assert panels.maps.isVisible()
    assert question.isVisible()
    assert panels.maps.isAncestorOf(question)
    press(pupil, "undo")
    pupil.wait_for(lambda: not question.isVisible())
    QTest.mouseClick(panels.header.settings, Qt.MouseButton.LeftButton)
    assert not panels.maps.isVisible()
    pupil.key(Qt.Key.Key_Escape)
    assert panels.maps.isVisible()
    assert not panels.settings.isVisible()


def test_start_answers_new_run_too(pupil: Pupil) -> None:
    before = pupil.run
    change(pupil, "heads", "4")
    assert pupil.trainer.header.main.text() == "Start"
    QTest.mouseClick(pupil.trainer.header.main, Qt.MouseButton.LeftButton)
    pupil.wait_for(lambda: pupil.trainer.session.run is not None and pupil.run is not before)
    wait_for_end(pupil)
    assert pupil.run.spec.model.heads == 4


def test_undo_puts_the_settings_of_the_run_back(pupil: Pupil) -> None:
    before = pupil.run
    change(pupil, "heads", "4")
    press(pupil, "undo")
    pupil.wait_for(lambda: not question_of(pupil).isVisible())
    assert pupil.trainer.session.spec == before.spec
    form = pupil.trainer.settings.model
    control = form.control("heads")
    assert isinstance(control, Number)
    assert control.edit.lineEdit().text() == "2"
    assert pupil.trainer.header.main.text() == "Restart"


def test_more_steps_are_no_question_and_another_task_is_a_new_run(pupil: Pupil) -> None:
    change(pupil, "steps", "60")
    assert pupil.trainer.header.main.text() == "Resume"
    assert not question_of(pupil).isVisible()
    pupil.begin(tiny("copy", 30))
    assert not question_of(pupil).isVisible()
    assert pupil.trainer.session.run is None


@pytest.mark.slow
def test_the_bar_describes_the_model_that_is_shown_until_another_is_trained(pupil: Pupil) -> None:
    about = pupil.trainer.header.about
    shown = f"1 layer × 2 heads · {pupil.run.parameters:,} parameters"
    assert about.text().endswith(shown)
    change(pupil, "layers", "2")
    pupil.wait_for(question_of(pupil).isVisible)
    assert about.text().endswith(shown)
    press(pupil, "new")
    wait_for_end(pupil)
    assert about.text().endswith(f"2 layers × 2 heads · {pupil.run.parameters:,} parameters")
