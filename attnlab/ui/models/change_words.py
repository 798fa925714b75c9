"""The list of what is changed in a model, in words."""

from attnlab.ui.models.model_state import Change, Edit, Edited, ModelState
from attnlab.ui.models.model_values import Overview


def list_changes(found: Overview | None, state: ModelState) -> list[Change]:
    """Return the changes of a state: every difference of its edited layers as far as it is known, then what is off."""
    changes: list[Change] = []
    for each in state.edited:
        known = () if found is None else found.edits.get(each, ())
        changes += [Edit(each, difference) for difference in known] or [each]
    return [*changes, *state.off]


def describe_change(what: Change, found: Overview | None, state: ModelState) -> str:
    """Return a change of a state in words: L5 H11 off, Layer 1: temperature 1 → 2, or an arrow.

    An arrow has the names of its tokens once the overview is that of the state's text, and their numbers before.
    """
    several = found is not None and len(found.facts.parts) > 1
    if isinstance(what, Edit):
        return f"{_name_layer(what.edited, several)}: {what.difference.words}"
    if isinstance(what, Edited):
        return f"{_name_layer(what, several)} edited"
    part = f"{what.part} " if several else ""
    if what.is_head:
        return f"{part}{what.place} off"
    if found is None or what.part != found.part or not found.state.reads_as(state):
        return f"{part}{what.place}, {what.query} → {what.key} off"
    return f"{part}{what.place}, {name_arrow(found, what.query, what.key)} off"


def name_arrow(found: Overview, query: int, key: int) -> str:
    """Return the tokens of an arrow, with a number where there are several of one name."""
    from attnlab.pretrained.many_texts import number_repeated

    ends = (found.queries, query), (found.keys, key)
    return " → ".join(tokens[place].strip() + number_repeated(tokens, place) for tokens, place in ends)


def _name_layer(edited: Edited, several: bool) -> str:
    return f"{edited.part.capitalize()} layer {edited.layer}" if several else f"Layer {edited.layer}"
