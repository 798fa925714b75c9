"""The training texts: the shipped one or a file of the user, read within limits."""

from pathlib import Path

from attnlab.base import assets
from attnlab.base.errors import FileError, TrainingError
from attnlab.files.atomic import format_name
from attnlab.files.bounded import read_bytes

SHIPPED = "texts/sonnets.txt"
MOST_BYTES = 2 << 20


def read(path: str) -> str:
    """Return the text of a file, or the shipped text for ""; lines end with \\n.

    Raises:
        TrainingError: the file does not exist, is empty, larger than 2 MB, or not UTF-8.
    """
    if not path:
        return assets.read_text(SHIPPED)
    try:
        raw = read_bytes(find_path(path), MOST_BYTES, "a text to learn from")
    except FileError as error:
        raise TrainingError(
            f"{str(error).rstrip('.')}; choose another file, or none to train on what is included."
        ) from None
    return _decode(format_name(Path(path).name), raw)


def find_path(path: str) -> Path:
    """Return the path of the user's text; ~ is the home folder.

    Raises:
        TrainingError: the path begins with ~ and the name of an unknown user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise TrainingError(f"The text {format_name(path)} cannot be found: this computer has no such user.") from None


def stamp(path: str) -> tuple[int, int]:
    """Return the size and the modification time of a file, by which a change is noticed; 0, 0 if it cannot be read."""
    try:
        found = find_path(path).stat()
    except (OSError, ValueError, TrainingError):
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _decode(name: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        told = f"The text {name} is not UTF-8 at byte {error.start:,}, in line {line:,}"
        raise TrainingError(f"{told}; save it as plain text in UTF-8.") from None
    if any(letter < " " and letter not in "\t\n\r\f" for letter in text):
        raise TrainingError(f"The file {name} is binary; choose a plain text in UTF-8.")
    if not text.strip():
        raise TrainingError(f"The text {name} is empty; choose one with some text in it.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
