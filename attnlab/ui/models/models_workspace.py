"""The workspace of real models: connects the session to the cards; commands go one way, what was computed the other."""

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.ui.models.change_words import name_arrow
from attnlab.ui.models.head_maps import Place
from attnlab.ui.models.model_panel import TEXT_LIMIT
from attnlab.ui.models.model_state import ModelState, Off
from attnlab.ui.models.models_cards import ModelsCards
from attnlab.ui.models.models_menus import ModelsMenus
from attnlab.ui.models.models_session import ModelsSession

if TYPE_CHECKING:
    from attnlab.pretrained.stack_pass import Part
    from attnlab.ui.models.models_trip import ModelsTrip


class Tools(Protocol):
    """What needs the window, such as dialogs and the playground; see :mod:`attnlab.ui.models.models_tools`."""

    trip: "ModelsTrip"

    def open_first(self) -> None:
        """Open the model with which the workspace begins."""

    def open_shipped(self) -> None:
        """Open one of the models that ship."""

    def choose_model(self) -> None:
        """Open the list of models."""

    def choose_folder(self) -> None:
        """Ask for the folder of a model."""

    def choose_text(self) -> None:
        """Ask for a file with a text."""

    def show_texts(self) -> None:
        """Show the dialog of several texts."""

    def copy_picture(self) -> None:
        """Copy what is shown as a picture."""

    def export_figure(self, *, everything: bool = False) -> None:
        """Show the export dialog, for one head or for all."""


