"""What the commands say and where: sentences on standard error, results on standard output, never a traceback."""

import os
import shutil
import sys
import traceback
from collections.abc import Callable
from typing import TextIO

from attnlab.base.errors import AttnlabError
from attnlab.base.printable import printable

OK, OWN_FAILURE, TO_MEND, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done, a failure of attnlab's own, something that the user can mend, stopped by Ctrl+C."""


def terminal_width() -> int | None:
    """Return the columns of the terminal; None when the output goes elsewhere, where nothing is to be cut."""
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return None
    return shutil.get_terminal_size().columns


def refuse(sentence: str, code: int) -> int:
    """Say on standard error, on one line, what is wrong, and return the exit code."""
    warn(f"attnlab: {' '.join(sentence.split())}")
    return code


def warn(line: str) -> None:
    """Write a line to standard error, with control characters spelt out."""
    write(sys.stderr, f"{printable(line)}\n")


def guarded(call: Callable[[], int], whose: str = "", before: Callable[[], None] = lambda: None) -> int:
    """Return the exit code of a call, or of what goes wrong in it, which is said on one line that names ``whose``.

    ``before`` is called ahead of such a line.
    """
    try:
        return call()
    except AttnlabError as error:
        before()
        sentence = str(error)
        return refuse(sentence if whose in sentence else f"{whose}: {sentence}", TO_MEND)
    except ImportError as error:
        before()
        if (error.name or "").startswith("attnlab"):
            return fail(error)
        return refuse(f"A part is missing ({error}); attnlab doctor names the command that mends it.", TO_MEND)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # the outermost door: whatever went wrong is one line, not a traceback
        before()
        return fail(error, whose)


def fail(error: Exception, whose: str = "") -> int:
    """Say that attnlab itself is at fault, with the traceback if ATTNLAB_DEBUG=1 asks for it; return the exit code."""
    if os.environ.get("ATTNLAB_DEBUG") == "1":
        traceback.print_exception(error)
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    where = f" with {whose}" if whose else ""
    return refuse(f"This is a fault of attnlab's own{where} ({reason}); ATTNLAB_DEBUG=1 shows where.", OWN_FAILURE)


def say(text: str) -> None:
    """Write a text to standard output; on a terminal, control characters are spelt out."""
    write(sys.stdout, printable(text, keep="\n\t") if sys.stdout.isatty() else text)


def write(stream: TextIO, text: str) -> None:
    """Write a text; what the stream's encoding does not have becomes a question mark, not an error."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))


def silence_stdout() -> None:
    """Let nothing more be written into a pipe that nobody reads, not even when Python ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # a stream without a file behind it
        return
