"""The workspace of real models: connects the session to the cards; commands go one way, what was computed the other."""

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from attnlab.ui.models.body_layout import BodyLayout
from attnlab.ui.models.effect_card import EffectCard
from attnlab.ui.models.head_card import HeadCard
from attnlab.ui.models.head_maps import Place, describe_change, make_head, make_lattice, make_overview, order_heads
from attnlab.ui.models.heads_overview import HeadsOverview
from attnlab.ui.models.map_window import find_window
from attnlab.ui.models.model_card import ModelCard
from attnlab.ui.models.model_panel import TEXT_LIMIT, ModelPanel
from attnlab.ui.models.model_state import Edited, ModelState, Off
from attnlab.ui.models.model_values import LayerMaps, Overview
from attnlab.ui.models.models_bar import ModelsBar
from attnlab.ui.models.models_footer import ModelsFooter
from attnlab.ui.models.models_session import ModelsSession, ModelView
from attnlab.ui.models.patterns_card import SCORES, PatternsCard
from attnlab.ui.models.targets_card import TargetsCard
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.pill import Pill

if TYPE_CHECKING:
    from attnlab.pretrained.stack_pass import Part
    from attnlab.ui.models.models_trip import ModelsTrip

ORDERS = {"layer": "Layer", "entropy": "Entropy", "distance": "Distance"} | {
    name: title.capitalize() for name, (title, _) in SCORES.items()
}
"""The orders of the overview; by a score the highest comes first."""


class Tools(Protocol):
    """What needs the window, such as dialogs and the playground; see :mod:`attnlab.ui.models.models_tools`."""

    trip: "ModelsTrip"

    def open_first(self) -> None:
        """Open the model with which the workspace begins."""

    def choose_model(self) -> None:
        """Open the list of models."""

    def choose_folder(self) -> None:
        """Ask for the folder of a model."""

    def choose_text(self) -> None:
        """Ask for a file with a text."""

    def show_texts(self) -> None:
        """Show the dialog of several texts."""

    def export_figure(self, *, everything: bool = False) -> None:
        """Show the export dialog, for one head or for all."""


