"""Saves and copies scenes of a workspace as figures: the diagram of the model, the curves, the answers."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData

from attnlab.base.errors import AttnlabError
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.palette import PALETTES, Palette
from attnlab.files.atomic import write_bytes
from attnlab.ui.base.clipboard import copy_data
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.workspace import Host
from attnlab.ui.export.figure_choices import read_words

TABLE = ".csv"
NUMBERS = f"Numbers of this run (*{TABLE})"


class SceneExport:
    """Exports scenes in the theme of the last figure; ``say`` shows a sentence, and whether something failed."""

    def __init__(self, window: Host, say: Callable[[str, bool], object]) -> None:
        self._window, self._say = window, say

    def ask(
        self, what: str, name: str, make: Callable[[], Scene], title: str, write_table: Callable[[], str] | None = None
    ) -> None:
        """Ask where to save ``what``, such as "the diagram", and write the scene that ``make`` returns then.

        With ``write_table`` the numbers can be saved too, as the CSV that it returns.
        """
        from attnlab.figures.diagram.diagram_file import list_scene_formats

        names = ";;".join(f"{each.title} (*{ending})" for ending, each in list_scene_formats().items())
        names += f";;{NUMBERS}" if write_table is not None else ""

        def save(path: Path) -> None:
            if write_table is not None and path.suffix.lower() == TABLE:
                self._write(path, lambda: write_table().encode())
            else:
                self.save(make(), title, path)

        ask_where(self._window, f"Export {what}", names, f"{name}.png", save)

    def save(self, scene: Scene, title: str, path: Path) -> None:
        """Write a scene in the format of the file's ending, or say why not."""
        from attnlab.figures.diagram.diagram_file import encode_diagram

        self._write(path, lambda: encode_diagram(scene, self._find_palette(), path.suffix.lower(), title))

    def _write(self, path: Path, encode: Callable[[], bytes]) -> None:
        try:
            write_bytes(path, encode())
        except AttnlabError as error:
            self._say(str(error), True)
            return
        self._say(f"Saved {path}", False)

    def copy(self, what: str, scene: Scene, title: str) -> None:
        """Copy a scene as pixels and as SVG."""
        from attnlab.figures.diagram.diagram_file import draw_diagram, encode_diagram

        palette, data = self._find_palette(), QMimeData()
        try:
            image = draw_diagram(scene, palette)
        except AttnlabError as error:
            self._say(str(error), True)
            return
        data.setImageData(image)
        data.setData("image/svg+xml", encode_diagram(scene, palette, ".svg", title))
        copy_data(data)
        self._say(f"Copied {what} as a picture, {image.width()} × {image.height()} pixels", False)

    def _find_palette(self) -> Palette:
        return PALETTES["dark" if read_words(self._window.settings.figure)[0].dark else "light"]
