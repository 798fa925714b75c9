"""The editor of the user's lessons: the steps in order, the chosen one's texts, and their preview."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from attnlab.base.errors import AttnlabError
from attnlab.lessons.cell_references import write_blank
from attnlab.lessons.lesson import Blank, Lesson, Step
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.lessons.draft import Draft
from attnlab.ui.lessons.draft_files import ask_save, save
from attnlab.ui.lessons.field_texts import set_area, set_line
from attnlab.ui.lessons.question_fields import QuestionFields
from attnlab.ui.lessons.recording import describe_step, find_stage
from attnlab.ui.lessons.step_picture import WIDTH, StepPicture
from attnlab.ui.lessons.step_preview import Preview
from attnlab.ui.lessons.step_side import StepSide
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from pathlib import Path

    from attnlab.ui.lessons.lesson_controller import LessonController


ROOMY = 800
"""The width in pixels at 100 % from which the slide stands beside its step."""


@guarded
class Editor(FollowsTheme, QWidget):
    """Shows and edits a draft; emits the file it was saved to, and the end of editing."""

    saved = Signal(object)
    left = Signal()

    def __init__(self, controller: "LessonController") -> None:
        super().__init__()
        self._controller = controller
        self._draft: Draft | None = None
        self.setProperty("ground", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Lesson editor")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._make_head())
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setHandleWidth(1)
        split.setChildrenCollapsible(False)
        self._side = StepSide()
        self.steps, self.tools = self._side.steps, self._side.tools
        self.steps.chosen.connect(self._on_step_chosen)
        self.steps.moved.connect(self._on_step_moved)
        self._side.tool_used.connect(self._on_tool_used)
        self._side.add_requested.connect(controller.drafts.add_step)
        split.addWidget(self._side)
        split.addWidget(self._make_form())
        split.setStretchFactor(1, 1)
        self.preview = Preview(controller.playground)
        self.preview.filled.connect(self._fit_preview)
        self._picture = StepPicture(self.preview.picture)
        split.addWidget(self._picture)
        split.setStretchFactor(2, 1)
        split.setSizes([px(230), px(WIDTH), px(WIDTH)])
        column.addWidget(split, 1)
        self._form.insertWidget(self._form.indexOf(self.text) + 1, self.preview)
        for field in self.findChildren(QWidget):
            field.installEventFilter(self)

    def _make_head(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("ground", "top")
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self.title, self.about = QLineEdit(), QLineEdit()
        for field, name, tip in (
            (self.title, "Title of the lesson", "The name of the lesson"),
            (self.about, "About the lesson", "One sentence about the lesson"),
        ):
            field.setAccessibleName(name)
            field.setPlaceholderText(name)
            field.setToolTip(tip)
        self.title.setProperty("role", "title")
        self.title.textEdited.connect(self._on_title_edited)
        self.about.textEdited.connect(self._on_about_edited)
        row.addWidget(self.title, 2)
        row.addWidget(self.about, 3)
        self._save, self._save_as = QPushButton("Save"), QPushButton("Save as…")
        self._walk, self._done = QPushButton("Try it"), QPushButton("Done")
        self._save.setProperty("primary", True)
        self._save.setToolTip("Save the lesson (Ctrl+S)")
        self._save_as.setToolTip("Save the lesson to another file")
        self._walk.setToolTip("Walk the lesson beside the playground, from this step")
        self._done.setToolTip("Back to the lessons; unsaved changes stay here until you return")
        self._save.clicked.connect(self.save)
        self._save_as.clicked.connect(self.save_as)
        self._walk.clicked.connect(self._on_walk_clicked)
        self._done.clicked.connect(self.left)
        for button in (self._save, self._save_as, self._walk, self._done):
            row.addWidget(button)
        return bar

    def _make_form(self) -> QScrollArea:
        area, body = QScrollArea(), QWidget()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setAccessibleName("Fields of the step")
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body.setProperty("ground", "ground")
        self._form = QVBoxLayout(body)
        self._form.setContentsMargins(20, 16, 20, 16)
        self._form.setSpacing(6)
        self._empty = QLabel("Show something in the playground, then press Ctrl+Shift+A to record it as a step.")
        self._empty.setWordWrap(True)
        self._empty.setProperty("role", "muted")
        self.step_title = QLineEdit()
        self.step_title.setProperty("role", "title")
        self.step_title.setAccessibleName("Title of the step")
        self.step_title.setToolTip("The heading of the slide")
        self.step_title.textEdited.connect(self._on_step_title_edited)
        self.text = self._make_area("Text", "Markdown; a number as {{weights[2, 1]}}. At most about 60 words.", 104)
        self.notes = self._make_area("Notes", "Only you see these while you present.", 64)
        self.answer = self._make_area(
            "After the reveal", "Appears when the question is answered or all is revealed.", 64
        )
        self.answer.textChanged.connect(self._on_answer_changed)
        self.text.textChanged.connect(self._on_text_changed)
        self.notes.textChanged.connect(self._on_notes_changed)
        self.question = QuestionFields()
        self.question.changed.connect(self._on_question_changed)
        self._parts: list[QWidget] = []
        self._form.addWidget(self._empty)
        self._put("Step", self.step_title)
        self._form.addWidget(self._make_state())
        self._put("Text", self.text)
        self._put("Question", self.question)
        self._put("After the reveal", self.answer)
        self._put("Notes", self.notes)
        self._form.addStretch(1)
        area.setWidget(body)
        return area

    def _make_area(self, name: str, hint: str, height: int) -> QPlainTextEdit:
        field = QPlainTextEdit()
        field.setAccessibleName(name)
        field.setPlaceholderText(hint)
        field.setToolTip(hint)
        field.setTabChangesFocus(True)
        field.setUndoRedoEnabled(False)  # the draft's undo covers all fields
        field.setFixedHeight(px(height))
        return field

    def _put(self, title: str, widget: QWidget) -> None:
        heading = QLabel(title)
        heading.setProperty("role", "section")
        if self._parts:
            heading.setContentsMargins(0, 8, 0, 0)
        self._form.addWidget(heading)
        self._form.addWidget(widget)
        self._parts += [heading, widget]

    def _make_state(self) -> QWidget:
        holder = QWidget()
        column, row = QVBoxLayout(holder), FlowLayout(gap=8)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self._state = QLabel()
        self._state.setTextFormat(Qt.TextFormat.PlainText)
        self._state.setWordWrap(True)
        self._state.setProperty("role", "caption")
        self._state.setAccessibleName("State of the step")
        self._record, self._insert = QPushButton("Record again"), QPushButton("Insert the number")
        self._record.setToolTip("Make this step show the playground’s current state")
        self._insert.setToolTip("Insert the number of the cell that the step holds into the text")
        self._record.clicked.connect(self._on_record_clicked)
        self._insert.clicked.connect(self._on_insert_clicked)
        row.addWidget(self._record)
        row.addWidget(self._insert)
        column.addWidget(self._state)
        column.addLayout(row)
        self._parts.append(holder)
        return holder

    def restyle(self) -> None:
        """Set heights for the size of type."""
        self._arrange_picture()
        self.text.setFixedHeight(px(104))
        self.notes.setFixedHeight(px(64))
        self.answer.setFixedHeight(px(64))

    def _arrange_picture(self) -> None:
        """Show the slide beside the step if there is a step, and room."""
        has_step = self._draft is not None and bool(self._draft.lesson.steps)
        self._picture.setVisible(has_step and self.width() >= px(ROOMY))

    @property
    def draft(self) -> Draft | None:
        """The lesson being edited."""
        return self._draft

    def show_draft(self, draft: Draft) -> None:
        """Edit a draft."""
        if self._draft is not draft:
            if self._draft is not None:
                self._draft.changed.disconnect(self._refresh)
            self._draft = draft
            draft.changed.connect(self._refresh)
        self._refresh()

    def focus(self) -> None:
        """Move keyboard focus to the step's text, or without a step to the title."""
        (self.text if self._draft is not None and self._draft.step is not None else self.title).setFocus()

    @Slot()
    def _refresh(self) -> None:
        draft = self._draft
        if draft is None:
            return
        lesson, step = draft.lesson, draft.step
        set_line(self.title, lesson.title)
        set_line(self.about, lesson.about)
        self._save.setText("Save •" if draft.modified else "Save")
        self._side.show_draft(draft)
        self._walk.setEnabled(step is not None)
        self._empty.setVisible(step is None)
        self._arrange_picture()
        for widget in self._parts:
            widget.setVisible(step is not None)
        self._fit_preview()
        if step is not None:
            self._show_step(lesson, step, draft.chosen)

    @Slot()
    def _fit_preview(self) -> None:
        """Show the preview of the text if there is one."""
        has_step = self._draft is not None and self._draft.step is not None
        self.preview.setVisible(has_step and not self.preview.is_empty)

    def _show_step(self, lesson: Lesson, step: Step, index: int) -> None:
        set_line(self.step_title, step.title)
        for field, text in ((self.text, step.text), (self.notes, step.notes), (self.answer, step.answer)):
            set_area(field, text)
        self.question.show_question(step.question)
        self._state.setText(describe_step(step))
        self.preview.show_step(lesson, index)

    @Slot()
    def save(self) -> bool:
        """Save the lesson to its file; a new one in the user's folder, named after its title."""
        return self._draft is not None and save(self._controller.window, self._draft, self._on_saved)

    @Slot()
    def save_as(self) -> None:
        """Ask for a file and save to it."""
        if self._draft is not None:
            ask_save(self._controller.window, self._draft, self._on_saved)

    def _on_saved(self, path: "Path") -> None:
        self.saved.emit(path)

    @Slot(str)
    def _on_tool_used(self, name: str) -> None:
        draft = self._draft
        if draft is None:
            return
        if name in ("up", "down"):
            self._on_step_moved(draft.chosen, draft.chosen + (1 if name == "down" else -1))
            return
        try:
            getattr(draft, name)()
        except AttnlabError as error:
            self._controller.refuse(str(error))

    @Slot(int)
    def _on_step_chosen(self, row: int) -> None:
        if self._draft is not None:
            self._draft.choose(row)

    @Slot(int, int)
    def _on_step_moved(self, source: int, target: int) -> None:
        if self._draft is None:
            return
        try:
            self._draft.move(source, target)
        except AttnlabError as error:
            self._controller.refuse(str(error))
        self._refresh()

    @Slot(str)
    def _on_title_edited(self, text: str) -> None:
        if self._draft is not None:
            self._draft.edit("Title", replace(self._draft.lesson, title=text), "title")

    @Slot(str)
    def _on_about_edited(self, text: str) -> None:
        if self._draft is not None:
            self._draft.edit("About", replace(self._draft.lesson, about=text), "about")

    @Slot(str)
    def _on_step_title_edited(self, text: str) -> None:
        self._edit_step("Title of the step", title=text)

    @Slot()
    def _on_text_changed(self) -> None:
        text = self.text.toPlainText()
        self._edit_step("Text", len(text.split()), text=text)

    @Slot()
    def _on_notes_changed(self) -> None:
        text = self.notes.toPlainText()
        self._edit_step("Notes", len(text.split()), notes=text)

    @Slot()
    def _on_answer_changed(self) -> None:
        text = self.answer.toPlainText()
        self._edit_step("Text after the reveal", len(text.split()), answer=text)

    @Slot(object)
    def _on_question_changed(self, question: object) -> None:
        self._edit_step("Question", 0, question=question)

    def _edit_step(self, label: str, word: int = 0, **changes: Any) -> None:
        if self._draft is not None:
            self._draft.edit_step(label, (label, self._draft.chosen, word), **changes)

    @Slot()
    def _on_record_clicked(self) -> None:
        from attnlab.ui.lessons.recording import StepContent, replace_step

        draft = self._draft
        if draft is None or draft.step is None:
            return
        try:
            draft.edit(
                "Record again",
                replace_step(draft.lesson, draft.chosen, StepContent.read_playground(self._controller.playground)),
            )
        except AttnlabError as error:
            self._controller.refuse(str(error))

    @Slot()
    def _on_insert_clicked(self) -> None:
        number = self._find_number()
        if number is None:
            self._controller.refuse("The step holds no cell, and none is selected in the playground; click one there.")
            return
        self.text.insertPlainText(f"{{{{{number}}}}}")
        self.text.setFocus()

    def _find_number(self) -> str | None:
        """Return the cell that the step holds, else the one selected in the playground, as lessons write it."""
        draft = self._draft
        if draft is not None and draft.step is not None and draft.step.cell is not None:
            return write_blank(Blank(find_stage(draft.lesson, draft.chosen), *draft.step.cell))
        cell = self._controller.playground.document.view.cell
        return None if cell is None else write_blank(Blank(cell.stage, cell.row, cell.column, cell.head))

    @Slot()
    def _on_walk_clicked(self) -> None:
        if self._draft is not None:
            self._controller.walk(self._draft.lesson, self._draft.chosen)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange_picture()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass undo and redo to the draft: a text field would handle the keys itself."""
        keys = QKeySequence.StandardKey
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            taken = event.matches(keys.Undo) or event.matches(keys.Redo)
            if taken:
                event.ignore()
                return True
        return super().eventFilter(watched, event)
