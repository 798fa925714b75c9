"""The card over a slide that lists the keys."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_text import make_face
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import set_sheet

KEYS = (
    ("→ Space PageDown click", "next"),
    ("← PageUp", "back"),
    ("Home  End", "first, last step"),
    ("7 Enter", "go to step 7; during a vote, 07 Enter"),
    ("1 – 4", "count a vote; Shift removes it"),
    ("B or .   W", "black, white; any key returns"),
    ("Ctrl and an arrow", "walk the cells of the map, for a screen reader"),
    ("S", "spotlight at the mouse; the wheel resizes it"),
    ("E", "edit numbers; Ctrl+Z undoes, R restores"),
    ("L", "labels of turning arrows on or off"),
    ("O", "operate the lens, as in the window"),
    ("D", "in a tour: stages, rows, cells, terms"),
    ("N", "speaker window with notes and clock"),
    ("M", "move to the other screen"),
    ("T", "theme: light, dark, high contrast"),
    ("+  −", "font size"),
    ("H or ?", "this card"),
    ("Esc  F5", "leave"),
)
_SAID = str.maketrans({"→": "Right", "←": "Left", "+": "plus", "−": "minus", ".": "full stop", "?": "question mark"})
"""Keys whose signs speech leaves out."""


@guarded
class HelpCard(QWidget):
    """Lists the keys of the presentation; a click closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("help")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Keys of the presentation")
        self._grid = QGridLayout(self)
        self._labels: list[tuple[QLabel, QLabel]] = []
        for row, (keys, what) in enumerate(KEYS):
            pair = QLabel(keys), QLabel(what)
            for column, label in enumerate(pair):
                label.setTextFormat(Qt.TextFormat.PlainText)
                self._grid.addWidget(label, row, column)
            self._labels.append(pair)
        self.hide()

    def set_look(self, palette: Palette, unit: float) -> None:
        """Apply a palette, scaled for a slide of which ``unit`` is a hundredth of the height."""
        size, pad = 2.5 * unit, round(4 * unit)
        set_sheet(  # before the fonts, which a new style sheet takes away
            self,
            f"#help {{ background: {palette.surface}; border: 1px solid {palette.hairline};"
            f" border-radius: {round(1.5 * unit)}px; }} QLabel {{ color: {palette.ink}; background: transparent; }}",
        )
        self.ensurePolished()
        for keys, what in self._labels:
            keys.setFont(make_face(size, bold=True))
            what.setFont(make_face(size))
        self._grid.setContentsMargins(pad, pad, pad, pad)
        self._grid.setVerticalSpacing(round(0.9 * unit))
        self._grid.setHorizontalSpacing(round(QFontMetricsF(make_face(size)).height()))
        self.adjustSize()

    def showEvent(self, event: QShowEvent) -> None:
        keys = (f"{keys.translate(_SAID)}: {what}" for keys, what in KEYS)
        announce(f"{self.accessibleName()}. {'. '.join(keys)}.", self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.hide()
