"""Copying does not crash the process at its exit."""

import subprocess
import sys

import pytest

CHILD = """
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from attnlab.ui.base.clipboard import copy_data
app = QApplication([])
data = QMimeData()
data.setText("words")
data.setData("image/png", b"pixels")
{copy}(data)
del data
print(QGuiApplication.clipboard().text(), flush=True)
"""


def child(copy: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD.format(copy=copy)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_a_program_that_copied_before_exit_ends_without_a_crash() -> None:
    ended = child("copy_data")
    assert (ended.returncode, ended.stdout.strip()) == (0, "words"), ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="seen with the offscreen platform on Linux")
def test_without_releasing_the_clipboard_it_would_crash() -> None:
    assert child("QGuiApplication.clipboard().setMimeData").returncode < 0
