"""A form that holds the values of its own fields, as dialogs need."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from attnlab.ui.widgets.fields.choice import Choice, same
from attnlab.ui.widgets.fields.form_style import DIALOG
from attnlab.ui.widgets.fields.option_field import Field
from attnlab.ui.widgets.fields.option_fields import OptionFields


class HeldFields(OptionFields):
    """Shows fields and holds their values; ``changed`` is emitted after each change by the user."""

    changed = Signal()

    def __init__(self, fields: Sequence[Field] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent, DIALOG)
        self._fields: dict[str, Field] = {}
        self.field_changed.connect(self._on_field_changed)
        self.hold(fields)

    def hold(self, fields: Sequence[Field]) -> None:
        """Show these fields, with the values that they have."""
        self._fields = {field.name: field for field in fields}
        self.set_fields(fields)

    def value(self, name: str) -> object:
        """Return the value of a field."""
        return self._fields[name].value

    def whole(self, name: str) -> int:
        """Return the value of a field for a whole number."""
        value = self.value(name)
        assert isinstance(value, int), name
        return value

    def change(self, name: str, **changes: object) -> None:
        """Change a field itself, such as its bounds or its choices; emits nothing."""
        self._fields[name] = replace(self._fields[name], **changes)  # type: ignore[arg-type]
        self.set_fields(tuple(self._fields.values()))

    def take(self, name: str, value: object) -> None:
        """Set a value, and what follows from it; emits nothing."""
        self.change(name, value=value)
        self.adapt(name)

    def adapt(self, name: str) -> None:
        """Change the fields that depend on the one that was just set: by default none does."""

    def as_texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the values of fields as texts for a file."""
        return {name: _text(self.value(name)) for name in names}

    def take_text(self, name: str, text: str) -> None:
        """Set a value from a text of a file; a text that is no value of the field changes nothing."""
        field = self._fields[name]
        if field.kind == "choice":
            for choice in field.choices:
                if choice.usable and _text(choice.value) == text:
                    self.take(name, choice.value)
        elif field.kind == "switch":
            self.take(name, text == "on")
        elif text.isdecimal() and len(text) < 10 and (field.least or 0) <= int(text) <= (field.most or int(text)):
            self.take(name, int(text))

    def offer(self, name: str, choices: Sequence[tuple[str, object]], usual: object) -> None:
        """Replace the choices of a field; the current one stays selected if it is still among them."""
        values = [value for _, value in choices]
        kept = next((value for value in values if same(value, self.value(name))), None)
        wanted = kept if kept is not None else usual if usual in values else values[0]
        self.change(name, choices=tuple(Choice(value, title) for title, value in choices), value=wanted)

    def _on_field_changed(self, name: str, value: object) -> None:
        self.take(name, value)
        self.changed.emit()


def _text(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
