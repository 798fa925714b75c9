"""The dialog of a training's film: which maps, which steps, how large and how fast; saved while the window goes on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from attnlab.errors import AttnlabError
from attnlab.figures.figure_colours import MAPS
from attnlab.figures.figure_spec import DPI_RANGE, MM_PER_INCH
from attnlab.figures.moving import FPS_RANGE, check_film
from attnlab.training.run import Run
from attnlab.ui.export.filming import Filming, waited
from attnlab.ui.export.sweep_dialog import FrameView
from attnlab.ui.export.sweep_form import FORMATS
from attnlab.ui.predict.parts import ask_where, button, scrolled
from attnlab.ui.predict.slices import Slices
from attnlab.ui.theme import is_dark, px, restyle, worn
from attnlab.ui.train.eyes import Seen, spread
from attnlab.ui.train.film import Choice, Pictures, RunFilm
from attnlab.ui.widgets.fields import NumberBox
from attnlab.ui.widgets.form_parts import combo

FOLDER = ""
"""The ending of what is a folder of pictures."""
MOST_FRAMES, USUAL_FRAMES, SOON_MS = 5000, 200, 60
SIZES_PX, SIZES_MM = (64, 4096), (10, 500)


class FilmDialog(QDialog):
    """Makes a film of a run's moments. ``previewed`` when a frame is shown, ``saved`` when the film is there."""

    previewed = Signal()
    saved = Signal(object)

    def __init__(self, run: Run, seen: Seen, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export film")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._run, self._seen, self._title = run, seen, title
        self._moments = run.recorder.moments
        self._filming: Filming | Pictures | None = None
        self._scenario: RunFilm | None = None
        self._path = Path()
        self.slices, self._looking = Slices(self), Slices(self)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._make_fields()
        self._make()
        self._connect()
        self.resize(min(px(900), parent.width() - px(20)), min(px(600), parent.height() - px(20)))
        self._on_soon()
        self.place.setValue(self.place.maximum())

    def _make_fields(self) -> None:
        layers = self._seen.look.maps
        heads = [
            (f"{each.layer} · head {h}", Choice(each.layer, h)) for each in layers for h in range(len(each.weights))
        ]
        self.maps = combo([("All heads", Choice()), *heads])
        first, last = self._moments[0].step, self._moments[-1].step
        self.first, self.last = _number(first, last, first), _number(first, last, last)
        self.frames = _number(1, MOST_FRAMES, min(len(self._moments), USUAL_FRAMES))
        self.fps = _number(*FPS_RANGE, 15)
        self.breadth, self.unit = _number(*SIZES_PX, 960), combo([("pixels", "px"), ("mm", "mm")])
        self.dpi = _number(*DPI_RANGE, 300)
        self.colours = combo([(each.title, each.name) for each in MAPS if not each.signed])
        self.ground = combo([("Light", "light"), ("Dark", "dark")])
        self.ground.setCurrentIndex(int(is_dark(worn())))
        self.format = combo([*((title, ending) for ending, title in FORMATS.items()), ("Folder of PNGs", FOLDER)])
        self.dpi.setEnabled(False)

    def _form(self) -> QWidget:
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, px(12), 0)
        grid.setHorizontalSpacing(px(12))
        grid.setVerticalSpacing(px(8))
        grid.setColumnStretch(1, 1)
        rows: tuple[tuple[str, QWidget, str], ...] = (
            ("Maps", self.maps, "All heads of all layers, or one head large"),
            ("From step", self.first, "The first recorded moment that is shown"),
            ("To step", self.last, "The last recorded moment that is shown"),
            ("Frames", self.frames, "At most so many moments, evenly among those between"),
            ("Frames a second", self.fps, "How fast they follow"),
            ("Width", self.breadth, "The height follows from the maps"),
            ("in", self.unit, "Pixels, or millimetres at the dots per inch below"),
            ("Dots per inch", self.dpi, "For a width in millimetres"),
            ("Colours", self.colours, "One scale, from 0 to 1, holds over the whole film"),
            ("Ground", self.ground, "What is behind the maps"),
            ("Format", self.format, "MP4 is the smallest; GIF goes everywhere; APNG and PNGs keep every colour"),
        )
        for line, (name, field, about) in enumerate(rows):
            grid.addWidget(QLabel(name), line, 0)
            grid.addWidget(field, line, 1)
            field.setToolTip(about)
            field.setAccessibleName(name if name != "in" else "Unit of the width")
        grid.setRowStretch(len(rows), 1)
        return inside

    def _make(self) -> None:
        self.frame, self.place = FrameView(), QSlider(Qt.Orientation.Horizontal)
        self.place.setAccessibleName("Frame")
        self.place.setToolTip("Look at any frame of the film")
        self.message, self.info = QLabel(), QLabel()
        for label in (self.message, self.info):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.info.setProperty("role", "caption")
        self.info.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress")
        self.cancel_button = button("Cancel", "Stop; no film is left half written")
        self.save_button = button("Save…", "Write the film (Ctrl+S)")
        self.save_button.setProperty("primary", True)
        self.save_button.setShortcut("Ctrl+S")
        self.form = self._form()
        area = scrolled(self.form)
        area.setFixedWidth(px(300))
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        foot.setContentsMargins(0, 0, px(12), 0)
        foot.addWidget(self.progress, 1)
        foot.addWidget(self.cancel_button)
        foot.addWidget(self.save_button, 0, Qt.AlignmentFlag.AlignRight)
        left, right, whole = QVBoxLayout(), QVBoxLayout(), QHBoxLayout(self)
        left.setSpacing(px(12))
        left.addWidget(area, 1)
        left.addWidget(self.message)
        left.addLayout(foot)
        right.setSpacing(px(8))
        right.addWidget(self.frame, 1)
        right.addWidget(self.place)
        right.addWidget(self.info)
        whole.setContentsMargins(px(16), px(16), px(16), px(16))
        whole.setSpacing(px(16))
        whole.addLayout(left)
        whole.addLayout(right, 1)
        self._show_progress(0)
        self.message.hide()

    def _connect(self) -> None:
        for box in (self.maps, self.unit, self.colours, self.ground, self.format):
            box.currentIndexChanged.connect(self._soon.start)
        for number in (self.first, self.last, self.frames, self.fps, self.breadth, self.dpi):
            number.valueChanged.connect(self._soon.start)
        self.unit.currentIndexChanged.connect(self._on_unit_chosen)
        self._soon.timeout.connect(self._on_soon)
        self.place.valueChanged.connect(self._look)
        self.slices.progressed.connect(self._on_progressed)
        self.slices.finished.connect(self._on_finished)
        self.slices.stopped.connect(self._on_stopped)
        self._looking.finished.connect(self._on_looked)
        self.cancel_button.clicked.connect(self.slices.stop)
        self.save_button.clicked.connect(self.ask_save)

    def _width_px(self) -> int:
        size = int(self.breadth.value())
        return size if self.unit.currentData() == "px" else round(size * self.dpi.value() / MM_PER_INCH)

    def scenario(self) -> RunFilm:
        """Return the film that is asked for.

        Raises:
            AttnlabError: steps or a size that cannot be.
        """
        first, last = self.first.value(), self.last.value()
        moments = [each for each in self._moments if first <= each.step <= last]
        if not moments:
            raise AttnlabError(f"No moment is recorded from step {first:,} to step {last:,}.")
        return RunFilm(
            self._run.spec, tuple(spread(moments, self.frames.value())), self._seen.probe, self._title,
            self.maps.currentData(), self._width_px(), self.fps.value(), self.ground.currentData(),
            self.colours.currentData(),
        )  # fmt: skip

    @Slot()
    def _on_unit_chosen(self) -> None:
        in_px = self.unit.currentData() == "px"
        self.dpi.setEnabled(not in_px)
        self.breadth.setRange(*(SIZES_PX if in_px else SIZES_MM))
        self.breadth.setValue(960 if in_px else 120)

    @Slot()
    def _on_soon(self) -> None:
        """Take over what the fields say, or say why that cannot be."""
        if self.slices.running:
            return
        try:
            self._scenario = self.scenario()
            film = self._scenario.film(self._seen.look)
            if self.format.currentData() != FOLDER:
                check_film(film.size, self._scenario.count, self._scenario.fps, self.format.currentData())
        except AttnlabError as error:
            self._scenario = None
            self.save_button.setEnabled(False)
            self.frame.show_frame(None)
            self._say(str(error))
            return
        if not self.save_button.isEnabled():
            self._say("")
        self.save_button.setEnabled(True)
        count, seconds = self._scenario.count, self._scenario.count / self._scenario.fps
        frames = f"{count} frames" if count != 1 else "1 frame"
        self.info.setText(f"{frames} · {seconds:.3g} s · {film.size[0]} × {film.size[1]} pixels")
        self.place.blockSignals(True)
        self.place.setRange(0, count - 1)
        self.place.blockSignals(False)
        self._look()

    @Slot()
    def _look(self) -> None:
        if self._scenario is not None and not self.slices.running:
            self._looking.start(self._shown(self._scenario, self.place.value()))

    def _shown(self, scenario: RunFilm, frame: int) -> Iterator[None]:
        with ThreadPoolExecutor(1) as worker:
            look = yield from waited(worker.submit(scenario.trace, frame))
            self.frame.show_frame(scenario.image(scenario.film(look), look, frame))

    @Slot(str)
    def _on_looked(self, error: str) -> None:
        if error:
            self._say(error)
        self.previewed.emit()

    @Slot()
    def ask_save(self) -> None:
        """Ask where, and write."""
        ending = self.format.currentData()
        name = "-".join("".join(c if c.isalnum() else " " for c in self._title.lower()).split())
        if ending == FOLDER:
            dialog = QFileDialog(self, "A folder for the pictures")
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.fileSelected.connect(lambda path: self.write_film(Path(path)))
            dialog.open()
        else:
            ask_where(self, "Export film", f"{FORMATS[ending]} (*{ending})", name + ending, self.write_film)

    def write_film(self, path: Path) -> None:
        """Write the film to a file, or its frames into a folder."""
        if self._scenario is None:
            return
        self._looking.stop()
        ending = self.format.currentData()
        film = self._scenario.film(self._seen.look)
        self._path = path if path.suffix or ending == FOLDER else path.with_suffix(ending)
        made = Pictures if ending == FOLDER else Filming
        self._filming = made(self._scenario, self._path, film)
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
    def _on_progressed(self) -> None:
        if self._filming is not None:
            self.progress.setValue(self._filming.done)

    @Slot(str)
    def _on_finished(self, error: str) -> None:
        self._show_progress(0)
        self._say(error or f"Saved {self._path}", "" if error else worn().muted)
        if not error:
            self.saved.emit(self._path)

    @Slot()
    def _on_stopped(self) -> None:
        self._show_progress(0)
        kept = isinstance(self._filming, Pictures) and self._filming.done
        self._say(f"Cancelled after {kept} pictures." if kept else "Cancelled; nothing was written.", worn().muted)

    def done(self, result: int) -> None:
        self._soon.stop()
        self.slices.stop()
        self._looking.stop()
        super().done(result)


def _number(least: int, most: int, value: int) -> NumberBox:
    box = NumberBox()
    box.setRange(least, most)
    box.setValue(value)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    return box
