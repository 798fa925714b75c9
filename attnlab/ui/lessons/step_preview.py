"""The preview of a step: its text with its numbers, and its problems; computed in the worker."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from attnlab.base.errors import AttnlabError
from attnlab.lessons.legible_words import warn_of_words
from attnlab.lessons.lesson import Lesson, Step
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.jobs import run
from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.lessons.preview_lens import PreviewLens
from attnlab.ui.present.slide_view import SlideView

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.slides.slide_content import SlideContent
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground

DRAWN_HEIGHT = 720
"""The height for which slides are laid out in the editor: that of a small projector."""


@dataclass(frozen=True, slots=True, eq=False)
class SlideShown:
    """The slide of a step with everything revealed: its content, the one with its map if it has a lens, its numbers."""

    slide: "Slide"
    trace: "Trace"
    content: "SlideContent"
    map_slide: "SlideContent"


@dataclass(frozen=True, slots=True)
class Previewed:
    """A step's text with its numbers, the sentences about its problems, and its slide."""

    text: str
    wrong: tuple[str, ...]
    shown: SlideShown | None = None


def preview_step(lesson: Lesson, index: int) -> Previewed:
    """Compute a step of a lesson, fill its text, and list its problems. Runs on any thread."""
    from attnlab.compute.engine import compute
    from attnlab.lessons.slides import check, fill_text, make_slides

    step = lesson.steps[index]
    slide = make_slides(lesson)[index]
    texts = step.text, step.answer
    if slide.experiment is not None and any("{{" in text or "{=" in text for text in texts):
        before = compute(slide.before or slide.experiment, "cpu", "float32")
        now = compute(slide.experiment, "cpu", "float32")
        texts = fill_text(step.text, now, before, slide, True), fill_text(step.answer, now, before, slide, True)
    marked = replace(lesson, problems=(), steps=tuple(_set_line_numbers(s, i) for i, s in enumerate(lesson.steps)))
    wrong = [problem.reason for problem in check(marked) if problem.line == index]
    wrong += filter(None, map(warn_of_words, ("The text", "The text after the reveal"), texts))
    return Previewed("\n\n".join(filter(None, texts)), tuple(wrong), _make_slide(slide))


def _make_slide(slide: "Slide") -> SlideShown | None:
    """Return the slide of a step with its numbers; None if it shows the open experiment or cannot be computed."""
    from attnlab.compute.engine import check_size, compute
    from attnlab.ui.present.content import Moment, make_content

    if slide.experiment is None:
        return None
    try:
        check_size(slide.experiment)
        now = compute(slide.experiment, "cpu", "float32")
        before = now if slide.before in (None, slide.experiment) else compute(slide.before, "cpu", "float32")
    except AttnlabError:
        return None
    map_slide = make_content(slide, now, before, Moment())
    content = make_content(slide, now, before, Moment(lens=True)) if slide.step.lens else map_slide
    return SlideShown(slide, now, content, map_slide)


def _set_line_numbers(step: Step, index: int) -> Step:
    """Return a step whose line numbers are its index in the lesson, to match problems to it."""
    question = replace(step.question, line=index) if step.question is not None else None
    edits = tuple(replace(edit, line=index) for edit in step.edits)
    lines = (index,)
    return replace(
        step, question=question, edits=edits, line=index, text_lines=lines, notes_lines=lines, answer_lines=lines, at=()
    )


class Preview(QFrame):
    """Shows a step's filled text; emits a signal when it is ready."""

    filled = Signal()

    def __init__(self, playground: "Playground", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._playground = playground
        self._last: tuple[Lesson, int] | None = None
        self.setAccessibleName("Preview")
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 2, 10, 2)
        column.setSpacing(4)
        self.text = MarkdownLabel()
        self.wrong = QLabel()
        self.wrong.setTextFormat(Qt.TextFormat.PlainText)
        self.wrong.setWordWrap(True)
        self.wrong.setProperty("role", "error_caption")
        self.wrong.setAccessibleName("Problems of the step")
        for label in (self.text, self.wrong):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            column.addWidget(label)
        self.wrong.hide()
        self.picture = SlideView()
        self.picture.framed = self.picture.reduced_motion = True
        self.picture.drawn_height = DRAWN_HEIGHT
        self.picture.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.picture.setToolTip("The slide of this step, with everything revealed")
        self._shown: SlideShown | None = None
        self.lens = PreviewLens(playground, self.picture)
        self.lens.ready.connect(self._show_slide)

    @property
    def is_empty(self) -> bool:
        """Whether the step has neither text nor problems."""
        return not self.text.markdown and not self.wrong.text()

    def show_step(self, lesson: Lesson, index: int) -> None:
        """Show a step of a lesson when it is computed; only the newest request is shown."""
        if self._last is not None and self._last[0] is lesson and self._last[1] == index:
            return
        self._last = lesson, index
        run(
            preview_step,
            lesson,
            index,
            on_done=self._show,
            on_failed=self._on_failed,
            latest=(self, "preview"),
            lane=self._playground.lane,
            owner=self,
            doing="computing the step",
        )

    def _on_failed(self, sentence: str) -> None:
        self._last = None
        self._show(Previewed("", (sentence,)))

    def _show(self, result: Previewed) -> None:
        self.text.show_markdown(result.text)
        self.text.setVisible(bool(result.text))
        show_text(self.wrong, "\n".join(result.wrong))
        self.wrong.setVisible(bool(result.wrong))
        self._shown = result.shown
        self.picture.setVisible(result.shown is not None)
        self._show_slide()
        self.filled.emit()

    @Slot()
    def _show_slide(self) -> None:
        if (shown := self._shown) is not None:
            self.lens.show_slide(shown.slide, shown.trace, shown.content, shown.map_slide)
