"""A lesson as PDF: one page per step, drawn by the slide painter, and a last page with the answers."""

import os
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QPainter, QPdfWriter

from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import find_shown_value
from attnlab.base.errors import AttnlabError
from attnlab.compute.engine import check_size, compute
from attnlab.figures.palette import LIGHT, Palette
from attnlab.figures.slides.slide_content import Paragraph, Run, SlideContent
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_markdown import read_paragraphs
from attnlab.figures.slides.slide_painter import Drawn, draw_slide
from attnlab.figures.slides.slide_text import use_plain_digits
from attnlab.files.atomic import write_bytes
from attnlab.ui.base.theme import dress_type
from attnlab.ui.present.content import Moment, fill_text, make_content
from attnlab.ui.present.formulas import FORMULAS
from attnlab.ui.present.lens_page import LensPage, make_paper_lens
from attnlab.ui.present.lens_values import begins_before_answer, find_shown, make_picture
from attnlab.ui.present.paper import Paper

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.lesson import Lesson
    from attnlab.lessons.slides import Slide

LINES_A_PAGE, LETTERS_A_LINE = 15, 115
"""How many lines of answers a page has, and how many letters a line has at least, in the smallest running text."""
SLIDES = Paper()


def write_pdf(
    lesson: "Lesson",
    path: str | os.PathLike[str],
    palette: Palette = LIGHT,
    experiment: "Experiment | None" = None,
    paper: Paper = SLIDES,
) -> int:
    """Print a lesson, each step fully revealed except the blanks of questions; return the number of slides.

    ``experiment`` is shown by steps without a state of their own. A QGuiApplication must exist.

    Raises:
        AttnlabError: the lesson has no steps, or a step has no state and none is given, or cannot be computed.
        FileError: the file cannot be written; an old one is left unchanged.
    """
    pages = compute_pages(lesson, experiment)
    for _ in print_pages(pages, lesson.title, path, palette, paper):
        pass
    return len(pages)


def compute_pages(lesson: "Lesson", experiment: "Experiment | None" = None) -> list[SlideContent]:
    """Return the contents of a lesson's pages, with every number computed. Runs on any thread.

    Raises:
        AttnlabError: the lesson has no steps, or a step has no state and none is given, or cannot be computed.
    """
    from attnlab.lessons.slides import make_slides

    if not lesson.steps:
        raise AttnlabError(f"The lesson {lesson.name!r} has no steps; there is nothing to print.")
    return _compute_pages(make_slides(lesson), experiment)


def _compute_pages(slides: "tuple[Slide, ...]", experiment: "Experiment | None") -> list[SlideContent]:
    traces: dict[int, Trace] = {}

    def compute_trace(e: "Experiment | None", slide: "Slide") -> "Trace":
        e = e or experiment
        if e is None:
            raise AttnlabError(f"Step {slide.index + 1} shows the open experiment, but no experiment is open.")
        if id(e) not in traces:
            check_size(e)
            traces[id(e)] = compute(e)
        return traces[id(e)]

    pages, answers = [], list[list[Paragraph]]()
    for slide in slides:
        now = compute_trace(slide.experiment, slide)
        before = compute_trace(slide.before or slide.experiment, slide)
        for key in [key for key, trace in traces.items() if trace is not now and trace is not before]:
            del traces[key]  # keeps the numbers of at most two steps
        page = _make_page(slide, now, before, Moment(None, slide.blanks, answered=not _is_covered(slide)))
        pages.append(replace(page, notes=fill_text(slide.step.notes, slide, now, before, markdown=True)))
        answers.append(_write_answers(slide, now, before))
    return pages + _answer_pages(answers, slides)


def _make_page(slide: "Slide", trace: "Trace", before: "Trace", moment: Moment) -> SlideContent:
    """Return the page of a step: with its lens as on the slide, drawn or else as in the window."""
    lens, page = slide.step.lens, make_content(slide, trace, before, moment)
    if not lens:
        return page
    words = make_content(slide, trace, before, replace(moment, lens=True))
    if not moment.answered and not begins_before_answer(lens, trace.experiment):
        return words
    picture = make_picture(lens, trace, find_shown(slide))
    if picture is not None:
        return replace(words, picture=picture)
    parts = {each.name: getattr(words, each.name) for each in fields(words)}
    return LensPage(**parts, lens=lens, trace=trace, instead=page)


