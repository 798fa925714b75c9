"""Texts to learn from: the one that ships, or a file of one's own, read within limits."""

from pathlib import Path

from attnlab import assets
from attnlab.errors import TrainingError

SHIPPED = "texts/sonnets.txt"
MOST_BYTES = 2 << 20


def read(path: str) -> str:
    """Return the text of a file, or of the one that ships for ""; lines end with \\n.

    Raises:
        TrainingError: no such file, empty, larger than 2 MB, or no text in UTF-8.
    """
    if not path:
        return assets.read_text(SHIPPED)
    file = Path(path).expanduser()
    try:
        if not file.is_file():
            raise TrainingError(f"There is no text file {path}; the name of one, or none for the text that ships.")
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise TrainingError(f"The text {path} has {size / 2**20:.1f} MB; up to {MOST_BYTES >> 20} MB would do.")
        raw = file.read_bytes()
    except OSError as error:
        raise TrainingError(f"The text {path} cannot be read: {error.strerror or error}.") from None
    return _decoded(path, raw)


def stamp(path: str) -> tuple[int, int]:
    """Return what changes when a file does: its size and the time it was written."""
    try:
        found = Path(path).expanduser().stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _decoded(path: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TrainingError(
            f"The text {path} is not UTF-8 at byte {error.start:,}; a plain text saved as UTF-8 would do."
        ) from None
    if any(letter < " " and letter not in "\t\n\r\f" for letter in text):
        raise TrainingError(f"The file {path} is binary; a plain text saved as UTF-8 would do.")
    if not text.strip():
        raise TrainingError(f"The text {path} is empty; one of some thousand characters would do.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
