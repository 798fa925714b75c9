"""The panel at the left: the task, the model and the training; errors are shown at the setting."""

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QScrollArea, QToolButton, QVBoxLayout, QWidget

from attnlab.base.counted import format_percent
from attnlab.training.specs import RunSpec
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.run_settings import (
    change_setting,
    make_model_fields,
    make_more_fields,
    make_task_fields,
    make_train_fields,
)
from attnlab.ui.train.text_file_control import TextFileControl
from attnlab.ui.widgets.fields.form_parts import combo, make_wrapped_label
from attnlab.ui.widgets.fields.form_style import PANEL
from attnlab.ui.widgets.fields.option_fields import OptionFields

if TYPE_CHECKING:
    from attnlab.ui.train.inspector import Checked

TEXTS = ("characters", "lines")
"""The tasks that learn from a text."""
LEVEL, LEAST_SHARE = "level", 0.001
"""The option of the tasks whose vocabulary depends on the text, and the least share that is written as a number."""


@guarded
class SettingsPanel(FollowsTheme, QScrollArea):
    """Shows a run's settings and emits changed ones: ``spec_changed``; while unfinished text is invalid, ``broken``."""

    spec_changed = Signal(object)
    broken = Signal(str)

    def __init__(self, spec: RunSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spec, self._last = spec, ""
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Settings")
        self.task, self.variant = self._tasks(), combo([])
        self.task.activated.connect(self._on_task_chosen)
        self.variant.activated.connect(self._on_variant_chosen)
        self.about, self.vocabulary, self.count = (make_wrapped_label("caption") for _ in range(3))
        self.problem = make_wrapped_label("error")
        self.problem.setAccessibleName("Message about the settings")
        self.options, self.model, self.train, self.more = (
            OptionFields(style=PANEL, controls={"file": TextFileControl}) for _ in range(4)
        )
        for rows in self._groups():
            rows.field_changed.connect(self._on_changed)
            rows.refused.connect(self._on_refused)
        self.fold = QToolButton()
        self.fold.setText("More settings")
        self.fold.setCheckable(True)
        self.fold.setAccessibleName("More settings")
        self.fold.setToolTip("Schedule, decay, stopping rules, device")
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.toggled.connect(self._on_folded)
        self._runs = QVBoxLayout()
        self.setWidget(self._lay_out_rows())
        self.show_spec(spec)

    def _tasks(self) -> QComboBox:
        from attnlab.training.tasks import TASKS

        box = combo([(task.title, name) for name, task in TASKS.items()])
        for i, task in enumerate(TASKS.values()):
            box.setItemData(i, plain_tip(task.about), Qt.ItemDataRole.ToolTipRole)
        box.setAccessibleName("Task")
        box.setToolTip("The task to learn")
        return box

    def _groups(self) -> tuple[OptionFields, ...]:
        return self.options, self.model, self.train, self.more

    def _lay_out_rows(self) -> QWidget:
        inside = QWidget()
        inside.setProperty("ground", "surface")
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 14, 8, 14)
        column.setSpacing(6)
        parts: list[QWidget | int] = [
            _heading("Task"),
            self.task,
            self.variant,
            self.about,
            self.options,
            self.vocabulary,
            10,
            _heading("Model"),
            self.model,
            self.count,
            10,
            _heading("Optimiser"),
            self.train,
            self.fold,
            self.more,
            self.problem,
            10,
        ]
        for part in parts:
            column.addSpacing(part) if isinstance(part, int) else column.addWidget(part)
        column.addLayout(self._runs)
        column.addStretch(1)
        self.variant.setAccessibleName("Recommended settings")
        self.variant.setPlaceholderText("other settings")
        return inside

    def open_data(self, path: str) -> None:
        """Choose a task that learns from a file: pairs from a .tsv; else the present one, if it reads text, or lines.

        Settings of the present task are kept. The check of the file follows, as after any change.
        """
        from attnlab.training.tasks import TASKS, make_spec

        files = {task.name: each.name for task in TASKS.values() for each in task.options if each.kind == "file"}
        pairs = path.lower().endswith(".tsv")
        task = "pairs" if pairs else self._spec.task if self._spec.task in TEXTS else "lines"
        spec = self._spec if self._spec.task == task else make_spec(task)
        self._last = files[task]
        self._take(replace(spec, options={**spec.options, files[task]: path}))
        self.show_spec(self._spec)

    def choose_task(self, title: str) -> None:
        """Choose the task with a title, and give the focus to the list of tasks; "" only gives it the focus."""
        if (at := self.task.findText(title)) >= 0:
            self.task.setCurrentIndex(at)
            self._on_task_chosen(at)
        self.task.setFocus()

    def add_section(self, widget: QWidget) -> None:
        """Put a section below the settings, such as the runs."""
        self._runs.addWidget(widget)

    def restyle(self) -> None:
        """Set the icon and the sizes."""
        self.setMinimumWidth(px(220))
        self._show_arrow()

    def show_spec(self, spec: RunSpec) -> None:
        """Show these settings."""
        from attnlab.training.tasks import TASKS, make_spec

        self._spec = spec
        task = TASKS[spec.task]
        usual = make_spec(spec.task, spec.model.kind)
        self.task.setCurrentIndex(self.task.findData(spec.task))
        self.about.setText(f"{task.about}\nLook for: {task.look_for[:1].lower()}{task.look_for[1:]}")
        self._show_variants()
        fields = make_task_fields(spec, task)
        self.options.set_fields(fields)
        self.options.setVisible(bool(fields))
        self.model.set_fields(make_model_fields(spec, task, usual))
        self.train.set_fields(make_train_fields(spec, usual))
        self.more.set_fields(make_more_fields(spec, usual))
        self.more.setVisible(self.fold.isChecked())
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Let Tab go from part to part as they stand: new fields would come last in the window."""
        fields = [*self.options.stops(), *self.model.stops(), *self.train.stops()]
        stops = [self.task, self.variant, *fields, self.fold, *self.more.stops()]
        for one, following in pairwise(stops):
            QWidget.setTabOrder(one, following)

    def _show_variants(self) -> None:
        from attnlab.training.tasks import TASKS, make_spec

        variants = TASKS[self._spec.task].variants
        titles = ["as recommended", *(variant.title for variant in variants)]
        if [self.variant.itemText(i) for i in range(self.variant.count())] != titles:
            self.variant.clear()
            self.variant.addItems(titles)
            for i, variant in enumerate(variants):
                self.variant.setItemData(i + 1, plain_tip(variant.about), Qt.ItemDataRole.ToolTipRole)
        specs = [make_spec(self._spec.task), *(variant.spec for variant in variants)]
        self.variant.setCurrentIndex(next((i for i, spec in enumerate(specs) if spec == self._spec), -1))
        self.variant.setVisible(bool(variants))

    def show_checked(self, found: "Checked") -> None:
        """Show the model's size, or the settings' error: at the setting that was changed last."""
        self._complain(found.problem)
        self.vocabulary.setText(describe_vocabulary(found.tokens, found.unknown_share))
        self.vocabulary.setVisible(LEVEL in self.options.names() and bool(found.tokens))
        trained = "all" if found.trainable == found.parameters else f"{found.trainable:,}"
        size = f"{found.parameters:,} parameters, {trained} trainable"
        self.count.setText("" if found.problem else size)

    def set_locked(self, locked: bool) -> None:
        """Enable or disable the settings: they are disabled during training."""
        for widget in (self.task, self.variant, *self._groups()):
            widget.setEnabled(not locked)
        self.task.setToolTip("Stop or reset to change settings" if locked else "The task to learn")

    def complaint(self) -> str:
        """Return the visible error, wherever it is."""
        said = [rows.complaint(name) for rows in self._groups() for name in rows.names()]
        return next(filter(None, [*said, self.problem.text()]), "")

    def _complain(self, sentence: str) -> None:
        at = next((rows for rows in self._groups() if self._last in rows.names() and rows.isVisibleTo(self)), None)
        for rows in self._groups():
            rows.say_at(self._last, sentence if rows is at else "")
        show_text(self.problem, "" if at is not None else sentence)
        self.problem.setVisible(bool(self.problem.text()))

    def _show_arrow(self) -> None:
        self.fold.setIcon(icon("chevron-down" if self.fold.isChecked() else "chevron-right", palette_of(self), px(12)))
        self.fold.setIconSize(QSize(px(12), px(12)))

    def _take(self, spec: RunSpec) -> None:
        self._spec = spec
        self.spec_changed.emit(spec)

    @Slot(str, object)
    def _on_changed(self, name: str, value: object) -> None:
        self._last = name
        self._complain("")
        before = self._spec
        spec = change_setting(before, name, value)
        self._take(spec)
        if name == "kind" or spec.options != before.options or name in ("device",):
            self.show_spec(spec)

    @Slot(str, str)
    def _on_refused(self, name: str, sentence: str) -> None:
        self._last = name
        self._complain(sentence)
        self.broken.emit(sentence)

    @Slot(int)
    def _on_task_chosen(self, at: int) -> None:
        from attnlab.training.tasks import make_spec

        self._last = ""
        self._take(make_spec(self.task.itemData(at)))
        self.show_spec(self._spec)

    @Slot(int)
    def _on_variant_chosen(self, at: int) -> None:
        from attnlab.training.tasks import TASKS, make_spec

        self._last = ""
        self._take(make_spec(self._spec.task) if at == 0 else TASKS[self._spec.task].variants[at - 1].spec)
        self.show_spec(self._spec)

    @Slot(bool)
    def _on_folded(self, on: bool) -> None:
        self.more.setVisible(on)
        self._show_arrow()


def describe_vocabulary(tokens: int, unknown_share: float) -> str:
    """Return how many tokens there are, and how much of the text became UNK."""
    if not unknown_share:
        return f"{tokens:,} tokens"
    share = format_percent(max(unknown_share, LEAST_SHARE))
    less = "less than " if unknown_share < LEAST_SHARE else ""
    return f"{tokens:,} tokens; {less}{share} of the text became UNK"


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    return label