def _is_covered(slide: "Slide") -> bool:
    """Return whether the text after the reveal of a step is on the answer sheet only: where something is asked.

    A lens is printed, because the answer sheet has no place for it.
    """
    question = slide.step.question
    choices = question is not None and bool(question.choices)
    return bool(slide.blanks) or choices or (bool(slide.step.answer) and len(slide.frames) == 1 and not slide.step.lens)


def _write_answers(slide: "Slide", trace: "Trace", before: "Trace") -> list[Paragraph]:
    """Return the answers of a step: a line for the step, the right choice or each blank, and the text after the reveal.

    With choices, the blanks only cover what would tell the answer.
    """
    question = slide.step.question
    if not _is_covered(slide):
        return []
    ask = fill_text((question.ask if question is not None else "") or slide.step.title, slide, trace, before)
    found = [Paragraph((Run(f"Step {slide.index + 1}. ", style="strong"), Run(ask)))]
    choices = question.choices if question is not None else ()
    for cell in () if choices else slide.blanks:
        head = f"head {cell.head}, " if cell.head is not None and trace.experiment.n_heads > 1 else ""
        place = f"{cell.stage}[{head}{cell.row}, {cell.column}] = "
        found.append(Paragraph((Run(place), Run(number(find_shown_value(trace, cell)), style="strong")), "•"))
    if question is not None and choices:
        right = fill_text(choices[question.right - 1], slide, trace, before)
        found.append(Paragraph((Run(f"{question.right}  "), Run(right, style="strong")), "•"))
    told = read_paragraphs(fill_text(slide.step.answer, slide, trace, before, markdown=True))
    return found + [replace(each, level=each.level + 1) for each in told]


def _answer_pages(answers: list[list[Paragraph]], slides: "tuple[Slide, ...]") -> list[SlideContent]:
    """Return the pages of the answers of all steps; a step's answers stay together unless they exceed a page."""
    title, parts = slides[0].lesson.title if slides else "", list[list[Paragraph]]()
    for answer in answers:
        whole = _count_lines(answer) <= LINES_A_PAGE
        for piece in filter(None, [answer] if whole else [[paragraph] for paragraph in answer]):
            if parts and _count_lines(parts[-1] + piece) <= LINES_A_PAGE:
                parts[-1] += piece
            else:
                parts.append(piece)
    return [SlideContent(heading=title, title="Answers", text=tuple(part)) for part in parts]


def _count_lines(paragraphs: list[Paragraph]) -> int:
    """Return how many lines paragraphs take at most, if no word is long."""
    return sum(1 + sum(len(run.text) for run in each.runs) // LETTERS_A_LINE for each in paragraphs)


def print_pages(
    pages: list[SlideContent],
    title: str,
    path: str | os.PathLike[str],
    palette: Palette = LIGHT,
    paper: Paper = SLIDES,
) -> Iterator[None]:
    """Draw slides to a file, one per step; if cancelled it leaves no file, or the old one unchanged.

    Raises:
        FileError: the file cannot be written.
    """
    dress_type()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = _make_writer(buffer, title, paper)
    painter = QPainter(writer)
    places = paper.list_places(writer.width(), writer.height())
    try:
        for index, page in enumerate(pages):
            if index and index % len(places) == 0:
                writer.newPage()
            place = places[index % len(places)]
            sheet = paper.find_sheet(place)
            if isinstance(page, LensPage):
                yield from _draw_lens_page(painter, page, palette, sheet)
            else:
                _draw_page(painter, page, palette, sheet)
            with use_plain_digits():
                paper.finish(painter, place, page.notes, palette)
            yield
    finally:
        painter.end()  # before its device goes, or Qt crashes
        buffer.close()
    write_bytes(path, bytes(data.data()))


def _draw_page(painter: QPainter, page: SlideContent, palette: Palette, sheet: Sheet) -> Drawn:
    with use_plain_digits():
        return draw_slide(painter, sheet, page, palette, FORMULAS)


def _draw_lens_page(painter: QPainter, page: LensPage, palette: Palette, sheet: Sheet) -> Iterator[None]:
    """Draw a page with its lens, or without one with its map."""
    lens = make_paper_lens(page, palette)
    if lens is None or page.trace is None:
        _draw_page(painter, page.instead or page, palette, sheet)
        return
    try:
        yield from lens.finish(page.trace)
        side = _draw_page(painter, page, palette, sheet).side
        if side is not None:
            with use_plain_digits():
                lens.draw(painter, side, sheet.body)
    finally:
        lens.let_go()


def _make_writer(buffer: QBuffer, title: str, paper: Paper) -> QPdfWriter:
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("attnlab")
    paper.set_up(writer)
    return writer
