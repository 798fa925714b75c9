"""Saves and copies the diagram of the model as a figure, as wide as it is on the screen, with what is open in it."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData

from attnlab.base.errors import AttnlabError
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.palette import PALETTES, Palette
from attnlab.files.atomic import write_bytes
from attnlab.ui.base.clipboard import copy_data
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.workspace import Host
from attnlab.ui.export.figure_choices import read_words

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace

FILTER = "PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"


class DiagramExport:
    """Exports the diagram of one workspace in the theme of the last figure."""

    def __init__(self, workspace: "TrainWorkspace", window: Host) -> None:
        self._workspace, self._window = workspace, window

    @property
    def shown(self) -> bool:
        """Whether the diagram is shown in place of the maps."""
        maps = self._workspace.maps
        return maps.shows_model and maps.model.seen is not None

    def ask_export(self) -> None:
        """Ask where to save the diagram, and write it."""
        ask_where(self._workspace.body.window(), "Export the diagram", FILTER, "model.png", self.export_to)

    def export_to(self, path: Path) -> None:
        """Write the diagram in the format of the file's ending, or say why not."""
        from attnlab.figures.diagram.diagram_file import encode_diagram

        try:
            write_bytes(path, encode_diagram(self._lay_out(), self._find_palette(), path.suffix.lower(), self.title))
        except AttnlabError as error:
            self._workspace.footer.show_message(str(error))
            return
        self._workspace.footer.show_message(f"Saved {path}", wrong=False)

    def copy(self) -> None:
        """Copy the diagram as pixels and as SVG."""
        from attnlab.figures.diagram.diagram_file import draw_diagram, encode_diagram

        scene, palette, data = self._lay_out(), self._find_palette(), QMimeData()
        try:
            image = draw_diagram(scene, palette)
        except AttnlabError as error:
            self._workspace.footer.show_message(str(error))
            return
        data.setImageData(image)
        data.setData("image/svg+xml", encode_diagram(scene, palette, ".svg", self.title))
        copy_data(data)
        said = f"Copied the diagram as a picture, {image.width()} × {image.height()} pixels"
        self._workspace.footer.show_message(said, wrong=False)

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

    def _find_palette(self) -> Palette:
        return PALETTES["dark" if read_words(self._window.settings.figure)[0].dark else "light"]
