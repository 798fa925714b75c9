"""Two runs beside each other: the header of each, and the second's maps and heads at the same step and probe."""

from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from attnlab.training.heads_off import read_heads
from attnlab.training.run import Run
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.answer_card import AnswerCard, frame_answer
from attnlab.ui.train.course_card import CourseCard
from attnlab.ui.train.head_course import COURSE, HeadCourse
from attnlab.ui.train.inside_page import InsidePage
from attnlab.ui.train.inspector import Inspector, Seen
from attnlab.ui.train.maps_overview import BELOW, GAP, TOP, frame_course
from attnlab.ui.train.maps_view import MapsView
from attnlab.ui.train.model_page import ModelPage
from attnlab.ui.train.model_worker import ModelWorker
from attnlab.ui.train.run_views import find_axis_end
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.layouts.low_scroll import LowScroll

KINDS = {"look": "computing the maps of the second run", COURSE: "following the heads of the second run"}
"""What the worker computes, the most urgent first, with descriptions for the user."""


class RunHead(FollowsTheme, QWidget):
    """Shows a run's title and step above its maps; both runs' headers are equally high."""

    def __init__(self, name: str, which: str) -> None:
        super().__init__()
        self.setProperty("ground", "ground")
        self.title, self.step = ElidedLabel(separator=" · "), QLabel()
        self.title.setText(name)
        self.title.setProperty("role", "title")
        self.step.setProperty("role", "muted")
        self.step.setAccessibleName(f"Step of the {which} run")
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(18, 8, 18, 0)
        self.row.setSpacing(8)
        self.row.addWidget(self.title, 1)
        self.row.addWidget(self.step)

    def restyle(self) -> None:
        """Set the fonts and the height."""
        self.title.setFont(font("title"))
        self.step.setFont(font("number"))
        self.setFixedHeight(px(36))


