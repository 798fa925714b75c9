"""The cases of :mod:`tests.ui.test_every_job_fails` for the window of ``attnlab.view``."""

import numpy as np

from attnlab.document.settings import Settings
from attnlab.figures.array_maps import take_maps
from attnlab.ui.app.array_window import ArrayWindow
from tests.ui.failing_jobs import Desk, case


def open_array(desk: Desk) -> ArrayWindow:
    window = ArrayWindow(take_maps(np.eye(3)), Settings())
    desk.qtbot.addWidget(window)
    window.show()
    return window


@case("app/array_tools.py ArrayTools.copy_table", "writing the text")
def copy_table(desk: Desk) -> None:
    window = open_array(desk)
    desk.plant("attnlab.ui.app.array_tools.write_text_of")
    window.tools.copy_table("CSV")
    desk.qtbot.waitUntil(lambda: "Something went wrong" in window.readout.text())


@case("app/array_tools.py ArrayTools.save_to", "saving the maps")
def save_maps(desk: Desk) -> None:
    window = open_array(desk)
    desk.plant("attnlab.ui.app.array_tools.write_maps")
    window.tools.save_to(desk.folder / "a.npz")
    desk.qtbot.waitUntil(lambda: "Something went wrong" in window.readout.text())
    assert not (desk.folder / "a.npz").exists()
