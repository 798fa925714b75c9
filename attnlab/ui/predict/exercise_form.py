"""The settings of an exercise: the blanks, what is given, the tolerance, and the students."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QPlainTextEdit, QWidget

from attnlab.base.errors import AttnlabError
from attnlab.ui.base.dialog_parts import button
from attnlab.ui.base.theme import px
from attnlab.ui.widgets.fields.form_parts import pair
from attnlab.ui.widgets.fields.undo_fields import NumberBox, TextField
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.explanation import Cell
    from attnlab.lessons.exercise import Exercise

CELL, ROW, RANDOM, CELLS, FILE = "cell", "row", "random", "cells", "file"
_MOST_SEED = 999_999


class ExerciseForm(QWidget):
    """Makes an exercise from the user's settings. ``changed`` is emitted when the exercise may have changed.

    ``cell_wanted`` asks the owner to add the current cell to the named blanks.
    """

    changed = Signal()
    cell_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loaded: Exercise | None = None
        self.title = TextField("Exercise")
        self.which = _make_choice(
            (CELL, "This cell"), (ROW, "This row"), (RANDOM, "Random cells"), (CELLS, "These cells")
        )
        self.count = NumberBox()
        self.count.setRange(1, 26)
        self.count.setValue(3)
        self.cells = TextField()
        self.cells.setPlaceholderText("weights[2, 1], weights[3, :]")
        self.add = button("Add", "Add the cell that is held in the window")
        self.add.clicked.connect(self.cell_wanted)
        self.where = FormulaLabel(role="muted")
        self.given = _make_choice(("inputs", "The inputs and weights"), ("before", "The stage before"))
        self.tolerance = TextField("0.01")
        self.own = QCheckBox("New for each")
        self.own.setChecked(True)
        self.seed = NumberBox()
        self.seed.setRange(0, _MOST_SEED)
        self.seed.setValue(1)
        for box in (self.count, self.seed):
            box.setAlignment(Qt.AlignmentFlag.AlignRight)
            box.setFixedWidth(px(84))
        self.students = QPlainTextEdit()
        self.students.setPlaceholderText("One name per line, or a number")
        self.students.setTabChangesFocus(True)
        self.students.setMinimumHeight(px(72))
        self.paper = _make_choice(("A4", "A4"), ("Letter", "Letter"))
        self._lay_out()
        self._connect()

    @property
    def paper_name(self) -> str:
        """A4 or Letter."""
        return str(self.paper.currentData())

    def read_exercise(self, e: "Experiment", cell: "Cell") -> "Exercise":
        """Return the exercise about the current cell.

        Raises:
            AttnlabError: a setting is invalid; the sentence says what is valid.
        """
        from attnlab.lessons.exercise import Exercise, parse_students

        loaded = self._loaded if self.which.currentData() == FILE else None
        return Exercise(
            loaded.experiment if loaded is not None else e,
            loaded.blanks if loaded is not None else self._list_cells(e, cell),
            self._read_tolerance(),
            " ".join(self.title.text().split()) or "Exercise",
            self.seed.value() if self.own.isChecked() else None,
            parse_students(self.students.toPlainText().splitlines()),
            str(self.given.currentData()),
        )

    def load(self, exercise: "Exercise", name: str) -> None:
        """Show an exercise read from a file."""
        self._loaded = exercise
        self.blockSignals(True)
        if self.which.findData(FILE) < 0:
            self.which.addItem("", FILE)
        self.which.setItemText(self.which.findData(FILE), f"As in {name}")
        self.which.setCurrentIndex(self.which.findData(FILE))
        self.title.setText(exercise.title)
        self.tolerance.setText(f"{exercise.tolerance:g}")
        self.own.setChecked(exercise.seed is not None)
        self.seed.setValue(min(max(exercise.seed or 0, 0), _MOST_SEED))
        self.students.setPlainText("\n".join(exercise.students))
        self.given.setCurrentIndex(self.given.findData(exercise.given))
        self.blockSignals(False)
        self._on_changed()

    def add_cell(self, cell: "Cell") -> None:
        """Add a cell to the named blanks."""
        from attnlab.lessons.exercise import write_cell

        named = self.cells.text().strip().rstrip(",")
        self.cells.setText(f"{named}, {write_cell(cell)}" if named else write_cell(cell))

    def show_where(self, text: str) -> None:
        """Show which cells are blank."""
        self.where.setText(text)

    def _list_cells(self, e: "Experiment", cell: "Cell") -> "tuple[Cell, ...]":
        from attnlab.attention.stages.table import BY_NAME
        from attnlab.lessons.cell_references import list_cells, parse_blanks
        from attnlab.lessons.exercise import draw_cells, list_row

        kind = self.which.currentData()
        if kind == CELLS:
            head = cell.head if cell.head is not None else "mean" if BY_NAME[cell.stage].has_heads else 0
            found = (list_cells(e, blank, head) for blank in parse_blanks(self.cells.text()))
            return tuple(dict.fromkeys(each for cells in found for each in cells))
        if kind == RANDOM:
            return draw_cells(e, cell.stage, self.count.value(), self.seed.value(), cell.head)
        return list_row(e, cell) if kind == ROW else (cell,)

    def _read_tolerance(self) -> float:
        from attnlab.lessons.grading import read_number

        try:
            return read_number(self.tolerance.text())
        except AttnlabError as error:
            raise AttnlabError(f"Tolerance: {error}") from None

    def _lay_out(self) -> None:
        self._named = pair(self.cells, self.add, (1, 0))
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, px(12), 0)
        grid.setHorizontalSpacing(px(12))
        grid.setVerticalSpacing(px(8))
        grid.setColumnStretch(1, 1)
        named = (
            ("Title", self.title, "The heading of the sheet"),
            ("Blank", pair(self.which, self.count, (1, 0)), "Which cells of the current stage are left blank"),
            ("", self._named, "The blank cells, separated by commas"),
            ("", self.where, ""),
            ("Given", self.given, "The numbers from which the answer is computed"),
            ("Tolerance", self.tolerance, "Answers within this distance are accepted"),
            (
                "Numbers",
                pair(self.own, pair(QLabel("seed"), self.seed, (0, 0)), (1, 0)),
                "Whether each student gets different numbers, drawn with this seed",
            ),
            ("Students", self.students, "One name per line, or the number of students"),
            ("Paper", self.paper, "The paper size of the sheets"),
        )
        for row, (name, field, about) in enumerate(named):
            if name:  # an empty label would take the space of a hidden field
                where = Qt.AlignmentFlag.AlignTop if name == "Students" else Qt.AlignmentFlag(0)
                grid.addWidget(QLabel(name), row, 0, where)
            grid.addWidget(field, row, 1)
            for part in (field, *field.findChildren(QWidget)):
                if isinstance(part, TextField | QComboBox | NumberBox | QCheckBox | QPlainTextEdit):
                    part.setToolTip(about)
                    part.setAccessibleName(name)
        grid.setRowStretch(7, 1)
        self.count.setAccessibleName("How many cells")
        self.cells.setAccessibleName("Cells")
        self.seed.setAccessibleName("Seed")

    def _connect(self) -> None:
        for field in (self.title, self.tolerance, self.cells):
            field.textChanged.connect(self._on_changed)
        for box in (self.count, self.seed):
            box.valueChanged.connect(self._on_changed)
        for choice in (self.which, self.given, self.paper):
            choice.currentIndexChanged.connect(self._on_changed)
        self.which.currentIndexChanged.connect(self._on_kind_changed)
        self.own.toggled.connect(self._on_changed)
        self.students.textChanged.connect(self._on_changed)
        self._on_changed()

    @Slot()
    def _on_kind_changed(self) -> None:
        """Start the list of named cells with the current one."""
        if self.which.currentData() == CELLS and not self.cells.text():
            self.cell_wanted.emit()

    @Slot()
    def _on_changed(self) -> None:
        self.count.setVisible(self.which.currentData() == RANDOM)
        self._named.setVisible(self.which.currentData() == CELLS)
        self.seed.setEnabled(self.own.isChecked() or self.which.currentData() == RANDOM)
        self.changed.emit()


def _make_choice(*choices: tuple[str, str]) -> QComboBox:
    box = QComboBox()
    for value, title in choices:
        box.addItem(title, value)
    return box
