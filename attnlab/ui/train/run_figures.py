"""The figures of a run beside its maps: its curves, and what the model answers, predicts and writes."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from attnlab.figures.diagram.scene import Label, Scene
from attnlab.ui.export.file_name import make_slug
from attnlab.ui.train.answer_card import OWN, color_tokens
from attnlab.ui.train.answer_scene import draw_answer, draw_examples, draw_text, wrap_text
from attnlab.ui.train.maps_head import INSIDE
from attnlab.ui.train.scene_export import SceneExport
from attnlab.ui.train.stream_scene import draw_parts, draw_stages
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.plot_scene import Plot, draw_plot, read_plot

if TYPE_CHECKING:
    from attnlab.training.specs import RunSpec
    from attnlab.ui.train.train_workspace import TrainWorkspace

CURVES_WIDTH, ANSWERS_WIDTH, INSIDE_WIDTH, MARGIN, GAP, TITLE = 520.0, 720.0, 860.0, 16.0, 14.0, 26.0
"""Widths of the three figures, their margins, the space between parts and the height of a title’s line, in units."""
NO_CURVES = "There are no curves to export yet; train a model first."
NO_ANSWER = "There is no answer to export yet."


class RunFigures:
    """Exports the curves and the answers that a workspace shows, under the heading of its run."""

    def __init__(
        self, workspace: "TrainWorkspace", export: SceneExport, make_heading: "Callable[[RunSpec], str]"
    ) -> None:
        self._workspace, self._export, self._make_heading = workspace, export, make_heading

    def ask_curves(self) -> None:
        """Ask where to save the curves, as they are shown: enlarged, logarithmic, with other runs; or their numbers."""
        if not self.read_plots():
            self._workspace.footer.show_message(NO_CURVES)
            return
        from attnlab.training.curve_table import encode_curves

        title, run = self._make_curves_title(), self._workspace.session.run
        write_table = partial(encode_curves, run) if run is not None else None
        self._export.ask("the curves", f"{make_slug(title)}-curves", self.draw_curves, f"{title}, curves", write_table)

    def ask_answers(self) -> None:
        """Ask where to save the answer to the probe, the examples and the text that the model writes."""
        if self._workspace.maps.seen is None:
            self._workspace.footer.show_message(NO_ANSWER)
            return
        title = self._make_step_title()
        self._export.ask("the answers", f"{make_slug(title)}-answers", self.draw_answers, f"{title}, answers")

    @property
    def is_inside_visible(self) -> bool:
        """Whether the page Inside is shown in place of the maps, with something to draw."""
        maps = self._workspace.maps
        return maps.page == INSIDE and maps.inside.stream is not None and bool(maps.inside.stream.stages)

    def ask_inside(self) -> None:
        """Ask where to save what the page Inside shows."""
        title = self._make_step_title()
        self._export.ask("the inside", f"{make_slug(title)}-inside", self.draw_inside, f"{title}, inside")

    def copy_inside(self) -> None:
        """Copy what the page Inside shows as pixels and as SVG."""
        self._export.copy("the inside", self.draw_inside(), f"{self._make_step_title()}, inside")

    def read_plots(self) -> tuple[Plot, ...]:
        """Return what the charts of the workspace show."""
        curves, course = self._workspace.curves, self._workspace.maps.chart
        charts: list[tuple[LineChart, str]] = [
            (curves.loss, "Loss"),
            (curves.gradients, "Norm of each layer’s gradient"),
        ]
        charts += [(curves.right, "Held-out tokens correct"), (curves.lengths, "Held-out examples correct, by length")]
        plots = [read_plot(chart, title) for chart, title in charts if not chart.isHidden() and _has_points(chart)]
        if _has_points(course.chart):
            plots.append(read_plot(course.chart, f"Each head: {course.measure}"))
        return tuple(plots)

    def draw_curves(self) -> Scene:
        """Return the scene of all curves, below one another."""
        return stack_scenes(self._make_curves_title(), [draw_plot(plot, CURVES_WIDTH) for plot in self.read_plots()])

    def draw_answers(self) -> Scene:
        """Return the scene of the answer, the examples and the text."""
        seen, text = self._workspace.maps.seen, self._workspace.text
        assert seen is not None
        answer, own = seen.look.answer, self._workspace.maps.answer.mode == OWN
        parts = []
        if answer.places or answer.numbers:
            tokens = color_tokens(answer) if not answer.written else ()
            parts.append(draw_answer(answer, tokens, own=own, step=seen.look.step, width=ANSWERS_WIDTH))
        parts.append(draw_examples(self._workspace.written.rows, ANSWERS_WIDTH))
        if not text.isHidden() and text.text.text():
            parts.append(draw_text("Generated text", text.text.text(), ANSWERS_WIDTH))
        return stack_scenes(f"{self._make_step_title()}: {seen.probe}", [part for part in parts if part.height])

    def draw_inside(self) -> Scene:
        """Return the scene of the answers after each layer, and of the parts at the chosen place."""
        page, seen = self._workspace.maps.inside, self._workspace.maps.seen
        assert page.stream is not None
        parts = [draw_stages(page.stream, INSIDE_WIDTH), draw_parts(page.stream, page.chosen, INSIDE_WIDTH)]
        probe = f": {seen.probe}" if seen is not None else ""
        return stack_scenes(f"{self._make_step_title()}{probe}", parts)

    def _make_title(self) -> str:
        session = self._workspace.session
        return self._make_heading(session.run.spec if session.run is not None else session.spec)

    def _make_curves_title(self) -> str:
        """Return the title of the curves: the task alone while they are those of a queue only."""
        from attnlab.training.tasks import TASKS

        session = self._workspace.session
        return self._make_title() if session.run is not None else TASKS[session.spec.task].title

    def _make_step_title(self) -> str:
        seen = self._workspace.maps.seen
        return f"{self._make_title()}, step {seen.look.step if seen is not None else 0:,}"


def _has_points(chart: LineChart) -> bool:
    return any(len(line.x) for line in chart.lines)


def stack_scenes(title: str, parts: list[Scene]) -> Scene:
    """Return scenes below a title, with margins."""
    width = max((part.width for part in parts), default=CURVES_WIDTH)
    whole, y = Scene(width + 2 * MARGIN), MARGIN
    for line in wrap_text(title, "title", width):
        whole.add(Label(MARGIN, y + TITLE / 2 - 4, line, "title", "ink"))
        y += TITLE
    for part in parts:
        whole.put(part, MARGIN, y)
        y += part.height + GAP
    whole.height = y - GAP + MARGIN
    return whole
