"""Controls lessons: the open one, its pages, the draft and the presentation. Created on first use."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QWidget

from attnlab.base.errors import AttnlabError
from attnlab.lessons.lesson import Lesson
from attnlab.ui.base.announcing import silence
from attnlab.ui.base.dialog_parts import ask_which
from attnlab.ui.base.workspace import Host, Presenting
from attnlab.ui.lessons.draft_files import FILTER
from attnlab.ui.lessons.drafts import Drafts
from attnlab.ui.lessons.page_keys import PageKeys
from attnlab.ui.lessons.panel import LessonPanel
from attnlab.ui.lessons.player import LessonPlayer
from attnlab.ui.lessons.progress_keeper import ProgressKeeper
from attnlab.ui.lessons.states_beside import StatesBeside
from attnlab.ui.workspaces.playground import PLAYGROUND
from attnlab.ui.workspaces.train import TRAIN

if TYPE_CHECKING:
    from attnlab.lessons.slides import Slide
    from attnlab.ui.lessons.lesson_pages import LessonPages
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.predict.exercise_dialog import ExerciseDialog
    from attnlab.ui.present import PresentWindow

CANVAS = "canvas"
EXPLANATION = 1
"""The column of the playground whose upper part is the lesson."""


class LessonController(QObject):
    """Owns the player, the panel beside the playground, the lessons' workspace, the draft, and the presentation."""

    def __init__(self, playground: "Playground", window: Host) -> None:
        super().__init__(window)
        self._playground, self._window = playground, window
        self._touring = self._lens_opened = False
        self._unseen = self._refusal = ""
        self.player = LessonPlayer(playground.document, self)
        self.progress = ProgressKeeper(self.player, window, self)
        playground.announcements.is_led = lambda: self.player.leads
        self.panel: LessonPanel | None = None
        self.workspace: LessonPages | None = None
        self.presentation: PresentWindow | None = None
        self.exercise: ExerciseDialog | None = None
        self.drafts = Drafts(self)
        self.player.slide_changed.connect(self._on_slide_changed)
        self._keys = PageKeys(self.player, playground.body, self.take_key)
        self.beside = StatesBeside(playground, self.player, self)
        self.player.frame_changed.connect(self._on_frame_changed)
        self.player.answer_changed.connect(self._on_answer_changed)
        playground.document.scene_changed.connect(self._guide_steps)
        playground.computed.connect(self._on_computed)

    # Opening and walking

    def open(self, name: str | Path, step: int = 0) -> bool:
        """Open a lesson by its name or file, and walk it beside the playground; on failure show a message."""
        from attnlab.lessons.library import find

        try:
            lesson = find(str(name))
        except AttnlabError as error:
            self.refuse(str(error))
            return False
        return self.walk(lesson, step)

    def walk(self, lesson: Lesson, step: int = 0) -> bool:
        """Walk a lesson beside the playground, from one of its steps; False if it has none."""
        if not lesson.steps:
            self.show_lesson(lesson)
            self.refuse(f"{lesson.title or lesson.name} has no steps yet.")
            return False
        self.player.open(lesson, step)
        self._window.show_workspace(PLAYGROUND.name)
        self._playground.focus_view()
        if lesson.problems:
            first, more = lesson.problems[0], len(lesson.problems) - 1
            self.refuse(f"Line {first.line}: {first.reason}" + (f" And {more} more; see Lessons." if more else ""))
        return True

    def focus_question(self) -> None:
        """Show the playground, and go to the question of the open lesson's step."""
        if self.panel is not None:
            self._window.show_workspace(PLAYGROUND.name)
            self.panel.focus_question()

    def close(self) -> None:
        """Close the open lesson; the playground keeps its state."""
        self.player.close()

    def ask_open(self) -> None:
        """Ask for a lesson's file and open it."""
        from attnlab.lessons.library import find_user_folder

        ask_which(self._window, "Open a lesson", FILTER, self.open, find_user_folder())

    def take_key(self, key: Qt.Key) -> bool:
        """Walk the open lesson with a clicker's keys; False for any other key."""
        if self.player.slide is None or self._window.current != PLAYGROUND.name:
            return False
        if key == Qt.Key.Key_PageDown:
            self.player.go_next()
        elif key == Qt.Key.Key_PageUp:
            self.player.go_back()
        else:
            return False
        self._window.refresh_actions()
        return True

    @Slot()
    def open_run(self) -> None:
        """Show the recorded run of the step in the training workspace, at its moment and on its text."""
        from attnlab.ui.train.train_tools import find_tools

        recorded = self.player.slide.recorded if self.player.slide is not None else None
        trainer = self._window.workspace(TRAIN)
        if recorded is None or trainer is None:
            return
        self._window.show_workspace(TRAIN.name)
        if (tools := find_tools(trainer)) is not None:
            tools.show_shipped(recorded.folder, recorded.step, recorded.probe)

    # The workspace

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        """Return the lessons' bar, the list with a page, and the message line; reads all lessons."""
        from attnlab.ui.lessons.lesson_pages import LessonPages

        self.workspace = LessonPages(self)
        if self.drafts.draft is not None:  # recorded before the first visit
            self.workspace.show_draft(self.drafts.draft)
        return self.workspace.header, self.workspace.body, self.workspace.footer

    def enter(self) -> None:
        """Show the place in the open lesson."""
        self._forget_refusal()
        self.progress.save()
        if self.workspace is not None:
            self.workspace.mark_place()

    def leave(self) -> None:
        """Clear the message."""
        if self.workspace is not None:
            self.workspace.clear_message()

    def arrange(self, width: int) -> None:
        """Leave the layout to the splitter."""

    def escape(self) -> None:
        """Show all lessons again."""
        if self.workspace is not None and self.drafts.editing is None:
            self.workspace.go_back()

    def show_lesson(self, lesson: Lesson) -> None:
        """Show a lesson's page in the workspace."""
        self._window.show_existing(self)
        if self.workspace is not None:
            self.workspace.show_lesson(lesson)

    def check(self) -> None:
        """Check the lesson in view."""
        if self.workspace is not None:
            self.workspace.check()

    def is_own(self, lesson: Lesson) -> bool:
        """Return whether the user may change a lesson: shipped lessons are read-only."""
        return lesson.path is not None

    # Presenting

    def present(self, first: bool = False) -> None:
        """Present the open lesson from its current or first step; without a lesson, what the workspace in view has to
        present, or a tour of the open experiment. A presentation goes over to a lesson chosen meanwhile."""
        chosen = self.workspace.chosen if self.workspace is not None else None
        if chosen is not None and not self._is_at(*chosen) and not self.walk(*chosen):
            return
        if self.presentation is not None:
            self._touring = self._touring and chosen is None
            self.presentation.raise_()
            self.presentation.activateWindow()
            return
        shown: object = self._window.shown
        if self.player.slide is None and isinstance(shown, Presenting) and shown.present():
            return
        from attnlab.ui.present import PresentWindow

        if self.player.slide is None:
            from attnlab.lessons.tour import make_tour

            self._touring = True
            self.player.open(make_tour(self._playground.document.experiment, "stage"))
        elif first:
            self.player.go_first()
        still = self._window.settings.reduced_motion
        self.presentation = PresentWindow(self._playground, self.player, self._window, reduced_motion=still)
        self.presentation.left.connect(self._on_left)
        silence(self._window, True)
        self.presentation.present()

    def _is_at(self, lesson: Lesson, step: int) -> bool:
        slide = self.player.slide
        return slide is not None and self.player.lesson == lesson and slide.index == step

    @Slot()
    def _on_left(self) -> None:
        silence(self._window, False)
        if self.presentation is not None:
            self.presentation.deleteLater()
            self.presentation = None
            self.progress.save()
        if self._touring:
            self._touring = False
            self.player.close()
        self._window.activateWindow()
        self._window.refresh_actions()

    # Exercises and solutions

    def make_exercise(self) -> None:
        """Let the user choose cells to blank, and make an exercise of the open experiment."""
        from attnlab.ui.predict.exercise_dialog import ExerciseDialog

        if self.exercise is None:
            self.exercise = ExerciseDialog(self._playground, self._window)
            self.exercise.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.exercise.finished.connect(self._on_exercise_closed)
            self.exercise.trying.connect(self.close)  # its text would tell the answers
        self._window.show_workspace(PLAYGROUND.name)
        self.exercise.show()
        self.exercise.activateWindow()

    def copy_solution(self, form: str) -> None:
        """Copy the whole computation of the open experiment, as "markdown" or "latex"."""
        from attnlab.ui.predict.solution_actions import copy_latex, copy_markdown

        (copy_latex if form == "latex" else copy_markdown)(self._playground)

    def ask_save_solution(self) -> None:
        """Ask for a file and write the whole computation of the open experiment to it."""
        from attnlab.ui.predict.solution_actions import ask_save

        ask_save(self._playground, self._window)

    # Messages and access

    @property
    def playground(self) -> "Playground":
        """The playground beside which lessons are walked."""
        return self._playground

    @property
    def window(self) -> Host:
        """The main window."""
        return self._window

    def say(self, sentence: str) -> None:
        """Show a sentence in the message line."""
        if self.workspace is not None:
            self.workspace.show_message(sentence)

    def note(self, sentence: str) -> None:
        """Show one sentence about a success."""
        self._playground.step_bar.show_note(sentence)
        if self.workspace is not None:
            self.workspace.show_note(sentence)

    def refuse(self, sentence: str) -> None:
        """Show one sentence about a failure in the workspace in view.

        Beside the playground it stays until another step or lesson is shown, the lesson is closed or looked up.
        """
        self._window.say(sentence)
        self._refusal = sentence

    def _forget_refusal(self) -> None:
        """Clear the refusal beside the playground, unless another message has taken its place."""
        if self._refusal and self._playground.step_bar.message == self._refusal:
            self._playground.say("")
        self._refusal = ""

    @property
    def is_in_view(self) -> bool:
        """Whether the lessons are the workspace in view."""
        return self.workspace is not None and self.workspace.body.isVisible()

    def stop(self) -> None:
        """End the presentation, and save the progress and a draft with unsaved changes."""
        self.progress.save()
        if self.presentation is not None:
            self.presentation.close()
        if self.exercise is not None:
            self.exercise.close()
        self.drafts.keep()

    @Slot(object)
    def _on_slide_changed(self, slide: "Slide | None") -> None:
        self._forget_refusal()
        self._show_lens(slide)
        self._unseen = slide.stage if slide is not None else ""
        if slide is not None:
            self._show_card(slide.stage)
        if not self._touring:
            self._show_panel(slide)
        if self.workspace is not None:
            self.workspace.show_progress()
        self._window.refresh_actions()

    @Slot(object)
    def _on_frame_changed(self, _: object) -> None:
        if self.panel is not None:
            self.panel.show_frame()

    @Slot()
    def _on_answer_changed(self) -> None:
        slide = self.player.slide
        if slide is not None and slide.step.lens and not self._may_ask(slide) and not self.player.elsewhere:
            self._show_lens(slide)

    @Slot(object)
    def _on_computed(self, _: object) -> None:
        """Scroll to the card of the step that was entered, now that its numbers are there."""
        if self._unseen:
            self._show_card(self._unseen)
            self._unseen = ""

    def _show_card(self, stage: str) -> None:
        """Scroll to the card of a stage when the canvas has placed the cards."""
        QTimer.singleShot(0, self._playground.canvas, partial(self._playground.canvas.show_card, stage))

    def _show_lens(self, slide: "Slide | None") -> None:
        """Open the lens of a step; a step without one is about its stage, on the canvas or in the backward pass."""
        lens = slide.step.lens if slide is not None else None
        if slide is not None and self.player.asking and not self._may_ask(slide):
            lens = None
        stage = slide.stage if slide is not None else ""
        view = lens or self._playground.lenses.find_view(stage)
        if lens or self._lens_opened or (slide is not None and not self._touring):
            self._playground.lenses.open_lens(view, stage)
            self._lens_opened = view != CANVAS

    def _may_ask(self, slide: "Slide") -> bool:
        """Return whether the lens of a step is shown while it asks, as on slides."""
        from attnlab.ui.present.lens_values import begins_before_answer

        return begins_before_answer(slide.step.lens or "", slide.experiment or self._playground.document.experiment)

    def _show_panel(self, slide: "Slide | None") -> None:
        if self.panel is None and slide is not None:
            self.panel = LessonPanel(self.player, self._playground)
            self.panel.hide()
            self.panel.close_requested.connect(self.close)
            self.panel.present_requested.connect(self.present)
            self.panel.run_requested.connect(self.open_run)
        self._guide_steps()
        self._playground.explain.set_guided(slide is not None)
        if self.panel is not None:
            opens, closes = slide is not None and self.panel.isHidden(), slide is None and not self.panel.isHidden()
            self.panel.setVisible(slide is not None)
            if closes:
                self._playground.explain.show()  # the panel may have taken its room
            if opens:
                self._playground.body.unfold(EXPLANATION)
            elif closes:
                self._playground.body.let_fold(EXPLANATION)
            self.panel.show_slide()

    @Slot()
    def _guide_steps(self) -> None:
        """Leave the steps to the lesson while its own experiment is open."""
        player = self.player
        self._playground.step_bar.set_guided(player.slide is not None and not self._touring and not player.elsewhere)

    @Slot()
    def _on_exercise_closed(self) -> None:
        self.exercise = None
