"""A window that wears its settings: theme and size of type, changed while it is open, kept, and shown everywhere."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from attnlab.base.errors import AttnlabError
from attnlab.document.settings import Settings, save_settings
from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.base.faults import show_faults
from attnlab.ui.base.motion import set_reduced_motion
from attnlab.ui.base.theme import CHOICES, TYPE_SIZES, apply_theme

UNSEEN = {"recent", "figure", "history_mib"}
"""Settings that nothing on screen follows."""


class Dressed(Protocol):
    """A part of a window that is painted in its colours."""

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours."""


class DressedWindow(QMainWindow):
    """Owns the settings; its heir says which parts wear them, and where a sentence is shown."""

    def __init__(self, settings: Settings, *, remember: bool) -> None:
        super().__init__()
        self.settings = settings
        self._remember = remember
        self._palette = LIGHT
        show_faults()
        QApplication.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)

    @property
    def remembers(self) -> bool:
        """Whether settings, unsaved work and runs are kept in the person's folder."""
        return self._remember

    def parts(self) -> Iterable[Dressed]:
        """Return what is painted in the colours of the theme, as far as it is made."""
        raise NotImplementedError

    def say(self, sentence: str) -> None:
        """Show one sentence where messages stand."""
        raise NotImplementedError

    def apply_theme(self) -> None:
        """Dress everything in the theme and the size of type of the settings."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        set_reduced_motion(self.settings.reduced_motion)
        self._palette = apply_theme(app, self.settings.theme, self.settings.type_size)
        for part in self.parts():
            part.set_palette(self._palette)

    def change_settings(self, **changes: object) -> None:
        """Change settings, keep them, and show them."""
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        if self._remember:
            try:
                save_settings(self.settings)
            except AttnlabError as error:
                self.say(str(error))
        if changes.keys() - UNSEEN:
            self.apply_theme()

    def set_theme(self, theme: str) -> None:
        """Follow the system, or be light or dark."""
        assert theme in CHOICES
        self.change_settings(theme=theme)

    def step_type_size(self, step: int) -> None:
        """Make type larger or smaller by 10 %, or with 0 as it was."""
        size = 100 if step == 0 else self.settings.type_size + 10 * step
        self.change_settings(type_size=min(max(size, TYPE_SIZES[0]), TYPE_SIZES[1]))

    @Slot()
    def _on_scheme_changed(self) -> None:
        if self.settings.theme == "system":
            self.apply_theme()
