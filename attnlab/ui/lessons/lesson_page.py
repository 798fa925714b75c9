"""A lesson's page: its description, actions, steps, problems and sources."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from attnlab.lessons.lesson import Lesson, Problem
from attnlab.lessons.lesson_progress import Progress
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.lessons.lesson_extent import LessonExtent
from attnlab.ui.lessons.list_rows import Row
from attnlab.ui.lessons.step_cards import StepCards
from attnlab.ui.lessons.thumbnails import Thumbnail
from attnlab.ui.present.paper import PAPERS
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.subscripts import FormulaLabel

MOST_PROBLEMS = 6


class LessonPage(FollowsTheme, QWidget):
    """Shows one lesson; emits the step to walk from, counted from 0, and the other requests."""

    walk_requested = Signal(int)
    present_requested = Signal()
    print_requested = Signal(object)
    """How to print the lesson: a Paper."""
    edit_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Lesson | None = None
        self._now: int | None = None
        self._thumbnails: Mapping[int, Thumbnail] = {}
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._area, inside = QScrollArea(), QWidget()
        self._area.setWidget(inside)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside.setProperty("ground", "surface")
        frame = QVBoxLayout(self)
        frame.setContentsMargins(0, 0, 0, 0)
        frame.addWidget(self._area)
        column = QVBoxLayout(inside)
        column.setContentsMargins(32, 24, 32, 20)
        column.setSpacing(8)
        self._title, self._about = FormulaLabel(), FormulaLabel()
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
        self.back = QPushButton("All lessons")
        self.back.setToolTip("Back to the list of lessons")
        self.back.hide()
        column.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        for label in (self._title, self._about):
            column.addWidget(label)
        column.addSpacing(4)
        column.addWidget(self._make_buttons())
        column.addSpacing(4)
        column.addWidget(self._problems)
        self._sources_title = _make_section("To read")
        self.steps = StepCards(self._area)
        self.steps.currentRowChanged.connect(self._on_step_chosen)
        self.steps.opened.connect(self.walk_requested)
        column.addWidget(self.steps)
        column.addWidget(self._sources_title)
        column.addWidget(self._sources)
        column.addStretch(1)

    def _make_buttons(self) -> QWidget:
        holder, row = QWidget(), FlowLayout()
        holder.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        self._walk, self._present = QPushButton(), QPushButton("Present")
        self._walk.setProperty("primary", True)
        self._walk.setToolTip("Walk the lesson beside the playground")
        self._present.setToolTip("Show the lesson to the class, from the chosen step (F5)")
        self._print, self._edit = QPushButton("Print…"), QPushButton()
        self._print.setToolTip("Write the lesson to a PDF file: slides, notes, or several slides a page")
        menu = QMenu(self._print)
        for title, paper in PAPERS:
            menu.addAction(title, partial(self.print_requested.emit, paper))
        self._print.setMenu(menu)
        self._walk.clicked.connect(self._on_walk_clicked)
        self._present.clicked.connect(self.present_requested)
        self._edit.clicked.connect(self.edit_requested)
        for button in (self._walk, self._present, self._print, self._edit):
            row.addWidget(button)
        self.extent = LessonExtent()
        row.addWidget(self.extent)
        return holder

    def restyle(self) -> None:
        """Set the font of the title."""
        title = font("display")
        title.setPixelSize(px(24))
        self._title.setFont(title)

    def show_lesson(
        self,
        lesson: Lesson,
        now: int | None,
        own: bool,
        progress: Progress,
        thumbnails: Mapping[int, Thumbnail] | None = None,
    ) -> None:
        """Show a lesson, the step being walked, whether the user may change it, how far it is, and its pictures."""
        self._thumbnails = thumbnails or {}
        another = self._shown is None or (lesson.name, lesson.path) != (self._shown.name, self._shown.path)
        finished = progress.is_finished(lesson)
        at = now if now is not None else progress.step if progress.has_begun and not finished else None
        self._shown, changed, self._now = lesson, at != self._now, at
        self._title.setText(lesson.title or lesson.name)
        self._about.setText(lesson.about)
        self._about.setVisible(bool(lesson.about))
        self.extent.show_lesson(lesson, progress)
        chosen = (at or 0) if another or (changed and at is not None) else self.chosen
        rows = [
            Row(
                step.title or "Untitled",
                number=i + 1,
                now=i == at,
                thumbnail=self._thumbnails.get(i),
                asks=step.question is not None,
                done=finished or i in progress.done,
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
        start = f"Continue at step {at + 1}" if at else "Start"
        self._walk.setText("Start again" if finished and now is None else start)

    @property
    def chosen(self) -> int:
        """The chosen step, counted from 0."""
        return max(self.steps.currentRow(), 0)

    def choose(self, step: int) -> None:
        """Choose a step, counted from 0, and scroll to it."""
        self.steps.setCurrentRow(step)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show the problems of the lesson's file, line by line."""
        said = [f"Line {p.line}: {p.reason}" for p in problems[:MOST_PROBLEMS]]
        more = len(problems) - len(said)
        show_text(self._problems, "\n".join([*said, *([f"And {more} more."] if more else [])]))
        self._problems.setVisible(bool(problems))

    @property
    def problems(self) -> str:
        """The problems as shown, "" for none."""
        return self._problems.text()

    @Slot(int)
    def _on_step_chosen(self, step: int) -> None:
        """Scroll to the chosen step."""
        if step >= 0 and self._area.isVisible():
            place = self.steps.visualItemRect(self.steps.item(step)).translated(self.steps.pos())
            self._area.ensureVisible(place.center().x(), place.center().y(), 0, place.height() // 2 + 8)

    @Slot()
    def _on_walk_clicked(self) -> None:
        self.walk_requested.emit(self._now or 0)


def _make_section(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    return label
