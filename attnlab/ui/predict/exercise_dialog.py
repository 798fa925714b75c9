"""The exercise dialog: makes an exercise from the open scene, to try here, print for each student, and grade."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from attnlab.base.errors import AttnlabError
from attnlab.figures.handout import Page, lay_out
from attnlab.lessons.lesson import Question
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.dialog_parts import ask_where, ask_which, button, make_scroll_area
from attnlab.ui.base.dialog_size import fit, move_aside
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.slices import Slices
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import set_role
from attnlab.ui.playground.example_cell import find_example_cell
from attnlab.ui.predict.answer_sheet import AnswerSheet
from attnlab.ui.predict.exercise_form import ExerciseForm
from attnlab.ui.predict.grade_table import GradeTable
from attnlab.ui.predict.page_preview import PagePreview
from attnlab.ui.predict.sheets import FORMULAS, check_sizes, describe_place, make_sheet, print_sheets

if TYPE_CHECKING:
    from attnlab.attention.stages.explanation import Cell
    from attnlab.lessons.exercise import Exercise
    from attnlab.lessons.grading import Grade
    from attnlab.lessons.lesson import Problem
    from attnlab.ui.playground.playground import Playground

_SMALL, _LARGE = (560, 420), (900, 640)
_WIDEST_SHEET = 560
_TRYING = 360
"""The width of the dialog while the exercise is tried in the playground."""


@guarded
class ExerciseDialog(QDialog):
    """Makes exercises of one playground; the window stays usable, and selecting another cell changes the exercise."""

    previewed = Signal()
    trying = Signal()
    """The exercise is about to be opened in the playground, where nothing else may show its numbers."""
    saved = Signal(str)

    def __init__(self, playground: "Playground", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Exercise")
        fit(self, _SMALL, _LARGE)
        self._playground = playground
        self._exercise: Exercise | None = None
        self._trying = False
        self._usual, self._least_width = QRect(), self.minimumWidth()
        self.form = ExerciseForm()
        self.answer_sheet = AnswerSheet()
        self.slices = Slices(self)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(60)
        self._saying = ""
        self._make()
        self._connect()
        self._soon.start()

    def _make(self) -> None:
        self.preview = PagePreview()
        self.message = QLabel()
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setWordWrap(True)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress")
        self.cancel_button = button("Cancel", "Stop writing without leaving a partial file")
        self.right = QStackedWidget()
        self.right.addWidget(self.preview)
        self.right.addWidget(make_scroll_area(self._make_asking_page(), "The exercise"))
        self._left_side = QWidget()
        left = QVBoxLayout(self._left_side)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(px(12))
        form = make_scroll_area(self.form, "Choices for the exercise")
        form.setFixedWidth(px(332))
        left.addWidget(form, 1)
        left.addWidget(self.message)
        left.addLayout(self._make_progress_line())
        left.addLayout(self._make_buttons())
        whole = QHBoxLayout(self)
        whole.setContentsMargins(px(16), px(16), px(16), px(16))
        whole.setSpacing(px(16))
        whole.addWidget(self._left_side)
        whole.addWidget(self.right, 1)
        self._show_progress(0)

    def _make_asking_page(self) -> QWidget:
        """Return the page with the answer sheet, at a legible width, and the Back button below it."""
        self.back_button = button("Back to the page", "Stop trying, and show the page again")
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, px(8), 0)
        column.setSpacing(px(16))
        column.addWidget(self.answer_sheet)
        column.addWidget(self.back_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        page.setMaximumWidth(px(_WIDEST_SHEET))
        return page

    def _make_progress_line(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(self.progress, 1)
        row.addWidget(self.cancel_button)
        return row

    def _make_buttons(self) -> QGridLayout:
        self.handout_button = button("Hand-out PDF…", "Print a sheet with boxes for each student")
        self.answers_button = button("Answer sheet PDF…", "Print the same sheets with the answers and the arithmetic")
        self.try_button = button("Try it here", "Open the first student’s numbers, hide the answers, and ask for them")
        self.grade_button = button("Grade answers (CSV)…", "Read a file of student, cell, value and grade it")
        self.open_button = button("Open…", "Open a saved exercise")
        self.save_button = button("Save…", "Save the exercise, to print or grade it again later")
        grid = QGridLayout()
        grid.setSpacing(px(8))
        grid.setContentsMargins(0, 0, px(12), 0)
        buttons = (self.handout_button, self.answers_button, self.try_button, self.grade_button, self.open_button)
        for i, each in enumerate((*buttons, self.save_button)):
            grid.addWidget(each, i // 2, i % 2)
        return grid

    def _connect(self) -> None:
        document = self._playground.document
        document.scene_changed.connect(self._on_document_changed)
        document.view_changed.connect(self._on_document_changed)
        self._playground.computed.connect(self._on_computed)
        self.form.changed.connect(self._on_form_changed)
        self.form.cell_wanted.connect(self._on_cell_wanted)
        self.back_button.clicked.connect(self._on_form_changed)
        self._soon.timeout.connect(self._on_soon)
        self.answer_sheet.revealed.connect(self._on_revealed)
        self.slices.progressed.connect(self.progress.setValue)
        self.slices.finished.connect(self._on_finished)
        self.slices.stopped.connect(self._on_stopped)
        self.cancel_button.clicked.connect(self.slices.stop)
        self.handout_button.clicked.connect(partial(self._ask_pdf, False))
        self.answers_button.clicked.connect(partial(self._ask_pdf, True))
        self.try_button.clicked.connect(self.try_here)
        self.grade_button.clicked.connect(self._ask_answers)
        self.open_button.clicked.connect(self._ask_open)
        self.save_button.clicked.connect(self._ask_save)

    def read_exercise(self) -> "Exercise":
        """Return the exercise that the form describes.

        Raises:
            AttnlabError: a setting is invalid.
        """
        return self.form.read_exercise(self._playground.document.experiment, self._find_cell())

    def _find_cell(self) -> "Cell":
        """Return the held cell, else the example in Explain if its stage is in view, else the first cell of a stage."""
        from attnlab.attention.stages.explanation import Cell
        from attnlab.attention.stages.table import BY_NAME

        view, stage = self._playground.document.view, self._playground.current_stage
        if view.cell is not None and view.pinned:
            return view.cell
        reply = self._playground.reply
        trace = reply.trace if reply is not None else None
        if trace is not None and trace.experiment is self._playground.document.experiment:
            example = find_example_cell(trace, view)
            if example is not None and example.stage == stage:
                return example
        head = view.head if isinstance(view.head, int) else None if view.head == "mean" else 0
        return Cell(stage, 0, 0, head if BY_NAME[stage].has_heads else None)

    def write_pdf(self, path: Path, solved: bool) -> None:
        """Write the sheets of all students to one file, one student at a time so that the window stays responsive."""
        exercise = self._exercise
        if exercise is not None:
            self._saying = f"Saved {path}"
            self._start(
                print_sheets(exercise, self.form.paper_name, solved, path),
                len(exercise.students) or 1,
                "printing the sheets",
            )

    def grade_file(self, path: Path) -> None:
        """Read a file of answers and show the grades of all students."""
        from attnlab.lessons.grading import read_answer_file, sort_answers

        exercise = self._exercise
        if exercise is None:
            return
        try:
            lines, unread = read_answer_file(path)
        except AttnlabError as error:
            self._say(str(error))
            return
        found, problems = sort_answers(exercise, lines)
        if not found:
            self._say(f"{path.name} has no readable answers; each line needs student, cell, value.")
            return
        problems = tuple(sorted((*unread, *problems), key=lambda problem: problem.line))
        self._saying = ""
        self._start(self._grade_students(exercise, found, problems), len(found), "grading the answers")

    def _grade_students(
        self, exercise: "Exercise", found: dict[str, dict[str, str]], problems: "tuple[Problem, ...]"
    ) -> Iterator[None]:
        from attnlab.lessons.exercise import make_variant
        from attnlab.lessons.grading import grade

        grades: list[Grade] = []
        for student, given in found.items():
            grades.append(grade(exercise, make_variant(exercise, student), given, student))
            yield
        self.grades = GradeTable(grades, problems, self)
        self.grades.show()

    @Slot()
    def try_here(self) -> None:
        """Open the first student's numbers, as one undoable step, and ask for the blanks."""
        from attnlab.attention.stages.walk import Place
        from attnlab.lessons.exercise import make_variant, trace_exactly

        exercise = self._exercise
        if exercise is None:
            return
        self.trying.emit()
        student = (*exercise.students, "")[0]
        e = make_variant(exercise, student)
        document = self._playground.document
        document.edit(f"Exercise {exercise.title}", lambda _: e)
        trace = trace_exactly(e)
        first = min((cell.stage for cell in exercise.blanks), key=trace.all_stages.index)
        self._trying = True
        document.show(at=Place(first, -1))  # that stage and all later ones are hidden
        self._asked = Question((), "What goes in the blanks?", exercise.tolerance), exercise.blanks
        self.answer_sheet.clear()
        self.answer_sheet.show_question(*self._asked, trace)
        self.right.setCurrentIndex(1)
        self.try_button.setText("Try it again")
        self._uncover_card(first)
        self.answer_sheet.setFocus()

    def _uncover_card(self, stage: str) -> None:
        """Become a narrow window with the questions only, where it covers the least of the card that is asked about."""
        if not self._left_side.isHidden():
            self._usual = self.geometry()
        self._left_side.hide()
        self.setMinimumWidth(px(_TRYING))
        self.resize(px(_TRYING), self.height())
        card = self._playground.canvas.cards.get(stage)
        if card is not None and card.isVisible():
            move_aside(self, card)

    def _stop_trying(self) -> None:
        if self._trying:
            self._trying = False
            self._left_side.show()
            self.setMinimumWidth(self._least_width)
            self.setGeometry(self._usual)
            self._playground.document.show(at=None)

    def open_from(self, path: Path) -> None:
        """Open a saved exercise."""
        from attnlab.lessons.exercise import read_exercise

        try:
            self.form.load(read_exercise(path), path.name)
        except AttnlabError as error:
            self._say(str(error))

    def save_to(self, path: Path) -> None:
        """Save the exercise."""
        from attnlab.lessons.exercise import save_exercise

        if self._exercise is None:
            return
        try:
            save_exercise(self._exercise, path)
        except AttnlabError as error:
            self._say(str(error))
        else:
            self._note(f"Saved {path}")
            self.saved.emit(str(path))

    def _start(self, job: Iterator[None], steps: int, doing: str) -> None:
        self._say("")
        self.slices.start(job, doing=doing)
        self._show_progress(steps)

    def _show_progress(self, steps: int) -> None:
        self.progress.setRange(0, max(steps, 1))
        self.progress.setValue(0)
        for widget in (self.progress, self.cancel_button):
            widget.setVisible(bool(steps))
        self._enable(not steps)

    def _enable(self, on: bool) -> None:
        usable = on and self._exercise is not None
        for each in (self.handout_button, self.answers_button, self.try_button, self.grade_button, self.save_button):
            each.setEnabled(usable)
        self.open_button.setEnabled(on)

    def _say(self, sentence: str, role: str = "error") -> None:
        set_role(self.message, role)
        show_text(self.message, sentence)
        self.message.setVisible(bool(sentence))

    def _note(self, sentence: str) -> None:
        self._say(sentence, "muted")

    @Slot(str)
    def _on_finished(self, error: str) -> None:
        self._show_progress(0)
        if error:
            self._say(error)
        elif self._saying:
            self._note(self._saying)
            self.saved.emit(self._saying.removeprefix("Saved "))

    @Slot()
    def _on_stopped(self) -> None:
        self._show_progress(0)
        self._note("Cancelled; nothing was written.")

    @Slot()
    def _on_document_changed(self, *_: object) -> None:
        if self.right.currentIndex() == 0:  # a running question keeps the state it began with
            self._soon.start()

    @Slot()
    def _on_form_changed(self, *_: object) -> None:
        self._stop_trying()
        self.right.setCurrentIndex(0)
        self.try_button.setText("Try it here")
        self._soon.start()

    @Slot()
    def _on_cell_wanted(self) -> None:
        self.form.add_cell(self._find_cell())

    @Slot(object)
    def _on_computed(self, reply: object) -> None:
        trace = getattr(reply, "trace", None)
        if self.right.currentIndex() == 0:
            self._soon.start()  # the example is known
        elif trace is not None:
            self.answer_sheet.show_question(*self._asked, trace)

    @Slot(object)
    def _on_revealed(self, _cell: object) -> None:
        if not self.answer_sheet.hidden_cells:
            self._stop_trying()

    @Slot()
    def _on_soon(self) -> None:
        """Read the form, say what is wrong with it, and show the first page."""
        if self.right.currentIndex() == 1:
            return
        page: Page | None = None
        try:
            self._exercise = self.read_exercise()
            first = make_sheet(self._exercise, (*self._exercise.students, "")[0])
            page = lay_out(first, self.form.paper_name, FORMULAS, solved=False)[0]
        except AttnlabError as error:
            self._exercise = None
            self._say(str(error))
        else:
            self._note(check_sizes(self._exercise.experiment))
            self.form.show_where(describe_place(self._exercise))
        self.preview.show_page(page, self.form.paper_name)
        self._enable(not self.slices.running)
        self.previewed.emit()

    def _ask_pdf(self, solved: bool) -> None:
        title, name = ("Save the answer sheets", "answers.pdf") if solved else ("Save the hand-out", "handout.pdf")
        ask_where(self, title, "PDF (*.pdf)", name, partial(self.write_pdf, solved=solved))

    @Slot()
    def _ask_answers(self) -> None:
        ask_which(self, "Answers of the students", "Answers: student, cell, value (*.csv *.txt)", self.grade_file)

    @Slot()
    def _ask_open(self) -> None:
        ask_which(self, "Open an exercise", "attnlab exercises (*.json)", self.open_from)

    @Slot()
    def _ask_save(self) -> None:
        ask_where(self, "Save the exercise", "attnlab exercises (*.json)", "exercise.json", self.save_to)

    def done(self, result: int) -> None:
        """End running work and close; Esc and the title bar's button call this too."""
        self.slices.stop()
        self._on_form_changed()
        self._soon.stop()
        super().done(result)
