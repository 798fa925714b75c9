"""Texts to learn from: the one that ships, or a file of one's own, read within limits."""

from pathlib import Path

from attnlab.base import assets
from attnlab.base.errors import FileError, TrainingError
from attnlab.files.atomic import format_name
from attnlab.files.bounded import read_bytes

SHIPPED = "texts/sonnets.txt"
MOST_BYTES = 2 << 20


def read(path: str) -> str:
    """Return the text of a file, or of the one that ships for ""; lines end with \\n.

    Raises:
        TrainingError: no such file, empty, larger than 2 MB, or no text in UTF-8.
    """
    if not path:
        return assets.read_text(SHIPPED)
    try:
        raw = read_bytes(place(path), MOST_BYTES, "a text to learn from")
    except FileError as error:
        raise TrainingError(f"{str(error).rstrip('.')}; without a name the text that ships is learned.") from None
    return _decoded(format_name(path), raw)


def place(path: str) -> Path:
    """Return the path of a text that the user named; ~ is the home folder.

    Raises:
        TrainingError: ~ is somebody's whom this machine does not know.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise TrainingError(f"The text {format_name(path)} cannot be found: this computer has no such user.") from None


def stamp(path: str) -> tuple[int, int]:
    """Return what changes when a file does: its size and the time it was written."""
    try:
        found = place(path).stat()
    except (OSError, ValueError, TrainingError):
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
