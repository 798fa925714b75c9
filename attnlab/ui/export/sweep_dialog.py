"""The dialog of films: what is swept at the left, any frame of it at the right; saved while the window goes on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QSlider, QVBoxLayout, QWidget

from attnlab.errors import AttnlabError
from attnlab.figures.moving import check_film
from attnlab.figures.moving_frame import Film, Survey
from attnlab.ui.export.filming import Filming, Scenario, surveyed, waited
from attnlab.ui.export.sweep_form import FORMATS, SweepForm
from attnlab.ui.predict.parts import ask_where, button, scrolled
from attnlab.ui.predict.slices import Slices
from attnlab.ui.theme import px, restyle, worn

if TYPE_CHECKING:
    from attnlab.ui.main_window import MainWindow
    from attnlab.ui.playground.workspace import Playground

_SMALL, _LARGE = (560, 420), (960, 640)
_SOON_MS = 60


class FrameView(QLabel):
    """Shows a frame, as large as there is room but no larger than it is."""

    def __init__(self) -> None:
        super().__init__()
        self.image: QImage | None = None
        self.setAccessibleName("Preview of the film")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def show_frame(self, image: QImage | None) -> None:
        """Show another frame, or none."""
        self.image = image
        self._draw()

    def _draw(self) -> None:
        if self.image is None or not self.width() or not self.height():
            self.clear()
            return
        ratio = self.devicePixelRatioF()
        room = self.size() * ratio
        image = self.image
        if image.width() > room.width() or image.height() > room.height():
            kept, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            image = image.scaled(room, kept, smooth)
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(ratio)
        self.setPixmap(pixmap)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()


class SweepDialog(QDialog):
    """Films of one playground; ``previewed`` when the frame is the film's own, ``saved`` with the file."""

    previewed = Signal()
    saved = Signal(object)

    def __init__(self, playground: "Playground", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export a film of a sweep")
        self.setMinimumSize(px(_SMALL[0]), px(_SMALL[1]))
        self.resize(px(_LARGE[0]), px(_LARGE[1]))
        self._playground = playground
        self._scenario: Scenario | None = None
        self._film: Film | None = None
        self._filming: Filming | None = None
        self._path = Path()
        self.form, self.frame = SweepForm(), FrameView()
        self.slices, self._looking = Slices(self), Slices(self)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._make()
        self._connect()
        self._on_computed()

    def _make(self) -> None:
        self.message, self.info = QLabel(), QLabel()
        for label in (self.message, self.info):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.info.setProperty("role", "caption")
        self.message.setWordWrap(True)
        self.place = QSlider(Qt.Orientation.Horizontal)
        self.place.setAccessibleName("Frame")
        self.place.setToolTip("Look at any frame of the film")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress")
        self.cancel_button = button("Cancel", "Stop; no file is left half written")
        self.save_button = button("Save…", "Write the film (Ctrl+S)")
        self.save_button.setProperty("primary", True)
        self.save_button.setShortcut("Ctrl+S")
        self._lay_out()
        self._show_progress(0)
        self.message.hide()

    def _lay_out(self) -> None:
        form = scrolled(self.form)
        form.setFixedWidth(px(316))
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, px(12), 0)
        foot.setSpacing(px(8))
        for part in (self.progress, self.cancel_button):
            foot.addWidget(part, int(part is self.progress))
        foot.addStretch(0)
        foot.addWidget(self.save_button, 0, Qt.AlignmentFlag.AlignRight)
        left, right = QVBoxLayout(), QVBoxLayout()
        left.setSpacing(px(12))
        left.addWidget(form, 1)
        left.addWidget(self.message)
        left.addLayout(foot)
        right.setSpacing(px(8))
        right.addWidget(self.frame, 1)
        right.addWidget(self.place)
        right.addWidget(self.info, 0, Qt.AlignmentFlag.AlignHCenter)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(px(16), px(16), px(16), px(16))
        whole.setSpacing(px(16))
        whole.addLayout(left)
        whole.addLayout(right, 1)

    def _connect(self) -> None:
        self._playground.computed.connect(self._on_computed)
        self.form.changed.connect(self._soon.start)
        self._soon.timeout.connect(self._on_soon)
        self.place.valueChanged.connect(self._look)
        self._looking.finished.connect(self._on_looked)
        self.slices.progressed.connect(self._on_progressed)
        self.slices.finished.connect(self._on_finished)
        self.slices.stopped.connect(self._on_stopped)
        self.cancel_button.clicked.connect(self.slices.stop)
        self.save_button.clicked.connect(self.ask_save)

    @Slot()
    def ask_save(self) -> None:
        """Ask where, and write."""
        if self._scenario is not None:
            ending, key = self.form.ending, self._scenario.sweep.key
            name = "".join(c if c.isalnum() or c == "_" else "-" for c in key).strip("-") + ending
            ask_where(self, "Export a film", f"{FORMATS[ending]} (*{ending})", name, self.write_film)

    def write_film(self, path: Path) -> None:
        """Write the film; until it is there whole, the file is what it was."""
        if self._scenario is None:
            return
        self._looking.stop()
        self._path = path if path.suffix else path.with_suffix(self.form.ending)
        self._filming = Filming(self._scenario, self._path, self._film)
        self._say("")
        self._show_progress(self._filming.total)
        self.slices.start(self._filming.steps())

    def _show_progress(self, steps: int) -> None:
        self.progress.setRange(0, max(steps, 1))
        self.progress.setValue(0)
        for widget in (self.progress, self.cancel_button):
            widget.setVisible(bool(steps))
        self.save_button.setVisible(not steps)
        self.form.setEnabled(not steps)
        self.place.setEnabled(not steps)

    def _say(self, sentence: str, ink: str = "") -> None:
        restyle(self.message, f"color:{ink or worn().bad}")
        self.message.setText(sentence)
        self.message.setVisible(bool(sentence))

    @Slot()
    def _on_computed(self, *_: object) -> None:
        """Offer what is open now."""
        reply = self._playground.reply
        if reply is not None and reply.trace is not None and not self.slices.running:
            self.form.show_trace(reply.trace, self._playground.current_stage, self._playground.document.view.head)

    @Slot()
    def _on_soon(self) -> None:
        """Take over what the fields say, or say why that cannot be."""
        if self.slices.running:
            return
        self._film = None
        try:
            self._scenario = self.form.scenario(self._playground.document.scene)
            check_film((2, 2), 2, self._scenario.fps, self.form.ending)
        except AttnlabError as error:
            self._refuse(str(error))
            return
        if not self.save_button.isEnabled():  # what was refused is mended; what was saved stays said
            self._say("")
        self.place.blockSignals(True)
        self.place.setRange(0, self._scenario.count - 1)
        self.place.blockSignals(False)
        self._look()

    def _refuse(self, sentence: str) -> None:
        self._scenario = self._film = None
        self._looking.stop()
        self.frame.show_frame(None)
        self.info.clear()
        self.save_button.setEnabled(False)
        self._say(sentence)
        self.previewed.emit()

    @Slot()
    def _look(self) -> None:
        """Show the frame that is chosen: at once as it is alone, then with what all frames share."""
        if self._scenario is not None and not self.slices.running:
            self._looking.start(self._seen(self._scenario, self.place.value()))

    def _seen(self, scenario: Scenario, frame: int) -> Iterator[None]:
        with ThreadPoolExecutor(1) as worker:
            trace = yield from waited(worker.submit(scenario.trace, frame))
            if self._film is None:
                alone = Survey(scenario.spec)
                alone.add(trace)
                self.frame.show_frame(scenario.image(alone.film(), trace, frame))
                yield
                self._film = yield from surveyed(scenario, worker)
            self.frame.show_frame(scenario.image(self._film, trace, frame))

    @Slot(str)
    def _on_looked(self, error: str) -> None:
        if error or self._scenario is None or self._film is None:
            self._refuse(error)
            return
        size, seconds = " × ".join(map(str, self._film.size)), self._scenario.count / self._scenario.fps
        self.info.setText(f"{self._scenario.count} frames · {seconds:.3g} s · {size} pixels")
        self.save_button.setEnabled(True)
        self.previewed.emit()

    @Slot()
    def _on_progressed(self) -> None:
        if self._filming is not None:
            self.progress.setValue(self._filming.done)

    @Slot(str)
    def _on_finished(self, error: str) -> None:
        self._show_progress(0)
        self._catch_up()
        if error:
            self._say(error)
            return
        self._say(f"Saved {self._path}", worn().muted)
        self.saved.emit(self._path)

    @Slot()
    def _on_stopped(self) -> None:
        self._show_progress(0)
        self._catch_up()
        self._say("Cancelled; nothing was written.", worn().muted)

    def _catch_up(self) -> None:
        """Take over what was changed in the window while the film was written."""
        if self._scenario is not None and self._scenario.experiment is not self._playground.document.experiment:
            self._on_computed()

    def done(self, result: int) -> None:
        self._soon.stop()
        self.slices.stop()
        self._looking.stop()
        super().done(result)


def open_sweep_dialog(window: "MainWindow") -> None:
    """Let a person make films of what is open in a window, which stays usable beside."""
    if window.playground is None:
        return
    dialog = window.findChild(SweepDialog)
    if dialog is None:
        window.show_workspace(0)
        dialog = SweepDialog(window.playground, window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    dialog.activateWindow()
