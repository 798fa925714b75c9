"""The content of the current slide, as a value: follows the player and the numbers, and prepares the next slide."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.attention.stages.explanation import Cell
from attnlab.lessons.lenses import LENSES
from attnlab.ui.present.content import Moment, has_earlier_numbers, has_fixed_sentences
from attnlab.ui.present.content_cache import ContentCache
from attnlab.ui.present.prefetch import Prefetch
from attnlab.ui.present.slide_hints import DEPTHS, PROMPT, list_hints
from attnlab.ui.present.slide_lens import SlideLens
from attnlab.ui.present.slide_numbers import SlideNumbers
from attnlab.ui.present.votes import Votes

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.attention.stages.walk import Place
    from attnlab.figures.slides.lens_content import LensPicture
    from attnlab.figures.slides.slide_content import SlideContent
    from attnlab.lessons.slides import Slide
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.playground.playground import Playground

MOST_ANSWERS = 24
"""The most answers with fields at the right, scrolled if needed; more have only question marks."""


class Presenter(QObject):
    """Walks the lesson with its questions, and emits the content of each slide, shown now or prepared ahead."""

    content_changed = Signal(object, bool)
    """A SlideContent, and whether it only reveals more than the one before, so that it may fade in."""
    prepared = Signal(object)
    """A SlideContent that the next key, forward or back, will show."""
    rested = Signal()
    """All slides are ready: less urgent work may start."""
    settled = Signal()
    """The walk and the document are up to date: the parts beside the slide can be placed."""
    slide_entered = Signal()

    def __init__(self, playground: "Playground", player: "LessonPlayer", parent: QObject) -> None:
        super().__init__(parent)
        self._playground, self.player = playground, player
        self._ahead = Prefetch(playground, self)
        self.numbers = SlideNumbers(playground, player, self._ahead)
        self.lens = SlideLens(playground, self)
        self.lens.ready.connect(self._on_ready)
        self._index = -1
        self.table = self._answering = False
        self.sheets = True
        self._votes = Votes()
        self._content: SlideContent | None = None
        self._contents = ContentCache(self._ahead.has_trace)
        self._left: list[Callable[[], SlideContent | None]] = []
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.timeout.connect(self._on_idle)
        player.slide_changed.connect(self._on_slide_changed)
        player.frame_changed.connect(self._on_frame_changed)
        player.answer_changed.connect(self._on_answer_changed)
        playground.computed.connect(self._on_computed)
        playground.document.scene_changed.connect(self._on_scene_changed)
        self._ahead.ready.connect(self._on_ready)

    def begin(self) -> None:
        """Show the player's current slide."""
        self._on_slide_changed(self.player.slide)

    def stop(self) -> None:
        """Stop preparing slides."""
        self._idle.stop()

    # The walk

    @property
    def slide(self) -> "Slide | None":
        """The current slide."""
        return self.player.slide

    @property
    def content(self) -> "SlideContent | None":
        """Its content."""
        return self._content

    @property
    def hidden(self) -> tuple[Cell, ...]:
        """The cells of the slide's question without an answer yet."""
        return self.player.hidden

    @property
    def asking(self) -> bool:
        """Whether the next key shows an answer."""
        return self.player.asking

    @property
    def sheet(self) -> bool:
        """Whether answers are typed at the right: if they are few, and until a key shows them all."""
        few = 0 < len(self.hidden) <= MOST_ANSWERS or self._answering
        return self.sheets and few and self._at_last_frame and not self._has_choices(self.slide)

    @property
    def is_tour(self) -> bool:
        """Whether the slides show the open experiment, so that their depth can be chosen."""
        return self.slide is not None and self.slide.experiment is None and self.slide.lesson.path is None

    @property
    def lens_ahead(self) -> str:
        """The title of the lens that the next key shows; "" for none."""
        slides, at = self.player.slides, self.player.slide
        if at is None:
            return ""
        ahead = at if self.asking or not self._at_last_frame else slides[min(at.index + 1, len(slides) - 1)]
        name, _, _ = (ahead.step.lens or "").partition("/")
        return LENSES[name].title if name in LENSES else ""

    @property
    def _at_last_frame(self) -> bool:
        return self.player.frame_index >= len(self.player.frames) - 1

    def go_next(self) -> None:
        """Go forward: to the next frame, then to the answers of a question, then to the next slide."""
        if self.slide is not None and self.lens.turned < self._count_words(self.slide):
            self.lens.turned += 1
            self.refresh(soft=True)
            return
        if self.asking:
            self._answering = False  # the key shows all answers: the fields close
        self._show_first(self.make_next_content())
        self.player.go_next()

    def go_back(self) -> None:
        """Go back the same way: answers are covered again."""
        if self.lens.turned and not self.player.can_cover:
            self.lens.turned -= 1
            self.refresh(soft=True)
            return
        self._show_first(self.make_previous_content())
        self.player.go_back()

    def _show_first(self, made: "SlideContent | None") -> None:
        """Show a key's result before its slower consequences: the document, the playground behind."""
        if made is not None and made is not self._content:
            self._content = made
            self.content_changed.emit(made, True)

    def reveal(self, cell: Cell | None = None) -> None:
        """Show one answer of the question, or all of them."""
        self._answering = cell is not None
        self.player.reveal(cell)

    @property
    def voting(self) -> bool:
        """Whether the audience votes for an answer: until it is shown."""
        return self._has_choices(self.slide) and not self.player.answered

    def vote(self, choice: int, by: int) -> bool:
        """Count a vote for an answer, or take it off; False unless there is a vote for this answer."""
        slide = self.slide
        if slide is None or not self.voting or not self._votes.count(slide, choice, by):
            return False
        self.refresh()
        return True

    def _has_choices(self, slide: "Slide | None") -> bool:
        return slide is not None and self._votes.find(slide) is not None

    def deepen(self) -> str:
        """Walk a tour in smaller steps; after the smallest come whole stages again. Return why not, "" if done."""
        slide = self.slide
        if slide is None or not self.is_tour:
            return "A lesson sets the size of its own steps."
        from attnlab.lessons.tour import make_tour

        depth = slide.step.depth if slide.step.depth in DEPTHS else "stage"
        following = DEPTHS[(DEPTHS.index(depth) + 1) % len(DEPTHS)]
        self.player.open(make_tour(self._playground.document.experiment, following), slide.index)
        return ""

    # Content

    def refresh(self, *, soft: bool = False) -> None:
        """Show the current content, unless it is shown already."""
        slide = self.slide
        if slide is None:
            return
        player = self.player
        moment = self._make_moment(
            slide,
            player.frame,
            self._at_last_frame,
            player.hidden,
            self.numbers.changed,
            player.answered,
            self.lens.turned,
        )
        lens = moment.lens and not self.table  # with a table, the map is shown to see the effect of edits
        moment = replace(moment, sheet=self.sheet, table=self.table, lens=lens)
        made = self._make_content(slide, self.numbers.find_trace(), moment)
        if made is not self._content:
            self._content = made
            self.content_changed.emit(made, soft)
        self.settled.emit()
        self._left = (
            [] if self.table else [self.make_next_content, self.make_previous_content]
        )  # these would delay a drag
        self._idle.start(0)

    def _make_content(self, slide: "Slide", trace: "Trace | None", moment: Moment) -> "SlideContent":
        before = self.numbers.find_earlier_trace(slide, trace)
        own = self.numbers.find_own_trace(slide, trace) if moment.changed else None
        picture = self._find_picture(slide, trace, moment)
        return self._contents.find(slide, trace, before, own, picture, moment)

    def _find_picture(self, slide: "Slide", trace: "Trace | None", moment: Moment) -> "LensPicture | None":
        """Return what the lens of a slide shows, as far as it may; computed for the current slide only, and ahead."""
        picture = self.lens.find_picture(slide, trace, wanted=slide is self.slide) if moment.lens else None
        return picture if moment.answered or self.lens.begins_before_answer(slide) else None

    @property
    def is_drawn(self) -> bool:
        """Whether the lens of the slide is drawn, now or as soon as it is computed, not shown as in the window."""
        return self.slide is not None and self.lens.is_drawn(self.slide, self.numbers.find_trace())

    def _count_words(self, slide: "Slide") -> int:
        """Return how many words the lens of a slide walks; none while a table of numbers takes its place."""
        return 0 if self.table else self.lens.count_words(slide)

    def toggle_labels(self) -> str:
        """Hide or show the labels of the lens; return why not, "" if done."""
        if self.slide is None or not self.lens.toggle_labels(self.slide):
            return "Only the labels of turning arrows can be hidden."
        self.refresh()
        return ""

    def operate_lens(self) -> str:
        """Show the lens of the slide as in the window, where it can be operated, or as a picture again.

        A lens may show the answer to a question, so that it remains a picture until then. Return why it does, "" if
        it does not.
        """
        if self.slide is None or not self.slide.step.lens:
            return "This step has no lens."
        if not self.lens.is_operated and not self.player.answered:
            return "The lens can be operated once the answer is shown."
        self.lens.is_operated = not self.lens.is_operated
        self.refresh()
        return ""

    def make_next_content(self) -> "SlideContent | None":
        """Return the content after the next key; None at the end and while its numbers are computed."""
        slide, at = self.slide, self.player.frame_index
        if slide is None:
            return None
        if self.lens.turned < self._count_words(slide):
            return self._make_frame(slide, at, self.hidden, self.player.answered, self.lens.turned + 1)
        if self.asking:
            return self._make_frame(slide, at, (), True, self.lens.turned)
        if not self._at_last_frame:
            answered = self.player.will_answer(at + 1)
            return self._make_frame(slide, at + 1, self.hidden, answered)
        if slide.index + 1 >= len(self.player.slides):
            return None
        entered = self.player.slides[slide.index + 1]
        return self._make_end_frame(entered, 0, entered.blanks)

    def make_previous_content(self) -> "SlideContent | None":
        """Return the content after the key back; None at the beginning and while its numbers are computed."""
        slide, at = self.slide, self.player.frame_index
        if slide is None or self.player.at_start:
            return None
        if self.player.can_cover:
            return self._make_frame(slide, at, slide.blanks, False, self.lens.turned)
        if self.lens.turned:
            return self._make_frame(slide, at, self.hidden, self.player.answered, self.lens.turned - 1)
        if at > 0:
            return self._make_frame(slide, at - 1, self.hidden, False)
        entered = self.player.slides[slide.index - 1]
        return self._make_end_frame(entered, -1, ())

    def _make_frame(
        self, slide: "Slide", at: int, hidden: tuple[Cell, ...], answered: bool, turned: int = 0
    ) -> "SlideContent | None":
        """Return another frame of the current slide."""
        frames, trace = self.player.frames, self.numbers.find_trace()
        moment = self._make_moment(
            slide, frames[at], at == len(frames) - 1, hidden, self.numbers.changed, answered, turned
        )
        return None if trace is None else self._make_content(slide, trace, replace(moment, table=self.table))

    def _make_end_frame(self, slide: "Slide", at: int, hidden: tuple[Cell, ...]) -> "SlideContent | None":
        """Return the first or the last frame of another slide, in its own state."""
        frames = slide.frames or (None,)
        trace = self.numbers.find_entered_trace(slide)
        changed = slide.experiment is None and self.numbers.changed
        answered = at == -1 or (len(frames) == 1 and not hidden and not slide.step.has_answer)
        turned = self._count_words(slide) if at == -1 else 0
        moment = self._make_moment(slide, frames[at], at == -1 or len(frames) == 1, hidden, changed, answered, turned)
        return None if trace is None else self._make_content(slide, trace, moment)

    def _make_moment(
        self,
        slide: "Slide",
        place: "Place | None",
        at_last: bool,
        hidden: tuple[Cell, ...],
        changed: bool,
        answered: bool,
        turned: int,
    ) -> Moment:
        """Return the state of a slide, without a table of numbers."""
        votes = self._votes.find(slide)
        sheet = self.sheets and at_last and 0 < len(hidden) <= MOST_ANSWERS and votes is None
        lens = self.lens.usable and slide.step.lens is not None
        walks = turned < self._count_words(slide)
        choices = 0 if votes is None else len(votes)
        hints = list_hints(slide, place, choices, answered=answered, at_last=at_last, walks=walks)
        prompt = PROMPT if at_last and not answered and not walks else ""
        return Moment(
            place,
            hidden,
            changed,
            hints,
            prompt,
            sheet,
            lens=lens,
            answered=answered,
            votes=votes,
            turned=turned,
            labels=self.lens.labels,
        )

    @Slot()
    def _on_idle(self) -> None:
        """Request the numbers of the neighbouring slides, and prepare the next slide."""
        slides, slide = self.player.slides, self.slide
        if slide is None:
            return
        around = (slide.index, slide.index + 1, slide.index - 1, slide.index + 2)
        must = slide.before if has_earlier_numbers(slide) else None
        must = slide.experiment if must is None and self.numbers.changed and has_fixed_sentences(slide) else must
        self._ahead.want([slide.before, *(slides[i].experiment for i in around if 0 <= i < len(slides))], must)
        made = self._left.pop(0)() if self._left else None
        if made is not None:
            self.prepared.emit(made)
        if self._left:
            self._idle.start(0)  # so that a key pressed meanwhile is handled first
        else:
            self.rested.emit()

    @Slot(object)
    def _on_slide_changed(self, slide: object) -> None:
        entered = self.slide
        if entered is None:
            return
        backwards, self._index = entered.index < self._index, entered.index
        self.table = self._answering = False
        self.lens.enter(entered, at_end=backwards and self.player.answered)
        self.numbers.enter_slide()
        self.slide_entered.emit()
        self.refresh()

    @Slot(object)
    def _on_frame_changed(self, _: object) -> None:
        self.refresh(soft=True)

    @Slot()
    def _on_answer_changed(self) -> None:
        if self.slide is not None and self.hidden and self.hidden == self.slide.blanks:
            self._answering = False  # they are covered again
        self.refresh(soft=True)

    @Slot(object)
    def _on_computed(self, _: object) -> None:
        reply = self._playground.reply
        if reply is not None and reply.trace is not None and not self.numbers.changed:
            self._ahead.keep(reply.trace)
        self.refresh()

    @Slot(object)
    def _on_scene_changed(self, _: object) -> None:
        if self.slide is not None and self.slide.index == self._index:
            self.refresh()  # shows the note about live changes at once

    @Slot()
    def _on_ready(self) -> None:
        self.refresh()
