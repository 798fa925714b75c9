"""One row for each setting: its title, its editor, and below it an error message while typing."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from attnlab.base.errors import ExperimentError
from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.base.theme import plain_tip, px
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.form_parts import combo
from attnlab.ui.widgets.fields.option_controls import NumberEdit
from attnlab.ui.widgets.fields.option_field import Field

WIDE = ("kind",)
"""Settings without a title beside them: their choices need the width."""


class SettingRow(QWidget):
    """One setting: ``changed`` carries its name and value, ``refused`` its name and the invalid value's error."""

    changed = Signal(str, object)
    refused = Signal(str, str)

    def __init__(self, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = field
        self.title, self.complaint = QLabel(), QLabel()
        self.editor = self._made()
        self.complaint.setTextFormat(Qt.TextFormat.PlainText)
        self.complaint.setWordWrap(True)
        self.complaint.setProperty("role", "error")
        self.complaint.setAccessibleName(f"Message about {field.title}")
        self.complaint.hide()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setProperty("role", "muted")
        self.title.setBuddy(self.editor)
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        wide = field.name in WIDE  # their choices need no title
        grid.addWidget(self.title, 0, 0)
        self.title.setVisible(not wide)  # after it has a parent, or it would briefly be a window
        grid.addWidget(self.editor, 0, 0 if wide else 1, 1, 2 if wide else 1)
        grid.addWidget(self.complaint, 1, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        self.show_field(field)

    def set_palette(self, palette: Palette) -> None:
        """Apply a theme's colours and the current font size."""
        self.editor.setMinimumHeight(px(28))
        self._grid.setColumnMinimumWidth(0, px(104))  # on the column: a label keeps the largest size ever set

    def show_field(self, field: Field) -> None:
        """Show the setting's current value; unfinished text is kept."""
        self.field = field
        self.title.setText(field.title)
        self.title.setToolTip(plain_tip(field.about))
        self.editor.setAccessibleName(field.title)
        self.editor.setToolTip(plain_tip(field.about))
        self._show()

    def say(self, sentence: str) -> None:
        """Show an error below; "" for none."""
        self.complaint.setText(sentence)
        self.complaint.setVisible(bool(sentence))
        self.editor.setAccessibleDescription(sentence or self.field.about)

    def _made(self) -> QWidget:
        raise NotImplementedError

    def _show(self) -> None:
        raise NotImplementedError


class NumberRow(SettingRow):
    """A number, typed or stepped."""

    def _made(self) -> QWidget:
        self.edit = NumberEdit()
        self.edit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # shrinks with the panel
        self.edit.taken.connect(self._on_taken)
        self.edit.refused.connect(self._on_refused)
        self.edit.lineEdit().textEdited.connect(self._on_typed)
        self.edit.given_up.connect(self._on_given_up)
        return self.edit

    def set_palette(self, palette: Palette) -> None:
        super().set_palette(palette)
        self.edit.set_palette(palette)
        self.edit.setMinimumWidth(px(76))

    def _show(self) -> None:
        value = self.field.value
        self.edit.show_number(self.field, value if isinstance(value, int | float) else None)

    @Slot(object)
    def _on_taken(self, value: object) -> None:
        self.changed.emit(self.field.name, value)

    @Slot(str)
    def _on_refused(self, sentence: str) -> None:
        self.refused.emit(self.field.name, sentence)

    @Slot(str)
    def _on_typed(self, text: str) -> None:
        try:
            value = self.field.read(text)
        except ExperimentError as error:
            self.refused.emit(self.field.name, str(error))
        else:
            self.changed.emit(self.field.name, value)

    @Slot()
    def _on_given_up(self) -> None:
        self.changed.emit(self.field.name, self.field.value)


class ChoiceRow(SettingRow):
    """One of several choices."""

    def _made(self) -> QWidget:
        self.box = combo([(choice.title, choice.value) for choice in self.field.choices])
        self.box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.box.activated.connect(self._on_activated)
        return self.box

    def set_palette(self, palette: Palette) -> None:
        super().set_palette(palette)
        self.box.setMinimumWidth(px(76))

    def _show(self) -> None:
        choices = self.field.choices
        if [self.box.itemText(i) for i in range(self.box.count())] != [choice.title for choice in choices]:
            self.box.clear()
            for choice in choices:
                self.box.addItem(choice.title, choice.value)
        for i, choice in enumerate(choices):
            self.box.setItemData(i, plain_tip(choice.reason or choice.description), Qt.ItemDataRole.ToolTipRole)
        self.box.setCurrentIndex(next((i for i, c in enumerate(choices) if c.value == self.field.value), -1))

    @Slot(int)
    def _on_activated(self, at: int) -> None:
        self.changed.emit(self.field.name, self.field.choices[at].value)


class SwitchRow(SettingRow):
    """On or off."""

    def _made(self) -> QWidget:
        self.box = QCheckBox()
        self.box.clicked.connect(self._on_clicked)
        return self.box

    def _show(self) -> None:
        self.box.setChecked(bool(self.field.value))

    @Slot(bool)
    def _on_clicked(self, on: bool) -> None:
        self.changed.emit(self.field.name, on)


class FileRow(SettingRow):
    """A file of the user's, or the shipped one."""

    def _made(self) -> QWidget:
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(4))
        self.shown = ElidedLabel()
        self.open, self.back = QToolButton(), QToolButton()
        self.open.setText("Open…")
        self.open.setAccessibleName(f"Open a file for {self.field.title}")
        self.open.setToolTip("Train on a text file of your own")
        self.open.clicked.connect(self._on_open)
        self.back.setText("↺")
        self.back.setAccessibleName("Use the shipped text")
        self.back.setToolTip("Use the shipped text")
        self.back.clicked.connect(self._on_back)
        row.addWidget(self.shown, 1)
        row.addWidget(self.open)
        row.addWidget(self.back)
        return both

    def _show(self) -> None:
        path = str(self.field.value or "")
        self.shown.setText(Path(path).name if path else "shipped text")
        self.shown.setToolTip(plain_tip(path) if path else "")
        self.back.setVisible(bool(path))

    @Slot()
    def _on_open(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Choose a text to train on", "", "Text (*.txt *.md);;All (*)")
        if path:
            self.changed.emit(self.field.name, path)

    @Slot()
    def _on_back(self) -> None:
        self.changed.emit(self.field.name, "")


ROWS: dict[str, type[SettingRow]] = {
    "number": NumberRow,
    "whole": NumberRow,
    "choice": ChoiceRow,
    "switch": SwitchRow,
    "file": FileRow,
}


class SettingRows(QWidget):
    """A column of settings; while names and kinds are the same, focus and unfinished text are kept."""

    changed = Signal(str, object)
    refused = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._rows: dict[tuple[str, str], SettingRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)

    def set_palette(self, palette: Palette) -> None:
        """Apply a theme's colours and the current font size."""
        self._palette = palette
        for row in self._rows.values():
            row.set_palette(palette)

    def show_fields(self, fields: Sequence[Field], kinds: Sequence[str] = ()) -> None:
        """Show these settings; ``kinds`` where a row is of another kind than its field."""
        of = [(field.name, kind) for field, kind in zip(fields, kinds or [f.kind for f in fields], strict=True)]
        for key in [key for key in self._rows if key not in of]:
            row = self._rows.pop(key)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for place, (key, field) in enumerate(zip(of, fields, strict=True)):
            if key in self._rows:
                self._rows[key].show_field(field)
                continue
            row = self._rows[key] = ROWS[key[1]](field, self)
            row.set_palette(self._palette)
            row.changed.connect(self.changed)
            row.refused.connect(self.refused)
            self._column.insertWidget(place, row)
        self.setVisible(bool(self._rows))

    def row(self, name: str) -> SettingRow | None:
        """Return the row of a setting."""
        return next((row for (own, _), row in self._rows.items() if own == name), None)

    def rows(self) -> list[SettingRow]:
        """Return all rows."""
        return list(self._rows.values())
