"""A person at the weights dialog: waits for reading and trials, chooses from its lists, and reads it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel

from attnlab.ui.weights.weights_dialog import WeightsDialog, open_weights_dialog

if TYPE_CHECKING:
    from tests.ui.conftest import Person


class WeightsUser:
    """One dialog, and the person at its window."""

    def __init__(self, person: "Person", dialog: WeightsDialog) -> None:
        self.person, self.dialog = person, dialog

    def choose(self, name: str, title: str) -> None:
        """Open a list, click the line with this beginning, and wait for its trial."""
        box = self.person.find(QComboBox, name, self.dialog)
        place = next((i for i in range(box.count()) if box.itemText(i).startswith(title)), None)
        assert place is not None, [box.itemText(i) for i in range(box.count())]
        box.showPopup()
        index = box.model().index(place, 0)
        box.view().scrollTo(index)
        with self.person.qtbot.waitSignal(self.dialog.previewed):
            at = box.view().visualRect(index).center()
            QTest.mouseClick(box.view().viewport(), Qt.MouseButton.LeftButton, pos=at)

    def press(self, name: str) -> None:
        """Click a button, and wait for the trial of its change."""
        with self.person.qtbot.waitSignal(self.dialog.previewed):
            self.person.click(self.button(name))

    def button(self, name: str) -> QAbstractButton:
        return self.person.find(QAbstractButton, name, self.dialog)

    def offers(self, name: str) -> bool:
        return any(each.text() == name and each.isVisible() for each in self.dialog.findChildren(QAbstractButton))

    def bring_in(self) -> None:
        """Click the import button, and wait for the window; confirm the settings first, where they are not known."""
        if self.dialog.alone.isVisible() and not self.dialog.alone.isChecked():
            self.person.click(self.dialog.alone)
        self.person.click(self.button("Import"))
        self.gone()
        self.person.settle()

    def gone(self) -> None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        assert self.person.window.findChild(WeightsDialog) is None

    def close(self) -> None:
        QTest.keyClick(self.dialog, Qt.Key.Key_Escape)
        self.gone()

    def message(self) -> str:
        """Return the error message, "" for none."""
        return self.dialog.message.text() if self.dialog.message.isVisible() else ""

    def texts(self) -> str:
        """Return all texts of the dialog."""
        return "\n".join(label.text() for label in self.dialog.findChildren(QLabel) if label.isVisible())


def open_weights(person: "Person", paths: Sequence[Path] = (), text: str = "") -> WeightsUser:
    """Open the dialog and wait for the trial of its first guess."""
    dialog = open_weights_dialog(person.playground, person.window, paths, text)
    assert dialog is not None
    with person.qtbot.waitSignal(dialog.previewed):
        pass
    return WeightsUser(person, dialog)


def refused(person: "Person", path: Path) -> str:
    """Open the dialog on an unreadable file, return its message, and close it."""
    dialog = open_weights_dialog(person.playground, person.window, [path])
    assert dialog is not None
    with person.qtbot.waitSignal(dialog.read):
        pass
    user = WeightsUser(person, dialog)
    said = dialog.waiting.text()
    assert said in user.texts()
    assert not user.button("Import").isEnabled()
    user.close()
    return said
