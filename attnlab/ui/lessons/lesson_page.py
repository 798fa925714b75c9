"""A lesson's page: its description, actions, steps, problems and sources."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from attnlab.base.counted import format_count
from attnlab.lessons.duration import estimate_minutes
from attnlab.lessons.lesson import Lesson, Problem
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.lessons.list_rows import Row
from attnlab.ui.lessons.row_list import RowList
from attnlab.ui.lessons.thumbnails import Thumbnail
from attnlab.ui.present.paper import PAPERS
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

MOST_PROBLEMS = 6
WIDTH = 760


class LessonPage(FollowsTheme, QWidget):
    """Shows one lesson; emits the step to walk from, counted from 0, and the other requests."""

    walk_requested = Signal(int)
    present_requested = Signal()
    print_requested = Signal(object)
    """How to print the lesson: a Paper."""
    check_requested = Signal()
    edit_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Lesson | None = None
        self._now: int | None = None
        self._thumbnails: Mapping[int, Thumbnail] = {}
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(self)
        column.setContentsMargins(32, 24, 32, 20)
        column.setSpacing(8)
        self._title, self._about = QLabel(), QLabel()
        self._problems, self._sources = QLabel(), QLabel()
        for label in (self._title, self._about, self._problems, self._sources):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._about.setProperty("role", "muted")
        self._sources.setProperty("role", "caption")
        self._problems.setProperty("role", "error")
        self._problems.setAccessibleName("Problems of the lesson")
        self._problems.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sources.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for label in (self._title, self._about):
            column.addWidget(label)
        column.addSpacing(8)
        column.addWidget(self._make_buttons())
        column.addSpacing(8)
        column.addWidget(self._problems)
        self._extent = QLabel()
        self._extent.setProperty("role", "caption")
        self._steps_title, self._sources_title = _make_section("Steps"), _make_section("Sources")
        heading = QHBoxLayout()
        heading.addWidget(self._steps_title)
        heading.addStretch(1)
        heading.addWidget(self._extent)
        column.addLayout(heading)
        self.steps = RowList("Steps of the lesson", cards=True)
        self.steps.opened.connect(self.walk_requested)
        self.steps.chosen.connect(self._on_step_chosen)
        column.addWidget(self.steps, 1)
        column.addWidget(self._sources_title)
        column.addWidget(self._sources)

    def _make_buttons(self) -> QWidget:
        holder, row = QWidget(), FlowLayout()
        holder.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        self._walk, self._present = QPushButton(), QPushButton("Present")
        self._walk.setProperty("primary", True)
        self._walk.setToolTip("Walk the lesson beside the playground, from the chosen step")
        self._present.setToolTip("Show the lesson to the class, from the chosen step (F5)")
        self._print, self._check, self._edit = QPushButton("Print as PDF…"), QPushButton("Check"), QPushButton()
        self._print.setToolTip("Write the lesson to a PDF file: slides, notes, or several slides a page")
        menu = QMenu(self._print)
        for title, paper in PAPERS:
            menu.addAction(title, partial(self.print_requested.emit, paper))
        self._print.setMenu(menu)
        self._check.setToolTip("Compute every step and fill every number in its text")
        self._walk.clicked.connect(self._on_walk_clicked)
        self._present.clicked.connect(self.present_requested)
        self._check.clicked.connect(self.check_requested)
        self._edit.clicked.connect(self.edit_requested)
        for button in (self._walk, self._present, self._print, self._check, self._edit):
            row.addWidget(button)
        return holder

    def restyle(self) -> None:
        """Set the font of the title."""
        title = font("display")
        title.setPixelSize(px(24))
        self._title.setFont(title)

    def show_lesson(
        self, lesson: Lesson, now: int | None, own: bool, thumbnails: Mapping[int, Thumbnail] | None = None
    ) -> None:
        """Show a lesson, the step being walked, whether the user may change the lesson, and pictures of its steps."""
        self._thumbnails = thumbnails or {}
        another = self._shown is None or (lesson.name, lesson.path) != (self._shown.name, self._shown.path)
        self._shown, changed, self._now = lesson, now != self._now, now
        self._title.setText(lesson.title or lesson.name)
        self._about.setText(lesson.about)
        self._about.setVisible(bool(lesson.about))
        questions = sum(step.question is not None for step in lesson.steps)
        asked = f" · {format_count(questions, 'question')}" if questions else ""
        self._extent.setText(f"{format_count(len(lesson.steps), 'step')} · {estimate_minutes(lesson)} min{asked}")
        chosen = (now or 0) if another or (changed and now is not None) else self.chosen
        rows = [
            Row(
                step.title or "Untitled",
                number=i + 1,
                now=i == now,
                thumbnail=self._thumbnails.get(i),
                asks=step.question is not None,
            )
            for i, step in enumerate(lesson.steps)
        ]
        self.steps.show_rows(rows, min(chosen, len(rows) - 1))
        self._sources.setText("\n".join(lesson.sources))
        for widget in (self._sources, self._sources_title):
            widget.setVisible(bool(lesson.sources))
        self._edit.setText("Edit" if own else "Edit a copy")
        self._edit.setToolTip("Change this lesson" if own else "Make your own copy of this lesson")
        if another:
            self.show_problems(lesson.problems)
        for button in (self._walk, self._present, self._print):
            button.setEnabled(bool(lesson.steps))
        self._on_step_chosen(self.chosen)

    @property
    def chosen(self) -> int:
        """The chosen step, counted from 0."""
        return max(self.steps.currentRow(), 0)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show the problems of the lesson's file, line by line."""
        said = [f"Line {p.line}: {p.reason}" for p in problems[:MOST_PROBLEMS]]
        more = len(problems) - len(said)
        self._problems.setText("\n".join([*said, *([f"And {more} more."] if more else [])]))
        self._problems.setVisible(bool(problems))

    @property
    def problems(self) -> str:
        """The problems as shown, "" for none."""
        return self._problems.text()

    @Slot(int)
    def _on_step_chosen(self, step: int) -> None:
        self._walk.setText(f"Open at step {step + 1}")

    @Slot()
    def _on_walk_clicked(self) -> None:
        self.walk_requested.emit(self.chosen)


def _make_section(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    return label
