"""The worked solution of what is open: for the clipboard, and to a file whose ending says in which language."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.errors import AttnlabError

if TYPE_CHECKING:
    from attnlab.ui.lessons.desk import LessonDesk

FILTER = "Markdown (*.md);;LaTeX (*.tex)"


def copied(desk: "LessonDesk", form: str) -> str:
    """Return the worked solution of what is open, as "markdown" or "latex"; "" when it was refused, and said why."""
    from attnlab.lessons import solution

    reply = desk.playground.reply
    if reply is None or reply.trace is None:
        return ""
    try:
        return solution.latex(reply.trace) if form == "latex" else solution.markdown(reply.trace)
    except AttnlabError as error:
        desk.say(str(error))
        return ""


def ask_save(desk: "LessonDesk") -> None:
    """Ask for a file and write the worked solution to it."""
    dialog = desk.dialog("Save the worked solution", FILTER, "md")
    dialog.selectFile("solution.md")
    dialog.fileSelected.connect(partial(save_to, desk))
    dialog.open()


def save_to(desk: "LessonDesk", name: str) -> None:
    """Write the worked solution to a file: LaTeX when it ends in .tex, else Markdown."""
    from attnlab.files.atomic import write_bytes

    text = copied(desk, "latex" if Path(name).suffix.lower() == ".tex" else "markdown")
    if not text:
        return
    try:
        write_bytes(name, text.encode())
    except AttnlabError as error:
        desk.say(str(error))
        return
    desk.note(f"Saved {name}")
