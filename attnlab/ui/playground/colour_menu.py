"""The menu of a card's colours: where the scale ends, how it curves, whether each head has its own, muted sinks."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from attnlab.attention.stages.table import BY_NAME, kind_of
from attnlab.figures.scales import LONG_ROW, SCALES, Colouring

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document

TIPS = {
    "full": "The last colour stands for 1, so maps of different texts can be compared.",
    "largest": "The last colour stands for the largest number.",
    "percentile": "One number in a hundred lies beyond the last colour; the colour bar then says “≥”.",
    "sqrt": "Small numbers get stronger colours: a quarter of the largest number is halfway along the scale.",
    "log": "Every factor of ten is the same step in colour, over four powers of ten.",
}
EACH_HEAD = "A scale for each head"
MUTE_SINKS = "Mute sinks"
MUTE_TIP = "Columns of the first token and of separators such as [SEP] become grey and do not count in the scale."


class ColourMenu(QMenu):
    """Offers the choices for the colours of a stage, and calls ``choose`` with the new ones."""

    def __init__(
        self,
        e: "Experiment",
        stage: str,
        current: Colouring,
        choose: Callable[[Colouring], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self.setTitle(f"Colours of {BY_NAME[stage].noun}")
        self._choose = choose
        entry = BY_NAME[stage]
        kind = kind_of(entry, e)
        scales = QActionGroup(self)
        for name, title in SCALES.items():
            if name != "full" or kind == "probability":
                tip = TIPS.get(name, _describe_automatic(kind, e.T_k if entry.is_map else 0))
                scales.addAction(self._offer(title, tip, name == current.scale, replace(current, scale=name)))
        self.addSeparator()
        if entry.has_heads and e.n_heads > 1:
            tip = "Each head’s map has a scale that ends at a number of its own."
            self._offer(EACH_HEAD, tip, current.each_head, replace(current, each_head=not current.each_head))
        if entry.axes[-1] == "key":
            self._offer(MUTE_SINKS, MUTE_TIP, current.mute_sinks, replace(current, mute_sinks=not current.mute_sinks))

    def _offer(self, title: str, tip: str, on: bool, choice: Colouring) -> QAction:
        action = self.addAction(title)
        action.setCheckable(True)
        action.setChecked(on)
        action.setToolTip(tip)
        action.triggered.connect(lambda: self._choose(choice))
        return action


def make_colour_menu(document: "Document", stage: str, parent: QWidget) -> ColourMenu:
    """Return the menu of the colours of a stage, which changes the view of a document."""

    def choose(colouring: Colouring) -> None:
        document.show(colours=document.view.with_colouring(stage, colouring))

    return ColourMenu(document.experiment, stage, document.view.colouring(stage), choose, parent)


def _describe_automatic(kind: str, columns: int) -> str:
    if kind != "probability":
        return "The last colour stands for the largest number."
    if columns <= LONG_ROW:
        return f"The last colour stands for 1; in rows of more than {LONG_ROW} keys, for less."
    return "The last colour stands for a number that about two weights in each row exceed."
