"""The open experiment's scheme of positions: its formula, its description, and the biases it adds."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.trace import Trace
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.ui.base.formula import formula_pixmap
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground.lenses.positions_parts import sentence_label
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


@guarded
class SchemeRow(FollowsTheme, QWidget):
    """The name of the scheme and the formula of the stage that it changes; below, its description."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.latex = ""
        self.scheme, self.formula, self.about = QLabel(), QLabel(), sentence_label(role="muted")
        self.scheme.setProperty("role", "strong")
        self.formula.setAccessibleName("Formula of the positions")
        lines = QVBoxLayout(self)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(4)
        head = QWidget()
        row = FlowLayout(head, gap=12)
        row.addWidget(self.scheme)
        row.addWidget(self.formula)
        lines.addWidget(head)
        lines.addWidget(self.about)  # below: beside, it would be a tall narrow column in a small window
        for label in (self.scheme, self.formula):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.hide()

    def show_experiment(self, e: "Experiment") -> None:
        """Show the scheme of an experiment."""
        scheme = POSITIONS[e.config.positions]
        latex = BY_NAME[_stage(e)].formula(e)
        self.scheme.setText(f"Positions here: {scheme.title}")
        self.formula.setVisible(scheme is not POSITIONS["none"])
        self.about.setText(scheme.about)
        self.show()
        if latex != self.latex:
            self.latex = latex
            self.restyle()

    def restyle(self) -> None:
        """Draw the formula."""
        if self.latex:
            ratio = self.devicePixelRatioF()
            self.formula.setPixmap(formula_pixmap(self.latex, px(14), palette_of(self).ink, ratio))


def _stage(e: "Experiment") -> str:
    """Return the stage that the scheme of an experiment changes."""
    scheme = POSITIONS[e.config.positions]
    return "rotated_queries" if scheme.rotate is not None else "biased" if scheme.bias is not None else "inputs"


def has_bias(e: "Experiment") -> bool:
    """Return whether the scheme of an experiment adds biases to its scores."""
    return POSITIONS[e.config.positions].bias is not None


def has_rotation(e: "Experiment") -> bool:
    """Return whether the scheme of an experiment rotates pairs of columns of its queries and keys."""
    return POSITIONS[e.config.positions].frequencies is not None


def bias_maps(e: "Experiment") -> MapData:
    """Return the biases that the scheme of an experiment adds to its scores, one map per head, in float64."""
    scheme = POSITIONS[e.config.positions]
    assert scheme.bias is not None
    trace = Trace(e, torch.device("cpu"), torch.float64)
    bias = trace.take(scheme.bias(e.n_heads, e.T_q, e.T_k, trace.parameters(scheme)))
    values: NDArray[np.float64] = bias.expand(e.n_heads, e.T_q, e.T_k).numpy()
    titles = tuple(f"head {head}" for head in range(e.n_heads))
    return MapData(values, "signed", find_scale(values, "signed"), None, e.tokens, e.key_tokens, titles)
