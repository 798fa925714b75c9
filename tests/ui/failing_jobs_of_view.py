"""The cases of :mod:`tests.ui.test_every_job_fails` for the window of ``attnlab.view``."""

import numpy as np

from attnlab.document.settings import Settings
from attnlab.figures.array_maps import take_maps
from attnlab.ui.app.array_window import ArrayWindow
from tests.ui.failing_jobs import FaultyProgram, case


def open_array(program: FaultyProgram) -> ArrayWindow:
    window = ArrayWindow(take_maps(np.eye(3)), Settings())
    program.qtbot.addWidget(window)
    window.show()
    return window


@case("app/array_tools.py ArrayTools.copy_table", "writing the text")
def copy_table(program: FaultyProgram) -> None:
    window = open_array(program)
    program.plant("attnlab.ui.app.array_tools.write_text_of")
    window.tools.copy_table("CSV")
    program.qtbot.waitUntil(lambda: "Something went wrong" in window.readout.text())


@case("app/array_tools.py ArrayTools.save_to", "saving the maps")
def save_maps(program: FaultyProgram) -> None:
    window = open_array(program)
    program.plant("attnlab.ui.app.array_tools.write_maps")
    window.tools.save_to(program.folder / "a.npz")
    program.qtbot.waitUntil(lambda: "Something went wrong" in window.readout.text())
    assert not (program.folder / "a.npz").exists()
