"""The content of a slide: its map as far as revealed, its sources, the arithmetic of a cell, the row."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.measures.symmetry import add_mirrored
from attnlab.attention.stages import walk
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.table import BY_NAME, Stage, name_stage
from attnlab.attention.stages.table import sources as sources_of
from attnlab.attention.stages.walk import Place
from attnlab.attention.stages.walk_sources import explain_begun, find_running_sum
from attnlab.base.text_marks import read_aloud
from attnlab.document.document import View
from attnlab.figures.map_data import MapData
from attnlab.figures.map_pairs import pair_maps
from attnlab.figures.slides.slide_content import (
    BarRow,
    Choice,
    Paragraph,
    Run,
    Runs,
    SlideContent,
    SlideMap,
    SlidePicture,
)
from attnlab.figures.slides.slide_markdown import read_paragraphs, split_runs, split_subscripts
from attnlab.lessons.fixed_sentences import split_fixed
from attnlab.ui.playground.stage_maps import look_at
from attnlab.ui.present import slide_frames as frames
from attnlab.ui.present.lens_values import ARROWS, describe_missing
from attnlab.ui.present.run_charts import make_charts
from attnlab.ui.present.slide_arithmetic import write_partial_sum, write_versions
from attnlab.ui.present.slide_bars import make_bar_row

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.covering import Covering
    from attnlab.lessons.lesson import Question
    from attnlab.lessons.slides import Slide

_PLACEHOLDER = re.compile(r"\{\{.*?\}\}", re.DOTALL)
MOST_IN_PAIR = 10
"""The most bars of rows that stand in place of the maps."""
LIMITS, WHOLE = (6, 4, 3), 8
"""How many terms of a sum are written out, as many as fit; a sum of at most ``WHOLE`` first without a gap."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a slide: the place up to which it is revealed, the cells still asked for, whether its numbers were
    changed live, the hints for keys and the key on the button, whether answers are typed at the right or numbers at the
    left, whether a lens replaces the map, whether the text after the reveal is shown, and the votes for each choice,
    None where nobody votes. ``turned`` is how many words a lens has walked, None for all, and ``labels`` whether it has
    its labels."""

    place: Place | None = None
    hidden: tuple[Cell, ...] = ()
    changed: bool = False
    keys: tuple[str, ...] = ()
    prompt: str = ""
    sheet: bool = False
    table: bool = False
    lens: bool = False
    answered: bool = True
    votes: tuple[int, ...] | None = None
    turned: int | None = None
    labels: bool = True


def make_content(
    slide: "Slide", trace: "Trace | None", before: "Trace | None", moment: Moment, own: "Trace | None" = None
) -> SlideContent:
    """Return the content of a slide; without a trace, while it is computed, only its texts.

    ``own`` are the slide's own numbers if others are shown.
    """
    step = slide.step
    question = step.question
    covering = None if trace is None else find_covering(slide, trace, moment)

    def fill(text: str, markdown: bool = False) -> str:
        return fill_text(text, slide, trace, before, markdown, covering, own)

    def fill_choice(text: str) -> str:
        return fill_text(text, slide, trace, before)

    pictures = find_pictures(slide, moment.answered)
    title, ask = fill(step.title), fill(question.ask) if question is not None else ""
    words = SlideContent(
        heading=f"{slide.lesson.title}  ·  step {slide.index + 1} of {slide.count}",
        title=read_aloud(title),
        text=read_paragraphs(fill(step.text, markdown=True)),
        ask=read_aloud(ask),
        answer=read_paragraphs(fill(step.answer, markdown=True)),
        pictures=pictures,
        answered=moment.answered,
        title_runs=split_runs(_split_indices(step.title, title, ""))[0],
        ask_runs=split_runs(_split_indices(question.ask if question is not None else "", ask, "strong"))[0],
        done=slide.index + 1,
        count=slide.count,
        keys=moment.keys,
        prompt=moment.prompt,
        turned=moment.turned,
        labels=moment.labels,
        choices=() if question is None else make_choices(question, tuple(map(fill_choice, question.choices)), moment),
        note=write_note(slide, moment) if moment.changed else "",
    )
    if trace is None or moment.lens:
        beside = moment.lens and slide.step.lens == ARROWS
        if trace is not None and (missing := describe_missing(slide.step.lens or "", trace.experiment)):
            words = replace(words, text=(*words.text, Paragraph((Run(missing, style="strong"),))))
        return replace(words, whole=moment.lens, beside=beside, side=moment.lens and moment.sheet)
    numbers = SlideNumbers(slide, trace, moment, before if step.beside is not None else None)
    main = numbers.make_map()
    if moment.sheet:
        sources = numbers.make_sources()
        return replace(words, main=main, sources=sources, side=True, table=moment.table)
    sources = numbers.make_sources()
    arithmetic, is_covered = numbers.write_arithmetic()
    return replace(
        words,
        main=main,
        sources=sources,
        arithmetic=arithmetic,
        arithmetic_covered=is_covered,
        arithmetic_end=numbers.write_whole_sum(),
        row=numbers.make_bar_row(),
        pair=numbers.make_pair(),
        table=moment.table,
        side=numbers.has_side,
        bars_only=numbers.has_side and not numbers.has_arithmetic,
    )


def _split_indices(written: str, filled: str, style: str) -> Runs:
    """Return a line with its subscripts; as it is if it was filled, because tokens are shown literally."""
    return (Run(filled, style=style),) if "{{" in written else tuple(split_subscripts(filled, style))


def make_choices(question: "Question", texts: tuple[str, ...], moment: Moment) -> tuple[Choice, ...]:
    """Return the answers to choose from; after a live change none is known to be right."""
    votes = moment.votes or (0,) * len(texts)
    return tuple(
        Choice((Run(text),), None if moment.votes is None else count, i == question.right and not moment.changed)
        for i, (text, count) in enumerate(zip(texts, votes, strict=True), 1)
    )


def find_pictures(slide: "Slide", answered: bool) -> tuple[SlidePicture, ...]:
    """Return what stands beside a slide's text: the curves of its run, and pictures from the files beside the lesson.

    While an answer is open, the curves end at the moment of the step before.
    """
    charts = make_charts(slide, answered) if slide.step.curves else ()
    if "![" not in slide.step.text:
        return charts
    from attnlab.lessons.pictures import read_pictures

    found = read_pictures(slide.lesson, slide.step.text)
    return (*charts, *(SlidePicture(each.data, each.alt) for each in found))


def find_covering(slide: "Slide", trace: "Trace", moment: Moment) -> "Covering":
    """Return which numbers of a slide's texts are covered at a moment."""
    from attnlab.lessons.covering import Covering

    start = slide.frames[0] if slide.frames else None
    return Covering(trace.experiment, slide.head, moment.hidden, moment.place, slide.blanks, start)


