"""The panel at the left: what the model is, its text, the colours of the maps, and what is changed."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from attnlab.base.counted import format_count
from attnlab.figures.scales import SCALES, Colouring
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.models.model_state import Change
from attnlab.ui.models.model_values import Facts
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.subscripts import FormulaLabel

KINDS = {"next": "next token", "masked": "masked token", None: "none"}
TEXT_LIMIT = 100_000
"""The most characters of a text that are taken from a file or the clipboard."""
MARGIN = 16  # at any size of type


@guarded
class TextField(KeepsKeys, QPlainTextEdit):
    """A text of a few lines; ``edited`` is emitted for the user's changes only."""

    edited = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._showing = False
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._on_text_changed)

    def keeps_key(self, event: QKeyEvent) -> bool:
        """Return whether a key is Ctrl+Enter, which starts a training elsewhere; this text is read as it is typed."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return is_enter and bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)

    def show_text(self, text: str) -> None:
        """Show another text, unless it is being typed."""
        if not self.hasFocus():
            self.replace_text(text)

    def replace_text(self, text: str) -> None:
        """Show another text, also while it has the focus; the cursor stays if the text does."""
        if text != self.toPlainText():
            self.set_text(text)

    def set_text(self, text: str) -> None:
        """Replace the text, also while it has the focus."""
        self._showing = True
        self.setPlainText(text)
        self._showing = False

    def _on_text_changed(self) -> None:
        if not self._showing:
            self.edited.emit(self.toPlainText())


@guarded
class ChangeRow(FollowsTheme, QFrame):
    """One change, and a button that removes it."""

    removed = Signal(object)

    def __init__(self, what: Change, text: str) -> None:
        super().__init__()
        self._what = what
        label = FormulaLabel(text)
        self._button = QToolButton()
        self._button.setAccessibleName(f"Remove {text}")
        self._button.setToolTip("Remove this change")
        self._button.clicked.connect(lambda: self.removed.emit(self._what))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 0, 2)
        row.setSpacing(4)
        row.addWidget(label, 1)
        row.addWidget(self._button)

    def restyle(self) -> None:
        """Set the icon."""
        self._button.setIcon(icon("close", palette_of(self), px(14)))
        self._button.setIconSize(QSize(px(14), px(14)))


@guarded
class ModelPanel(FollowsTheme, QScrollArea):
    """Shows the state; emits what is to change."""

    text_edited = Signal(str)
    target_edited = Signal(str)
    others_edited = Signal(str)
    paste_requested = Signal()
    file_requested = Signal()
    several_requested = Signal()
    part_chosen = Signal(object)
    colouring_chosen = Signal(object)
    removed = Signal(object)
    all_removed = Signal()
    said = Signal()
    """There is a message to read."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colouring = Colouring()
        self._changes: tuple[tuple[Change, str], ...] = ()
        self._rows: list[ChangeRow] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Model and input")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.text, self.target, self.others = (
            TextField("Input"),
            TextField("Written so far"),
            TextField("Compared with"),
        )
        self.count = QLabel()
        self.message = make_wrapped_label("error")
        self.message.setAccessibleName("Message about the model")
        self.paste, self.file = QPushButton("Paste"), QPushButton("File…")
        self.several = QPushButton("Several…")
        self.several.setToolTip("The strongest targets of every token, and the mean scores of heads, in several texts")
        self.part = Segments("Attention of")
        self.scale = Pill("Scale")
        self.scale.set_choices([Choice(name, title) for name, title in SCALES.items()])
        self.mute = Switch("Mute sink columns")
        self.mute.setToolTip("Draw the first token and separators in grey, and leave them out of the scale")
        self.nothing = make_wrapped_label("caption")
        self.nothing.setText("None. Switch a head off, and see what becomes of the answer.")
        self.remove_all = QPushButton("Remove all")
        self.setWidget(self._lay_out())
        self._connect()

    def _connect(self) -> None:
        self.text.edited.connect(self.text_edited)
        self.target.edited.connect(self.target_edited)
        self.others.edited.connect(self.others_edited)
        self.paste.clicked.connect(self.paste_requested)
        self.file.clicked.connect(self.file_requested)
        self.several.clicked.connect(self.several_requested)
        self.part.chosen.connect(self.part_chosen)
        self.scale.chosen.connect(self._on_scale_chosen)
        self.mute.clicked.connect(self._on_muted)
        self.remove_all.clicked.connect(self.all_removed)

    def _lay_out(self) -> QWidget:
        inside = QWidget()
        inside.setProperty("ground", "surface")
        column = QVBoxLayout(inside)
        column.setContentsMargins(MARGIN, 14, MARGIN, 14)
        column.setSpacing(6)
        self._facts = QGridLayout()
        self._facts.setVerticalSpacing(4)
        self._facts.setColumnStretch(0, 1)
        self.count.setProperty("role", "caption")
        buttons = FlowLayout(gap=6)  # with small type their margins need two lines
        for button in (self.paste, self.file, self.several):
            buttons.addWidget(button)
        self._changes_column = QVBoxLayout()
        self._changes_column.setSpacing(4)
        self._target_title, self._others_title = _make_heading("Written so far"), _make_heading("Compared with")
        self._part_title, self._changes_title = _make_heading("Attention of"), _make_heading("Changes")
        column.addWidget(_make_heading("Model"))
        column.addLayout(self._facts)
        column.addSpacing(8)
        column.addLayout(_make_heading_row("Input", self.count))
        column.addWidget(self.text)
        column.addWidget(self.message)
        column.addLayout(buttons)
        for widget in (self._target_title, self.target, self._others_title, self.others, self._part_title, self.part):
            column.addWidget(widget)
        column.addSpacing(8)
        column.addWidget(_make_heading("Colour"))
        column.addWidget(self.scale)
        column.addWidget(self.mute)
        column.addSpacing(8)
        column.addWidget(self._changes_title)
        column.addWidget(self.nothing)
        column.addLayout(self._changes_column)
        column.addWidget(self.remove_all, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self.message.hide()
        self.remove_all.hide()
        return inside

    def restyle(self) -> None:
        """Set the heights of the fields."""
        self.setMinimumWidth(px(220) + 2 * MARGIN)
        self.text.setFixedHeight(px(92))
        for field in (self.target, self.others):
            field.setFixedHeight(px(64))

    def say(self, sentence: str) -> None:
        """Show one sentence below the text, or with "" none."""
        show_text(self.message, sentence)
        self.message.setVisible(bool(sentence))
        if sentence:
            self.said.emit()

    def show_facts(self, facts: Facts, tokens: int) -> None:
        """Show what the model is."""
        rows = {"kind": facts.about, "layers × heads": f"{facts.n_layers} × {facts.n_heads}"}
        if facts.fixed:
            rows["columns of a head"] = f"{facts.d_model // facts.n_heads:,}"
        else:
            rows |= {
                "d_model": f"{facts.d_model:,}",
                "parameters": _format_count(facts.n_parameters),
                "predicts": KINDS[facts.predicts],
            }
        while (item := self._facts.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for place, (name, value) in enumerate(rows.items()):
            left, right = FormulaLabel(name, "muted"), QLabel(value)
            left.setWordWrap(False)
            right.setTextFormat(Qt.TextFormat.PlainText)
            self._facts.addWidget(left, place, 0)
            self._facts.addWidget(right, place, 1, Qt.AlignmentFlag.AlignRight)
        self.count.setText(format_count(tokens, "token"))
        self.count.setToolTip(f"At most {facts.limit:,}")
        cross = "cross" in facts.parts
        for widget in (self._target_title, self.target, self._part_title, self.part):
            widget.setVisible(cross)
        if cross:
            self.part.set_choices([Choice(part, part.capitalize()) for part in facts.parts])
        for widget in (self._others_title, self.others):
            widget.setVisible(facts.predicts is None and not facts.fixed)
        for field in (self.text, self.target):
            field.setReadOnly(facts.fixed)
        for widget in (self.paste, self.file, self.several, self._changes_title):
            widget.setVisible(not facts.fixed)
        self.nothing.setVisible(not self._changes and not facts.fixed)

    def show_part(self, part: str | None) -> None:
        """Show which attention is looked at."""
        self.part.set_value(part)

    def show_colouring(self, colouring: Colouring) -> None:
        """Show the choices of colour."""
        self._colouring = colouring
        self.scale.set_value(colouring.scale)
        self.mute.setChecked(colouring.mute_sinks)

    def show_changes(self, changes: Sequence[tuple[Change, str]]) -> None:
        """List what is off or edited, each with its words."""
        if tuple(changes) == self._changes:
            return
        self._changes = tuple(changes)
        while self._rows:
            row = self._rows.pop()
            self._changes_column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for what, text in changes:
            row = ChangeRow(what, text)
            row.removed.connect(self.removed)
            self._rows.append(row)
            self._changes_column.addWidget(row)
        self.nothing.setVisible(not changes and not self.text.isReadOnly())
        self.remove_all.setVisible(len(changes) > 1)

    def _on_scale_chosen(self, name: str) -> None:
        self.colouring_chosen.emit(Colouring(name, mute_sinks=self._colouring.mute_sinks))

    def _on_muted(self, on: bool) -> None:
        self.colouring_chosen.emit(Colouring(self._colouring.scale, mute_sinks=on))


def _make_heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "section")
    return label


def _make_heading_row(text: str, beside: QLabel) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(_make_heading(text))
    row.addStretch(1)
    row.addWidget(beside)
    return row


def _format_count(count: int) -> str:
    if count >= 10**9:
        return f"{count / 10**9:.1f} billion"
    return f"{count / 10**6:.1f} million" if count >= 10**6 else f"{count:,}"
