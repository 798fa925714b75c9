"""The bar above the lessons: how many there are, a field to find one, and buttons for files and new lessons."""

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from attnlab.base.counted import format_count
from attnlab.lessons.duration import estimate_minutes
from attnlab.lessons.lesson import Lesson
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.undo_fields import TextField

FIELD = 190


class LessonsHeader(FollowsTheme, QFrame):
    """Shows the title and the counts of the lessons; its parts are connected by its owner."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("ground", "top")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        title, self._counts = QLabel("Lessons"), ElidedLabel(separator=" · ")
        title.setProperty("role", "title")
        self._counts.setProperty("role", "muted")
        self.search = TextField()
        self.search.setPlaceholderText("Find a lesson or a word")
        self.search.setAccessibleName("Find a lesson or a word")
        self.search.setToolTip("Show only the lessons that have these words in their title or text; Esc shows all")
        self.search.setClearButtonEnabled(True)
        self.open, self.new, self.draft = QPushButton("Open a file…"), QPushButton("New lesson"), QPushButton()
        self.open.setToolTip("Open a lesson from a Markdown file")
        self.new.setToolTip("Start a lesson of your own")
        self.draft.setToolTip("Continue the lesson that you are writing")
        self.draft.hide()
        row.addWidget(title)
        row.addWidget(self._counts, 1)
        for widget in (self.draft, self.search, self.open, self.new):
            row.addWidget(widget)

    def restyle(self) -> None:
        """Set the width of the field."""
        self.search.setFixedWidth(px(FIELD))

    def show_counts(self, lessons: Sequence[Lesson], finished: int) -> None:
        """Show how many lessons there are, how long they take, and how many are done."""
        minutes = sum(estimate_minutes(lesson) for lesson in lessons if lesson.steps)
        parts = [format_count(len(lessons), "lesson"), f"about {_write_time(minutes)}"]
        self._counts.setText(" · ".join([*parts, *([f"{finished} done"] if finished else [])]))

    @property
    def counts(self) -> str:
        """The counts as shown."""
        return self._counts.text()


def _write_time(minutes: int) -> str:
    """Return a time in words: in minutes, from an hour and a half on in half hours."""
    return f"{minutes} min" if minutes < 90 else f"{round(minutes / 30) / 2:g} hours"
