"""The lesson that is being written: recorded step by step in the playground, and edited in the lessons' workspace."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.base.errors import AttnlabError
from attnlab.lessons.lesson import Lesson
from attnlab.ui.lessons.draft import Draft

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController


class Drafts(QObject):
    """Owns the draft. There is one at a time; another one replaces it, and its unsaved changes are first written to a
    file."""

    def __init__(self, controller: "LessonController") -> None:
        super().__init__(controller)
        self._controller = controller
        self._undoable: tuple[bool, bool] | None = None
        self.draft: Draft | None = None

    @property
    def editing(self) -> Draft | None:
        """The draft while its editor is visible: save and undo then apply to it."""
        workspace = self._controller.workspace
        return self.draft if workspace is not None and workspace.editor.isVisible() else None

    def start(self) -> None:
        """Start a new lesson, without steps."""
        from attnlab.ui.lessons.recording import make_empty_lesson

        self.edit(make_empty_lesson())

    def edit(self, lesson: Lesson, step: int = 0) -> None:
        """Open a lesson in the editor at a step, from 0; a draft of the same file with unsaved changes is continued."""
        draft = self.draft
        if draft is None or not draft.modified or draft.path is None or draft.path != lesson.path:
            self.keep()
            draft = self._begin(lesson)
        draft.choose(step)
        self.show()

    def _begin(self, lesson: Lesson) -> Draft:
        if self.draft is not None:
            self.draft.deleteLater()
        self.draft = Draft(lesson, self)
        self.draft.changed.connect(self._on_draft_changed)
        return self.draft

    def show(self) -> None:
        """Show the draft in the editor."""
        window = self._controller.window
        window.show_existing(self._controller)
        if self._controller.workspace is not None and self.draft is not None:
            self._controller.workspace.show_draft(self.draft)
        window.refresh_actions()  # undo and save now apply to the draft

    def add_step(self) -> None:
        """Record the playground's state as a step of the draft, which is created if there is none."""
        from attnlab.ui.lessons.recording import StepContent, add_step, make_empty_lesson

        controller = self._controller
        own = controller.player.lesson
        draft = self.draft or self._begin(own if own is not None and own.path is not None else make_empty_lesson())
        try:
            lesson = add_step(draft.lesson, StepContent.read_playground(controller.playground))
        except AttnlabError as error:
            controller.refuse(str(error))
            return
        draft.edit("Add a step", lesson)
        draft.choose(len(lesson.steps) - 1)
        way = " to" if controller.is_in_view else ": Ctrl+2 edits"  # the title last: a narrow bar cuts the end
        controller.note(f"Step {len(lesson.steps)} added{way} “{lesson.title}”.")
        if controller.workspace is not None:
            controller.workspace.show_draft(draft)

    def save(self) -> None:
        """Save the lesson in the editor."""
        if self._controller.workspace is not None:
            self._controller.workspace.editor.save()

    def keep(self) -> None:
        """Write a draft with unsaved changes to the user's lessons, so that nothing is lost."""
        from attnlab.ui.lessons.recording import keep

        if self.draft is None or not self.draft.modified:
            return
        try:
            path = keep(self.draft.lesson)
            self._controller.note(f"Unsaved changes of “{self.draft.lesson.title}” were saved as {path}")
        except AttnlabError as error:
            self._controller.refuse(str(error))

    @Slot()
    def _on_draft_changed(self) -> None:
        """Update undo and redo when one of them becomes enabled or disabled."""
        draft = self.draft
        undoable = (bool(draft.undo_label), bool(draft.redo_label)) if draft is not None else None
        if undoable != self._undoable:
            self._undoable = undoable
            self._controller.window.refresh_actions()
