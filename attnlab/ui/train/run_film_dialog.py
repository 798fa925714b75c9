"""The dialog of a training's film: its settings at the left, any frame at the right."""

from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFileDialog

from attnlab.base.errors import AttnlabError
from attnlab.figures.films.film_file import check_film
from attnlab.figures.films.film_frame import Film
from attnlab.training.run import Run
from attnlab.ui.base.themed_window import ThemedWindow
from attnlab.ui.export.file_name import make_slug
from attnlab.ui.export.film_choices import keep, recall
from attnlab.ui.export.film_saver import Job
from attnlab.ui.export.film_window import FilmWindow
from attnlab.ui.export.filming import Filmed
from attnlab.ui.train.inspector import Seen, choose_evenly
from attnlab.ui.train.run_film import Choice, Pictures, RunFilm
from attnlab.ui.train.run_film_form import FOLDER, REMEMBERED, FilmForm
from attnlab.ui.widgets.charts.plot_scene import Plot

KIND = "film"
WEIGHTS = "The film shows the attention weights, also while the window shows gradients."


class FilmDialog(FilmWindow):
    """Makes a film of a run's moments, for the current probe."""

    def __init__(self, run: Run, seen: Seen, title: str, window: ThemedWindow, plots: tuple[Plot, ...] = ()) -> None:
        maps = [
            (f"{each.layer} · head {head}", Choice(each.layer, head))
            for each in seen.look.maps
            for head in range(len(each.weights))
        ]
        moments = run.recorder.moments
        form = FilmForm(maps, moments)
        super().__init__("Export film", form, window)
        self._run, self._moments, self._seen, self._title, self.form = run, moments, seen, title, form
        self._plots = plots
        recall(window.settings.figure, KIND, form, REMEMBERED)
        form.changed.connect(self.take_soon)
        self.saver.started.connect(lambda: keep(window, KIND, form, REMEMBERED))
        self.take()
        self.place.setValue(self.place.maximum())

    def read_film(self) -> tuple[RunFilm, Film]:
        form = self.form
        first, last = form.whole("first"), form.whole("last")
        moments = [each for each in self._moments if first <= each.step <= last]
        if not moments:
            raise AttnlabError(f"No moment is recorded from step {first:,} to step {last:,}.")
        scenario = RunFilm(
            self._run.spec,
            tuple(choose_evenly(moments, form.whole("frames"))),
            self._seen.probe,
            self._title,
            form.maps,
            form.width_px,
            form.whole("fps"),
            str(form.value("ground")),
            str(form.value("colours")),
            self._plots if form.has_curves else (),
            form.has_answer,
            self._run.heads_before,
        )
        film = scenario.film(self._seen.look)
        if form.ending != FOLDER:
            check_film(film.size, scenario.count, scenario.fps, form.ending)
        return scenario, film

    def _tell(self) -> None:
        super()._tell()
        if self._seen.gradients and self.info.text():
            self.info.setText(f"{self.info.text()}\n{WEIGHTS}")

    def suggest_name(self) -> tuple[str, str]:
        return make_slug(self._title), self.form.ending

    def make_job(self, scenario: Filmed, path: Path) -> Job:
        if self.form.ending != FOLDER:
            return super().make_job(scenario, path)
        assert isinstance(scenario, RunFilm)
        assert self._film is not None
        return Pictures(scenario, path, self._film, self.lane)

    @Slot()
    def ask_save(self) -> None:
        """Ask for a file, or for a folder."""
        if self.form.ending != FOLDER:
            super().ask_save()
            return
        dialog = QFileDialog(self, "Choose a folder for the pictures")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self.write_film(Path(path)))
        dialog.open()
