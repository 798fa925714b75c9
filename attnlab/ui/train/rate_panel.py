"""Another learning rate in the middle of a run: the run stays as it is, and a branch goes on with the new rate."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.run_branch import RunBranch
from attnlab.ui.train.run_settings import make_train_fields
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace


class RatePanel(FollowsTheme, QWidget):
    """A field for the rate and a button; hidden while there is nothing to go on from."""

    def __init__(self, workspace: "TrainWorkspace", branch: RunBranch) -> None:
        super().__init__()
        self._workspace, self._session, self._branch = workspace, workspace.session, branch
        self._shown: object = None
        label = QLabel("New rate")
        self.field, self.button = NumberEdit(), QPushButton("Branch")
        self.field.setAccessibleName("Rate from now on")
        self.button.setProperty("small", "true")
        self.button.setToolTip("Go on with this rate from the last step, as a run of its own; this one is kept")
        self.button.clicked.connect(self.change)
        row = FlowLayout(self, gap=6)  # two lines where there is little room
        row.setContentsMargins(0, 0, 0, 8)
        for widget in (label, self.field, self.button):
            row.addWidget(widget)
        self._session.progressed.connect(self._show)
        self._show()

    def restyle(self) -> None:
        """Set the least width of the field."""
        self.field.setMinimumWidth(px(96))

    @Slot()
    def change(self) -> None:
        """Go on with the rate in the field."""
        run = self._session.run
        if run is None or not self.field.take_typed():
            return
        rate = float(self._field.read(self.field.lineEdit().text()))
        if rate == run.spec.train.rate:  # also after a text that is no rate, which the field has put back
            self._workspace.say(f"The rate of this run is {rate:g}; type another one, above 0.")
            return
        self._branch.go_on(rate=rate)

    @Slot()
    def _show(self) -> None:
        run = self._session.run
        self.setVisible(run is not None and run.checkpoint is not None)
        if run is not None and (run, run.spec) != self._shown:
            from attnlab.training.tasks import make_spec

            self._shown = run, run.spec
            usual = make_spec(run.spec.task, run.spec.model.kind)
            self._field = next(each for each in make_train_fields(run.spec, usual) if each.name == "rate")
            self.field.show_number(self._field, run.spec.train.rate)