def fill_text(
    text: str,
    slide: "Slide",
    trace: "Trace | None",
    before: "Trace | None",
    markdown: bool = False,
    covering: "Covering | None" = None,
    own: "Trace | None" = None,
) -> str:
    """Return a slide's text with its numbers; dots while these are computed. In Markdown, tokens are escaped.

    With ``covering``, numbers that a reveal uncovers are marked; sentences about the lesson's own numbers are marked
    and filled from ``own``, if this is given.
    """
    if "{{" not in text and "{=" not in text:
        return text
    if trace is None or (before is None and "before." in text):
        text = "".join(part for part, _ in split_fixed(text))
        closed = text.rfind("}}") + 2  # an unclosed rest would be searched once for each {{
        return _PLACEHOLDER.sub("…", text[:closed]) + text[closed:]
    from attnlab.lessons import slides

    return slides.fill_text(text, trace, before, slide, markdown, covering, own)


def has_earlier_numbers(slide: "Slide") -> bool:
    """Return whether a slide or one of its texts uses numbers of the step before."""
    step, question = slide.step, slide.step.question
    if step.beside is not None:
        return True
    asked = (question.ask, question.hint) if question is not None else ()
    return any("before." in text for text in (step.title, step.text, step.notes, step.answer, *asked))


def write_note(slide: "Slide", moment: Moment) -> str:
    """Return the note after a live change, which explains the sentences that step back, if any is shown."""
    texts = (slide.step.text, slide.step.answer if moment.answered else "")
    dotted = "dotted: the lesson’s numbers  ·  " if any("{=" in text for text in texts) else ""
    return f"changed live  ·  {dotted}R restores"


def has_fixed_sentences(slide: "Slide") -> bool:
    """Return whether a text of a slide has sentences about the lesson's own numbers."""
    return any("{=" in text for text in (slide.step.text, slide.step.answer))


