"""The open model, its text and its changes: edits go to the reader's thread, and what it finds to the cards."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from attnlab.figures.scales import Colouring
from attnlab.ui.models.head_trials import HeadTrials
from attnlab.ui.models.model_history import ModelHistory
from attnlab.ui.models.model_reader import ModelReader
from attnlab.ui.models.model_state import Change, ModelState, Off
from attnlab.ui.models.model_values import Effect, LayerMaps, Overview
from attnlab.ui.train.model_worker import ModelWorker

if TYPE_CHECKING:
    from attnlab.figures.diagram.diagram_data import DiagramData
    from attnlab.pretrained.patterns import HeadPatterns
    from attnlab.pretrained.stack_pass import Part

KINDS = {
    "overview": "running the model",
    "layer": "computing a layer",
    "effect": "predicting",
    "patterns": "measuring the heads",
    "open": "opening a layer in the playground",
    "diagram": "drawing the model",
    "texts": "reading several texts",
    "answers": "predicting every token",
    "changes": "switching off one head after another",
}
CHANGES = "changes"
"""The order of the heads by what the answer loses without each."""
MOST_PREDICTIONS = 100
"""How many tokens are listed with their probabilities."""
FIXED = "A capture has the attention of one text; open the model itself to change anything."


FIRST_COLOURING = Colouring("percentile", mute_sinks=True)


@dataclass(frozen=True, slots=True)
class ModelView:
    """What is looked at: a part, a layer and a head of it, the row of a query, and the colours. Not undone.

    ``centre`` is the cell around which a map that is too large is shown; None for the chosen row, or the end.
    ``wanted`` is a part of the names of the predicted tokens that are listed. ``drawn`` says whether the diagram of the
    model is shown in place of all heads.
    """

    part: "Part | None" = None
    layer: int = 0
    head: int = 0
    row: int = -1
    centre: tuple[int, int] | None = None
    sort: str = "layer"
    values: str = "weights"
    wanted: str = ""
    drawn: bool = False
    colouring: Colouring = FIRST_COLOURING


class ModelsSession(QObject):
    """Owns the state and its history, and what was computed of it; views listen, and never write to each other."""

    overview_changed = Signal(object)
    layer_changed = Signal(object)
    patterns_changed = Signal(object)
    effect_changed = Signal(object)
    diagram_changed = Signal(object)
    diagram_failed = Signal(str)
    state_changed = Signal(object)
    view_changed = Signal(object)
    busy_changed = Signal(bool)
    stepped = Signal(object)
    """The state after undo or redo, which fields show even while they have the focus."""
    text_chosen = Signal(str)
    """A model reads an example of its own, since it cannot read the text of the one before."""
    failed = Signal(str)
    """One sentence why a model or a text cannot be shown; "" when the next one is."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._history = ModelHistory()
        self.view = ModelView()
        self.overview: Overview | None = None
        self.layer: LayerMaps | None = None
        self.patterns: tuple[HeadPatterns, ...] = ()
        self.effect: Effect | None = None
        self._first_look: tuple[Part | None, int, int, int] | None = None
        self._borrowed: ModelState | None = None  # a state whose text is that of another model
        self._new = False  # whether a model was opened whose heads nobody has chosen from
        self._reader = ModelReader()
        self._worker = ModelWorker(KINDS, _prepare, self)
        self.trials = HeadTrials(partial(self._ask, "changes"), self._reader, self)
        self.trials.changed.connect(self._settle)

    @property
    def state(self) -> ModelState:
        """The state that is shown, or will be as soon as it is computed."""
        return self._history.state

    @property
    def busy(self) -> bool:
        """Whether anything is still to be computed for the state."""
        return any(self._worker.has_job(kind) for kind in KINDS)

    @property
    def awaits_diagram(self) -> bool:
        """Whether the diagram of the state, if it is shown, is still to be drawn."""
        return self._worker.has_job("overview") or self._worker.has_job("diagram")

    @property
    def is_fixed(self) -> bool:
        """Whether a capture is open, which nothing can change."""
        found = self.overview
        return found is not None and found.facts.fixed and found.state.source == self.state.source

    # Edits

    def edit(self, label: str, change: Callable[[ModelState], ModelState], gesture: Hashable = None) -> None:
        """Replace the state by ``change(state)``; if it cannot be shown, a sentence follows and nothing changes."""
        state = change(self.state)
        if state == self.state:
            return
        if self.is_fixed and state.source == self.state.source:
            self.failed.emit(FIXED)
            self.state_changed.emit(self.state)
        else:
            self._history.push(label, state, gesture)
            self._announce()

    def open(self, state: ModelState, *, borrowed: bool) -> None:
        """Open a model; with a ``borrowed`` text it may read one of its own instead."""
        self._borrowed = state if borrowed else None
        self.edit("open a model", lambda _: state)

    def switch(self, what: Iterable[Off], off: bool) -> None:
        """Switch heads or arrows off, or on again."""
        listed = list(what)
        names = listed[0].place if len(listed) == 1 else f"{len(listed)} of them"
        self.edit(f"switch {'off' if off else 'on'} {names}", lambda state: state.switch(listed, off))

    @property
    def undo_label(self) -> str | None:
        """The name of the change that would be undone; None if there is none."""
        return self._history.undo_label

    @property
    def redo_label(self) -> str | None:
        """The name of the change that would be redone; None if there is none."""
        return self._history.redo_label

    def undo(self) -> None:
        """Go back one change."""
        if self._history.step(-1):
            self.stepped.emit(self.state)
            self._announce()

    def redo(self) -> None:
        """Go forward one change."""
        if self._history.step(1):
            self.stepped.emit(self.state)
            self._announce()

    def _announce(self) -> None:
        self.state_changed.emit(self.state)
        self._ask_overview()

    # Looking

    def look_first_at(self, part: "Part | None", layer: int, head: int, row: int = -1) -> None:
        """Show a head, and the row of a token, of the next model or text that is read, if it has these."""
        self._first_look = part, layer, head, row

    def show(self, **changes: Any) -> None:
        """Change fields of the view; another part or layer is computed."""
        before, self.view = self.view, replace(self.view, **changes)
        self._new = self._new and not {"layer", "head", "part"} & set(changes)
        if self.view == before:
            return
        self.view_changed.emit(self.view)
        if self.view.drawn and not before.drawn:
            self._ask_diagram()
        if (self.view.sort, self.view.row) != (before.sort, before.row):
            self._try_heads()
        if self.view.part != before.part:
            self._ask_overview()
        elif self.view.layer != before.layer:
            self._ask_layer()
        elif (self.view.row, self.view.wanted) != (before.row, before.wanted):
            self._ask_effect()

    # Computing

    def _ask(self, kind: str, job: Callable[[], Any], take: Callable[[Any], object]) -> None:
        failed = partial(self._refuse, self.state) if kind == "overview" else self.failed.emit
        self._worker.ask(kind, job, take, failed)
        self.busy_changed.emit(True)

    def _ask_overview(self) -> None:
        if self.state.source:
            same = self.overview is None or self.overview.state.source == self.state.source
            part = self.view.part if same else None  # another model begins with its first part
            part = self._first_look[0] if self._first_look is not None else part
            job = partial(self._reader.read_overview, self.state, part, fresh=self._borrowed == self.state)
            self._ask("overview", job, self._take_overview)

    def _take_overview(self, found: Overview) -> None:
        if found.asked != self.state:
            return
        if found.state != found.asked:
            self._history.correct(found.state)
            self.text_chosen.emit(found.state.text)
            self.state_changed.emit(found.state)
        before, self.overview = self.overview, found
        if before is None or before.facts != found.facts or before.part != found.part:
            self.view = replace(self.view, part=found.part, layer=found.n_layers - 1, head=0, row=-1, centre=None)
            self._new = self._first_look is None
        elif len(before.queries) != len(found.queries):
            self.view = replace(self.view, row=-1, centre=None)
        self._take_first_look(found)
        self.failed.emit("")
        self.overview_changed.emit(found)
        self.view_changed.emit(self.view)
        self._ask_layer()
        self._ask_effect()
        self._try_heads()
        self._ask_diagram()
        self._ask("patterns", partial(self._reader.read_patterns, found), partial(self._take_patterns, found))

    def _take_first_look(self, found: Overview) -> None:
        if self._first_look is not None:
            _, layer, head, row = self._first_look
            if layer < found.n_layers and head < found.maps.shape[1]:
                row = row if row < len(found.queries) else -1
                self.view = replace(self.view, part=found.part, layer=layer, head=head, row=row)
            self._first_look = None

    def _refuse(self, asked: ModelState, sentence: str) -> None:
        """Return to the state that was shown last, and say why the newer one cannot be."""
        if asked != self.state:
            return  # another state was asked for meanwhile
        good = self.overview.state if self.overview is not None else ModelState()
        self._history.refuse(good)
        self.failed.emit(sentence)
        self.state_changed.emit(self.state)
        self._settle()

    def _ask_layer(self) -> None:
        if (found := self.overview) is not None:
            layer = min(self.view.layer, found.n_layers - 1)
            self._ask("layer", partial(self._reader.read_layer, found, layer), self._take_layer)

    def _take_layer(self, found: LayerMaps) -> None:
        if found.overview is self.overview and found.layer == self.view.layer:
            self.layer = found
            self.layer_changed.emit(found)
        self._settle()

    def _take_patterns(self, of: Overview, found: "tuple[HeadPatterns, ...]") -> None:
        if of is self.overview:
            self.patterns = found
            self.patterns_changed.emit(found)
            if self._new and found:
                self._new = False
                best = choose_clearest(found, of.specials)
                self.show(layer=best.layer, head=best.head)
        self._settle()

    def _ask_effect(self) -> None:
        if (found := self.overview) is not None and not found.facts.fixed:
            wanted = self.view.wanted
            job = partial(self._reader.read_effect, found.state, self.find_place(), MOST_PREDICTIONS, wanted)
            self._ask("effect", job, self._take_effect)

    def _take_effect(self, found: Effect) -> None:
        if self.overview is not None and found.state == self.overview.state:
            self.effect = found
            self.effect_changed.emit(found)
        self._settle()

    def _try_heads(self) -> None:
        """Switch every head off alone, if they are sorted by that."""
        if (found := self.overview) is not None:
            self.trials.follow(found, self.find_place(), wanted=self.view.sort == CHANGES)

    def _ask_diagram(self) -> None:
        if (found := self.overview) is not None and self.view.drawn:
            job = partial(self._reader.read_diagram, found.state)
            self._worker.ask("diagram", job, partial(self._take_diagram, found), self._refuse_diagram)
            self.busy_changed.emit(True)

    def _take_diagram(self, of: Overview, found: "DiagramData") -> None:
        if of is self.overview:
            self.diagram_changed.emit(found)
        self._settle()

    def _refuse_diagram(self, sentence: str) -> None:
        self.diagram_failed.emit(sentence)
        self._settle()

    def find_place(self) -> int:
        """Return the token at which the model predicts: that of the chosen row; a mask, or the last, without one.

        An encoder in front of a decoder predicts nothing, so its rows do not count: −1 is the decoder's last token.
        """
        found = self.overview
        if found is None:
            return 0
        if found.part == "encoder" and "decoder" in found.facts.parts:
            return -1
        if self.view.row >= 0:
            return self.view.row
        mask = found.facts.mask
        return found.queries.index(mask) if mask in found.queries else len(found.queries) - 1

    def is_masked(self, query: int, key: int) -> bool:
        """Return whether a mask hides a cell of the layer that is looked at."""
        hidden = self.layer.hidden if self.layer is not None else None
        return hidden is not None and bool(hidden[query, key])

    def ask_experiment(
        self,
        state: ModelState,
        part: "Part",
        layer: int,
        take: Callable[[Any], object],
        on_failed: Callable[[str], object] | None = None,
    ) -> None:
        """Have a layer made into an experiment, and ``take`` called with it; or ``on_failed`` with a sentence."""
        job = partial(self._reader.read_experiment, state, part, layer)
        self._worker.ask("open", job, take, on_failed or self.failed.emit)

    def ask_words(
        self,
        state: ModelState,
        part: "Part",
        layer: int,
        tokens: Sequence[str],
        take: Callable[[Any], object],
        on_failed: Callable[[str], object],
    ) -> None:
        """Have other words read, and ``take`` called with their state and experiment; or ``on_failed``."""
        job = partial(self._reader.read_words, state, part, layer, tuple(tokens))
        self._worker.ask("open", job, take, on_failed)

    def ask_answers(self, take: Callable[[str], object], on_failed: Callable[[str], object]) -> None:
        """Have the probabilities of all tokens written as CSV, and ``take`` called with it, or ``on_failed``."""
        if (found := self.overview) is not None:
            job = partial(self._reader.read_answers, found.state, self.find_place())
            self._worker.ask("answers", job, take, on_failed)

    def ask_texts(
        self, texts: Sequence[str], take: Callable[[Any], object], on_failed: Callable[[str], object], owner: QObject
    ) -> None:
        """Have several texts read with the heads that are off, and ``take`` called with them, or ``on_failed``, while
        ``owner`` exists."""
        if (found := self.overview) is not None:
            job = partial(self._reader.read_texts, found.state, tuple(texts), found.part)
            self._worker.ask("texts", job, take, on_failed, owner)

    def remove(self, what: Change) -> None:
        """Switch a head or an arrow on again, or undo one edit of a layer."""
        self.edit("remove a change", lambda state: state.remove(what))

    def remove_all(self) -> None:
        """Leave the model as it is in its files."""
        self.edit("remove all changes", ModelState.plain)

    def _settle(self) -> None:
        if not self.busy:
            self.busy_changed.emit(False)

    def stop(self) -> None:
        """End the thread; may be called twice."""
        self._worker.stop()


def choose_clearest(rows: "Sequence[HeadPatterns]", specials: Sequence[int]) -> "HeadPatterns":
    """Return the head to begin with: an induction head, a column on a word, or whatever is clearest."""

    def rate(row: "HeadPatterns") -> float:
        column = row.column if row.strongest not in (0, *specials) else 0.0
        induction = 0.0 if isnan(row.induction) else row.induction  # a capture has none
        return max(2 * induction, 1.5 * column, row.previous, row.next, row.duplicate)

    return max(rows, key=rate)


def _prepare() -> None:
    from attnlab.compute.engine import prepare

    prepare()
