"""Resizes the window pixel by pixel in each workspace, and lists the sizes in which its layout never comes to rest.

    python -m tools.resize_windows                                   all workspaces, at 100 and 150 % type
    python -m tools.resize_windows --workspaces lessons --types 150 --step 3

A part that comes, narrows the room of another and goes again makes the program busy for ever, or ends it when Qt's
stack runs over. Each workspace therefore runs in a process of its own, and the size at which one ended is named.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

ROOT = Path(__file__).resolve().parent.parent
WORKSPACES = ("playground", "lessons", "train", "models")
WIDTHS, HEIGHTS = range(900, 1600), range(600, 1100)
COMMON_WIDTHS, COMMON_HEIGHTS = (1024, 1366, 1440), (640, 768, 900)
QUIET_S, MOST = 0.02, 200
"""How long no layout changes when a window rests, in seconds, and how many rounds of events may change some before."""
MOST_CHANGES = 20_000
"""Changes of layout in one round, after which further ones are suppressed."""
LIMIT_S = 1800.0
"""How long one workspace may take at one size of type, in seconds."""


def main(argv: list[str] | None = None) -> int:
    """Resize the window in the chosen workspaces; return 1 if it did not come to rest everywhere."""
    parser = argparse.ArgumentParser(prog="python -m tools.resize_windows", description=__doc__.splitlines()[0])
    parser.add_argument("--workspaces", nargs="+", default=WORKSPACES, choices=WORKSPACES, help="default: all")
    parser.add_argument("--types", nargs="+", type=int, default=(100, 150), help="sizes of type in percent")
    parser.add_argument("--step", type=int, default=1, help="pixels from one size to the next (default 1)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.child:
        _resize(options.workspaces[0], options.types[0], options.step)
        sys.stdout.flush()
        os._exit(0)  # at once: a thread may still be drawing pictures with torch, which must not be interrupted
    found = [
        f"{workspace} at {type_size} %: {fault}"
        for workspace in options.workspaces
        for type_size in options.types
        for fault in find_faults(workspace, type_size, options.step)
    ]
    for each in found:
        print(f"FAULT {each}", flush=True)
    print(f"{len(list_sizes(options.step))} sizes in each of {len(options.workspaces)} workspaces, {len(found)} faults")
    return 1 if found else 0


def list_sizes(step: int) -> list[tuple[int, int]]:
    """Return the sizes to try: widths and heights in pixels."""
    tall = [(width, height) for width in COMMON_WIDTHS for height in HEIGHTS[::step]]
    return tall + [(width, height) for height in COMMON_HEIGHTS for width in WIDTHS[::step]]


def find_faults(workspace: str, type_size: int, step: int) -> list[str]:
    """Try all sizes in a separate process; return a line on each in which the window does not rest or ends."""
    command = [sys.executable, "-m", "tools.resize_windows", "--child", "--workspaces", workspace]
    command += ["--types", str(type_size), "--step", str(step)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        try:
            code = subprocess.run(command, env=environment, stdout=out, timeout=LIMIT_S, check=False).returncode
            how = f"ended with {code}" if code else ""
        except subprocess.TimeoutExpired:
            how = f"not done within {LIMIT_S:.0f} s"
        out.seek(0)
        lines = out.read().splitlines()
    faults = [line.removeprefix("endless ") for line in lines if line.startswith("endless ")]
    sizes = [line for line in lines if not line.startswith("endless ")]
    return [f"{size} px never rests" for size in faults] + ([f"{(sizes or ['start'])[-1]} px: {how}"] if how else [])


def _resize(workspace: str, type_size: int, step: int) -> None:
    from attnlab.bench.window import open_window

    with open_window() as driver:
        window = driver.window
        window.change_settings(type_size=type_size)
        window.show_workspace(workspace)
        comes_to_rest()
        for width, height in list_sizes(step):
            print(f"{width} x {height}")
            window.resize(width, height)
            if not comes_to_rest():
                print(f"endless {width} x {height}")


class Layouts(QObject):
    """Counts the changes of layout of all widgets."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        if event.type() not in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            return False
        self.count += 1
        return self.count > MOST_CHANGES  # or the round would never end


def comes_to_rest() -> bool:
    """Handle events until no widget changes its layout any more; return False if that never happens."""
    app, layouts, rounds = QApplication.instance(), Layouts(), 0
    assert app is not None
    app.installEventFilter(layouts)
    changed = time.monotonic()
    while rounds < MOST and time.monotonic() - changed < QUIET_S:
        layouts.count = 0
        app.processEvents()
        if layouts.count:
            changed = time.monotonic()
            rounds = MOST if layouts.count > MOST_CHANGES else rounds + 1
    app.removeEventFilter(layouts)
    return rounds < MOST


if __name__ == "__main__":
    sys.exit(main())
