"""The dialog of all saved runs: their table, and the actions on the chosen one."""

from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QMenu, QPushButton, QTableWidgetItem, QVBoxLayout, QWidget

from attnlab.ui.base.dialog_size import fit
from attnlab.ui.base.theme import font, px
from attnlab.ui.train.run_words import describe_state, format_title
from attnlab.ui.train.runs_panel import RunsPanel
from attnlab.ui.train.runs_table import FOLDER, KEPT, NAME, RunsTable
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

NONE_CHOSEN = "Choose a run in the table first"
OPEN = "This is the run that is open"
OVERLAY, HIDE = "Overlay curves", "Hide curves"


class RunsDialog(QDialog):
    """Shows the panel's runs; the panel carries out the actions."""

    def __init__(self, panel: RunsPanel, parent: QWidget) -> None:
        super().__init__(parent)
        self._panel = panel
        self.setWindowTitle("Runs")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.table = RunsTable()
        self.open_button = QPushButton("Open")
        self.open_button.setProperty("primary", "true")
        self.over_button, self.compare_button = QPushButton(OVERLAY), QPushButton("Side by side")
        self.rename_button, self.folder_button = QPushButton("Rename"), QPushButton("Show folder")
        self.delete_button = QPushButton("Delete…")
        self._abouts = {
            self.open_button: "Show the chosen run: settings, curves and moments; it can be continued (Enter)",
            self.over_button: "Show or hide its curves over those of the open run",
            self.compare_button: "Show its maps beside those of the open run",
            self.rename_button: "Give it another name (F2)",
            self.folder_button: "Show its folder",
            self.delete_button: "Delete it permanently (Delete)",
        }
        self.heading, self.note = QLabel("Runs"), QLabel()
        self._lay_out()
        self._connect()
        self.show_runs()
        self.table.sortByColumn(KEPT, Qt.SortOrder.DescendingOrder)
        fit(self, (480, 320), (1040, 480))

    def _lay_out(self) -> None:
        self.heading.setProperty("role", "title")
        self.heading.setFont(font("title"))
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setProperty("role", "caption")
        self.note.setWordWrap(True)
        head, foot = QHBoxLayout(), FlowLayout(gap=px(8))
        head.addWidget(self.heading)
        for each in self._abouts:
            each.setAutoDefault(False)  # Enter belongs to the table
            foot.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(16), px(16), px(16))
        column.setSpacing(px(8))
        column.addLayout(head)
        column.addWidget(self.table, 1)
        column.addWidget(self.note)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.table.itemSelectionChanged.connect(self._enable)
        self.table.itemChanged.connect(self._on_item_changed)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._on_menu_wanted)
        self.table.open_asked.connect(self.open_button.click)  # does nothing while the button is disabled
        self.table.delete_asked.connect(self.delete_button.click)
        self.open_button.clicked.connect(self._on_open)
        self.over_button.clicked.connect(lambda: self._do_with_chosen(self._panel.toggle))
        self.compare_button.clicked.connect(self._on_compare)
        self.rename_button.clicked.connect(self.table.rename)
        self.folder_button.clicked.connect(lambda: self._do_with_chosen(self._panel.reveal))
        self.delete_button.clicked.connect(lambda: self._do_with_chosen(self._panel.delete))
        self._panel.changed.connect(self.show_runs)

    @property
    def chosen(self) -> Path | None:
        """The folder of the chosen run."""
        return self.table.chosen

    @Slot()
    def show_runs(self) -> None:
        """Show the current runs; the choice is kept."""
        if not self.table.is_typed_in:
            self.table.show_runs(self._panel.found)
            self._enable()

    @Slot()
    def _enable(self) -> None:
        folder, found = self.chosen, self._panel.found
        here = folder is not None and self._panel.is_open(folder)
        over = folder is not None and self._panel.find_overlaid(folder) is not None
        for each, about in self._abouts.items():
            why = NONE_CHOSEN if folder is None else OPEN if here else ""
            if each in (self.rename_button, self.folder_button) and folder is not None:
                why = ""
            each.setEnabled(not why)
            each.setToolTip(why or about)
        self._name_over_button(over)
        chosen = next((each for each in found if each.folder == folder), None)
        count = f"{len(found) or 'No'} runs are saved." if len(found) != 1 else "One run is saved."
        if chosen is not None:
            count = f"{format_title(chosen)}: {describe_state(chosen)}.{f' {OPEN}.' if here else ''}"
        self.note.setText(count)

    def _name_over_button(self, over: bool) -> None:
        """Name what the button does, in a width that both names need, so that the buttons beside it stay in place."""
        widths = []
        for text in (HIDE, OVERLAY) if not over else (OVERLAY, HIDE):
            self.over_button.setText(text)
            widths.append(self.over_button.sizeHint().width())
        self.over_button.setMinimumWidth(max(widths))

    def _do_with_chosen(self, do: object) -> None:
        if self.chosen is not None and callable(do):
            do(self.chosen)

    @Slot()
    def _on_open(self) -> None:
        self._do_with_chosen(self._panel.open)
        self.accept()

    @Slot()
    def _on_compare(self) -> None:
        self._do_with_chosen(self._panel.compare_requested.emit)
        self.accept()

    @Slot(QPoint)
    def _on_menu_wanted(self, at: QPoint) -> None:
        if self.table.itemAt(at) is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for each in self._abouts:
            menu.addAction(each.text(), each.click).setEnabled(each.isEnabled())
        menu.popup(self.table.viewport().mapToGlobal(at))

    @Slot(QTableWidgetItem)
    def _on_item_changed(self, item: QTableWidgetItem) -> None:
        name = " ".join(item.text().split())
        if item.column() == NAME and name:
            self._panel.keeper.rename(Path(item.data(FOLDER)), name)
        else:
            self._panel.keeper.refresh()
