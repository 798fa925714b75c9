"""Keeps the first steps in the settings, and offers the first lesson at the first start only."""

from typing import TYPE_CHECKING

from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from attnlab.ui.base.workspace import Host
    from attnlab.ui.playground.first_steps import FirstSteps


def keep_first_steps(window: "Host", steps: "FirstSteps") -> None:
    """Show the saved state of the first steps, and save its changes."""
    settings = window.settings
    steps.restore(settings.first_steps, settings.first_steps_shown, not settings.lesson_offered)

    def save() -> None:
        window.change_settings(first_steps=steps.done, first_steps_shown=steps.is_open)

    def note_offer() -> None:
        if not window.settings.lesson_offered:
            window.change_settings(lesson_offered=True)

    steps.changed.connect(save)
    steps.lesson_requested.connect(lambda: start_first_lesson(window))
    window.ready.connect(note_offer)


def start_first_lesson(window: "Host") -> None:
    """Open the first shipped lesson beside the playground."""
    from attnlab.lessons.library import list_shipped

    if (lessons := window.workspace(LESSONS)) is not None:
        lessons.open(list_shipped()[0])
        window.refresh_actions()
