"""A run whose text has changed is shown with a message, and does not continue."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox

from attnlab.base.folders import config_folder
from attnlab.training import allowed_texts, store
from attnlab.training.run import Run
from attnlab.ui.app.open_file import open_path
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny


def test_a_run_whose_text_changed_is_shown_but_cannot_continue(sit_down: Callable[..., Person], tmp_path: Path) -> None:
    person = sit_down(remember=True)
    pupil = Pupil(person.window, person.qtbot)
    text, folder = tmp_path / "mine.txt", tmp_path / "run"
    text.write_text("to be or not to be\n" * 50)
    spec = replace(tiny("characters", steps=5), options={"text": str(text), "context": 8})
    pupil.begin(spec)
    pupil.train_to_the_end()
    more = replace(spec, train=replace(spec.train, steps=9))
    store.save(replace(pupil.run.state(), status="interrupted", spec=more), folder)
    text.write_text("or to be not to be\n" * 50)
    open_path(pupil.window, folder)
    message, session = pupil.trainer.footer.message, pupil.trainer.session
    pupil.wait_for(lambda: "mine.txt has changed since this run began" in message.text())
    pupil.wait_for(lambda: session.can_go_on and pupil.shown_step == 5)
    with pupil.qtbot.waitSignal(session.failed):
        pupil.trainer.start()
    assert "has changed since this run began" in message.text()
    assert pupil.run.step == 5


@pytest.mark.slow
def test_a_text_named_by_a_run_is_read_only_after_confirmation(sit_down: Callable[..., Person], tmp_path: Path) -> None:
    person = sit_down(remember=True)
    pupil = Pupil(person.window, person.qtbot)
    text, folder = tmp_path / "theirs.txt", tmp_path / "run"
    text.write_text("to be or not to be\n" * 50)
    spec = replace(tiny("characters", steps=5), options={"text": str(text), "context": 8})
    store.save(Run(spec, "from elsewhere").state(), folder)
    pupil.begin(tiny())
    for answer in ("Cancel", "Read the text"):
        open_path(pupil.window, folder)
        pupil.wait_for(lambda: isinstance(QApplication.activeModalWidget(), QMessageBox))
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        assert str(text) in box.text()
        assert not allowed_texts.is_allowed(str(text))
        next(button for button in box.buttons() if button.text().replace("&", "") == answer).click()
        pupil.wait_for(lambda: QApplication.activeModalWidget() is None)
    pupil.wait_for(lambda: pupil.trainer.session.run is not None and pupil.run.name == "from elsewhere")
    assert allowed_texts.is_allowed(str(text))
    assert json.loads((config_folder() / "texts.json").read_text()) == [str(text)]
