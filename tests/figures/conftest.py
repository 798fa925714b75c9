"""The font of the maps that tests paint."""

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from attnlab.ui.base.theme import apply_theme


@pytest.fixture
def face(qapp: QApplication) -> QFont:
    """The program's own face, at the size of numbers in cells, in a program that is dressed as it is for people."""
    apply_theme(qapp, "light", 100)
    made = QFont("Inter")
    made.setPixelSize(10)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made
