"""What the commands share: a parser that refuses in one sentence, and how Qt and torch are made ready for them."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from attnlab.base.errors import AttnlabError


class MisuseError(AttnlabError):
    """A command line that cannot be understood."""


class Parser(argparse.ArgumentParser):
    """Refuses with one sentence instead of printing the usage."""

    def error(self, message: str) -> NoReturn:
        raise MisuseError(f"{message[:1].upper()}{message[1:].rstrip('.')}; {self.prog} --help lists what there is.")


def check_folder(path: Path) -> None:
    """Find out before the work, not after it, that there is no place for its result."""
    from attnlab.files.atomic import unwritable

    if not os.path.isdir(path.parent):
        raise unwritable(path, f"there is no folder {path.parent}")
    if os.path.isdir(path):
        raise unwritable(path, "it is a folder")


@contextmanager
def platform_without_display(wanted: bool) -> Iterator[None]:
    """Let Qt draw without a screen, unless the caller has chosen its platform; the environment is put back."""
    if not wanted or os.environ.get("QT_QPA_PLATFORM"):
        yield
        return
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        yield
    finally:
        del os.environ["QT_QPA_PLATFORM"]


def load_torch_before_qt() -> None:
    """Load torch where it would not load any more once Qt is there."""
    if sys.platform == "win32":  # WORKAROUND pytorch #166628: torch does not load after Qt there
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import torch  # noqa: F401
