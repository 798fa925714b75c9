"""The first scene of the window: a preset, a session file or a scene; if it cannot be opened, a preset and why."""

from dataclasses import dataclass, replace
from pathlib import Path

from attnlab.attention.examples.presets import find_preset
from attnlab.base.errors import AttnlabError
from attnlab.document.opened import Opened, open_session
from attnlab.document.scene import Scene
from attnlab.files.source import Source

DEFAULT = "journey"


@dataclass(frozen=True, slots=True, eq=False)
class First:
    """The first scene of the window and its file; ``problem`` is one sentence if the source could not be opened."""

    scene: Scene
    label: str
    path: Path | None = None
    opened: Opened | None = None
    problem: str = ""


def load_first_scene(source: Source | Scene) -> First:
    """Return the first scene of the window; if the source cannot be opened, a preset and the reason. For any thread."""
    if isinstance(source, Scene):
        return First(source, f"Open {source.title}")
    try:
        if source.path is not None:
            opened = open_session(source.path)
            return First(opened.scene, f"Open {source.path.name}", source.path, opened)
        return _load_preset(source.preset or DEFAULT)
    except AttnlabError as error:
        return replace(_load_preset(DEFAULT), problem=str(error))


def _load_preset(name: str) -> First:
    found = find_preset(name)
    return First(Scene(found.make(), found.title, found.name), f"Open {found.title}")
