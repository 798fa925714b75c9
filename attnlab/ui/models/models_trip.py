"""Opens a layer of a model in the playground, and runs the model with what was edited there."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QVBoxLayout

from attnlab.ui.base.workspace import Host
from attnlab.ui.models.model_state import ModelState
from attnlab.ui.models.model_values import Overview
from attnlab.ui.models.models_session import ModelView
from attnlab.ui.models.models_workspace import ModelsWorkspace
from attnlab.ui.models.origin_strip import OriginStrip, Truth
from attnlab.ui.workspaces.playground import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.scene import Scene
    from attnlab.ui.playground.playground import Playground


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The source of the open experiment: a layer of a model on a text, as it was opened."""

    overview: Overview
    layer: int
    experiment: "Experiment"

    @property
    def title(self) -> str:
        """Its title in the playground."""
        part = f" {self.overview.part}" if len(self.overview.facts.parts) > 1 else ""
        return f"{self.overview.facts.name} ·{part} layer {self.layer}"


class ModelsTrip(QObject):
    """Remembers for each opening of the document the layer that it came from."""

    def __init__(self, workspace: ModelsWorkspace, window: Host, playground: "Playground") -> None:
        super().__init__(workspace)
        self._workspace, self._window, self._playground = workspace, window, playground
        self._session = workspace.session
        self._origins: dict[int, Origin] = {}
        self.strip = OriginStrip()
        cast(QVBoxLayout, playground.lenses.layout()).insertWidget(0, self.strip)
        self.strip.send_requested.connect(self.send)
        self.strip.run_requested.connect(self.run_words)
        self.strip.leave_requested.connect(self._on_leave)
        playground.document.history_changed.connect(self._show_strip)
        for box in (playground.inputs.query_box, playground.inputs.memory_box):
            box.words_chosen.connect(self._on_words_chosen)
        workspace.header.open_requested.connect(self.open)

    @property
    def origin(self) -> Origin | None:
        """The layer that the open experiment came from; None if it is of no model."""
        return self._origins.get(self._playground.document.history.current.opening)

    @property
    def truth(self) -> Truth | None:
        """Whether the open experiment is still the model's; None if it came from none."""
        if (origin := self.origin) is None:
            return None
        now, then = self._playground.document.experiment, origin.experiment
        if now.embeddings is not then.embeddings or now.memory_embeddings is not then.memory_embeddings:
            return "invented"
        if now.weights is not then.weights or now.config is not then.config:
            return "edited"
        return "changed" if origin.overview.state.is_changed else "true"

    @Slot()
    def open(self) -> None:
        """Open the layer that is looked at, with its head in view."""
        if (found := self._session.overview) is not None:
            view = self._session.view
            self._session.ask_experiment(found.state, found.part, view.layer, partial(self._take, found, view))

    def _take(self, found: Overview, view: ModelView, experiment: "Experiment") -> None:
        from attnlab.document.document import View
        from attnlab.document.scene import Scene

        origin = Origin(found, view.layer, experiment)
        head = view.head if experiment.n_heads > 1 else 0
        self._playground.open(f"Open {origin.title}", Scene(experiment, origin.title), view=View(head=head))
        self._origins[self._playground.document.history.current.opening] = origin
        self._window.show_workspace(PLAYGROUND.name)
        self._show_strip()

    @Slot()
    def send(self) -> None:
        """Run the model with the layer as it is in the playground, and show what becomes of its answer."""
        if (origin := self.origin) is None:
            return
        experiment, found = self._playground.document.experiment, origin.overview
        session = self._session
        if session.state.source != found.state.source:
            self._workspace.open_model(found.state.source, found.state.text)
        self._window.show_existing(self._workspace)
        session.edit(
            f"edit layer {origin.layer}",
            lambda state: replace(state, text=found.state.text, target=found.state.target).send(
                found.part, origin.layer, experiment
            ),
        )
        self._workspace.panel.text.set_text(found.state.text)

    @Slot()
    def run_words(self) -> None:
        """Run the model on the words of the playground, and bring their true hidden states to it."""
        if (origin := self.origin) is None:
            return
        document, overview = self._playground.document, origin.overview
        opening, tokens = document.history.current.opening, document.experiment.tokens
        self.strip.say("running the model on these words…", "muted")
        self._session.ask_words(
            overview.state,
            overview.part,
            origin.layer,
            tokens,
            lambda found: self._take_words(opening, origin, tokens, *found),
            self.strip.say,
        )

    @Slot()
    def _on_words_chosen(self) -> None:
        """Run the model on words that were typed, so that it never has invented vectors without being asked."""
        origin = self.origin
        if origin is not None and self.truth == "invented" and self._tokens != origin.experiment.tokens:
            self.run_words()

    @property
    def _tokens(self) -> tuple[str, ...]:
        return self._playground.document.experiment.tokens

    def _take_words(
        self, opening: int, origin: Origin, tokens: tuple[str, ...], state: ModelState, found: "Experiment"
    ) -> None:
        document = self._playground.document
        if document.history.current.opening != opening or self._tokens != tokens:
            self._show_strip()  # other words were typed meanwhile
            return

        def bring(scene: "Scene") -> "Scene":
            e = scene.experiment
            config = e.config if e.config.mask is None else replace(e.config, mask=None)  # it has the size of the text
            return replace(scene, experiment=replace(found, weights=e.weights, config=config))

        if document.edit_scene("run the model on these words", bring):
            own = origin.experiment
            then = replace(document.experiment, weights=own.weights, config=own.config)
            overview = replace(origin.overview, state=state)
            self._origins[opening] = Origin(overview, origin.layer, then)
            self._show_strip()

    @Slot()
    def _show_strip(self) -> None:
        origin = self.origin
        self.strip.show_origin(origin.title if origin is not None else "", self.truth)

    @Slot()
    def _on_leave(self) -> None:
        self._window.show_existing(self._workspace)
