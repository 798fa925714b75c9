"""The tools of a training: the transfer to the playground and back, saved runs, exports."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMenu, QPushButton

from attnlab.base.counted import format_count
from attnlab.base.errors import AttnlabError
from attnlab.figures.panels.figure_source import Sheets
from attnlab.training.queue_file import LeftQueue
from attnlab.training.run import Run
from attnlab.ui.base.tab_order import move_tab_stops
from attnlab.ui.base.workspace import Host
from attnlab.ui.export.figure_choices import read_words
from attnlab.ui.train.diagram_export import DiagramExport
from attnlab.ui.train.head_training import HeadTraining
from attnlab.ui.train.queue_panel import QueuePanel
from attnlab.ui.train.rate_panel import RatePanel
from attnlab.ui.train.round_trip import RoundTrip
from attnlab.ui.train.run_branch import RunBranch
from attnlab.ui.train.run_comparison import RunComparison
from attnlab.ui.train.run_figures import RunFigures
from attnlab.ui.train.run_files import RunFiles
from attnlab.ui.train.run_queue import RunQueue
from attnlab.ui.train.runs_panel import RunsPanel
from attnlab.ui.train.scene_export import SceneExport
from attnlab.ui.train.shown_maps import find_visible, make_sheets

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.train.train_workspace import TrainWorkspace

MENU = ("export", "train-curves-figure", "train-answer-figure", "film", "copy-picture")
NO_MAPS = "There is no map to export yet; train a model with attention first."


class TrainTools(QObject):
    """Owns the tools of one workspace, and places them in it."""

    def __init__(self, workspace: "TrainWorkspace", window: Host, playground: "Playground") -> None:
        super().__init__(workspace)
        self._workspace, self._window = workspace, window
        self.round_trip = RoundTrip(workspace, window, playground)
        self.keeper = RunFiles(workspace.session, keeps=window.remembers)
        self.runs = RunsPanel(workspace, self.keeper)
        self.comparing = RunComparison(workspace, self.keeper)
        self.runs.compare_requested.connect(self.comparing.compare)
        branch = RunBranch(workspace)
        self.rate = RatePanel(workspace, branch)
        self.heads = HeadTraining(workspace, branch)
        workspace.settings.add_section(self.rate)
        self.queue = RunQueue(self.keeper, self)
        self.queue_panel = QueuePanel(workspace, self.queue)
        self.queue_panel.results_requested.connect(self.show_results)
        workspace.settings.add_section(self.queue_panel)
        self.keeper.take_queue(self._offer_queue)
        workspace.settings.add_section(self.runs)
        for section in (self.runs, self.queue_panel, self.rate):  # the last comes first
            move_tab_stops(section, after=workspace.settings.fold)
        scenes = SceneExport(window, lambda said, wrong: workspace.footer.show_message(said, wrong=wrong))
        self.diagram, self.figures = (
            DiagramExport(workspace, scenes, self.runs.make_heading),
            RunFigures(workspace, scenes, self.runs.make_heading),
        )
        self.keeper.text_asked.connect(self.runs.ask_for_text)
        self.keeper.failed.connect(workspace.footer.show_message)
        self.export_button = QPushButton("Export")
        self.export_button.setToolTip("Save the visible maps (Ctrl+E), curves, answers, or a film (Ctrl+Shift+E)")
        self.export_button.setMenu(self._make_menu())
        workspace.header.add_tool(self.export_button)
        self.runs.table_requested.connect(self.show_runs)

    def _offer_queue(self, left: LeftQueue) -> None:
        """Offer to go on with the queue that the last window left."""
        self.queue.restore(left)
        waits = sum(each.folder is None or each.stopped for each in left.runs)
        told = f"{left.title}: {format_count(waits, 'run')} waited when the window was closed. "
        self._workspace.footer.show_message(f"{told}“Go on”, below “Is it typical?”, trains them.", wrong=False)

    def _make_menu(self) -> QMenu:
        menu, actions = QMenu(self.export_button), self._window.actions_list
        menu.addActions([actions[name] for name in MENU])
        menu.aboutToShow.connect(actions.refresh)
        return menu

    @property
    def busy(self) -> bool:
        """Whether a run is being read or written."""
        return self.keeper.busy

    def find_folder(self, run: Run) -> Path | None:
        """Return the folder of a run; None if it is not saved yet."""
        return self.keeper.find_folder(run)

    def open_run(self, folder: Path) -> None:
        """Open a run of any folder."""
        self.runs.open(folder)

    def show_shipped(self, folder: Path, step: int, probe: str) -> None:
        """Show a moment of the run of a lesson, for the text that the lesson reads."""
        self.runs.open_shipped(folder, partial(self._workspace.show_moment, step, probe))

    @Slot()
    def export_figure(self) -> None:
        """Show the export dialog with its preview of the visible maps; ask where to save the model or its inside."""
        if self.diagram.is_visible:
            self.diagram.ask_export()
            return
        if self.figures.is_inside_visible:
            self.figures.ask_inside()
            return
        from attnlab.ui.export.export_dialog import ExportDialog

        maps = self.make_sheets()
        if maps is None:
            self._workspace.footer.show_message(NO_MAPS)
            return
        panel = self._workspace.maps
        layers, head = find_visible(panel.view.cards, panel.large_map.index, maps)
        dialog = ExportDialog(maps, layers[0], head, self._window.settings.figure, self._window)
        dialog.form.choose(layers)
        dialog.remembered.connect(lambda choices: self._window.change_settings(figure=choices))
        dialog.exported.connect(lambda path: self._workspace.footer.show_message(f"Saved {path}", wrong=False))
        dialog.open()

    def make_sheets(self) -> Sheets | None:
        """Return the maps of all layers as drawn; None if there are none.

        While another workspace is visible, newer maps may exist that are not drawn.
        """
        seen = self._workspace.maps.seen
        return make_sheets(seen, self.runs.make_heading(seen.spec)) if seen is not None else None

    @Slot()
    def copy_picture(self) -> None:
        """Copy the visible maps in the style of the last figure, or the model or its inside; show what was copied."""
        if self.diagram.is_visible:
            self.diagram.copy()
            return
        if self.figures.is_inside_visible:
            self.figures.copy_inside()
            return
        from attnlab.ui.export.copying import copy_figure

        maps, say = self.make_sheets(), self._workspace.footer.show_message
        if maps is None:
            say(NO_MAPS)
            return
        panel = self._workspace.maps
        layers, head = find_visible(panel.view.cards, panel.large_map.index, maps)
        try:
            image = copy_figure(maps, replace(read_words(self._window.settings.figure)[0], stages=layers, head=head))
        except AttnlabError as error:
            say(str(error))
            return
        say(f"Copied the maps as a picture, {image.width()} × {image.height()} pixels", wrong=False)

    @Slot()
    def export_film(self) -> None:
        """Show the dialog for a film of the recorded moments."""
        from attnlab.ui.train.run_film_dialog import FilmDialog

        run, seen = self._workspace.session.run, self._workspace.session.inspection.seen
        if run is None or seen is None or not seen.look.maps or not run.recorder.moments:
            self._workspace.footer.show_message("A film shows how maps change; train a model with attention first.")
            return
        FilmDialog(run, seen, self.runs.make_heading(run.spec), self._window, self.figures.read_plots()[:2]).open()

    @Slot()
    def show_runs(self) -> None:
        """Show the table of all runs."""
        from attnlab.ui.train.runs_dialog import RunsDialog

        self.keeper.refresh()  # folders may have been moved, copied or deleted in a file manager
        RunsDialog(self.runs, self._window).open()

    @Slot()
    def show_results(self) -> None:
        """Show the results of the queue: its table and its maps."""
        from attnlab.ui.train.queue_dialog import QueueDialog

        QueueDialog(self.queue, self._workspace.session.inspection.probe, self._window).open()

    def stop(self) -> None:
        """Stop the threads; may be called twice."""
        self.round_trip.close()
        self.queue.close()
        self.keeper.close()
        self.comparing.close()


def find_tools(workspace: "TrainWorkspace") -> TrainTools | None:
    """Return the tools of a workspace."""
    return workspace.tools if isinstance(workspace.tools, TrainTools) else None
