"""The cards of the workspace of models, and what they show of the session."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.ui.models.body_layout import BodyLayout
from attnlab.ui.models.change_words import describe_change, list_changes
from attnlab.ui.models.diagram_card import DiagramCard
from attnlab.ui.models.effect_card import EffectCard
from attnlab.ui.models.head_card import HeadCard
from attnlab.ui.models.head_maps import (
    Place,
    list_heads,
    make_head,
    make_lattice,
    make_overview,
    order_by_changes,
    order_heads,
)
from attnlab.ui.models.heads_overview import HeadsOverview
from attnlab.ui.models.map_window import describe_window, find_window
from attnlab.ui.models.model_card import ModelCard
from attnlab.ui.models.model_panel import ModelPanel
from attnlab.ui.models.model_state import ModelState, Off
from attnlab.ui.models.model_values import Effect, HeadChanges, LayerMaps, Overview
from attnlab.ui.models.models_bar import ModelsBar, write_difference
from attnlab.ui.models.models_footer import ModelsFooter
from attnlab.ui.models.models_session import CHANGES, ModelsSession, ModelView
from attnlab.ui.models.patterns_card import SCORES, PatternsCard
from attnlab.ui.models.targets_card import TargetsCard
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label
from attnlab.ui.widgets.fields.pill import Pill

if TYPE_CHECKING:
    from attnlab.figures.diagram.diagram_data import DiagramData

ORDERS = {"layer": "Layer", CHANGES: "Change of the answer", "entropy": "Entropy", "distance": "Distance"} | {
    name: title.capitalize() for name, (title, _) in SCORES.items()
}
"""The orders of the overview; by a score the highest comes first."""


class ModelsCards(QObject):
    """Owns the cards, the bar above and the line below, and shows in them what the session found."""

    def __init__(self, session: ModelsSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.header, self.footer, self.panel = ModelsBar(), ModelsFooter(), ModelPanel()
        self.overview, self.overview_card = HeadsOverview(), ModelCard("All heads")
        self.order = Pill("Sort by")
        self.head, self.patterns, self.effect, self.targets = HeadCard(), PatternsCard(), EffectCard(), TargetsCard()
        self.places: list[Place] = []  # the layer and head of each map of the overview
        self._drawn: tuple[object, ...] = ()  # what the overview shows
        self._is_drawn = False  # whether the diagram is shown in its place
        self.order.set_choices([Choice(name, title) for name, title in ORDERS.items()])
        self.overview_card.head.addWidget(self.order)
        self.legend = make_wrapped_label("caption")
        self.legend.setText(
            "The line below a map is the share of weight on words: not on the first token or separators."
        )
        self.overview_card.column.addWidget(self.overview, 1)
        self.overview_card.column.addWidget(self.legend)
        self.diagram = DiagramCard()
        self.room = BodyLayout(
            self.panel, self.overview_card, (self.patterns, self.effect), (self.head, self.targets), self.diagram
        )
        session.overview_changed.connect(self._on_overview)
        session.layer_changed.connect(self._on_layer)
        session.patterns_changed.connect(self._on_patterns)
        session.effect_changed.connect(self._on_effect)
        session.trials.changed.connect(self._on_changes)
        session.diagram_changed.connect(self._on_diagram)
        session.diagram_failed.connect(self.diagram.say)
        session.state_changed.connect(self._show_state)
        session.view_changed.connect(self._show_view)
        session.busy_changed.connect(self.footer.show_busy)
        session.failed.connect(self._on_failed)
        session.text_chosen.connect(self.panel.text.set_text)
        session.stepped.connect(self._on_stepped)
        self._show_view(session.view)
        self._show_state(session.state)

    # What was found

    @Slot(object)
    def _on_overview(self, found: Overview) -> None:
        self.header.show_model(found.facts.name)
        self.panel.show_facts(found.facts, len(found.queries))
        self.effect.show_fixed(found.facts.fixed)
        self.footer.show_overview(found)
        self._show_state(self.session.state)  # its arrows are named by the tokens
        self._show_overview()

    @Slot(object)
    def _on_layer(self, found: LayerMaps) -> None:
        view = self.session.view
        self.header.show_place(f"L{view.layer} H{view.head}", found, self.session.state.is_changed)
        self._show_head()

    @Slot(object)
    def _on_patterns(self, _found: object) -> None:
        self._show_patterns()
        if self.session.view.sort != "layer":
            self._show_overview()

    @Slot(object)
    def _on_effect(self, effect: Effect) -> None:
        if (found := self.session.overview) is not None:
            self.effect.show_effect(effect, found.facts.predicts, found.facts.mask)

    @Slot()
    def _on_changes(self) -> None:
        self._show_overview()
        self._show_rank()

    @Slot(object)
    def _on_diagram(self, data: "DiagramData") -> None:
        self.diagram.show_model(data)
        if self.diagram.presents_next and not self.session.awaits_diagram:
            self.diagram.present()
        self._show_diagram(self.session.view)

    def _show_diagram(self, view: ModelView) -> None:
        if not view.drawn:
            self.diagram.cancel_presentation()
        if view.drawn != self._is_drawn:  # laying the cards out anew takes as long as another head
            self._is_drawn = view.drawn
            self.header.pages.set_value(view.drawn)
            self.room.show_diagram(view.drawn)
        if view.drawn and view.part is not None:
            self.diagram.show_head(view.part, view.layer, view.head)

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        self.panel.say(sentence)
        if sentence:
            self.diagram.cancel_presentation()

    @Slot(object)
    def _show_state(self, state: ModelState) -> None:
        self.panel.text.show_text(state.text)
        self.panel.target.show_text(state.target)
        self.panel.others.show_text("\n".join(state.others))
        found = self.session.overview
        self.panel.show_changes([(each, describe_change(each, found, state)) for each in list_changes(found, state)])
        self._show_switch()
        if self.places:
            self.overview.show_marks(self._find_chosen(), self._find_off())

    @Slot(object)
    def _on_stepped(self, state: ModelState) -> None:
        self.panel.text.replace_text(state.text)
        self.panel.target.replace_text(state.target)
        self.panel.others.replace_text("\n".join(state.others))

    @Slot(object)
    def _show_view(self, view: ModelView) -> None:
        found, layer = self.session.overview, self.session.layer
        self.panel.show_part(view.part)
        self.panel.show_colouring(view.colouring)
        self.order.set_value(view.sort)
        self._show_diagram(view)
        if found is None:
            return
        self._show_overview()
        self._show_patterns()
        self._show_switch()
        if layer is not None and layer.overview is found and layer.layer == view.layer:
            self._on_layer(layer)

    # Drawing

    def _show_overview(self) -> None:
        found, view = self.session.overview, self.session.view
        if found is None:
            return
        self.overview_card.about.setText(self._describe_heads(found, view.sort))
        scores: object = self._find_changes() if view.sort == CHANGES else self.session.patterns
        drawn = found, scores if view.sort != "layer" else (), view.sort, view.colouring
        if drawn == self._drawn:
            self.overview.show_marks(self._find_chosen(), self._find_off())
            return
        self._drawn = drawn
        self.places = self._order_heads(found, view.sort)
        data = make_overview(found, self.places, view.colouring)
        shares = [] if found.on_words is None else [float(found.on_words[place]) for place in self.places]
        lattice = make_lattice(found, self.places)
        self.overview.show_heads(data, lattice, self._find_chosen(), self._find_off(), shares)
        self.legend.setVisible(bool(shares) and lattice is not None)

    def _find_changes(self) -> HeadChanges | None:
        """Return how much the answer changes without each head, once all were tried."""
        changes = self.session.trials.changes
        return changes if changes is not None and changes.is_complete else None

    def _order_heads(self, found: Overview, sort: str) -> list[Place]:
        changes = self._find_changes()
        if sort != CHANGES:
            return order_heads(found, self.session.patterns, sort)
        fits = changes is not None and changes.sizes.shape == found.maps.shape[:2]
        return order_by_changes(changes) if changes is not None and fits else list_heads(found)

    def _describe_heads(self, found: Overview, sort: str) -> str:
        changes, (n_layers, n_heads) = self.session.trials.changes, found.maps.shape[:2]
        if sort == CHANGES and changes is not None and not changes.is_complete:
            return f"switching heads off, layer {changes.layers_done + 1} of {n_layers}"
        return f"{n_layers} layers × {n_heads} heads"

    def _show_rank(self) -> None:
        """Say how much the answer needs the head that is looked at, once every head was tried."""
        view = self.session.view
        self.effect.show_rank(self._find_changes(), view.layer, view.head)

    def _show_head(self) -> None:
        layer, view = self.session.layer, self.session.view
        if layer is None:
            return
        found = layer.overview
        data = make_head(layer, view.head, view.values, view.colouring)
        about, note = f"{len(found.queries)} × {len(found.keys)}", ""
        if view.values == "moved":
            note = "‖α v‖, without W_o"
            if layer.sum_difference is not None:
                within = write_difference(layer.sum_difference)
                note = f"All heads and the residual sum to the layer’s output within {within}."
        window = find_window(len(found.queries), len(found.keys), view.row, view.centre)
        if not window.covers((len(found.queries), len(found.keys))):
            about = describe_window(window, len(found.keys))
        self.head.show_map(f"Layer {view.layer} · head {view.head}", about, data, view.row, view.values, window, note)
        self.targets.show_head(layer.weights[view.head], found.queries, found.keys, view.row, data, window)

    def _show_patterns(self) -> None:
        found, view = self.session.overview, self.session.view
        if found is not None and (self.session.patterns or found.part == "cross"):
            share = None if found.on_words is None else float(found.on_words[view.layer, view.head])
            self.patterns.show_head(self.session.patterns, view.layer, view.head, found.keys, share)

    def _show_switch(self) -> None:
        view, found = self.session.view, self.session.overview
        off = found is not None and self.session.state.is_off(Off(found.part, view.layer, view.head))
        self.effect.show_switch(f"L{view.layer} H{view.head}", off)
        self._show_rank()

    def _find_chosen(self) -> int:
        view = self.session.view
        return self.places.index((view.layer, view.head)) if (view.layer, view.head) in self.places else 0

    def _find_off(self) -> list[int]:
        part = self.session.overview.part if self.session.overview is not None else None
        off = {(each.layer, each.head) for each in self.session.state.off if each.is_head and each.part == part}
        return [place for place, pair in enumerate(self.places) if pair in off]
