"""The choices and fields of the switches, from the registries: an experiment's settings and their alternatives."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attnlab.attention import edits
from attnlab.attention.edits import stack_edits
from attnlab.attention.registries import registry
from attnlab.attention.registries.entries import Entry, Option, accept_all
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.masks import MASKS
from attnlab.base.errors import ExperimentError
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.option_field import Field

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

ADD, REMOVE = "add", "remove"
"""The values of the choices that add a layer and remove the present one."""
KV_HEADS = "n_kv_heads"
PAINTED, PAINTING = "painted", "painting"
MASK = "mask "
"""Prefix of a mask's field name, as a mask and an option may have the same name."""


def choices(e: "Experiment", choice: registry.Choice) -> list[Choice]:
    """Return the entries of a switch; an entry that is incompatible with the experiment has the reason."""
    current = getattr(e.config, choice.field)
    return [
        Choice(entry.name, entry.title, entry.about, reason="" if entry.name == current else _reason(e, choice, entry))
        for entry in choice.entries.values()
    ]


def _reason(e: "Experiment", choice: registry.Choice, entry: Entry) -> str:
    """Return why an entry is incompatible with an experiment, or with a feature that is on.

    An edit may add what an entry needs, as the block needs W_o.
    """
    reason, picky = entry.check(e), [feature for feature in FEATURES.values() if feature.check is not accept_all]
    if not reason and (entry.tables or not any(feature.on(e.config) for feature in picky)):
        return ""
    try:
        edits.configure(e, **{choice.field: entry.name})
    except ExperimentError as error:
        return registry.name_as_shown(str(error))
    return ""


def fields(e: "Experiment", group: str) -> list[Field]:
    """Return the fields of a switch: the options of its entry, and of the features that belong to it."""
    found = [_entry_field(e, choice) for choice in registry.CHOICES if choice.within == group]
    for choice in registry.CHOICES:
        if group in (choice.field, choice.within) and choice.is_on(e.config):
            entry = choice.entries[getattr(e.config, choice.field)]
            found += [_field(e, option) for option in entry.options]
    for feature in FEATURES.values():
        if feature.group == group:
            reason = "" if feature.on(e.config) else registry.name_as_shown(feature.check(e))
            found += [_field(e, option, reason) for option in feature.options]
    return found


def _entry_field(e: "Experiment", choice: registry.Choice) -> Field:
    first = next(iter(choice.entries))
    value = getattr(e.config, choice.field)
    reason = "" if choice.is_on(e.config) else f"Has no effect without the {choice.under}."
    options = tuple(choices(e, choice))
    return Field(choice.field, choice.title, choice.about, "choice", value, first, choices=options, reason=reason)


def _field(e: "Experiment", option: Option, reason: str = "") -> Field:
    if option.under and e.config.option(option.under) == registry.default(option.under):
        reason = f"Has no effect without {registry.all_options()[option.under].title.lower()}."
    return Field(
        option.name,
        option.title,
        option.about,
        _kind(option),
        e.config.option(option.name),
        option.default,
        option.least,
        option.most,
        option.above,
        tuple(Choice(*choice) for choice in option.choices),
        reason,
    )


def _kind(option: Option) -> Any:
    return option.kind


def mask_fields(e: "Experiment", painting: bool) -> list[Field]:
    """Return a field for each mask except the causal one, which has its own switch, and for the masked value.

    The masks are what the menu chooses from, so that each has its description, as the choices of other menus have.
    """
    found = []
    for mask in MASKS.values():
        option = registry.mask_option(mask.name)
        if mask.name == "causal":
            continue
        if option is None:
            found.append(Field(MASK + mask.name, mask.title, mask.about, "switch", mask.name in e.config.masks, False))
            continue
        most = min(option.most, e.T_k) if mask.name == "padding" else option.most
        value = e.config.masks.get(mask.name)
        found.append(
            Field(MASK + mask.name, mask.title, mask.about, "counted", value, option.default, option.least, most)
        )
    if e.config.mask is not None:
        found.append(
            Field(PAINTED, "Painted", "The mask painted by mouse; switching it off removes it", "switch", True, False)
        )
    about = "Drag over cells or press Space to mask or unmask; Esc ends painting"
    brush = Field(PAINTING, "Paint on the cards", about, "switch", painting, False)
    return [replace(field, shows_about=True) for field in (*found, brush, *fields(e, "masks"))]


def mask_text(e: "Experiment") -> str:
    """Return a short list of the active masks except the causal one."""
    words = [f"{MASKS[name].title.lower()} {number}" for name, number in e.config.masks.items()]
    return " · ".join([*words, *(["painted"] if e.config.mask is not None else [])]) or "none"


def head_choices(e: "Experiment") -> list[Choice]:
    """Return the head counts that divide the columns; one that would remove a head that is switched off is disabled."""
    off = max(e.config.ablated, default=-1)
    reasons = dict.fromkeys(range(1, off + 1), f"Head {off} is switched off; switch it on first.")
    return [
        Choice(n, str(n), f"d_k = {e.d_k * e.n_heads // n}", reason=reasons.get(n, "")) for n in edits.fitting_heads(e)
    ]


def layer_choices(e: "Experiment") -> list[Choice]:
    """Return the layers of the stack, and the choices to add one and to remove the present one."""
    reason = ""
    try:
        stack_edits.add_layer(e)
    except ExperimentError as error:
        reason = str(error)
    about = "A copy of this layer, which reads what leaves it"
    alone = "" if e.n_layers > 1 else "This is the only layer."
    every = [Choice(i, f"{i + 1} of {e.n_layers}", "") for i in range(e.n_layers)]
    return [
        *every,
        Choice(ADD, "add a layer", about, reason=reason),
        Choice(REMOVE, "remove this layer", "The others stay", reason=alone),
    ]


def kv_field(e: "Experiment") -> Field:
    """Return the field of key heads: the number of heads and its divisors, down to one."""
    counts = [n for n in range(1, e.n_heads + 1) if e.n_heads % n == 0]
    words = {e.n_heads: "one key head per head", 1: "multi-query: one for all"}
    options = tuple(Choice(n, str(n), words.get(n, f"grouped: {e.n_heads // n} heads share one")) for n in counts)
    about = "The number of heads of keys and values; groups of query heads share one (Ainslie et al. 2023)"
    reason = "" if e.n_heads > 1 else "Sharing needs more than one head."
    return Field(KV_HEADS, "Key heads", about, "choice", e.n_kv_heads, e.n_heads, choices=options, reason=reason)
