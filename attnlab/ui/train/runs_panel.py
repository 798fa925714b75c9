"""The saved runs: a short list under the settings, the overlay of their curves, and actions on them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QMessageBox, QPushButton, QVBoxLayout, QWidget

from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.training.store import Summary
from attnlab.ui.train.curves_panel import OTHERS
from attnlab.ui.train.run_files import RunFiles
from attnlab.ui.train.run_row import RunRow
from attnlab.ui.train.run_words import (
    Named,
    describe_start,
    find_loss,
    format_line,
    format_title,
    make_heading,
    make_usual_name,
    tell_apart,
)

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace

MOST = 6
"""The number of runs listed besides those whose curves are shown; the table has all of them."""


class RunsPanel(QWidget):
    """Lists runs; ``compare_requested`` carries the folder of a run to show beside this one."""

    compare_requested = Signal(object)
    table_requested = Signal()
    changed = Signal()

    def __init__(self, workspace: "TrainWorkspace", keeper: RunFiles) -> None:
        super().__init__()
        self._workspace, self._session, self.keeper = workspace, workspace.session, keeper
        self.found: tuple[Summary, ...] = ()
        self.rows: dict[Path | None, RunRow] = {}
        self._told: object = None
        heading = QLabel("Runs")
        heading.setProperty("role", "section")
        self.all_button = QPushButton("All runs")
        self.all_button.setToolTip("A table of all saved runs: compare, open, rename, delete")
        self.all_button.clicked.connect(self.table_requested)
        head = QHBoxLayout()
        head.addWidget(heading, 1)
        head.addWidget(self.all_button)
        self._lines = QVBoxLayout()
        self._lines.setSpacing(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addLayout(self._lines)
        keeper.listed.connect(self._on_listed)
        keeper.renamed.connect(workspace.show_names)
        self._session.progressed.connect(self._on_progressed)
        keeper.refresh()

    def is_open(self, folder: Path) -> bool:
        """Whether a run is open in the workspace."""
        run = self._session.run
        return run is not None and self.keeper.find_folder(run) == folder

    def find_overlaid(self, folder: Path) -> Run | None:
        """Return the overlaid run of a folder, if there is one."""
        return next((run for run in self._session.kept if self.keeper.find_folder(run) == folder), None)

    def make_heading(self, spec: RunSpec) -> str:
        """Return what a run with these settings, the open one or one that has not begun, is called in a heading."""
        run = self._session.run
        name = run.name if run is not None and run.goes_with(spec) else make_usual_name(spec)
        return make_heading(name, spec, self._list_named())

    def _list_named(self) -> list[Named]:
        """Return the names and the settings of the saved runs."""
        return [(each.name, each.spec) for each in self.found if each.spec is not None]

    # Actions

    def toggle(self, folder: Path) -> None:
        """Overlay the curves of a run on this one's, or hide them."""
        run = self.find_overlaid(folder)
        if run is None and self._is_of_other_task(folder):
            self._workspace.footer.show_message("Losses of different tasks cannot be compared; open that run instead.")
            self._show()
        elif run is None:
            self.keeper.load(folder, self._lay_over, whole=False)
        else:
            self._session.kept = tuple(other for other in self._session.kept if other is not run)
            self._show_over()

    def _is_of_other_task(self, folder: Path) -> bool:
        run = self._session.run
        task = (run.spec if run is not None else self._session.spec).task
        return any(each.spec.task != task for each in self.found if each.folder == folder and each.spec is not None)

    def open(self, folder: Path) -> None:
        """Open a saved run; it can be continued if it has steps left."""
        if not self.is_open(folder):
            self._workspace.footer.show_message(f"Opening “{self._find_title(folder)}”…", wrong=False)
            self.keeper.load(folder, self._open)

    def open_shipped(self, folder: Path, then: Callable[[], None]) -> None:
        """Open the run of a lesson, which stays as it is, unless it is open; then call ``then``."""
        run = self._session.run
        if run is not None and self.keeper.find_source(run) == folder:
            then()
            return

        def take(found: Run) -> None:
            self._open(found)
            then()

        self.keeper.load(folder, take, shipped=True)

    def delete(self, folder: Path) -> None:
        """Ask whether to delete a run, and if so delete it."""
        box = QMessageBox(self.window())
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"Delete the run “{self._find_title(folder)}” permanently?")
        yes = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        yes.clicked.connect(partial(self._delete, folder))
        box.open()

    @Slot(str, object)
    def ask_for_text(self, text: str, allow: Callable[[], None]) -> None:
        """Ask whether attnlab may read the text that a run names; call ``allow`` if so."""
        from attnlab.training.allowed_texts import write_question

        self._workspace.footer.show_message("")
        box = QMessageBox(self.window())
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"{write_question(text)} May attnlab read it?")
        box.addButton("Read the text", QMessageBox.ButtonRole.AcceptRole).clicked.connect(allow)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        box.open()

    def reveal(self, folder: Path) -> None:
        """Show the folder of a run in the system's file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _find_title(self, folder: Path) -> str:
        """Return the title of a run, or the name of its folder if it is not listed."""
        return next((format_title(each) for each in self.found if each.folder == folder), folder.name)

    def _delete(self, folder: Path) -> None:
        run = self.find_overlaid(folder)
        if run is not None:
            self.toggle(folder)
        self.keeper.delete(folder)

    def _lay_over(self, run: Run) -> None:
        self._session.kept = (*self._session.kept, run)
        self._show_over()

    def _open(self, run: Run) -> None:
        self._workspace.footer.show_message("")
        folder = self.keeper.find_source(run)
        self._session.kept = tuple(other for other in self._session.kept if self.keeper.find_source(other) != folder)
        self._workspace.open_run(run)
        self._show_over()

    def _show_over(self) -> None:
        self._workspace.views.show_curves()
        self._show()
        self.changed.emit()

    # Showing the list

    @Slot(object)
    def _on_listed(self, found: tuple[Summary, ...]) -> None:
        self.found = tuple(each for each in found if not each.problem)
        self._show()
        self.changed.emit()

    @Slot()
    def _on_progressed(self) -> None:
        run = self._session.run
        row = self.rows.get(None)
        if row is not None and run is not None and self._workspace.is_shown:
            row.show_loss(find_loss(run))
        told = (run, self._session.kept)
        if told != self._told:
            self._told = told
            self._show()
            self.changed.emit()

    def _show(self) -> None:
        focus = next((folder for folder, row in self.rows.items() if row.hasFocus()), None)
        while (item := self._lines.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.rows = {}
        run = self._session.run
        if run is not None:
            mine = RunRow("this run", find_loss(run), "accent", "The open run")
            mine.setChecked(True)
            mine.setEnabled(False)
            self._add(None, mine)
        spec = run.spec if run is not None else self._session.spec
        colours = self.list_colours()
        others = [each for each in self.found if not self.is_open(each.folder)]
        recent = [each for each in others if each.folder not in colours][:MOST]
        listed = [each for each in others if each in recent or each.folder in colours]
        lines = [format_line(each, spec, self._list_named()) for each in listed]
        names = tell_apart([name for name, _ in lines], [describe_start(each.folder, each.saved) for each in listed])
        for each, name, (_, tip) in zip(listed, names, lines, strict=True):
            row = RunRow(name, each.loss, colours.get(each.folder, "muted"), tip)
            row.setChecked(each.folder in colours)
            row.clicked.connect(partial(self.toggle, each.folder))
            row.opened.connect(partial(self.open, each.folder))
            row.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            row.customContextMenuRequested.connect(partial(self._on_menu_wanted, each.folder))
            self._add(each.folder, row)
            if each.folder == focus:
                row.setFocus()
        if focus is not None and focus not in self.rows:  # it was opened or deleted
            self._workspace.maps.view.setFocus()
        self.setVisible(bool(self.rows))

    def _add(self, folder: Path | None, row: RunRow) -> None:
        before = next(reversed(self.rows.values()), self.all_button)
        self.rows[folder] = row
        self._lines.addWidget(row)
        QWidget.setTabOrder(before, row)

    def list_colours(self) -> dict[Path, str]:
        """Return the colour of each overlaid run, by its folder."""
        overlaid = self._workspace.views.list_overlaid()
        folders = [self.keeper.find_folder(run) for run in overlaid]
        return {at: OTHERS[i % len(OTHERS)] for i, at in enumerate(folders) if at is not None}

    def _on_menu_wanted(self, folder: Path, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        over = self.find_overlaid(folder) is not None
        menu.addAction("Open", partial(self.open, folder))
        menu.addAction("Hide its curves" if over else "Overlay its curves", partial(self.toggle, folder))
        menu.addAction("Side by side with this run", partial(self.compare_requested.emit, folder))
        menu.addAction("Show its folder", partial(self.reveal, folder))
        menu.addSeparator()
        menu.addAction("Delete…", partial(self.delete, folder))
        menu.popup(self.rows[folder].mapToGlobal(at))
