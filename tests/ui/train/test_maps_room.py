"""The maps have the height that their width requires, with or without a scroll bar."""

from tests.nursery import run_python

PROGRAM = """
import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget
from attnlab.training.look import LayerMaps
from attnlab.ui.train.maps_view import MapsView

app = QApplication([])
tokens = tuple("abcdefgh")
weights = np.full((4, 8, 8), 1 / 8, np.float32)
view, inside, area = MapsView(), QWidget(), QScrollArea()
column = QVBoxLayout(inside)
column.addWidget(view)
column.addStretch(1)
area.setWidgetResizable(True)
area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
area.setWidget(inside)
view.show_maps([LayerMaps(f"decoder {n}", weights, None, tokens, tokens) for n in (1, 2)])
area.show()
barred = 0
for width, least in ((300, 500), (600, 250)):
    for height in range(least, least + 210, 3):
        area.resize(width, height)
        app.processEvents()
        last = view.cards[-1].rect.bottom()
        assert last < view.height() == view.heightForWidth(view.width()) < last + 20, (width, height)
        barred += area.verticalScrollBar().maximum() > 0
print("well", 0 < barred < 140)
"""


def test_no_height_makes_the_scroll_bar_alternate_for_ever() -> None:
    """In a separate process, because the bar once alternated in nested events until the stack overflowed."""
    ended = run_python("-c", PROGRAM)
    assert (ended.returncode, ended.stdout) == (0, "well True\n"), ended.stderr
