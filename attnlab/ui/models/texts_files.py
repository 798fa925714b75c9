"""Reads and writes the files of the dialog of several texts, beside the window's thread."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from attnlab.files.atomic import write_bytes
from attnlab.files.texts_in import read_texts
from attnlab.ui.base.jobs import run


class TextFiles(QObject):
    """Belongs to its dialog; what is finished after the dialog is closed is dropped."""

    def read(self, path: Path, take: Callable[[list[str]], object], on_failed: Callable[[str], object]) -> None:
        """Read texts, each as one line."""
        run(
            _read_lines,
            path,
            on_done=take,
            on_failed=on_failed,
            doing="reading texts",
            latest=("texts", id(self)),
            owner=self,
        )

    def write(self, path: Path, text: str, then: Callable[[], object], on_failed: Callable[[str], object]) -> None:
        """Write a text."""
        run(
            write_bytes,
            path,
            text.encode(),
            on_done=lambda _none: then(),
            on_failed=on_failed,
            doing="saving a table",
            owner=self,
        )


def _read_lines(path: Path) -> list[str]:
    return [" ".join(text.split()) for text in read_texts(path)]
