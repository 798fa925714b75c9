"""The section "Is it typical?": questions that queue runs, the queue's progress, and the band of its curves."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from attnlab.training.questions import QUESTIONS, check_plan
from attnlab.training.results import find_range
from attnlab.ui.base.announcing import show_text
from attnlab.ui.train.queue_words import describe_entry, describe_queue, tell_entry
from attnlab.ui.train.run_queue import Entry, RunQueue
from attnlab.ui.train.run_views import make_curves
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace

BUSY = "A queue is being trained; stop it first"


class QueuePanel(QWidget):
    """Asks the questions and shows the queue; ``results_requested`` when its button is pressed."""

    results_requested = Signal()

    def __init__(self, workspace: "TrainWorkspace", queue: RunQueue) -> None:
        super().__init__()
        self._workspace, self.queue = workspace, queue
        heading = QLabel("Is it typical?")
        heading.setProperty("role", "section")
        self.questions: dict[str, QPushButton] = {}
        asked = FlowLayout(gap=6)
        for name, question in QUESTIONS.items():
            button = QPushButton(question.title)
            button.setProperty("small", "true")
            button.clicked.connect(partial(self.ask, name))
            self.questions[name] = button
            asked.addWidget(button)
        self.told, self.problem = make_wrapped_label("caption"), make_wrapped_label("error")
        self.go_button, self.results_button = QPushButton(), QPushButton("Results")
        self.clear_button = QPushButton("Remove")
        self.results_button.setToolTip("A table of the runs, their maps at the same step, and their numbers as CSV")
        self.clear_button.setToolTip("Remove the queue from here; its runs are kept under Runs")
        self.go_button.clicked.connect(self._on_go)
        self.results_button.clicked.connect(self.results_requested)
        self.clear_button.clicked.connect(queue.clear)
        self._rows = QGridLayout()
        self._rows.setHorizontalSpacing(8)
        self._rows.setVerticalSpacing(2)
        self._rows.setColumnStretch(0, 1)
        self._cells: list[tuple[ElidedLabel, QLabel]] = []
        buttons = FlowLayout(gap=6)
        for each in (self.go_button, self.results_button, self.clear_button):
            each.setProperty("small", "true")
            buttons.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(6)
        head = QHBoxLayout()
        head.addWidget(heading)
        column.addLayout(head)
        column.addLayout(asked)
        column.addWidget(self.problem)
        column.addWidget(self.told)
        column.addLayout(self._rows)
        column.addLayout(buttons)
        self.problem.hide()
        queue.changed.connect(self.show_queue)
        queue.failed.connect(self._say)
        workspace.session.checked.connect(self._on_checked)
        workspace.session.progressed.connect(self._enable)
        self.show_queue()

    @Slot()
    def ask(self, name: str) -> None:
        """Queue the runs that answer a question about the present settings."""
        session, question = self._workspace.session, QUESTIONS[name]
        from attnlab.training.tasks import check

        plan = question.plan(session.spec)
        problem = check_plan(plan, check)
        self._say(problem)
        if not problem:
            known = (session.run, *session.kept, *self.queue.runs)
            self.queue.begin(question.title, plan, [run for run in known if run is not None])
            self.go_button.setFocus()  # otherwise the focus of the button, now disabled, goes to the list of runs
            QTimer.singleShot(0, self, self._scroll)  # once its rows have their places

    @Slot()
    def _scroll(self) -> None:
        """Show as much of the queue as there is room for."""
        self._workspace.settings.ensureWidgetVisible(self)

    @Slot()
    def show_queue(self) -> None:
        """Show how far the queue is."""
        queue = self.queue
        self._enable()
        self.told.setText(describe_queue(queue))
        self.told.setVisible(bool(queue.entries))
        for row, entry in enumerate(queue.entries):
            self._show_entry(row, entry)
        for row, cells in enumerate(self._cells):
            for cell in cells:
                cell.setVisible(row < len(queue.entries))
        whole = queue.done == len(queue.entries)
        self.go_button.setText("Stop" if queue.alive else "Go on")
        self.go_button.setToolTip(
            "Stop the present run and train no other; what is done stays"
            if queue.alive
            else "Train the runs that are left"
        )
        self.go_button.setVisible(bool(queue.entries) and not whole)
        for button in (self.results_button, self.clear_button):
            button.setVisible(bool(queue.entries))
        self._show_band()

    def _show_entry(self, row: int, entry: Entry) -> None:
        if row == len(self._cells):
            name, value = ElidedLabel(), QLabel()
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._rows.addWidget(name, row, 0)
            self._rows.addWidget(value, row, 1)
            self._cells.append((name, value))
        name, value = self._cells[row]
        running = entry is self.queue.current
        name.setText(entry.planned.name)
        value.setText(describe_entry(entry, running))
        value.setProperty("role", "number")
        for cell in (name, value):
            cell.setToolTip(tell_entry(entry, running))
        value.setAccessibleName(f"{entry.planned.name}: {value.text()}")

    def _show_band(self) -> None:
        """Show between which values the runs lie, if they learn the task that is shown."""
        session, queue = self._workspace.session, self.queue
        spec = session.run.spec if session.run is not None else session.spec
        runs = queue.runs
        fits = len(runs) > 1 and runs[0].spec.task == spec.task
        loss, right = (find_range(runs, measure) if fits else None for measure in ("loss", "right"))
        shown = (session.run, *self._workspace.views.list_overlaid())
        members = [
            make_curves(entry.run, entry.planned.name)
            for entry in queue.entries
            if fits and entry.run is not None and entry.run not in shown
        ]
        self._workspace.curves.show_range(f"{queue.title[:1].lower()}{queue.title[1:]}", loss, right, members)

    @Slot()
    def _on_checked(self) -> None:
        self._enable()
        self._show_band()

    @Slot()
    def _on_go(self) -> None:
        self.queue.stop() if self.queue.alive else self.queue.go_on()

    @Slot()
    def _enable(self) -> None:
        """Offer the questions that the settings allow; a model without heads cannot have other numbers of them."""
        from attnlab.training.models import KINDS

        session = self._workspace.session
        kind = KINDS[session.spec.model.kind]
        for name, button in self.questions.items():
            why = BUSY if self.queue.alive else "" if session.can_start else "These settings cannot be trained"
            if not why and QUESTIONS[name].setting == "heads" and "heads" not in kind.fields:
                why = f"{kind.title} has no heads"
            button.setEnabled(not why)
            button.setToolTip(why or QUESTIONS[name].about)

    @Slot(str)
    def _say(self, sentence: str) -> None:
        show_text(self.problem, sentence)
        self.problem.setVisible(bool(sentence))
