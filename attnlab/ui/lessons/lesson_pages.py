"""The lessons' workspace: the list at the left, beside it a lesson's page or the editor, a bar above and one below."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QStackedWidget

from attnlab.base.counted import format_count
from attnlab.lessons.duration import estimate_minutes
from attnlab.lessons.lesson import Lesson, Problem
from attnlab.lessons.search import find_lessons
from attnlab.ui.base.jobs import run
from attnlab.ui.lessons.draft import Draft
from attnlab.ui.lessons.editor import Editor
from attnlab.ui.lessons.lesson_page import LessonPage
from attnlab.ui.lessons.lesson_rows import LessonRowPainter
from attnlab.ui.lessons.lessons_body import LessonsBody
from attnlab.ui.lessons.lessons_footer import LessonsFooter
from attnlab.ui.lessons.lessons_header import LessonsHeader
from attnlab.ui.lessons.list_rows import Row
from attnlab.ui.lessons.row_list import RowList
from attnlab.ui.lessons.thumbnails import Thumbnails, choose_telling_step

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController
    from attnlab.ui.present.paper import Paper

NOTE_MS = 8000


class LessonPages(QObject):
    """Owns the list, the page and the editor; the controller carries out the actions."""

    def __init__(self, controller: "LessonController") -> None:
        super().__init__(controller)
        self._controller = controller
        self._lessons: tuple[Lesson, ...] = ()
        self._listed: tuple[tuple[Lesson, int | None] | None, ...] = ()
        self._shown: Lesson | None = None
        self.header, self.footer = LessonsHeader(), LessonsFooter()
        self.shelf = RowList("Lessons", LessonRowPainter())
        self.page, self.editor = LessonPage(), Editor(controller)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.page)
        self.stack.addWidget(self.editor)
        self.body = LessonsBody(self.shelf, self.stack, self.page.back)
        self._thumbnails = Thumbnails(self)
        self._thumbnails.ready.connect(self._on_thumbnails_ready)
        self._is_note = False
        self._note_timer = QTimer(self)
        self._note_timer.setSingleShot(True)
        self._note_timer.setInterval(NOTE_MS)
        self._note_timer.timeout.connect(self._on_note_read)
        self._connect()
        self.reload()

    def _connect(self) -> None:
        self.shelf.chosen.connect(self._on_chosen)
        self.shelf.opened.connect(self._on_opened)
        self.shelf.itemClicked.connect(self._on_clicked)
        self.header.open.clicked.connect(self._controller.ask_open)
        self.header.new.clicked.connect(self._controller.drafts.start)
        self.header.draft.clicked.connect(self._controller.drafts.show)
        self.header.search.textChanged.connect(self._on_find_changed)
        self.header.search.returnPressed.connect(self._on_find_entered)
        page = self.page
        page.back.clicked.connect(self._on_back_clicked)
        page.walk_requested.connect(self._on_walk_requested)
        page.present_requested.connect(self._controller.present)
        page.print_requested.connect(self._on_print_requested)
        page.edit_requested.connect(self._on_edit_requested)
        self.editor.left.connect(self._on_editor_left)
        self.stack.currentChanged.connect(self._on_draft_changed)
        self.editor.saved.connect(self._on_saved)

    @property
    def message(self) -> str:
        """The message below, "" for none."""
        return self.footer.message

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The lessons in the list, in order."""
        return self._lessons

    @property
    def chosen(self) -> tuple[Lesson, int] | None:
        """The lesson and the step in view; None while the workspace is hidden."""
        draft = self._controller.drafts.editing
        if draft is not None:
            return draft.lesson, draft.chosen
        shown = self._shown if self.page.isVisible() else None
        return (shown, self.page.chosen) if shown is not None else None

    def reload(self) -> None:
        """Read the lessons again and update the list."""
        from attnlab.lessons.library import list_lessons

        lessons = list_lessons()
        known = [lesson.path for lesson in lessons]
        extra = (self._shown,) if self._shown is not None and self._shown.path not in known else ()
        self._lessons = (*lessons, *extra)
        self._show_shelf()
        if self._shown is None and self.lessons:
            self._show(self.lessons[0])
        self._want_pictures()

    def _show_shelf(self) -> None:
        """List the lessons that have the wanted words: the included ones, and under a heading the user's."""
        found = find_lessons(self._lessons, self.header.search.text())
        ours = [each for each in found if each[0].path is None]
        theirs = [each for each in found if each[0].path is not None]
        self._listed = (*ours, *([None, *theirs] if theirs else []))
        rows = [Row("Your lessons", section=True) if each is None else self._make_row(*each) for each in self._listed]
        chosen = next((i for i, each in enumerate(self._listed) if each is not None and self._is(each[0])), -1)
        self.shelf.show_rows(rows or [Row("No lesson has these words", section=True)], chosen)
        progress = self._controller.progress
        finished = sum(progress.find(lesson).is_finished(lesson) for lesson in self._lessons)
        self.header.show_counts(self._lessons, finished)

    def _make_row(self, lesson: Lesson, at: int | None) -> Row:
        """Return the row of a lesson: its picture, its minutes, how far it is, and its description or a found step."""
        progress = self._controller.progress.find(lesson)
        found = self._thumbnails.find(lesson, whole=False) or {}
        about = lesson.about if at is None else f"Step {at + 1}: {lesson.steps[at].title}"
        if lesson.problems:
            about = f"Line {lesson.problems[0].line}: {lesson.problems[0].reason}"
        return Row(
            lesson.title or lesson.name,
            about or " ",
            f"{estimate_minutes(lesson)} min" if lesson.steps else "",
            number=self._lessons.index(lesson) + 1 if lesson.path is None else None,
            wrong=bool(lesson.problems),
            thumbnail=found.get(choose_telling_step(lesson)),
            done=progress.is_finished(lesson),
            state=progress.describe(lesson),
            share=progress.compute_share(lesson),
        )

    def _want_pictures(self) -> None:
        """Compute the missing pictures while the lessons are in view: of the shown lesson first."""
        if not self.body.isVisible():
            return
        shown = [(self._shown, True)] if self._shown is not None and self._shown.steps else []
        self._thumbnails.want([*shown, *((lesson, False) for lesson in self.lessons if lesson.steps)])

    @Slot()
    def _on_thumbnails_ready(self) -> None:
        self._show_shelf()
        self.show_progress()

    def _is(self, lesson: Lesson) -> bool:
        return self._shown is not None and (lesson.name, lesson.path) == (self._shown.name, self._shown.path)

    def show_lesson(self, lesson: Lesson) -> None:
        """Show a lesson's page, and list the lesson even if its file is in another folder."""
        self._show(lesson)
        self.reload()

    def show_draft(self, draft: Draft) -> None:
        """Show the draft in the editor."""
        self.editor.show_draft(draft)
        draft.changed.connect(self._on_draft_changed, Qt.ConnectionType.UniqueConnection)
        draft.changed.connect(self._on_draft_edited, Qt.ConnectionType.UniqueConnection)
        self.stack.setCurrentWidget(self.editor)
        self._on_draft_changed()
        self.body.hide_list(True)
        if self.editor.isVisible():  # hidden, it would take the keys typed beside the playground
            self.editor.focus()

    def show_progress(self) -> None:
        """Mark the step of the lesson that is being walked."""
        if self._shown is not None:
            self._show_page(self._shown)

    def _show_page(self, lesson: Lesson) -> None:
        own, found = self._controller.is_own(lesson), self._thumbnails.find(lesson, whole=True)
        progress = self._controller.progress.find(lesson)
        self.page.show_lesson(lesson, self._find_current_slide(lesson), own, progress, found)

    def _find_current_slide(self, lesson: Lesson) -> int | None:
        player = self._controller.player
        open_now = player.lesson
        if player.slide is None or open_now is None or (open_now.name, open_now.path) != (lesson.name, lesson.path):
            return None
        return player.slide.index

    def clear_message(self) -> None:
        """Clear the message."""
        self._note_timer.stop()
        self._is_note = False
        self.footer.say("")
        self._thumbnails.want([])

    def mark_place(self) -> None:
        """Mark the place in the open lesson."""
        if self._is_note:
            self._note_timer.start()  # a note from beside the playground is read from now on
        if self.stack.currentWidget() is self.editor:
            self.editor.focus()
            return
        walked = self._controller.player.lesson
        if walked is not None and not self._is(walked):
            self._show(walked)
            self.reload()
        self.shelf.setFocus()
        self._show_shelf()
        self.show_progress()
        self._want_pictures()

    def show_message(self, sentence: str) -> None:
        """Show one sentence about a failure."""
        self._note_timer.stop()
        self._is_note = False
        self.footer.say(sentence, "error")

    def show_note(self, sentence: str) -> None:
        """Show one sentence for a while."""
        self._is_note = True
        self.footer.say(sentence)
        if self.footer.isVisible():
            self._note_timer.start()

    def _show(self, lesson: Lesson) -> None:
        self._shown = lesson
        self.stack.setCurrentWidget(self.page)
        self.body.hide_list(False)
        self._show_page(lesson)
        self._want_pictures()

    @Slot(int)
    def _on_chosen(self, row: int) -> None:
        listed = self._listed[row] if row < len(self._listed) else None
        if listed is None:
            return
        self.show_message("")
        self._show(listed[0])
        if listed[1] is not None:
            self.page.choose(listed[1])

    @Slot()
    def _on_clicked(self) -> None:
        self.body.turn_to_page(True)

    @Slot(int)
    def _on_opened(self, row: int) -> None:
        listed = self._listed[row] if row < len(self._listed) else None
        if listed is not None:
            self._controller.walk(listed[0], listed[1] or 0)

    @Slot()
    def _on_back_clicked(self) -> None:
        self.body.turn_to_page(False)
        self.shelf.setFocus()

    def go_back(self) -> None:
        """Show all lessons again: clear the search, and in a narrow window return to the list."""
        self.header.search.clear()
        self.body.turn_to_page(False)

    @Slot(str)
    def _on_find_changed(self, _: str) -> None:
        self.body.turn_to_page(False)
        self._show_shelf()

    @Slot()
    def _on_find_entered(self) -> None:
        """Show the first lesson that was found."""
        first = next((i for i, each in enumerate(self._listed) if each is not None), None)
        if first is not None:
            self.shelf.setCurrentRow(first)
            self._on_chosen(first)
            self.body.turn_to_page(True)
            self.shelf.setFocus()

    @Slot(int)
    def _on_walk_requested(self, step: int) -> None:
        if self._shown is not None:
            self._controller.walk(self._shown, step)

    @Slot(object)
    def _on_print_requested(self, paper: "Paper") -> None:
        from attnlab.ui.lessons.printing import ask_print

        if self._shown is not None:
            ask_print(self._controller, self._shown, paper)

    def check(self) -> None:
        """Compute every step of the shown lesson in the worker, as one with large tables takes a while."""
        from attnlab.lessons.slides import check

        lesson = self._shown
        if lesson is not None:
            self.show_note("Computing every step…")
            run(
                check,
                lesson,
                on_done=partial(self._show_checked, lesson),
                on_failed=self.show_message,
                lane=self._controller.playground.lane,
                owner=self,
                doing="computing the steps of the lesson",
            )

    def _show_checked(self, lesson: Lesson, problems: tuple[Problem, ...]) -> None:
        if lesson is not self._shown:
            return  # another lesson is in view by now
        self.page.show_problems(problems)
        found = len(problems)
        self.show_note(
            f"{format_count(found, 'problem')}, listed above the steps."
            if found
            else f"All {len(lesson.steps)} steps can be computed, and every number in their texts is filled."
            if len(lesson.steps) > 1
            else "The step can be computed, and every number in its text is filled."
        )

    @Slot()
    def _on_edit_requested(self) -> None:
        from attnlab.lessons.library import find_user_folder

        lesson = self._shown
        if lesson is None:
            return
        if not self._controller.is_own(lesson):
            name = f"my-{lesson.name}"
            path = find_user_folder() / f"{name}.md"
            lesson = replace(lesson, name=name, title=f"{lesson.title} (mine)", path=path, order=0)
        self._controller.drafts.edit(lesson, self.page.chosen)

    @Slot()
    def _on_editor_left(self) -> None:
        self.body.hide_list(False)
        self.stack.setCurrentWidget(self.page)
        draft = self._controller.drafts.draft
        if draft is not None and draft.path is not None and not draft.modified:
            self._shown = draft.lesson
        self.reload()
        self.show_progress()
        self.shelf.setFocus()
        self._controller.window.refresh_actions()

    @Slot(object)
    def _on_saved(self, path: Path) -> None:
        self.show_note(f"Saved {path}")
        self.reload()

    @Slot()
    def _on_draft_changed(self) -> None:
        draft = self._controller.drafts.draft
        self.header.draft.setVisible(draft is not None and self.stack.currentWidget() is not self.editor)
        if draft is not None:
            title = draft.lesson.title.replace("&", "&&")  # a single & would underline a letter
            self.header.draft.setText(f"Continue “{title}”{' •' if draft.modified else ''}")

    @Slot()
    def _on_draft_edited(self) -> None:
        """Clear a refusal: an edit or another step answers it."""
        if not self._is_note:
            self.footer.say("")

    @Slot()
    def _on_note_read(self) -> None:
        self._is_note = False
        self.footer.say("")
