"""The results of a queue: a table, one map of each run at the same step, and the numbers as CSV."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from attnlab.files.atomic import write_bytes
from attnlab.training.results import list_patterns, to_csv
from attnlab.ui.base import jobs
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.dialog_parts import ask_where, button, make_scroll_area
from attnlab.ui.base.dialog_size import fit
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.export.file_name import make_slug
from attnlab.ui.train.maps_view import MapsView
from attnlab.ui.train.model_worker import ModelWorker
from attnlab.ui.train.queue_maps import QueueMaps, Wanted
from attnlab.ui.train.queue_table import QueueTable
from attnlab.ui.train.run_queue import RunQueue
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label
from attnlab.ui.widgets.fields.segments import Segments

LEAST_ROOM = 160
"""The least height in which all maps are to be seen at once, in pixels at 100 %."""
NO_MAPS = "The maps appear when the patterns of a run are measured."
NO_HEADS = "These models have no attention, so there are no maps."


@guarded
class QueueDialog(QDialog):
    """Shows a queue while it trains and afterwards. ``probe`` is the text whose maps are shown."""

    def __init__(self, queue: RunQueue, probe: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Is it typical? {queue.title}")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._queue, self._probe, self._pattern = queue, probe, ""
        self._patterns = tuple[str, ...]()
        computing = QueueMaps()
        self._look = computing.look
        self._worker = ModelWorker({"look": "computing the maps of the queue"}, computing.prepare, self)
        self.table, self.view = QueueTable(), MapsView()
        self.switch = Segments("Pattern whose best head is shown")
        self.switch.chosen.connect(self._on_pattern_chosen)
        self.place = QSlider(Qt.Orientation.Horizontal)
        self.place.setAccessibleName("Step of the maps")
        self.place.setMaximum(max((entry.planned.spec.train.steps for entry in queue.entries), default=0))
        self.place.setValue(self.place.maximum())
        self.place.valueChanged.connect(self._ask)
        self.step, self.note, self.told = QLabel(), make_wrapped_label("muted"), make_wrapped_label("caption")
        self.save_button = button("Export CSV…", "Save the table with all digits")
        self.save_button.clicked.connect(self.ask_save)
        self.close_button = button("Close", "Close this window; training continues")
        self.close_button.clicked.connect(self.accept)
        self._lay_out()
        queue.changed.connect(self.show_queue)
        self.finished.connect(self._worker.stop)
        self.show_queue()
        fit(self, (420, 320), (1320, 720))

    def _lay_out(self) -> None:
        heading = QLabel(f"{self._queue.title}, on held-out examples")
        heading.setProperty("role", "title")
        heading.setFont(font("title"))
        inside = QWidget()
        inside.setProperty("ground", "ground")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, px(8), 0, px(8))  # at the sides in line with what is above and below
        column.setSpacing(px(8))
        for part in (self.table, self.switch, self.note, self.view):
            column.addWidget(part)
        column.addStretch(1)
        self.switch.setSizePolicy(self.view.sizePolicy().horizontalPolicy(), self.note.sizePolicy().verticalPolicy())
        line, foot = QHBoxLayout(), QHBoxLayout()
        line.addWidget(self.place, 1)
        line.addWidget(self.step)
        self.step.setFont(font("number"))
        foot.addWidget(self.told, 1)
        foot.addWidget(self.save_button)
        foot.addWidget(self.close_button)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(px(16), px(16), px(16), px(16))
        rows.setSpacing(px(8))
        rows.addWidget(heading)
        self._area = make_scroll_area(inside, "Results and maps")
        rows.addWidget(self._area, 1)
        rows.addLayout(line)
        rows.addLayout(foot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """Let the maps fill what the table and the switch above them leave."""
        above = [each for each in (self.switch, self.note) if each.isVisibleTo(self)]
        others = self.table.height() + sum(each.sizeHint().height() for each in above) + (len(above) + 3) * px(8)
        self.view.set_room(max(self._area.height() - others, px(LEAST_ROOM)))

    @Slot()
    def show_queue(self) -> None:
        """Show the results as they stand; maps only where they have changed."""
        results = self._queue.list_results()
        self.table.show_results(results)
        self.save_button.setEnabled(bool(results))
        patterns = list_patterns(results)
        if patterns != self._patterns:
            self._patterns = patterns
            self._pattern = self._pattern if self._pattern in patterns else next(iter(patterns), "")
            self.switch.set_choices([Choice(name, f"{name[:1].upper()}{name[1:]}", "") for name in patterns])
            self.switch.set_value(self._pattern)
        self.switch.setVisible(len(patterns) > 1)
        ended = bool(results) and self._queue.done == len(self._queue.entries)
        self.note.setText(NO_HEADS if ended and not self._queue.measuring and not patterns else NO_MAPS)
        self.note.setVisible(not patterns)
        self._make_room()
        self._ask()

    @Slot()
    def _ask(self) -> None:
        """Ask for the maps of all runs that have a best head, at the moments nearest to the step."""
        step = self._find_step()
        self.step.setText(f"step {step:,}")
        wanted = []
        for entry in self._queue.entries:
            head = next((best.head for best in entry.patterns if best.pattern == self._pattern), "")
            moment = entry.run.recorder.find_nearest(step) if entry.run is not None else None
            if head and moment is not None:
                told = "" if moment.step == step else f"step {moment.step:,}"
                wanted.append(Wanted(entry.planned.name, entry.planned.spec, moment.step, moment.weights, head, told))
        self.view.setVisible(bool(wanted))
        if wanted:
            self._worker.ask("look", partial(self._look, wanted, self._probe), self.view.show_maps, self._say)

    def _find_step(self) -> int:
        """Return the step nearest to the slider that most runs have recorded, so that their maps can be compared."""
        step = self.place.value()
        found = [moment.step for run in self._queue.runs if (moment := run.recorder.find_nearest(step)) is not None]
        return max(found, key=lambda each: (found.count(each), -abs(each - step)), default=step)

    @Slot(object)
    def _on_pattern_chosen(self, name: object) -> None:
        self._pattern = str(name)
        with QSignalBlocker(self.switch):
            self.switch.set_value(self._pattern)
        self._ask()

    # Saving

    @Slot()
    def ask_save(self) -> None:
        """Ask where to save the table."""
        name = f"{make_slug(self._queue.title)}.csv"
        ask_where(self, "Export the results", "Table (*.csv)", name, self.save)

    def save(self, path: Path) -> None:
        """Write the table as CSV."""
        data = to_csv(self._queue.list_results()).encode()
        told = f"Saved {path}"
        jobs.run(
            partial(write_bytes, path, data),
            on_done=lambda _: self._say(told),
            on_failed=self._say,
            doing="saving the results",
            owner=self,
        )

    def _say(self, sentence: str) -> None:
        show_text(self.told, sentence)
