"""Walks a lesson frame by frame: sets each slide's state and view in the document, and emits the place."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from attnlab.attention.stages import walk
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.walk import Place
from attnlab.document.document import Document
from attnlab.document.scene import Scene
from attnlab.lessons.lesson import Lesson

if TYPE_CHECKING:
    from attnlab.lessons.slides import Slide

WHOLE: tuple[Place | None, ...] = (None,)


class LessonPlayer(QObject):
    """Owns the open lesson, its slides, and the current frame.

    The experiments of all slides are made when the lesson opens, so that a key only exchanges values. The user's edits
    on the way are ordinary edits of the document; entering a slide restores the slide's own state.
    """

    slide_changed = Signal(object)
    """A Slide was entered, or None: the lesson was closed."""
    frame_changed = Signal(object)
    """The Place up to which all is revealed, or None for all."""
    answer_changed = Signal()
    """A number that is asked for, or the text after the reveal, was uncovered or covered again."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._lesson: Lesson | None = None
        self._slides: tuple[Slide, ...] = ()
        self._index = self._frame = 0
        self._frames = WHOLE
        self._hidden: tuple[Cell, ...] = ()
        self._answered = True
        self._moving = self._away = False
        self._leads = 0
        self._opening = 0
        document.scene_changed.connect(self._on_scene_changed)

    @property
    def lesson(self) -> Lesson | None:
        """The open lesson."""
        return self._lesson

    @property
    def slides(self) -> "tuple[Slide, ...]":
        """All slides of the open lesson."""
        return self._slides

    @property
    def slide(self) -> "Slide | None":
        """The current slide."""
        return self._slides[self._index] if self._slides else None

    @property
    def frames(self) -> tuple[Place | None, ...]:
        """The frames of this slide for the open experiment; an edit may have changed their number."""
        return self._frames

    @property
    def frame_index(self) -> int:
        """The index of the current frame of the slide."""
        return self._frame

    @property
    def frame(self) -> Place | None:
        """The place up to which all is revealed; None for all, and without a lesson."""
        return self._frames[self._frame]

    @property
    def hidden(self) -> tuple[Cell, ...]:
        """The cells of the slide's question that are still covered."""
        return self._hidden

    @property
    def answered(self) -> bool:
        """Whether the text after the reveal is shown: at the last frame, with nothing left to uncover."""
        return self._answered and self._frame == len(self._frames) - 1

    def will_answer(self, frame: int) -> bool:
        """Return whether the text after the reveal is shown at another frame of the slide."""
        return self._answered and frame == len(self._frames) - 1

    @property
    def asking(self) -> bool:
        """Whether the next key uncovers an answer: that of a question, or a text that no frame reveals."""
        return not self._answered and self._frame == len(self._frames) - 1

    @property
    def leads(self) -> bool:
        """Whether the document is changing because the lesson shows another place."""
        return self._leads > 0

    @contextmanager
    def _lead(self) -> Iterator[None]:
        self._leads += 1
        try:
            yield
        finally:
            self._leads -= 1

    @property
    def elsewhere(self) -> bool:
        """Whether another experiment was opened since the slide was entered; the slide's text is not about it."""
        return bool(self._slides) and self._document.history.current.opening != self._opening

    @property
    def at_end(self) -> bool:
        """Whether this frame is the last, with every answer shown; also without a lesson."""
        return self._index >= len(self._slides) - 1 and self._frame == len(self._frames) - 1 and self._answered

    @property
    def at_start(self) -> bool:
        """Whether this frame is the first, with every answer covered; also without a lesson."""
        return self._index == self._frame == 0 and not self.can_cover

    def open(self, lesson: Lesson, step: int = 0) -> None:
        """Make the slides of a lesson and show the first frame of one; a lesson without steps shows nothing.

        One undo returns to the earlier experiment, and its file is never overwritten by the lesson's states.
        """
        from attnlab.lessons.slides import make_slides  # nothing of lessons is loaded before one is opened

        self._lesson, self._slides = lesson, make_slides(lesson)
        self._index = self._frame = 0
        self._frames = WHOLE
        if self._slides:
            self._enter(step)
        else:
            self.slide_changed.emit(None)

    def resume(self, lesson: Lesson, step: int, frame: int) -> None:
        """Return to the nearest existing frame of a slide, without setting its state: the session restored it."""
        from attnlab.lessons.slides import make_slides

        self._lesson, self._slides = lesson, make_slides(lesson)
        self._index = min(max(step, 0), len(self._slides) - 1)
        slide = self._slides[self._index]
        self._opening, self._away = self._document.history.current.opening, False
        self._frames = self._find_frames(slide)
        self._frame = min(max(frame, 0), len(self._frames) - 1)
        self._ask(slide)
        self.slide_changed.emit(slide)
        self.frame_changed.emit(self.frame)

    def close(self) -> None:
        """Close the lesson; its slide's state stays open, fully revealed."""
        if self._lesson is None:
            return
        self._lesson, self._slides = None, ()
        self._index = self._frame = 0
        self._frames, self._away = WHOLE, False
        self._hidden, self._answered = (), True
        self._document.show(at=None)
        self.slide_changed.emit(None)

    @Slot()
    def go_next(self) -> None:
        """Go to the next frame, after the last one uncover the answer, then go to the next slide's first frame.

        At the end do nothing. If another experiment is open, return to this slide first, as when going back.
        """
        if self.elsewhere:
            self.return_here()
        elif self._frame < len(self._frames) - 1:
            self._show_frame(self._frame + 1)
        elif self.asking:
            self.reveal()
        elif self._index < len(self._slides) - 1:
            self._enter(self._index + 1)

    @Slot()
    def go_back(self) -> None:
        """Cover an answer again, then go to the previous frame, before the first one to the previous slide's last.

        At the start do nothing.
        """
        if self.elsewhere:
            self.return_here()
        elif self.can_cover:
            self.cover()
        elif self._frame > 0:
            self._show_frame(self._frame - 1)
        elif self._index > 0:
            self._enter(self._index - 1, last=True)

    @property
    def can_cover(self) -> bool:
        """Whether the key back covers an answer again."""
        slide = self.slide
        if slide is None or self._frame < len(self._frames) - 1 or not slide.blanks:
            return slide is not None and self.answered and self._has_lone_answer(slide)
        return self._hidden != slide.blanks

    def reveal(self, cell: Cell | None = None) -> None:
        """Uncover one number that is asked for, or all of them with the text after the reveal."""
        hidden = tuple(each for each in self._hidden if cell is not None and each != cell)
        if hidden == self._hidden and self._answered == (not hidden):
            return
        self._hidden, self._answered = hidden, not hidden
        self._show_place()
        self.answer_changed.emit()

    @Slot()
    def finish(self) -> None:
        """Show the rest of the slide, with its answers."""
        self._show_frame(len(self._frames) - 1)
        self.reveal()

    def cover(self) -> None:
        """Cover the answers of the slide again."""
        slide = self.slide
        if slide is not None:
            self._ask(slide)
            self._show_place()
            self.answer_changed.emit()

    def _ask(self, slide: "Slide", *, answered: bool = False) -> None:
        """Cover the answers of a slide, or show them."""
        self._hidden = () if answered else slide.blanks
        self._answered = not self._hidden and (answered or not self._has_lone_answer(slide))

    def _has_lone_answer(self, slide: "Slide") -> bool:
        """Whether a slide has an answer, in words or to choose, but no cells or frames to reveal before it."""
        return slide.step.has_answer and not slide.blanks and len(self._frames) == 1

    def _show_place(self) -> None:
        """Hide in the document what is not revealed: the answers, else the rest of the walk."""
        asked = walk.make_question_place(self._hidden) if self._frame == len(self._frames) - 1 else None
        with self._lead():
            self._document.show(at=asked or self.frame)

    @Slot()
    def skip(self) -> None:
        """Skip the remaining frames and go to the next slide; on the last slide to its last frame."""
        if self._index < len(self._slides) - 1:
            self._enter(self._index + 1)
        else:
            self._show_frame(len(self._frames) - 1)

    @Slot()
    def return_here(self) -> None:
        """Restore the state of this slide after another experiment was opened."""
        self.go(self._index)

    @Slot()
    def go_first(self) -> None:
        """Go to the first frame of the first slide."""
        self.go(0)

    @Slot()
    def go_last(self) -> None:
        """Go to the first frame of the last slide."""
        self.go(len(self._slides) - 1)

    @Slot(int)
    def go(self, step: int) -> None:
        """Go to the first frame of a slide, counted from 0; out of range, of the nearest slide."""
        if self._slides:
            self._enter(step)

    def _enter(self, index: int, *, last: bool = False) -> None:
        self._index = min(max(index, 0), len(self._slides) - 1)
        slide = self._slides[self._index]
        self._moving = True
        try:
            with self._lead():
                self._bring_state(slide)
        finally:
            self._moving = self._away = False
        self._opening = self._document.history.current.opening
        self._frames = self._find_frames(slide)
        self._frame = len(self._frames) - 1 if last else 0
        self._ask(slide, answered=last)
        depth = slide.step.depth if slide.step.depth in walk.DEPTHS else "stage"
        head, cell = slide.head, slide.cell
        with self._lead():
            self._document.show(
                head=head, cell=cell, pinned=cell is not None, alone=None, depth=depth, at=self.frame, look="present"
            )
        self._show_place()
        self.slide_changed.emit(slide)
        self.frame_changed.emit(self.frame)

    def _bring_state(self, slide: "Slide") -> None:
        """Open a slide’s experiment, unless it is open, as an undoable step that needs no saving."""
        experiment = slide.experiment
        assert self._lesson is not None
        if experiment is None or experiment is self._document.experiment:
            return
        now = self._document.scene
        scene = Scene(experiment, self._lesson.title, self._find_preset(slide.index), now.device, now.dtype)
        self._document.open(slide.step.title, scene)

    def _find_preset(self, index: int) -> str:
        """Return the preset at the beginning of a step's state, "" for none."""
        assert self._lesson is not None
        began = (step for step in reversed(self._lesson.steps[: index + 1]) if step.begins_anew)
        return next((step.preset or "" for step in began), "")

    def _find_frames(self, slide: "Slide") -> tuple[Place | None, ...]:
        e = self._document.experiment
        if e is slide.experiment:
            return slide.frames or WHOLE
        if slide.stage not in BY_NAME or not BY_NAME[slide.stage].present(e):
            return WHOLE
        cell = None if slide.cell is None else (slide.cell.row, slide.cell.column)
        return walk.frames(e, slide.stage, slide.step.depth or "all", cell) or WHOLE

    def _show_frame(self, frame: int) -> None:
        if frame != self._frame:
            self._frame = frame
            self._show_place()
            self.frame_changed.emit(self.frame)

    @Slot(object)
    def _on_scene_changed(self, _: object) -> None:
        """Update the frames for the open experiment: an edit may add a row, or remove the stage."""
        slide = self.slide
        if slide is None or self._moving:
            return
        if self.elsewhere:
            if not self._away:
                self._away = True
                self._document.show(at=None)
            return
        if self._away:
            self._away = False
            self._show_place()
        shown, frames = self.frame, self._find_frames(slide)
        if frames == self._frames:
            return
        self._frames = frames
        self._frame = frames.index(shown) if shown in frames else len(frames) - 1
        self._show_place()
        self.frame_changed.emit(self.frame)
