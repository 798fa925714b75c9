"""The window is painted before torch is loaded, and Qt stays in its rooms."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "attnlab"
WORKSPACES = {PACKAGE / "ui" / name for name in ("playground", "lessons", "present", "predict")}
"""The window loads these after torch, except for their actions; see the last test."""
EARLY = {"play_actions.py", "lesson_actions.py"}
UI_MODULES = sorted(
    path for path in (PACKAGE / "ui").rglob("*.py") if path.name in EARLY or WORKSPACES.isdisjoint(path.parents)
)
TORCH = ("torch", "attnlab.attention", "attnlab.compute.engine", "attnlab.pretrained.capture_file")
QT = ("PySide6", "pyqtgraph", "shiboken6")


def imported_at_load(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that loading a module imports: not those in functions, nor those for the type checker."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imported_at_load(ast.Module(node.orelse, []))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imported_at_load(node)


def imports_of(path: Path, wanted: tuple[str, ...]) -> list[str]:
    names = imported_at_load(ast.parse(path.read_text(encoding="utf-8")))
    return [name for name in names if any(name == root or name.startswith(f"{root}.") for root in wanted)]


@pytest.mark.parametrize("path", UI_MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_of_the_window_imports_torch_when_it_is_loaded(path: Path) -> None:
    assert imports_of(path, TORCH) == []


def test_the_search_finds_a_planted_import() -> None:
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
else:
    from attnlab.compute import engine
try:
    import torch.nn
except ImportError:
    pass
def later():
    import torch
class Card:
    from attnlab.attention.examples import presets
"""
    found = [name for name in imported_at_load(ast.parse(source)) if name.startswith(("torch", "attnlab"))]
    assert found == [
        "attnlab.compute",
        "attnlab.compute.engine",
        "torch.nn",
        "attnlab.attention.examples",
        "attnlab.attention.examples.presets",
    ]


@pytest.mark.parametrize(("room", "files"), [("attention", 0), ("files", 0), ("compute", 1), ("document", 1)])
def test_rooms_without_drawing_import_qt_in_at_most_one_file(room: str, files: int) -> None:
    with_qt = [path.name for path in sorted((PACKAGE / room).rglob("*.py")) if imports_of(path, QT)]
    assert len(with_qt) <= files, with_qt


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("attnlab.cli.main", ("PySide6", "torch")),
        ("attnlab.cli.export_command", ("PySide6", "torch", "numpy")),
        ("attnlab.ui.app.main_window", ("torch",)),
    ],
)
def test_loading_entry_points_and_window_loads_no_slow_package(module: str, absent: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print([name for name in {absent!r} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip() == "[]"
