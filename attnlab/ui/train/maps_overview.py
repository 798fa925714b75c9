"""The maps of all layers and heads, the choice of a group of layers, and below them the course of each head."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.train.course_card import CourseCard
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.layer_labels import find_group
from attnlab.ui.train.maps_view import MapsView
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments

FIRST = "Computing the first maps…"
NONE = "This model has no attention: its decoder sees the source as one vector. There is no map to show."
TOP, BELOW, GAP = 4, 14, 10
"""Pixels above and below everything, and between its parts."""

ABOUT = {
    "encoder": "Attention from source to source",
    "decoder": "Attention from each output to the outputs before it",
    "cross": "Attention from the outputs to the source",
}


@guarded
class MapsOverview(QScrollArea):
    """Shows the maps of a moment, of all layers or of the group chosen for its run; they share the height with the
    course.
    """

    group_changed = Signal()
    """The user has chosen another group of layers; the moment is to be shown again."""
    height_shared = Signal(int)
    """The height in pixels for all maps at once has changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seen: Seen | None = None
        self._group: dict[tuple[str, str, int], str] = {}
        self._choices: Sequence[Choice] = ()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.none, self.groups = QLabel(FIRST), Segments("Visible layers")
        self.view, self.chart = MapsView(), CourseCard()
        self.none.setWordWrap(True)
        self.none.setProperty("role", "muted")
        self.none.setContentsMargins(4, 0, 4, 0)
        for part in (self.groups, self.view, self.chart):
            part.hide()
        inside = QWidget()
        inside.setProperty("ground", "ground")
        self.column = QVBoxLayout(inside)
        self.column.setContentsMargins(14, TOP, 14, BELOW)
        self.column.setSpacing(GAP)
        self.column.addWidget(self.none)
        self.column.addWidget(self.groups)
        self.column.addWidget(self.view)
        self.column.addLayout(frame_course(self.chart), 1)
        self.column.addStretch(0)
        self.setWidget(inside)
        self.groups.chosen.connect(self._on_group_chosen)

    def show_seen(self, seen: Seen, *, mean: bool) -> None:
        """Show the maps of a moment, or its gradients if it has them: those of each head, or the ``mean`` of them."""
        self._seen = seen
        maps, kind = (seen.gradients, "signed") if seen.gradients else (seen.look.maps, "probability")
        if mean:
            maps = tuple(each.average() for each in maps)
        self.view.show_maps(maps, kind, self._show_groups(seen))
        self.none.setText(NONE)
        self.none.setVisible(not maps)
        self.chart.show_seen(seen)
        self.chart.setVisible(bool(maps))
        self.view.setVisible(bool(maps))
        self._share_height()

    def reveal(self, layer: str) -> None:
        """Show all layers if a layer is not of the group that is shown."""
        if self._seen is not None and find_group(layer) != self._group.get(_run_of(self._seen)):
            self._on_group_chosen("")

    def _show_groups(self, seen: Seen) -> str:
        """Offer the groups of layers, if there are several, and return the one chosen for the run."""
        names = list(dict.fromkeys(find_group(each.layer) for each in seen.look.maps))
        choices = [Choice("", "All", "The maps of all layers")]
        choices += [Choice(name, name.capitalize(), ABOUT.get(name, "")) for name in names]
        if choices != self._choices:
            self._choices = choices
            self.groups.set_choices(choices)
        self.groups.setVisible(len(names) > 1)
        group = self._group.get(_run_of(seen), "")
        group = group if group in names else ""
        self.groups.set_value(group)
        return group

    @Slot(object)
    def _on_group_chosen(self, group: object) -> None:
        if self._seen is not None:
            self._group[_run_of(self._seen)] = str(group)
            self.group_changed.emit()

    def _share_height(self) -> None:
        """Let the maps fill the height that the chart leaves, or all of it where that is little."""
        whole = self.viewport().height() - TOP - BELOW
        if self.groups.isVisibleTo(self):
            whole -= self.groups.sizeHint().height() + self.column.spacing()
        chart = max(self.chart.minimumSizeHint().height(), min(self.chart.sizeHint().height(), whole // 5))
        left = whole - chart - self.column.spacing()
        self.view.set_room(left if 2 * left >= whole and self.view.fits(left) else whole)
        self.height_shared.emit(self.view.room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._share_height()
        super().resizeEvent(event)


def frame_course(chart: CourseCard) -> QVBoxLayout:
    """Return a layout that aligns a course with the cards of the maps, which leave some room for their shadows."""
    card = QVBoxLayout()
    card.setContentsMargins(4, 0, 4, 0)
    card.addWidget(chart)
    return card


def _run_of(seen: Seen) -> tuple[str, str, int]:
    return seen.spec.task, seen.spec.model.kind, seen.spec.train.seed
