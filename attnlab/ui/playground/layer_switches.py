"""Every switch of the layer as a pill, its settings below its choices. Turns choices into edits.

They have one row; if it is too short, the least used ones are in the list of a last pill.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from attnlab.attention import edits
from attnlab.attention.edits import stack_edits
from attnlab.attention.registries import registry
from attnlab.attention.registries.masks import MASKS
from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.base.number_text import parse_number
from attnlab.ui.playground import layer_fields
from attnlab.ui.playground.more_pill import MorePill
from attnlab.ui.widgets.fields.option_field import write_number
from attnlab.ui.widgets.fields.pill import Choice, Pill
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.layouts.overflow_row import OverflowRow

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document, View

SCALES = (
    Choice("sqrt_d_k", "1/√d_k", "Divided by the square root of the head size (Vaswani et al. 2017)"),
    Choice("none", "none", "Scores are not scaled"),
    Choice("sqrt_d_model", "1/√d_model", "Divided by the square root of d_model: a common mistake"),
)


class LayerSwitches(QWidget):
    """Shows and edits the document's configuration; emits the choice of visible heads."""

    head_chosen = Signal(object)
    painting_toggled = Signal()
    mask_cleared = Signal()

    def __init__(self, document: "Document", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown_state: tuple[object, ...] = ()
        self._painting = False
        self._row = OverflowRow()
        self.setLayout(self._row)
        self.causal = Switch("Causal")
        self.causal.setToolTip("Causal mask: no query sees the keys after it")
        self.causal.clicked.connect(self._on_causal)
        self._row.addWidget(self.causal)
        self.masks = self._pill("Mask", "Masks besides the causal one, and the value of masked scores")
        self.scale = self._pill("Scale", "The number that scores are divided by")
        self.scale.set_choices(SCALES)
        self.scale.set_entry("divide by …", _divisor, lambda scale: f"÷ {scale:g}")
        self.scale.chosen.connect(self._on_scale)
        self.heads = self._pill("Heads", "The number of heads, and their settings")
        self.heads.set_entry("number of heads …", self._head_count)
        self.heads.chosen.connect(self._on_heads)
        self.shown_heads = self._pill("Show", "Which heads the cards show")
        self.shown_heads.chosen.connect(self.head_chosen)
        self.pills: dict[str, Pill] = {}
        for choice in registry.CHOICES:
            if not choice.within:
                pill = self.pills[choice.field] = self._pill(choice.title, choice.about)
                pill.setProperty("field", choice.field)
                pill.chosen.connect(self._on_registry)
        self.layer = self._pill("Layer", "The layer of the stack that is shown; each reads what leaves the one below")
        self.layer.chosen.connect(self._on_layer)
        for pill in (self.scale, self.shown_heads, self.pills["normalizer"]):
            pill.drops_label = True
        for pill in (self.masks, self.pills["positions"], self.pills["block"]):
            pill.drops_none = True
        self.by_name = {"masks": self.masks, "scale": self.scale, "heads": self.heads, **self.pills}
        self.by_name["layer"] = self.layer
        self.more = MorePill(lambda: self._row.left_out, self)
        self._row.set_more(self.more, self._list_least_used())
        self._row.left_out_changed.connect(self.more.refresh)
        document.scene_changed.connect(self.refresh)
        document.view_changed.connect(self._on_view_changed)
        self.refresh()

    def _pill(self, title: str, about: str) -> Pill:
        pill = Pill(title, self)
        pill.setToolTip(about)
        pill.field_changed.connect(self._on_field)
        self._row.addWidget(pill)
        return pill

    def _list_least_used(self) -> list[Pill]:
        """Return the pills in the order in which they lose their place in the row."""
        choices = [self.pills[name] for name in ("block", "score", "positions", "normalizer")]
        others = [pill for pill in self.pills.values() if pill not in choices]
        pills = [*others, *choices, self.masks, self.scale, self.heads, self.shown_heads, self.layer]
        for pill in pills:
            pill.stand_in = self.more
        return pills

    def show_painting(self, on: bool) -> None:
        """Show whether the mask is being painted on the cards."""
        self._painting = on
        self.masks.set_fields(layer_fields.mask_fields(self._document.experiment, on))

    @Slot()
    def refresh(self) -> None:
        """Show the document's configuration; a dragged number changes none of it."""
        e = self._document.experiment
        shown = (e.config, e.T_q, e.T_k, e.d_model, e.d_k, e.d_v, e.memory.shape, e.layer, e.n_layers, e.n_items)
        if shown == self._shown_state:
            return
        self._shown_state = shown
        self.causal.setChecked(e.config.causal)
        self.masks.set_text(layer_fields.mask_text(e))
        self.masks.set_fields(layer_fields.mask_fields(e, self._painting))
        self.scale.set_value(e.config.scale)
        self.heads.set_choices(layer_fields.head_choices(e))
        self.heads.set_value(e.n_heads)
        self.heads.set_fields([layer_fields.kv_field(e), *layer_fields.fields(e, "heads")])
        for choice in registry.CHOICES:
            if not choice.within:
                pill = self.pills[choice.field]
                pill.set_choices(layer_fields.choices(e, choice))
                pill.set_value(getattr(e.config, choice.field))
                pill.set_fields(layer_fields.fields(e, choice.field))
        self.layer.set_choices(layer_fields.layer_choices(e))
        self.layer.set_value(e.layer)
        self._row.set_present(self.layer, e.n_layers > 1 or e.config.block != "none")
        heads = [Choice("all", "all heads", "One small map per head"), Choice("mean", "mean", "Their average")]
        self.shown_heads.set_choices([*heads, *(Choice(i, f"head {i}", "") for i in range(e.n_heads))])
        self._row.set_present(self.shown_heads, e.n_heads > 1)
        self._on_view_changed(self._document.view)
        self.more.refresh()

    @Slot(object)
    def _on_view_changed(self, view: "View") -> None:
        self.shown_heads.set_value(view.head)

    @Slot(bool)
    def _on_causal(self, on: bool) -> None:
        self._document.edit(f"Causal {'on' if on else 'off'}", lambda e: edits.configure(e, causal=on))

    @Slot(object)
    def _on_scale(self, scale: object) -> None:
        title = next((choice.title for choice in SCALES if choice.value == scale), f"÷ {scale}")
        self._configure(f"Scale {title}", scale=scale)

    def _configure(self, label: str, **changes: object) -> bool:
        """Change the configuration; choosing the current value is no step."""
        before = self._document.experiment
        done = self._document.edit(label, lambda e: edits.configure(e, **changes))
        return done and self._document.experiment is not before

    def _head_count(self, text: str) -> int:
        """Return a typed head count.

            Raises:
        ExperimentError: not a count, or no divisor of the columns; the sentence names the divisors.
        """
        count, e = _whole(text), self._document.experiment
        fitting = edits.fitting_heads(e)
        if e.config.n_kv_heads is None and count >= 1 and count not in fitting:
            raise ExperimentError(_misfit(count, e, fitting))
        edits.configure(e, n_heads=count)
        return count

    @Slot(object)
    def _on_heads(self, count: object) -> None:
        if self._configure(f"Heads {count}", n_heads=count):
            self.head_chosen.emit("all" if self._document.experiment.n_heads > 1 else 0)

    @Slot(object)
    def _on_layer(self, value: object) -> None:
        if value == layer_fields.ADD:
            self._document.edit("Add a layer", stack_edits.add_layer)
        elif value == layer_fields.REMOVE:
            self._document.edit(
                f"Remove layer {self._document.experiment.layer + 1}", lambda e: stack_edits.remove_layer(e, e.layer)
            )
        elif isinstance(value, int):
            self._document.edit(f"Layer {value + 1}", lambda e: stack_edits.select_layer(e, value))

    @Slot(object)
    def _on_registry(self, value: object) -> None:
        sender = self.sender()
        if isinstance(sender, Pill):
            choice = next(choice for choice in registry.CHOICES if choice.field == sender.property("field"))
            self._configure(f"{choice.title} {_word(choice.field, value)}", **{choice.field: value})

    @Slot(str, object)
    def _on_field(self, name: str, value: object) -> None:
        """Apply the settings of a popup; an error is shown below its field."""
        if name in (layer_fields.PAINTING, layer_fields.PAINTED):
            (self.painting_toggled if name == layer_fields.PAINTING else self.mask_cleared).emit()
            return
        sender = self.sender()
        changes, title = self._changes(name, value)
        try:
            edits.with_setting(self._document.experiment, **changes)
        except AttnlabError as error:
            if isinstance(sender, Pill):
                sender.complain(name, registry.name_as_shown(str(error)))
            return
        self._document.edit(f"{title} {_word(name, value)}", lambda e: edits.with_setting(e, **changes))

    def _changes(self, name: str, value: object) -> tuple[dict[str, object], str]:
        """Return the fields of the configuration that a field changes, and its title."""
        if name.startswith(layer_fields.MASK):
            mask = name.removeprefix(layer_fields.MASK)
            number = {True: 1, False: None}[value] if isinstance(value, bool) else value
            return {"masks": {mask: number}}, MASKS[mask].title
        if name == layer_fields.KV_HEADS:
            return {name: value}, "Key heads"
        option = registry.all_options().get(name)
        choice = next((choice for choice in registry.CHOICES if choice.field == name), None)
        return {name: value}, option.title if option else choice.title if choice else name


def _divisor(text: str) -> float:
    """Return a typed divisor of the scores; raises AttnlabError unless it is a positive number."""
    number = parse_number(text)
    if number <= 0:
        raise ExperimentError(f"Scores cannot be divided by {f'{number:g}'.replace('-', '−')}; type a number above 0.")
    return number


def _word(name: str, value: object) -> str:
    """Return a value as its pill or its field shows it, for the history."""
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return write_number(value)
    option = registry.all_options().get(name)
    titles = {known: title for known, title, _ in option.choices} if option else {}
    for choice in registry.CHOICES:
        titles |= {entry.name: entry.title for entry in choice.entries.values() if choice.field == name}
    return titles.get(str(value), str(value))


def _misfit(count: int, e: "Experiment", fitting: Sequence[int]) -> str:
    """Return why a number of heads does not divide the columns, and the counts that do."""
    wide = {name: edits.shape(e, name)[1] for name in ("W_q", "W_v")}
    name = next((name for name, columns in wide.items() if columns % count), "W_q")
    counts = " or ".join([*([", ".join(map(str, fitting[:-1]))] if fitting[:-1] else []), str(fitting[-1])])
    head = "head" if fitting[-1] == 1 else "heads"
    return f"{count} heads do not fit: the {wide[name]} columns of {name} can be divided among {counts} {head}."


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise ExperimentError(f"“{text.strip()}” is not a number of heads; type a whole number, 1 or more.")
    return int(text)
