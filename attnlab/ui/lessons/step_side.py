"""The left side of the editor: the steps in order, the tools for the chosen one, and the button that records one."""

from functools import partial

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.lessons.draft import Draft
from attnlab.ui.lessons.list_rows import Row
from attnlab.ui.lessons.row_list import RowList

TOOLS = (
    ("undo", "undo", "Undo", ""),
    ("redo", "redo", "Redo", ""),
    ("up", "chevron-up", "Move the step up", "Alt+Up"),
    ("down", "chevron-down", "Move the step down", "Alt+Down"),
    ("duplicate", "copy", "Duplicate the step", ""),
    ("delete", "trash", "Delete the step", "Delete"),
)


class StepSide(FollowsTheme, QWidget):
    """Shows the steps of a draft; emits the tool that is used on the chosen one."""

    tool_used = Signal(str)
    add_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("ground", "surface")
        self.tools: dict[str, QToolButton] = {}
        self.steps = RowList("Steps, drag to reorder", movable=True)
        self.steps.deleted.connect(partial(self._use, "delete"))
        add = QPushButton("Add the playground’s view")
        add.setToolTip("Record what the playground shows as a step (Ctrl+Shift+A)")
        add.clicked.connect(self.add_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 8, 4, 8)
        column.setSpacing(4)
        column.addLayout(self._make_tools())
        column.addWidget(self.steps, 1)
        column.addWidget(add)

    def _make_tools(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(0)
        for name, _, title, key in TOOLS:
            button = QToolButton()
            button.setAccessibleName(title)
            button.setToolTip(f"{title} ({key})" if key else title)
            button.clicked.connect(partial(self._use, name))
            row.addWidget(button)
            self.tools[name] = button
        row.addStretch(1)
        return row

    def restyle(self) -> None:
        """Set the icons of the tools, and the least width."""
        self.setMinimumWidth(px(210))
        palette = palette_of(self)
        for name, drawing, _, _ in TOOLS:
            self.tools[name].setIcon(icon(drawing, palette, px(16)))
            self.tools[name].setIconSize(QSize(px(16), px(16)))

    def show_draft(self, draft: Draft) -> None:
        """Show the steps of a draft, and enable the tools that apply."""
        steps, at = draft.lesson.steps, draft.chosen
        rows = [Row(step.title or "Untitled", number=i + 1) for i, step in enumerate(steps)]
        self.steps.show_rows(rows, at if rows else -1)
        for name, label in (("undo", draft.undo_label), ("redo", draft.redo_label)):
            self.tools[name].setEnabled(bool(label))
            self.tools[name].setToolTip(f"{name.capitalize()} “{label}”" if label else name.capitalize())
        self.tools["up"].setEnabled(at > 0)
        self.tools["down"].setEnabled(at < len(steps) - 1)
        for name in ("duplicate", "delete"):
            self.tools[name].setEnabled(bool(steps))

    def _use(self, name: str, _checked: bool = False) -> None:
        self.tool_used.emit(name)
