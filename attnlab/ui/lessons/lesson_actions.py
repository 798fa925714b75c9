"""The actions on lessons: walking, presenting and recording them, and making exercises."""

from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action, Context

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController


def make_lesson_actions(controller: "Context[LessonController]") -> list[Action[Any]]:
    """Return the actions on lessons."""
    return [
        Action("lesson-open", "Open a lesson…", "Lessons", controller, lambda d: d.ask_open()),
        Action("lesson-new", "New lesson", "Lessons", controller, lambda d: d.drafts.start()),
        Action(
            "lesson-check",
            "Check the lesson",
            "Lessons",
            controller,
            lambda d: d.check(),
            enabled=lambda d: d.workspace is not None and d.workspace.chosen is not None,
            hint="Compute every step of the lesson in view, and fill every number in its text",
        ),
        Action(
            "lesson-next",
            "Next in the lesson",
            "Lessons",
            controller,
            lambda d: d.player.go_next(),
            ("Alt+PgDown",),
            enabled=lambda d: not d.player.at_end,
            hint="PageDown outside tables",
        ),
        Action(
            "lesson-back",
            "Back in the lesson",
            "Lessons",
            controller,
            lambda d: d.player.go_back(),
            ("Alt+PgUp",),
            enabled=lambda d: not d.player.at_start,
            hint="PageUp outside tables",
        ),
        Action(
            "lesson-answer",
            "Answer the question",
            "Lessons",
            controller,
            lambda d: d.focus_question(),
            ("Alt+Q",),
            enabled=lambda d: d.panel is not None and d.panel.asks,
            hint="Go to its first field or choice",
        ),
        Action(
            "lesson-close",
            "Close the lesson",
            "Lessons",
            controller,
            lambda d: d.close(),
            enabled=lambda d: d.player.slide is not None,
        ),
        Action(
            "present",
            "Present",
            "Lessons",
            controller,
            lambda d: d.present(),
            ("F5",),
            hint="Present the open lesson from here; without one, the model in view, or a tour of the open experiment",
        ),
        Action(
            "present-first",
            "Present from the first step",
            "Lessons",
            controller,
            lambda d: d.present(first=True),
            ("Shift+F5",),
        ),
        Action(
            "add-step",
            "Record this view as a step of your lesson",
            "Lessons",
            controller,
            lambda d: d.drafts.add_step(),
            ("Ctrl+Shift+A",),
        ),
        Action(
            "edit-lesson",
            "Continue editing your lesson",
            "Lessons",
            controller,
            lambda d: d.drafts.show(),
            enabled=lambda d: d.drafts.draft is not None,
        ),
        Action("exercise", "Make an exercise…", "Lessons", controller, lambda d: d.make_exercise()),
        Action(
            "solution-markdown",
            "Copy the worked solution as Markdown",
            "Lessons",
            controller,
            lambda d: d.copy_solution("markdown"),
        ),
        Action(
            "solution-latex",
            "Copy the worked solution as LaTeX",
            "Lessons",
            controller,
            lambda d: d.copy_solution("latex"),
        ),
        Action("solution-save", "Save the worked solution…", "Lessons", controller, lambda d: d.ask_save_solution()),
    ]