class ModelsWorkspace(QObject):
    """Shows a model; implements the protocol of workspaces."""

    all_requested = Signal()
    """All heads are to be exported."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tools: Tools | None = None
        self.session = ModelsSession(self)
        self.header, self.footer, self.panel = ModelsBar(), ModelsFooter(), ModelPanel()
        self.overview, self.overview_card = HeadsOverview(), ModelCard("All heads")
        self.order = Pill("Sort by")
        self.head, self.patterns, self.effect, self.targets = HeadCard(), PatternsCard(), EffectCard(), TargetsCard()
        self.places: list[Place] = []  # the layer and head of each map of the overview
        self._narrow = False
        self._example = ""  # the text that came with the open model
        self.order.set_choices([Choice(name, title) for name, title in ORDERS.items()])
        self.overview_card.head.addWidget(self.order)
        self.overview_card.column.addWidget(self.overview, 1)
        self.room = BodyLayout(self.panel, self.overview_card, (self.patterns, self.effect), (self.head, self.targets))
        self._connect()
        self._show_view(self.session.view)
        self._show_state(self.session.state)

    def _connect(self) -> None:
        session = self.session
        session.overview_changed.connect(self._on_overview)
        session.layer_changed.connect(self._on_layer)
        session.patterns_changed.connect(self._on_patterns)
        session.effect_changed.connect(self._on_effect)
        session.state_changed.connect(self._show_state)
        session.view_changed.connect(self._show_view)
        session.busy_changed.connect(self.footer.show_busy)
        session.failed.connect(self.panel.say)
        session.text_chosen.connect(self.panel.text.set_text)
        session.stepped.connect(self._on_stepped)
        self.header.panel_toggled.connect(self.panel.setVisible)
        self.panel.text_edited.connect(
            lambda text: session.edit("retype the text", lambda s: s.with_text(text), "text")
        )
        self.panel.target_edited.connect(
            lambda text: session.edit("retype what was written", lambda s: s.with_target(text), "target")
        )
        self.panel.others_edited.connect(self._on_others_edited)
        self.panel.paste_requested.connect(self._on_paste)
        self.panel.part_chosen.connect(lambda part: session.show(part=part))
        self.panel.colouring_chosen.connect(lambda colouring: session.show(colouring=colouring))
        self.panel.restored.connect(session.restore)
        self.order.chosen.connect(lambda order: session.show(sort=order))
        self.overview.head_chosen.connect(self._on_head_chosen)
        self.overview.switch_requested.connect(lambda place: self.toggle_head(*self.places[place]))
        self.overview.menu_requested.connect(self._on_head_menu)
        self.head.values_chosen.connect(lambda values: session.show(values=values))
        self.head.cell_chosen.connect(lambda row, _: session.show(row=row))
        self.head.window_moved.connect(lambda query, key: session.show(centre=(query, key)))
        self.head.sheet.cell_pointed.connect(self._on_cell_pointed)
        self.head.switch_requested.connect(self.toggle_arrow)
        self.head.menu_requested.connect(self._on_cell_menu)
        self.effect.switched.connect(self._on_switched)
        self.effect.token_chosen.connect(self._on_token_chosen)
        self.targets.row_chosen.connect(lambda row: session.show(row=row))

    # Commands

    def open_model(self, source: str, text: str = "", others: tuple[str, ...] = ()) -> None:
        """Open a model with a text that goes with it; without, it reads the one that was typed, or an English one, or
        one of its own if it has no tokens for that.
        """
        borrowed, state = not text, self.session.state
        typed = state.text if state.text != self._example else ""
        self._example = text
        text = text or typed or FIRST_TEXT
        self.panel.text.set_text(text)
        self.session.open(state.open(source, text, others or state.others or OTHERS), borrowed=borrowed)

    def restore(self, state: ModelState, part: "Part | None", layer: int, head: int) -> None:
        """Open the model of a session, with its text and its changes, at a head."""
        self.panel.text.set_text(state.text)
        self.panel.target.set_text(state.target)
        self.session.look_first_at(part, layer, head)
        self.session.edit("open a model", lambda _: state)

    @Slot(str, int, int, int)
    def look_at(self, text: str, layer: int, head: int, row: int) -> None:
        """Show a head, of another text if one is given; −1 keeps the head, or chooses no row."""
        head = self.session.view.head if head < 0 else head
        if text and text != self.session.state.text:
            self.session.look_first_at(self.session.view.part, layer, head, row)
            self.set_text(text, "read one of the texts")
        else:
            self.session.show(layer=layer, head=head, row=row)

    def toggle_head(self, layer: int, head: int) -> None:
        """Switch a head off, or on again."""
        if (found := self.session.overview) is not None:
            what = Off(found.part, layer, head)
            self.session.switch((what,), not self.session.state.is_off(what))

    @Slot(int, int)
    def toggle_arrow(self, query: int, key: int) -> None:
        """Switch a single arrow of the head that is looked at off, or on again."""
        if (found := self.session.overview) is not None:
            view = self.session.view
            what = Off(found.part, view.layer, view.head, query, key)
            self.session.switch((what,), not self.session.state.is_off(what))

    def toggle_shown(self) -> None:
        """Switch the head that is looked at."""
        self.toggle_head(self.session.view.layer, self.session.view.head)

    # Shown by the window

    @property
    def busy(self) -> bool:
        """Whether anything is still to be computed."""
        return self.session.busy

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        """Return the bar, the cards, and the line below."""
        return self.header, self.room.body, self.footer

    def enter(self) -> None:
        """Open the first model, the first time."""
        if not self.session.state.source and self.tools is not None:
            self.tools.open_first()
        self.overview.setFocus()

    def leave(self) -> None:
        """Do nothing: what is computed meanwhile is shown later."""

    def arrange(self, width: int) -> None:
        """Lay the cards out for a width."""
        before, narrow = self._narrow, self.room.arrange(width)
        self._narrow = narrow
        self.header.offer_panel(narrow)
        if narrow != before:
            self.header.panel.setChecked(not narrow)  # the heads first, where there is little room
        self.panel.setVisible(not narrow or self.header.panel.isChecked())

    def say(self, sentence: str) -> None:
        """Show a sentence below."""
        self.footer.say(sentence)

    def take_key(self, _key: Qt.Key) -> bool:
        """Take no keys: the cards have their own."""
        return False

    def escape(self) -> None:
        """Leave the chosen row."""
        self.session.show(row=-1, centre=None)

    def stop(self) -> None:
        """End the thread; may be called twice."""
        self.session.stop()

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
    def _on_effect(self, effect: object) -> None:
        found = self.session.overview
        if found is not None and self.session.effect is not None:
            self.effect.show_effect(self.session.effect, found.facts.predicts)

    @Slot(object)
    def _show_state(self, state: ModelState) -> None:
        self.panel.text.show_text(state.text)
        self.panel.target.show_text(state.target)
        self.panel.others.show_text("\n".join(state.others))
        found = self.session.overview
        changes: list[Edited | Off] = [*state.edited, *state.off]
        self.panel.show_changes([(each, describe_change(each, found, state)) for each in changes])
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
        self.places = order_heads(found, self.session.patterns, view.sort)
        data = make_overview(found, self.places, view.colouring)
        self.overview.show_heads(data, make_lattice(found, self.places), self._find_chosen(), self._find_off())
        self.overview_card.about.setText(f"{found.maps.shape[0]} layers × {found.maps.shape[1]} heads")

    def _show_head(self) -> None:
        layer, view = self.session.layer, self.session.view
        if layer is None:
            return
        found = layer.overview
        data = make_head(layer, view.head, view.values, view.colouring)
        about = f"{len(found.queries)} × {len(found.keys)}"
        if view.values == "moved":
            about = "‖α v‖, without W_o"
            if layer.sum_difference is not None:
                about = f"heads and residual sum to the layer's output to {layer.sum_difference:.0e}"
        window = find_window(len(found.queries), len(found.keys), view.row, view.centre)
        if not window.covers((len(found.queries), len(found.keys))):
            about = f"tokens {window.query} to {window.last_query} of {len(found.queries)}"
        self.head.show_map(f"Layer {view.layer} · head {view.head}", about, data, view.row, view.values, window)
        self.targets.show_head(layer.weights[view.head], found.queries, found.keys, view.row, data.muted, window)

    def _show_patterns(self) -> None:
        found, view = self.session.overview, self.session.view
        if found is not None and (self.session.patterns or found.part == "cross"):
            self.patterns.show_head(self.session.patterns, view.layer, view.head, found.keys)

    def _show_switch(self) -> None:
        view, found = self.session.view, self.session.overview
        off = found is not None and self.session.state.is_off(Off(found.part, view.layer, view.head))
        self.effect.show_switch(f"L{view.layer} H{view.head}", off)

    def _find_chosen(self) -> int:
        view = self.session.view
        return self.places.index((view.layer, view.head)) if (view.layer, view.head) in self.places else 0

    def _find_off(self) -> list[int]:
        part = self.session.overview.part if self.session.overview is not None else None
        off = {(each.layer, each.head) for each in self.session.state.off if each.is_head and each.part == part}
        return [place for place, pair in enumerate(self.places) if pair in off]

    # What a person does

    @Slot(int)
    def _on_head_chosen(self, place: int) -> None:
        layer, head = self.places[place]
        self.session.show(layer=layer, head=head)

    @Slot(bool)
    def _on_switched(self, off: bool) -> None:
        if (found := self.session.overview) is not None:
            view = self.session.view
            self.session.switch((Off(found.part, view.layer, view.head),), off)

    @Slot(int)
    def _on_token_chosen(self, row: int) -> None:
        found, effect, state = self.session.overview, self.session.effect, self.session.state
        if found is None or effect is None or effect.prediction is None or effect.state != state:
            return  # it belongs to an earlier text
        label = f"write “{effect.prediction.rows[row][0].strip()}”"
        if "cross" in found.facts.parts:
            written = effect.prediction.write(state.target, row)
            self.panel.target.set_text(written)
            self.session.edit(label, lambda state: state.with_target(written))
        else:
            self.set_text(effect.prediction.write(state.text, row), label)
        self.session.show(row=-1)

    @Slot(str)
    def _on_others_edited(self, text: str) -> None:
        others = tuple(line for line in text.splitlines() if line.strip())[:8]
        self.session.edit("change the texts compared with", lambda state: state.with_others(others), "others")

    @Slot()
    def _on_paste(self) -> None:
        text = QApplication.clipboard().text()[:TEXT_LIMIT]
        if text.strip():
            self.set_text(text, "paste a text")
        else:
            self.panel.say("The clipboard has no text; copy one first.")

    def set_text(self, text: str, label: str) -> None:
        """Read another text."""
        self.panel.text.set_text(text)
        self.session.edit(label, lambda state: state.with_text(text))

    @Slot(object)
    def _on_cell_pointed(self, cell: object) -> None:
        self.footer.point(self.head.sheet.cell_text(cell) if cell is not None else "")  # type: ignore[arg-type]

    @Slot(int, QPoint)
    def _on_head_menu(self, place: int, at: QPoint) -> None:
        layer, head = self.places[place]
        found = self.session.overview
        off = found is not None and self.session.state.is_off(Off(found.part, layer, head))
        menu = self._make_menu(self.overview)
        menu.addAction(f"Switch L{layer} H{head} {'on' if off else 'off'}", lambda: self.toggle_head(layer, head))
        menu.addAction(f"Switch all others of layer {layer} off", lambda: self._keep_only(layer, head))
        menu.addSeparator()
        menu.addAction("Export all heads as one page…", self.all_requested.emit)
        menu.popup(at)

    def _keep_only(self, layer: int, head: int) -> None:
        if (found := self.session.overview) is not None:
            others = [Off(found.part, layer, other) for other in range(found.maps.shape[1]) if other != head]
            self.session.switch(others, True)

    @Slot(int, int, QPoint)
    def _on_cell_menu(self, query: int, key: int, at: QPoint) -> None:
        found, view = self.session.overview, self.session.view
        if found is None:
            return
        off = self.session.state.is_off(Off(found.part, view.layer, view.head, query, key))
        arrow = f"{found.queries[query].strip()} → {found.keys[key].strip()}"
        menu = self._make_menu(self.head.sheet)
        menu.addAction(f"Switch {arrow} {'on' if off else 'off'}", lambda: self.toggle_arrow(query, key))
        menu.popup(at)

    @staticmethod
    def _make_menu(owner: QWidget) -> QMenu:
        menu = QMenu(owner)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu


FIRST_TEXT = "The cat sat on the mat because it was comfortable"
OTHERS = ("The cat rested because the mat was soft", "A kitten slept on a cozy rug", "The dog barked at the mailman")
