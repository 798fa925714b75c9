"""A session file as it was read: its scene, how it was looked at, and what of that does not fit."""

from dataclasses import dataclass, replace
from pathlib import Path

from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.experiment import Experiment
from attnlab.compute.engine import DTYPES, devices
from attnlab.document.saved_view import KEY, SavedView, from_plain
from attnlab.document.scene import Scene
from attnlab.files.atomic import shown
from attnlab.files.sessions.session_file import load_session
from attnlab.files.sessions.unsaved import FILE

_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A session file as it was read, once: ``saved`` is None where it says nothing of how it was looked at."""

    scene: Scene
    saved: SavedView | None
    pin: Experiment | None
    folder: Path
    file: Path | None
    dropped: tuple[str, ...]


def read(path: Path) -> Opened:
    """Return what is in a session file, on any thread; a device that is not here becomes the CPU.

    Raises:
        FileError: it cannot be read, or is not a session.
    """
    session = load_session(path)
    said, e = session.view, session.experiment
    title, name, file = said.get("title"), said.get("preset"), said.get(FILE)
    scene = Scene(
        e, shown(title)[:_LONGEST_TITLE] if isinstance(title, str) else shown(path.stem),
        name if isinstance(name, str) and name in PRESETS else "",
        *computed_with(said.get("device"), said.get("dtype")),
    )  # fmt: skip
    saved, dropped = from_plain(said[KEY], e) if KEY in said else (None, ())
    if saved is not None and saved.pinned is not None and not session.pins:
        saved, dropped = replace(saved, pinned=None), (*dropped, "the pinned state")
    pin = session.pins[0] if saved is not None and saved.pinned is not None else None
    return Opened(scene, saved, pin, path.parent, Path(file) if isinstance(file, str) and file else None, dropped)


def computed_with(device: object, dtype: object) -> tuple[str, str]:
    """Return a device and a number format that a file names, or those nearest to them that are here."""
    device = device if device in devices() else str(device).partition(":")[0]  # the first of several may be the only
    return str(device) if device in devices() else "cpu", dtype if isinstance(
        dtype, str
    ) and dtype in DTYPES else "float32"