class ModelsWorkspace(QObject):
    """Shows a model; implements the protocol of workspaces."""

    title_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tools: Tools | None = None
        self.session = ModelsSession(self)
        self.cards = cards = ModelsCards(self.session, self)
        self.header, self.footer, self.panel = cards.header, cards.footer, cards.panel
        self.overview, self.head, self.patterns = cards.overview, cards.head, cards.patterns
        self.effect, self.targets, self.order = cards.effect, cards.targets, cards.order
        self.room, self.menus = cards.room, ModelsMenus(cards, self)
        self._narrow = False
        self._example = ""  # the text that came with the open model
        self.refusal = ""
        """Why the first model could not be opened; "" if it could."""
        self._connect()

    @property
    def places(self) -> list[Place]:
        """The layer and head of each map of the overview."""
        return self.cards.places

    def _connect(self) -> None:
        session = self.session
        self.header.panel_toggled.connect(self.panel.setVisible)
        self.panel.said.connect(lambda: self.header.panel.setChecked(True))  # the panel may be hidden
        self.panel.text_edited.connect(
            lambda text: session.edit("retype the input", lambda s: s.with_text(text), "text")
        )
        self.panel.target_edited.connect(
            lambda text: session.edit("retype what was written", lambda s: s.with_target(text), "target")
        )
        self.panel.others_edited.connect(self._on_others_edited)
        self.panel.paste_requested.connect(self._on_paste)
        self.panel.part_chosen.connect(lambda part: session.show(part=part))
        self.panel.colouring_chosen.connect(lambda colouring: session.show(colouring=colouring))
        self.panel.removed.connect(session.remove)
        self.panel.all_removed.connect(session.remove_all)
        self.order.chosen.connect(lambda order: session.show(sort=order))
        self.overview.head_chosen.connect(self._on_head_chosen)
        self.overview.switch_requested.connect(lambda place: self.toggle_head(*self.places[place]))
        self.head.values_chosen.connect(lambda values: session.show(values=values))
        self.head.cell_chosen.connect(lambda row, _: session.show(row=row))
        self.targets.window_moved.connect(lambda query, key: session.show(centre=(query, key)))
        self.head.sheet.cell_pointed.connect(self._on_cell_pointed)
        self.head.switch_requested.connect(self.toggle_arrow)
        self.effect.switched.connect(self._on_switched)
        self.effect.wanted_changed.connect(lambda wanted: session.show(wanted=wanted))
        self.effect.token_chosen.connect(self._on_token_chosen)
        self.header.drawn_chosen.connect(lambda drawn: session.show(drawn=drawn))
        self.cards.diagram.head_wanted.connect(self._on_block_chosen)
        self.cards.diagram.present_wanted.connect(self.present)
        self.cards.diagram.maps_wanted.connect(lambda: session.show(drawn=False))
        self.targets.row_chosen.connect(lambda row: session.show(row=row))
        session.failed.connect(self._on_failed)
        session.overview_changed.connect(self._on_overview)

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
        """Switch a single arrow of the head that is looked at off, or on again; one that is masked has no weight."""
        if (found := self.session.overview) is None:
            return
        view = self.session.view
        what = Off(found.part, view.layer, view.head, query, key)
        off = self.session.state.is_off(what)
        if self.session.is_masked(query, key) and not off:
            self.say(f"{name_arrow(found, query, key)} is masked, so there is no weight to switch off.")
        else:
            self.session.switch((what,), not off)

    def toggle_shown(self) -> None:
        """Switch the head that is looked at."""
        self.toggle_head(self.session.view.layer, self.session.view.head)

    # Shown by the window

    def title(self) -> str:
        """Return the name of the model for the title of the window; "Models" before one is read."""
        found = self.session.overview
        return found.facts.name if found is not None else "Models"

    @property
    def busy(self) -> bool:
        """Whether anything is still to be computed."""
        return self.session.busy

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        """Return the bar, the cards, and the line below."""
        return self.header, self.room.body, self.footer

    def enter(self) -> None:
        """Open the first model on the first visit."""
        if not self.session.state.source and self.tools is not None:
            self.tools.open_first()
        self.overview.setFocus()

    def leave(self) -> None:
        """Present nothing over another workspace; what is computed meanwhile is shown later."""
        self.cards.diagram.cancel_presentation()

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

    def present(self) -> bool:
        """Present the diagram of the model, in place of the maps, once it is drawn; False if no model is open."""
        card, drawn = self.cards.diagram, self.session.view.drawn
        if self.session.overview is None:
            return False
        if drawn and not self.session.awaits_diagram:
            card.present()
        else:
            card.presents_next, card.returns = True, card.returns or not drawn
            self.session.show(drawn=True)
        return True

    def escape(self) -> None:
        """Leave the chosen row."""
        self.session.show(row=-1, centre=None)

    def stop(self) -> None:
        """End the thread; may be called twice."""
        self.session.stop()

    # What a person does

    @Slot(int)
    def _on_head_chosen(self, place: int) -> None:
        layer, head = self.places[place]
        self.session.show(layer=layer, head=head)

    @Slot(str, int, int)
    def _on_block_chosen(self, part: "Part", layer: int, head: int) -> None:
        """Show the maps of a block of the diagram."""
        if part != self.session.view.part:
            self.session.look_first_at(part, layer, head)
        self.session.show(part=part, layer=layer, head=head)

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
        token = effect.prediction.rows[row][0].strip()
        label = f"write “{token}”"
        if "cross" in found.facts.parts:
            before, written = state.target, effect.prediction.write(state.target, row)
            self.panel.target.set_text(written)
            self.session.edit(label, lambda state: state.with_target(written))
        else:
            before, written = state.text, effect.prediction.write(state.text, row)
            self.set_text(written, label)
        if written == before:
            self.panel.say(f"“{token}” is a part of a character, which no text can end with; choose another token.")
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

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        """Open a model that ships below the reason why the first could not be, so that the room is not empty."""
        if sentence and not self.refusal and not self.session.state.source and self.tools is not None:
            self.refusal = sentence
            once = Qt.ConnectionType.SingleShotConnection
            self.session.overview_changed.connect(self._say_refusal, once)
            self.tools.open_shipped()

    @Slot(object)
    def _on_overview(self, _found: object) -> None:
        self.title_changed.emit()

    @Slot(object)
    def _say_refusal(self, _found: object) -> None:
        self.panel.say(self.refusal)

    @Slot(object)
    def _on_cell_pointed(self, cell: object) -> None:
        self.footer.point(self.head.sheet.cell_text(cell) if cell is not None else "")  # type: ignore[arg-type]


FIRST_TEXT = "The cat sat on the mat because it was comfortable"
OTHERS = ("The cat rested because the mat was soft", "A kitten slept on a cozy rug", "The dog barked at the mailman")
