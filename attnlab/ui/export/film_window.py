"""Base of the film dialogs: a form, any frame of the film beside it, and saving in the background."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from attnlab.base.counted import format_size
from attnlab.base.errors import AttnlabError
from attnlab.base.formats import FILMS
from attnlab.figures.films.film_frame import Film
from attnlab.ui.base.dialog_parts import ask_where, make_scroll_area
from attnlab.ui.base.dialog_size import fit
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.jobs import Lane
from attnlab.ui.base.slices import Call, Slices
from attnlab.ui.base.theme import px
from attnlab.ui.export.film_saver import FilmSaver, Job
from attnlab.ui.export.filming import Filmed, Filming
from attnlab.ui.export.frame_view import FrameView

_SMALL, _LARGE = (560, 420), (960, 640)
_FORM, _SOON_MS = 316, 60


@guarded
class FilmWindow(QDialog):
    """Makes films; ``previewed`` is emitted when the frame on screen is final, ``saved`` with the file.

    Subclasses override the methods of the first part; :meth:`taken` is called after each change of the form.
    """

    previewed = Signal()
    saved = Signal(object)

    def __init__(self, title: str, form: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._scenario: Filmed | None = None
        self._film: Film | None = None
        self._fields, self.frame, self.saver = form, FrameView(), FilmSaver()
        self._looking = Slices(self)
        self.lane = Lane("film", self)
        """Computes the states of frames, one after the other."""
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._make()
        fit(self, _SMALL, _LARGE)
        self._soon.timeout.connect(self.take)
        self.place.valueChanged.connect(self._look)
        self._looking.finished.connect(self._on_looked)
        self.saver.save_button.clicked.connect(self.ask_save)
        self.saver.started.connect(self._enable)
        self.saver.ended.connect(self._enable)
        self.saver.saved.connect(self.saved)

    def read_film(self) -> tuple[Filmed, Film | None]:
        """Return the film that the form describes, with what its frames share if that is known already.

        Raises:
            AttnlabError: the film cannot be made.
        """
        raise NotImplementedError

    def survey(self, trace: Any, frame: int, lane: Lane) -> Generator[Call[Any] | None, Any, Film]:
        """Find what all frames share, in slices; ``trace`` is that of the frame on screen."""
        raise NotImplementedError

    def suggest_name(self) -> tuple[str, str]:
        """Return the default name of the file, and its ending: "" for a folder."""
        raise NotImplementedError

    def make_job(self, scenario: Filmed, path: Path) -> Job:
        """Return the job that writes the film."""
        return Filming(scenario, path, self._film, self.lane)

    def _make(self) -> None:
        self.info = QLabel()
        self.info.setTextFormat(Qt.TextFormat.PlainText)
        self.info.setWordWrap(True)
        self.info.setProperty("role", "caption")
        self.info.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.place = QSlider(Qt.Orientation.Horizontal)
        self.place.setAccessibleName("Frame")
        self.place.setToolTip("Show any frame of the film")
        area = make_scroll_area(self._fields, "Choices for the film")
        area.setFixedWidth(px(_FORM))
        self.saver.setFixedWidth(px(_FORM))
        left, right, whole = QVBoxLayout(), QVBoxLayout(), QHBoxLayout(self)
        left.setSpacing(px(12))
        left.addWidget(area, 1)
        left.addWidget(self.saver)
        right.setSpacing(px(8))
        right.addWidget(self.frame, 1)
        right.addWidget(self.place)
        right.addWidget(self.info)
        whole.setContentsMargins(px(16), px(16), px(16), px(16))
        whole.setSpacing(px(16))
        whole.addLayout(left)
        whole.addLayout(right, 1)

    @Slot()
    def take_soon(self) -> None:
        """Read the fields once typing pauses."""
        self._soon.start()

    @Slot()
    def take(self) -> None:
        """Read the fields, or say what is wrong with them."""
        if self.saver.working:
            return
        try:
            self._scenario, self._film = self.read_film()
        except AttnlabError as error:
            self._refuse(str(error))
            return
        if not self.saver.save_button.isEnabled():  # clear an error message, but not the note of a saved film
            self.saver.say("")
        self.place.blockSignals(True)
        self.place.setRange(0, self._scenario.count - 1)
        self.place.blockSignals(False)
        self._tell()
        self._look()

    @Slot()
    def ask_save(self) -> None:
        """Ask where to save, and write the film."""
        name, ending = self.suggest_name()
        ask_where(self, self.windowTitle(), f"{FILMS[ending]} (*{ending})", name + ending, self.write_film)

    def write_film(self, path: Path) -> None:
        """Write the film; an existing file is replaced only when the film is complete."""
        if self._scenario is None:
            return
        self._looking.stop()
        ending = self.suggest_name()[1]
        path = path if path.suffix or not ending else path.with_suffix(ending)
        self.saver.write(self.make_job(self._scenario, path), path)

    @Slot()
    def _look(self) -> None:
        """Show the chosen frame."""
        if self._scenario is not None and not self.saver.working:
            frame = self._draw_frame(self._scenario, self.place.value())
            self._looking.start(frame, doing="drawing the film")

    def _draw_frame(self, scenario: Filmed, frame: int) -> Generator[Call[Any] | None, Any, None]:
        trace = yield Call(scenario.compute_trace, frame, lane=self.lane)
        if self._film is None:
            self._film = yield from self.survey(trace, frame, self.lane)
        self.frame.show_frame(scenario.draw_image(self._film, trace, frame))

    def _tell(self) -> None:
        """Show the length and size of the film once they are known, and allow saving."""
        if self._scenario is None or self._film is None:
            return
        count, size = self._scenario.count, format_size(self._film.size, "pixels")
        frames = f"{count} frames" if count != 1 else "1 frame"
        self.info.setText(f"{frames} · {count / self._scenario.fps:.3g} s · {size}")
        self.saver.save_button.setEnabled(True)

    def _refuse(self, sentence: str) -> None:
        self._scenario = self._film = None
        self._looking.stop()
        self.frame.show_frame(None)
        self.info.clear()
        self.saver.save_button.setEnabled(False)
        self.saver.say(sentence)
        self.previewed.emit()

    @Slot(str)
    def _on_looked(self, error: str) -> None:
        if error:
            self._refuse(error)
            return
        self._tell()
        self.previewed.emit()

    @Slot()
    def _enable(self) -> None:
        for part in (self._fields, self.place):
            part.setEnabled(not self.saver.working)

    def done(self, result: int) -> None:
        self._soon.stop()
        self.saver.slices.stop()
        self._looking.stop()
        super().done(result)