class SlideNumbers:
    """The numbers of one slide at one moment."""

    def __init__(self, slide: "Slide", trace: "Trace", moment: Moment, beside: "Trace | None" = None) -> None:
        self._slide, self._trace, self._beside = slide, trace, beside
        self._place = walk.fit_place(trace.experiment, moment.place)  # an edit may have removed rows
        name = slide.stage if slide.stage in trace else "weights"
        self._stage: Stage = trace.stage(name)
        e = trace.experiment
        self._blanks = tuple(blank for blank in moment.hidden if frames.has_cell(e, blank))
        head = slide.head if e.n_heads > 1 else 0
        if isinstance(head, int) and head >= e.n_heads:
            head = 0
        self._view = View(head=head)
        self._look = look_at(trace, None, self._stage, self._view)
        assert self._look.data is not None
        unknown = self._find_unknown(self._stage, self._look.heads)
        self._data: MapData = self._hide_mask(self._look.data.cover(unknown))

    def _pair(self) -> MapData | None:
        """Return the map of the state before and this one; None unless both are shown and alike in size."""
        if self._beside is None or self._stage.name not in self._beside or len(self._look.heads) > 1:
            return None
        look = look_at(self._trace, self._beside, self._stage, replace(self._view, look="pinned"))
        if look.data is None or look.data.values.shape != self._data.values.shape:
            return None
        now = replace(self._data, scale=look.data.scale)
        return pair_maps(replace(look.data, unknown=None), now, ("before", "now"))

    def _hide_mask(self, data: MapData) -> MapData:
        """Return a map without hatching where a walk has computed nothing yet: it would tell which scores stay."""
        hidden = data.cover(walk.unknown_cells(self._trace.experiment, self._place, self._stage.name)).unknown
        if hidden is None:
            return data
        masked, filled = (None if cells is None else cells & ~hidden for cells in (data.masked, data.filled))
        return replace(data, masked=masked, filled=filled)

    def _find_unknown(self, stage: Stage, heads: tuple[int | None, ...]) -> NDArray[np.bool_] | None:
        """Return which cells of each map are hidden: not computed yet, or asked for."""
        e = self._trace.experiment
        hidden = walk.unknown_cells(e, self._place, stage.name)
        blanks = [blank for blank in self._blanks if blank.stage == stage.name]
        if hidden is None and not blanks:
            return None
        shape = walk.shape(e, stage.name)
        found = np.zeros((len(heads), *shape), bool) if hidden is None else np.repeat(hidden[None], len(heads), 0)
        for blank in blanks:
            which = [i for i, head in enumerate(heads) if head is None or blank.head in (None, head)]
            for row, column in add_mirrored(e, stage.name, [(blank.row, blank.column)]):
                found[which, row, column] = True
        return found

    @property
    def _cell(self) -> Cell | None:
        """The cell in focus: the current one of the walk, else the slide's own."""
        return frames.find_subject(self._trace.experiment, self._stage, self._slide.cell, self._view.head, self._place)

    @property
    def _looked_at(self) -> tuple[int | None, int | None]:
        """The emphasised row and column; at the end of a walk by rows, still the last row."""
        row, column = frames.find_emphasis(self._cell, self._place)
        if row is None and self._place is None and self._slide.step.depth == "row" and not self._slide.blanks:
            row = self._data.values.shape[1] - 1
        return row, column

    @property
    def has_side(self) -> bool:
        """Whether any frame of this slide has content at the right: its width is reserved, so that no map jumps."""
        several = len(self._look.heads) > 1
        return self.has_arithmetic or (self._stage.is_map and not several and self._slide.step.depth == "row")

    @property
    def has_arithmetic(self) -> bool:
        """Whether any frame of this slide may have arithmetic, not only bars."""
        slide = self._slide
        return slide.cell is not None or slide.step.depth in ("cell", "term") or bool(slide.blanks)

    def _is_known(self, cell: Cell) -> bool:
        if self._data.unknown is None:
            return True
        index = self._look.heads.index(cell.head) if cell.head in self._look.heads else 0
        return not self._data.unknown[index, cell.row, cell.column]

    def _is_asked(self, cell: Cell) -> bool:
        """Whether a cell is still to be guessed, so that not even part of its sum is shown."""
        places = ((each.stage, each.row, each.column) for each in self._blanks if each.head in (None, cell.head))
        return (cell.stage, cell.row, cell.column) in places

    def _is_masked(self, row: int, column: int) -> bool:
        return self._data.masked is not None and bool(self._data.masked[row, column])

    def make_map(self) -> SlideMap:
        """Return the map of the slide's stage with the row and the cell in focus."""
        cell, e = self._cell, self._trace.experiment
        row, column = self._looked_at
        pair = self._pair()
        heads = self._look.heads if pair is None else ()  # on both maps
        outlines = frames.make_outlines(self._stage, heads, row, column, cell)
        marks = []
        for blank in self._blanks:
            if blank.stage == self._stage.name and not self._is_masked(blank.row, blank.column):
                which = (i for i, head in enumerate(self._look.heads) if head is None or blank.head in (None, head))
                marks += [(i if pair is None else 2 * i + 1, blank.row, blank.column) for i in which]
        head, title = self._view.head, name_stage(self._stage, e)
        if self._stage.has_heads and e.n_heads > 1 and head != "all":
            title += ", mean of the heads" if head == "mean" else f", head {head}"
        shown = self._data if pair is None else pair
        return SlideMap(
            shown,
            f"{title}  {shown.power}".rstrip(),
            self._stage.role,
            outlines,
            (row, column),
            self._stage.is_map,
            self._stage.formula(e),
            tuple(marks),
        )

    def make_sources(self) -> tuple[SlideMap, ...]:
        """Return the maps the stage is computed from, with the used parts framed; none beside several maps."""
        if len(self._look.heads) > 1 or self._pair() is not None:
            return ()
        return frames.make_sources(self._trace, self._stage, self._view, self._place, self._cell, self._find_unknown)

    def write_arithmetic(self) -> tuple[tuple[tuple[Runs, ...], ...], bool]:
        """Return the arithmetic of the cell in focus as far as it is revealed, and whether it is covered: asked for."""
        cell, place = self._cell, self._place
        if cell is None or (len(self._look.heads) > 1 and cell.head not in self._look.heads):
            return (), False
        is_asked = self._is_asked(cell)
        if place is not None and place.term is not None and place.stage == cell.stage and place.row == cell.row:
            if is_asked:
                return (), True
            so_far = find_running_sum(self._trace, cell, place.term)
            return write_partial_sum(explain_begun(self._trace, cell, place.term), so_far), False
        if not (is_asked or self._is_known(cell)) or self._is_masked(cell.row, cell.column):
            return (), is_asked
        written = [explain(self._trace, cell, limit) for limit in (WHOLE, *LIMITS)]
        has_gap = any("more …" in span.text for line in written[0].lines for span in line)
        ways = write_versions(written[has_gap:], self._stage.role)
        return (ways[:-1] or ways if self._stage.is_map else ways), is_asked  # the value alone is a bar's

    def write_whole_sum(self) -> tuple[Runs, ...]:
        """Return the arithmetic with all terms while a walk adds them; nothing otherwise."""
        cell, place = self._cell, self._place
        if cell is None or place is None or place.term is None or (place.stage, place.row) != (cell.stage, cell.row):
            return ()
        last = walk.count_terms(self._trace.experiment, cell.stage) - 1
        so_far = find_running_sum(self._trace, cell, last)
        return write_partial_sum(explain_begun(self._trace, cell, last), so_far)[0]

    def make_bar_row(self) -> BarRow | None:
        """Return the row in focus as bars; only for maps of query by key."""
        cell = self._cell
        row, _ = self._looked_at
        asked = [blank for blank in self._slide.blanks if blank.stage == self._stage.name]
        if row is None and asked and frames.has_cell(self._trace.experiment, asked[0]):
            row = asked[0].row
        if row is None or not self._stage.is_map or (len(self._look.heads) > 1 and cell is None):
            return None
        head = cell.head if cell is not None and cell.head in self._look.heads else self._look.heads[0]
        current = cell.column if cell is not None and cell.row == row else None
        return make_bar_row(self._trace.experiment, self._stage, self._data, self._look.heads.index(head), row, current)

    def make_pair(self) -> tuple[BarRow, BarRow] | None:
        """Return a row that is asked for as a whole, and the row it is computed from; other rows would give it away."""
        asked = [blank for blank in self._slide.blanks if blank.stage == self._stage.name]
        e, heads = self._trace.experiment, self._look.heads
        rows = {blank.row for blank in asked if frames.has_cell(e, blank)}
        question = self._slide.step.question
        if question is None or not question.choices or len(rows) != 1 or len(heads) > 1 or not self._stage.is_map:
            return None
        source = next((stage for stage in sources_of(self._stage, e) if stage.is_map), None)
        row, columns = rows.pop(), self._data.values.shape[2] - self._data.aside
        if source is None or len({blank.column for blank in asked}) != columns or columns > MOST_IN_PAIR:
            return None
        look = look_at(self._trace, None, source, self._view)
        assert look.data is not None
        data = look.data.cover(self._find_unknown(source, look.heads))
        shown = None if asked[0] in self._blanks or self._slide.cell is None else self._slide.cell.column
        return make_bar_row(e, source, data, 0, row, None), make_bar_row(e, self._stage, self._data, 0, row, shown)


def find_stage(slide: "Slide", trace: "Trace") -> str:
    """Return the stage that a slide shows in a state, which may lack the slide's own stage."""
    return slide.stage if slide.stage in trace and slide.stage in BY_NAME else "weights"
