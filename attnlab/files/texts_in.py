"""Reads texts: one a line of a file, or the text files of a folder."""

from pathlib import Path

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_name, make_read_error
from attnlab.files.bounded import read_bytes

TEXT_FILES = (".txt", ".md")
LIMIT = 1 << 20
MOST_FILES = 1000


def read_text(path: Path) -> str:
    """Return a text in UTF-8 of at most 1 MiB.

    Raises:
        FileError: it cannot be read, is larger, or is no text.
    """
    try:
        return read_bytes(path, LIMIT, "a text").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{format_name(path)} is not UTF-8 text; save it as UTF-8 and open it again.") from None


def read_texts(path: Path) -> list[str]:
    """Return the lines of a file that are not empty, or the contents of the .txt and .md files of a folder, by name.

    Raises:
        FileError: it cannot be read, has no text, or more than 1,000 of them.
    """
    try:
        is_folder = path.is_dir()
        files = sorted(each for each in path.iterdir() if each.suffix.lower() in TEXT_FILES) if is_folder else []
    except OSError as error:
        raise make_read_error(path, error) from None
    if len(files) > MOST_FILES:
        raise FileError(f"{format_name(path)} has {len(files):,} texts; choose a folder with at most {MOST_FILES:,}.")
    found = [read_text(file) for file in files] if is_folder else read_text(path).splitlines()
    texts = [text.strip() for text in found if text.strip()]
    if not texts:
        raise FileError(f"{format_name(path)} has no text" + (" in .txt or .md files." if is_folder else "."))
    return texts
