"""The question after a setting of a stopped run was changed: a new run, or this one?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout

from attnlab.figures.palette import mix
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.theme import set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.run_branch import KEPT_WEIGHTS, Change, go_on_with, list_changes
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace

MOST = 3
"""The most changes that are named."""


class ChangeQuestion(FollowsTheme, QFrame):
    """A strip above the maps, or the settings in their place, while these differ from those of the run shown."""

    def __init__(self, workspace: "TrainWorkspace") -> None:
        super().__init__()
        self._workspace, self._session = workspace, workspace.session
        self.setObjectName("change-question")
        self.setAccessibleName("Question about the changed settings")
        self.text: QLabel = make_wrapped_label("")
        self.new, self.same, self.undo = QPushButton("New run"), QPushButton("This run"), QPushButton("Undo the change")
        self.new.setToolTip("Start a run with these settings from the first weights; this one is kept")
        self.undo.setToolTip("Show the settings of this run again")
        self.new.clicked.connect(self.start_new)
        self.same.clicked.connect(self.go_on)
        self.undo.clicked.connect(self.put_back)
        buttons = FlowLayout(gap=6)
        for button in (self.new, self.same, self.undo):
            button.setProperty("small", "true")
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 6, 18, 8)
        column.setSpacing(4)
        column.addWidget(self.text)
        column.addLayout(buttons)
        self.hide()
        session = self._session
        for signal in (session.checked, session.started, session.progressed, session.ended, session.failed):
            signal.connect(self.refresh)
        workspace.settings.broken.connect(self.hide)

    def restyle(self) -> None:
        """Set the colours of the ground and the line below."""
        p = palette_of(self)
        ground = mix(p.surface, p.accent, 0.08)
        set_sheet(self, f"#change-question {{ background: {ground}; border-bottom: 1px solid {p.hairline}; }}")

    @Slot()
    def refresh(self) -> None:
        """Ask, if there is something to ask."""
        if self._session.valid is None and not self._session.alive:
            return  # the settings are being checked
        changes = self._find_changes()
        if self.isHidden() is bool(changes):
            self.setVisible(bool(changes))
            self._workspace.maps.arrange_answer()  # the answer has more or less room
        if not changes:
            return
        can = self._can_go_on(changes)
        told = ", ".join(map(str, changes[:MOST])) + (f" and {len(changes) - MOST} more" if len(changes) > MOST else "")
        run = self._session.run
        step = run.checkpoint.step if run is not None and run.checkpoint is not None else 0
        question = f"A new run, or this one from step {step:,}?" if can else "This needs a new run."
        show_text(self.text, f"{told}. {question}")
        self.same.setVisible(can)
        self.same.setToolTip(f"Go on from step {step:,} with these settings; the run before is kept, with its curve")

    @Slot()
    def start_new(self) -> None:
        """Start a run with the changed settings."""
        self._workspace.start()

    @Slot()
    def go_on(self) -> None:
        """Go on with the run under the changed settings."""
        self._workspace.footer.show_message(go_on_with(self._workspace, self._session.spec.train), wrong=False)

    @Slot()
    def put_back(self) -> None:
        """Show the settings of the run again."""
        run, settings = self._session.run, self._workspace.settings
        if run is not None:
            settings.show_spec(run.spec)
            settings.spec_changed.emit(run.spec)

    def _find_changes(self) -> Sequence[Change]:
        session, run = self._session, self._session.run
        if run is None or session.alive or run.step == 0 or not session.can_start:
            return ()
        if session.spec.task != run.spec.task or run.goes_with(session.spec):
            return ()
        return list_changes(run.spec, session.spec)

    def _can_go_on(self, changes: Sequence[Change]) -> bool:
        run = self._session.run
        return run is not None and run.checkpoint is not None and all(each.name in KEPT_WEIGHTS for each in changes)
