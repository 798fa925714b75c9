"""Opens a session file: its scene, its saved view, and the parts of the view that do not fit."""

from dataclasses import dataclass, replace
from pathlib import Path

from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.experiment import Experiment
from attnlab.compute.engine import DTYPES, devices
from attnlab.document.saved_view import KEY, SavedView, from_plain
from attnlab.document.scene import Scene
from attnlab.files.atomic import format_name
from attnlab.files.sessions.session_file import load_session
from attnlab.files.sessions.unsaved import FILE

_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The contents of a session file; ``saved`` is None if it has no saved view.

    ``others`` are all experiments that it stores besides the open one, among them the pinned one.
    """

    scene: Scene
    saved: SavedView | None
    pin: Experiment | None
    folder: Path
    file: Path | None
    dropped: tuple[str, ...]
    others: tuple[Experiment, ...] = ()


def open_session(path: Path) -> Opened:
    """Return the contents of a session file; a missing device becomes the CPU. For any thread.

    Raises:
        FileError: it cannot be read, or is not a session.
    """
    session = load_session(path)
    said, e = session.view, session.experiment
    title, name, file = said.get("title"), said.get("preset"), said.get(FILE)
    scene = Scene(
        e,
        format_name(title)[:_LONGEST_TITLE] if isinstance(title, str) else format_name(path.stem),
        name if isinstance(name, str) and name in PRESETS else "",
        *choose_device_and_dtype(said.get("device"), said.get("dtype")),
    )
    saved, dropped = from_plain(said[KEY], e) if KEY in said else (None, ())
    if saved is not None and saved.pinned is not None and not session.pins:
        saved, dropped = replace(saved, pinned=None), (*dropped, "the pinned state")
    pin = session.pins[0] if saved is not None and saved.pinned is not None else None
    if saved is not None and saved.model is not None and any(e[2] >= len(session.pins) for e in saved.model.edited):
        saved, dropped = replace(saved, model=None), (*dropped, "the model")
    where = Path(file) if isinstance(file, str) and file else None
    return Opened(scene, saved, pin, path.parent, where, dropped, tuple(session.pins))


def choose_device_and_dtype(device: object, dtype: object) -> tuple[str, str]:
    """Return the device and the dtype that a file names, or the closest available ones."""
    device = device if device in devices() else str(device).partition(":")[0]  # cuda:0 may be cuda here
    return str(device) if device in devices() else "cpu", dtype if isinstance(
        dtype, str
    ) and dtype in DTYPES else "float32"
