"""Shared by the commands: an argument parser with one-sentence errors, and the set-up of Qt and torch."""

import argparse
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from attnlab.base.errors import AttnlabError


class MisuseError(AttnlabError):
    """An invalid command line."""


_NUMBERS = {"int": "a whole number", "float": "a number"}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence instead of the usage."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(
            r"invalid (int|float) value: (.*)", lambda found: f"{found[2]} is not {_NUMBERS[found[1]]}", message
        )
        raise MisuseError(f"{message[:1].upper()}{message[1:].rstrip('.')}; {self.prog} --help lists the options.")


def add_theme(parser: argparse.ArgumentParser) -> None:
    """Add the option for the colours of the window."""
    parser.add_argument(
        "--theme",
        choices=("light", "dark", "system", "contrast-light", "contrast-dark"),
        help="colours of the window (default: those of the settings)",
    )


def check_folder(path: Path) -> None:
    """Refuse a path that cannot be written, before the work starts."""
    from attnlab.files.atomic import make_write_error

    if not os.path.isdir(path.parent):
        raise make_write_error(path, f"there is no folder {path.parent}")
    if os.path.isdir(path):
        raise make_write_error(path, "it is a folder")


def check_not_read(path: Path, read: str | os.PathLike[str]) -> None:
    """Refuse to write the result of a file over that file.

    Raises:
        AttnlabError: both are the same file.
    """
    from attnlab.files.atomic import make_write_error

    if os.path.exists(path) and os.path.exists(read) and os.path.samefile(path, read):
        raise make_write_error(path, "it is the source itself; choose another name")


@contextmanager
def platform_without_display(wanted: bool) -> Iterator[None]:
    """Let Qt draw without a screen, unless the environment sets its platform; the environment is restored."""
    if not wanted or os.environ.get("QT_QPA_PLATFORM"):
        yield
        return
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        yield
    finally:
        del os.environ["QT_QPA_PLATFORM"]


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delay Ctrl+C until a picture is drawn, as painting cannot be interrupted; a second one acts at once."""
    pressed = 0

    def wait(*_: object) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def offscreen_application() -> Iterator[None]:
    """Provide a Qt application without a window while figures are drawn."""
    with platform_without_display(True):
        from PySide6.QtWidgets import QApplication

        app = QApplication.instance() or QApplication([])
        yield
        del app


def load_torch_before_qt() -> None:
    """Load torch now on platforms where it cannot be loaded after Qt."""
    if sys.platform == "win32":  # WORKAROUND pytorch #166628: torch does not load after Qt there
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import torch  # noqa: F401
