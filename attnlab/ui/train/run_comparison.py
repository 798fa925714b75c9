"""Two runs side by side: adds the second to the workspace, and shows both at the same step."""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QMenu, QSplitter, QWidget

from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.base import jobs
from attnlab.ui.base.guard import guarded
from attnlab.ui.train.answer_pair import AnswerPair
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.run_files import RunFiles
from attnlab.ui.train.second_run import RunHead, SecondRun
from attnlab.ui.widgets.scroll_pair import ScrollPair

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace


@guarded
class RunComparison(QObject):
    """Owns the second run, if there is one. The time line of the first drives both."""

    def __init__(self, workspace: "TrainWorkspace", keeper: RunFiles) -> None:
        super().__init__(workspace)
        self._workspace, self._keeper = workspace, keeper
        self.first: RunHead | None = None
        self.second: SecondRun | None = None
        self._probe_row: QWidget | None = None
        self._answers: AnswerPair | None = None
        self._alone: tuple[bytes, bool] | None = None
        """The splitter as it was before the second run, and whether the settings were shown."""
        workspace.session.inspection.looked.connect(self._on_looked)
        keeper.renamed.connect(self._show_names)
        workspace.body.installEventFilter(self)
        workspace.maps.overview.verticalScrollBar().rangeChanged.connect(self._match)

    def compare(self, folder: Path) -> None:
        """Show a saved run beside the current one."""
        self._keeper.load(folder, self._show)

    @Slot()
    def ask_kind(self) -> None:
        """Offer the other kinds of model that can learn the task, to show one untrained beside this one."""
        from attnlab.training.models import KINDS
        from attnlab.training.tasks import TASKS

        spec, head = self._find_spec(), self._workspace.maps.head
        menu = QMenu(head)
        menu.aboutToHide.connect(menu.deleteLater)
        for kind in TASKS[spec.task].kinds:
            if kind != spec.model.kind:
                menu.addAction(f"{KINDS[kind].title}, untrained", partial(self.compare_kind, kind))
        menu.popup(head.mapToGlobal(head.rect().bottomLeft()))

    def compare_kind(self, kind: str) -> None:
        """Show a model of another kind for the same task, with its first weights, beside the current one."""
        say = self._workspace.footer.show_message
        doing = "making an untrained model"
        jobs.run(_make_untrained, self._find_spec(), kind, on_done=self._show, on_failed=say, owner=self, doing=doing)

    def _find_spec(self) -> RunSpec:
        session = self._workspace.session
        return session.spec if session.run is None else session.run.spec

    @Slot()
    def close(self) -> None:
        """Show only the first run; may be called twice."""
        second, self.second = self.second, None
        if second is not None:
            second.stop()
            self._workspace.maps.page_changed.disconnect(self._share)
            second.model.pair = self._workspace.maps.model.pair = ()
            self._workspace.maps.model.heading = ""
            if self._answers is not None:
                self._answers.part()
                self._answers = None
            second.hide()
            second.setParent(None)  # now: the splitter would count it until it is deleted
            second.deleteLater()
            self._take_head()
            self._restore_panels()

    def _restore_panels(self) -> None:
        """Give the panels the widths that they had before."""
        workspace = self._workspace
        if self._alone is not None:
            state, settings = self._alone
            workspace.room.show_settings(settings)
            workspace.header.settings.setChecked(settings)
            workspace.body.restoreState(state)
            self._alone = None

    def _show(self, run: Run) -> None:
        self.close()
        body, maps, settings = self._workspace.body, self._workspace.maps, self._workspace.settings
        self._alone = bytes(body.saveState().data()), settings.isVisibleTo(body)
        self.second = second = SecondRun(run, self._format_name(run))
        self._put_head()
        second.closed.connect(self.close)
        self._answers = AnswerPair(maps.answer, second.answer, self)
        maps.close_map()
        right = body.sizes()[-1]
        body.insertWidget(body.indexOf(maps) + 1, second)
        had_focus = settings.isAncestorOf(body.window().focusWidget())  # Qt takes None, too
        self._workspace.room.show_settings(False)
        if had_focus:  # else it goes to a button of the time line
            maps.view.setFocus()
        _share_evenly(body, body.indexOf(maps), right)
        areas = (maps.overview, second.area), (maps.model.area, second.model.area), (maps.whole, second.whole)
        for mine, other in areas:
            mine.verticalScrollBar().setValue(0)  # where the second, which may be shorter, begins too
            ScrollPair(mine.verticalScrollBar(), other.verticalScrollBar(), second)
        second.whole.set_wanted(maps.whole.wanted)
        maps.whole.wanted_changed.connect(second.whole.set_wanted)
        second.view.set_room(maps.view.room)
        maps.overview.height_shared.connect(second.view.set_room)
        second.chart.choose(maps.chart.measure)
        maps.chart.measure_chosen.connect(second.chart.choose)
        second.chart.measure_chosen.connect(maps.chart.choose)
        second.chart.chart.x_chosen.connect(maps.step_chosen)
        maps.page_changed.connect(second.show_page)
        maps.model.view.chosen.connect(second.model.enter)
        second.model.view.chosen.connect(maps.model.enter)
        maps.inside.place_chosen.connect(second.inside.choose)
        second.inside.place_chosen.connect(maps.inside.choose)
        maps.model.pair = second.model.pair = maps.model, second.model
        second.show_page(maps.page)
        maps.page_changed.connect(self._share, Qt.ConnectionType.QueuedConnection)  # once the curves are hidden
        self._match()
        seen = self._workspace.session.inspection.seen
        if seen is not None:
            self._on_looked(seen)

    def _format_name(self, run: Run) -> str:
        from attnlab.training.models import KINDS

        name = self._workspace.make_title(run)
        seed = "" if f"seed {run.spec.train.seed}" in name else f" · seed {run.spec.train.seed}"
        return f"{name}{seed} · {KINDS[run.spec.model.kind].title}"

    def _name_first(self) -> str:
        from attnlab.training.models import KINDS

        run = self._workspace.session.run
        return self._format_name(run) if run is not None else f"This run · {KINDS[self._find_spec().model.kind].title}"

    def _put_head(self) -> None:
        """Give the first run a header like the second's; the row of its probe, below, then omits the step."""
        maps = self._workspace.maps
        self.first = RunHead(self._name_first(), "first")
        self._probe_row = maps.head
        self._probe_row.installEventFilter(self)
        maps.whole.rows.insertWidget(0, self.first)
        maps.head.show_step(False)
        maps.arrange_answer()

    def _take_head(self) -> None:
        if self.first is not None:
            self.first.hide()
            self._workspace.maps.whole.rows.removeWidget(self.first)  # deletion comes later
            self.first.deleteLater()
        if self._probe_row is not None:
            self._probe_row.removeEventFilter(self)
        self.first = self._probe_row = None
        self._workspace.maps.head.show_step(True)
        self._workspace.maps.arrange_answer()

    @Slot()
    def _share(self) -> None:
        """Give both half of their total width."""
        if self.second is not None:
            body = self._workspace.body
            self._workspace.header.settings.setChecked(False)
            self._workspace.room.show_settings(False)  # they reappear when the window becomes narrow
            _share_evenly(body, body.indexOf(self._workspace.maps), body.sizes()[-1])

    @Slot()
    def _match(self) -> None:
        """Align the maps of both at the top and make them equally wide."""
        if self.second is not None and self._probe_row is not None:
            self.second.under.setFixedHeight(self._probe_row.height())
            policy = Qt.ScrollBarPolicy
            more = self._workspace.maps.overview.verticalScrollBar().maximum() > 0
            self.second.area.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOn if more else policy.ScrollBarAsNeeded)

    @Slot()
    def _show_names(self) -> None:
        if self.second is not None and self.first is not None:
            name = self._workspace.maps.model.heading = self._name_first()
            self.first.title.setText(name)
            self.second.show_name(self._format_name(self.second.run))

    @Slot(object)
    def _on_looked(self, seen: Seen) -> None:
        if self.second is not None and self.first is not None:
            self._show_names()
            self.first.step.setText(f"step {seen.look.step:,}")
            self.second.look(seen.look.step, seen.probe)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            if watched is self._probe_row:
                self._match()
            else:
                QTimer.singleShot(0, self, self._share)  # once the splitter has distributed its new width
        return super().eventFilter(watched, event)


def _make_untrained(spec: RunSpec, kind: str) -> Run:
    """Return a run at step 0 with another kind of model: of the same sizes, or of its usual ones if it cannot."""
    from attnlab.training.first_weights import draw_first_weights
    from attnlab.training.tasks import check, make_spec

    other = replace(spec, model=replace(spec.model, kind=kind))
    if check(other):
        other = replace(spec, model=make_spec(spec.task, kind).model)
    run = Run(other, "Untrained")
    run.recorder.add(Moment(0, draw_first_weights(other), math.nan))
    return run


def _share_evenly(body: QSplitter, place: int, right: int) -> None:
    """Give a part and the next one equal widths, and restore the last part's earlier width."""
    whole = body.width() - (2 if right else 1) * body.handleWidth()
    half = (whole - right) // 2
    body.setSizes([0] * place + [half, half, whole - 2 * half])
