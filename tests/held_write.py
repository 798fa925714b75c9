"""A write that waits, to test jobs while their file is being written."""

from pathlib import Path
from threading import Event

from attnlab.files.atomic import write_bytes
from tests.patience import PATIENCE_S


class HeldWrite:
    """Replaces ``write_bytes``: signals its start, and writes when released."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.written = Event(), Event(), Event()

    def __call__(self, path: Path, data: bytes) -> None:
        self.begun.set()
        self.go_on.wait(PATIENCE_S)
        write_bytes(path, data)
        self.written.set()
