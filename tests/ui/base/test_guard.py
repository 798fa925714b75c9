"""No error leaves an overridden Qt method: every class is guarded, so that the process survives."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.ui.base.guard import ANSWERS, AS_QT, guarded, is_guarded

NOT_VIRTUAL: set[str] = set()
"""Methods of Qt that a class of attnlab hides, but that Qt never calls."""


def overrides() -> Iterator[tuple[str, str, FunctionType]]:
    """Yield each method of attnlab that overrides one of Qt's: its place, its name, and itself."""
    for module in pkgutil.walk_packages(attnlab.__path__, "attnlab."):
        if module.name.endswith("__main__"):
            continue
        for _, cls in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            from_qt = [base for base in cls.__mro__ if base.__module__.startswith("PySide6.")]
            for base in cls.__mro__ if from_qt and cls.__module__ == module.name else ():
                if base in from_qt:
                    break
                for name, method in vars(base).items() if base.__module__.startswith("attnlab.") else ():
                    own = isinstance(method, FunctionType) and not name.startswith("__")
                    if own and any(name in vars(each) for each in from_qt):
                        yield f"{base.__module__}.{base.__qualname__}", name, method


def test_every_override_of_every_class_is_guarded() -> None:
    found = list(overrides())
    assert len(found) > 200
    bare = sorted({f"{where}.{name}" for where, name, method in found if not is_guarded(method)})
    known = [each for each in bare if each.rpartition(".")[2] not in NOT_VIRTUAL]
    assert not known, f"{known} need @guarded, and their names an answer in attnlab/ui/base/guard.py"


def test_a_failing_override_is_reported_and_returns_a_default(qtbot: QtBot, provoked: Callable[[], list[str]]) -> None:
    @guarded
    class Broken(QWidget):
        def sizeHint(self) -> QSize:
            return [][0]  # type: ignore[no-any-return]

        def heightForWidth(self, width: int) -> int:
            return int("x")

    widget = Broken()
    qtbot.addWidget(widget)
    widget.adjustSize()
    assert not widget.sizeHint().isValid()
    assert widget.heightForWidth(3) == -1
    reasons = set(provoked())
    assert "IndexError: list index out of range" in reasons
    assert "ValueError: invalid literal for int() with base 10: 'x'" in reasons


def test_a_dialog_whose_close_handler_fails_still_closes(qtbot: QtBot, provoked: Callable[[], list[str]]) -> None:
    @guarded
    class Broken(QDialog):
        def done(self, result: int) -> None:
            [][result]

    dialog = Broken()
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.accept()
    assert not dialog.isVisible()
    assert provoked() == ["IndexError: list index out of range"]


def test_every_default_is_accepted_by_qt() -> None:
    arguments = {"fixup": ("x",), "validate": ("x", 1)}
    for name, answer in ANSWERS.items():
        answer(None, *arguments.get(name, ()))
    assert not set(AS_QT) & set(ANSWERS)


CHILD = """
    import sys
    import numpy as np
    from PySide6.QtCore import QObject, QSize, QTimer
    from PySide6.QtWidgets import QApplication, QWidget, QVBoxLayout
    from shiboken6 import delete
    from attnlab.base import fault_log
    from attnlab.ui.base.guard import guarded

    def gone():
        widget = QWidget(); delete(widget); widget.width()

    def unpacked():
        one, two = (1, 2, 3)

    FAULTS = {
        "list": lambda: [][0], "numpy": lambda: np.zeros(3)[5], "unpacking": unpacked, "int": lambda: int("x"),
        "deleted": gone, "key": lambda: {}["key"], "tuple": lambda: ().index(1), "overflow": lambda: QSize(2**70, 0),
        "float": lambda: float("y"), "decode": lambda: b"\\xff".decode(),
    }
    guard = guarded if sys.argv[1] == "guarded" else lambda cls: cls
    fault = FAULTS[sys.argv[2]]

    @guard
    class Broken(QWidget):
        def closeEvent(self, event): fault()
        def resizeEvent(self, event): fault()
        def sizeHint(self): fault(); return QSize(1, 1)

    app = QApplication([])
    widget = Broken()
    def provoke():
        widget.adjustSize()
        widget.resize(300, 200)
        widget.show()
        widget.close()
    QTimer.singleShot(0, provoke)
    QTimer.singleShot(0, app.quit)
    app.exec()
    print("survived", len(fault_log.take()) >= 3)
"""
FAULTS = ["list", "numpy", "unpacking", "int", "deleted", "key", "tuple", "overflow", "float", "decode"]


def child(guard: str, fault: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(CHILD), guard, fault]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("fault", FAULTS)
def test_with_the_guard_a_process_survives_the_error(fault: str) -> None:
    ended = child("guarded", fault)
    assert (ended.returncode, ended.stdout.strip()) == (0, "survived True"), ended.stderr


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later Pythons keep errors as objects, and survive")
@pytest.mark.parametrize("fault", ["list", "int", "deleted"])
def test_without_the_guard_a_process_crashes(fault: str) -> None:
    ended = child("bare", fault)
    assert ended.returncode < 0 or ended.returncode > 2, (ended.returncode, ended.stderr)
    assert "survived" not in ended.stdout


def test_overrides_of_pyqtgraph_are_guarded() -> None:
    from attnlab.ui.widgets.charts import plots

    bare, count = [], 0
    for cls in plots.classes():
        from_qt = [base for base in cls.__mro__ if base.__module__.startswith("PySide6.")]
        for name in plots.NAMES:
            method = vars(cls).get(name)
            if isinstance(method, FunctionType) and any(name in vars(base) for base in from_qt):
                count += 1
                bare += [f"{cls.__qualname__}.{name}"] * (not is_guarded(method))
    assert count > 30
    assert not bare
