"""Copies and saves code of the present state, matrices as text, and pictures of cards."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from attnlab.base.counted import format_count
from attnlab.base.errors import AttnlabError
from attnlab.files.atomic import format_name, write_text
from attnlab.files.export.code_notebook import notebook
from attnlab.files.export.matrix_text import FORMATS, MOST_NUMBERS, make_input_table
from attnlab.files.export.script import script
from attnlab.files.export.stage_tables import Table
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.jobs import run
from attnlab.ui.base.themed_window import ThemedWindow
from attnlab.ui.export.file_name import name_state
from attnlab.ui.playground import input_tables as tables
from attnlab.ui.playground.colour_menu import make_colour_menu
from attnlab.ui.playground.stage_face import StageFace
from attnlab.ui.widgets.subscripts import BREAK

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.ui.playground.card import StageCard
    from attnlab.ui.playground.playground import Playground

TITLES = {"latex": "LaTeX", "numpy": "NumPy", "markdown": "Markdown", "csv": "CSV"}
_PLAIN = str.maketrans({BREAK: "", "\N{NO-BREAK SPACE}": " ", "\u2028": "\n", "\u2029": "\n"})
"""How characters that only lay out a label are copied."""

SCRIPT, NOTEBOOK = ".py", ".ipynb"
_KINDS = {SCRIPT: ("PyTorch script", "Python (*.py)"), NOTEBOOK: ("Jupyter notebook", "Jupyter notebooks (*.ipynb)")}


class CodeExport(QObject):
    """Copies and saves for one playground. The worker writes the text, as large matrices take long."""

    done = Signal(str)
    """Emitted with a note of what was copied or saved, or with a sentence that says why not."""

    def __init__(self, playground: "Playground", window: QWidget) -> None:
        super().__init__(playground)
        self._playground, self._window = playground, window
        self._in_table = False
        playground.inputs.table.set_formats(tuple(TITLES.items()))
        playground.inputs.table.copy_wanted.connect(self.copy_table)
        for area in (playground.canvas, playground.lenses):
            area.card_menu_wanted.connect(self._on_menu_wanted)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    @property
    def ready(self) -> bool:
        """Whether there are numbers to copy."""
        return self._find_trace() is not None

    def _find_trace(self) -> "Trace | None":
        """Return the trace on the cards: the pinned one if that is shown."""
        p = self._playground
        if p.document.view.look == "pinned" and p.comparison.pinned is not None:
            return p.comparison.pinned
        return p.reply.trace if p.reply is not None else None

    # Code

    def _make_writer(self, ending: str) -> Callable[[], str]:
        scene = self._playground.document.scene
        write = script if ending == SCRIPT else notebook
        return lambda: write(scene.experiment, scene.title, scene.dtype)

    def copy_script(self) -> None:
        """Copy a script that computes every stage of the present state."""
        self._copy(self._make_writer(SCRIPT), "Copied the PyTorch script")

    def ask_code(self, ending: str) -> None:
        """Ask where to save a script or a notebook, and write it."""
        document = self._playground.document
        kind, names = _KINDS[ending]
        name = name_state(document, document.experiment) or "attention"
        ask_where(self._window, f"Save as {kind}", names, f"{name}{ending}", lambda path: self.save_code(path, ending))

    def save_code(self, path: Path, ending: str) -> None:
        """Write a script or a notebook of the present state; a failure leaves no partial file."""
        path = path if path.suffix else path.with_suffix(ending)
        build = self._make_writer(ending)

        def write() -> str:
            write_text(path, build())
            return ""

        self._run(write, f"Saved {format_name(path)}")

    # Matrices

    def copy_matrix(self, form: str) -> None:
        """Copy the table with the focus, else the held or current stage, with the head shown."""
        if self._in_table:
            self.copy_table(form)
        else:
            self.copy_stage(form, self._playground.current_stage, self._playground.document.view.head)

    @Slot(str)
    def copy_table(self, form: str) -> None:
        """Copy the open table of the inputs: the selected block, or all if only one cell is selected."""
        inputs = self._playground.inputs
        whole = make_input_table(self._playground.document.experiment, inputs.name)
        row, column, rows, columns = inputs.table.selection()
        name = tables.title(inputs.name)
        if rows * columns <= 1:
            self._copy_table(whole, f"{name}, {_format_size(whole)}", form)
            return
        block = replace(
            whole,
            values=whole.values[row : row + rows, column : column + columns],
            row_labels=whole.row_labels[row : row + rows],
            column_labels=whole.column_labels[column : column + columns],
        )
        self._copy_table(block, f"{_format_size(block)} of {name}", form)

    def copy_number(self) -> None:
        """Copy the number of the held cell with every digit, for the state that its card shows.

        Text that is selected in a label with the focus is copied instead: Qt gives the key to the window first.
        """
        label = QApplication.focusWidget()
        if isinstance(label, QLabel) and label.hasSelectedText():
            QGuiApplication.clipboard().setText(label.selectedText().translate(_PLAIN))
            return
        cards = self._playground.lenses.stack.findChildren(StageFace)
        text = next(filter(None, (card.write_held() for card in cards if card.isVisible())), "")
        if not text:
            held = self._playground.document.view.pinned
            self._say(
                "No map in view has the held cell; click a cell of one, then its number can be copied."
                if held
                else "Click the cell of a map first; then its number can be copied."
            )
            return
        if not any(map(str.isdigit, text)):
            self._say(f"The held cell has no number to copy: {text}.")
            return
        QGuiApplication.clipboard().setText(text.replace("−", "-"))
        self._note(f"Copied {text}")

    def copy_stage(self, form: str, stage: str, head: int | str) -> None:
        """Copy a stage as the cards show it: the present numbers, the pinned ones or their difference."""
        from attnlab.ui.export.figure_saving import make_table  # with all that draws figures: not for the start

        trace, reply = self._find_trace(), self._playground.reply
        if trace is None or reply is None or reply.trace is None:
            return
        try:
            source = self._playground.comparison.choose_source(reply.trace, stage)
            made = make_table(source, stage, _find_one_head(trace, head))
        except AttnlabError as error:
            self._say(str(error))
            return
        self._copy_table(made, f"{self._name_look()}{_format_name(trace, stage, head)}, {_format_size(made)}", form)

    def _name_look(self) -> str:
        """Return what stands before the name of a stage that is copied from a comparison; "" for the present state."""
        return {"pinned": "pinned ", "difference": "difference of "}.get(self._playground.comparison.shown, "")

    def _copy_table(self, made: Table, what: str, form: str) -> None:
        if made.values.size > MOST_NUMBERS:
            count = format_count(made.values.size, "number")
            self._say(f"{count} are too many for the clipboard; use File › Export to write them to a table.")
            return
        self._copy(partial(FORMATS[form], made), f"Copied {what}, as {TITLES[form]}")

    # Pictures

    def copy_picture(self, stage: str, head: int | str) -> None:
        """Copy a stage as a figure, as pixels and as SVG, with the settings of the last figure."""
        colours = asdict(self._playground.document.view.colouring(stage))
        self._copy_figure(stage, head, stages=(stage,), **colours)

    def copy_canvas(self) -> None:
        """Copy the whole canvas as a figure, with the settings of the last figure."""
        self._copy_figure("", self._playground.document.view.head, stages=(), canvas=True)

    def _copy_figure(self, stage: str, head: int | str, **changes: Any) -> None:
        """Copy a figure of a stage, or of the canvas for the stage ""."""
        from attnlab.ui.export.copying import copy_figure  # with all that draws figures: the start does not need it
        from attnlab.ui.export.figure_choices import read_words

        shown, reply = self._find_trace(), self._playground.reply
        if shown is None or reply is None or reply.trace is None:
            return
        choices = self._window.settings.figure if isinstance(self._window, ThemedWindow) else ()
        try:
            source = self._playground.comparison.choose_source(reply.trace, stage)
            image = copy_figure(source, replace(read_words(choices)[0], head=head, **changes))
        except AttnlabError as error:
            self._say(str(error))
            return
        name = f"{self._name_look()}{_format_name(shown, stage, head)}" if stage else "the canvas"
        self._note(f"Copied {name} as a picture, {image.width()} × {image.height()} pixels")

    # The menu of a card

    def make_card_menu(self, card: "StageCard", at: QPoint) -> QMenu | None:
        """Return the menu of the map under a point of a card; None if the card shows no numbers."""
        trace, stage = self._find_trace(), card.stage.name
        if trace is None or card.data is None or stage not in trace:
            return None
        cell, head = card.cell_at(QPoint(at).toPointF()), self._playground.document.view.head
        if cell is not None and cell.head is not None:
            head = cell.head
        menu = QMenu(card)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._playground.cells.fill_menu(menu, cell)
        formats = menu.addMenu(f"Copy {_format_name(trace, stage, head)} as")
        for form, title in TITLES.items():
            formats.addAction(title).triggered.connect(partial(self._on_copy_chosen, form, stage, head))
        picture = menu.addAction("Copy picture")
        picture.triggered.connect(partial(self._on_picture_chosen, stage, head))
        figure = menu.addAction("Export a picture or a table…")
        figure.triggered.connect(partial(self._on_export_chosen, stage, head))
        menu.addMenu(make_colour_menu(self._playground.document, stage, menu))
        return menu

    @Slot(object, QPoint)
    def _on_menu_wanted(self, card: "StageCard", at: QPoint) -> None:
        menu = self.make_card_menu(card, at)
        if menu is not None:
            menu.popup(card.mapToGlobal(at))

    def _on_copy_chosen(self, form: str, stage: str, head: int | str, _checked: bool = False) -> None:
        self.copy_stage(form, stage, head)

    def _on_picture_chosen(self, stage: str, head: int | str, _checked: bool = False) -> None:
        self.copy_picture(stage, head)

    def _on_export_chosen(self, stage: str, head: int | str, _checked: bool = False) -> None:
        self._playground.files.export_stage(stage, head)

    # The worker

    def _copy(self, build: Callable[[], str], note: str) -> None:
        self._run(build, note)

    def _run(self, work: Callable[[], str], note: str) -> None:
        """Create a text in the background and copy it to the clipboard, unless it is empty."""

        def job() -> str:
            try:
                return work()
            except MemoryError:
                sentence = "There is not enough memory for a text this long; export the stage to a file instead."
                raise AttnlabError(sentence) from None

        done = partial(self._on_done, note)
        run(job, on_done=done, on_failed=self._say, lane=self._playground.lane, doing="writing the text")

    def _on_done(self, note: str, text: str) -> None:
        if text:
            QGuiApplication.clipboard().setText(text)
        self._note(note)

    def _note(self, sentence: str) -> None:
        self._playground.step_bar.show_note(sentence)
        self.done.emit(sentence)

    def _say(self, sentence: str) -> None:
        self._playground.step_bar.show_message(sentence)
        self.done.emit(sentence)

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        """Remember whether a table or the canvas had the focus last; ignore menus and fields."""
        p = self._playground
        for area, in_table in ((p.inputs.table, True), (p.lenses, False)):
            if new is not None and (area is new or area.isAncestorOf(new)):
                self._in_table = in_table


def _find_one_head(trace: "Trace", head: int | str) -> int | str:
    """Return the head's index if it is the only one, so that the array is a matrix and not a stack of one."""
    return 0 if head == "all" and trace.experiment.n_heads == 1 else head


def _format_name(trace: "Trace", stage: str, head: int | str) -> str:
    n, head = trace.experiment.n_heads, _find_one_head(trace, head)
    noun = trace.stage(stage).noun
    if not trace.stage(stage).has_heads:
        return noun
    whose = {"all": f"all {n} heads", "mean": "the mean head"}
    return f"{noun} of {whose[head] if isinstance(head, str) else f'head {head}'}"


def _format_size(t: Table) -> str:
    rows, columns = t.values.shape[-2:]
    return f"{rows} × {columns}" + (" each" if t.values.ndim == 3 else "")
