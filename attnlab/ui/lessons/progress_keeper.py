"""Follows the walk through lessons and keeps in the settings how far the user has come in each."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.document.settings import PROGRESS_LIMIT
from attnlab.lessons.lesson import Lesson
from attnlab.lessons.lesson_progress import Progress, find_key, read_progress, write_progress
from attnlab.lessons.tour import NAME as TOUR
from attnlab.ui.base.workspace import Host

if TYPE_CHECKING:
    from attnlab.ui.lessons.player import LessonPlayer


class ProgressKeeper(QObject):
    """Knows the progress in every lesson; ``save`` writes it, not every key press, which must be quick."""

    def __init__(self, player: "LessonPlayer", window: Host, parent: QObject) -> None:
        super().__init__(parent)
        self._player, self._window = player, window
        self._known = read_progress(window.settings.lesson_progress)
        self._place: tuple[str, int] | None = None
        player.slide_changed.connect(self._on_slide_changed)
        player.frame_changed.connect(self._on_moved)
        player.answer_changed.connect(self._on_moved)

    def find(self, lesson: Lesson) -> Progress:
        """Return the progress in a lesson."""
        return self._known.get(find_key(lesson), Progress())

    def save(self) -> None:
        """Write the progress to the settings, if it has changed."""
        written = write_progress(self._known)
        if written != self._window.settings.lesson_progress:
            self._window.change_settings(lesson_progress=written)

    def _keep(self, key: str, progress: Progress) -> None:
        """Keep the progress in a lesson as the newest."""
        others = {other: kept for other, kept in self._known.items() if other != key}
        newest = [(key, progress), *others.items()]
        self._known = dict(newest[:PROGRESS_LIMIT])

    @Slot(object)
    def _on_slide_changed(self, _: object) -> None:
        """A step that was left for the next one is done; to begin a finished lesson again forgets its progress."""
        lesson, slide, before = self._player.lesson, self._player.slide, self._place
        if lesson is None or slide is None or (lesson.path is None and lesson.name == TOUR):
            self._place = None
            return
        key, at = find_key(lesson), slide.index
        self._place = key, at
        known = self.find(lesson)
        if at == 0 and known.is_finished(lesson) and (before is None or before[0] != key):
            known = Progress()
        done = known.done | {at - 1} if before == (key, at - 1) else known.done
        self._keep(key, Progress(at, done))
        self._on_moved()

    @Slot()
    def _on_moved(self, *_: object) -> None:
        """The last step is done when everything of it has been shown."""
        lesson = self._player.lesson
        if lesson is not None and self._place is not None and self._player.at_end:
            key, at = self._place
            self._keep(key, Progress(at, self.find(lesson).done | {at}))
