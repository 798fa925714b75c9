"""The rate is changed in the middle of a run: a branch goes on with it, and the run before stays as it was."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.train.pupil import Pupil, tiny


def type_rate(pupil: Pupil, text: str) -> None:
    panel = pupil.tools.rate
    panel.field.setFocus()
    panel.field.lineEdit().selectAll()
    QTest.keyClicks(panel.field.lineEdit(), text)
    QTest.mouseClick(panel.button, Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_a_running_run_branches_with_another_rate_and_stays(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=100_000))
    assert not pupil.tools.rate.isVisibleTo(pupil.trainer.settings)
    pupil.trainer.start()
    pupil.wait_for(lambda: pupil.trainer.session.run is not None and pupil.run.checkpoint is not None)
    pupil.wait_for_step(20)
    before = pupil.run
    type_rate(pupil, "0.0005")
    pupil.wait_for(lambda: pupil.run is not before and pupil.run.step > before.step)
    after, step = pupil.run, before.step
    assert before.spec.train.rate != 0.0005
    assert after.spec.train.rate == 0.0005
    assert before in pupil.trainer.session.kept
    np.testing.assert_array_equal(after.losses[:step], before.losses[:step])  # what they share
    assert after.steps[: step + 1].tolist() == list(range(step + 1))
    assert max(after.rates[step:]) <= 0.0005 < max(before.rates)
    assert after.name.endswith(f"from step {step:,}, rate 0.0005")
    assert pupil.trainer.title() == f"Reverse · seed 0, from step {step:,}, rate 0.0005"
    told = pupil.trainer.footer.message.text()
    assert f"kept as “{pupil.trainer.make_title(before)}”" in told
    assert "“Reverse · seed 0 · " in told  # as the list of runs has it
    assert [mark.title for mark in after.marks] == [f"rate {before.spec.train.rate:g} → 0.0005"]
    pupil.trainer.session.stop()
    pupil.wait_for(lambda: not pupil.trainer.session.alive)


@pytest.mark.slow
def test_a_branch_is_not_one_of_the_seeds_trained_with_its_rate(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    before = pupil.run
    type_rate(pupil, "0.0005")
    pupil.wait_for(lambda: pupil.run is not before and pupil.run.status == "ended")
    panel = pupil.tools.queue_panel
    pupil.wait_for(panel.questions["seeds"].isEnabled)
    QTest.mouseClick(panel.questions["seeds"], Qt.MouseButton.LeftButton)
    first = panel.queue.entries[0]
    assert first.planned.spec == pupil.run.spec
    assert first.run is not pupil.run
    panel.queue.stop()
    pupil.wait_for(lambda: not panel.queue.alive)


@pytest.mark.slow
def test_a_rate_that_is_none_is_refused_and_the_run_goes_on(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    run = pupil.run
    type_rate(pupil, "0")
    assert pupil.run is run
    assert not pupil.trainer.session.alive
    assert "type another one, above 0" in pupil.trainer.footer.message.text()


@pytest.mark.slow
def test_the_field_and_its_button_are_in_one_line_beside_the_default_settings(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    panel = pupil.tools.rate
    pupil.wait_for(panel.isVisible)
    assert panel.button.geometry().left() > panel.field.geometry().right()
    assert panel.button.geometry().center().y() == pytest.approx(panel.field.geometry().center().y(), abs=1)
