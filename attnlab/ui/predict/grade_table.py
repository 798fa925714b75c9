"""The grades of an exercise as a table, to copy into a spreadsheet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from attnlab.base.counted import format_count
from attnlab.ui.base.dialog_size import fit
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of

if TYPE_CHECKING:
    from attnlab.lessons.grading import Grade
    from attnlab.lessons.lesson import Problem


@guarded
class GradeTable(FollowsTheme, QDialog):
    """Shows one line per student: the right answers, counted and one by one; below, unreadable lines of the file."""

    def __init__(self, grades: "Sequence[Grade]", problems: "Sequence[Problem]", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Grades")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fit(self, (320, 240), (640, 440))
        self._grades = tuple(grades)
        self.table = QTableWidget(len(grades), 2 + max((grade.total for grade in grades), default=0))
        self.table.setAccessibleName("Grades")
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setHorizontalHeaderLabels(self._list_headings())
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for row, grade in enumerate(self._grades):
            self._fill(row, grade)
        self.summary = QLabel(self._write_summary())
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(16), px(16), px(16))
        column.setSpacing(px(12))
        column.addWidget(self.summary)
        column.addWidget(self.table, 1)
        if problems:
            column.addWidget(_make_problem_box(problems))
        column.addLayout(self._make_buttons())

    def format_text(self) -> str:
        """Return the table as tab-separated text, headings first; the counts of right answers are plain numbers."""
        student, right, *boxes = self._list_headings()
        rows = [[student, right, "Of", *boxes]]
        rows += [[g.student, str(g.right), str(g.total), *_list_texts(g)[2:]] for g in self._grades]
        return "\n".join("\t".join(_join_field(text) for text in row) for row in rows) + "\n"

    def _list_headings(self) -> list[str]:
        first = self._grades[0].marks if self._grades else ()
        return ["Student", "Right", *(mark.answer.label for mark in first)]

    def _write_summary(self) -> str:
        right, total = sum(g.right for g in self._grades), sum(g.total for g in self._grades)
        return f"{format_count(len(self._grades), 'student')}, {right} of {total} answers are right"

    def restyle(self) -> None:
        """Set the font of the summary, and the colours of right and wrong answers."""
        palette = palette_of(self)
        self.summary.setFont(font("strong"))
        for row, grade in enumerate(self._grades):
            for column, mark in enumerate(grade.marks, start=2):
                item = self.table.item(row, column)
                if item is not None:
                    item.setForeground(QColor(palette.good if mark.right else palette.bad))

    def _fill(self, row: int, grade: "Grade") -> None:
        tips = ["", "", *(mark.said for mark in grade.marks)]
        for column, (text, tip) in enumerate(zip(_list_texts(grade), tips, strict=True)):
            item = QTableWidgetItem(text)
            item.setToolTip(plain_tip(tip))
            if tip:
                item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{text}: {tip}")
            self.table.setItem(row, column, item)

    def _make_buttons(self) -> QHBoxLayout:
        self.copy_button = QPushButton("Copy the table")
        self.copy_button.setToolTip("Copy the table to paste it into a spreadsheet")
        self.copy_button.clicked.connect(self._on_copy_clicked)
        close = QPushButton("Close")
        close.setToolTip("Close the grades")
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.addWidget(self.copy_button)
        row.addStretch(1)
        row.addWidget(close)
        return row

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self.format_text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self._on_copy_clicked()
        else:
            super().keyPressEvent(event)


def _list_texts(grade: "Grade") -> list[str]:
    marks = (f"{mark.given or '–'} {'✓' if mark.right else '✗'}" for mark in grade.marks)
    return [grade.student, f"{grade.right} of {grade.total}", *marks]


def _join_field(text: str) -> str:
    return " ".join(text.split())


def _make_problem_box(problems: "Sequence[Problem]") -> QPlainTextEdit:
    box = QPlainTextEdit("\n".join(f"Line {problem.line}: {problem.reason}" for problem in problems))
    box.setReadOnly(True)
    box.setAccessibleName("Unreadable lines")
    box.setToolTip("Lines of the file that were ignored, and why")
    box.setMaximumHeight(px(96))
    return box
