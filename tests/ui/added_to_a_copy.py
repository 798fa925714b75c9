"""A person at the window of a copy of the package with one more lens, workspace, normaliser and two export formats.

``tests/test_one_file.py`` makes the copy and runs these tests in it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QRadioButton, QToolButton

import attnlab
from attnlab.ui.export.export_dialog import ExportDialog

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key
SitDown = Callable[..., "Person"]


def choose_in_palette(person: "Person", words: str) -> None:
    person.window.show_palette()
    person.type(words)
    person.key(Key.Key_Return)


def test_these_tests_run_in_the_copy() -> None:
    assert Path(attnlab.__file__).parents[1] == Path.cwd()


def test_the_lens_has_a_tab_and_is_in_palette_and_sessions(sit_down: SitDown, tmp_path: Path) -> None:
    person = sit_down()
    tabs = person.playground.lenses.bar.tabs
    assert [tab.text() for tab in tabs.findChildren(QRadioButton)][-1] == "Token count"
    choose_in_palette(person, "lens token")
    assert person.find(QLabel, "6 tokens").isVisible()
    assert person.playground.files.save_to(tmp_path / "seen.attnlab")
    person.click(person.find(QRadioButton, "Canvas", tabs))
    person.window.open_path(tmp_path / "seen.attnlab")
    person.wait_for(lambda: person.playground.lenses.current == "token_count")
    person.settle()


def test_the_workspace_is_on_the_rail_and_in_the_palette(sit_down: SitDown) -> None:
    person = sit_down()
    person.click(person.find(QToolButton, f"Notes (Ctrl+{len(person.window.kinds)})"))
    assert person.find(QLabel, "the notes").isVisible()
    person.key(Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    choose_in_palette(person, "tidy notes")
    assert person.find(QLabel, "the notes").isVisible()


def test_the_formats_are_in_the_export_dialog(sit_down: SitDown, tmp_path: Path) -> None:
    person = sit_down()
    for title, name in (("BMP", "map.bmp"), ("Table with bars (PSV)", "map.psv")):
        person.press("Export")
        dialog = next(each for each in person.window.findChildren(ExportDialog) if each.isVisible())
        dialog.form.format.setCurrentText(title)
        assert dialog.form.is_figure == (title == "BMP")
        assert dialog.export_to(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 50


def test_the_normaliser_is_in_the_switches_and_in_sessions(sit_down: SitDown, tmp_path: Path) -> None:
    person = sit_down()
    person.choose("Weights", "all halves")
    person.settle()
    assert (person.painted("weights") == 0.5).all()
    attnlab.save(person.experiment, tmp_path / "halves.attnlab")
    assert attnlab.load(tmp_path / "halves.attnlab").config.normalizer == "halves"
