"""Takes the maps of an array out of their window: as a picture, as text, as a file of arrays, and as a figure."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication

from attnlab.base.errors import AttnlabError
from attnlab.document.settings import load_settings, save_settings
from attnlab.figures.array_maps import Floats
from attnlab.figures.panels.array_sheets import ONLY, make_array_sheets, name_layer, name_maps
from attnlab.figures.panels.figure_source import Sheet, Sheets
from attnlab.files.atomic import format_name
from attnlab.files.maps_file import WRITTEN, Words, write_maps
from attnlab.ui.base.actions import Action, ActionList, Context
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.jobs import run

if TYPE_CHECKING:
    from attnlab.ui.app.array_window import ArrayWindow

TEXTS = ("LaTeX", "NumPy", "Markdown", "CSV")
"""The formats in which numbers are copied."""
ONE_LAYER = "Numbers are copied from one layer; choose a layer first."


class ArrayTools(QObject):
    """Copies, saves and exports what a window shows; ``actions`` are its shortcuts and menus."""

    def __init__(self, window: "ArrayWindow") -> None:
        super().__init__(window)
        self._window = window
        self.actions = ActionList(_make_actions(self), window)

    @property
    def has_table(self) -> bool:
        """Whether the visible maps are those of a single layer, or of the mean."""
        return self._window.layer != "all"

    def make_sheets(self) -> tuple[Sheets, tuple[str, ...]]:
        """Return the maps of all layers, and the names of those that are visible."""
        maps, layer = self._window.maps, self._window.layer
        sheets = make_array_sheets(maps, shared=layer == "all")
        if layer == "all":
            return sheets, tuple(name_layer(maps, i) for i in range(len(maps.values)))
        return sheets, (name_layer(maps, layer),)

    def export(self) -> None:
        """Show the export dialog for the visible maps."""
        from attnlab.ui.export.export_dialog import ExportDialog

        sheets, visible = self.make_sheets()
        dialog = ExportDialog(sheets, visible[0], self._window.head, self._window.settings.figure, self._window)
        dialog.form.choose(visible)
        dialog.remembered.connect(self._remember)
        dialog.exported.connect(self._on_exported)
        dialog.open()

    def copy_picture(self) -> None:
        """Copy the visible maps in the style of the last figure, as pixels and as SVG."""
        from attnlab.ui.export.copying import copy_figure
        from attnlab.ui.export.figure_choices import read_words

        sheet, columns = make_visible_sheet(self._window)
        try:
            spec = replace(read_words(self._window.settings.figure)[0], stages=(sheet.name,), columns=columns)
            image = copy_figure(Sheets((sheet,)), spec)
        except AttnlabError as error:
            self._window.say(str(error), wrong=True)
            return
        size = f"{image.width()} × {image.height()} pixels"
        self._window.say(f"Copied {self._window.describe() or 'the map'} as a picture, {size}")

    def copy_table(self, title: str) -> None:
        """Copy the numbers of the visible maps in one of the formats ``TEXTS``."""
        data = self._window.sheet.data
        if data is None or not self.has_table:
            self._window.say(ONE_LAYER, wrong=True)
            return
        run(
            write_text_of,
            title.lower(),
            data.values,
            tuple(data.row_labels),
            tuple(data.column_labels),
            on_done=partial(self._on_written, f"Copied {self._window.describe() or 'the map'} as {title}"),
            on_failed=partial(self._window.say, wrong=True),
            doing="writing the text",
            latest=("array-text", id(self)),
            owner=self,
        )

    def ask_save(self) -> None:
        """Ask where to save all maps, and write them."""
        filters = ";;".join(f"{title} (*{ending})" for ending, title in WRITTEN.items())
        ask_where(self._window, "Save the maps", filters, f"maps{next(iter(WRITTEN))}", self.save_to)

    def save_to(self, path: Path) -> None:
        """Write all maps with their tokens in the format of the ending; a failure leaves no partial file."""
        path = path if path.suffix else path.with_suffix(next(iter(WRITTEN)))
        maps = self._window.maps
        run(
            write_maps,
            path,
            maps.values.reshape(maps.shape),
            maps.query_tokens,
            maps.key_tokens,
            on_done=lambda _: self._window.say(f"Saved {format_name(path)}; attnlab.view opens it again"),
            on_failed=partial(self._window.say, wrong=True),
            doing="saving the maps",
            latest=("array-save", id(self)),
            owner=self,
        )

    def _on_written(self, note: str, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._window.say(note)

    @Slot(object)
    def _on_exported(self, path: Path) -> None:
        self._window.say(f"Saved {format_name(path)}")

    @Slot(object)
    def _remember(self, figure: tuple[str, ...]) -> None:
        """Keep the choices for the next figure, without the other settings: another window may have changed those."""
        self._window.settings = replace(self._window.settings, figure=figure)
        try:
            save_settings(replace(load_settings()[0], figure=figure))
        except AttnlabError as error:
            self._window.say(str(error), wrong=True)


def make_visible_sheet(window: "ArrayWindow") -> tuple[Sheet, int | None]:
    """Return the visible maps as one sheet, and how many stand side by side; None for as many as fit."""
    data, (n_layers, n_heads) = window.sheet.data, window.maps.values.shape[:2]
    assert data is not None
    title = ", ".join(filter(None, (name_maps(window.maps), window.describe())))
    is_overview = len(data.values) > n_heads  # of all layers and heads
    titles = tuple(f"L{i}·H{j}" for i in range(n_layers) for j in range(n_heads)) if is_overview else tuple(data.titles)
    labels = data.row_labels, data.column_labels
    sheet = Sheet(ONLY, title, data.values, *labels, None, data.kind, data.scale, titles=titles)
    return sheet, n_heads if is_overview else None


def write_text_of(form: str, values: Floats, rows: Words, columns: Words) -> str:
    """Return maps [n, rows, columns] as text in a format of matrices; a single one without an axis of heads.

    Raises:
        AttnlabError: they are too many numbers for the clipboard, or for the memory.
    """
    from attnlab.files.export.matrix_text import FORMATS, MOST_NUMBERS
    from attnlab.files.export.stage_tables import Table

    if values.size > MOST_NUMBERS:
        raise AttnlabError(f"{values.size:,} numbers are too many for the clipboard; export them as a table.")
    values = values if len(values) > 1 else values[0]
    axes = ("head", "query", "key")[-values.ndim :]
    try:
        return FORMATS[form](Table("maps", "", axes, values, None, rows, columns, rows, columns))
    except MemoryError:
        raise AttnlabError("There is not enough memory for a text this long; export the maps as a table.") from None


def _make_actions(tools: ArrayTools) -> Iterator[Action[Any]]:
    on = Context.of(tools)
    yield Action(
        "copy-picture",
        "Copy picture",
        "Copy",
        on,
        ArrayTools.copy_picture,
        ("Ctrl+C",),
        hint="Copy the visible maps as a picture",
    )
    for title in TEXTS:
        yield Action(
            f"copy-{title.lower()}",
            f"Copy numbers as {title}",
            "Copy",
            on,
            partial(_copy_table, title),
            enabled=lambda tools: tools.has_table,
            hint=f"The numbers of the visible maps of a layer, as {title}",
            begins_group=title == TEXTS[0],
        )
    yield Action(
        "save",
        "Save…",
        "File",
        on,
        ArrayTools.ask_save,
        ("Ctrl+S",),
        hint="Save all maps with their tokens; attnlab.view opens the file again",
    )
    yield Action(
        "export",
        "Export…",
        "File",
        on,
        ArrayTools.export,
        ("Ctrl+E",),
        hint="Export the maps as a figure or a table",
    )


def _copy_table(title: str, tools: ArrayTools) -> None:
    tools.copy_table(title)
