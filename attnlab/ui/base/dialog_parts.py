"""Parts of dialogs: buttons, scroll areas, and questions for files."""

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QFrame, QPushButton, QScrollArea, QWidget


def button(text: str, about: str) -> QPushButton:
    """Return a button that Enter does not press, so that Enter stays with the field."""
    made = QPushButton(text)
    made.setToolTip(about)
    made.setAutoDefault(False)
    return made


def make_scroll_area(inside: QWidget, name: str, parent: QWidget | None = None) -> QScrollArea:
    """Return a widget in an area that scrolls vertically; ``name`` is its name for screen readers."""
    area = QScrollArea(parent)
    area.setAccessibleName(name)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    return area


def ask_where(
    parent: QWidget,
    title: str,
    name_filter: str,
    name: str,
    then: Callable[[Path], object],
    folder: Path | None = None,
) -> QFileDialog:
    """Ask where to save a file, beginning in a folder, and call ``then`` with the answer.

    A name without an ending gets that of the chosen type, at first that of ``name``.
    """
    dialog = _make_file_dialog(parent, title, name_filter, then, folder)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(name).suffix.removeprefix("."))
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(_find_suffix(chosen)))
    dialog.selectFile(name)
    dialog.open()
    return dialog


def _find_suffix(name_filter: str) -> str:
    """Return the first ending in a filter such as "PNG (*.png)", without its dot."""
    found = re.search(r"\*\.(\w+)", name_filter)
    return found[1] if found is not None else ""


def ask_which(
    parent: QWidget, title: str, name_filter: str, then: Callable[[Path], object], folder: Path | None = None
) -> QFileDialog:
    """Ask for an existing file, beginning in a folder, and call ``then`` with the answer."""
    dialog = _make_file_dialog(parent, title, name_filter, then, folder)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.open()
    return dialog


def _make_file_dialog(
    parent: QWidget, title: str, name_filter: str, then: Callable[[Path], object], folder: Path | None
) -> QFileDialog:
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setNameFilter(name_filter)
    if folder is not None and folder.is_dir():
        dialog.setDirectory(str(folder))
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    return dialog
