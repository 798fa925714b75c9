"""The training workspace: settings, maps and curves side by side, controls above, and the time line below."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.base.late import Late
from attnlab.ui.train.change_question import ChangeQuestion
from attnlab.ui.train.control_bar import ControlBar
from attnlab.ui.train.curves_panel import CurvesPanel
from attnlab.ui.train.inspector import Checked, Seen
from attnlab.ui.train.maps_head import INSIDE, MODEL
from attnlab.ui.train.maps_panel import MapsPanel
from attnlab.ui.train.panel_layout import PanelLayout, fill_side
from attnlab.ui.train.predictions_panel import PredictionRow, PredictionsPanel
from attnlab.ui.train.run_views import RunViews
from attnlab.ui.train.run_words import make_title, make_usual_name
from attnlab.ui.train.settings_panel import SettingsPanel
from attnlab.ui.train.text_panel import LENGTH, TextPanel
from attnlab.ui.train.time_bar import TimeBar
from attnlab.ui.train.train_session import TrainSession
from attnlab.ui.train.training_announcements import TrainingAnnouncements

if TYPE_CHECKING:
    from attnlab.training.look import Written

CURVES_EVERY, TEXT_EVERY = 5, 24
"""Frames between two drawings of the curves, and between two texts."""
KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class Tools(Protocol):
    """Additional tools of the workspace, such as runs on disk; see :mod:`attnlab.ui.train.train_tools`."""

    @property
    def busy(self) -> bool:
        """Whether a run is being read or written."""

    def find_folder(self, run: Run) -> Path | None:
        """Return the folder of a run; None if it is not saved yet."""

    def stop(self) -> None:
        """Stop the threads; may be called twice."""


class TrainWorkspace(QObject):
    """Connects the panels: commands go to the session, its signals to the panels."""

    def __init__(self, spec: RunSpec, parent: QObject, page: QWidget) -> None:
        """``page`` is the parent of the parts."""
        super().__init__(parent)
        self._frames, self._broken, self._shown = 0, False, False
        self._title = ""
        self.tools: Tools | None = None
        self.session = TrainSession(spec, self)
        self.header, self.room = ControlBar(page), PanelLayout(page)  # in this order, which Tab follows
        self.body, self.side = self.room.body, self.room.side
        self.settings, self.maps = SettingsPanel(spec, self.room.left), MapsPanel(self.body)
        self.curves, self.written, self.text = CurvesPanel(self.side), PredictionsPanel(self.side), TextPanel(self.side)
        self._heading = fill_side(self.side, self.curves, self.written, self.text)
        self.question = ChangeQuestion(self)
        self.room.fill(self.header, self.settings, self.maps, self.question)
        self.footer = TimeBar()  # reached by Tab after what is still added to the panels
        self.views = RunViews(self.session, self.footer, self.curves, self.maps, self._find_folder)
        self._course = Late(self.views.show_course, self)
        self._connect()
        self.announcements = TrainingAnnouncements(self.session, self.header)
        self.header.show_about(self.session)
        self._show_state()

    def _connect(self) -> None:
        session, inspection = self.session, self.session.inspection
        self.header.start_requested.connect(self.start)
        self.header.pause_requested.connect(session.pause)
        self.header.step_requested.connect(self.step)
        self.header.stop_requested.connect(session.stop)
        self.header.reset_requested.connect(self.reset)
        self.header.settings_toggled.connect(self.room.show_settings)
        self.settings.spec_changed.connect(self._on_spec_changed)
        self.settings.broken.connect(self._on_broken)
        self.maps.probe_changed.connect(session.set_probe)
        self.maps.gradients_wanted.connect(self._on_gradients_wanted)
        self.maps.page_changed.connect(self._on_page_changed)
        self.maps.step_chosen.connect(self._on_step_chosen)
        self.curves.step_chosen.connect(self._on_step_chosen)
        self.text.text_wanted.connect(self._ask_text)
        self.footer.moment_chosen.connect(self._on_moment_chosen)
        self.footer.mark_requested.connect(session.toggle_mark)
        session.checked.connect(self._on_checked)
        session.started.connect(self._on_started)
        session.progressed.connect(self._on_progressed)
        session.marked.connect(self.views.show_marks)
        session.ended.connect(self._on_ended)
        session.failed.connect(self._on_failed)
        session.told.connect(self._on_failed)
        inspection.looked.connect(self._on_looked)
        inspection.probe_refused.connect(self.maps.head.say)
        inspection.wrote.connect(self._on_wrote)
        self.maps.heads.off_changed.connect(self._on_heads_off)
        self.maps.worth_wanted.connect(self._on_worth_wanted)
        inspection.heads_measured.connect(self.maps.show_effects)
        inspection.texted.connect(self.text.show_text)
        inspection.course.grown.connect(self.views.show_course)

    title_changed = Signal()

    def title(self) -> str:
        """Return the title of the run, or of the task before there is one, for the title of the window."""
        run = self.session.run
        spec = run.spec if run is not None else self.session.spec
        return make_title(run.name if run is not None else make_usual_name(spec), spec, None)

    def make_title(self, run: Run) -> str:
        """Return the title of a run, as the list of runs has it."""
        return make_title(run.name, run.spec, self._find_folder(run))

    def _find_folder(self, run: Run) -> Path | None:
        return self.tools.find_folder(run) if self.tools is not None else None

    @Slot()
    def show_names(self) -> None:
        """Show what runs are called, once the user has renamed one."""
        self.views.show_curves()
        self._show_state()

    # Commands

    @Slot()
    def start(self) -> None:
        """Start or continue, if the settings can be trained; pause a running training."""
        session = self.session
        if session.alive and session.state == "running":
            session.pause()
        elif session.alive or not self._broken:
            self._leave_other_run()
            session.start()

    @Slot()
    def step(self) -> None:
        """Take one step."""
        if self.session.alive or not self._broken:
            self._leave_other_run()
            self.session.step()

    @Slot()
    def reset(self) -> None:
        """Return to the first weights."""
        self.footer.stop()
        self.footer.show_message("")
        self.session.reset()
        self.views.show()

    def open_run(self, run: Run) -> None:
        """Open a saved run, with its settings, curves and moments."""
        self._broken = False
        self.footer.stop()
        self.footer.show_message("")
        self.session.open_run(run)
        self.settings.show_spec(run.spec)

    def show_moment(self, step: int, probe: str) -> None:
        """Show the recorded moment nearest to a step, for a text that the task can read."""
        self.footer.stop()
        self.session.show_moment(step, probe)
        self.views.show_current()

    def take_key(self, key: Qt.Key) -> bool:
        """Walk the moments with the keys of the time line, wherever focus is; False for any other key."""
        if not self._shown or key not in KEYS or not len(self.footer.line.steps):
            return False
        self.footer.line.take_key(key)
        return True

    def stop(self) -> None:
        """Stop process, worker and timers; may be called twice."""
        self.footer.stop()
        self.session.close()
        if self.tools is not None:
            self.tools.stop()

    def present(self) -> bool:
        """Present the diagram of the model, in place of the maps; False before there is a model to show."""
        if self.maps.seen is None:
            return False
        self.maps.present_model()
        return True

    def escape(self) -> None:
        """Close the settings where they hide the maps, else the large map."""
        if not self.room.close_settings():
            self.maps.close_map()

    def say(self, sentence: str) -> None:
        """Show a sentence below the time line."""
        self.footer.show_message(sentence)

    def choose_task(self, title: str) -> None:
        """Choose the task with a title, unless a model is in training; "" goes to the list of tasks."""
        if title and self.session.alive:
            self.say("Stop or reset the training to choose another task.")
        else:
            self.settings.choose_task(title)

    @property
    def is_shown(self) -> bool:
        """Whether this workspace is the visible one."""
        return self._shown

    @property
    def busy(self) -> bool:
        """Whether a result to be shown at once is pending: a run, its first maps."""
        behind = self.maps.answer.is_behind or self.maps.inside.is_behind or self._course.isActive()
        return behind or self.session.inspection.busy or (self.tools is not None and self.tools.busy)

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        """Return the bar of controls, the panels, and the time line."""
        return self.header, self.body, self.footer

    def enter(self) -> None:
        """Resume drawing."""
        self._shown = True
        self.session.watch(True)
        self.maps.view.setFocus()
        self.views.show()
        self._show_state()

    def leave(self) -> None:
        """Keep training, without drawing, and present nothing over another workspace."""
        self._shown = False
        self.maps.forget_presentation()
        self.session.watch(False)

    def arrange(self, width: int) -> None:
        """Lay the panels out for a width: if it is narrow, the curves are below the maps."""
        self.room.arrange(width)

    # Signals

    @Slot(object)
    def _on_spec_changed(self, spec: RunSpec) -> None:
        session, run, self._broken = self.session, self.session.run, False
        other = _find_data(spec) != _find_data(run.spec if run is not None else session.spec)
        session.set_spec(spec)
        trained = run is not None and run.step > 0 and run.spec.task == spec.task
        if other and not trained:  # of a run that is trained, the strip above the maps asks first
            self.written.show_rows([])  # they belong to the earlier task
            if run is not None and not session.alive:
                self.reset()
        self.header.show_about(session)
        self._show_state()

    @Slot(str)
    def _on_broken(self, _sentence: str) -> None:
        self._broken = True
        self._show_state()

    @Slot(object)
    def _on_checked(self, found: Checked) -> None:
        if not self._broken:
            self.settings.show_checked(found)
        if not found.problem:
            self.text.setVisible(found.writes_on)
            if not self.text.prompt.isModified():
                self.text.prompt.setText(found.probe)
            self._ask_text()
            self.views.show_curves()
        elif self._is_of_other_task(self.session.inspection.seen):
            self._show_nothing(found.problem)
        self.header.show_about(self.session)
        self._show_state()

    def _is_of_other_task(self, seen: Seen | None) -> bool:
        """Whether the settings have no run yet, and a moment, if there is one, is of an earlier task or file."""
        return self.session.run is None and (seen is None or _find_task(seen.spec) != _find_task(self.session.spec))

    def _show_nothing(self, problem: str) -> None:
        """Show nothing of the earlier task under the title of one that cannot be trained."""
        self.session.inspection.seen = None
        self.maps.show_nothing(f"There is nothing to show yet. {problem}")
        self.text.hide()
        self.written.show_rows([])
        self._show_written(False)
        self.views.show_curves()

    def _show_written(self, on: bool) -> None:
        for part in (self._heading, self.written):
            part.setVisible(on)

    @Slot()
    def _on_started(self) -> None:
        self.footer.show_message("")
        self.footer.stop()
        self.room.make_room_for_maps()
        self.header.show_about(self.session)
        self._show_state()

    @Slot()
    def _on_progressed(self) -> None:
        if not self._shown:
            return
        self._frames += 1
        resting = not self.session.alive or self.session.state != "running"
        if resting or self._frames % CURVES_EVERY == 0:
            self.views.show_moments()
            self.views.show_curves()
        if resting or self._frames % TEXT_EVERY == 0:
            self._ask_text()
        self._show_state()

    @Slot(str)
    def _on_ended(self, sentence: str) -> None:
        self.footer.show_message(sentence, wrong=self.session.reason == "nan")

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        self.footer.show_message(sentence)

    @Slot(object)
    def _on_looked(self, seen: Seen) -> None:
        if not self._shown or self._is_of_other_task(seen):  # requested before it was hidden, or another task chosen
            return
        self.maps.show_seen(seen)
        self.views.show_cursor(seen.look.step)
        self._course.ask(late=True)

    @Slot(object)
    def _on_wrote(self, rows: "tuple[Written, ...]") -> None:
        if self.session.run is None and self.session.valid is not None and self.session.valid.problem:
            return  # requested for the task before
        self._show_written(True)
        exact = self.session.valid is None or not self.session.valid.numbers
        self.written.show_rows(
            [PredictionRow(row.source, row.expected, row.predicted, exact, row.reads) for row in rows]
        )

    @Slot(int)
    def _on_moment_chosen(self, index: int) -> None:
        steps = self.footer.line.steps
        if not len(steps):
            return  # no moment is recorded, or no longer
        last = index >= len(steps) - 1
        self.session.look_at(None if last and self.session.alive else int(steps[min(index, len(steps) - 1)]))
        self._ask_text()

    @Slot(float)
    def _on_step_chosen(self, step: float) -> None:
        run = self.session.run
        moment = run.recorder.find_nearest(round(step)) if run is not None else None
        if moment is not None:
            self.footer.stop()
            self.session.look_at(moment.step)
            self.views.show_current()

    @Slot(bool)
    def _on_gradients_wanted(self, on: bool) -> None:
        self.session.inspection.gradients = on
        self.session.look()

    @Slot(bool)
    def _on_worth_wanted(self, on: bool) -> None:
        self.session.inspection.worth = on
        self.session.measure_heads()

    @Slot(str)
    def _on_page_changed(self, page: str) -> None:
        inspection, drawn = self.session.inspection, page == MODEL
        inspection.inside, inspection.stream = drawn, page == INSIDE
        self.room.show_side(not drawn)
        if drawn:
            self.room.make_room_for_maps()
        self.session.look()

    @Slot(object)
    def _on_heads_off(self, off: frozenset[tuple[str, int]]) -> None:
        self.session.inspection.inspector.off = off
        self.session.look()
        self._ask_text()

    @Slot()
    def _ask_text(self) -> None:
        if self._shown and self.session.valid is not None and self.session.valid.writes_on:
            self.session.inspection.request_text(
                self.session.find_moment(), self.text.prompt.text(), LENGTH, self.text.heat()
            )

    # Drawing

    def _leave_other_run(self) -> None:
        """Begin at the first weights, if the settings are of another model or other data than the run that is shown."""
        session, run = self.session, self.session.run
        if run is not None and not session.alive and _find_data(session.spec) != _find_data(run.spec):
            self.written.show_rows([])
            self.reset()

    def _show_state(self) -> None:
        self.settings.set_locked(self.session.alive)
        if self._shown and (title := self.title()) != self._title:
            self._title = title
            self.title_changed.emit()
        self.header.show_session(self.session, self.session.can_start and not self._broken)


def _find_data(spec: RunSpec) -> tuple[object, ...]:
    """Return the settings on which the shapes of weights and examples depend."""
    return *_find_task(spec), spec.model


def _find_task(spec: RunSpec) -> tuple[object, ...]:
    """Return the settings on which the examples depend."""
    return spec.task, dict(spec.options)
