"""The export dialog: the settings of a figure at the left, its preview at the right; to save or copy it."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from attnlab.base.counted import format_size
from attnlab.base.errors import AttnlabError
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.panels.figure_file import lay_out_for
from attnlab.figures.panels.figure_page import Page
from attnlab.figures.panels.figure_source import Source
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.scales import AUTOMATIC, Colouring
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.dialog_parts import ask_where, button, make_scroll_area
from attnlab.ui.base.dialog_size import fit
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.export.copying import copy_figure
from attnlab.ui.export.export_form import ExportForm
from attnlab.ui.export.figure_choices import FORMATS, read_words, write_words
from attnlab.ui.export.figure_preview import FigurePreview
from attnlab.ui.export.figure_saving import check_table, export_figure, export_table

_SMALL, _LARGE = (560, 420), (960, 640)
_SOON_MS = 40


@guarded
class ExportDialog(QDialog):
    """Exports a trace, or maps of any kind; ``remembered`` carries the choices after an export, ``exported`` the
    file."""

    previewed = Signal()
    remembered = Signal(object)
    exported = Signal(object)

    def __init__(
        self,
        source: Source,
        stage: str,
        head: int | str,
        choices: tuple[str, ...],
        parent: QWidget | None = None,
        *,
        held: bool = False,
        colouring: Colouring = AUTOMATIC,
        named_after: str = "",
    ) -> None:
        """Create the dialog for a stage and a head of a source; ``held`` if the head is that of the held cell.

        ``colouring`` are the choices for the colours of the stage's card; ``named_after`` begins the file's name.
        """
        super().__init__(parent)
        self.setWindowTitle("Export")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fit(self, _SMALL, _LARGE)
        self._source, self._spec, self._choices = source, FigureSpec(), choices
        self._page: Page | None = None
        self.form, self.preview = ExportForm(), FigurePreview()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._make()
        self.form.show_source(source, stage, head, held=held, named_after=named_after)
        spec, ending = read_words(choices)
        self.form.show_spec(replace(spec, **asdict(colouring)), ending)
        self.form.changed.connect(self._soon.start)
        self._soon.timeout.connect(self._on_soon)
        self.preview.drawn.connect(self.previewed)
        self.save_button.clicked.connect(self.ask_save)
        self.copy_button.clicked.connect(self.copy)
        self._soon.start()

    def _make(self) -> None:
        self.message, self.info = QLabel(), QLabel()
        for label in (self.message, self.info):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)  # it would make a small dialog with large type too wide
        self.info.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.message.setFixedWidth(px(340))
        self.info.setProperty("role", "caption")
        self.message.setProperty("role", "error")
        self.save_button = button("Save…", "Write the file (Ctrl+S)")
        self.save_button.setProperty("primary", True)
        self.save_button.setShortcut("Ctrl+S")
        self.copy_button = button("Copy", "Copy the figure to the clipboard, as a picture and as SVG")
        form = make_scroll_area(self.form, "Choices for the figure")
        form.setFixedWidth(px(352))
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 0, px(12), 0)
        buttons.setSpacing(px(8))
        buttons.addWidget(self.copy_button)
        buttons.addStretch(1)
        buttons.addWidget(self.save_button)
        left = QVBoxLayout()
        left.setSpacing(px(12))
        left.addWidget(form, 1)
        left.addWidget(self.message)
        left.addLayout(buttons)
        right = QVBoxLayout()
        right.setSpacing(px(8))
        right.addWidget(self.preview, 1)
        right.addWidget(self.info)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(px(16), px(16), px(16), px(16))
        whole.setSpacing(px(16))
        whole.addLayout(left)
        whole.addLayout(right, 1)
        self.message.hide()

    def export_to(self, path: Path) -> bool:
        """Write the file; an error is shown in the dialog, and no partial file is left."""
        try:
            spec = self.form.read_spec()
            if self.form.is_figure:
                export_figure(self._source, spec, path)
            else:
                export_table(self._source, spec, path)
        except AttnlabError as error:
            self._say(str(error))
            return False
        self.remembered.emit(write_words(spec, self.form.ending, self._choices))
        self.exported.emit(path)
        self.close()
        return True

    @Slot()
    def ask_save(self) -> None:
        """Ask where to save, and write the file."""
        name = self.form.name.text().strip() or "figure"
        ending = self.form.ending
        name = name if name.lower().endswith(f".{ending}") else f"{name}.{ending}"
        ask_where(self, "Export", f"{FORMATS[ending]} (*.{ending})", name, self._make_writer(ending))

    def _make_writer(self, ending: str) -> Callable[[Path], object]:
        return lambda path: self.export_to(path if path.suffix else path.with_suffix(f".{ending}"))

    @Slot()
    def copy(self) -> None:
        """Copy the figure to the clipboard, as pixels and as SVG."""
        if self._page is None:
            return
        try:
            copy_figure(self._source, self._spec)
        except AttnlabError as error:
            self._say(str(error))
            return
        self.remembered.emit(write_words(self._spec, self.form.ending, self._choices))
        self.info.setText("Copied as PNG and as SVG")

    @Slot()
    def _on_soon(self) -> None:
        """Show the figure that the fields describe, or say what is wrong; the previous picture stays until then."""
        self._page, sentence = None, ""
        try:
            self._spec = self.form.read_spec()
            if self.form.is_figure:
                self._page = lay_out_for(self._source, self._spec, f".{self.form.ending}")
            else:
                check_table(self._spec)
        except AttnlabError as error:
            sentence = str(error)
        self._say(sentence)
        self.save_button.setEnabled(not sentence)
        self.copy_button.setEnabled(not sentence and self.form.is_figure)
        self.info.setText(self._describe_size())
        if self._page is not None:
            self.preview.show_page(self._page)
            return
        if not sentence:
            self.preview.show_page(None, "A table of numbers with all digits")
        self.previewed.emit()

    def _describe_size(self) -> str:
        """Return the size of the figure as text."""
        if self._page is None:
            return ""
        size = format_size(self._page.size_mm, "mm")
        in_pixels = FIGURES[f".{self.form.ending}"].in_pixels
        return f"{size} · {format_size(self._page.pixels, 'pixels')}" if in_pixels else size

    def _say(self, sentence: str) -> None:
        show_text(self.message, sentence)
        self.message.setVisible(bool(sentence))

    def done(self, result: int) -> None:
        self._soon.stop()
        self.preview.stop()
        super().done(result)
