"""Saves and copies the diagram of the model as a figure, as wide as on the screen, with what is open and beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.figures.diagram.diagram_layout import GAP, lay_out_beside
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.diagram.scene_painter import measure_label
from attnlab.ui.train.scene_export import SceneExport

if TYPE_CHECKING:
    from attnlab.training.specs import RunSpec
    from attnlab.ui.train.train_workspace import TrainWorkspace

WHAT = "the diagram"


class DiagramExport:
    """Exports the diagram of one workspace, under the heading of its run."""

    def __init__(
        self, workspace: "TrainWorkspace", export: SceneExport, make_heading: "Callable[[RunSpec], str]"
    ) -> None:
        self._workspace, self._export, self._make_heading = workspace, export, make_heading

    @property
    def is_visible(self) -> bool:
        """Whether the diagram is shown in place of the maps."""
        maps = self._workspace.maps
        return maps.shows_model and maps.model.seen is not None

    def ask_export(self) -> None:
        """Ask where to save the diagram, and write it."""
        self._export.ask(WHAT, "model", self._lay_out, self.title)

    def export_to(self, path: Path) -> None:
        """Write the diagram in the format of the file's ending, or say why not."""
        self._export.save(self._lay_out(), self.title, path)

    def copy(self) -> None:
        """Copy the diagram as pixels and as SVG."""
        self._export.copy(WHAT, self._lay_out(), self.title)

    @property
    def title(self) -> str:
        """The title of the file."""
        from attnlab.training.tasks import TASKS

        page = self._workspace.maps.model
        seen, diagrams = page.seen, page.diagrams
        assert seen is not None
        if len(diagrams) == 1:
            return f"{self._make_heading(seen.spec)}, {diagrams[0].data.inside.tree.title}, step {seen.look.step:,}"
        return f"{TASKS[seen.spec.task].title}: {' beside '.join(each.title for each in diagrams)}"

    def _lay_out(self) -> Scene:
        page = self._workspace.maps.model
        pages = page.pair or (page,)
        width = sum(each.view.scene.width for each in pages) + GAP * (len(pages) - 1)
        return lay_out_beside(page.diagrams, width, measure_label)
