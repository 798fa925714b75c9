"""Qt classes are created only in the window's thread: the loader's thread creates none."""

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from attnlab.attention.examples.presets import preset
from attnlab.files.sessions.session_file import Session, save_session
from tests import qt_in_threads
from tests.patience import PATIENCE_S


def child(code: str, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_modules_of_the_loader_thread_touch_no_qt_name() -> None:
    assert (
        child("""
        import importlib, sys
        from PySide6 import QtCore, QtGui, QtWidgets
        import attnlab.ui.app.application
        from attnlab.ui.app.loader import _MODULES
        before = {name for name in sys.modules if name.startswith(("PySide6", "pyqtgraph"))}
        names = [set(vars(module)) for module in (QtCore, QtGui, QtWidgets)]
        for name in ("torch", *_MODULES):
            importlib.import_module(name)
        print({name for name in sys.modules if name.startswith(("PySide6", "pyqtgraph"))} - before)
        print([set(vars(module)) - had for module, had in zip((QtCore, QtGui, QtWidgets), names)])
        from PySide6.QtCore import QObject
        made = {each.__module__ for each in QObject.__subclasses__()} - {"attnlab.ui.app.application"}
        print(sorted(name for name in made if name.startswith(("attnlab.c", "attnlab.d", "attnlab.f"))))
    """)
        == "set()\n[set(), set(), set()]\n[]"
    )


@pytest.mark.parametrize("source", ["preset", "file"])
def test_starting_creates_qt_classes_only_in_the_windows_thread(source: str, tmp_path: Path, config_dir: Path) -> None:
    save_session(Session(preset("journey")), tmp_path / "one.attnlab")
    assert (
        child(
            """
        import sys
        from pathlib import Path
        from tests import qt_in_threads
        qt_in_threads.watch()
        from attnlab.files.source import Source
        from attnlab.ui.app.application import run
        path = Path(sys.argv[2]) / "one.attnlab"
        source = Source(path=path) if sys.argv[1] == "file" else Source(preset="journey")
        def on_window(window):
            window.starting.loader.later.done.connect(window.close)
        code = run(source, on_window=on_window)
        print(code, qt_in_threads.made, "pyqtgraph" in sys.modules, "torch" in sys.modules)
    """,
            source,
            str(tmp_path),
        )
        == "0 [] True True"
    )


def test_a_class_created_in_a_thread_is_detected() -> None:
    def make() -> None:
        from PySide6.QtCore import QObject

        type("Unseen", (), {})

        class Seen(QObject):
            pass

    before = list(qt_in_threads.made)
    thread = threading.Thread(target=make, name="maker")
    thread.start()
    thread.join()
    told = [each for each in qt_in_threads.made if each not in before]
    qt_in_threads.made[:] = before
    assert len(told) == 1
    assert "Seen in the thread maker, by " in told[0]
