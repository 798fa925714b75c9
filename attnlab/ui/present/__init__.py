"""Presenting: one slide at a time on the whole screen, a second window for the lecturer, and printing to PDF.

``PresentWindow(playground, player, parent, reduced_motion=False)`` shows the player's slide with the playground's
numbers; ``present(screen=None)`` opens it on the second screen if there is one, and ``left`` is emitted when it closes.
``write_pdf(lesson, path)`` prints a lesson.
"""

from attnlab.ui.present.pdf import write_pdf
from attnlab.ui.present.present_window import PresentWindow

__all__ = ["PresentWindow", "write_pdf"]
