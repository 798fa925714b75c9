"""What is open in the workspace, as a value: a model, a text, and what is changed. Undo restores all of it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.pretrained.layer_edits import LayerEdit
    from attnlab.pretrained.stack_pass import Part


@dataclass(frozen=True, slots=True, order=True)
class Off:
    """One thing that is switched off: a head, or a single arrow of it from ``query`` to ``key``."""

    part: "Part"
    layer: int
    head: int
    query: int = -1
    key: int = -1

    @property
    def is_head(self) -> bool:
        """Whether the whole head is off."""
        return self.query < 0

    @property
    def place(self) -> str:
        """The head in brief, L5 H11."""
        return f"L{self.layer} H{self.head}"


@dataclass(frozen=True, slots=True)
class Edited:
    """A layer that was edited in the playground; two are equal only with the same experiment."""

    part: "Part"
    layer: int
    experiment: "Experiment"


@dataclass(frozen=True, slots=True)
class Edit:
    """One of the differences of an edited layer from the model's own."""

    edited: Edited
    difference: "LayerEdit"


Change = Off | Edited | Edit
"""One line of the list of changes; an edited layer as a whole until its differences are known."""


def forget_mask(e: "Experiment") -> "Experiment":
    """Return an experiment without a painted mask."""
    return e if e.config.mask is None else replace(e, config=replace(e.config, mask=None))


@dataclass(frozen=True, slots=True)
class ModelState:
    """``source`` is a folder or a name that :func:`attnlab.read_model` takes, "" for none yet.

    ``target`` is what the decoder of an encoder–decoder has written. ``others`` are the texts to which an encoder of
    sentences is compared. ``off`` and ``edited`` are sorted.
    """

    source: str = ""
    text: str = ""
    target: str = ""
    others: tuple[str, ...] = ()
    off: tuple[Off, ...] = ()
    edited: tuple[Edited, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether anything is off or edited."""
        return bool(self.off or self.edited)

    def open(self, source: str, text: str, others: tuple[str, ...] = ()) -> "ModelState":
        """Return the state with another model, with nothing switched off."""
        return ModelState(source, text, others=others)

    def with_text(self, text: str) -> "ModelState":
        """Return the state with another text; arrows and painted masks belong to the old tokens and are dropped."""
        return self if text == self.text else replace(self._forget_tokens(), text=text)

    def with_target(self, target: str) -> "ModelState":
        """Return the state with another text of the decoder; arrows and painted masks are dropped."""
        return self if target == self.target else replace(self._forget_tokens(), target=target)

    def with_others(self, others: tuple[str, ...]) -> "ModelState":
        """Return the state compared with other texts."""
        return self if others == self.others else replace(self, others=others)

    def switch(self, what: Iterable[Off], off: bool) -> "ModelState":
        """Return the state with some heads or arrows off, or on again."""
        changed = {*self.off, *what} if off else {*self.off} - {*what}
        return self if changed == {*self.off} else replace(self, off=tuple(sorted(changed)))

    def edit(self, part: "Part", layer: int, experiment: "Experiment | None") -> "ModelState":
        """Return the state with an edited layer, or with None the model's own again."""
        others = [each for each in self.edited if (each.part, each.layer) != (part, layer)]
        added = [] if experiment is None else [Edited(part, layer, experiment)]
        return replace(self, edited=tuple(sorted([*others, *added], key=lambda each: (each.part, each.layer))))

    def send(self, part: "Part", layer: int, experiment: "Experiment") -> "ModelState":
        """Return the state with a layer as it is in the playground: its heads off are listed like all others, and its
        mask, which hides the arrows that were off when it was opened, takes their place.
        """
        heads = [Off(part, layer, head) for head in experiment.config.ablated]
        others = [each for each in self.off if (each.part, each.layer) != (part, layer)]
        if heads:
            experiment = replace(experiment, config=replace(experiment.config, ablated=()))
        return replace(self, off=tuple(sorted([*others, *heads]))).edit(part, layer, experiment)

    def remove(self, what: Change) -> "ModelState":
        """Return the state without one of its changes."""
        if isinstance(what, Off):
            return self.switch((what,), False)
        of = what.edited if isinstance(what, Edit) else what
        return self.edit(of.part, of.layer, what.difference.rest if isinstance(what, Edit) else None)

    def reads_as(self, other: "ModelState") -> bool:
        """Return whether two states have the same tokens: the same model and texts."""
        return (self.source, self.text, self.target) == (other.source, other.text, other.target)

    def plain(self) -> "ModelState":
        """Return the state with nothing off and nothing edited."""
        return replace(self, off=(), edited=())

    def list_edited(self) -> "dict[Part, dict[int, Experiment]]":
        """Return the edited layers, as :meth:`attnlab.Run.change` takes them."""
        found: dict[Part, dict[int, Experiment]] = {}
        for each in self.edited:
            found.setdefault(each.part, {})[each.layer] = each.experiment
        return found

    def list_unmasked(self) -> "dict[Part, dict[int, Experiment]]":
        """Return the edited layers for any other text: without painted masks, which have the size of this one."""
        return {part: {layer: forget_mask(e) for layer, e in of.items()} for part, of in self.list_edited().items()}

    def is_off(self, what: Off) -> bool:
        """Return whether this head or arrow is in the list of what is off."""
        return what in self.off

    def list_off(self, *, heads: bool) -> dict["Part", list[tuple[int, ...]]]:
        """Return the heads, or the arrows, that are off, as :meth:`attnlab.Run.change` takes them."""
        found: dict[Part, list[tuple[int, ...]]] = {}
        for each in self.off:
            if each.is_head == heads:
                place = (each.layer, each.head) if heads else (each.layer, each.head, each.query, each.key)
                found.setdefault(each.part, []).append(place)
        return found

    def _forget_tokens(self) -> "ModelState":
        edited = tuple(replace(each, experiment=forget_mask(each.experiment)) for each in self.edited)
        return replace(self, off=tuple(each for each in self.off if each.is_head), edited=edited)
