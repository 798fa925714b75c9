"""The texts of the help: the topics of the guide, the keys, the versions, and what to say in a report."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from attnlab import __version__
from attnlab.base import assets, fault_log
from attnlab.base.folders import config_folder
from attnlab.ui.base.actions import Action, ActionList

FOLDER = "help"
LOG_LINES = 60
"""The number of lines of the log that are shown."""
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in r"\`*_{}[]<>#|~"})


class Topic(NamedTuple):
    """One page of the help: its title, and its text in Markdown, which begins with the title."""

    title: str
    markdown: str


@lru_cache(maxsize=1)
def read_topics() -> tuple[Topic, ...]:
    """Return the topics of the guide, in order."""
    texts = (assets.read_text(name) for name in assets.names(FOLDER) if name.endswith(".md"))
    return tuple(Topic(text.partition("\n")[0].removeprefix("# ").strip(), text) for text in texts)


def write_keys(actions: ActionList) -> Topic:
    """Return the keys of all actions by section, and those of cards and tables."""
    lines = ["# Keys"]
    for section in dict.fromkeys(action.section for action in actions):
        rows = [(action, _list_keys(actions, action)) for action in actions if action.section == section]
        rows = [(action, keys) for action, keys in rows if keys]
        if rows:
            lines += [f"## {section}", *_make_table((keys, action.title.rstrip("…")) for action, keys in rows)]
    return Topic("Keys", "\n".join(lines) + "\n" + assets.read_text(f"{FOLDER}/keys/elsewhere.md"))


def _list_keys(actions: ActionList, action: Action[Any]) -> str:
    return ", ".join(_escape(key) for key in actions.shortcut_texts(action.id))


def _make_table(rows: Iterable[tuple[str, str]]) -> list[str]:
    return ["", "| key | what it does |", "|---|---|", *(f"| {key} | {_escape(what)} |" for key, what in rows), ""]


def write_about() -> Topic:
    """Return the version, the licences and the folder of the settings."""
    versions = "\n".join(f"- {_escape(part)}" for part in fault_log.versions().split(", ")[1:])
    return Topic(
        "About",
        f"# attnlab {__version__}\n\n"
        "Every number in an attention layer: real, editable, live.\n\n"
        "It runs on this computer only: it sends nothing anywhere, and needs no network.\n\n"
        f"## This computer\n\n{versions}\n\n"
        f"Settings, runs, your own lessons and unsaved work are in {_escape(str(config_folder()))}.\n\n"
        "## Licences\n\n"
        "attnlab: MIT licence. The typeface Inter: SIL Open Font License. PySide6 (Qt): LGPL. PyTorch: BSD. "
        "pyqtgraph: MIT.\n",
    )


def write_report() -> Topic:
    """Return what to write in a report, and the end of the log."""
    log = read_log()
    shown = f"The last lines of {_escape(str(fault_log.log_path()))}:" if log else "No error was logged."
    return Topic(
        "Report a problem",
        "# Report a problem\n\n"
        "1. Write down what you did, what you expected, and what happened instead.\n"
        "2. **Copy for a report** below copies the versions and the log. Paste them under your text. Read them first: "
        "paths may contain your name.\n"
        "3. Send it to the person or the site that you got attnlab from. attnlab itself sends nothing.\n\n"
        "If you can, save the session (Ctrl+S) and attach the file: it contains every number.\n\n"
        f"{shown}\n",
    )


def read_log() -> str:
    """Return the last lines of the log of errors, "" if there is none."""
    try:
        text = fault_log.log_path().read_bytes()[-fault_log.MOST_BYTES :].decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-LOG_LINES:])


def write_report_text() -> str:
    """Return the text to paste into a report: versions and the end of the log."""
    return f"{fault_log.versions()}\n\n{read_log() or 'No error was logged.'}\n"


def _escape(text: str) -> str:
    """Return a text as Markdown that shows it as it is."""
    return text.translate(_ESCAPED)
