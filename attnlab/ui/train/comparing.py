"""Two runs side by side: puts the second into the workspace, and has both look at the same step."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QSplitter

from attnlab.figures.palette import LIGHT, Palette
from attnlab.training.run import Run
from attnlab.ui.train.eyes import Seen
from attnlab.ui.train.run_keeper import RunKeeper
from attnlab.ui.train.run_words import difference, usual_name
from attnlab.ui.train.side_by_side import SecondRun

if TYPE_CHECKING:
    from attnlab.ui.train.workspace import TrainWorkspace


class Comparing(QObject):
    """Owns the second run, if there is one. The time line of the first drives both."""

    def __init__(self, workspace: "TrainWorkspace", keeper: RunKeeper) -> None:
        super().__init__(workspace)
        self._workspace, self._keeper, self._palette = workspace, keeper, LIGHT
        self.second: SecondRun | None = None
        workspace.session.looking.looked.connect(self._on_looked)

    def compare(self, folder: Path) -> None:
        """Show a run that is kept beside the one that is shown."""
        self._keeper.load(folder, self._show)

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours, and the present size of type."""
        self._palette = palette
        if self.second is not None:
            self.second.set_palette(palette)

    @Slot()
    def close(self) -> None:
        """Show one run alone; may be called twice."""
        second, self.second = self.second, None
        if second is not None:
            second.stop()
            second.hide()
            second.deleteLater()
            self._workspace.settings.show()

    def _show(self, run: Run) -> None:
        self.close()
        body, maps = self._workspace.body, self._workspace.maps
        mine = self._workspace.session.spec
        named = run.name == usual_name(run.spec) and run.spec.task == mine.task
        self.second = second = SecondRun(run, difference(mine, run.spec) if named else run.name)
        second.set_palette(self._palette)
        second.closed.connect(self.close)
        maps.close_map()
        right = body.sizes()[-1]
        body.insertWidget(body.indexOf(maps) + 1, second)
        self._workspace.settings.hide()
        _share_evenly(body, body.indexOf(maps), right)
        bar, other = maps.area.verticalScrollBar(), second.area.verticalScrollBar()
        bar.valueChanged.connect(other.setValue)
        other.valueChanged.connect(bar.setValue)
        seen = self._workspace.session.looking.seen
        if seen is not None:
            self._on_looked(seen)

    @Slot(object)
    def _on_looked(self, seen: Seen) -> None:
        if self.second is not None:
            self.second.look(seen.look.step, seen.probe)


def _share_evenly(body: QSplitter, place: int, right: int) -> None:
    """Give a part and the one after it the same width, and the last what it had before there were so many."""
    whole = body.width() - (2 if right else 1) * body.handleWidth()
    half = (whole - right) // 2
    body.setSizes([0] * place + [half, half, whole - 2 * half])
