"""Work that was not saved is there again next time, until it is saved; nothing is kept of what was."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.ui.conftest import Person


def test_unsaved_work_comes_back_as_one_step_until_it_is_saved(
    sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path
) -> None:
    person = sit_down(remember=True)
    assert not person.window.actions_list["bring-back"].isEnabled()
    person.press("Causal")
    person.window.close()
    person = sit_down(remember=True)
    assert person.message().startswith("Unsaved work of last time is kept")
    assert not person.experiment.config.causal
    assert person.window.actions_list.run("bring-back")
    person.settle()
    assert person.experiment.config.causal
    person.document.undo()
    assert not person.experiment.config.causal
    person.document.redo()
    assert person.playground.files.save_to(tmp_path / "kept.attnlab")
    person.window.close()
    assert not list(config_dir.glob("*.attnlab"))
    assert not sit_down(remember=True).message()


def test_what_is_as_it_was_opened_or_saved_is_not_kept(
    sit_down: "Callable[..., Person]", config_dir: Path, tmp_path: Path
) -> None:
    person = sit_down(remember=True)
    person.press("Causal")
    assert person.window.recovery is not None
    person.window.recovery.keep()
    assert list(config_dir.glob("*.attnlab"))
    person.document.undo()
    person.window.close()
    assert not list(config_dir.glob("*.attnlab"))
