"""Output of the commands: messages on standard error, results on standard output, never a traceback."""

import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from attnlab.base.errors import AttnlabError, FileError
from attnlab.base.printable import escape

OK, INTERNAL_ERROR, USER_ERROR, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: success, a fault in attnlab, a problem that the user can fix, stopped by Ctrl+C."""


def terminal_width() -> int | None:
    """Return the width of the terminal in columns; None if the output goes elsewhere and must not be cut."""
    if not ((sys.stdout is not None and sys.stdout.isatty()) or os.environ.get("COLUMNS", "").isdigit()):
        return None
    return shutil.get_terminal_size().columns


def refuse(sentence: str, code: int) -> int:
    """Print an error on one line of standard error, and return the exit code."""
    warn(f"attnlab: {' '.join(sentence.split())}")
    return code


def warn(line: str) -> None:
    """Write a line to standard error, with control characters escaped."""
    write(sys.stderr, f"{escape(line)}\n")


def run_guarded(call: Callable[[], int], whose: str = "", before: Callable[[], None] = lambda: None) -> int:
    """Return the exit code of a call; an error in it is printed on one line that names ``whose``.

    ``before`` is called before such a line.
    """
    try:
        return call()
    except AttnlabError as error:
        before()
        sentence = str(error)
        return refuse(sentence if whose in sentence else f"{whose}: {sentence}", USER_ERROR)
    except ImportError as error:
        before()
        if (error.name or "").startswith("attnlab"):
            return fail(error)
        return refuse(f"A part is missing ({error}); attnlab doctor names the command that fixes it.", USER_ERROR)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # the outermost call: any error is one line, not a traceback
        before()
        return fail(error, whose)


def fail(error: Exception, whose: str = "") -> int:
    """Report a fault in attnlab itself, with a traceback if ATTNLAB_DEBUG=1; return the exit code."""
    if os.environ.get("ATTNLAB_DEBUG") == "1":
        traceback.print_exception(error)
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    where = f" with {whose}" if whose else ""
    return refuse(f"This is a fault in attnlab{where} ({reason}); set ATTNLAB_DEBUG=1 for details.", INTERNAL_ERROR)


def say(text: str) -> None:
    """Write a text to standard output; on a terminal, control characters are escaped.

    Raises:
        FileError: standard output is closed or cannot take it.
        BrokenPipeError: its reader has ended.
    """
    if sys.stdout is None:
        raise FileError("Nothing can be printed: standard output is closed.")
    with _naming_stdout():
        write(sys.stdout, escape(text, keep="\n\t") if sys.stdout.isatty() else text)


def flush_stdout() -> None:
    """Write what is still buffered for standard output; errors are those of ``say``."""
    if sys.stdout is not None:
        with _naming_stdout():
            sys.stdout.flush()


@contextmanager
def _naming_stdout() -> Iterator[None]:
    """Say that standard output is full or closed, which is no fault in attnlab."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        silence_stdout()
        raise FileError(f"Standard output cannot be written: {error.strerror}.") from None


def write(stream: TextIO, text: str) -> None:
    """Write a text; characters missing from the stream's encoding become question marks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))


def give_stderr() -> None:
    """Discard messages if standard error is closed; the exit code still tells how the command ended."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for the whole process


def silence_stdout() -> None:
    """Discard all further output to a closed pipe, even when Python exits."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # a stream without a file behind it
        return