class SecondRun(FollowsTheme, QWidget):
    """Shows a run beside another, at the same step and probe. ``closed`` is emitted when its button is pressed."""

    closed = Signal()

    def __init__(self, run: Run, name: str) -> None:
        super().__init__()
        self.run = run
        self.seen: Seen | None = None
        self._inspector = Inspector()
        self._worker = ModelWorker(KINDS, self._inspector.prepare, self, (COURSE,))
        self.course = HeadCourse(self._inspector, self._worker, self)
        self.course.follow(run)
        self.course.grown.connect(self._show_course)
        self.setProperty("ground", "ground")
        self.head = RunHead(name, "second")
        self.title, self.step = self.head.title, self.head.step
        self.told, self.wrong = ElidedLabel(), QLabel()
        self.told.setProperty("role", "muted")
        self.told.setAccessibleName("Cell of the second run")
        self.wrong.setTextFormat(Qt.TextFormat.PlainText)
        self.wrong.setProperty("role", "error")
        self.wrong.setWordWrap(True)
        self.wrong.hide()
        self.close_button = QToolButton()
        self.close_button.setAccessibleName("Close the second run")
        self.close_button.setToolTip("Show only the first run")
        self.close_button.clicked.connect(self.closed)
        self.answer, self.view, self.chart = AnswerCard(), MapsView(), CourseCard(opens=False)
        self.view.cell_pointed.connect(self._on_pointed)
        self.area, self.model, self.stack = QScrollArea(), ModelPage(opens=False), QStackedWidget()
        self.inside = InsidePage()
        self._at: tuple[int, str] | None = None
        self._lay_out()
        self.show_name(name)

    def show_name(self, name: str) -> None:
        """Show what the run is called."""
        self.title.setText(name)
        self.model.heading = name
        self.setAccessibleName(f"Side by side: {name}")

    def _lay_out(self) -> None:
        self.head.row.addWidget(self.close_button)
        inside = QWidget()
        inside.setProperty("ground", "ground")
        within = QVBoxLayout(inside)
        within.setContentsMargins(14, TOP, 14, BELOW)
        within.setSpacing(GAP)
        within.addWidget(self.view)
        within.addLayout(frame_course(self.chart), 1)
        within.addStretch(0)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(inside)
        self.under = QWidget()
        self.under.setProperty("ground", "ground")
        under = QVBoxLayout(self.under)
        under.setContentsMargins(18, 0, 18, 0)
        under.addWidget(self.told)
        under.addWidget(self.wrong)
        column = QVBoxLayout(whole := QWidget())
        whole.setProperty("ground", "ground")
        self.whole = LowScroll(whole, "Second run, scrolled")
        for each in (column, around := QVBoxLayout(self)):
            each.setContentsMargins(0, 0, 0, 0)
            each.setSpacing(0)
        around.addWidget(self.whole)
        column.addWidget(self.head)
        column.addWidget(self.under)
        column.addLayout(frame_answer(self.answer))
        self.stack.addWidget(self.area)
        self.stack.addWidget(self.model)
        self.stack.addWidget(self.inside)
        column.addWidget(self.stack, 1)

    @property
    def shows_model(self) -> bool:
        """Whether the diagram of the model is shown in place of the maps."""
        return self.stack.currentWidget() is self.model

    @Slot(str)
    def show_page(self, page: str) -> None:
        """Show the page of the other run: "maps", "model" or "inside"."""
        pages: dict[str, QWidget] = {"model": self.model, "inside": self.inside}
        self.stack.setCurrentWidget(pages.get(page, self.area))
        self.answer.set_wanted(page not in pages)
        if self._at is not None:
            self.look(*self._at)

    def restyle(self) -> None:
        """Set the icon and the least width."""
        self.close_button.setIcon(icon("close", palette_of(self), px(14)))
        self.setMinimumWidth(px(140))

    def look(self, step: int, probe: str) -> None:
        """Show the moment nearest to a step with a probe."""
        self._at = step, probe
        moment = self.run.recorder.find_nearest(step)
        if moment is not None:
            spec = self.run.find_spec_at(moment.step)
            job = partial(self._inspector.look, spec, moment.step, moment.weights, probe)
            job = partial(job, inside=self.shows_model, stream=self.stack.currentWidget() is self.inside)
            self._worker.ask("look", job, self._show, self._say)

    def stop(self) -> None:
        """Stop the thread after its current moment; may be called twice."""
        self._inspector.leave()
        self._worker.stop()

    def _say(self, refused: str) -> None:
        show_text(self.wrong, refused)
        self.wrong.setVisible(bool(refused))
        if refused:
            self.model.give_up()
        self.told.setVisible(not refused)

    def _show(self, seen: Seen) -> None:
        self._say("")
        self.seen = seen
        self.view.show_maps(seen.look.maps)
        self.view.show_off(frozenset(), read_heads(seen.spec.train.heads_off))
        self.model.show_seen(seen)
        self.inside.show_seen(seen)
        self.answer.follow(seen.look.answer, seen.look.step)
        self.told.setText("")
        self.step.setText(f"step {seen.look.step:,}")
        self.course.use_probe(seen.probe)
        self.course.add(seen)
        self.chart.setVisible(bool(seen.look.maps))
        self.chart.show_seen(seen)
        self._show_course()
        self.course.fill()

    @Slot()
    def _show_course(self) -> None:
        """Show the course of each head, and the moment in it unless it is the last."""
        self.chart.show_course(*self.course.make_lines(), find_axis_end(self.run.step, self.run.spec.train.steps))
        last = self.run.recorder.moments[-1].step
        step = self.seen.look.step if self.seen is not None else last
        self.chart.chart.show_cursor(float(step) if step < last else None)

    @Slot(object)
    def _on_pointed(self, cell: tuple[int, int, int] | None) -> None:
        self.told.setText(self.view.cell_text(cell) if cell is not None else "")
