"""Converts the last choices in a film dialog to words for the settings, and back."""

from collections.abc import Sequence

from attnlab.ui.base.themed_window import ThemedWindow
from attnlab.ui.export.figure_choices import find_others
from attnlab.ui.widgets.fields.held_fields import HeldFields


def keep(window: ThemedWindow, kind: str, form: HeldFields, names: Sequence[str]) -> None:
    """Store the values of fields in the settings, under the prefix ``kind``.

    A field comes before those that depend on it.
    """
    mine = tuple(f"{kind}.{name}={text}" for name, text in form.as_texts(names).items())
    window.change_settings(figure=(*find_others(window.settings.figure, kind), *mine))


def recall(remembered: Sequence[str], kind: str, form: HeldFields, names: Sequence[str]) -> None:
    """Show the remembered values in fields; values that a field no longer offers are ignored."""
    for word in remembered:
        name, _, text = word.removeprefix(f"{kind}.").partition("=")
        if word.startswith(f"{kind}.") and name in names:
            form.take_text(name, text)
