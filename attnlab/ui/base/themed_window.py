"""A window with settings such as theme and size of type, which are applied at once and saved."""

from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from attnlab.base.errors import AttnlabError
from attnlab.document.settings import Settings, save_settings
from attnlab.ui.base.cells import install_interfaces
from attnlab.ui.base.faults import show_faults
from attnlab.ui.base.motion import set_reduced_motion
from attnlab.ui.base.theme import CHOICES, TYPE_SIZES, apply_theme, dress_type

UNSEEN = {
    "recent",
    "figure",
    "history_mib",
    "moments_mib",
    "first_steps",
    "first_steps_shown",
    "lesson_offered",
    "lesson_progress",
}
"""Settings without an effect on the screen."""


class ThemedWindow(QMainWindow):
    """Owns the settings. A subclass shows sentences."""

    def __init__(self, settings: Settings, *, remember: bool) -> None:
        dress_type()  # before widgets exist: those that the style sheet sizes would keep the system's typeface
        super().__init__()
        self.settings = settings
        self._remember = remember
        show_faults()
        install_interfaces()
        QApplication.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)

    @property
    def remembers(self) -> bool:
        """Whether settings, unsaved work and runs are kept in the user's folder."""
        return self._remember

    def say(self, sentence: str) -> None:
        """Show one sentence in the line for messages."""
        raise NotImplementedError

    def apply_theme(self) -> None:
        """Apply the theme and the size of type of the settings to everything."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        set_reduced_motion(self.settings.reduced_motion)
        apply_theme(app, self.settings.theme, self.settings.type_size)

    def change_settings(self, **changes: object) -> None:
        """Change settings, save them, and show them."""
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        if self._remember:
            try:
                save_settings(self.settings)
            except AttnlabError as error:
                self.say(str(error))
        if changes.keys() - UNSEEN:
            self.apply_theme()

    def set_theme(self, theme: str) -> None:
        """Change the theme: a name of :data:`attnlab.ui.base.theme.CHOICES`."""
        assert theme in CHOICES
        self.change_settings(theme=theme)

    def step_type_size(self, step: int) -> None:
        """Make type larger or smaller by 10 %, or reset it with 0."""
        size = 100 if step == 0 else self.settings.type_size + 10 * step
        self.change_settings(type_size=min(max(size, TYPE_SIZES[0]), TYPE_SIZES[1]))

    @Slot()
    def _on_scheme_changed(self) -> None:
        if self.settings.theme == "system":
            self.apply_theme()
