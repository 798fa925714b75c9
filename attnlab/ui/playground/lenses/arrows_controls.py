"""The choices of the Arrows lens: what is drawn, in which plane, and what follows a drag."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.attention.registries.positions import POSITIONS
from attnlab.ui.playground.lenses.arrows_content import Choices
from attnlab.ui.playground.lenses.positions_parts import Fields
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

_DRAWN = (
    Choice("pairs", "Queries and keys", "The vectors that the scores are computed from"),
    Choice("inputs", "Tokens", "The rows of X, and of M if there is one, with positions added"),
)
_PLANES = (
    Choice("principal", "Strongest directions", "The plane that shows the most of all lengths (principal components)"),
    Choice("query", "Query and best keys", "The plane of the held query that lies closest to its two best keys"),
    Choice("columns", "Two columns", "Two columns as they are"),
)
_FOLLOWS = (
    Choice("matrix", "the matrix", "The smallest change of the matrix; the arrows of its colour move along"),
    Choice("token", "the token", "The token’s row of X; its query, its key and its value all move"),
)
_ROTATED = (
    Choice(True, "after", "The queries and keys that the scores use, rotated by their positions"),
    Choice(False, "before", "The queries and keys before they are rotated by their positions"),
)


class ArrowControls(QWidget):
    """Emits ``changed`` after each choice; choices that make no difference to the layer are hidden."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawn = self._add_choice("What the arrows are", _DRAWN, "pairs")
        self._kind = self._add_choice("Plane", _PLANES, "principal")
        self._follows = self._add_choice("What follows a drag", _FOLLOWS, "matrix")
        self._rotated = self._add_choice("Rotation by positions", _ROTATED, True)
        self.fields = Fields()
        self._across = self.fields.add("Column across", "Column across", "The column drawn to the right", (0, 1), 0)
        self._up = self.fields.add("Column up", "up", "The column drawn upwards", (0, 1), 1)
        self.fields.changed.connect(self.changed)
        row = FlowLayout(gap=12)
        row.setContentsMargins(0, 0, 0, 0)
        self._groups = {
            "drawn": self._drawn,
            "kind": self._group("Plane", self._kind),
            "follows": self._group("A drag changes", self._follows),
            "rotated": self._group("Rotation", self._rotated),
            "fields": self.fields,
        }
        for group in self._groups.values():
            row.addWidget(group)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)

    def _add_choice(self, name: str, choices: tuple[Choice, ...], value: object) -> Segments:
        segments = Segments(name)
        segments.set_choices(choices)
        segments.set_value(value)
        segments.chosen.connect(self._on_chosen)
        return segments

    def _group(self, title: str, segments: Segments) -> QWidget:
        group, label = QWidget(), QLabel(title)
        label.setProperty("role", "muted")
        line = FlowLayout(group, gap=6)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(label)
        line.addWidget(segments)
        return group

    @property
    def drawn(self) -> str:
        """What the first plane shows: "pairs" or "inputs"."""
        return str(self._drawn.value())

    def draw(self, drawn: str) -> None:
        """Choose what the first plane shows, without the signal."""
        self._drawn.set_value(drawn)

    @property
    def follows(self) -> str:
        """What follows a drag of a query, key or value: "matrix" or "token"."""
        return str(self._follows.value())

    @property
    def choices(self) -> Choices:
        """The chosen plane."""
        kind, rotated = str(self._kind.value()), bool(self._rotated.value())
        return Choices(kind, self._across.value(), self._up.value(), rotated)

    def fit(self, e: "Experiment") -> None:
        """Show the choices that a layer has."""
        most = max(e.d_model, e.memory.shape[1], e.d_v) if self.drawn == "inputs" else max(e.d_k, e.d_v)
        for box in (self._across, self._up):
            box.setMaximum(max(most - 1, 1))
        reason = "Tokens are neither queries nor keys" if self.drawn == "inputs" else ""
        self._kind.set_choices([replace(one, reason=reason if one.value == "query" else "") for one in _PLANES])
        self._groups["kind"].setVisible(most > 2)
        self._groups["fields"].setVisible(most > 2 and self._kind.value() == "columns")
        self._groups["follows"].setVisible(self.drawn == "pairs")
        self._groups["rotated"].setVisible(POSITIONS[e.config.positions].rotate is not None and self.drawn == "pairs")
        self._shown = e

    def _on_chosen(self, _: object) -> None:
        self.fit(self._shown)
        self.changed.emit()
