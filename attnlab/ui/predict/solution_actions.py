"""Copies or saves the worked solution of the open scene, written in the background."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from attnlab.base.errors import AttnlabError
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.jobs import run

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.ui.playground.playground import Playground

KINDS = {"md": "Markdown", "tex": "LaTeX"}


def copy_markdown(playground: "Playground") -> None:
    """Copy the worked solution as Markdown."""
    _solve(playground, "md", partial(_copy, playground, "md"))


def copy_latex(playground: "Playground") -> None:
    """Copy the worked solution as a LaTeX document."""
    _solve(playground, "tex", partial(_copy, playground, "tex"))


def ask_save(playground: "Playground", parent: QWidget) -> QFileDialog:
    """Ask for a file and write the worked solution to it, in the format of its ending."""
    names = ";;".join(f"{name} (*.{ending})" for ending, name in KINDS.items())
    return ask_where(parent, "Save the worked solution", names, "solution.md", partial(save_to, playground))


def save_to(playground: "Playground", path: Path) -> None:
    """Write the worked solution to a file that ends in .md or .tex; the window shows any error."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in KINDS:
        playground.step_bar.show_message(f"{path.name} does not end in .md or .tex.")
        return
    _solve(playground, ending, partial(_save, playground, path))


def _copy(playground: "Playground", ending: str, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    count = len(text.splitlines())
    playground.step_bar.show_note(f"Copied the worked solution as {KINDS[ending]}, {count} lines.")


def _save(playground: "Playground", path: Path, text: str) -> None:
    from attnlab.lessons.solution import save

    try:
        save(text, path)
    except AttnlabError as error:
        playground.step_bar.show_message(str(error))
    else:
        playground.step_bar.show_note(f"Saved {path}")


def _solve(playground: "Playground", ending: str, done: Callable[[str], None]) -> None:
    reply = playground.reply
    if reply is None or reply.trace is None:
        playground.step_bar.show_message("Nothing has been computed yet.")
        return
    run(
        _write_solution,
        reply.trace,
        ending,
        on_done=done,
        on_failed=playground.step_bar.show_message,
        lane=playground.lane,
        doing="writing the worked solution",
    )


def _write_solution(trace: "Trace", ending: str) -> str:
    """Return the text of the solution. Runs in the worker's thread."""
    from attnlab.lessons.solution import write_latex, write_markdown

    return write_markdown(trace) if ending == "md" else write_latex(trace)
