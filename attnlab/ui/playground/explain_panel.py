"""The Explain panel: the selected cell as numbered steps with bars, its row, and the row's statistics."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from attnlab.attention.edits.moved_tokens import cell_before, stage_places
from attnlab.attention.measures.statistics import row_statistics
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell, Explanation
from attnlab.attention.stages.explanation import find_shown_value
from attnlab.attention.stages.table import BY_NAME
from attnlab.figures.stage_data import SINK, find_sink_share
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px, set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground.arithmetic_words import ArithmeticWords
from attnlab.ui.playground.example_cell import find_example_cell
from attnlab.ui.playground.head_titles import name_head
from attnlab.ui.playground.rich_text import html_of_code
from attnlab.ui.playground.row_bars import RowBars
from attnlab.ui.playground.row_statistics_grid import RowStatisticsGrid
from attnlab.ui.playground.step_layout import INDENT
from attnlab.ui.playground.steps_view import StepsView
from attnlab.ui.playground.walk_explanation import (
    ShownExplanation,
    explain_in_view,
    find_unknown_in_row,
    has_cell,
)
from attnlab.ui.widgets.parted_label import PartedLabel
from attnlab.ui.widgets.subscripts import FormulaLabel, break_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attnlab.attention.stages.steps import RowStep, Steps
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View
    from attnlab.ui.widgets.charts.profile import Profile

INVITATION = "Point at a cell to see how it is computed; click to hold it, Esc to release it."
LONG_ROW = 33
"""The number of keys from which a row is also shown as a profile."""


class ExplainPanel(FollowsTheme, QScrollArea):
    """Explains the view's cell in a trace; emits the cell whose bar was clicked."""

    cell_clicked = Signal(object)
    fold_requested = Signal()
    begun = Signal()
    """Emitted when a cell is explained after none was."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("explain")
        self.setAccessibleName("Explain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._trace: Trace | None = None
        self._view: View | None = None
        self._shown: tuple[Cell | None, bool] = (None, False)
        self._cell: Cell | None = None
        self._known = False
        self._pinned: Trace | None = None
        self._about, self._lens, self._guided = "", "", False
        body = QWidget(self.viewport())
        body.setProperty("ground", "surface")
        self._column = column = QVBoxLayout(body)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(4)
        column.addLayout(self._make_top())
        self._example = FormulaLabel()
        self._example.setContentsMargins(0, 0, 0, 12)
        column.addWidget(self._example)
        column.addLayout(self._make_heading())
        self._value = QLabel()
        self._value.setProperty("role", "display")
        self._value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self._value)
        self._compared = PartedLabel("muted")
        column.addWidget(self._compared)
        self._sentence = FormulaLabel(role="muted")
        self._remarks = FormulaLabel(role="muted")
        for label in (self._value, self._compared, self._where, self._example, self._sentence, self._remarks):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._words = ArithmeticWords(self)
        self._words.changed.connect(self._refresh)
        self._first_steps, self._last_steps = StepsView("Steps to this cell"), StepsView("Steps from the row on")
        self._words_first, self._words_last = QVBoxLayout(), QVBoxLayout()
        self._code = QLabel()
        self._code.setProperty("role", "caption")
        self._code.setWordWrap(True)
        self._code.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._code.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._code.setTextFormat(Qt.TextFormat.RichText)
        self._code.setContentsMargins(0, 8, 0, 0)
        self._compared.setContentsMargins(0, 0, 0, 4)
        self._row_title = _make_section("")
        self._row_title.setProperty("names", "token")  # capitals would make “The” and “the” one token
        self._row_title.setContentsMargins(0, 16, 0, 0)
        self._row_title.setWordWrap(True)
        self.bars = RowBars()
        self.bars.bar_clicked.connect(self._on_bar_clicked)
        self._profile: Profile | None = None
        self._can_profile = True
        self._row_place, self._profile_place = QVBoxLayout(), QVBoxLayout()
        self._row_place.addLayout(self._profile_place)
        self._row_place.addWidget(self.bars)
        self._statistics_title = _make_section("This row")
        self._statistics_title.setContentsMargins(0, 16, 0, 0)
        self._statistics = RowStatisticsGrid()
        column.addWidget(self._sentence)
        column.addWidget(self._remarks)
        column.addWidget(self._first_steps)
        column.addLayout(self._words_first)
        column.addWidget(self._row_title)
        column.addLayout(self._row_place)
        column.addWidget(self._last_steps)
        column.addLayout(self._words_last)
        for part in (self._statistics_title, self._statistics, self._code):
            column.addWidget(part)
        column.addStretch(1)
        self.setWidget(body)
        self._show_nothing()

    def _make_top(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self._section = _make_section("Explain")
        self.fold_button = QToolButton()
        self.fold_button.setAutoRaise(True)
        self.fold_button.setAccessibleName("Fold the explanation")
        self.fold_button.setToolTip("Fold the explanation: more room for the canvas")
        self.fold_button.clicked.connect(self.fold_requested)
        row.addWidget(self._section, 1)
        row.addWidget(self.fold_button)
        return row

    def _make_heading(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._dot = QLabel()
        self._dot.setFixedSize(10, 10)
        self._name = FormulaLabel(role="title")
        self._name.setWordWrap(False)
        self._where = PartedLabel("muted")
        title = QHBoxLayout()
        title.setSpacing(8)
        title.addWidget(self._dot)
        title.addWidget(self._name)
        row.addLayout(title)
        row.setAlignment(title, Qt.AlignmentFlag.AlignTop)  # level with the first line of the place
        row.addWidget(self._where, 1, Qt.AlignmentFlag.AlignTop)
        return row

    def restyle(self) -> None:
        """Write the arithmetic in the present colours, and fit the button to the size of type."""
        self.fold_button.setIcon(icon("panel-right", palette_of(self), px(16)))
        self.fold_button.setIconSize(QSize(px(16), px(16)))
        self._refresh()

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Explain the same cell with another trace."""
        self._trace, self._view = trace, view
        self._refresh()

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare each cell with its value in another trace, or with none."""
        self._pinned = pinned
        self._refresh()

    def show_view(self, view: "View") -> None:
        """Explain another cell."""
        self._view = view
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        self._show_subject()
        self._column.activate()  # at once: painted before the panel is as high as its parts, they would overlap

    def _show_subject(self) -> None:
        """Explain the subject of the view, or the cell of the example, or say what to do."""
        cell = self._view.subject if self._view is not None else None
        example = cell is None and not self._lens and not self._guided
        if self._trace is not None and self._view is not None and example:
            cell = find_example_cell(self._trace, self._view)
        if self._trace is None or self._view is None or cell is None or not has_cell(self._trace, cell):
            self._show_nothing()
            return
        limit = None if self._words.every_term else 6
        self._show(explain_in_view(self._trace, self._view, cell, limit, self._words.wanted))
        if example:
            self._show_about()
        else:
            self._example.hide()

    def _show_nothing(self) -> None:
        self._name.setText("")
        self._where.show_parts()
        self._show_about()
        self._value.setText("")
        self._code.setText("")
        self._cell = None
        self._name_labels()
        head = self._dot, self._name, self._where, self._value, self._compared
        hidden = (*head, self._sentence, self._words, self._remarks, self._code)
        for widget in (*hidden, self._row_title, self._statistics_title, self.bars):
            widget.hide()
        if self._profile is not None:
            self._profile.hide()
        self._show_steps(None)
        self._statistics.show_statistics(None, ())

    def show_about(self, about: str) -> None:
        """Show what to notice in the worked example of the next trace while no cell is held; "" without an example."""
        self._about = about

    def set_guided(self, on: bool) -> None:
        """Show no example while a lesson is open, whose questions it could answer: the lesson says what to look at."""
        self._guided = on
        self.fold_button.setHidden(on)  # the column holds the text of the lesson too
        self._refresh()

    @property
    def is_idle(self) -> bool:
        """Whether no cell is explained, or one of which nothing is known yet."""
        return self._cell is None or not self._known

    def measure_need(self) -> int:
        """Return the height in pixels at which nothing has to be scrolled."""
        return self._column.totalHeightForWidth(self.width())

    def show_lens(self, title: str, about: str) -> None:
        """Say what a lens shows while no cell is held; without a title the canvas is in view."""
        self._lens = f"{title}: {about[:1].lower()}{about[1:]}." if title else ""
        self._refresh()

    def _show_about(self) -> None:
        """Show what there is to see and to do while no cell is held."""
        about = "" if self._guided else self._about
        self._example.setText(" ".join(filter(None, (about, self._lens or INVITATION))))
        self._example.show()

    def _show(self, shown: ShownExplanation) -> None:
        """Show what is said of a cell."""
        explanation = shown.explanation
        p, cell, trace = palette_of(self), explanation.cell, self._trace
        idle, self._cell, self._known = self.is_idle, cell, shown.is_known
        assert trace is not None
        stage = BY_NAME[cell.stage]
        set_sheet(self._dot, f"background:{p.role(explanation.role)}; border-radius:2px")
        self._name.setText(explanation.title)
        head = name_head(cell.head) if cell.head is not None and trace.experiment.n_heads > 1 else ""
        self._where.show_parts(explanation.place, head)
        self._value.setText(shown.value or number(explanation.value))
        self._compare(explanation)
        if shown.value:
            self._compared.hide()
        for label, text in ((self._sentence, shown.sentence), (self._remarks, shown.remarks)):
            label.setText(text)
            label.setVisible(bool(text))
        row = shown.steps.row if shown.steps is not None else None
        place = self._words_last if row is not None else self._words_first
        if place.indexOf(self._words) < 0:
            place.addWidget(self._words)
        self._words.show_words(explanation.lines, shown.steps)
        code = stage.code(trace.experiment)
        if self._code.text() != (written := html_of_code(code)):
            self._code.setText(written)
        self._name_labels(code)
        for widget in (self._dot, self._name, self._where, self._value, self._code, self._words):
            widget.show()
        self._show_row(cell, row)
        self._show_steps(shown.steps)
        if idle and not self.is_idle:
            self.begun.emit()

    def _show_steps(self, steps: "Steps | None") -> None:
        """Draw the steps: those up to the bars of the row, and those after them."""
        if steps is None:
            self._first_steps.show_steps(())
            self._last_steps.show_steps(())
            return
        numbers = iter(range(1, len(steps.all) + 1))
        first = [(step, next(numbers) if step.is_numbered else 0, "") for step in steps.before]
        last = []
        if steps.row is not None:
            first.append((steps.row.step, number_of_row := next(numbers), "head"))
            last.append((steps.row.step, number_of_row, "foot"))
        last += [(step, next(numbers) if step.is_numbered else 0, "") for step in steps.after]
        self._first_steps.show_steps(first, len(steps.before))
        parts = self.bars.find_parts_end() if steps.row is not None and len(steps.row.parts) else 0
        self._last_steps.show_steps(last, parts=parts)

    def _compare(self, explanation: Explanation) -> None:
        """Show the cell's value in the pinned state, if that has the cell."""
        pinned, cell = self._pinned, explanation.cell
        if pinned is not None and self._trace is not None and has_cell(pinned, cell):
            stage = BY_NAME[cell.stage]
            cell = cell_before(cell, stage_places(self._trace.experiment, pinned.experiment, stage))
        there = pinned is not None and has_cell(pinned, cell)
        self._compared.setVisible(there)
        if pinned is not None and there:
            before = find_shown_value(pinned, cell)
            change = 0.0 if before == explanation.value else explanation.value - before
            sign = "+" if change > 0 else ""
            self._compared.show_parts(f"pinned {number(before)}", f"change {sign}{number(change)}")

    def _name_labels(self, code: str = "") -> None:
        """Give each label an accessible name with its text: a screen reader reads the name in place of the text."""
        self._value.setAccessibleName(f"Value of the cell: {self._value.text()}")
        self._code.setAccessibleName(f"The same in PyTorch: {code}")

    def _show_row(self, cell: Cell, step: "RowStep | None") -> None:
        """Show the weights of the cell's query, with their parts in the step of a weight; keys and values have none."""
        trace = self._trace
        assert trace is not None
        stage = BY_NAME[cell.stage]
        held = cell.stage if cell.stage in ("zeroed", "dropped") else "weights"
        name = held if step is None else "weights"
        of_query = stage.axes[-2] in ("query", "token")  # there may be more keys than rows of the weights
        unknown_keys = find_unknown_in_row(trace, self._view, name, cell.row) if of_query else [True]
        is_known = of_query and not any(find_unknown_in_row(trace, self._view, held, cell.row))
        has_row = not all(unknown_keys)
        for widget, shown in (
            (self._row_title, has_row and step is None),
            (self._statistics_title, has_row and is_known),
            (self.bars, has_row),
        ):
            widget.setVisible(shown)  # each once: a label hidden and shown again has the whole panel laid out again
        if self._profile is not None and not has_row:
            self._profile.hide()
        if not has_row:
            self._statistics.show_statistics(None, ())
            return
        e = trace.experiment
        head = cell.head if cell.head is not None else (self._view.head if self._view is not None else "mean")
        row, masked = _find_row(trace, name, cell.row, head)
        token, which = f"“{e.tokens[cell.row]}”", ""
        if e.n_heads > 1 and not isinstance(head, int):
            which = ", mean of the heads"
        self._row_title.setText(break_words(f"ROW OF {token}{which.upper()}"))
        self._row_place.setContentsMargins(px(INDENT) if step is not None else 0, 0, 0, 0)
        self.bars.set_parts(step.parts.tolist() if step is not None else (), step.decimals if step is not None else 4)
        current = cell.column if stage.axes[-1] == "key" else None
        bars, keys = row.tolist(), e.key_tokens
        if name == "weights" and e.config.option("sink"):
            bars, keys = [*bars, find_sink_share(row).tolist()], (*keys, SINK)
            masked, unknown_keys = [*masked, False], [*unknown_keys, any(unknown_keys)]
        self.bars.set_row(keys, bars, masked, unknown_keys, current, f"Weights, row of {token}{which}")
        partly = any(unknown_keys)
        self._show_profile(row[:0] if partly else row, e.key_tokens, current)
        kept, hidden = _find_row(trace, held, cell.row, head)
        statistics = row_statistics(kept, hidden.count(False), cell.row) if is_known else None
        self._statistics.show_statistics(statistics, e.key_tokens)

    def _show_profile(self, row: "NDArray[np.floating]", keys: tuple[str, ...], current: int | None) -> None:
        """Show a long row as a profile above its bars; pyqtgraph is loaded for the first one."""
        if len(row) >= LONG_ROW and self._profile is None and self._can_profile:
            try:
                from attnlab.ui.widgets.charts.profile import Profile
            except ImportError:  # without pyqtgraph only the bars are shown
                self._can_profile = False
                return
            self._profile = Profile()
            self._profile.index_clicked.connect(self._on_bar_clicked)
            self._profile_place.addWidget(self._profile)
        if self._profile is not None:
            self._profile.setVisible(len(row) >= LONG_ROW)
            if len(row) >= LONG_ROW:
                self._profile.set_profile(row.tolist(), keys, current)

    @Slot(int)
    def _on_bar_clicked(self, key: int) -> None:
        cell = self._cell
        if cell is not None and self._trace is not None and key < self._trace.experiment.T_k:  # the sink is no key
            self.cell_clicked.emit(Cell("weights", cell.row, key, cell.head))


def _find_row(trace: "Trace", name: str, row: int, head: int | str | None) -> "tuple[NDArray[np.floating], list[bool]]":
    """Return a row of weights [T_k] of a stage, of one head or the mean, and which of its keys are masked."""
    weights = trace.array(name)[head] if isinstance(head, int) else trace.mean(name)
    mask = trace.find_shown_mask(name)
    return weights[row], [False] * trace.experiment.T_k if mask is None else mask[row].tolist()


def _make_section(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
