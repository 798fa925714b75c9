"""Saves and copies the diagram of the model as a figure, as wide as it is on the screen, with what is open in it."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.figures.diagram.scene import Scene
from attnlab.ui.train.scene_export import SceneExport

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace

WHAT = "the diagram"


class DiagramExport:
    """Exports the diagram of one workspace."""

    def __init__(self, workspace: "TrainWorkspace", export: SceneExport) -> None:
        self._workspace, self._export = workspace, export

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

        seen = self._workspace.maps.model.seen
        assert seen is not None
        assert seen.inside is not None
        return f"{TASKS[seen.spec.task].title}, {seen.inside.tree.title}, step {seen.look.step:,}"

    def _lay_out(self) -> Scene:
        view = self._workspace.maps.model.view
        return view.lay_out(view.scene.width)
