"""The dialog for a film of a sweep: settings at the left, any frame of the film at the right."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Slot

from attnlab.figures.films.film_file import check_film
from attnlab.figures.films.film_frame import Film, Survey
from attnlab.ui.base.jobs import Lane
from attnlab.ui.base.slices import Call
from attnlab.ui.base.workspace import Host
from attnlab.ui.export.film_choices import keep, recall
from attnlab.ui.export.film_window import FilmWindow
from attnlab.ui.export.filming import Scenario, survey_frames
from attnlab.ui.export.sweep_form import REMEMBERED, SweepForm

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground

KIND = "sweep"


class SweepDialog(FilmWindow):
    """Makes films of a window's playground, which stays usable."""

    def __init__(self, playground: "Playground", window: Host) -> None:
        form = SweepForm()
        super().__init__("Export a film of a sweep", form, window)
        self.form, self._playground = form, playground
        self._swept: Scenario | None = None
        recall(window.settings.figure, KIND, self.form, REMEMBERED)
        playground.computed.connect(self._on_computed)
        self.form.changed.connect(self.take_soon)
        self.saver.started.connect(lambda: keep(window, KIND, self.form, REMEMBERED))
        self.saver.ended.connect(self._on_ended)
        self._on_computed()

    def read_film(self) -> tuple[Scenario, Film | None]:
        self._swept = None
        self._swept = self.form.make_scenario(self._playground.document.scene)
        check_film((2, 2), 2, self._swept.fps, self.form.ending)
        return self._swept, None

    def survey(self, trace: Any, frame: int, lane: Lane) -> Generator[Call[Any] | None, Any, Film]:
        """Show the frame at once on its own, while all frames are surveyed."""
        assert self._swept is not None
        alone = Survey(self._swept.spec)
        alone.add(trace)
        self.frame.show_frame(self._swept.draw_image(alone.film(), trace, frame))
        yield None
        return (yield from survey_frames(self._swept, lane))

    def suggest_name(self) -> tuple[str, str]:
        key = self._swept.sweep.key if self._swept is not None else "sweep"
        return "".join(c if c.isalnum() or c == "_" else "-" for c in key).strip("-"), self.form.ending

    @Slot()
    def _on_computed(self, *_: object) -> None:
        """List what can be swept in the present state."""
        reply = self._playground.reply
        if reply is not None and reply.trace is not None and not self.saver.working:
            self.form.show_trace(reply.trace, self._playground.current_stage, self._playground.document.view.head)

    @Slot()
    def _on_ended(self) -> None:
        """Apply changes made in the window while the film was written."""
        if self._swept is not None and self._swept.experiment is not self._playground.document.experiment:
            self._on_computed()


def open_sweep_dialog(playground: "Playground", window: Host) -> None:
    """Open the dialog; the playground stays usable."""
    dialog = window.findChild(SweepDialog)
    if dialog is None:
        dialog = SweepDialog(playground, window)
    dialog.show()
    dialog.activateWindow()
