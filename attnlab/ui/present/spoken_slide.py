"""A slide in words, for screen readers: its texts, and the names of the cells of its main map."""

from attnlab.base.counted import format_count
from attnlab.base.spoken_text import end_sentence, speak_text
from attnlab.figures.slides.slide_content import Paragraph, SlideContent, SlideMap
from attnlab.ui.widgets.maps.spoken_maps import are_tokens, name_cell, split_cell


def speak_slide(content: SlideContent) -> str:
    """Return the heading, the title and the texts of a slide; covered numbers are "covered"."""
    pictures = [f"Picture: {picture.alt}" for picture in content.pictures]
    texts = [*map(_read, _list_texts(content)), *pictures, content.ask, *describe_choices(content)]
    return speak_text(" ".join([f"{content.heading}: {end_sentence(content.title)}", *texts]))


def describe_choices(content: SlideContent) -> list[str]:
    """Return the answers to choose from as they are read aloud, with their votes, and which one is right."""
    said = []
    for key, choice in enumerate(content.choices, 1):
        votes = "" if choice.votes is None else f", {format_count(choice.votes, 'vote')}"
        right = ", right" if content.answered and choice.right else ""
        said.append(f"{key}: {''.join(run.text for run in choice.runs)}{votes}{right}.")
    return said


def name_slide_cell(shown: SlideMap, place: int, *, title: bool = True) -> str:
    """Return a cell of a map in words; one with a question mark does not say its value."""
    index, row, column = split_cell(shown.data.values.shape, place)
    covered = {(y, x) for each, y, x in shown.marks if each == index}
    head = shown.data.titles[index] if len(shown.data.values) > 1 and index < len(shown.data.titles) else ""
    tokens = are_tokens(shown.data.row_labels), are_tokens(shown.data.column_labels)
    name = f"{shown.title[:1].lower()}{shown.title[1:]}" if title else ""
    return name_cell(shown.data, (index, row, column), name, head, tokens=tokens, covered=covered)


def _read(paragraph: Paragraph) -> str:
    return "".join("covered" if run.covered else run.text for run in paragraph.runs)


def speak_change(before: SlideContent | None, now: SlideContent) -> str:
    """Return what a new slide says, or what is new on the same slide: texts after a reveal, and the arithmetic."""
    if before is None or before.heading != now.heading or before.count != now.count:
        return speak_slide(now)
    known = {*map(_read, _list_texts(before)), *describe_choices(before)}
    texts = (*map(_read, _list_texts(now)), *describe_choices(now))
    fresh = [text for text in texts if text not in known]
    arithmetic = _write_arithmetic(now)
    if arithmetic != _write_arithmetic(before):
        fresh.append(arithmetic)
    return speak_text(" ".join(fresh))


def _list_texts(content: SlideContent) -> tuple[Paragraph, ...]:
    return (*content.text, *(content.answer if content.answered else ()))


def _write_arithmetic(content: SlideContent) -> str:
    """Return the arithmetic in its fullest form, "" while it is covered."""
    if content.arithmetic_covered or not content.arithmetic:
        return ""
    return "; ".join("".join(run.text for run in line) for line in content.arithmetic[0])
