"""The window uses the shipped typeface everywhere, also in the parts made before the first picture."""

import subprocess
import sys

from tests.patience import PATIENCE_S

PROGRAM = """
from PySide6.QtGui import QFontInfo
from PySide6.QtWidgets import QApplication, QWidget
from attnlab.document.settings import Settings
from attnlab.files.source import Source
from attnlab.ui.app.application import make_application
from attnlab.ui.app.main_window import MainWindow

app = make_application()
window = MainWindow(Settings(), Source(preset="journey"), remember=False)
window.show()
app.processEvents()
widgets = window.findChildren(QWidget)
print(len(widgets) > 10, sorted({QFontInfo(widget.font()).family() for widget in widgets}))
window.close()
"""


def test_a_new_window_has_one_typeface() -> None:
    """In a separate process: once a window was open, the application has the typeface from the start."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=PATIENCE_S)
    assert ended.stdout == "True ['Inter']\n", ended.stderr
